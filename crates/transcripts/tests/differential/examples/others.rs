//! Those of the other agents whose sessions are files.

use serde_json::{Value, json};
use skillopt_core::agent::Agent;

use super::{Example, branch, files, finals, prompts, session, signals, skills, tools};
use crate::course::Seen;
use crate::difference::Difference;
use crate::made::{codex, codex_file, minute, pi_file, vscode_file, vscode_request};
use crate::wanted::Wanted;
use crate::{CODEX_NAME, PI_NAME, vscode_files};

fn response(role: &str, words: &str) -> Value {
    codex(
        "response_item",
        json!({"type": "message", "role": role, "content": [{"type": "text", "text": words}]}),
    )
}

fn event(payload: Value) -> Value {
    codex("event_msg", payload)
}

pub(super) fn of_codex(difference: Difference) -> Option<Example> {
    let meta = |more: Value| {
        let mut meta = json!({"id": "thread", "cwd": "/w/app"});
        for (key, value) in more.as_object().into_iter().flatten() {
            meta[key] = value.clone();
        }
        codex("session_meta", meta)
    };
    let (start, rename) = (meta(json!({})), response("user", "Rename it"));
    type Told = (fn(&Seen) -> String, Vec<Value>, &'static str, &'static str);
    let (show, records, reference, ours): Told = match difference {
        Difference::OwnSessions => (
            prompts,
            vec![start, response("user", "You are a strict grader")],
            "You are a strict grader",
            "no session",
        ),
        Difference::LiveSessions => (prompts, vec![start, rename], "no session", "Rename it"),
        Difference::ThreadId => (session, vec![start, rename], CODEX_NAME, "thread"),
        Difference::BranchKnown => (
            branch,
            vec![meta(json!({"git": {"branch": "main"}})), rename],
            "",
            "main",
        ),
        Difference::Forms => (
            prompts,
            vec![
                start,
                rename,
                event(json!({"type": "user_message", "message": "Rename it"})),
                response("assistant", "Renamed."),
            ],
            "Rename it, Rename it",
            "Rename it",
        ),
        Difference::MarkedParts => {
            let mut notice = response("user", "A command ended");
            notice["payload"]["internal_chat_message_metadata_passthrough"] =
                json!({"content_item_kinds": ["generic.notice"]});
            (
                prompts,
                vec![start, rename, response("assistant", "I begin."), notice],
                "Rename it, A command ended",
                "Rename it",
            )
        }
        Difference::InjectedParts => (
            prompts,
            vec![
                start,
                rename,
                response("user", "<turn_aborted>\nIt was stopped."),
            ],
            "Rename it, <turn_aborted>\nIt was stopped.",
            "Rename it",
        ),
        Difference::BareRecords => (
            prompts,
            vec![
                json!({"id": "thread", "timestamp": minute(0), "instructions": null}),
                rename["payload"].clone(),
            ],
            "no session",
            "Rename it",
        ),
        Difference::CallNames => (
            tools,
            vec![
                start,
                rename,
                codex("response_item", json!({"type": "local_shell_call"})),
                codex(
                    "response_item",
                    json!({"type": "custom_tool_call_output", "name": "x"}),
                ),
            ],
            "x",
            "local_shell_call",
        ),
        Difference::SkillsAndFiles => (
            |seen| format!("{}; {}", skills(seen), files(seen)),
            vec![
                start,
                rename,
                codex(
                    "response_item",
                    json!({"type": "function_call", "name": "shell",
                    "arguments": "cat skills/lint/SKILL.md"}),
                ),
                event(json!({"type": "patch_apply_end", "changes": {"/w/app/a.rs": {}}})),
            ],
            "; ",
            "lint; /w/app/a.rs",
        ),
        Difference::HiddenSummary => (
            finals,
            vec![
                start,
                rename,
                response("assistant", "Renamed."),
                event(json!({"type": "agent_message", "message": "Renamed."})),
                response("assistant", "It was about names."),
                codex("compacted", json!({"message": "x"})),
            ],
            "Renamed., Renamed., It was about names.",
            "Renamed.",
        ),
        Difference::Subagents => (
            prompts,
            vec![meta(json!({"thread_source": "subagent"})), rename],
            "Rename it",
            "no session",
        ),
        _ => return None,
    };
    let folder = match difference {
        Difference::LiveSessions => "sessions/2026/01/05",
        _ => "archived_sessions",
    };
    Some(Example {
        agent: Agent::Codex,
        files: vec![(format!("{folder}/{CODEX_NAME}.jsonl"), codex_file(&records))],
        wanted: Wanted::default(),
        show,
        reference,
        ours,
    })
}

pub(super) fn of_pi(difference: Difference) -> Option<Example> {
    let message = |role: &str, words: &str| {
        json!({"type": "message", "message": {"role": role,
            "content": [{"type": "text", "text": words}]}})
    };
    let typed = |words: &str| (message("user", words), 1);
    let said = |words: &str| (message("assistant", words), 1);
    type Told = (
        fn(&Seen) -> String,
        Vec<(Value, usize)>,
        &'static str,
        &'static str,
    );
    let (show, entries, reference, ours): Told = match difference {
        Difference::EveryTurn => (
            signals,
            vec![
                typed("Thanks"),
                said("So?"),
                typed("Thanks again"),
                said("So."),
            ],
            "pos:thanks",
            "pos:thanks, pos:thanks",
        ),
        Difference::OneBadLine => (
            prompts,
            vec![typed("Rename it"), said("Renamed.")],
            "no session",
            "Rename it",
        ),
        Difference::FileName => (
            session,
            vec![typed("Rename it"), said("Renamed.")],
            "one",
            "2026-01-05T10-00-00-000Z_one",
        ),
        Difference::SentAgain => (
            prompts,
            vec![
                typed("Rename it"),
                said("Renamed."),
                (message("user", "Rename it to x"), 3),
                said("Renamed to x."),
            ],
            "Rename it to x",
            "Rename it, Rename it to x",
        ),
        Difference::ResultNames => (
            tools,
            vec![
                typed("Rename it"),
                said("I begin."),
                (
                    json!({"type": "message", "message": {"role": "toolResult",
                        "toolName": "edit", "content": []}}),
                    1,
                ),
            ],
            "edit",
            "",
        ),
        _ => return None,
    };
    let mut bytes = pi_file(&entries);
    if difference == Difference::OneBadLine {
        bytes.extend_from_slice(b"{\"type\":\"mess");
    }
    Some(Example {
        agent: Agent::Pi,
        files: vec![(format!("{PI_NAME}.jsonl"), bytes)],
        wanted: Wanted::default(),
        show,
        reference,
        ours,
    })
}

pub(super) fn of_vscode(difference: Difference) -> Option<Example> {
    if !matches!(difference, Difference::NoExtension | Difference::TakenAway) {
        return None;
    }
    let mut first = vscode_request(1, "Rename it", "GitHub.copilot-chat");
    if difference == Difference::NoExtension {
        first["agent"] = json!({});
    }
    let second = vscode_request(2, "Rename it to x", "GitHub.copilot-chat");
    let from = u32::from(difference == Difference::NoExtension);
    let log = [
        json!({"kind": 2, "k": ["requests"], "v": [first]}),
        json!({"kind": 2, "k": ["requests"], "v": [second], "i": from}),
    ];
    Some(Example {
        agent: Agent::Vscode,
        files: vscode_files(vscode_file(&log)),
        wanted: Wanted::default(),
        show: prompts,
        reference: "Rename it to x",
        ours: "Rename it, Rename it to x",
    })
}
