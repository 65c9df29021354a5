//! Reading what `copilot --output-format json` has printed.

use serde_json::{Map, Value};
use skillopt_core::text::{cut, one_line};

use crate::agent_cli::events;
use crate::agent_cli::failure::{Asked, Failure};
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::process::Run;

/// What matters of the printed events.
#[derive(Debug, Default)]
struct Events {
    reply: Option<Map<String, Value>>,
    error: Option<Map<String, Value>>,
    result: Option<Map<String, Value>>,
    /// A tool that was asked for, or a tool server that was started.
    kept: Option<String>,
    begun: bool,
}

impl Events {
    fn read(printed: &str) -> Self {
        let mut read = Self::default();
        for event in events::objects(printed) {
            match events::text(&event, &["type"]) {
                "session.mcp_servers_loaded" => read.servers(&event),
                "model.call_start" | "assistant.turn_start" => read.begun = true,
                "assistant.message" => read.message(event),
                "session.error" => read.error = Some(event),
                "result" => read.result = Some(event),
                _ => {}
            }
        }
        read
    }

    fn servers(&mut self, event: &Map<String, Value>) {
        let servers = events::at(event, &["data", "servers"]).and_then(Value::as_array);
        for server in servers.into_iter().flatten().filter_map(Value::as_object) {
            if !matches!(events::text(server, &["status"]), "disabled" | "") {
                let name = cut(&one_line(events::text(server, &["name"])), 40);
                self.kept = Some(format!("the tool server {name}"));
            }
        }
    }

    fn message(&mut self, event: Map<String, Value>) {
        let tools = events::at(&event, &["data", "toolRequests"]).and_then(Value::as_array);
        if let Some(tool) = tools.and_then(|tools| tools.first()) {
            let name = tool
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("unnamed");
            self.kept = Some(format!("the tool {}", cut(&one_line(name), 40)));
        }
        self.reply = Some(event);
    }
}

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let events = Events::read(&printed);
    if let Some(error) = &events.error {
        let text = events::text(error, &["data", "message"]);
        if text.starts_with("No response was returned") {
            return Err(CallError::Unreadable {
                reason: "it is empty".into(),
            });
        }
        return Err(asked.failed(&Failure {
            status: events::number(error, &["data", "statusCode"]),
            word: events::text(error, &["data", "errorType"]),
            text,
        }));
    }
    let Some(result) = &events.result else {
        return Err(asked.without_result(run, events.begun));
    };
    if run.code != Some(0) || events::number(result, &["exitCode"]) != Some(0) {
        return Err(asked.broke_off(run));
    }
    if let Some(kept) = events.kept {
        return Err(asked.not_alone(&kept));
    }
    let Some(reply) = &events.reply else {
        return Err(if events.begun {
            CallError::Unreadable {
                reason: "it is empty".into(),
            }
        } else {
            asked.changed_format()
        });
    };
    let Some(Value::String(text)) = events::at(reply, &["data", "content"]) else {
        return Err(asked.changed_format());
    };
    if let Some(error) = asked.instead_of_a_reply(text) {
        return Err(error);
    }
    Ok(RawReply {
        text: text.clone(),
        usage: Usage {
            input_tokens: events::number(reply, &["data", "inputTokens"]),
            cached_tokens: None,
            output_tokens: events::number(reply, &["data", "outputTokens"]),
        },
        model: events::text(reply, &["data", "model"]).to_owned(),
        finish: Finish::Done,
        request_thousandths: billed(&events),
        ..RawReply::default()
    })
}

/// What `run` says it was billed for, as thousandths of requests, whatever came of it.
pub(super) fn billed_for(run: &Run) -> u64 {
    billed(&Events::read(&String::from_utf8_lossy(&run.output)))
}

fn billed(events: &Events) -> u64 {
    let result = events.result.as_ref();
    result
        .and_then(|result| events::at(result, &["usage", "premiumRequests"]))
        .and_then(thousandths)
        .unwrap_or(0)
}

/// A number of requests as thousandths. Models count as fractions of one, or as several.
fn thousandths(requests: &Value) -> Option<u64> {
    let Value::Number(requests) = requests else {
        return None;
    };
    let written = requests.to_string();
    let (whole, part) = written.split_once('.').unwrap_or((&written, ""));
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(part.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_run(code: i32, lines: &[Value]) -> Result<RawReply, CallError> {
        super::read(
            &Run::of_events(code, lines),
            &Asked::example(&crate::copilot::ABOUT, "1.0.102", ""),
        )
    }

    // All as 1.0.102 prints them.
    fn start(server: &str) -> Value {
        json!({"type": "session.mcp_servers_loaded", "data": {"servers": [
            {"name": "github-mcp-server", "status": "disabled"}, {"name": "own", "status": server}]}})
    }

    fn message(content: &Value, tools: &Value) -> Value {
        json!({"type": "assistant.message", "data": {"messageId": "0094", "model": "fake-model",
            "content": content, "toolRequests": tools}})
    }

    fn end(code: i32) -> Value {
        json!({"type": "result", "sessionId": "b5c1", "exitCode": code,
            "usage": {"premiumRequests": 0, "totalApiDurationMs": 149}})
    }

    #[test]
    fn a_reply() {
        let reply = read_run(
            0,
            &[
                start("disabled"),
                message(&json!("Paris"), &json!([])),
                end(0),
            ],
        )
        .unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.model.as_str()),
            ("Paris", "fake-model")
        );
        assert_eq!(reply.request_thousandths, 0);
    }

    #[test]
    fn premium_requests_are_counted_in_thousandths() {
        for (said, counted) in [
            (json!(1), 1_000),
            (json!(0.33), 330),
            (json!(7.5), 7_500),
            (json!(0.000_123), 0),
            (json!(-1), 0),
            (json!(1e300), 0),
            (json!("1"), 0),
            (json!(null), 0),
        ] {
            let mut end = end(0);
            end["usage"]["premiumRequests"] = said.clone();
            let lines = [message(&json!("Paris"), &json!([])), end];
            let reply = read_run(0, &lines).unwrap();
            assert_eq!(reply.request_thousandths, counted, "{said}");
            let failed = Run::of_events(1, &[message(&json!(" "), &json!([])), lines[1].clone()]);
            assert_eq!(billed_for(&failed), counted, "{said}");
        }
    }

    #[test]
    fn what_is_no_reply() {
        let error = |status: u16, kind: &str, text: &str| json!({"type": "session.error", "data": {"errorType": kind, "message": text, "statusCode": status}});
        let paris = message(&json!("Paris"), &json!([]));
        for (code, lines, expected) in [
            (
                1,
                vec![
                    error(401, "authentication", "Authentication failed"),
                    end(1),
                ],
                "sign_in_needed",
            ),
            (
                1,
                vec![
                    error(404, "query", "Model 'x' not found on provider"),
                    end(1),
                ],
                "backend_misconfigured",
            ),
            (
                1,
                vec![error(402, "query", "402 Insufficient credits"), end(1)],
                "quota_exhausted",
            ),
            (
                1,
                vec![
                    error(
                        429,
                        "rate_limit",
                        "Last error: 429 Please try again in 20s.",
                    ),
                    end(1),
                ],
                "rate_limited",
            ),
            (
                1,
                vec![
                    error(
                        429,
                        "rate_limit",
                        "Last error: 429 You exceeded your current quota",
                    ),
                    end(1),
                ],
                "quota_exhausted",
            ),
            (
                1,
                vec![error(503, "query", "Last error: 503 Overloaded"), end(1)],
                "model_unavailable",
            ),
            (
                1,
                vec![
                    json!({"type": "session.error", "data": {"errorType": "query", "message": "No response was returned. Send your message again to retry."}}),
                    end(1),
                ],
                "reply_unreadable",
            ),
            (
                1,
                vec![
                    json!({"type": "session.error", "data": {"errorType": "query", "message": "The provider rejected the prompt as too long, but automatic recovery could not reduce it."}}),
                    end(1),
                ],
                "context_overflow",
            ),
            (
                0,
                vec![start("failed"), paris.clone(), end(0)],
                "backend_misconfigured",
            ),
            (
                0,
                vec![message(&json!(""), &json!([{"name": "bash"}])), end(0)],
                "backend_misconfigured",
            ),
            (
                0,
                vec![message(&json!(7), &json!([])), end(0)],
                "backend_misconfigured",
            ),
            (
                0,
                vec![message(&json!(" "), &json!([])), end(0)],
                "reply_unreadable",
            ),
            (0, vec![paris.clone(), end(1)], "model_unavailable"),
            (1, vec![paris.clone(), end(0)], "model_unavailable"),
            (0, vec![paris], "backend_misconfigured"),
        ] {
            assert_eq!(
                read_run(code, &lines).unwrap_err().code(),
                expected,
                "{lines:?}"
            );
        }
    }
}
