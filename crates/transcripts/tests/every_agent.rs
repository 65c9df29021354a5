//! What holds for the sessions of every agent, whatever its format.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use std::collections::BTreeMap;
use std::path::PathBuf;

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Homes, Platform, Reason, Surroundings};

#[path = "support/devin.rs"]
mod devin;
#[path = "support/homes.rs"]
mod homes;
#[path = "support/opencode.rs"]
mod opencode;

use homes::{Home, joined, prompts, skipped, typed_in, write};

/// A session in which a person says something in a folder. `words` have nothing that JSON escapes.
/// Returns where it is kept.
fn session(home: &Home, agent: Agent, directory: &str, words: &str) -> PathBuf {
    match agent {
        Agent::Claude => home.claude("s1.jsonl", &[typed_in(directory, 1, words)]),
        Agent::Codex => {
            let id = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";
            home.codex(
                &format!("sessions/2026/01/05/rollout-2026-01-05T10-00-00-{id}.jsonl"),
                &[
                    format!(
                        r#"{{"timestamp":"2026-01-05T10:00:00Z","type":"session_meta","payload":{{"id":"{id}","cwd":"{directory}"}}}}"#
                    ),
                    format!(
                        r#"{{"timestamp":"2026-01-05T10:01:00Z","type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"UserMessage","id":"i1","content":[{{"type":"text","text":"{words}"}}]}}}}}}"#
                    ),
                ],
            )
        }
        Agent::Copilot => file(
            home,
            "copilot/session-state/c1/events.jsonl",
            &[
                &format!(
                    r#"{{"type":"session.start","data":{{"sessionId":"c1","context":{{"cwd":"{directory}"}}}},"id":"e0","timestamp":"2026-01-05T10:00:00Z"}}"#
                ),
                &format!(
                    r#"{{"type":"user.message","data":{{"content":"{words}","delivery":"idle"}},"id":"e1","timestamp":"2026-01-05T10:01:00Z"}}"#
                ),
            ],
        ),
        Agent::Vscode => {
            let workspace = "vscode/User/workspaceStorage/1f";
            file(
                home,
                &format!("{workspace}/workspace.json"),
                &[&format!(r#"{{"folder":"file://{directory}"}}"#)],
            );
            file(
                home,
                &format!("{workspace}/chatSessions/v1.jsonl"),
                &[&format!(
                    r#"{{"kind":0,"v":{{"sessionId":"v1","creationDate":1767607200000,"requests":[{{"requestId":"r1","message":{{"text":"{words}"}},"agent":{{"extensionId":{{"value":"GitHub.copilot-chat"}}}},"timestamp":1767607260000,"response":[]}}]}}}}"#
                )],
            )
        }
        Agent::Cursor => {
            let workspace = "cursor/projects/w-app";
            file(
                home,
                &format!("{workspace}/.workspace-trusted"),
                &[&format!(r#"{{"workspacePath":"{directory}"}}"#)],
            );
            file(
                home,
                &format!("{workspace}/agent-transcripts/c1/c1.jsonl"),
                &[&format!(
                    r#"{{"role":"user","message":{{"content":[{{"type":"text","text":"<user_query>{words}</user_query>"}}]}}}}"#
                )],
            )
        }
        Agent::Pi => file(
            home,
            "pi/sessions/--w-app--/p1.jsonl",
            &[
                &format!(
                    r#"{{"type":"session","version":3,"id":"p1","timestamp":"2026-01-05T10:00:00Z","cwd":"{directory}"}}"#
                ),
                &format!(
                    r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-05T10:01:00Z","message":{{"role":"user","content":[{{"type":"text","text":"{words}"}}]}}}}"#
                ),
            ],
        ),
        Agent::OpenCode => {
            let path = home.folder.path().join("opencode/opencode.db");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let db = opencode::database(&path);
            opencode::session(&db, "ses_1", directory, 0);
            opencode::said(&db, "ses_1", 1, words);
            path
        }
        Agent::OpenClaw => file(
            home,
            "openclaw/agents/main/sessions/p1.jsonl",
            &[
                &format!(
                    r#"{{"type":"session","version":3,"id":"p1","timestamp":"2026-01-05T10:00:00Z","cwd":"{directory}"}}"#
                ),
                &format!(
                    r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-05T10:01:00Z","message":{{"role":"user","content":[{{"type":"text","text":"[Mon 2026-01-05 10:01 UTC] {words}"}}]}}}}"#
                ),
            ],
        ),
        Agent::Devin => {
            let path = home.folder.path().join("devin/sessions.db");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let db = devin::database(&path);
            devin::session(&db, "calm-river", directory, 1);
            devin::said(&db, "calm-river", 1, None, words);
            path
        }
    }
}

/// Writes a file below the homes of all agents.
fn file(home: &Home, path: &str, lines: &[&str]) -> PathBuf {
    let path = home.folder.path().join(path);
    write(&path, &joined(lines));
    path
}

/// A home with one session of one agent, harvested with an exclude.
fn harvest(agent: Agent, directory: &str, words: &str, exclude: &[&str]) -> Harvest {
    let mut home = Home::new();
    session(&home, agent, directory, words);
    home.request.exclude = exclude.iter().map(|&glob| glob.to_owned()).collect();
    home.harvest()
}

#[test]
fn what_a_person_says_is_found() {
    for agent in Agent::ALL {
        let harvest = harvest(agent, "/w/app", "Write the parser", &["/w/secret"]);
        assert_eq!(prompts(&harvest), [["Write the parser"]], "{agent}");
        assert_eq!(harvest.sessions[0].agent, agent);
        assert_eq!(harvest.sessions[0].directory, "/w/app", "{agent}");
        assert!(harvest.silent.is_empty(), "{agent}");
    }
}

#[test]
fn private_spans_and_secrets_are_never_kept() {
    let secret = "sk-proj-Fk3TESTONLYnotARealKey0123456789abcdefABCDEF";
    for agent in Agent::ALL {
        let words = format!("Use <private>the codename zanzibar</private> the key {secret} now");
        let harvest = harvest(agent, "/w/app", &words, &[]);
        let kept = serde_json::to_string(&harvest.sessions).unwrap();
        assert!(kept.contains("the key"), "{agent}: {kept}");
        assert!(!kept.contains("zanzibar"), "{agent}: {kept}");
        assert!(!kept.contains("Fk3TEST"), "{agent}: {kept}");

        let private = harvest_of_nothing(agent, "<private>all of it</private>", &[]);
        assert_eq!(skipped(&private, agent, Reason::Private), 1, "{agent}");
    }
}

#[test]
fn excluded_folders_are_not_read() {
    for agent in Agent::ALL {
        for exclude in ["/w/app", "/w", "app", "/w/*", "**/app/**"] {
            let harvest = harvest_of_nothing(agent, "Write the parser", &[exclude]);
            assert_eq!(
                skipped(&harvest, agent, Reason::ExcludedDirectory),
                1,
                "{agent}: {exclude}"
            );
            // That the person's own rule leaves everything out is no sign of another format.
            assert!(harvest.silent.is_empty(), "{agent}");
        }
    }
}

#[test]
fn excluded_transcripts_are_not_opened() {
    for agent in Agent::ALL {
        let mut home = Home::new();
        let path = session(&home, agent, "/w/app", "Write the parser");
        home.request.exclude = vec![path.to_str().unwrap().to_owned()];
        let harvest = home.harvest();
        assert!(harvest.sessions.is_empty(), "{agent}");
        assert_eq!(harvest.files.read, 0, "{agent}");
        assert_eq!(skipped(&harvest, agent, Reason::ExcludedFile), 1, "{agent}");
    }
}

/// A harvest that finds no session although there is one.
fn harvest_of_nothing(agent: Agent, words: &str, exclude: &[&str]) -> Harvest {
    let harvest = harvest(agent, "/w/app", words, exclude);
    assert!(harvest.sessions.is_empty(), "{agent}: {exclude:?}");
    harvest
}

/// Where the homes of an agent are reached under another name.
#[cfg(unix)]
#[test]
fn a_home_may_be_linked_from_elsewhere() {
    for agent in Agent::ALL {
        let mut home = Home::new();
        session(&home, agent, "/w/app", "Write the parser");
        let link = home.folder.path().join("link");
        std::os::unix::fs::symlink(home.folder.path().join(agent.id()), &link).unwrap();
        let real = home.folder.path().join(agent.id());
        home.request.agents = vec![agent];
        home.request.homes = [(agent, vec![link.clone()])].into_iter().collect();
        assert_eq!(prompts(&home.harvest()), [["Write the parser"]], "{agent}");
        // Both names at once: the session is one.
        home.request.homes = [(agent, vec![link, real])].into_iter().collect();
        assert_eq!(prompts(&home.harvest()), [["Write the parser"]], "{agent}");
    }
}

/// Where an agent itself would look, by its own variables: each leads to a session.
#[test]
fn the_agents_own_variables_lead_to_their_sessions() {
    for (agent, variable, below) in [
        (Agent::Claude, "CLAUDE_CONFIG_DIR", ""),
        (Agent::Claude, "XDG_CONFIG_HOME", "claude"),
        (Agent::Codex, "CODEX_HOME", ""),
        (Agent::Copilot, "COPILOT_HOME", ""),
        (Agent::Copilot, "XDG_STATE_HOME", ".copilot"),
        (Agent::Cursor, "CURSOR_CONFIG_DIR", ""),
        (Agent::Cursor, "XDG_CONFIG_HOME", "cursor"),
        (Agent::Vscode, "VSCODE_PORTABLE", "user-data"),
        (Agent::Vscode, "XDG_CONFIG_HOME", "Code - Insiders"),
        (Agent::Pi, "PI_CODING_AGENT_DIR", ""),
        (Agent::OpenCode, "XDG_DATA_HOME", "opencode"),
        (Agent::OpenClaw, "OPENCLAW_STATE_DIR", ""),
        (Agent::OpenClaw, "MOLTBOT_STATE_DIR", ""),
        (Agent::OpenClaw, "CLAWDBOT_STATE_DIR", ""),
        (Agent::OpenClaw, "OPENCLAW_HOME", ".openclaw"),
        (Agent::Devin, "XDG_DATA_HOME", "devin/cli"),
    ] {
        let mut home = Home::new();
        session(&home, agent, "/w/app", "Write the parser");
        // Moved to where no default leads, with a comma, which is nothing special in a name.
        let named = home.folder.path().join("moved, by hand");
        let folder = named.join(below);
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::fs::rename(home.folder.path().join(agent.id()), &folder).unwrap();
        found_by(&mut home, agent, variable, &named);
    }
    for (agent, variable) in [
        (Agent::OpenCode, "OPENCODE_DB"),
        (Agent::Devin, "CHISEL_SESSION_DB"),
        (Agent::Pi, "PI_CODING_AGENT_SESSION_DIR"),
    ] {
        let mut home = Home::new();
        let path = session(&home, agent, "/w/app", "Write the parser");
        let named = match agent {
            Agent::Pi => path.ancestors().nth(2).unwrap(),
            _ => &path,
        };
        found_by(&mut home, agent, variable, named);
    }
}

/// Folders that no variable names, and that count where they are there.
#[test]
fn folders_of_other_versions_and_of_servers_are_read() {
    for (agent, below) in [
        (Agent::Claude, ".config/claude"),
        (Agent::Cursor, ".config/cursor"),
        (Agent::Vscode, ".vscode-server/data"),
        (Agent::Vscode, ".vscode-server-insiders/data"),
    ] {
        let mut home = Home::new();
        session(&home, agent, "/w/app", "Write the parser");
        let somebody = home.folder.path().join("somebody");
        let folder = somebody.join(below);
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::fs::rename(home.folder.path().join(agent.id()), &folder).unwrap();
        let at = Surroundings {
            platform: Platform::Linux,
            home: &somebody,
            environment: &BTreeMap::new(),
        };
        home.request.agents = vec![agent];
        home.request.homes = Homes::find(&at, |_| &[]);
        assert_eq!(
            prompts(&home.harvest()),
            [["Write the parser"]],
            "{agent}: {below}"
        );
    }
}

/// Sessions in forms that nothing here reads are not passed over without a word.
#[test]
fn sessions_in_forms_that_are_not_read_are_counted() {
    for (agent, files) in [
        (
            Agent::Cursor,
            &[
                "chats/9a/1f/store.db",
                "projects/w-app/agent-transcripts/2f.txt",
            ][..],
        ),
        (
            Agent::OpenCode,
            &["project/w-app/storage/session/info/ses_1.json"],
        ),
    ] {
        let home = Home::new();
        for file in files {
            write(&home.folder.path().join(agent.id()).join(file), b"x");
        }
        let harvest = home.harvest();
        let counted = skipped(&harvest, agent, Reason::UnreadForm);
        assert_eq!(counted, files.len() as u64, "{agent}");
        assert!(
            harvest
                .looked
                .iter()
                .any(|it| it.agent == agent && it.present)
        );
    }
    // What a later version of OpenCode has copied is read from its copy.
    let home = Home::new();
    let opencode = home.folder.path().join("opencode");
    write(
        &opencode.join("project/w-app/storage/session/info/ses_1.json"),
        b"x",
    );
    write(&opencode.join("storage/migration"), b"2");
    let harvest = home.harvest();
    assert_eq!(skipped(&harvest, Agent::OpenCode, Reason::UnreadForm), 0);
}

/// That a session is found when the variable names this place, and not without it.
fn found_by(home: &mut Home, agent: Agent, variable: &str, named: &std::path::Path) {
    let folder = home.folder.path().join("somebody");
    home.request.agents = vec![agent];
    let mut find = |environment: &BTreeMap<String, String>| {
        let at = Surroundings {
            platform: Platform::Linux,
            home: &folder,
            environment,
        };
        home.request.homes = Homes::find(&at, |_| &[]);
        home.harvest()
    };
    assert!(find(&BTreeMap::new()).sessions.is_empty());
    let value = named.to_str().unwrap().to_owned();
    let found = find(&BTreeMap::from([(variable.to_owned(), value)]));
    assert_eq!(
        prompts(&found),
        [["Write the parser"]],
        "{agent}: {variable}"
    );
}

#[test]
fn a_setting_may_name_several_homes_and_each_is_read_once() {
    for agent in Agent::ALL {
        let mut home = Home::new();
        session(&home, agent, "/w/app", "Write the parser");
        let real = home.folder.path().join(agent.id());
        let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let mut named = vec![
            text(&home.folder.path().join("nowhere")),
            text(&real),
            // The same by another way.
            text(&real.join("..").join(agent.id())),
        ];
        if cfg!(unix) {
            let link = home.folder.path().join("link");
            #[cfg(unix)]
            std::os::unix::fs::symlink(&real, &link).unwrap();
            named.push(text(&link));
        }
        let environment = BTreeMap::new();
        let at = Surroundings {
            platform: Platform::Linux,
            home: home.folder.path(),
            environment: &environment,
        };
        home.request.agents = vec![agent];
        home.request.homes = Homes::find(&at, |_| &named);
        assert_eq!(home.request.homes.of(agent).len(), 2, "{agent}");
        let harvest = home.harvest();
        assert_eq!(prompts(&harvest), [["Write the parser"]], "{agent}");
        assert!(
            harvest.looked.iter().any(|looked| !looked.present),
            "{agent}"
        );
    }
}

#[test]
fn several_homes_are_read_at_once() {
    for agent in Agent::ALL {
        let (mut one, two) = (Home::new(), Home::new());
        session(&one, agent, "/w/app", "Write the parser");
        session(&two, agent, "/w/app", "Write the tests");
        // Where sessions have the same name in both, they are one; so the second gets its own.
        let other = two.folder.path().join(agent.id());
        rename_session(&two, agent);
        let homes = vec![
            one.folder.path().join(agent.id()),
            one.folder.path().join("nowhere"),
            other,
        ];
        one.request.agents = vec![agent];
        one.request.homes = [(agent, homes)].into_iter().collect();
        let harvest = one.harvest();
        let mut said: Vec<&str> = prompts(&harvest).into_iter().flatten().collect();
        said.sort_unstable();
        assert_eq!(said, ["Write the parser", "Write the tests"], "{agent}");
        assert!(
            harvest.looked.iter().any(|looked| !looked.present),
            "{agent}"
        );
    }
}

/// Gives the session of a home another id, and its message as well.
fn rename_session(home: &Home, agent: Agent) {
    match agent {
        Agent::OpenCode => {
            let db = opencode::database(&home.folder.path().join("opencode/opencode.db"));
            db.execute_batch(
                "UPDATE session SET id = 'ses_2'; UPDATE message SET id = 'm2', session_id = 'ses_2';
                 UPDATE part SET message_id = 'm2';",
            )
            .unwrap();
        }
        Agent::Devin => {
            let db = devin::database(&home.folder.path().join("devin/sessions.db"));
            db.execute_batch(
                r#"UPDATE sessions SET id = 'still-lake';
                   UPDATE message_nodes SET session_id = 'still-lake',
                       chat_message = replace(chat_message, '"message_id":"m', '"message_id":"n');"#,
            )
            .unwrap();
        }
        Agent::Claude
        | Agent::Codex
        | Agent::Copilot
        | Agent::Vscode
        | Agent::Cursor
        | Agent::Pi
        | Agent::OpenClaw => {
            let folder = home.folder.path().join(agent.id());
            for path in files_below(&folder) {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = ["s1", "u1", "i1", "c1", "e1", "v1", "r1", "p1", "m1"]
                    .iter()
                    .fold(text, |text, id| {
                        text.replace(&format!("\"{id}\""), &format!("\"{id}2\""))
                    })
                    .replace("01a22847", "01a22848");
                write(&path, text.as_bytes());
                let name = path.to_str().unwrap().to_owned();
                let renamed = name
                    .replace("/s1.", "/s12.")
                    .replace("/c1", "/c12")
                    .replace("/v1.", "/v12.")
                    .replace("/p1.", "/p12.")
                    .replace("01a22847", "01a22848");
                if renamed != name {
                    write(std::path::Path::new(&renamed), text.as_bytes());
                    std::fs::remove_file(&path).unwrap();
                }
            }
        }
    }
}

fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}
