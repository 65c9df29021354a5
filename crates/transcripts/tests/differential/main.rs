//! Each reader against the rules of the reference, as its page states them.
//!
//! The rules stand here once more, as plain functions over whole files; with the differences that we
//! make on purpose (`difference.rs`) they must say of every session what our reader says, of real
//! sessions and of such as are made by chance. Without one of the differences they must not, on the
//! session that shows it: `table.md`, which a test writes, lists them all.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/homes.rs"]
mod homes;

mod claude;
mod codex;
mod course;
mod cursor;
mod difference;
mod examples;
mod made;
mod pi;
mod records;
mod vscode;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillopt_core::agent::Agent;

use course::{Seen, digests};
use difference::{Difference, Rules};
use examples::{Example, example};
use homes::{Home, write};
/// The name of a file of Codex.
const CODEX_NAME: &str = "rollout-2026-01-05T10-00-00-thread";
use records::Aborts;

/// The name of a file of Pi.
const PI_NAME: &str = "sessions/--w-app--/2026-01-05T10-00-00-000Z_one";

/// A path below an agent's home, and what stands there.
type File = (String, Vec<u8>);

/// What the reference's reader of an agent says of some files.
fn reference(agent: Agent, files: &[File], rules: Rules) -> Result<Vec<Seen>, Aborts> {
    let mut courses = Vec::new();
    for (path, bytes) in files {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let Some(name) = name.strip_suffix(".jsonl") else {
            continue;
        };
        match agent {
            Agent::Claude => {
                let taken = folder.starts_with("projects")
                    && !folder.ends_with("/subagents")
                    && !name.starts_with("agent-");
                if taken {
                    courses.push(claude::read(name, bytes, rules)?);
                }
            }
            Agent::Codex => {
                let live = rules.differ(Difference::LiveSessions);
                if folder == "archived_sessions" || (live && folder.starts_with("sessions")) {
                    courses.extend(codex::read(name, bytes, rules)?);
                }
            }
            Agent::Pi => {
                if folder.starts_with("sessions") {
                    courses.extend(pi::read(name, bytes, rules));
                }
            }
            Agent::Cursor => {
                let workspace = path.split("/agent-transcripts/").next().unwrap();
                let trusted = files
                    .iter()
                    .find(|(path, _)| *path == format!("{workspace}/.workspace-trusted"))
                    .map(|(_, bytes)| serde_json::from_slice::<serde_json::Value>(bytes).unwrap());
                let project = trusted
                    .and_then(|trusted| Some(trusted["workspacePath"].as_str()?.to_owned()))
                    .unwrap_or_default();
                if !folder.ends_with("/subagents") {
                    courses.extend(cursor::read(name, &project, bytes, rules));
                }
            }
            Agent::Vscode => {
                // The folder stands in `workspace.json`, which is the same in every test.
                if folder.ends_with("/chatSessions") {
                    courses.push(vscode::read(name, "/w/app", bytes, rules));
                }
            }
            Agent::Copilot | Agent::OpenCode | Agent::OpenClaw | Agent::Devin => {
                panic!("the rules for {agent} are not here")
            }
        }
    }
    Ok(digests(courses, rules))
}

/// The files of a workspace of Cursor with one session.
fn cursor_files(session: Vec<u8>) -> Vec<File> {
    vec![
        (
            "projects/w-app/.workspace-trusted".to_owned(),
            br#"{"workspacePath":"/w/app"}"#.to_vec(),
        ),
        (
            "projects/w-app/agent-transcripts/one/one.jsonl".to_owned(),
            session,
        ),
    ]
}

/// The files of a workspace of VS Code with one session.
fn vscode_files(session: Vec<u8>) -> Vec<File> {
    vec![
        (
            "User/workspaceStorage/w/workspace.json".to_owned(),
            br#"{"folder":"file:///w/app"}"#.to_vec(),
        ),
        (
            "User/workspaceStorage/w/chatSessions/one.jsonl".to_owned(),
            session,
        ),
    ]
}

/// What our reader says of them.
fn ours(agent: Agent, files: &[File]) -> Vec<Seen> {
    let mut home = Home::new();
    home.request.agents = vec![agent];
    for (path, bytes) in files {
        write(&home.folder.path().join(agent.id()).join(path), bytes);
    }
    let harvest = home.harvest();
    let mut seen: Vec<Seen> = harvest.sessions.iter().map(Seen::ours).collect();
    if agent == Agent::Cursor {
        // Its records have no times: both take those of the file.
        for seen in &mut seen {
            (seen.started, seen.ended) = Default::default();
        }
    }
    seen.sort_by(|a, b| a.session.cmp(&b.session));
    seen
}

/// The real files of an agent.
fn real(agent: Agent) -> Vec<File> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/transcripts")
        .join(agent.id());
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![home.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(&home).unwrap();
                let name = below.to_str().unwrap().replace('\\', "/");
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The agents whose rules are here and of which there are real files.
const REAL: [Agent; 3] = [Agent::Claude, Agent::Codex, Agent::Pi];

#[test]
fn of_real_sessions_the_rules_with_our_differences_say_what_our_readers_say() {
    for agent in REAL {
        let files = real(agent);
        let found = ours(agent, &files);
        assert!(found.len() > 5, "{agent}: {}", found.len());
        assert_eq!(reference(agent, &files, Rules::Ours).unwrap(), found);
    }
}

/// What both show, in one line.
fn shown(said: &Result<Vec<Seen>, Aborts>, show: fn(&Seen) -> String) -> String {
    match said {
        Err(Aborts) => "the harvest ends".to_owned(),
        Ok(sessions) if sessions.is_empty() => "no session".to_owned(),
        Ok(sessions) => {
            let sessions: Vec<String> = sessions.iter().map(show).collect();
            sessions.join("; ")
        }
    }
}

/// Compares with `table.md`, or writes it when `SKILLOPT_WRITE_PAGES` is set.
#[test]
fn every_difference_is_one_and_is_in_the_table() {
    let everything = REAL.map(|agent| {
        let files = real(agent);
        let all = reference(agent, &files, Rules::Ours);
        (agent, files, all)
    });
    let mut table = "# Where our readers differ from the reference\n\n\
        Written by the test beside it, which follows the rules of the reference's page (§) and \
        compares: on each of these sessions the two differ as is said here, and without the \
        difference they do not agree on it. In everything else they agree, on real sessions and on \
        any that are made by chance.\n\n\
        | Rule | Reference | We | Why | Example: reference | We | In real files |\n\
        | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut wrong = Vec::new();
    for &difference in Difference::ALL {
        let mut must = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{difference:?}: {what}"));
            }
        };
        let Example {
            agent,
            files,
            show,
            reference: theirs,
            ours: expected,
        } = example(difference);
        let found = Ok(ours(agent, &files));
        let said = shown(&found, show);
        must(said == expected, format!("we say {said}"));
        let all = reference(agent, &files, Rules::Ours);
        must(all == found, format!("{all:?} by the rules, we {found:?}"));
        let page = shown(&reference(agent, &files, Rules::Reference), show);
        must(page == theirs, format!("the page says {page}"));
        let without = reference(agent, &files, Rules::OursBut(difference));
        must(without != found, "makes no difference".to_owned());

        let row = difference.row();
        let occurs: BTreeSet<&str> = everything
            .iter()
            .filter(|(agent, files, all)| {
                reference(*agent, files, Rules::OursBut(difference)) != *all
            })
            .map(|(agent, ..)| agent.title())
            .collect();
        let occurs: Vec<&str> = occurs.into_iter().collect();
        let cell = |text: &str| match text {
            "" => "nothing".to_owned(),
            text => format!("`{}`", text.replace('\n', "⏎").replace('|', "\\|")),
        };
        writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} |",
            row.rule,
            row.reference,
            row.ours,
            row.why,
            cell(theirs),
            cell(expected),
            if occurs.is_empty() {
                "no".to_owned()
            } else {
                occurs.join(", ")
            },
        )
        .unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/table.md");
    if std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        write(path.as_ref(), table.as_bytes());
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        table,
        "look at what changed, then run this test with SKILLOPT_WRITE_PAGES=1"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn of_any_session_of_claude_code_both_say_the_same(made in made::claude()) {
        let files = vec![("projects/-w-app/a.jsonl".to_owned(), made.0)];
        let rules = reference(Agent::Claude, &files, Rules::Ours).unwrap();
        prop_assert_eq!(rules, ours(Agent::Claude, &files));
    }

    #[test]
    fn of_any_session_of_codex_both_say_the_same(made in made::codex_session()) {
        let files = vec![(format!("archived_sessions/{CODEX_NAME}.jsonl"), made.0)];
        let rules = reference(Agent::Codex, &files, Rules::Ours).unwrap();
        prop_assert_eq!(rules, ours(Agent::Codex, &files));
    }

    #[test]
    fn of_any_session_of_cursor_both_say_the_same(made in made::cursor_session()) {
        let files = cursor_files(made.0);
        let rules = reference(Agent::Cursor, &files, Rules::Ours).unwrap();
        prop_assert_eq!(rules, ours(Agent::Cursor, &files));
    }

    #[test]
    fn of_any_session_of_copilot_chat_both_say_the_same(made in made::vscode_session()) {
        let files = vscode_files(made.0);
        let rules = reference(Agent::Vscode, &files, Rules::Ours).unwrap();
        prop_assert_eq!(rules, ours(Agent::Vscode, &files));
    }

    #[test]
    fn of_any_session_of_pi_both_say_the_same(made in made::pi_session()) {
        let files = vec![(format!("{PI_NAME}.jsonl"), made.0)];
        let rules = reference(Agent::Pi, &files, Rules::Ours).unwrap();
        prop_assert_eq!(rules, ours(Agent::Pi, &files));
    }
}
