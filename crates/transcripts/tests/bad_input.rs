//! Nothing in a file makes a harvest fail; the rest is read, and the fault is counted.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use std::io::{Seek, Write};

use proptest::prelude::*;
use skillopt_core::agent::Agent;
use skillopt_transcripts::{
    Harvest, Reason, Session, claude, codex, copilot, cursor, harvest, pi, vscode,
};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answer, joined, prompts, skipped, typed, write};

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Claude, reason)
}

/// A session with one line of `bytes` between two prompts.
fn between(bytes: &[u8]) -> Harvest {
    let home = Home::new();
    home.claude(
        "s1.jsonl",
        &[
            typed(1, "before").as_bytes(),
            bytes,
            typed(2, "after").as_bytes(),
        ],
    );
    home.harvest()
}

#[test]
fn damaged_lines_cost_only_themselves() {
    let deep = format!(
        r#"{{"type":"user","message":{{"role":"user","content":{}{}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let deep_input = format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","name":"X","input":{}1{}}}]}}}}"#,
        r#"{"a":"#.repeat(5000),
        "}".repeat(5000)
    );
    let giant = format!(
        r#"{{"type":"user","uuid":{},"message":{{"role":"user","content":"x"}}}}"#,
        "9".repeat(5001)
    );
    let ignored_giant = format!(r#"{{"type":"mode","mode":1{}}}"#, "0".repeat(5000));
    for (line, reason) in [
        (&b"nonsense"[..], Reason::Malformed),
        (b"{\"type\":\"user\"", Reason::Malformed),
        (
            b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}}",
            Reason::Malformed,
        ),
        (b"\x00\x01\x02", Reason::Malformed),
        (b"\xFF\xFEn\x00u\x00", Reason::Malformed),
        (b"[1,2]", Reason::NotAnObject),
        (b"\"text\"", Reason::NotAnObject),
        (b"null", Reason::NotAnObject),
        (b"-12.5e3", Reason::NotAnObject),
        (giant.as_bytes(), Reason::Malformed),
        (ignored_giant.as_bytes(), Reason::Bookkeeping),
    ] {
        let harvest = between(line);
        assert_eq!(
            prompts(&harvest),
            [["before", "after"]],
            "{:?}",
            String::from_utf8_lossy(&line[..line.len().min(80)])
        );
        assert_eq!(left_out(&harvest, reason), 1, "{reason:?}");
    }
    // Nested as deep as you like where nobody looks.
    for line in [deep, deep_input] {
        assert_eq!(prompts(&between(line.as_bytes())), [["before", "after"]]);
    }
    // Blank lines are no records.
    let harvest = between(b"  \t ");
    assert_eq!(prompts(&harvest), [["before", "after"]]);
    assert!(harvest.skipped.is_empty(), "{:?}", harvest.skipped);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut line = typed(5, "caf? \u{1F600}").into_bytes();
    let at = line.iter().position(|&byte| byte == b'?').unwrap();
    line[at] = 0xE9;
    let harvest = between(&line);
    assert_eq!(
        prompts(&harvest),
        [["before", "caf\u{FFFD} \u{1F600}", "after"]]
    );
    assert_eq!(left_out(&harvest, Reason::Repaired), 1);
    // Half of a surrogate pair, as JavaScript writes it when a text is cut inside an emoji.
    let line = typed(5, "cut").replace("cut", "cut \\ud83d");
    assert_eq!(
        prompts(&between(line.as_bytes())),
        [["before", "cut \u{FFFD}", "after"]]
    );
}

#[test]
fn a_byte_order_mark_does_not_cost_the_first_prompt() {
    let home = Home::new();
    let first = [b"\xEF\xBB\xBF".to_vec(), typed(1, "first").into_bytes()].concat();
    home.claude("s1.jsonl", &[first, typed(2, "second").into_bytes()]);
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert!(harvest.skipped.is_empty());
}

#[test]
fn a_half_written_last_line_is_left_for_the_next_time() {
    let home = Home::new();
    let whole = joined(&[typed(1, "first"), typed(2, "second")]);
    let path = home.folder.path().join("claude/projects/-w-app/s1.jsonl");
    write(&path, &whole[..whole.len() - 20]);
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["first"]]);
    assert_eq!(left_out(&harvest, Reason::HalfWritten), 1);
    // Only the line end is missing: the record is complete.
    write(&path, &whole[..whole.len() - 1]);
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(left_out(&harvest, Reason::HalfWritten), 0);
}

#[test]
fn lines_of_80_megabytes_are_passed_over() {
    let home = Home::new();
    let path = home.folder.path().join("claude/projects/-w-app/s1.jsonl");
    write(&path, &joined(&[typed(1, "before")]));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let piece = vec![b'x'; 1 << 20];
    for beginning in [
        r#"{"attachment":{"type":"prompt_snapshot","systemPrompt":""#,
        r#"{"type":"user","promptSource":"typed","message":{"role":"user","content":""#,
    ] {
        file.write_all(beginning.as_bytes()).unwrap();
        for _ in 0..80 {
            file.write_all(&piece).unwrap();
        }
        file.write_all(b"\"}}\n").unwrap();
    }
    file.write_all(&joined(&[typed(2, "after")])).unwrap();
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["before", "after"]]);
    assert_eq!(left_out(&harvest, Reason::Context), 1);
    assert_eq!(left_out(&harvest, Reason::LineTooLong), 1);
    assert!(harvest.files.bytes > 160 << 20);
}

#[test]
fn a_prompt_of_some_megabytes_is_read() {
    let words = "word ".repeat(1_000_000);
    let harvest = between(typed(5, &words).as_bytes());
    let found: Vec<usize> = prompts(&harvest)[0].iter().map(|text| text.len()).collect();
    assert_eq!(found, [6, 15_999, 5]);
}

#[test]
fn files_that_vanish_or_are_no_files() {
    let home = Home::new();
    home.claude("s1.jsonl", &[typed(1, "here")]);
    home.claude("empty.jsonl", &[""; 0]);
    let folder = home.folder.path().join("claude/projects/-w-app");
    std::fs::create_dir(folder.join("folder.jsonl")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("nowhere"), folder.join("gone.jsonl")).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
    }
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["here"]]);
    // The empty session; the folder is looked into like any other.
    assert_eq!(left_out(&harvest, Reason::NoHumanTurn), 1);
    #[cfg(unix)]
    {
        assert_eq!(left_out(&harvest, Reason::Vanished), 1);
        assert_eq!(left_out(&harvest, Reason::FolderLoop), 1);
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_gives_what_was_there() {
    // What `read` promises holds whenever the growing happens; here it happens between two harvests.
    let home = Home::new();
    let path = home.claude("s1.jsonl", &[typed(1, "first")]);
    assert_eq!(prompts(&home.harvest()), [["first"]]);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let more = joined(&[typed(2, "second")]);
    file.write_all(&more[..30]).unwrap();
    assert_eq!(prompts(&home.harvest()), [["first"]]);
    file.write_all(&more[30..]).unwrap();
    assert_eq!(prompts(&home.harvest()), [["first", "second"]]);
    file.set_len(10).unwrap();
    file.rewind().unwrap();
    assert!(home.harvest().sessions.is_empty());
}

#[test]
fn damaged_compression_gives_what_came_before() {
    let home = Home::new();
    // Words that do not compress, so that the damage comes late.
    let noise: String = (0_u32..200_000)
        .map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 24) as u8 % 26))
        .collect();
    let lines = [typed(1, "first"), typed(2, &noise)];
    let packed = zstd::encode_all(joined(&lines).as_slice(), 3).unwrap();
    let path = home
        .folder
        .path()
        .join("claude/projects/-w-app/s1.jsonl.zst");
    for damaged in [
        packed[..packed.len() / 2].to_vec(),
        packed[..6].to_vec(),
        [&packed[..], b"junk"].concat(),
    ] {
        write(&path, &damaged);
        let harvest = home.harvest();
        assert_eq!(
            left_out(&harvest, Reason::BrokenCompression),
            1,
            "{}",
            damaged.len()
        );
    }
    // More than one frame is fine.
    let second = zstd::encode_all(joined(&[typed(3, "third")]).as_slice(), 3).unwrap();
    write(
        &path,
        &[
            zstd::encode_all(joined(&lines[..1]).as_slice(), 3).unwrap(),
            second,
        ]
        .concat(),
    );
    assert_eq!(prompts(&home.harvest()), [["first", "third"]]);
}

#[test]
fn a_window_larger_than_allowed_is_refused() {
    use zstd::stream::raw::CParameter;
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.set_parameter(CParameter::WindowLog(27)).unwrap();
    let piece = joined(&[typed(1, "first")]);
    for _ in 0..100_000 {
        encoder.write_all(&piece).unwrap();
    }
    let home = Home::new();
    write(
        &home
            .folder
            .path()
            .join("claude/projects/-w-app/s1.jsonl.zst"),
        &encoder.finish().unwrap(),
    );
    let harvest = home.harvest();
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::BrokenCompression), 1);
}

#[test]
fn a_harvest_can_be_stopped() {
    let home = Home::new();
    home.claude("s1.jsonl", &[typed(1, "first")]);
    let problem = harvest(&home.request, None, &|| true).unwrap_err();
    assert_eq!(problem.code, "harvest_cancelled");
}

#[test]
fn homes_that_are_not_there_are_named() {
    let home = Home::new();
    let harvest = home.harvest();
    assert!(harvest.sessions.is_empty() && harvest.skipped.is_empty());
    for agent in Agent::ALL {
        let mut looked = harvest.looked.iter().filter(|looked| looked.agent == agent);
        assert!(
            looked.clone().next().is_some(),
            "{agent} was not looked for"
        );
        assert!(looked.all(|looked| !looked.present && looked.files == 0));
    }
}

/// What every reader of files makes of these bytes.
fn read_by_all(bytes: &[u8]) -> [Option<Session>; 6] {
    [
        claude::read_bytes(bytes),
        codex::read_bytes(bytes),
        copilot::read_bytes(bytes),
        vscode::read_bytes(bytes),
        cursor::read_bytes(bytes),
        pi::read_bytes(bytes),
    ]
}

/// Lines of every agent, to be damaged.
fn real_lines() -> Vec<Vec<u8>> {
    let fixtures =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts");
    let mut lines = Vec::new();
    for path in [
        "claude/projects/-home-dana-work-acme-api/7ec72649-5a3f-4723-b59c-e47ad56f7fec.jsonl",
        "codex/sessions/2026/11/29/rollout-2026-11-29T17-07-42-01a22846-dc3d-7bb1-aa75-f52fad91452d.jsonl",
        "copilot/session-state/13e3412d-674f-4690-ad06-5a1987a3730d/events.jsonl",
        "vscode/User/workspaceStorage/0a1b2c3d4e5f60718293a4b5c6d7e8f9/chatSessions/5e0f6c1e-9a51-4d0c-8f39-2f6f0a3b1c11.jsonl",
        "cursor/projects/home-dana-work-acme-api/agent-transcripts/3d9c2b7e-1f4a-4c8e-b6d5-0e2f7a9c4b33/3d9c2b7e-1f4a-4c8e-b6d5-0e2f7a9c4b33.jsonl",
        "pi/sessions/--home-dana-work-acme-api--/2026-11-29T17-13-45-866Z_01a2284c-6889-7240-a7b5-3b9ad4b3e64a.jsonl",
    ] {
        let bytes = std::fs::read(fixtures.join(path)).unwrap();
        lines.extend(
            bytes
                .split(|&byte| byte == b'\n')
                .filter(|line| line.len() < 4000)
                .map(<[u8]>::to_vec),
        );
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let packed = [&b"\x28\xB5\x2F\xFD"[..], &bytes].concat();
        let _ = read_by_all(&bytes);
        let _ = read_by_all(&packed);
    }

    #[test]
    fn damaged_records_are_survived(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..12),
    ) {
        let real = real_lines();
        let mut bytes = Vec::new();
        for (line, at, byte, cut) in picks {
            let mut line = line.get(&real).clone();
            if !line.is_empty() {
                let at = at.index(line.len());
                if cut { line.truncate(at) } else { line[at] = byte }
            }
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        for session in read_by_all(&bytes).into_iter().flatten() {
            for turn in &session.turns {
                prop_assert!(turn.text.chars().count() <= 16_000);
            }
        }
    }

    /// However a file is cut into lines of any length, an unbroken prompt in it is found.
    #[test]
    fn a_sound_prompt_is_found_among_damage(
        before in prop::collection::vec(any::<u8>(), 0..300),
        words in "[a-z]{1,20}( [a-z]{1,20}){0,5}",
    ) {
        let sound = [&before[..], b"\n", typed(1, &words).as_bytes(), b"\n", answer(1, "ok").as_bytes()].concat();
        prop_assume!(!before.starts_with(b"\x28\xB5\x2F\xFD"));
        let session = claude::read_bytes(&sound);
        let found = session.iter().flat_map(Session::human_turns).any(|turn| turn.text == words);
        prop_assert!(found);
    }
}
