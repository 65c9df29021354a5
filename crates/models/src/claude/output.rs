//! Reading what a `claude` process has printed.
//!
//! Structured signs come first (exit code, error flag, HTTP status, limit events), short exact
//! notices second, and words inside a long answer never. `subtype` is not a sign: Claude Code
//! 2.1.332 says "success" of a call that the server refused.

use serde_json::Value;
use skillopt_core::Instant;
use skillopt_core::text::{cut, one_line};

use crate::agent_cli::failure::{Asked, Failure};
use crate::agent_cli::{events, exit_words};
use crate::allowance::Allowance;
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::limit_notice::LimitNotice;
use crate::process::Run;

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let events = Events::read(&printed);
    let Some(result) = &events.result else {
        // Once it has told what it starts with, it may have asked the model.
        return Err(asked.without_result(run, events.any));
    };
    let text = result_text(result);
    let failed =
        run.code != Some(0) || result.get("is_error").and_then(Value::as_bool) == Some(true);
    if failed {
        return Err(failure(run, result, &events, &text, asked));
    }
    let instead = asked.instead_of_a_reply(&text);
    if let Some(notice) = instead
        .clone()
        .filter(|error| !matches!(error, CallError::Unreadable { .. }))
    {
        return Err(notice);
    }
    if let Some(kept) = events.kept() {
        return Err(asked.not_alone(&kept));
    }
    if !result.get("result").is_some_and(Value::is_string) {
        return Err(asked.changed_format());
    }
    if result.get("num_turns").and_then(Value::as_u64) == Some(0) {
        return Err(asked.unavailable(
            format!(
                "it answered by itself without asking the model: {}",
                asked.excerpt(&text)
            ),
            false,
        ));
    }
    if events.refused {
        return Err(CallError::Refused {
            detail: asked.excerpt(&text),
        });
    }
    if let Some(empty) = instead {
        return Err(empty);
    }
    Ok(RawReply {
        usage: usage(result),
        model: events.model(result).unwrap_or_default(),
        finish: match result.get("stop_reason").and_then(Value::as_str) {
            Some("max_tokens") => Finish::Length,
            _ => Finish::Done,
        },
        text,
        allowance: events.allowance,
        ..RawReply::default()
    })
}

/// What matters of the printed events.
#[derive(Debug, Default)]
struct Events {
    result: Option<Value>,
    init: Option<Value>,
    /// `rate_limit_info` of the last event that says that a request was rejected.
    rejected: Option<Value>,
    /// What the last such event says is left.
    allowance: Option<Allowance>,
    /// `error` of the last synthetic reply: `rate_limit`, `authentication_failed`, …
    error: Option<String>,
    refused: bool,
    any: bool,
}

impl Events {
    fn read(printed: &str) -> Self {
        let mut events = Self::default();
        for event in events::objects(printed) {
            events.take(Value::Object(event));
        }
        events
    }

    fn take(&mut self, event: Value) {
        let word = |name: &str| event.get(name).and_then(Value::as_str);
        self.any = true;
        match word("type") {
            Some("result") => self.result = Some(event),
            Some("system") => match word("subtype") {
                Some("init") => self.init = Some(event),
                Some(kind) if kind.starts_with("model_refusal") => self.refused = true,
                _ => {}
            },
            Some("rate_limit_event") => {
                let info = event.get("rate_limit_info");
                self.allowance = info.and_then(allowance).or(self.allowance);
                self.rejected = info
                    .filter(|info| info.get("status").and_then(Value::as_str) == Some("rejected"))
                    .cloned();
            }
            Some("assistant") => {
                if let Some(error) = word("error") {
                    self.error = Some(error.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Tools or tool servers that took part although none was wanted.
    fn kept(&self) -> Option<String> {
        let names = |list: &str| -> Vec<String> {
            self.init
                .iter()
                .filter_map(|init| init.get(list).and_then(Value::as_array))
                .flatten()
                .filter_map(|item| {
                    item.as_str()
                        .or_else(|| item.get("name").and_then(Value::as_str))
                })
                .map(|name| cut(&one_line(name), 40))
                .take(5)
                .collect()
        };
        let tools = names("tools");
        let servers = names("mcp_servers");
        match (tools.is_empty(), servers.is_empty()) {
            (true, true) => None,
            (false, _) => Some(format!("the tools {}", tools.join(", "))),
            (true, false) => Some(format!("the tool servers {}", servers.join(", "))),
        }
    }

    /// The model that answered, by what it was billed for, else by what was started.
    fn model(&self, result: &Value) -> Option<String> {
        let written = |usage: &Value| usage.get("outputTokens").and_then(Value::as_u64);
        let billed = result
            .get("modelUsage")
            .and_then(Value::as_object)
            .and_then(|models| {
                models
                    .iter()
                    .max_by_key(|(_, usage)| written(usage).unwrap_or(0))
                    .map(|(name, _)| name.clone())
            });
        billed.or_else(|| {
            let init = self.init.as_ref()?;
            init.get("model").and_then(Value::as_str).map(str::to_owned)
        })
    }
}

/// What is left by a limit event: of the tightest of all windows, else of the one it is about.
fn allowance(info: &Value) -> Option<Allowance> {
    let window = |window: &Value| {
        let until = window
            .get("resetsAt")
            .and_then(Value::as_i64)
            .and_then(|second| Instant::from_second(second).ok());
        Allowance::after(window.get("utilization")?.as_f64()?, until)
    };
    let windows = info.get("unifiedWindows").and_then(Value::as_object);
    let all = windows.into_iter().flat_map(serde_json::Map::values);
    Allowance::tightest(all.filter_map(window).chain(window(info)))
}

fn result_text(result: &Value) -> String {
    if let Some(text) = result.get("result").and_then(Value::as_str) {
        return text.to_owned();
    }
    let errors = result.get("errors").and_then(Value::as_array);
    errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn usage(result: &Value) -> Usage {
    let count = |name: &str| {
        let usage = result.get("usage")?;
        usage.get(name).and_then(Value::as_u64)
    };
    // The three kinds of input are disjoint.
    let parts = [
        count("input_tokens"),
        count("cache_creation_input_tokens"),
        count("cache_read_input_tokens"),
    ];
    Usage {
        input_tokens: parts.iter().any(Option::is_some).then(|| {
            parts
                .iter()
                .flatten()
                .fold(0, |sum: u64, part| sum.saturating_add(*part))
        }),
        cached_tokens: count("cache_read_input_tokens"),
        output_tokens: count("output_tokens"),
    }
}

/// What a result means that is marked as an error, by itself or by the exit code.
fn failure(run: &Run, result: &Value, events: &Events, text: &str, asked: &Asked<'_>) -> CallError {
    let status = result.get("api_error_status").and_then(Value::as_u64);
    let ended = result
        .get("terminal_reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let error = events.error.as_deref().unwrap_or_default();
    let detail = if text.trim().is_empty() {
        let subtype = result.get("subtype").and_then(Value::as_str);
        format!(
            "it ended with {} ({})",
            exit_words(run.code),
            subtype.unwrap_or("no reason given")
        )
    } else {
        asked.excerpt(text)
    };
    // A rejection that names its limit is a plan that is used up; a plain 429 is a busy server.
    let event = events.rejected.as_ref().and_then(|info| {
        let until = info.get("resetsAt").and_then(Value::as_i64)?;
        Some(LimitNotice {
            until: Instant::from_second(until)
                .ok()
                .filter(|until| *until > asked.now),
        })
    });
    if let Some(limit) = event {
        return asked.exhausted(&limit, text);
    }
    let word = match (error, ended) {
        ("", "prompt_too_long") => ended,
        _ => error,
    };
    let failed = asked.failed(&Failure { status, word, text });
    match failed {
        // Nothing else explains it.
        CallError::Unavailable { sent, .. } if events.refused && sent => {
            CallError::Refused { detail }
        }
        CallError::Unavailable { sent, .. } => asked.unavailable(detail, sent),
        other => other,
    }
}

#[cfg(test)]
mod tests;
