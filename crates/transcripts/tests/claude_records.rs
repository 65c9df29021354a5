//! What each record of Claude Code becomes, and what is left out for which reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answer, call, prompts, skipped, typed};

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Claude, reason)
}

/// Sessions without a time of their own come in the order of their ids.
fn one(lines: &[String]) -> Harvest {
    let home = Home::new();
    home.claude("s1.jsonl", lines);
    home.harvest()
}

fn user(extra: &str, content: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"x","cwd":"/w/app"{extra},"message":{{"role":"user","content":{content}}}}}"#
    )
}

#[test]
fn the_older_generation_is_read_by_its_shapes() {
    // §15.4
    let home = Home::new();
    home.claude("s1.jsonl", &[
        r#"{"type":"user","cwd":"/w/app","gitBranch":"main","timestamp":"2026-01-05T10:00:00.000Z","sessionId":"s1","message":{"role":"user","content":"Rename the flag in config"}}"#,
        r#"{"type":"assistant","timestamp":"2026-01-05T10:01:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Renamed."},{"type":"tool_use","name":"Edit","input":{}},{"type":"tool_use","name":"Skill","input":{"skill":"alpha"}}]}}"#,
    ]);
    let harvest = home.harvest();
    let session = &harvest.sessions[0];
    assert_eq!(session.id, "s1");
    assert_eq!(session.directory, "/w/app");
    assert_eq!(session.branch, "main");
    assert_eq!(session.tools, ["Edit", "Skill"]);
    assert_eq!(session.skills, ["alpha"]);
    assert_eq!(session.turns.len(), 2);
    assert_eq!(session.turns[0].text, "Rename the flag in config");
    assert_eq!(session.turns[0].id, "#0");
    assert_eq!(session.turns[1].author, Author::Assistant);
    assert_eq!(session.turns[1].text, "Renamed.");
}

#[test]
fn old_records_that_nobody_typed_are_left_out() {
    for (record, reason) in [
        (
            user(
                "",
                r#""<command-message>x</command-message>\n<command-name>/x</command-name>""#,
            ),
            Reason::SlashCommand,
        ),
        (
            user("", r#""<local-command-stdout>done</local-command-stdout>""#),
            Reason::LocalCommand,
        ),
        (
            user("", r#""<bash-input>ls</bash-input>""#),
            Reason::LocalCommand,
        ),
        (
            user("", r#""Caveat: The messages below were generated""#),
            Reason::Meta,
        ),
        (user("", r#""[Pasted text #1 +3 lines]""#), Reason::Meta),
        (user("", r#""/clear""#), Reason::SlashCommand),
        (
            user(
                r#","isMeta":true"#,
                r#""Base directory for this skill: /w/x""#,
            ),
            Reason::Meta,
        ),
        (
            user(r#","isCompactSummary":true"#, r#""Summary of it""#),
            Reason::Compaction,
        ),
        (
            user(
                "",
                r#""This session is being continued from a previous conversation that ran out""#,
            ),
            Reason::Compaction,
        ),
        (
            user(r#","isSidechain":true"#, r#""count the files""#),
            Reason::Sidechain,
        ),
        (
            user(
                "",
                r#"[{"type":"tool_result","tool_use_id":"t","content":"ok"}]"#,
            ),
            Reason::ToolResult,
        ),
        (
            user(
                "",
                r#"[{"content":[{"type":"text","text":"x"}],"type":"tool_result"}]"#,
            ),
            Reason::ToolResult,
        ),
        (
            user("", r#"[{"type":"image","source":{}}]"#),
            Reason::Wordless,
        ),
        (user("", r#""""#), Reason::Wordless),
        (
            user("", r#""<private>all of it</private>""#),
            Reason::Private,
        ),
        (user("", "7"), Reason::Wordless),
        (
            r#"{"type":"user","uuid":"x"}"#.to_owned(),
            Reason::Malformed,
        ),
        (
            r#"{"type":"summary","summary":"x"}"#.to_owned(),
            Reason::Compaction,
        ),
    ] {
        let prompt = user("", r#""Rename the flag""#).replace(r#""uuid":"x""#, r#""uuid":"y""#);
        let harvest = one(&[record.clone(), prompt]);
        assert_eq!(prompts(&harvest), [["Rename the flag"]], "{record}");
        assert_eq!(left_out(&harvest, reason), 1, "{record}");
    }
}

#[test]
fn todays_records_say_who_gave_a_prompt() {
    let source = |source: &str, origin: &str| {
        user(
            &format!(r#","promptSource":"{source}","origin":{{"kind":"{origin}"}}"#),
            r#""Do it""#,
        )
    };
    for (record, taken) in [
        (source("typed", "human"), true),
        (source("sdk", "human"), true),
        // 2.1.257: waited for the agent to finish.
        (source("queued", "human"), true),
        (source("system", "task-notification"), false),
        (source("typed", "peer"), false),
        // A record of a version that writes `promptSource` on prompts, without it.
        (user(r#","rowSource":"local""#, r#""Do it""#), false),
        (user(r#","turnOrigin":"human""#, r#""Do it""#), false),
    ] {
        let harvest = one(std::slice::from_ref(&record));
        assert_eq!(harvest.sessions.len(), usize::from(taken), "{record}");
        assert_eq!(
            left_out(&harvest, Reason::MachinePrompt),
            u64::from(!taken),
            "{record}"
        );
        assert_eq!(
            left_out(&harvest, Reason::NoHumanTurn),
            u64::from(!taken),
            "{record}"
        );
    }
    // Once a file has named a source, a record that looks like a prompt but names none is none.
    let harvest = one(&[typed(1, "First"), user("", r#""Not typed""#)]);
    assert_eq!(prompts(&harvest), [["First"]]);
}

#[test]
fn commands_are_no_requests_even_when_they_were_typed() {
    let harvest = one(&[
        typed(1, "/compact keep the names of all files"),
        typed(2, "/home/dana/x is gone, why?"),
    ]);
    assert_eq!(prompts(&harvest), [["/home/dana/x is gone, why?"]]);
    assert_eq!(left_out(&harvest, Reason::SlashCommand), 1);
}

#[test]
fn messages_sent_while_the_agent_worked_are_turns() {
    let queued = |extra: &str, mode: &str, prompt: &str| {
        format!(
            r#"{{"attachment":{{"type":"queued_command","prompt":{prompt},"commandMode":"{mode}"{extra}}},"type":"attachment","uuid":"q","timestamp":"2026-01-05T10:02:00Z","cwd":"/w/app"}}"#
        )
    };
    for (record, said) in [
        (queued("", "prompt", r#""stop that""#), Some("stop that")),
        (
            queued(
                "",
                "prompt",
                r#"[{"type":"text","text":"stop"},{"type":"text","text":"that"}]"#,
            ),
            Some("stop\nthat"),
        ),
        (
            queued(r#","origin":{"kind":"human"}"#, "prompt", r#""stop that""#),
            Some("stop that"),
        ),
        (
            queued(r#","origin":{"kind":"peer"}"#, "prompt", r#""stop that""#),
            None,
        ),
        (
            queued(r#","isMeta":true"#, "prompt", r#""stop that""#),
            None,
        ),
        (
            queued(
                "",
                "task-notification",
                r#""<task-notification>done</task-notification>""#,
            ),
            None,
        ),
    ] {
        let harvest = one(&[
            typed(1, "Go on"),
            call(1, "Bash", "{}"),
            record.clone(),
            call(3, "Write", "{}"),
            answer(4, "Done."),
        ]);
        let session = &harvest.sessions[0];
        let expected: Vec<&str> = std::iter::once("Go on").chain(said).collect();
        assert_eq!(homes::words(session), expected, "{record}");
        assert_eq!(
            left_out(&harvest, Reason::MachinePrompt),
            u64::from(said.is_none()),
            "{record}"
        );
        let tools: Vec<Vec<String>> = session
            .human_turns()
            .map(|turn| turn.tools.clone())
            .collect();
        match said {
            Some(_) => assert_eq!(tools, [["Bash"], ["Write"]]),
            None => assert_eq!(tools, [["Bash", "Write"]]),
        }
    }
}

#[test]
fn an_interruption_marks_the_turn_before_it() {
    for marker in [
        user(
            "",
            r#"[{"type":"text","text":"[Request interrupted by user]"}]"#,
        ),
        user(
            "",
            r#"[{"type":"text","text":"[Request interrupted by user for tool use]"}]"#,
        ),
        user(
            r#","interruptedMessageId":"m","rowSource":"harness""#,
            r#""stopped""#,
        ),
    ] {
        let harvest = one(&[typed(1, "Go on"), marker, typed(2, "Something else")]);
        assert_eq!(prompts(&harvest), [["Go on", "Something else"]]);
        let turns: Vec<(bool, bool)> = harvest.sessions[0]
            .human_turns()
            .map(|turn| {
                (
                    turn.interrupted,
                    turn.feedback.contains(&"neg:interrupted".to_owned()),
                )
            })
            .collect();
        assert_eq!(turns, [(true, true), (false, false)]);
        assert_eq!(left_out(&harvest, Reason::Interruption), 1);
    }
}

#[test]
fn what_a_command_sets_off_answers_no_prompt() {
    let command = user(
        r#","turnOrigin":"human""#,
        r#""<command-message>notes</command-message>\n<command-name>/notes</command-name>""#,
    );
    let expansion = user(
        r#","isMeta":true"#,
        r#"[{"type":"text","text":"Base directory for this skill: /w/app/.claude/skills/release-notes\n\n# Notes"}]"#,
    );
    let harvest = one(&[
        typed(1, "Go on"),
        answer(1, "Went on."),
        command,
        expansion,
        call(2, "Write", r#"{"file_path":"/w/app/NOTES.md"}"#),
        answer(3, "Wrote notes."),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(session.turns.len(), 2);
    assert_eq!(session.turns[1].text, "Went on.");
    assert!(session.turns[0].tools.is_empty());
    // The command's name, not the folder's, is what the person called.
    assert_eq!(session.skills, ["notes"]);
    assert_eq!(session.tools, ["Write"]);
    assert_eq!(session.files, ["/w/app/NOTES.md"]);
}

#[test]
fn the_last_words_before_the_next_prompt_are_the_answer() {
    let block = |id: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{text}","timestamp":"2026-01-05T10:01:30Z","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let error = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"id":"e","role":"assistant","content":[{"type":"text","text":"API Error: 500"}]}}"#;
    let harvest = one(&[
        typed(1, "Go on"),
        block("m1", "Let me look."),
        block("m2", "First part."),
        block("m2", "Second part."),
        error.to_owned(),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(session.turns[1].text, "First part.\nSecond part.");
    assert_eq!(session.turns[1].id, "m2");
    assert_eq!(left_out(&harvest, Reason::ApiError), 1);
}

#[test]
fn what_an_editor_puts_beside_the_words_is_no_part_of_them() {
    let harvest = one(&[user(
        r#","promptSource":"typed""#,
        r#"[{"type":"text","text":"<ide_opened_file>The user opened a.rs</ide_opened_file>"},{"type":"text","text":"Rename it"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]"#,
    )]);
    assert_eq!(prompts(&harvest), [["Rename it"]]);
}

#[test]
fn times_have_any_offset() {
    let at = |uuid: &str, time: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","timestamp":"{time}","cwd":"/w/app","promptSource":"typed","message":{{"role":"user","content":"{uuid}"}}}}"#
        )
    };
    let mut home = Home::new();
    // 15:30 UTC, 15:00 UTC, no time, 14:00 UTC.
    home.claude("a.jsonl", &[at("a", "2026-01-05T10:30:00-05:00")]);
    home.claude("b.jsonl", &[at("b", "2026-01-05T15:00:00.000Z")]);
    home.claude("c.jsonl", &[at("c", "yesterday")]);
    home.claude("d.jsonl", &[at("d", "2026-01-05T22:00:00+08:00")]);
    assert_eq!(prompts(&home.harvest()), [["a"], ["b"], ["d"], ["c"]]);
    home.request.since = Some("2026-01-05T15:00:00Z".parse().unwrap());
    let harvest = home.harvest();
    // A session without a time is not known to be too old.
    assert_eq!(prompts(&harvest), [["a"], ["b"], ["c"]]);
    assert_eq!(left_out(&harvest, Reason::BeforeSince), 1);
    assert_eq!(
        harvest.newest[&Agent::Claude].to_string(),
        "2026-01-05T15:30:00Z"
    );
}

#[test]
fn unknown_records_are_counted_by_name_and_version() {
    let harvest = one(&[
        r#"{"type":"telepathy"}"#.to_owned(),
        r#"{"type":"telepathy","x":[1]}"#.to_owned(),
        r#"{"attachment":{"type":"mood"},"type":"attachment"}"#.to_owned(),
        r#"{"x":[1],"type":"dream"}"#.to_owned(),
        typed(1, "Go on"),
        typed(2, "And on").replace("2.1.332", "3.0.0"),
        r#"{"type":"telepathy"}"#.to_owned(),
        typed(3, "And on")
            .replace("2.1.332", "3.0.0")
            .replace("\"typed\"", "\"mind\""),
    ]);
    let unknown: Vec<(&str, &str, u64)> = harvest
        .unknown
        .iter()
        .map(|(record, count)| (record.name.as_str(), record.version.as_str(), *count))
        .collect();
    assert_eq!(
        unknown,
        [
            ("attachment/mood", "2.1.332", 1),
            ("dream", "2.1.332", 1),
            ("promptSource/mind", "3.0.0", 1),
            ("telepathy", "2.1.332", 2),
            ("telepathy", "3.0.0", 1),
        ]
    );
    assert_eq!(left_out(&harvest, Reason::UnknownType), 6);
    assert!(harvest.silent.is_empty());
}

#[test]
fn files_come_from_snapshots_and_from_tools() {
    let harvest = one(&[
        typed(1, "Go on"),
        r#"{"type":"file-history-snapshot","snapshot":{"messageId":"m","trackedFileBackups":{"src/a.rs":{"version":1}}}}"#.to_owned(),
        r#"{"type":"file-history-delta","trackingPath":"src/b.rs"}"#.to_owned(),
        call(1, "Edit", r#"{"file_path":"/w/app/src/a.rs","old_string":"x"}"#),
        call(1, "NotebookEdit", r#"{"notebook_path":"/w/app/n.ipynb"}"#),
        call(1, "Read", r#"{"file_path":"/w/app/read.rs"}"#),
    ]);
    assert_eq!(
        harvest.sessions[0].files,
        ["/w/app/src/a.rs", "/w/app/src/b.rs", "/w/app/n.ipynb"]
    );
}

#[test]
fn a_branch_called_head_is_no_branch() {
    let harvest =
        one(&[typed(1, "Go on").replace(r#""gitBranch":"main""#, r#""gitBranch":"HEAD""#)]);
    assert_eq!(harvest.sessions[0].branch, "");
}
