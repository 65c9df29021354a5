//! Tools in the words of the three protocols: how they are offered, and how what was called of them
//! and what that gave is told.

use serde_json::{Map, Value, json};
use skillopt_core::call::Call;
use skillopt_core::tool::{MOST_ROUNDS, result_of};

use super::failure::Asked;
use super::protocol::Protocol;
use super::said::Said;
use crate::error::CallError;

/// Adds the tools of `call` to a request; in its last round that it must answer now.
pub(super) fn add_to(body: &mut Map<String, Value>, call: &Call, protocol: Protocol) {
    if call.tools().is_empty() {
        return;
    }
    let takes = json!({
        "type": "object",
        "properties": { "input": { "type": "string", "description": "What it is given." } },
    });
    let tools: Vec<Value> = call
        .tools()
        .iter()
        .map(|tool| {
            let (name, description) = (tool.wire_name(), tool.shown_description());
            match protocol {
                Protocol::Chat => json!({
                    "type": "function",
                    "function": { "name": name, "description": description, "parameters": takes },
                }),
                Protocol::Responses => json!({
                    "type": "function", "name": name, "description": description, "parameters": takes,
                }),
                Protocol::Messages => json!({
                    "name": name, "description": description, "input_schema": takes,
                }),
            }
        })
        .collect();
    body.insert("tools".into(), tools.into());
    if call.rounds.len() >= MOST_ROUNDS {
        let none = match protocol {
            Protocol::Chat | Protocol::Responses => json!("none"),
            Protocol::Messages => json!({ "type": "none" }),
        };
        body.insert("tool_choice".into(), none);
    }
}

/// What was called, as messages of Chat Completions.
pub(super) fn chat_rounds(call: &Call) -> Vec<Value> {
    let mut messages = Vec::new();
    for round in &call.rounds {
        let calls: Vec<Value> = round
            .calls
            .iter()
            .map(|made| {
                let function = json!({ "name": made.name, "arguments": arguments(&made.arguments).to_string() });
                json!({ "id": made.id, "type": "function", "function": function })
            })
            .collect();
        messages.push(json!({ "role": "assistant", "content": round.text, "tool_calls": calls }));
        for made in &round.calls {
            let result = result_of(call.tools(), made);
            messages.push(json!({ "role": "tool", "tool_call_id": made.id, "content": result }));
        }
    }
    messages
}

/// What was called, as messages of Anthropic's Messages.
pub(super) fn messages_rounds(call: &Call) -> Vec<Value> {
    let mut messages = Vec::new();
    for round in &call.rounds {
        // Blank texts are refused there.
        let said = (!round.text.trim().is_empty())
            .then(|| json!({ "type": "text", "text": round.text }))
            .into_iter();
        let calls = round.calls.iter().map(|made| {
            let input = arguments(&made.arguments);
            json!({ "type": "tool_use", "id": made.id, "name": made.name, "input": input })
        });
        let blocks: Vec<Value> = said.chain(calls).collect();
        messages.push(json!({ "role": "assistant", "content": blocks }));
        let results: Vec<Value> = round
            .calls
            .iter()
            .map(|made| {
                let result = result_of(call.tools(), made);
                json!({ "type": "tool_result", "tool_use_id": made.id, "content": result })
            })
            .collect();
        messages.push(json!({ "role": "user", "content": results }));
    }
    messages
}

/// What was called, as items of Responses.
pub(super) fn responses_rounds(call: &Call) -> Vec<Value> {
    let mut items = Vec::new();
    for round in &call.rounds {
        if !round.text.trim().is_empty() {
            items.push(json!({ "role": "assistant", "content": round.text }));
        }
        for made in &round.calls {
            let arguments = arguments(&made.arguments).to_string();
            items.push(json!({
                "type": "function_call", "call_id": made.id, "name": made.name, "arguments": arguments,
            }));
        }
        for made in &round.calls {
            let output = result_of(call.tools(), made);
            items.push(
                json!({ "type": "function_call_output", "call_id": made.id, "output": output }),
            );
        }
    }
    items
}

/// Arguments as a server wrote them: a text of JSON, or the JSON itself.
pub(super) fn written(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Arguments as they are sent back. A model that wrote none, or no object, is not quoted: servers
/// refuse such a message, and no tool looks at its arguments.
fn arguments(written: &str) -> Value {
    serde_json::from_str(written).map_or_else(|_| json!({}), Value::Object)
}

/// The error of a server that refuses tools; `None` when it named something else.
pub(super) fn refused(call: &Call, said: &Said, asked: &Asked<'_>) -> Option<CallError> {
    let text = said.everything().to_ascii_lowercase();
    (!call.tools().is_empty() && text.contains("tool")).then(|| {
        asked.misconfigured(
            format!(
                "it does not take the tools of a replay ({})",
                asked.excerpt(said.shown())
            ),
            format!(
                "Set replays.tools to false, or use a model that takes tools instead of {}.",
                asked.model
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use skillopt_core::call::Subject;
    use skillopt_core::task::Task;
    use skillopt_core::tool::{Tool, ToolCall, ToolReply};

    use super::*;
    use crate::http::answer::tests::read_calls;
    use crate::http::chat::tests::call as plain_call;
    use crate::http::dialect::Dialect;
    use crate::http::manner::Manner;

    /// A question that offers one tool, after so many rounds in which it was called.
    fn call(rounds: usize) -> Call {
        let mut task = Task::new("t", "", "x");
        task.tools = vec![Tool {
            name: "ci.status".into(),
            description: "Asks the build server.".into(),
            result: "green".into(),
        }];
        let made = |id: &str, name: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let round = ToolReply {
            text: "Let me look.".into(),
            answered: Vec::new(),
            calls: vec![
                made("c1", "ci_status", r#"{"input":"main"}"#),
                made("c2", "rm", "not json"),
            ],
        };
        let mut call = plain_call();
        call.subject = Subject::Attempt {
            task: Box::new(task),
            skill: String::new(),
            memory: String::new(),
        };
        call.params.schema = None;
        call.rounds = vec![round; rounds];
        call
    }

    fn request(rounds: usize, protocol: Protocol) -> Value {
        protocol.request(&call(rounds), &Dialect::default(), &Manner::default())
    }

    const MISSING: &str = "There is no tool called rm.";

    #[test]
    fn chat_completions_offer_tools_and_tell_what_they_gave() {
        let body = request(1, Protocol::Chat);
        assert_eq!(body["tools"][0]["type"], "function");
        let function = &body["tools"][0]["function"];
        assert_eq!(function["name"], "ci_status");
        assert_eq!(function["description"], "Asks the build server.");
        assert_eq!(function["parameters"]["type"], "object");
        assert_eq!(body.get("tool_choice"), None);
        assert_eq!(
            body["messages"].as_array().unwrap()[2..],
            [
                json!({ "role": "assistant", "content": "Let me look.", "tool_calls": [
                    { "id": "c1", "type": "function",
                      "function": { "name": "ci_status", "arguments": r#"{"input":"main"}"# } },
                    { "id": "c2", "type": "function", "function": { "name": "rm", "arguments": "{}" } },
                ] }),
                json!({ "role": "tool", "tool_call_id": "c1", "content": "green" }),
                json!({ "role": "tool", "tool_call_id": "c2", "content": MISSING }),
            ]
        );
    }

    #[test]
    fn messages_offer_tools_and_tell_what_they_gave() {
        let body = request(1, Protocol::Messages);
        assert_eq!(body["tools"][0]["name"], "ci_status");
        assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
        assert_eq!(
            body["messages"].as_array().unwrap()[1..],
            [
                json!({ "role": "assistant", "content": [
                    { "type": "text", "text": "Let me look." },
                    { "type": "tool_use", "id": "c1", "name": "ci_status", "input": { "input": "main" } },
                    { "type": "tool_use", "id": "c2", "name": "rm", "input": {} },
                ] }),
                json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "c1", "content": "green" },
                    { "type": "tool_result", "tool_use_id": "c2", "content": MISSING },
                ] }),
            ]
        );
    }

    #[test]
    fn responses_offer_tools_and_tell_what_they_gave() {
        let body = request(1, Protocol::Responses);
        assert_eq!(body["tools"][0]["name"], "ci_status");
        assert_eq!(
            body["input"].as_array().unwrap()[1..],
            [
                json!({ "role": "assistant", "content": "Let me look." }),
                json!({ "type": "function_call", "call_id": "c1", "name": "ci_status",
                        "arguments": r#"{"input":"main"}"# }),
                json!({ "type": "function_call", "call_id": "c2", "name": "rm", "arguments": "{}" }),
                json!({ "type": "function_call_output", "call_id": "c1", "output": "green" }),
                json!({ "type": "function_call_output", "call_id": "c2", "output": MISSING }),
            ]
        );
    }

    #[test]
    fn the_last_round_asks_for_an_answer() {
        for (protocol, choice) in [
            (Protocol::Chat, json!("none")),
            (Protocol::Responses, json!("none")),
            (Protocol::Messages, json!({ "type": "none" })),
        ] {
            assert_eq!(request(MOST_ROUNDS - 1, protocol).get("tool_choice"), None);
            let last = request(MOST_ROUNDS, protocol);
            assert_eq!(last["tool_choice"], choice);
            assert!(last["tools"].is_array(), "servers want them beside calls");
        }
    }

    #[test]
    fn calls_are_read_whole_and_in_pieces() {
        let expected = ToolReply {
            text: "Hm.".into(),
            answered: Vec::new(),
            calls: vec![
                ToolCall {
                    id: "c1".into(),
                    name: "a".into(),
                    arguments: r#"{"input":"x"}"#.into(),
                },
                ToolCall {
                    id: "c2".into(),
                    name: "b".into(),
                    arguments: "{}".into(),
                },
            ],
        };
        let function =
            |name: &str, arguments: &str| json!({ "name": name, "arguments": arguments });
        let whole = |message: Value| json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
        let piece = |delta: Value| json!({ "choices": [{ "delta": delta }] });
        let started = |index: u64, id: &str, name: &str, arguments: &str| {
            piece(json!({ "tool_calls": [
                { "index": index, "id": id, "type": "function", "function": function(name, arguments) }
            ] }))
        };
        let chat: [Vec<Value>; 2] = [
            vec![whole(json!({ "content": "Hm.", "tool_calls": [
                { "id": "c1", "function": function("a", r#"{"input":"x"}"#) },
                // Some servers write the arguments as JSON itself.
                { "id": "c2", "function": { "name": "b", "arguments": {} } },
            ] }))],
            vec![
                piece(json!({ "content": "Hm." })),
                started(0, "c1", "a", ""),
                piece(
                    json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"input\":" } }] }),
                ),
                piece(
                    json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "\"x\"}" } }] }),
                ),
                started(1, "c2", "b", "{}"),
                json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
            ],
        ];
        for pieces in chat {
            assert_eq!(read_calls(Protocol::Chat, &pieces), expected);
        }
        let block = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
        let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        let input = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
        let messages: [Vec<Value>; 2] = [
            vec![
                json!({ "type": "message", "stop_reason": "tool_use", "content": [
                    { "type": "text", "text": "Hm." },
                    block("c1", "a", json!({ "input": "x" })),
                    block("c2", "b", json!({})),
                ] }),
            ],
            vec![
                json!({ "type": "message_start", "message": { "content": [] } }),
                start(0, json!({ "type": "text", "text": "" })),
                delta(0, json!({ "type": "text_delta", "text": "Hm." })),
                start(1, block("c1", "a", json!({}))),
                delta(1, input("{\"input\":")),
                delta(1, input("\"x\"}")),
                start(2, block("c2", "b", json!({}))),
                delta(2, input("{}")),
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
            ],
        ];
        for pieces in messages {
            assert_eq!(read_calls(Protocol::Messages, &pieces), expected);
        }
        let item = |id: &str, name: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments });
        let output = json!({ "output": [
            { "type": "message", "content": [{ "type": "output_text", "text": "Hm." }] },
            item("c1", "a", r#"{"input":"x"}"#),
            item("c2", "b", "{}"),
        ] });
        assert_eq!(read_calls(Protocol::Responses, &[output]), expected);
    }
}
