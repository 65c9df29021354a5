//! Phrases and forms that are looked for in the ASCII form of a text.
//!
//! Every gap is bounded and every class ASCII, so that a search never looks at a byte more than a
//! constant number of times.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{FlagKind, Found};

/// One expression from alternatives, without case.
pub(super) fn any_of(alternatives: &[&str]) -> Regex {
    Regex::new(&format!("(?i-u)(?:{})", alternatives.join("|")))
        .expect("a pattern of ours is valid")
}

static REGION_MARKER: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"skillopt-sleep\s{0,8}:\s{0,8}learned",
        r"slow_update_(?:start|end)",
    ])
});

static HIDDEN_MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        "<!--",
        r"</?(?:details|template|noscript)\b",
        r"<(?:img|script|iframe|object|embed|link|svg|video|audio)\b[ -=?-~]{0,60}\b(?:src|href|data|on[a-z]{3,12})\s{0,2}=",
        r#"\bstyle\s{0,2}=\s{0,2}["'][ -~]{0,40}(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden)"#,
        // An image; a link definition, which is not shown.
        r"!\[[ -\\^-~]{0,80}\]\s{0,2}[(\[]",
        r"(?:^|\n) {0,3}\[[ -\\^-~]{1,80}\]:\s",
    ])
});

static CONTROL_CHARACTER: LazyLock<Regex> =
    LazyLock::new(|| any_of(&[r"\\(?:x1b|u001b|u\{1b\}|033|0?33|e)\[", r"\\(?:x9b|u009b)"]));

static URL: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"\b[a-z][a-z0-9+.-]{1,20}://[!-~]{0,60}",
        r"\b(?:mailto|javascript|data|vbscript):[a-z0-9/%]",
        r"\bwww\.[a-z0-9-]{1,60}\.",
        r"\b[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\b(?::[0-9]{1,5})?",
        r"\b[a-z0-9-]{1,60}\.(?:com|net|org|io|dev|app|ai|co|me|info|xyz|site|top|ru|cn|de|uk|sh|gg|link|online|page|cloud)(?::[0-9]{1,5})?/",
        r"\]\(\s{0,4}//",
    ])
});

static PERMISSION_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        // Settings and flags of coding agents.
        r"\b(?:dis)?allowed[-_ ]?tools\b",
        r"\bpermission[-_ ]?(?:mode|prompt)",
        r#"\bpermissions?["']?\s{0,4}[.:]\s{0,4}["'{\[]?[\s"']{0,4}(?:allow|deny|ask|default|bypass)"#,
        r"\b(?:bypass|skip)[-_ ]?permissions",
        r"\bdangerously[-_ ]?(?:skip|bypass|allow|disable)|--dangerously",
        r"\bdanger-full-access\b",
        r"--yolo\b|\byolo[- ]mode|--full-auto\b|--allow-all\b",
        r"\bask[-_ ]for[-_ ]approval|\bapproval[-_ ]?(?:policy|mode)|\bapprovals?[ =:\x22']{1,6}never\b",
        r"\bsandbox[-_ ]?mode|\b(?:no|without|disable)[-_ ]?(?:the |a |any )?sandbox",
        r"\bsandbox[ =:\x22']{1,6}(?:is )?(?:off|none|false|disabled?)\b",
        r"\baccept[-_ ]?edits\b|\bauto[-_ ]?(?:approv|accept|allow)",
        r"\bdisable[-_ ]?(?:the |all[-_ ]?|any ){0,2}hooks|--no-hooks\b|\bcore\.hookspath\b",
        r"\benableallprojectmcpservers\b|\bmcpservers\b|\btrust[-_]level\b",
        // The files that decide what an agent or a shell may do.
        r"\.claude(?:\.json|/(?:settings|hooks|agents|commands))|\.mcp\.json\b",
        r"\.codex/(?:config|auth|rules|hooks)",
        r#"\.git/hooks|(?:^|[\s~/`"'])\.(?:bashrc|zshrc|profile|bash_profile|zprofile)\b"#,
        r"\.ssh/|\bauthorized_keys\b|/etc/(?:sudoers|passwd|shadow|cron)",
        // The same in words.
        r"\bwithout\s{1,4}(?:asking|prompting|confirming|(?:user |my |any |explicit ){0,2}(?:permission|approval|confirmation|consent))",
        r"\b(?:never|not|don'?t|no need to)\s{1,4}(?:ask|wait|prompt|request)\s{1,4}(?:me |the user |anyone )?(?:for |to )?(?:a |any |my |explicit ){0,2}(?:permission|approv|confirm|consent)",
        r"\b(?:skip|bypass|disable|circumvent|turn\s{1,4}off|switch\s{1,4}off)\s{1,4}(?:the |all |any |every |its |your ){0,2}(?:permission|approval|sandbox|confirmation|hook|pre-commit|safety|security|guardrail|safeguard|protection|verification|code review)",
        r"\balways\s{1,4}(?:allow|approve|accept|grant|trust)\s{1,4}(?:the |all |any |every )?(?:tool|command|edit|permission|request|action|everything)",
        r"\bgrant\w{0,3}\s{1,4}(?:\w{1,20}\s{1,4}){0,3}permissions?\b",
        r"\b(?:full|unrestricted|root|admin(?:istrator)?)\s{1,4}(?:access|permissions?|privileges?|rights)\b",
    ])
});

static INSTRUCTION: LazyLock<Regex> = LazyLock::new(|| {
    let person = r"(?:the |your |any )?(?:user|human|person|developer|owner|operator|customer|reviewer|anyone|anybody)\b";
    let ignore =
        r"\b(?:ignor|disregard|forget|overrid|bypass|supersed|discard)(?:e|es|ing|ed|s)?\s{1,4}";
    any_of(&[
        // To ignore what was said.
        &format!(
            r"{ignore}(?:(?:the|of|user'?s?)\s{{1,4}}){{0,2}}(?:(?:all|any|every|your|my|other|these|those|previous|prior|earlier|above|preceding|existing|former|system|developer|safety)\s{{1,4}}){{1,4}}(?:instruction|rule|prompt|guideline|message|constraint|directive|polic|restriction|context|conversation)"
        ),
        &format!(r"{ignore}the\s{{1,4}}(?:instruction|guideline|directive|rules\b)"),
        &format!(
            r"{ignore}(?:everything|anything|all|what)\s{{1,4}}(?:\w{{1,12}}\s{{1,4}}){{0,3}}(?:above|before|previously|said|told|earlier)\b"
        ),
        r"\bthis\s{1,4}(?:rule|instruction|line|text|document|file)\s{1,4}(?:overrides|supersedes|takes precedence over|outranks)\s{1,4}(?:all|any|every|the system|other)",
        // To keep something from the user.
        &format!(
            r"\b(?:never|not|don'?t|without|avoid|stop)\s{{1,4}}(?:\w{{1,12}}\s{{1,4}})?(?:tell|inform|notify|alert|warn)(?:ing)?\s{{1,4}}{person}"
        ),
        r"\b(?:never|not|don'?t)\s{1,4}(?:mention|reveal|disclose)\b",
        r"\bkeep\s{1,4}(?:this|it|that|these|them)\s{1,4}(?:a\s{1,4})?(?:secret|hidden|confidential|quiet|between)\b",
        &format!(
            r"\b(?:hide|conceal|withhold)\s{{1,4}}(?:\w{{1,12}}\s{{1,4}}){{0,4}}from\s{{1,4}}{person}"
        ),
        r"\b(?:silently|secretly|covertly|quietly|stealthily)\s{1,4}(?:run|execute|send|post|upload|install|push|download|copy|forward)",
        r"\bcover\s{1,4}(?:your|its|the|our)\s{1,4}tracks\b",
        // To persist or spread.
        r"\balways\s{1,4}persist|\bpersist\s{1,4}(?:itself|yourself|(?:this|these)\s{1,4}(?:rule|instruction|note|behavio|across))",
        r"\b(?:copy|add|repeat|propagate|include|insert|append|write|replicate|spread)\s{1,4}(?:this|these)\s{1,4}(?:rule|instruction|line|text|message|paragraph|prompt)s?\b",
        r"\b(?:never|not|don'?t)\s{1,4}(?:remove|delete|change|edit|modify|drop)\s{1,4}(?:this|these)\s{1,4}(?:rule|instruction|line|text|block)",
        // To send data away.
        r"\bexfiltrat|\bphone[- ]home\b",
        // To pose as somebody else.
        r"\byou\s{1,4}are\s{1,4}now\b|\bpretend\s{1,4}(?:to be|you)\b|\b(?:god|dan)\s{1,4}mode\b|\bjailbreak",
        r"\bnew\s{1,4}(?:system\s{1,4})?(?:instructions\s{0,4}:|system\s{1,4}prompt\b)",
        r"</?(?:system|assistant|human|instructions?|tool_result|function_calls)(?:-reminder)?>",
        r"<\|[a-z_]{1,20}\|>|\[/?inst\]|(?:^|\n)\s{0,8}(?:[-*#]{1,6}\s{1,4})?(?:system|assistant|human)\s{0,2}:",
    ])
});

/// To send data away, with what says not to in the first group: "never share tokens" is a good rule.
static DATA_AWAY: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"(\b(?:never|not|don'?t|avoid)\s{1,4})?\b(?:send|post|upload|forward|leak|transmit|e-?mail|submit|share|publish)(?:s|ing)?\s{1,4}(?:\w{1,16}[\s,]{1,4}){0,4}(?:secrets?|credentials?|api[- _]?keys?|access[- _]?keys?|passwords?|tokens?|environment variables?|env vars?|\.env|ssh keys?|private keys?|cookies|conversation|transcripts?|chat history|system prompt)\b",
    ])
});

/// Flags what the expressions find.
pub(super) fn find(found: &mut Found<'_>) {
    for (kind, expression) in [
        (FlagKind::ControlCharacter, &CONTROL_CHARACTER),
        (FlagKind::RegionMarker, &REGION_MARKER),
        (FlagKind::HiddenMarkup, &HIDDEN_MARKUP),
        (FlagKind::Url, &URL),
        (FlagKind::PermissionChange, &PERMISSION_CHANGE),
        (FlagKind::Instruction, &INSTRUCTION),
    ] {
        search(found, kind, expression);
    }
    search_groups(found, FlagKind::Instruction, &DATA_AWAY, |groups| {
        groups.get(1).is_none()
    });
}

/// Flags the matches whose groups are wanted.
pub(super) fn search_groups(
    found: &mut Found<'_>,
    kind: FlagKind,
    expression: &Regex,
    is_wanted: impl Fn(&Captures<'_>) -> bool,
) {
    let plain = found.plain;
    for groups in expression.captures_iter(plain.ascii()) {
        let Some(whole) = groups.get(0).filter(|_| is_wanted(&groups)) else {
            continue;
        };
        let line = plain.line_of(whole.start());
        if !found.add(
            kind,
            line,
            plain.origin(whole.start()),
            plain.origin(whole.end()),
        ) {
            return;
        }
    }
}

/// Flags the first match in each line.
pub(super) fn search(found: &mut Found<'_>, kind: FlagKind, expression: &Regex) {
    let plain = found.plain;
    let mut at = 0;
    while let Some(matched) = expression.find_at(plain.ascii(), at) {
        // Some patterns begin with the line break before what they look for.
        let text = matched.as_str();
        let start = matched.start() + text.len() - text.trim_start().len();
        let line = plain.line_of(start);
        if !found.add(kind, line, plain.origin(start), plain.origin(matched.end())) {
            return;
        }
        at = plain.end_of_line(line).max(matched.end());
    }
}
