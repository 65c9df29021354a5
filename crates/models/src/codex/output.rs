//! Reading what `codex exec --json` has printed.

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
    /// The last message of the model; one before it would be about work with tools.
    reply: Option<String>,
    /// The turn has ended well.
    completed: Option<Map<String, Value>>,
    /// The last error that was said; warnings are none.
    error: Option<String>,
    /// A tool that was used.
    tool: Option<String>,
    any: bool,
}

impl Events {
    fn read(printed: &str) -> Self {
        let mut read = Self::default();
        for event in events::objects(printed) {
            match events::text(&event, &["type"]) {
                "thread.started" => read.any = true,
                "turn.completed" => read.completed = Some(event),
                "turn.failed" => {
                    read.error = Some(events::text(&event, &["error", "message"]).to_owned());
                }
                "error" => read.error = Some(events::text(&event, &["message"]).to_owned()),
                "item.started" | "item.updated" | "item.completed" => read.item(&event),
                _ => {}
            }
        }
        read
    }

    fn item(&mut self, event: &Map<String, Value>) {
        match events::text(event, &["item", "type"]) {
            "agent_message" => {
                self.reply = Some(events::text(event, &["item", "text"]).to_owned());
            }
            // A warning, for example about a model whose data it does not have.
            "error" | "reasoning" | "todo_list" => {}
            tool => self.tool = Some(cut(&one_line(tool), 40)),
        }
    }
}

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let events = Events::read(&printed);
    if !events.any {
        return Err(asked.without_result(run, false));
    }
    let Some(completed) = events.completed.filter(|_| run.code == Some(0)) else {
        return Err(match &events.error {
            Some(text) => asked.failed(&Failure {
                text,
                ..Failure::default()
            }),
            None if run.code == Some(0) => asked.changed_format(),
            None => asked.broke_off(run),
        });
    };
    if let Some(tool) = events.tool {
        return Err(asked.not_alone(&format!("the tool {tool}")));
    }
    let text = events.reply.unwrap_or_default();
    if let Some(error) = asked.instead_of_a_reply(&text) {
        return Err(error);
    }
    Ok(RawReply {
        text,
        usage: Usage {
            input_tokens: events::number(&completed, &["usage", "input_tokens"]),
            cached_tokens: events::number(&completed, &["usage", "cached_input_tokens"]),
            output_tokens: events::number(&completed, &["usage", "output_tokens"]),
        },
        // It does not say which model answered.
        model: String::new(),
        finish: Finish::Done,
        ..RawReply::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 0.171.0 prints them.
    const START: &str = r#"{"type":"thread.started","thread_id":"01a22944-6b11-7f50-abfd-92753f46dfd7"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `gpt-9` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."}}
{"type":"turn.started"}
"#;
    const MESSAGE: &str =
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Paris"}}"#;
    const END: &str = r#"{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":40,"cache_write_input_tokens":0,"output_tokens":5,"reasoning_output_tokens":0}}"#;

    fn read_run(code: i32, printed: &str) -> Result<RawReply, CallError> {
        super::read(
            &Run {
                code: Some(code),
                output: printed.into(),
                diagnostics: Vec::new(),
            },
            &Asked::example(&crate::codex::ABOUT, "0.171.0", ""),
        )
    }

    #[test]
    fn a_warning_before_a_reply_is_no_failure() {
        let reply = read_run(0, &format!("{START}{MESSAGE}\n{END}\n")).unwrap();
        assert_eq!(reply.text, "Paris");
        assert_eq!(
            (
                reply.usage.input_tokens,
                reply.usage.cached_tokens,
                reply.usage.output_tokens
            ),
            (Some(100), Some(40), Some(5))
        );
    }

    #[test]
    fn what_is_no_reply() {
        let failed = |message: &str| {
            format!(
                "{START}{{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (x)\"}}\n{}\n",
                serde_json::json!({"type": "turn.failed", "error": {"message": message}})
            )
        };
        let command = r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","exit_code":0}}"#;
        for (code, printed, expected) in [
            (
                1,
                failed("unexpected status 401 Unauthorized: x"),
                "sign_in_needed",
            ),
            (
                1,
                failed("exceeded retry limit, last status: 429 Too Many Requests"),
                "rate_limited",
            ),
            (
                1,
                failed("You've hit your usage limit. Try again at 11:47 PM."),
                "quota_exhausted",
            ),
            (
                0,
                failed("stream disconnected before completion"),
                "model_unavailable",
            ),
            (0, format!("{START}{END}\n"), "reply_unreadable"),
            (0, format!("{START}{MESSAGE}\n"), "backend_misconfigured"),
            (1, format!("{START}{MESSAGE}\n{END}\n"), "model_unavailable"),
            (
                0,
                format!("{START}{command}\n{MESSAGE}\n{END}\n"),
                "backend_misconfigured",
            ),
            (0, "Paris".to_owned(), "backend_misconfigured"),
            (
                1,
                "Error: Unknown feature flag: x".to_owned(),
                "backend_misconfigured",
            ),
        ] {
            assert_eq!(
                read_run(code, &printed).unwrap_err().code(),
                expected,
                "{printed}"
            );
        }
    }
}
