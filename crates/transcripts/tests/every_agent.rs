//! What holds for the sessions of every agent, whatever its format.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use std::path::PathBuf;

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, prompts, skipped, typed_in};

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
    }
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
        assert!(harvest.newest.contains_key(&agent), "{agent}");
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
