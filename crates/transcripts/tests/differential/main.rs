//! Each reader against the rules of the reference, as its page states them.
//!
//! The rules stand here once more, as plain functions over whole files; with the differences that we
//! make on purpose (`difference.rs`) they must say of every session what our reader says, of real
//! sessions and of such as are made by chance. Without one of the differences they must not, on the
//! session that shows it: `table.md`, which a test writes, lists them all. Of every agent it is asked
//! for everything, for the turns of one project, and for sessions since a moment (`wanted.rs`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/homes.rs"]
mod homes;

#[path = "../support/opencode.rs"]
mod opencode_rows;

mod claude;
mod codex;
mod copilot;
mod course;
mod cursor;
mod difference;
mod examples;
mod made;
mod made_rows;
mod opencode;
mod pi;
mod records;
mod rows;
mod vscode;
mod wanted;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use skillopt_core::Instant;
use skillopt_core::agent::Agent;

use course::{Course, Seen, digests};
use difference::{Difference, Rules};
use examples::{Example, example};
use homes::{Home, write};
use records::Aborts;
use wanted::Wanted;

/// The name of a file of Codex.
const CODEX_NAME: &str = "rollout-2026-01-05T10-00-00-thread";
/// The name of a file of Pi.
const PI_NAME: &str = "sessions/--w-app--/2026-01-05T10-00-00-000Z_one";

/// When the files of Cursor were written, whose records have no times.
const WRITTEN: &str = "2026-01-05T10:20:00Z";

/// A path below an agent's home, and what stands there.
type File = (String, Vec<u8>);

/// What the reference's reader of an agent says of what is wanted of some files.
fn reference(
    agent: Agent,
    files: &[File],
    wanted: &Wanted,
    rules: Rules,
) -> Result<Vec<Seen>, Aborts> {
    let courses = match agent {
        Agent::OpenCode => opencode::read(files, rules),
        Agent::Copilot => copilot::read(files, rules),
        _ => courses(agent, files, wanted, rules)?,
    };
    Ok(digests(courses, wanted, rules))
}

/// What it makes of files that are transcripts.
fn courses(
    agent: Agent,
    files: &[File],
    wanted: &Wanted,
    rules: Rules,
) -> Result<Vec<Course>, Aborts> {
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
                let beside = json(files, &format!("{workspace}/.workspace-trusted"));
                let named = wanted.named_like(workspace, rules);
                let folder = beside["workspacePath"].as_str().unwrap_or(&named);
                if !path.contains("/subagents/") {
                    courses.extend(cursor::read(name, folder, bytes, rules));
                }
            }
            Agent::Vscode => {
                let workspace = path.split("/chatSessions/").next().unwrap();
                let beside = json(files, &format!("{workspace}/workspace.json"));
                let folder = records::text(&beside["folder"]);
                if path.contains("/chatSessions/") {
                    let folder = folder.strip_prefix("file://").unwrap_or_default();
                    courses.push(vscode::read(name, folder, bytes, rules));
                }
            }
            Agent::Copilot | Agent::OpenCode | Agent::OpenClaw | Agent::Devin => {
                panic!("the rules for {agent} are not here")
            }
        }
    }
    if agent == Agent::Cursor {
        wanted.nearest(&mut courses, rules);
    }
    Ok(courses)
}

/// What stands in one of the files, nothing where it is not there.
fn json(files: &[File], path: &str) -> serde_json::Value {
    let found = files.iter().find(|(name, _)| name == path);
    found.map_or(serde_json::Value::Null, |(_, bytes)| {
        serde_json::from_slice(bytes).unwrap()
    })
}

/// The files of a workspace of Cursor with one session.
fn cursor_files(session: Vec<u8>) -> Vec<File> {
    cursor_workspace("/w/app", "one", session)
}

/// The same of a folder and a session with this name.
fn cursor_workspace(folder: &str, name: &str, session: Vec<u8>) -> Vec<File> {
    let workspace = format!("projects/{}", folder.replace('/', "-").trim_matches('-'));
    vec![
        (
            format!("{workspace}/.workspace-trusted"),
            serde_json::json!({"workspacePath": folder})
                .to_string()
                .into_bytes(),
        ),
        (
            format!("{workspace}/agent-transcripts/{name}/{name}.jsonl"),
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
fn ours(agent: Agent, files: &[File], wanted: &Wanted) -> Vec<Seen> {
    let mut home = Home::new();
    home.request.agents = vec![agent];
    wanted.ask(&mut home.request);
    for (path, bytes) in files {
        let path = home.folder.path().join(agent.id()).join(path);
        write(&path, bytes);
        if agent == Agent::Cursor {
            let written: Instant = WRITTEN.parse().unwrap();
            let seconds = u64::try_from(written.as_second()).unwrap();
            let written = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(written).unwrap();
        }
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
        .join(match agent {
            // Its event logs are read before it, and the reference knows nothing of them.
            Agent::Copilot => "copilot-database",
            agent => agent.id(),
        });
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
const REAL: [Agent; 5] = [
    Agent::Claude,
    Agent::Codex,
    Agent::Copilot,
    Agent::Pi,
    Agent::OpenCode,
];

#[test]
fn of_real_sessions_the_rules_with_our_differences_say_what_our_readers_say() {
    let everything = Wanted::default();
    for agent in REAL {
        let files = real(agent);
        let found = ours(agent, &files, &everything);
        assert!(found.len() > 5, "{agent}: {}", found.len());
        let rules = reference(agent, &files, &everything, Rules::Ours);
        assert_eq!(rules.unwrap(), found, "{agent}");
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
#[cfg(unix)]
#[test]
fn every_difference_is_one_and_is_in_the_table() {
    let everything = Wanted::default();
    let found_in_real_files = REAL.map(|agent| {
        let files = real(agent);
        let all = reference(agent, &files, &everything, Rules::Ours);
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
        let Some(shows) = example(difference) else {
            must(false, "has no example".to_owned());
            continue;
        };
        let Example {
            agent,
            files,
            wanted,
            show,
            reference: theirs,
            ours: expected,
        } = shows;
        let found = Ok(ours(agent, &files, &wanted));
        let said = shown(&found, show);
        must(said == expected, format!("we say {said}"));
        let all = reference(agent, &files, &wanted, Rules::Ours);
        must(all == found, format!("{all:?} by the rules, we {found:?}"));
        let page = shown(&reference(agent, &files, &wanted, Rules::Reference), show);
        must(page == theirs, format!("the page says {page}"));
        let without = reference(agent, &files, &wanted, Rules::OursBut(difference));
        must(without != found, "makes no difference".to_owned());

        let row = difference.row();
        let occurs: BTreeSet<&str> = found_in_real_files
            .iter()
            .filter(|(agent, files, all)| {
                reference(*agent, files, &everything, Rules::OursBut(difference)) != *all
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

/// What is wanted of sessions in `/w/app` and beside it.
fn any_wanted() -> impl Strategy<Value = Wanted> {
    // None of these is the path of a folder on Windows.
    let projects = if cfg!(unix) {
        &["", "/w/app", "/w", "/w/app/ui", "/w/other"][..]
    } else {
        &[""]
    };
    let since = prop_oneof![3 => Just(None), 1 => (0_usize..40).prop_map(Some)];
    (select(projects.to_vec()), since).prop_map(|(project, since)| Wanted {
        project: project.to_owned(),
        since: since.map(|minute| made::minute(minute).parse().unwrap()),
    })
}

/// The same cases in every run, so that no change is held up by a fault it did not make; with
/// `PROPTEST_RNG_SEED` or `PROPTEST_CASES` others.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::with_cases(96);
    let is_asked_for = ["PROPTEST_RNG_SEED", "PROPTEST_CASES"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if is_asked_for {
        return ProptestConfig::default();
    }
    ProptestConfig {
        rng_seed: RngSeed::Fixed(96),
        ..config
    }
}

/// Both say the same of what is wanted of some files.
fn agree(agent: Agent, files: &[File], wanted: &Wanted) -> Result<(), TestCaseError> {
    let rules = reference(agent, files, wanted, Rules::Ours).unwrap();
    prop_assert_eq!(rules, ours(agent, files, wanted));
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn of_any_session_of_claude_code_both_say_the_same(
        made in made::claude(),
        wanted in any_wanted(),
    ) {
        let files = vec![("projects/-w-app/a.jsonl".to_owned(), made.0)];
        agree(Agent::Claude, &files, &wanted)?;
    }

    #[test]
    fn of_any_session_of_codex_both_say_the_same(
        made in made::codex_session(),
        wanted in any_wanted(),
    ) {
        let files = vec![(format!("archived_sessions/{CODEX_NAME}.jsonl"), made.0)];
        agree(Agent::Codex, &files, &wanted)?;
    }

    #[test]
    fn of_any_session_of_cursor_both_say_the_same(
        made in made::cursor_session(),
        wanted in any_wanted(),
    ) {
        agree(Agent::Cursor, &cursor_files(made.0), &wanted)?;
    }

    #[test]
    fn of_any_session_of_copilot_chat_both_say_the_same(
        made in made::vscode_session(),
        wanted in any_wanted(),
    ) {
        agree(Agent::Vscode, &vscode_files(made.0), &wanted)?;
    }

    #[test]
    fn of_any_session_of_pi_both_say_the_same(
        made in made::pi_session(),
        wanted in any_wanted(),
    ) {
        let files = vec![(format!("{PI_NAME}.jsonl"), made.0)];
        agree(Agent::Pi, &files, &wanted)?;
    }

    #[test]
    fn of_any_database_of_opencode_both_say_the_same(
        made in made_rows::opencode(),
        wanted in any_wanted(),
    ) {
        agree(Agent::OpenCode, &[made.file()], &wanted)?;
    }

    #[test]
    fn of_any_database_of_copilot_cli_both_say_the_same(
        made in made_rows::copilot(),
        wanted in any_wanted(),
    ) {
        agree(Agent::Copilot, &[made.file()], &wanted)?;
    }
}
