//! Pages of the manual, one for each command.

use clap::Command;
use clap_mangen::Man;

/// Exit codes, as in the README.
const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "It was done; the night came to an end."),
    ("1", "It failed; the error and its code are printed."),
    ("2", "Wrong usage, or it was refused."),
    ("3", "Hand-off questions wait for an answer."),
    (
        "75",
        "Deferred: a limit, a sign-in, a lock, or a budget too small. It goes on later.",
    ),
    ("130", "Interrupted; the next run resumes where it was."),
];

const FILES: &[(&str, &str)] = &[
    (
        "~/.local/share/skillopt",
        "What is kept (on Linux). SKILLOPT_DATA_DIR places it elsewhere.",
    ),
    (
        "~/.config/skillopt/settings.toml",
        "Your settings (on Linux). SKILLOPT_CONFIG_DIR places their folder elsewhere.",
    ),
    (
        ".skillopt.toml",
        "What a repository may restrict for its own nights.",
    ),
    (
        "~/.claude, ~/.codex, ~/.copilot, ~/.cursor, ...",
        "The sessions of the agents; they are only read. `skillopt doctor` names every place.",
    ),
];

const EXAMPLES: &[(&str, &str)] = &[
    (
        "skillopt sleep dry-run",
        "What a night would read and cost; free.",
    ),
    ("skillopt sleep run", "One night, now."),
    ("skillopt proposal show", "What it proposes, and why."),
    (
        "skillopt proposal adopt --rule 1,3",
        "Take two of its rules.",
    ),
    ("skillopt rollback", "Take the newest adoption back."),
    (
        "skillopt sleep schedule --hour 3",
        "Every night at 3:17 by cron.",
    ),
];

/// The page of the command these words lead to, of the whole program without words; `None` when there
/// is no such command.
pub(crate) fn page(mut program: Command, words: &[String]) -> Option<std::io::Result<String>> {
    // What every command takes belongs to each page, and so does the full name.
    program.build();
    let mut command = program;
    for word in words {
        command = command.find_subcommand(word)?.clone();
    }
    Some(render(command, words.is_empty()))
}

fn render(mut command: Command, whole: bool) -> std::io::Result<String> {
    let mut page = Vec::new();
    // With every flag the synopsis of a night would be a page by itself; they all stand below it.
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    // What `-h` leaves out would stand here without a word about it.
    let command = command
        .override_usage(usage)
        .mut_args(|arg| arg.hide_short_help(false));
    Man::new(command)
        .source(concat!("SkillOpt ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    section(&mut page, "EXIT STATUS", EXIT_STATUS);
    if whole {
        section(&mut page, "FILES", FILES);
        section(&mut page, "EXAMPLES", EXAMPLES);
        page.push_str(".SH \"SEE ALSO\"\n");
        page.push_str("Each command has a page of its own: \\fBskillopt man \\fICOMMAND\\fR\\&.\n");
    }
    Ok(page)
}

/// A section of terms, each with what it means.
fn section(page: &mut String, title: &str, terms: &[(&str, &str)]) {
    page.push_str(&format!(".SH \"{title}\"\n"));
    for (term, meaning) in terms {
        page.push_str(&format!(
            ".TP\n\\fB{}\\fR\n{}\n",
            escaped(term),
            escaped(meaning)
        ));
    }
}

/// Text without anything roff acts on: a hyphen stays one when it is copied, and no line is a request.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    if text.starts_with(['.', '\'']) {
        format!("\\&{text}")
    } else {
        text
    }
}
