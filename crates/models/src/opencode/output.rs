//! Reading what `opencode run --format json` has printed.

use serde_json::{Map, Value};
use skillopt_core::text::{cut, one_line};
use skillopt_core::tool::{Tool, ToolReply};

use super::tools;
use crate::agent_cli::events;
use crate::agent_cli::failure::{Asked, Failure};
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::process::Run;

/// What matters of the printed events.
#[derive(Debug, Default)]
struct Events {
    texts: Vec<String>,
    error: Option<Map<String, Value>>,
    /// The last step that ended.
    finished: Option<Map<String, Value>>,
    /// A tool of the program's own that ran.
    foreign: Option<String>,
    /// The tools of ours that ran, as their task names them.
    answered: Vec<String>,
    input: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    begun: bool,
}

impl Events {
    fn read(printed: &str, offered: &[Tool]) -> Self {
        let mut read = Self::default();
        for event in events::objects(printed) {
            match events::text(&event, &["type"]) {
                "step_start" => {
                    read.begun = true;
                    let before = read.finished.take();
                    if before.is_some_and(|step| tools::were_called(&step)) {
                        // What was said before a call is not the answer.
                        read.texts.clear();
                    }
                }
                "text" => read
                    .texts
                    .push(events::text(&event, &["part", "text"]).to_owned()),
                "tool_use" => read.tool(&event, offered),
                "step_finish" => read.finish(event),
                "error" => read.error = Some(event),
                _ => {}
            }
        }
        read
    }

    /// A tool that was used, or one that there is not and that the model was told so about.
    fn tool(&mut self, event: &Map<String, Value>, offered: &[Tool]) {
        let name = events::text(event, &["part", "tool"]);
        let failed = events::text(event, &["part", "state", "status"]) == "error";
        match (tools::offered(offered, name), failed) {
            (Some(tool), false) => self.answered.push(tool.name.clone()),
            (Some(_), true) => {}
            (None, true) if !offered.is_empty() => {}
            (None, _) => self.foreign = Some(cut(&one_line(name), 40)),
        }
    }

    fn finish(&mut self, event: Map<String, Value>) {
        let sum = |parts: &[&[&str]]| {
            let counts: Vec<u64> = parts
                .iter()
                .filter_map(|part| events::number(&event, &[&["part", "tokens"], *part].concat()))
                .collect();
            (!counts.is_empty())
                .then(|| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)))
        };
        let more = |before: Option<u64>, now: Option<u64>| match (before, now) {
            (Some(before), Some(now)) => Some(before.saturating_add(now)),
            (before, now) => now.or(before),
        };
        // The kinds are disjoint.
        self.input = more(
            self.input,
            sum(&[&["input"], &["cache", "read"], &["cache", "write"]]),
        );
        self.cached = more(self.cached, sum(&[&["cache", "read"]]));
        self.output = more(self.output, sum(&[&["output"], &["reasoning"]]));
        self.finished = Some(event);
    }
}

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let events = Events::read(&printed, asked.tools);
    if let Some(error) = &events.error {
        let said = events::text(error, &["error", "data", "message"]);
        let word = events::text(error, &["error", "name"]);
        let log = String::from_utf8_lossy(&run.diagnostics);
        let said = match logged(&log) {
            Some(logged) if word == "UnknownError" => logged,
            _ => said,
        };
        let status = events::number(error, &["error", "data", "statusCode"]);
        let refuses = matches!(status, Some(400 | 404 | 422)) && said.contains("tool");
        if refuses && !asked.tools.is_empty() {
            return Err(CallError::Misconfigured {
                provider: asked.about.kind.to_owned(),
                detail: format!(
                    "its model does not take the tools of a replay ({})",
                    asked.excerpt(said)
                ),
                guidance: "Set replays.tools to false, or use a model that takes tools.".to_owned(),
            });
        }
        return Err(asked.failed(&Failure {
            status,
            word,
            text: if said.is_empty() { word } else { said },
        }));
    }
    let Some(finished) = events.finished.as_ref().filter(|_| run.code == Some(0)) else {
        return Err(match run.code {
            Some(0) if events.begun => asked.changed_format(),
            _ if events.begun => asked.broke_off(run),
            _ => asked.without_result(run, false),
        });
    };
    if let Some(tool) = &events.foreign {
        return Err(asked.not_alone(&format!("the tool {tool}")));
    }
    let text = events.texts.join("\n");
    let reason = events::text(finished, &["part", "reason"]);
    match reason {
        "content-filter" => {
            return Err(CallError::Refused {
                detail: asked.excerpt(&text),
            });
        }
        // What a stream ends with that was cut.
        "unknown" | "error" | "other" => {
            return Err(asked.unavailable("its reply was cut".to_owned(), true));
        }
        _ => {}
    }
    if let Some(error) = asked.instead_of_a_reply(&text) {
        return Err(error);
    }
    let finish = match reason {
        "length" => Finish::Length,
        _ => Finish::Done,
    };
    let text = if asked.tools.is_empty() {
        text
    } else {
        ToolReply {
            text,
            calls: Vec::new(),
            answered: events.answered,
        }
        .to_json()
    };
    Ok(RawReply {
        text,
        usage: Usage {
            input_tokens: events.input,
            cached_tokens: events.cached,
            output_tokens: events.output,
        },
        // It does not say which model answered.
        model: String::new(),
        finish,
        ..RawReply::default()
    })
}

/// The last error in its log: `… level=ERROR … error="ProviderModelNotFoundError: …" cause="…`
fn logged(log: &str) -> Option<&str> {
    let line = log.lines().rfind(|line| line.contains(" level=ERROR "))?;
    let (_, error) = line.split_once(" error=\"")?;
    error.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_ran_of_the_tools_that_were_offered_is_told_and_a_foreign_one_is_no_reply() {
        let offered = [Tool::new("ci.status", "green")];
        let used = |name: &str, status: &str| {
            event(
                "tool_use",
                &json!({"type": "tool", "tool": name, "state": {"status": status, "input": {}}}),
            )
        };
        let read = |tools: &[Value]| {
            let mut lines = vec![start()];
            lines.extend_from_slice(tools);
            lines.extend([text("Let me look."), finish("tool-calls")]);
            lines.extend([start(), text("It is green."), finish("stop")]);
            super::read(
                &Run::of_events(0, &lines),
                &Asked {
                    tools: &offered,
                    ..Asked::example(&crate::opencode::ABOUT, "1.18.33", "fake/fake-model")
                },
            )
        };
        let reply = read(&[
            used("rm", "error"),
            used("ci.status", "error"),
            used("tool1_ci_status", "completed"),
        ])
        .unwrap();
        let said = ToolReply::from_json(&reply.text).unwrap();
        assert_eq!((said.text.as_str(), said.calls.len()), ("It is green.", 0));
        assert_eq!(said.answered, ["ci.status"]);
        assert_eq!(
            (reply.usage.input_tokens, reply.usage.output_tokens),
            (Some(200), Some(14)),
            "of every request"
        );
        let foreign = read(&[used("bash", "completed")]).unwrap_err();
        assert_eq!(foreign.code(), "backend_misconfigured");
        assert!(foreign.to_string().contains("bash"), "{foreign}");
        let refused = read(&[json!({"type": "error", "error": {"name": "APIError",
            "data": {"message": "No endpoints found that support tool use.", "statusCode": 404}}})]);
        let refused = refused.unwrap_err().problem();
        assert!(refused.guidance.contains("replays.tools"), "{refused:?}");
    }

    fn read_run(code: i32, lines: &[Value]) -> Result<RawReply, CallError> {
        super::read(
            &Run::of_events(code, lines),
            &Asked::example(&crate::opencode::ABOUT, "1.18.33", "fake/fake-model"),
        )
    }

    // All as 1.18.33 prints them.
    fn event(kind: &str, part: &Value) -> Value {
        json!({"type": kind, "timestamp": 1_795_989_225_678_u64, "sessionID": "ses_1", "part": part})
    }

    fn start() -> Value {
        event("step_start", &json!({"type": "step-start"}))
    }

    fn text(text: &str) -> Value {
        event("text", &json!({"type": "text", "text": text}))
    }

    fn finish(reason: &str) -> Value {
        event(
            "step_finish",
            &json!({"type": "step-finish", "reason": reason, "cost": 0,
                "tokens": {"total": 105, "input": 60, "output": 5, "reasoning": 2, "cache": {"write": 0, "read": 40}}}),
        )
    }

    #[test]
    fn a_reply_and_what_it_used() {
        let reply = read_run(0, &[start(), text("Par"), text("is"), finish("length")]).unwrap();
        assert_eq!(reply.text, "Par\nis");
        assert_eq!(
            (
                reply.usage.input_tokens,
                reply.usage.cached_tokens,
                reply.usage.output_tokens
            ),
            (Some(100), Some(40), Some(7))
        );
        assert_eq!(reply.finish, Finish::Length);
    }

    #[test]
    fn what_is_called_unknown_is_in_the_log() {
        let log = r#"timestamp=2026-11-29T22:23:48.786Z level=ERROR run=f4 message=failed error="ProviderModelNotFoundError: Model not found: fake/nomodel." cause="x"
"#;
        assert_eq!(
            logged(log),
            Some("ProviderModelNotFoundError: Model not found: fake/nomodel.")
        );
        assert_eq!(logged("level=ERROR"), None);
    }

    #[test]
    fn what_is_no_reply() {
        let error = |name: &str, status: Option<u16>, message: &str| {
            json!({"type": "error", "sessionID": "ses_1", "error": {"name": name,
                "data": {"message": message, "statusCode": status}}})
        };
        let tool = event("tool_use", &json!({"type": "tool", "tool": "bash"}));
        for (code, lines, expected) in [
            (
                1,
                vec![error(
                    "APIError",
                    Some(401),
                    "Incorrect API key provided: sk-xxx.",
                )],
                "sign_in_needed",
            ),
            (
                1,
                vec![error("ProviderAuthError", None, "x")],
                "sign_in_needed",
            ),
            (
                1,
                vec![error(
                    "APIError",
                    Some(404),
                    "The model `fake` does not exist",
                )],
                "backend_misconfigured",
            ),
            (
                1,
                vec![error("APIError", Some(402), "Insufficient credits")],
                "quota_exhausted",
            ),
            (
                1,
                vec![error(
                    "APIError",
                    Some(429),
                    "Rate limit reached. Please try again in 20s.",
                )],
                "rate_limited",
            ),
            (
                1,
                vec![error("ContextOverflowError", None, "x")],
                "context_overflow",
            ),
            (
                1,
                vec![error(
                    "UnknownError",
                    None,
                    "Unexpected server error. Check server logs for details.",
                )],
                "model_unavailable",
            ),
            (0, vec![start(), finish("content-filter")], "reply_refused"),
            (0, vec![start(), finish("stop")], "reply_unreadable"),
            (0, vec![start(), text("Paris")], "backend_misconfigured"),
            (
                0,
                vec![
                    start(),
                    tool,
                    finish("tool-calls"),
                    start(),
                    text("Paris"),
                    finish("stop"),
                ],
                "backend_misconfigured",
            ),
            (
                1,
                vec![start(), text("Paris"), finish("stop")],
                "model_unavailable",
            ),
            (0, vec![], "reply_unreadable"),
        ] {
            assert_eq!(
                read_run(code, &lines).unwrap_err().code(),
                expected,
                "{lines:?}"
            );
        }
    }
}
