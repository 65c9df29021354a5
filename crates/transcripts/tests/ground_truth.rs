//! Real sessions against what a person is known to have typed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_core::feedback::Happened;
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Reason, Request, Scope, harvest};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts")
}

fn request(homes: Homes, scope: ProjectScope) -> Request {
    Request {
        homes,
        agents: Agent::ALL.to_vec(),
        project: scope,
        ..Request::default()
    }
}

fn everything() -> ProjectScope {
    ProjectScope {
        roots: Vec::new(),
        scope: Scope::All,
    }
}

fn real_homes() -> Homes {
    Agent::ALL
        .into_iter()
        .map(|agent| (agent, vec![fixtures().join(agent.id())]))
        .collect()
}

fn run(request: &Request) -> Harvest {
    harvest(request, None, &|| false).unwrap()
}

/// What the oracle says a person typed: prompts, folder and branch per session.
fn truth(agent: Agent) -> BTreeMap<String, (Vec<String>, String, Option<String>)> {
    let text = std::fs::read_to_string(fixtures().join("ground-truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let sessions = truth[agent.id()].as_object().unwrap();
    sessions
        .iter()
        .filter(|(_, session)| session["engine"] != true && session["subagent"] != true)
        .map(|(id, session)| {
            let prompts = session["prompts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|prompt| prompt.as_str().unwrap().to_owned())
                .collect();
            let branch = session
                .get("branch")
                .map(|branch| branch.as_str().unwrap_or("").to_owned());
            (
                id.clone(),
                (prompts, session["cwd"].as_str().unwrap().to_owned(), branch),
            )
        })
        .collect()
}

/// The branch of a session for which the oracle has none.
fn unsaid_branch(agent: Agent, directory: &str) -> &'static str {
    match agent {
        // All sessions of Claude Code were made on these.
        Agent::Claude if directory.ends_with("acme-api") => "feature/pagination",
        Agent::Claude => "main2",
        // Pi records no branch, and the oracle has those of the others.
        Agent::Codex
        | Agent::Copilot
        | Agent::Vscode
        | Agent::Cursor
        | Agent::Pi
        | Agent::OpenCode
        | Agent::OpenClaw
        | Agent::Devin => "",
    }
}

#[test]
fn every_prompt_is_found_and_nothing_else() {
    let harvest = run(&request(real_homes(), everything()));
    for agent in Agent::ALL {
        let mut expected = truth(agent);
        for session in harvest
            .sessions
            .iter()
            .filter(|session| session.agent == agent)
        {
            let (prompts, directory, branch) = expected
                .remove(&session.id)
                .unwrap_or_else(|| panic!("{agent} session {} was typed by nobody", session.id));
            let found: Vec<&str> = session
                .human_turns()
                .map(|turn| turn.text.as_str())
                .collect();
            // The oracle has what was typed; we never keep a secret.
            let prompts: Vec<String> = prompts
                .iter()
                .map(|prompt| skillopt_core::redact::redact(prompt).text.into_owned())
                .collect();
            assert_eq!(found, prompts, "{agent} {}", session.id);
            assert_eq!(session.directory, directory, "{agent} {}", session.id);
            assert!(
                session
                    .human_turns()
                    .all(|turn| turn.directory == directory)
            );
            let branch = branch.unwrap_or_else(|| unsaid_branch(agent, &directory).to_owned());
            assert_eq!(session.branch, branch, "{agent} {}", session.id);
            assert!(session.started <= session.ended && session.started.is_some());
        }
        assert!(
            expected.is_empty(),
            "{agent} sessions were not found: {expected:?}"
        );
    }
}

#[test]
fn what_was_left_out_is_counted() {
    let harvest = run(&request(real_homes(), everything()));
    let skipped = |agent: Agent, reason: Reason| {
        harvest
            .skipped
            .get(&(agent, reason))
            .copied()
            .unwrap_or_default()
    };
    assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
    assert!(harvest.silent.is_empty(), "{:?}", harvest.silent);
    // Counted by hand in the files.
    for (reason, expected) in [
        (Reason::SubagentFile, 1),
        (Reason::EngineCall, 2),
        (Reason::Copy, 3),
        (Reason::Compaction, 2),
        (Reason::Interruption, 1),
        (Reason::ApiError, 1),
        (Reason::Malformed, 0),
        (Reason::OtherProject, 0),
    ] {
        assert_eq!(skipped(Agent::Claude, reason), expected, "{reason:?}");
    }
    for (reason, expected) in [
        (Reason::ApiError, 1),
        (Reason::Context, 3),
        (Reason::AbandonedBranch, 0),
        (Reason::Malformed, 0),
    ] {
        assert_eq!(skipped(Agent::Pi, reason), expected, "{reason:?}");
    }
    for (reason, expected) in [
        (Reason::EngineCall, 1),
        // Of one sub-agent: its prompt and its two answers.
        (Reason::Sidechain, 3),
        (Reason::Context, 12),
        (Reason::ApiError, 1),
        (Reason::Malformed, 0),
    ] {
        assert_eq!(skipped(Agent::Copilot, reason), expected, "{reason:?}");
    }
    for (reason, expected) in [
        (Reason::EngineCall, 1),
        (Reason::Subagent, 1),
        (Reason::Malformed, 0),
    ] {
        assert_eq!(skipped(Agent::Codex, reason), expected, "{reason:?}");
    }
}

#[test]
fn sessions_an_optimizer_made_are_absent() {
    let homes = Agent::ALL
        .into_iter()
        .map(|agent| (agent, vec![fixtures().join(format!("engine-{agent}"))]))
        .collect();
    let harvest = run(&request(homes, everything()));
    assert!(harvest.sessions.is_empty(), "{:#?}", harvest.sessions);
    assert_eq!(harvest.skipped[&(Agent::Claude, Reason::EngineCall)], 4);
    assert_eq!(harvest.skipped[&(Agent::Codex, Reason::EngineCall)], 4);
}

#[test]
fn a_project_gets_its_own_sessions() {
    let scope = ProjectScope {
        roots: vec![PathBuf::from("/home/dana/work/web_app.ui-2")],
        scope: Scope::Project,
    };
    let harvest = run(&request(real_homes(), scope));
    let mut ids: Vec<&str> = harvest
        .sessions
        .iter()
        .map(|session| session.id.as_str())
        .collect();
    ids.sort_unstable();
    assert_eq!(
        ids,
        [
            "01a22847-15a4-79f0-b0c0-099244defcd5",
            "2026-11-29T17-13-09-882Z_01a2284b-dbf9-70e5-bcbc-cabc465f15c5",
            "2026-11-29T17-14-15-018Z_01a2284c-da6a-7561-b1b7-5d08e6e2d667",
            "2b0fd655-5c1d-47be-a647-bdfbe9cb66b8",
            "5b74c902-9a1c-49a3-a7b2-e89500a0a3c8",
            "c1f7badf-b7c7-4c72-9238-8ae9c6f51193",
            "f1c988ac-edba-4cd5-b5ee-d83605902ce7",
            "ses_dd7a06204ffenJqXz0CF07K7eu",
            "ses_dd7a0a6abffeNE1yVfnk4jfSGM",
            "ses_dd7b709a1ffeUvJyBw0RjFOhb6",
            "ses_dd7b772aeffeFWzhQOMKkX7i9h",
        ]
    );
}

#[test]
fn turns_carry_what_mining_needs() {
    let harvest = run(&request(real_homes(), everything()));
    let session = |id: &str| {
        harvest
            .sessions
            .iter()
            .find(|session| session.id == id)
            .unwrap()
    };

    let interactive = session("7ec72649-5a3f-4723-b59c-e47ad56f7fec");
    let human: Vec<_> = interactive.human_turns().collect();
    assert_eq!(
        human
            .iter()
            .map(|turn| turn.interrupted)
            .collect::<Vec<_>>(),
        [false, true, false, false, false]
    );
    assert!(human[1].feedback.contains(&"neg:interrupted".to_owned()));
    assert_eq!(human[0].id, "d4ff3488-4639-42a7-b4fa-bfa756615117");
    assert_eq!(human[0].at.unwrap().to_string(), "2026-11-29T17:21:13.781Z");
    assert_eq!(human[0].tools, ["Bash", "Write"]);
    assert_eq!(human[0].files, ["/home/dana/work/acme-api/src/pages.py"]);
    // `/release-notes v1.2` called a skill; `!ls src` and `/model` called nothing.
    assert_eq!(interactive.skills, ["release-notes"]);
    assert_eq!(interactive.files, ["/home/dana/work/acme-api/src/pages.py"]);

    let skill = session("9fba7ba3-0478-41a3-a71a-2f28ba013e09");
    assert_eq!(skill.skills, ["release-notes"]);
    let codex = session("01a22847-0a59-7ad0-835a-6eba6522aca4");
    assert_eq!(codex.skills, ["release-notes"]);
    assert_eq!(codex.tools, ["exec_command"]);

    let pi = session("2026-11-29T17-13-02-618Z_01a2284b-bf99-71ea-9dae-8225dcbadc9c");
    assert_eq!(pi.skills, ["release-notes"]);
    let pi = session("2026-11-29T17-13-45-866Z_01a2284c-6889-7240-a7b5-3b9ad4b3e64a");
    assert_eq!(pi.tools, ["bash", "write"]);
    assert_eq!(pi.files, ["/home/dana/work/acme-api/src/pages.py"]);
    assert_eq!(
        pi.turns[1].text,
        "The bug was an off-by-one in `last_page()`: it divided `len(items)` instead of `len(items) - 1`. I changed `src/pages.py` and the test now passes."
    );

    let copilot = session("13e3412d-674f-4690-ad06-5a1987a3730d");
    assert_eq!(copilot.tools, ["bash", "create"]);
    assert_eq!(copilot.files, ["/home/dana/work/acme-api/src/pages.py"]);
    let written: Vec<usize> = copilot.human_turns().map(|turn| turn.files.len()).collect();
    // The first attempt to write it failed.
    assert_eq!(written, [0, 1, 0]);
    assert_eq!(copilot.turns[5].text, "Glad it works! Anything else?");
    let copilot = session("cdc30161-ae0e-45e2-9d00-9786ace64fc5");
    assert_eq!(copilot.skills, ["release-notes"]);

    // The message was sent while the agent worked on the one before.
    let queued = session("b87e445b-849e-4722-82ec-c6a1dee7e82e");
    let turns: Vec<(&str, Vec<&str>)> = queued
        .human_turns()
        .map(|turn| {
            (
                turn.text.as_str(),
                turn.tools.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    assert_eq!(turns[0].1, ["Bash"]);
    assert_eq!(turns[1], ("Perfect, thanks!", vec!["Write", "Bash"]));
}

#[test]
fn a_digest_has_the_fields_of_the_reference_in_their_order() {
    let harvest = run(&request(real_homes(), everything()));
    let session = harvest
        .sessions
        .iter()
        .find(|session| session.id == "01a22846-dc3d-7bb1-aa75-f52fad91452d")
        .unwrap();
    let digest = serde_json::to_value(session.digest()).unwrap();
    let keys: Vec<&str> = digest
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    // §1.1
    assert_eq!(
        keys,
        [
            "session_id",
            "project",
            "git_branch",
            "started_at",
            "ended_at",
            "user_prompts",
            "assistant_finals",
            "tools_used",
            "skills_used",
            "files_touched",
            "feedback_signals",
            "n_user_turns",
            "n_assistant_turns",
            "raw_path",
        ]
    );
    assert_eq!(digest["n_user_turns"], 3);
    assert_eq!(digest["n_assistant_turns"], 3);
    assert_eq!(digest["started_at"], "2026-11-29T17:07:42.445Z");
    assert_eq!(
        digest["assistant_finals"][2],
        "Glad it works! Anything else?"
    );
    assert_eq!(digest["git_branch"], "feature/pagination");
}

/// What happened to answers: agent, session, how many turns stand before it, signal.
fn happened(harvest: &Harvest) -> Vec<(Agent, &str, usize, Happened)> {
    let mut all = Vec::new();
    for session in &harvest.sessions {
        for (turn, human) in session.human_turns().enumerate() {
            let signals = human.feedback.iter();
            all.extend(
                signals
                    .filter_map(|signal| Happened::of(signal))
                    .map(|happened| (session.agent, session.id.as_str(), turn, happened)),
            );
        }
    }
    all
}

#[test]
fn what_happened_to_answers_in_real_sessions_is_read() {
    let mut request = request(real_homes(), everything());
    request.agents = vec![
        Agent::Claude,
        Agent::Codex,
        Agent::Copilot,
        Agent::Pi,
        Agent::OpenCode,
    ];
    // In one session somebody stopped the agent, and asked for the same once more.
    let session = "7ec72649-5a3f-4723-b59c-e47ad56f7fec";
    assert_eq!(
        happened(&run(&request)),
        [
            (Agent::Claude, session, 1, Happened::Interrupted),
            (Agent::Claude, session, 1, Happened::Resent),
        ]
    );
}

#[test]
fn the_one_real_interruption_of_codex_is_read_though_it_is_a_sub_agents() {
    let name = "sessions/2026/11/29/rollout-2026-11-29T17-35-11-01a22860-0663-74d2-869a-d50df52177dc.jsonl";
    let text = std::fs::read_to_string(fixtures().join("codex").join(name)).unwrap();
    let (meta, rest) = text.split_once('\n').unwrap();
    let mut meta: Value = serde_json::from_str(meta).unwrap();
    meta["payload"]["thread_source"] = "user".into();
    meta["payload"]["source"] = "cli".into();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    std::io::Write::write_all(&mut file, format!("{meta}\n{rest}").as_bytes()).unwrap();
    let homes = std::iter::once((Agent::Codex, vec![home.path().to_owned()])).collect();
    let harvest = run(&request(homes, everything()));
    let [(Agent::Codex, _, 0, Happened::Interrupted), more @ ..] = &happened(&harvest)[..] else {
        panic!("{:?}", harvest.sessions);
    };
    // It was stopped before it came to an answer.
    assert!(
        more.iter()
            .all(|(_, _, turn, it)| *turn == 0 && *it == Happened::Abandoned)
    );
}
