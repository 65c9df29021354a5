//! Commands: what an agent that follows the text would run.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::patterns::{any_of, search, search_groups};
use super::{FlagKind, Found};

/// Programs whose name is hardly ever an ordinary word: looked for after "run" in prose too.
const PLAIN_PROGRAMS: &str = "\
    ansible ansible-playbook apt apt-get aws az bash bazel brew bun bunx cargo chmod chown cmake \
    composer conda curl deno dnf docker docker-compose dotnet eslint firebase flake8 gcloud gh \
    git glab gpg gradle helm heroku jest kubectl mkdir mvn mypy mysql netlify npm npx openssl \
    pip pip3 pipx pnpm podman poetry powershell prettier psql pwsh pytest python python3 rm \
    rsync ruff rustc rustup scp sqlite3 ssh sudo systemctl terraform tsc uv uvx vercel vitest \
    wget yarn";

/// Programs whose name is also a word; only in code.
const OTHER_PROGRAMS: &str = "\
    apk awk base64 bundle cabal cat chgrp choco claude cmd codex cp crontab cypress dart dd doas \
    echo elixir env eval exec find flatpak flutter ftp gem gemini ghc go grep hg iex java javac \
    jq kill killall ksh launchctl ln make meson mocha mongosh mv nc ncat ninja nix nix-shell \
    node nohup nox opencode osascript pacman perl php pkill playwright pre-commit rails rake \
    redis-cli rg ruby sbt schtasks sed sftp sh socat su svn swift tar tee telnet tofu touch tox \
    umount unzip wrangler xargs xcodebuild yum zip zsh";

/// All of them.
static PROGRAMS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let plain = PLAIN_PROGRAMS.split_ascii_whitespace();
    plain
        .chain(OTHER_PROGRAMS.split_ascii_whitespace())
        .collect()
});

/// How the path of a program begins. (`/review this` is a slash command.)
const PATHS: [&str; 10] = [
    "./", "../", "~/", "/bin/", "/sbin/", "/usr/", "/opt/", "/tmp/", "/home/", "/Users/",
];

/// Words that are no argument when they follow a program in prose.
const PROSE: &str = "\
    a after again an and as at before but by commands for from if in instead is jobs on once \
    only or scripts the then to unless until when with";

/// Shell idioms, dangerous flags and calls that start programs, wherever they stand.
static IDIOM: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"\|\s{0,8}(?:sudo\s{1,8})?(?:ba|z|da|k|fi|c)?sh\b",
        r#"\|\s{0,8}(?:sudo\s{1,8})?(?:python[0-9.]{0,4}|perl|ruby|node|php)\s{0,4}(?:-|[;&`"']|$|\n)"#,
        r"\|\s{0,8}(?:iex|invoke-expression|xargs)\b",
        r"\brm\s{1,8}--?[a-z-]{0,12}[rf]",
        &format!(
            r"\b(?:sudo|doas)\s{{1,8}}(?:-[a-z]|\.{{0,2}}/|(?:{})\b)",
            PLAIN_PROGRAMS.replace(' ', "|")
        ),
        r"\$\(\s{0,4}[a-z./~]|\$\{ifs\}|<\(\s{0,4}[a-z./]",
        r#"\b(?:powershell|pwsh)(?:\.exe)?\s{1,8}[-/&"']|\bcmd(?:\.exe)?\s{1,8}/[ck]\b"#,
        r"\b(?:invoke-expression|invoke-webrequest|invoke-restmethod|start-process|set-executionpolicy|add-mppreference)\b|\biex\s{0,4}\(",
        r"\bbase64\s{1,8}(?:-d\b|--decode\b)|\bfrombase64string\b|\bb64decode\b|\batob\s{0,2}\(",
        r"--no-verify\b|--no-gpg-sign\b|--no-check-certificate\b|--insecure\b|\bstricthostkeychecking\b|\bnode_tls_reject_unauthorized\b",
        r"\bgit\s{1,8}(?:push\s{1,8}[ -~]{0,40}(?:--force|-f\b)|reset\s{1,8}--hard|clean\s{1,8}-[a-z]{0,6}f)",
        r"\bchmod\s{1,8}(?:-[a-z]{1,8}\s{1,8})?(?:0?[0-7]{3,4}\b|[ugoa]{0,4}[+=-][rwxst])|\bchown\s{1,8}[a-z0-9-]",
        r"\b(?:curl|wget)\s{1,8}(?:-|[a-z]{1,8}://|[a-z0-9.-]{1,60}\.[a-z]{2,10}\b)",
        r"\bmkfs\b|\bdd\s{1,8}if=|:\(\)\s{0,4}\{|/dev/(?:tcp|udp)/|>\s{0,4}/dev/sd|\bnc\s{1,8}-[a-z]{0,6}[elp]\b",
        r#"\beval\s{1,4}["'$`(]"#,
        r"(?:&&|;)\s{0,4}(?:curl|wget|rm|bash|sh|sudo|git|npm|pip|python3?)\s",
        r"(?:^|\n)\s{0,8}(?:[-*]\s{1,4})?\$\s{1,4}[a-z./~]",
    ])
});

/// "run cargo test", with the program and its first argument.
static PROSE_COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    let programs = PLAIN_PROGRAMS.replace(' ', "|");
    let verb = r"\b(?:run|runs|running|execute|executes|executing|invoke|launch)";
    any_of(&[&format!(
        r#"{verb}\s{{1,4}}["'*_(]{{0,3}}(?:{programs})\s{{1,4}}([a-z0-9./:@-][a-z0-9./:@=-]{{0,40}})"#
    )])
});

/// Flags commands.
pub(super) fn find(found: &mut Found<'_>) {
    search(found, FlagKind::Command, &IDIOM);
    find_in_prose(found);
    find_in_code(found);
}

/// Flags a program named after "run", unless an ordinary word or a version follows it.
fn find_in_prose(found: &mut Found<'_>) {
    search_groups(found, FlagKind::Command, &PROSE_COMMAND, |groups| {
        let argument = groups.get(1).map_or("", |argument| argument.as_str());
        let word = argument.trim_end_matches(['.', ':']).to_ascii_lowercase();
        !word.is_empty() && !PROSE.split(' ').any(|other| other == word) && !is_version(&word)
    });
}

/// Looks at inline code, and at the lines of code blocks.
fn find_in_code(found: &mut Found<'_>) {
    let plain = found.plain;
    let mut fence: Option<&str> = None;
    for (line, (start, text)) in plain.lines().enumerate() {
        let code = text.trim_start_matches([' ', '\t', '-', '*']);
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| code.starts_with(mark));
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
            continue;
        }
        let mut spans = code_spans(text);
        if fence.is_some() {
            spans.push((text.len() - code.len(), text.len()));
        }
        for (from, to) in spans {
            if is_command(&text[from..to]) {
                let (from, to) = (plain.origin(start + from), plain.origin(start + to));
                found.add(FlagKind::Command, line, from, to);
                break;
            }
        }
    }
}

/// The inline code of a line, as byte ranges: between two runs of back-ticks of equal length.
fn code_spans(line: &str) -> Vec<(usize, usize)> {
    if !line.contains('`') {
        return Vec::new();
    }
    let bytes = line.as_bytes();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memchr_iter(b'`', bytes) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => runs.push((at, at + 1)),
        }
    }
    // For each run, the next one of its length.
    let mut closing = vec![None; runs.len()];
    let mut next: HashMap<usize, usize> = HashMap::new();
    for (index, (start, end)) in runs.iter().enumerate().rev() {
        closing[index] = next.insert(end - start, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        index = match closing[index] {
            Some(close) => {
                spans.push((runs[index].1, runs[close].0));
                close + 1
            }
            None => index + 1,
        };
    }
    spans
}

/// Whether code is a known program, or a path, with an argument.
fn is_command(code: &str) -> bool {
    let mut words = code.split_ascii_whitespace().skip_while(|word| {
        // A prompt, or a variable set for the command.
        matches!(*word, "$" | "%" | ">")
            || word
                .split_once('=')
                .is_some_and(|(name, _)| is_variable(name))
    });
    let Some(program) = words.next() else {
        return false;
    };
    let arguments: Vec<&str> = words.take(2).collect();
    let name = program.trim_end_matches(".exe");
    let is_known = PROGRAMS.contains(name);
    let is_path = PATHS.iter().any(|start| program.starts_with(start));
    match arguments[..] {
        [] => false,
        [only] if is_version(only) => false,
        // `make = …`, `node => …`: code, not a command.
        [first, ..] => (is_known || is_path) && !first.starts_with(['=', ':', '{', '+', ',', ')']),
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_version(word: &str) -> bool {
    let number = word
        .trim_start_matches(['v', '>', '=', '<', '^', '~'])
        .trim_end_matches(['+', 'x', '*', '.']);
    !number.is_empty()
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_pair_runs_of_equal_length() {
        let spans = |line: &'static str| -> Vec<&str> {
            code_spans(line)
                .into_iter()
                .map(|(from, to)| &line[from..to])
                .collect()
        };
        assert_eq!(spans("`a` ``b`c`` `d"), ["a", "b`c"]);
        assert_eq!(spans("``` `x` ```"), [" `x` "]);
    }
}
