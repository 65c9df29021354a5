//! The rules for words (§3.1): what is praise and complaint, what no person typed, which sessions no
//! person made.

use crate::course::Filters;
use crate::difference::Difference::{
    NulCharacters, OwnSessions, PrivateSpans, Quick, Redacted, VagueHeadings, WholeWords,
};
use crate::difference::Rules;

const COMPLAINTS: [&str; 22] = [
    "still broken",
    "still not",
    "still wrong",
    "doesn't work",
    "does not work",
    "not working",
    "that's wrong",
    "thats wrong",
    "incorrect",
    "wrong",
    "no,",
    "nope",
    "fix it",
    "didn't",
    "did not",
    "broken",
    "error again",
    "still failing",
    "still fails",
    "not fixed",
    "revert",
    "undo",
];
const MORE_COMPLAINTS: [&str; 9] = [
    "not correct",
    "不对",
    "错了",
    "还是不行",
    "不是这样",
    "没有修复",
    "撤销",
    "重新来",
    "不行",
];
const PRAISE: [&str; 12] = [
    "thanks",
    "thank you",
    "perfect",
    "great",
    "works now",
    "fixed",
    "that works",
    "lgtm",
    "looks good",
    "nice",
    "awesome",
    "correct",
];
const MORE_PRAISE: [&str; 6] = ["谢谢", "完美", "很好", "太棒了", "可以了", "没问题"];
const NEGATIONS: [&str; 6] = ["not", "never", "hardly", "no", "without", "nothing"];

/// The signals of a person's words, complaints first.
pub(crate) fn signals(text: &str, rules: Rules) -> Vec<String> {
    let text = text.to_lowercase();
    let whole = rules.differ(WholeWords);
    let mut found = Vec::new();
    let more = |list: &'static [&'static str]| list.iter().filter(move |_| whole);
    for phrase in COMPLAINTS.iter().chain(more(&MORE_COMPLAINTS)) {
        if places(&text, phrase, whole).next().is_some() {
            found.push(format!("neg:{phrase}"));
        }
    }
    for phrase in PRAISE.iter().chain(more(&MORE_PRAISE)) {
        let meant = |at: usize| !(whole && is_negated(&text[..at]));
        if places(&text, phrase, whole).any(meant) {
            found.push(format!("pos:{phrase}"));
        }
    }
    found
}

/// Where a phrase stands; as whole words, if so.
fn places<'a>(text: &'a str, phrase: &'a str, whole: bool) -> impl Iterator<Item = usize> + 'a {
    // Chinese words stand side by side.
    let joins = |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphanumeric());
    text.match_indices(phrase)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let end = at + phrase.len();
            let before = joins(text[..at].chars().next_back()) && joins(phrase.chars().next());
            let after = joins(text[end..].chars().next()) && joins(phrase.chars().next_back());
            !whole || !(before || after)
        })
}

/// One of the three words before, in the same part of the sentence, says the opposite.
fn is_negated(before: &str) -> bool {
    if before.ends_with(['不', '没']) {
        return true;
    }
    let start = before
        .rfind(['.', '!', '?', '\n', ',', ';'])
        .map_or(0, |at| at + 1);
    let words: Vec<&str> = before[start..].split_whitespace().collect();
    words[words.len().saturating_sub(3)..]
        .iter()
        .any(|word| NEGATIONS.contains(word) || word.ends_with("n't"))
}

/// The meta prompt filter.
pub(crate) fn is_meta(text: &str, rules: Rules) -> bool {
    let text = text.trim();
    let beginning: String = text.chars().take(200).collect();
    let own_mark = rules.differ(PrivateSpans) && text.starts_with("<private>");
    text.is_empty()
        || (text.starts_with('<') && text.ends_with('>') && !own_mark)
        || (text.starts_with('/') && text.split_whitespace().count() <= 3)
        || text.starts_with("[Pasted text")
        || text.starts_with("Caveat:")
        || beginning.contains("<command-message>")
        || beginning.contains("<command-name>")
        || text.starts_with("# /")
}

/// Words as they are kept. `redacts` is whether the reference redacts those of this agent.
pub(crate) fn kept(raw: &str, redacts: bool, rules: Rules) -> String {
    let mut text = if redacts || rules.differ(NulCharacters) {
        raw.replace('\0', "")
    } else {
        raw.to_owned()
    };
    if rules.differ(PrivateSpans) {
        while let Some((before, rest)) = text.split_once("<private>") {
            let after = rest.split_once("</private>").map_or("", |(_, after)| after);
            text = format!("{before}{after}");
        }
    }
    let text = text.trim();
    if redacts || rules.differ(Redacted) {
        skillopt_core::redact::redact(text).text.trim().to_owned()
    } else {
        text.to_owned()
    }
}

/// What is known of a whole session.
pub(crate) struct Whole<'a> {
    pub(crate) prompts: &'a [String],
    pub(crate) seconds: Option<i64>,
    pub(crate) headless: bool,
    /// Which filters the reference applies.
    pub(crate) filters: Filters,
}

const MARKERS: [&str; 8] = [
    "## CURRENT SKILL",
    "## FAILED TASKS",
    "## SUCCESSFUL TASKS",
    "You are a strict grader",
    "Score the response 0.0-1.0",
    "You are SkillOpt-Sleep",
    "You are an expert success-pattern analyst",
    "You are an expert failure-pattern analyst",
];
const HEADINGS: [&str; 4] = ["## OUTPUT FORMAT", "## TASK\n", "## SKILL\n", "## Skill\n"];
const COMPANIONS: [&str; 3] = [
    "You are a Claude-Mem",
    "Hello memory agent",
    "You are driving **SkillOpt-Sleep**",
];

/// The headless replay filter and the agent session filter.
pub(crate) fn no_persons(whole: &Whole<'_>, rules: Rules) -> bool {
    let Some(first) = whole.prompts.first() else {
        return true;
    };
    let filters = match whole.filters {
        _ if rules.differ(OwnSessions) => Filters::Both,
        filters => filters,
    };
    let has = |texts: &[&str]| texts.iter().any(|text| first.contains(text));
    if has(&COMPANIONS) && filters == Filters::Both {
        return true;
    }
    if whole.prompts.len() > 1 || filters == Filters::None {
        return false;
    }
    let quick = whole.seconds.is_some_and(|seconds| seconds < 3);
    let heading = has(&HEADINGS) && (!rules.differ(VagueHeadings) || whole.headless || quick);
    has(&MARKERS) || heading || (quick && first.chars().count() < 200 && !rules.differ(Quick))
}
