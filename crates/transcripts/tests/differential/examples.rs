//! A session for each difference: what the reference makes of it, and what we do.

mod others;
mod stores;

use serde_json::{Value, json};
use skillopt_core::agent::Agent;

use crate::File;
use crate::course::Seen;
use crate::difference::Difference;
use crate::made::{Claude, claude_answer, claude_file, claude_prompt, minute};
use crate::wanted::Wanted;

/// What both show of the files, in one line.
pub(crate) struct Example {
    pub(crate) agent: Agent,
    pub(crate) files: Vec<File>,
    pub(crate) wanted: Wanted,
    pub(crate) show: fn(&Seen) -> String,
    pub(crate) reference: &'static str,
    pub(crate) ours: &'static str,
}

fn prompts(seen: &Seen) -> String {
    seen.prompts.join(", ")
}

fn finals(seen: &Seen) -> String {
    seen.finals.join(", ")
}

fn tools(seen: &Seen) -> String {
    seen.tools.join(", ")
}

fn skills(seen: &Seen) -> String {
    seen.skills.join(", ")
}

fn files(seen: &Seen) -> String {
    seen.files.join(", ")
}

fn signals(seen: &Seen) -> String {
    seen.signals.join(", ")
}

fn session(seen: &Seen) -> String {
    seen.session.clone()
}

fn folder(seen: &Seen) -> String {
    seen.place.folder.clone()
}

fn branch(seen: &Seen) -> String {
    seen.place.branch.clone()
}

fn times(seen: &Seen) -> String {
    format!("{} to {}", seen.started, seen.ended)
}

fn typed(words: &str) -> Claude {
    Claude::Record(claude_prompt(&json!(words), true))
}

/// A prompt of a version that does not say who gave it.
fn old(words: &str) -> Claude {
    Claude::Record(claude_prompt(&json!(words), false))
}

fn said(words: &str) -> Claude {
    Claude::Record(claude_answer(&json!([{"type": "text", "text": words}])))
}

fn calls(input: Value) -> Claude {
    Claude::Record(claude_answer(&Value::Array(vec![input])))
}

fn with(step: Claude, key: &str, value: Value) -> Claude {
    match step {
        Claude::Record(mut record) => {
            record[key] = value;
            Claude::Record(record)
        }
        other => other,
    }
}

fn flagged(words: &str, key: &str) -> Claude {
    with(old(words), key, json!(true))
}

fn claude_path(name: &str) -> String {
    format!("projects/-w-app/{name}.jsonl")
}

/// The session of a difference.
pub(crate) fn example(difference: Difference) -> Option<Example> {
    shared(difference)
        .or_else(|| wanted(difference))
        .or_else(|| claude(difference))
        .or_else(|| others::of_codex(difference))
        .or_else(|| others::of_pi(difference))
        .or_else(|| others::of_vscode(difference))
        .or_else(|| stores::of_opencode(difference))
        .or_else(|| stores::of_copilot(difference))
        .or_else(|| stores::of_cursor(difference))
}

type Told = (fn(&Seen) -> String, Vec<Claude>, &'static str, &'static str);

/// What is the same for every agent, shown on Claude Code.
fn shared(difference: Difference) -> Option<Example> {
    let (show, steps, reference, ours): Told = match difference {
        Difference::WholeWords => (
            signals,
            vec![typed("Draw a piano, it is never fixed"), said("Drawn.")],
            "neg:no,, pos:fixed",
            "",
        ),
        Difference::OneAnswer => (
            finals,
            vec![typed("Rename it"), said("I look."), said("Renamed.")],
            "I look., Renamed.",
            "Renamed.",
        ),
        Difference::Unasked => (
            finals,
            vec![
                said("Welcome back."),
                typed("Rename it"),
                said("Renamed."),
                old("<command-name>/cost</command-name>"),
                said("It cost nothing."),
            ],
            "Welcome back., Renamed., It cost nothing.",
            "Renamed.",
        ),
        Difference::TimesOfTurns => (
            times,
            vec![
                Claude::Record(json!({"type": "mode", "timestamp": minute(0)})),
                with(
                    typed("Rename it"),
                    "timestamp",
                    json!("2026-01-05T12:01:00+02:00"),
                ),
                said("Renamed."),
                Claude::Record(json!({"type": "mode", "timestamp": minute(9)})),
            ],
            "2026-01-05T10:00:00Z to 2026-01-05T10:09:00Z",
            "2026-01-05T10:01:00Z to 2026-01-05T10:02:00Z",
        ),
        Difference::WhereTyped => (
            folder,
            vec![
                Claude::Record(json!({"type": "system"})),
                Claude::Moves("/w/other"),
                typed("Rename it"),
            ],
            "/w/app",
            "/w/other",
        ),
        Difference::Redacted => (
            prompts,
            vec![typed("Use sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4"), said("Used.")],
            "Use sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4",
            "Use [REDACTED_OPENAI_KEY]",
        ),
        Difference::NulCharacters => (
            |seen| prompts(seen).replace('\0', "\\0"),
            vec![typed("Rename\0 it"), said("Renamed.")],
            "Rename\\0 it",
            "Rename it",
        ),
        Difference::PrivateSpans => (
            prompts,
            vec![
                typed("Ask <private>Ann Smith</private> for it"),
                said("Asked."),
            ],
            "Ask <private>Ann Smith</private> for it",
            "Ask  for it",
        ),
        Difference::Quick => (
            prompts,
            vec![
                with(typed("Capital of France?"), "timestamp", json!(minute(1))),
                with(said("Paris."), "timestamp", json!("2026-01-05T10:01:02Z")),
            ],
            "no session",
            "Capital of France?",
        ),
        Difference::VagueHeadings => (
            prompts,
            vec![typed("## TASK\nRename it"), said("Renamed.")],
            "no session",
            "## TASK\nRename it",
        ),
        Difference::BrokenLine => (
            prompts,
            vec![typed("Rename it"), Claude::Line("[1]"), said("Renamed.")],
            "the harvest ends",
            "Rename it",
        ),
        Difference::Copies => {
            let first = vec![typed("Rename it"), said("Renamed.")];
            let mut fork = first.clone();
            fork.push(with(
                typed("And the tests"),
                "forkedFrom",
                json!({"sessionId": "a"}),
            ));
            return Some(Example {
                agent: Agent::Claude,
                files: vec![
                    (claude_path("a"), claude_file(&first)),
                    (claude_path("b"), claude_file(&fork)),
                ],
                wanted: Wanted::default(),
                show: prompts,
                reference: "Rename it; Rename it, And the tests",
                ours: "Rename it; And the tests",
            });
        }
        _ => return None,
    };
    Some(of_claude(show, &steps, reference, ours))
}

/// What is asked for, shown on Claude Code.
fn wanted(difference: Difference) -> Option<Example> {
    let session = |folder: Option<&'static str>| {
        let place = folder.map(Claude::Moves);
        place
            .into_iter()
            .chain([typed("Rename it"), said("Renamed.")])
    };
    let (wanted, steps, reference, ours): (_, Vec<Claude>, _, _) = match difference {
        Difference::AboveProject => (
            Wanted::of("/w/app/ui"),
            session(None).collect(),
            "Rename it",
            "no session",
        ),
        Difference::Links => {
            let (folder, link) = linked();
            (
                Wanted::of(link),
                session(Some(folder)).collect(),
                "no session",
                "Rename it",
            )
        }
        Difference::NoFolder => (
            Wanted::of("/w/app"),
            session(Some("")).collect(),
            "Rename it",
            "no session",
        ),
        // Nine in the morning where the clock on the wall is eight hours ahead of UTC.
        Difference::Since => (
            Wanted::since("2026-01-05T09:00:00Z"),
            session(None).collect(),
            "no session",
            "Rename it",
        ),
        _ => return None,
    };
    Some(Example {
        wanted,
        ..of_claude(prompts, &steps, reference, ours)
    })
}

/// A folder and a link to it, which stay where tests keep their files.
fn linked() -> (&'static str, &'static str) {
    const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/linked/folder");
    const LINK: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/linked/link");
    std::fs::create_dir_all(FOLDER).unwrap();
    #[cfg(unix)]
    if let Err(error) = std::os::unix::fs::symlink(FOLDER, LINK) {
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    }
    (FOLDER, LINK)
}

fn of_claude(
    show: fn(&Seen) -> String,
    steps: &[Claude],
    reference: &'static str,
    ours: &'static str,
) -> Example {
    Example {
        agent: Agent::Claude,
        files: vec![(claude_path("a"), claude_file(steps))],
        wanted: Wanted::default(),
        show,
        reference,
        ours,
    }
}

fn claude(difference: Difference) -> Option<Example> {
    let rename = match difference {
        Difference::SaysWho | Difference::Reminders => typed("Rename it"),
        // Where no record says who gave a prompt, nothing else leaves these out.
        _ => old("Rename it"),
    };
    let (show, more, reference, ours): Told = match difference {
        Difference::CopiesOfRequests => {
            let copy = json!({"type": "api-request-blob",
                "message": {"role": "user", "content": "Rules. Rename it"}});
            return Some(of_claude(
                prompts,
                &[old("Rename it"), Claude::Record(copy)],
                "Rename it, Rules. Rename it",
                "Rename it",
            ));
        }
        Difference::Sidechains => (
            prompts,
            vec![flagged("Count the files", "isSidechain")],
            "Rename it, Count the files",
            "Rename it",
        ),
        Difference::MetaFlag => (
            prompts,
            vec![flagged("A hook said this", "isMeta")],
            "Rename it, A hook said this",
            "Rename it",
        ),
        Difference::Summaries => (
            prompts,
            vec![flagged("It was about names", "isCompactSummary")],
            "Rename it, It was about names",
            "Rename it",
        ),
        Difference::Interruptions => (
            prompts,
            vec![old("[Request interrupted by user]")],
            "Rename it, [Request interrupted by user]",
            "Rename it",
        ),
        Difference::ToolResults => (
            prompts,
            vec![Claude::Record(claude_prompt(
                &json!([{"type": "tool_result", "tool_use_id": "t", "content": "x"},
                    {"type": "text", "text": "A file was changed"}]),
                false,
            ))],
            "Rename it, A file was changed",
            "Rename it",
        ),
        Difference::Refusals => (
            prompts,
            vec![Claude::Record(claude_prompt(
                &json!([{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content":
                    "The user doesn't want to proceed with this tool use. the user said:\nNot there"}]),
                false,
            ))],
            "Rename it",
            "Rename it, Not there",
        ),
        Difference::Reminders => (
            prompts,
            vec![Claude::Record(claude_prompt(
                &json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"},
                    {"type": "text", "text": "And the tests"}]),
                true,
            ))],
            "Rename it, <system-reminder>x</system-reminder>\nAnd the tests",
            "Rename it, And the tests",
        ),
        Difference::SaysWho => (
            prompts,
            vec![
                typed("<App> is what </App>"),
                with(typed("A task is done"), "promptSource", json!("system")),
            ],
            "Rename it, A task is done",
            "Rename it, <App> is what </App>",
        ),
        Difference::Queued => (
            prompts,
            vec![Claude::Record(json!({"type": "attachment", "attachment": {
                "type": "queued_command", "prompt": "Faster", "commandMode": "prompt"}}))],
            "Rename it",
            "Rename it, Faster",
        ),
        Difference::ApiErrors => (
            finals,
            vec![with(
                said("API Error: 500"),
                "isApiErrorMessage",
                json!(true),
            )],
            "API Error: 500",
            "",
        ),
        Difference::ExpandedSkills => (
            skills,
            vec![flagged(
                "Base directory for this skill: /w/lint\n\nx",
                "isMeta",
            )],
            "",
            "lint",
        ),
        Difference::ServerTools => (
            tools,
            vec![calls(
                json!({"type": "server_tool_use", "name": "web_search", "input": {}}),
            )],
            "",
            "web_search",
        ),
        Difference::TouchedFiles => (
            files,
            vec![
                Claude::Record(json!({"type": "file-history-snapshot", "snapshot": {
                    "messageId": "m", "trackedFileBackups": {"/w/app/a.rs": {}}}})),
                calls(json!({"type": "tool_use", "name": "Edit", "input": {"file_path": "b.rs"}})),
            ],
            "messageId, trackedFileBackups",
            "/w/app/a.rs, /w/app/b.rs",
        ),
        Difference::HeadIsNoBranch => {
            let steps = [Claude::Branch("HEAD"), rename, said("Renamed.")];
            return Some(of_claude(branch, &steps, "HEAD", ""));
        }
        _ => return None,
    };
    let mut steps = vec![rename];
    steps.extend(more);
    Some(of_claude(show, &steps, reference, ours))
}
