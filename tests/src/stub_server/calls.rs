//! Replies that call tools, in the shapes of the three protocols.

use serde_json::{Value, json};

use super::Request;
use super::shapes::{Ending, Shape, named};

/// What is called: name and arguments.
pub(super) type Calls = [(String, Value)];

/// A whole reply that calls these tools and says nothing.
pub(super) fn whole(shape: Shape, calls: &Calls, request: &Request) -> Value {
    let mut reply = shape.whole("", Ending::Done, request);
    let calls = calls.iter().enumerate();
    match shape {
        Shape::Chat => {
            let calls: Vec<Value> = calls.map(|(number, call)| function(number, call)).collect();
            let choice = &mut reply["choices"][0];
            choice["message"] =
                json!({ "role": "assistant", "content": null, "tool_calls": calls });
            choice["finish_reason"] = json!("tool_calls");
        }
        Shape::Responses => {
            reply["output"] = calls
                .map(|(number, (name, arguments))| {
                    json!({
                        "type": "function_call", "id": format!("fc_{number}"),
                        "call_id": id(number), "name": name, "arguments": arguments.to_string(),
                    })
                })
                .collect();
        }
        Shape::Messages => {
            reply["content"] = calls
                .map(|(number, (name, arguments))| block(number, name, arguments))
                .collect();
            reply["stop_reason"] = json!("tool_use");
        }
    }
    reply
}

/// The same as the events of a stream.
pub(super) fn events(shape: Shape, calls: &Calls, request: &Request) -> Vec<(String, String)> {
    let whole = whole(shape, calls, request);
    match shape {
        Shape::Chat => {
            let chunk = |choice: Value| json!({ "object": "chat.completion.chunk", "model": whole["model"], "choices": [choice] });
            let mut chunks: Vec<Value> = Vec::new();
            for (number, call) in calls.iter().enumerate() {
                // The arguments come after the name, bit by bit.
                let mut first = function(number, call);
                let arguments = call.1.to_string();
                let (head, tail) = arguments.split_at(arguments.len() / 2);
                first["index"] = json!(number);
                first["function"]["arguments"] = json!("");
                chunks.push(chunk(json!({ "delta": { "tool_calls": [first] } })));
                for part in [head, tail] {
                    let piece = json!({ "index": number, "function": { "arguments": part } });
                    chunks.push(chunk(json!({ "delta": { "tool_calls": [piece] } })));
                }
            }
            chunks.push(chunk(json!({ "delta": {}, "finish_reason": "tool_calls" })));
            let mut last = json!({ "object": "chat.completion.chunk", "model": whole["model"], "choices": [] });
            last["usage"] = whole["usage"].clone();
            chunks.push(last);
            chunks
                .into_iter()
                .map(|chunk| (String::new(), chunk.to_string()))
                .chain([(String::new(), "[DONE]".to_owned())])
                .collect()
        }
        Shape::Responses => named(vec![
            json!({ "type": "response.created" }),
            json!({ "type": "response.completed", "response": whole }),
        ]),
        Shape::Messages => {
            let usage = whole["usage"].clone();
            let mut begun = whole;
            begun["content"] = json!([]);
            begun["stop_reason"] = Value::Null;
            let mut events = vec![json!({ "type": "message_start", "message": begun })];
            for (number, (name, arguments)) in calls.iter().enumerate() {
                let start = block(number, name, &json!({}));
                let part =
                    json!({ "type": "input_json_delta", "partial_json": arguments.to_string() });
                events.extend([
                    json!({ "type": "content_block_start", "index": number, "content_block": start }),
                    json!({ "type": "content_block_delta", "index": number, "delta": part }),
                    json!({ "type": "content_block_stop", "index": number }),
                ]);
            }
            events.extend([
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": usage }),
                json!({ "type": "message_stop" }),
            ]);
            named(events)
        }
    }
}

fn id(number: usize) -> String {
    format!("call_{number}")
}

fn function(number: usize, (name, arguments): &(String, Value)) -> Value {
    json!({
        "id": id(number), "type": "function",
        "function": { "name": name, "arguments": arguments.to_string() },
    })
}

fn block(number: usize, name: &str, arguments: &Value) -> Value {
    json!({ "type": "tool_use", "id": id(number), "name": name, "input": arguments })
}
