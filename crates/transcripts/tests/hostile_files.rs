//! Whatever stands in a file of any agent, and whatever happens to it: nothing aborts the harvest, the
//! rest is read, and the reason is counted. One table over all agents that keep sessions in files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason, harvest};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, joined, skipped, write};

/// How one agent writes a session.
struct Form {
    agent: Agent,
    /// Where its sessions lie, below its home.
    store: &'static str,
    /// A session's path below the store; `NAME` stands for its name.
    path: &'static str,
    /// What stands before the prompts.
    header: &'static str,
    /// A prompt; `ID`, `TIME` and `WORDS` are filled in.
    prompt: &'static str,
    /// Prompts have ids, by which a second copy is known.
    ids: bool,
}

const FORMS: [Form; 7] = [
    Form {
        agent: Agent::Claude,
        store: "projects",
        path: "-w-app/NAME.jsonl",
        header: r#"{"type":"mode","mode":"default","sessionId":"s"}"#,
        prompt: r#"{"type":"user","message":{"role":"user","content":"WORDS"},"uuid":"ID","timestamp":"TIME","origin":{"kind":"human"},"promptSource":"typed","cwd":"/w/app","gitBranch":"main"}"#,
        ids: true,
    },
    Form {
        agent: Agent::Codex,
        store: "sessions",
        path: "2026/01/05/rollout-NAME.jsonl",
        header: r#"{"timestamp":"2026-01-05T10:00:00.000Z","type":"session_meta","payload":{"id":"t1","cwd":"/w/app","originator":"codex_cli_rs"}}"#,
        prompt: r#"{"timestamp":"TIME","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"ID","content":[{"type":"text","text":"WORDS"}]}}}"#,
        ids: true,
    },
    Form {
        agent: Agent::Copilot,
        store: "session-state",
        path: "NAME/events.jsonl",
        header: r#"{"type":"session.start","data":{"sessionId":"c1","context":{"cwd":"/w/app","branch":"main"}},"id":"e0","timestamp":"2026-01-05T10:00:00.000Z"}"#,
        prompt: r#"{"type":"user.message","data":{"content":"WORDS","delivery":"idle"},"id":"ID","timestamp":"TIME"}"#,
        ids: true,
    },
    Form {
        agent: Agent::Vscode,
        store: "User/workspaceStorage",
        path: "1f/chatSessions/NAME.jsonl",
        header: r#"{"kind":0,"v":{"sessionId":"v1","creationDate":1767607200000,"requests":[]}}"#,
        prompt: r#"{"kind":2,"k":["requests"],"v":[{"requestId":"ID","message":{"text":"WORDS"},"agent":{"extensionId":{"value":"GitHub.copilot-chat"}},"timestamp":MILLIS,"response":[{"value":"ok"}]}]}"#,
        ids: true,
    },
    Form {
        agent: Agent::Cursor,
        store: "projects",
        path: "w-app/agent-transcripts/NAME/NAME.jsonl",
        header: r#"{"role":"system","message":{"content":"x"}}"#,
        prompt: r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>WORDS</user_query>"}]}}"#,
        ids: false,
    },
    Form {
        agent: Agent::Pi,
        store: "sessions",
        path: "--w-app--/NAME.jsonl",
        header: r#"{"type":"session","version":3,"id":"p1","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/w/app"}"#,
        prompt: r#"{"type":"message","id":"ID","parentId":"gone","timestamp":"TIME","message":{"role":"user","content":[{"type":"text","text":"WORDS"}]}}"#,
        ids: true,
    },
    Form {
        agent: Agent::OpenClaw,
        store: "agents",
        path: "main/sessions/NAME.jsonl",
        header: r#"{"type":"session","version":3,"id":"p1","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/w/app"}"#,
        prompt: r#"{"type":"message","id":"ID","parentId":"gone","timestamp":"TIME","message":{"role":"user","content":[{"type":"text","text":"WORDS"}]}}"#,
        ids: true,
    },
];

impl Form {
    fn prompt(&self, minute: u32, words: &str) -> String {
        self.prompt_at(minute, words, &format!("2026-01-05T10:{minute:02}:00.000Z"))
    }

    fn prompt_at(&self, minute: u32, words: &str, time: &str) -> String {
        let millis = 1_767_607_200_000_i64 + i64::from(minute) * 60_000;
        self.prompt
            .replace("WORDS", words)
            .replace("ID", &format!("id{minute}"))
            .replace("TIME", time)
            .replace("MILLIS", &millis.to_string())
    }

    fn path(&self, home: &Home, name: &str) -> PathBuf {
        self.store(home).join(self.path.replace("NAME", name))
    }

    fn store(&self, home: &Home) -> PathBuf {
        home.folder.path().join(self.agent.id()).join(self.store)
    }

    fn left_out(&self, harvest: &Harvest, reason: Reason) -> u64 {
        skipped(harvest, self.agent, reason)
    }

    /// A session with one line of `bytes` between two prompts.
    fn between(&self, bytes: &[u8]) -> Harvest {
        let home = Home::new();
        let lines = [
            self.header.as_bytes(),
            self.prompt(1, "before").as_bytes(),
            bytes,
            self.prompt(2, "after").as_bytes(),
        ]
        .map(<[u8]>::to_vec);
        write(&self.path(&home, "s1"), &joined(&lines));
        home.harvest()
    }
}

/// All prompts, in the order of sessions and turns.
fn typed(harvest: &Harvest) -> Vec<&str> {
    homes::prompts(harvest).concat()
}

/// Bytes that look like nothing, the same every time, without line ends.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(byte)
        .map(|byte| if byte == b'\n' { b' ' } else { byte })
        .take(length)
        .collect()
}

#[test]
fn every_agent_with_files_is_in_the_table() {
    let home = Home::new();
    for form in &FORMS {
        write(
            &form.path(&home, "s1"),
            &joined(&[form.header.to_owned(), form.prompt(1, "hello")]),
        );
    }
    let harvest = home.harvest();
    for form in &FORMS {
        let found = harvest
            .sessions
            .iter()
            .filter(|one| one.agent == form.agent);
        assert_eq!(found.count(), 1, "{}", form.agent);
    }
    let looked: std::collections::BTreeSet<Agent> = harvest
        .looked
        .iter()
        .map(|looked| looked.agent)
        // It keeps them in databases (`databases.rs`).
        .filter(|agent| !matches!(agent, Agent::OpenCode | Agent::Devin))
        .collect();
    let in_table: std::collections::BTreeSet<Agent> = FORMS.iter().map(|form| form.agent).collect();
    assert!(
        in_table.is_superset(&looked),
        "an agent with files is not in the table: {looked:?}"
    );
}

#[test]
fn damaged_lines_cost_only_themselves() {
    for form in &FORMS {
        let prompt = form.prompt(5, "damaged");
        let giant = format!("1{}", "0".repeat(5000));
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        for (line, reason) in [
            (b"nonsense".to_vec(), Reason::Malformed),
            (
                prompt.as_bytes()[..prompt.len() / 2].to_vec(),
                Reason::Malformed,
            ),
            (noise(4096), Reason::Malformed),
            (b"\0\0\0".to_vec(), Reason::Malformed),
            (format!("{prompt}}}").into_bytes(), Reason::Malformed),
            (b"[1,2]".to_vec(), Reason::NotAnObject),
            (b"null".to_vec(), Reason::NotAnObject),
            (b"\"text\"".to_vec(), Reason::NotAnObject),
            (giant.clone().into_bytes(), Reason::NotAnObject),
        ] {
            let harvest = form.between(&line);
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
            assert_eq!(
                typed(&harvest),
                ["before", "after"],
                "{}: {shown}",
                form.agent
            );
            assert_eq!(
                form.left_out(&harvest, reason),
                1,
                "{}: {shown}",
                form.agent
            );
        }
        // In the place of words, and where nobody looks.
        for odd in [&giant, &deep] {
            for line in [
                prompt.replace("\"damaged\"", odd),
                prompt.replacen('{', &format!("{{\"nobody\":{odd},"), 1),
            ] {
                let harvest = form.between(line.as_bytes());
                let found = typed(&harvest);
                assert_eq!(
                    (found.first(), found.last()),
                    (Some(&"before"), Some(&"after")),
                    "{}: {}",
                    form.agent,
                    &line[..60]
                );
            }
        }
    }
}

/// Every place in a value, as a pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                places(inner, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (position, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{position}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn values_of_the_wrong_shape_cost_at_most_their_line() {
    let shapes: Vec<Value> = [
        "null",
        "7",
        "-1.5",
        "true",
        "\"x\"",
        "[]",
        "[[1]]",
        "{}",
        "{\"a\":{}}",
    ]
    .iter()
    .map(|json| serde_json::from_str(json).unwrap())
    .collect();
    for form in &FORMS {
        for line in [form.prompt(5, "odd"), form.header.to_owned()] {
            let sound: Value = serde_json::from_str(&line).unwrap();
            let mut pointers = Vec::new();
            places(&sound, "", &mut pointers);
            for pointer in &pointers {
                for shape in &shapes {
                    let mut odd = sound.clone();
                    *odd.pointer_mut(pointer).unwrap() = shape.clone();
                    let harvest = form.between(odd.to_string().as_bytes());
                    let found = typed(&harvest);
                    assert_eq!(found.last(), Some(&"after"), "{}: {odd}", form.agent);
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_nothing_but_noise_has_no_sessions() {
    for form in &FORMS {
        let home = Home::new();
        write(&form.path(&home, "s1"), &noise(200_000));
        write(&form.path(&home, "s2"), b"");
        write(&form.path(&home, "s3"), b"{");
        write(
            &form.path(&home, "s4"),
            &joined(&[form.header.to_owned(), form.prompt(1, "sound")]),
        );
        let harvest = home.harvest();
        assert_eq!(typed(&harvest), ["sound"], "{}", form.agent);
        assert_eq!(harvest.files.found, 4, "{}", form.agent);
    }
}

#[test]
fn lines_of_80_megabytes_are_passed_over() {
    let piece = vec![b'x'; 1 << 20];
    for form in &FORMS {
        let home = Home::new();
        let path = form.path(&home, "s1");
        write(
            &path,
            &joined(&[form.header.to_owned(), form.prompt(1, "before")]),
        );
        let prompt = form.prompt(5, "BROAD");
        let (start, end) = prompt.split_once("BROAD").unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(start.as_bytes()).unwrap();
        for _ in 0..80 {
            file.write_all(&piece).unwrap();
        }
        file.write_all(end.as_bytes()).unwrap();
        file.write_all(b"\n").unwrap();
        file.write_all(&joined(&[form.prompt(2, "after")])).unwrap();
        let harvest = home.harvest();
        assert_eq!(typed(&harvest), ["before", "after"], "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::LineTooLong),
            1,
            "{}",
            form.agent
        );
    }
}

#[test]
fn compressed_bombs_end() {
    let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(b'a'), 64 << 20), 3).unwrap();
    assert!(bomb.len() < 20_000);
    for form in &FORMS {
        let home = Home::new();
        write(&form.path(&home, "s1"), &bomb);
        write(
            &form.path(&home, "s2"),
            &zstd::encode_all(
                joined(&[form.header.to_owned(), form.prompt(1, "packed")]).as_slice(),
                3,
            )
            .unwrap(),
        );
        let harvest = home.harvest();
        assert_eq!(typed(&harvest), ["packed"], "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::LineTooLong),
            1,
            "{}",
            form.agent
        );
    }
}

#[test]
fn clocks_that_are_wrong_change_no_order() {
    for form in &FORMS {
        let home = Home::new();
        write(
            &form.path(&home, "s1"),
            &joined(&[
                form.header.to_owned(),
                form.prompt_at(3, "first", "9999-12-31T23:59:59.999Z"),
                form.prompt_at(2, "second", "1969-12-31T23:59:59Z"),
                form.prompt_at(1, "third", "yesterday"),
                form.prompt_at(4, "fourth", "2026-01-05T10:00:00+23:59"),
            ]),
        );
        let harvest = home.harvest();
        assert_eq!(
            typed(&harvest),
            ["first", "second", "third", "fourth"],
            "{}",
            form.agent
        );
        let session = &harvest.sessions[0];
        assert!(session.ended >= session.started, "{}", form.agent);
        serde_json::to_string(&session.digest()).unwrap();
    }
}

#[test]
fn ids_that_repeat_are_counted_once() {
    for form in &FORMS {
        let harvest = form.between(form.prompt(1, "before").as_bytes());
        if form.ids {
            assert_eq!(typed(&harvest), ["before", "after"], "{}", form.agent);
            assert_eq!(form.left_out(&harvest, Reason::Copy), 1, "{}", form.agent);
        } else {
            // Nothing tells a copy from the same words typed twice.
            assert_eq!(
                typed(&harvest),
                ["before", "before", "after"],
                "{}",
                form.agent
            );
        }
    }
}

#[test]
fn half_written_ends_are_left_for_the_next_time() {
    for form in &FORMS {
        let home = Home::new();
        let whole = joined(&[
            form.header.to_owned(),
            form.prompt(1, "first"),
            form.prompt(2, "second"),
        ]);
        write(&form.path(&home, "s1"), &whole[..whole.len() - 12]);
        let harvest = home.harvest();
        assert_eq!(typed(&harvest), ["first"], "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::HalfWritten),
            1,
            "{}",
            form.agent
        );
        write(&form.path(&home, "s1"), &whole);
        assert_eq!(
            typed(&home.harvest()),
            ["first", "second"],
            "{}",
            form.agent
        );
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_and_names_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    for form in &FORMS {
        let home = Home::new();
        let store = form.store(&home);
        let session = joined(&[form.header.to_owned(), form.prompt(1, "odd name")]);
        let path = form.path(&home, "NAME").into_os_string().into_vec();
        let odd: Vec<u8> = String::from_utf8(path)
            .unwrap()
            .split("NAME")
            .map(str::as_bytes)
            .collect::<Vec<_>>()
            .join(&b"\xFF\xFE"[..]);
        write(&PathBuf::from(OsStr::from_bytes(&odd)), &session);
        std::os::unix::fs::symlink(&store, store.join("loop")).unwrap();
        std::os::unix::fs::symlink(store.join("b"), store.join("a")).unwrap();
        std::os::unix::fs::symlink(store.join("a"), store.join("b")).unwrap();
        let harvest = home.harvest();
        assert_eq!(typed(&harvest), ["odd name"], "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::FolderLoop),
            1,
            "{}",
            form.agent
        );
    }
}

#[test]
fn files_deleted_between_listing_and_opening_are_counted() {
    for form in &FORMS {
        let home = Home::new();
        let names: Vec<String> = (0..40).map(|number| format!("s{number}")).collect();
        for (minute, name) in (0_u32..).zip(&names) {
            write(
                &form.path(&home, name),
                &joined(&[form.header.to_owned(), form.prompt(minute, "here")]),
            );
        }
        // Asked for the first time when all files were listed; some are being read by then.
        let deleted = std::cell::Cell::new(false);
        let delete = || {
            if !deleted.replace(true) {
                for name in &names {
                    fs::remove_file(form.path(&home, name)).unwrap();
                }
            }
            false
        };
        let mut request = home.request.clone();
        request.agents = vec![form.agent];
        let harvest = harvest(&request, None, &delete).unwrap();
        assert_eq!(harvest.files.found, 40, "{}", form.agent);
        assert_eq!(
            harvest.files.read + form.left_out(&harvest, Reason::Vanished),
            40,
            "{}",
            form.agent
        );
    }
}
