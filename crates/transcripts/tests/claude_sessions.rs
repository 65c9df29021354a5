//! Which sessions and turns of Claude Code count, and where: folders, copies, excludes, secrets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason, Scope};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answer, call, prompts, skipped, typed, typed_in, write};

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
fn each_turn_belongs_to_the_folder_it_was_typed_in() {
    let lines = [
        typed_in("/w", 1, "above"),
        typed_in("/w/app", 2, "inside"),
        typed_in("/w/app/src", 3, "below"),
        typed_in("/w/other", 4, "beside"),
        typed_in("/w/trees/fix", 5, "worktree"),
    ];
    let above = [typed_in("/w", 11, "only above")];
    for (scope, expected, sessions_elsewhere) in [
        (Scope::Project, vec![vec!["inside", "below", "worktree"]], 1),
        (
            Scope::Parents,
            vec![
                vec!["only above"],
                vec!["above", "inside", "below", "worktree"],
            ],
            0,
        ),
    ] {
        let home = Home::new().project(&["/w/app", "/w/trees/fix"], scope);
        home.claude("s1.jsonl", &lines);
        home.claude("s2.jsonl", &above);
        let harvest = home.harvest();
        assert_eq!(prompts(&harvest), expected);
        assert_eq!(left_out(&harvest, Reason::OtherProject), sessions_elsewhere);
        assert_eq!(
            left_out(&harvest, Reason::OtherDirectory),
            if scope == Scope::Project { 2 } else { 1 }
        );
        if scope == Scope::Project {
            assert_eq!(harvest.sessions[0].directory, "/w/app");
        }
    }
}

#[test]
fn copies_count_once_in_the_session_that_started_first() {
    let home = Home::new();
    let original = [
        typed(1, "one"),
        answer(1, "1"),
        typed(2, "two"),
        answer(2, "2"),
    ];
    let mut fork: Vec<String> = original.to_vec();
    fork.insert(
        0,
        r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-05T10:30:00Z"}"#
            .to_owned(),
    );
    fork.push(typed(31, "three, in the fork"));
    // The id sorts before the original's, and the file is older: neither counts.
    home.claude("0-fork.jsonl", &fork);
    home.claude("1-original.jsonl", &original);
    let harvest = home.harvest();
    assert_eq!(
        prompts(&harvest),
        [vec!["three, in the fork"], vec!["one", "two"]]
    );
    assert_eq!(left_out(&harvest, Reason::Copy), 2);
    // The answers to copies are copies too.
    assert_eq!(harvest.sessions[0].turns.len(), 1);
}

#[test]
fn a_fork_that_begins_with_a_copy_does_not_own_it() {
    let home = Home::new();
    let original = [typed(1, "one"), answer(1, "1")];
    let copied = answer(1, "1").replace(
        r#""type":"assistant""#,
        r#""requestSessionId":"9","type":"assistant""#,
    );
    home.claude("0-fork.jsonl", &[typed(1, "one"), copied]);
    home.claude("9.jsonl", &original);
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["one"]]);
    assert_eq!(harvest.sessions[0].id, "9");
}

#[test]
fn a_session_in_two_places_is_one_session() {
    let home = Home::new();
    let short = [typed(1, "one"), answer(1, "1")];
    let long = [typed(1, "one"), answer(1, "1"), typed(2, "two")];
    home.claude("s1.jsonl", &short);
    let packed = zstd::encode_all(homes::joined(&long).as_slice(), 3).unwrap();
    write(
        &home
            .folder
            .path()
            .join("claude/projects/-w-other/s1.jsonl.zst"),
        &packed,
    );
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["one", "two"]]);
    assert!(harvest.sessions[0].path.ends_with("-w-other/s1.jsonl.zst"));
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
}

#[test]
fn excludes_and_private_spans_hold_before_anything_is_kept() {
    let mut home = Home::new();
    home.request.exclude = vec![
        "/w/secret".to_owned(),
        "*.pem".to_owned(),
        "-w-hidden".to_owned(),
    ];
    home.claude(
        "s1.jsonl",
        &[
            typed(1, "public <private>but this</private> words"),
            call(1, "Write", r#"{"file_path":"/w/app/key.pem"}"#),
            call(1, "Write", r#"{"file_path":"/w/app/a.rs"}"#),
            answer(1, "said <private>so</private>"),
            typed_in("/w/secret/app", 2, "hidden words"),
            answer(2, "hidden answer"),
        ],
    );
    write(
        &home
            .folder
            .path()
            .join("claude/projects/-w-hidden/s2.jsonl"),
        &homes::joined(&[typed(3, "hidden")]),
    );
    let harvest = home.harvest();
    let session = &harvest.sessions[0];
    assert_eq!(harvest.sessions.len(), 1);
    assert_eq!(homes::words(session), ["public  words"]);
    assert_eq!(session.turns[1].text, "said");
    assert_eq!(session.files, ["/w/app/a.rs"]);
    assert_eq!(left_out(&harvest, Reason::ExcludedDirectory), 1);
    assert_eq!(left_out(&harvest, Reason::ExcludedFile), 1);
    assert!(!format!("{harvest:?}").contains("hidden"));
}

#[test]
fn secrets_never_leave_the_reader() {
    let secret = "sk-proj-Fk3TESTONLYnotARealKey0123456789abcdefABCDEF";
    // The cut would leave the beginning of the key.
    let long = format!("{}{secret}", "word ".repeat(3198));
    let harvest = one(&[
        typed(1, &format!("my key is {secret}, use it")),
        answer(1, secret),
        typed(2, &long),
    ]);
    let debug = format!("{harvest:?}");
    assert!(!debug.contains("sk-proj"), "{debug}");
    assert!(debug.contains("REDACTED"));
    assert!(
        harvest.sessions[0]
            .turns
            .iter()
            .all(|turn| turn.text.chars().count() <= 16_000)
    );
}

#[test]
fn sessions_in_which_nobody_speaks_any_more_are_noticed() {
    let home = Home::new();
    let old = |minute, words: &str| [typed(minute, words), answer(minute, "Done.")];
    // As if `user` records were called something else from some version on.
    let changed = |minute, words: &str| {
        old(minute, words).map(|line| line.replace(r#""type":"user""#, r#""type":"speech""#))
    };
    home.claude("1.jsonl", &old(1, "one"));
    home.claude("2.jsonl", &changed(2, "two"));
    home.claude("3.jsonl", &changed(3, "three"));
    assert!(home.harvest().silent.is_empty());
    let newest = home.claude("4.jsonl", &changed(4, "four"));
    assert_eq!(
        home.harvest().silent.get(&Agent::Claude),
        Some(&3),
        "the newest three"
    );
    // A slash command explains why nobody spoke, and so does a program's prompt.
    let command = user(r#","promptSource":"typed""#, r#""/model""#);
    let by_a_program = user(
        r#","promptSource":"system","origin":{"kind":"task-notification"}"#,
        r#""go on""#,
    );
    for record in [command, by_a_program] {
        home.claude("4.jsonl", &[record, answer(4, "Done.")]);
        assert!(home.harvest().silent.is_empty());
    }
    // The only session there is.
    std::fs::remove_file(newest).unwrap();
    std::fs::remove_file(home.folder.path().join("claude/projects/-w-app/1.jsonl")).unwrap();
    assert_eq!(home.harvest().silent.get(&Agent::Claude), Some(&2));
}

/// A session of a wrong clock is not the newest one for ever.
#[test]
fn what_is_dated_in_the_future_hides_no_change_of_the_format() {
    let mut home = Home::new();
    let future = |line: String| line.replace("2026-01-05", "9998-01-05");
    home.claude("far.jsonl", &[future(typed(1, "hello"))]);
    home.claude("old.jsonl", &[typed(1, "hi"), answer(1, "Hello.")]);
    for (name, minute) in [("a", 2), ("b", 3), ("c", 4)] {
        let strange = typed(minute, "hello").replace(r#""type":"user""#, r#""type":"speech""#);
        home.claude(&format!("{name}.jsonl"), &[strange, answer(minute, "hi")]);
    }
    assert!(home.harvest().silent.is_empty());
    home.request.now = Some("2026-01-06T00:00:00Z".parse().unwrap());
    let harvest = home.harvest();
    assert_eq!(harvest.silent.get(&Agent::Claude), Some(&3));
    assert_eq!(
        harvest.newest[&Agent::Claude].to_string(),
        "2026-01-05T10:01:30Z"
    );
    // A clock that is some hours ahead is right enough.
    home.request.now = Some("9998-01-04T12:00:00Z".parse().unwrap());
    assert!(home.harvest().silent.is_empty());
}

#[test]
fn sessions_no_person_made_are_left_out() {
    let marked = format!("Grade this. {}", skillopt_core::own_call::MARKER);
    let scratch = format!("/tmp/{}a1", skillopt_core::own_call::SCRATCH_PREFIX);
    let started = typed(1, "hello").replace(
        r#""entrypoint":"cli""#,
        &format!(r#""entrypoint":"{}""#, skillopt_core::own_call::ENTRYPOINT),
    );
    for (lines, reason) in [
        (vec![typed(1, &marked)], Reason::OwnCall),
        (vec![typed_in(&scratch, 1, "hello")], Reason::OwnCall),
        (vec![started], Reason::OwnCall),
        (
            vec![typed(
                1,
                "You are a strict grader. Score the response 0.0-1.0.",
            )],
            Reason::EngineCall,
        ),
        (
            vec![typed(1, "Hello memory agent"), typed(2, "more")],
            Reason::AgentSession,
        ),
        (vec![typed(1, "[watcher] look")], Reason::AgentSession),
    ] {
        let mut home = Home::new();
        home.request.agent_markers = vec!["[watcher]".to_owned()];
        home.claude("s1.jsonl", &lines);
        let harvest = home.harvest();
        assert!(harvest.sessions.is_empty(), "{lines:?}");
        assert_eq!(left_out(&harvest, reason), 1, "{lines:?}");
    }
}

#[test]
fn a_session_has_no_end_but_what_is_kept_of_it_has() {
    let long = "word ".repeat(3000);
    let lines: Vec<String> = (0..800)
        .map(|n| {
            user(
                &format!(r#","promptSource":"typed","timestamp":"2026-01-05T10:00:00Z","n":{n}"#),
                &format!("\"{n} {long}\""),
            )
            .replace("\"x\"", &format!("\"x{n}\""))
        })
        .collect();
    let harvest = one(&lines);
    let kept = harvest.sessions[0].human_turns().count() as u64;
    assert_eq!(kept + left_out(&harvest, Reason::BeyondLimit), 800);
    let bytes: usize = harvest.sessions[0]
        .turns
        .iter()
        .map(|turn| turn.text.len())
        .sum();
    assert!(
        bytes <= 8 * 1024 * 1024 && bytes > 7 * 1024 * 1024,
        "{bytes}"
    );
}

#[test]
fn prompts_whose_sessions_are_gone_are_counted_from_the_history() {
    let home = Home::new().project(&["/w/app"], Scope::Project);
    home.claude("kept.jsonl", &[typed(1, "Still there"), answer(1, "Yes.")]);
    let entry = |display: &str, session: &str, project: &str, millis: u64| {
        format!(
            r#"{{"display":"{display}","pastedContents":{{}},"timestamp":{millis},"project":"{project}","sessionId":"{session}"}}"#
        )
    };
    let lines = [
        entry("Still there", "kept", "/w/app", 1_767_607_260_000),
        entry("Gone", "lost", "/w/app", 1_700_000_000_000),
        entry("Gone too", "lost", "/w/app", 1_767_607_260_000),
        entry("Elsewhere", "other", "/w/other", 1_767_607_260_000),
        entry("Excluded", "lost", "/w/app/secret", 1_767_607_260_000),
        entry("/exit", "lost", "/w/app", 1_767_607_260_000),
        entry("! ls", "lost", "/w/app", 1_767_607_260_000),
        "{\"display\":".to_owned(),
        "[]".to_owned(),
    ];
    write(
        &home.folder.path().join("claude/history.jsonl"),
        lines.join("\n").as_bytes(),
    );
    let mut home = home;
    home.request.exclude = vec!["/w/app/secret".to_owned()];
    let harvest = home.harvest();
    assert_eq!(left_out(&harvest, Reason::OnlyInHistory), 2);
    // They are counted, and nothing else: there is no answer to learn from.
    assert_eq!(prompts(&harvest), [["Still there"]]);
    home.request.since = Some("2026-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(left_out(&home.harvest(), Reason::OnlyInHistory), 1);
}
