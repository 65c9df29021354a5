//! Reading what a `claude` process has printed.
//!
//! Structured signs come first (exit code, error flag, HTTP status, limit events), short exact
//! notices second, and words inside a long answer never. `subtype` is not a sign: Claude Code
//! 2.1.332 says "success" of a call that the server refused.

use jiff::tz::TimeZone;
use serde_json::Value;
use skillopt_core::Instant;
use skillopt_core::text::{cut, one_line};

use super::exit_words;
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::limit_notice::{self, Evidence, LimitNotice};
use crate::process::Run;

/// Longer texts are answers, not notices.
const LONGEST_NOTICE: usize = 300;
/// How much of what was said is shown.
const SHOWN: usize = 200;

/// Whom a run asked, for words and times.
pub(super) struct Asked<'a> {
    pub(super) provider: &'a str,
    pub(super) version: &'a str,
    pub(super) model: &'a str,
    pub(super) now: Instant,
    pub(super) zone: &'a TimeZone,
    /// Takes the key out of a text that is to be shown.
    pub(super) hide: &'a dyn Fn(&str) -> String,
}

impl Asked<'_> {
    fn excerpt(&self, text: &str) -> String {
        let line: String = one_line(&(self.hide)(text))
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        cut(&line, SHOWN)
    }

    fn unavailable(&self, detail: String, sent: bool) -> CallError {
        CallError::Unavailable {
            provider: self.provider.to_owned(),
            detail,
            sent,
        }
    }

    fn misconfigured(&self, detail: String, guidance: &str) -> CallError {
        CallError::Misconfigured {
            provider: self.provider.to_owned(),
            detail,
            guidance: guidance.to_owned(),
        }
    }

    fn sign_in(&self, text: &str) -> CallError {
        CallError::SignInNeeded {
            provider: self.provider.to_owned(),
            detail: self.excerpt(text),
        }
    }

    fn exhausted(&self, limit: &LimitNotice, text: &str) -> CallError {
        CallError::QuotaExhausted {
            provider: self.provider.to_owned(),
            until: limit.until,
            detail: self.excerpt(text),
        }
    }

    fn limit(&self, text: &str, evidence: Evidence) -> Option<LimitNotice> {
        limit_notice::read(text, evidence, self.now, self.zone)
    }
}

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let events = Events::read(printed.trim());
    let Some(result) = &events.result else {
        return Err(without_result(run, printed.trim(), &events, asked));
    };
    let text = result_text(result);
    let failed =
        run.code != Some(0) || result.get("is_error").and_then(Value::as_bool) == Some(true);
    if failed {
        return Err(failure(run, result, &events, &text, asked));
    }
    if let Some(limit) = asked.limit(&text, Evidence::None) {
        return Err(asked.exhausted(&limit, &text));
    }
    if is_sign_in_notice(&text, Evidence::None) {
        return Err(asked.sign_in(&text));
    }
    if let Some(kept) = events.kept() {
        return Err(asked.misconfigured(
            format!("Claude Code {} kept {kept} although it was started without", asked.version),
            "Update it with `claude update`, or use another backend: replies made with tools cannot be compared.",
        ));
    }
    if !result.get("result").is_some_and(Value::is_string) {
        return Err(changed_format(asked));
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
    if text.trim().is_empty() {
        return Err(CallError::Unreadable {
            reason: "it is empty".into(),
        });
    }
    Ok(RawReply {
        usage: usage(result),
        model: events.model(result).unwrap_or_default(),
        finish: match result.get("stop_reason").and_then(Value::as_str) {
            Some("max_tokens") => Finish::Length,
            _ => Finish::Done,
        },
        text,
    })
}

/// What matters of the printed events.
#[derive(Debug, Default)]
struct Events {
    result: Option<Value>,
    init: Option<Value>,
    /// `rate_limit_info` of the last event that says that a request was rejected.
    rejected: Option<Value>,
    /// `error` of the last synthetic reply: `rate_limit`, `authentication_failed`, …
    error: Option<String>,
    refused: bool,
    any: bool,
}

impl Events {
    /// Reads one object, a list of them, or one on each line; what is none is passed over.
    fn read(printed: &str) -> Self {
        let mut events = Self::default();
        match serde_json::from_str::<Value>(printed) {
            Ok(Value::Array(list)) => list.into_iter().for_each(|event| events.take(event)),
            Ok(event) => events.take(event),
            Err(_) => {
                for line in printed.lines() {
                    if let Ok(event) = serde_json::from_str(line.trim()) {
                        events.take(event);
                    }
                }
            }
        }
        events
    }

    fn take(&mut self, event: Value) {
        let word = |name: &str| event.get(name).and_then(Value::as_str);
        if !event.is_object() {
            return;
        }
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
    let provider = asked.provider.to_owned();

    // A rejection that names its limit is a plan that is used up; a plain 429 is a busy server.
    let event = events.rejected.as_ref().and_then(|info| {
        let until = info.get("resetsAt").and_then(Value::as_i64)?;
        Some(LimitNotice {
            until: Instant::from_second(until)
                .ok()
                .filter(|until| *until > asked.now),
        })
    });
    if let Some(limit) = event.or_else(|| asked.limit(text, Evidence::Failure)) {
        return asked.exhausted(&limit, text);
    }
    if matches!(status, Some(401 | 403))
        || matches!(error, "authentication_failed" | "oauth_org_not_allowed")
        || is_sign_in_notice(text, Evidence::Failure)
    {
        return asked.sign_in(text);
    }
    if status == Some(402) || error == "billing_error" {
        return asked.exhausted(&LimitNotice { until: None }, text);
    }
    if status == Some(404) || error == "model_not_found" {
        return asked.misconfigured(
            format!("it does not have the model {} ({detail})", asked.model),
            "Set models.model to a model of your plan, for example sonnet.",
        );
    }
    if status == Some(413) || ended == "prompt_too_long" || text.starts_with("Prompt is too long") {
        return CallError::ContextOverflow { detail };
    }
    if status == Some(429) || error == "rate_limit" {
        return CallError::RateLimited {
            provider,
            retry_after: None,
            detail,
        };
    }
    if events.refused {
        return CallError::Refused { detail };
    }
    if error == "max_output_tokens" {
        return CallError::Unreadable {
            reason: "it was cut at the token limit".into(),
        };
    }
    if matches!(status, Some(400 | 422)) {
        return CallError::Refused { detail };
    }
    let overloaded = matches!(status, Some(503 | 529));
    asked.unavailable(detail, !overloaded)
}

/// What a run means that has printed no result: crashes, refusals to start, other formats.
fn without_result(run: &Run, printed: &str, events: &Events, asked: &Asked<'_>) -> CallError {
    let evidence = if run.code == Some(0) {
        Evidence::None
    } else {
        Evidence::Failure
    };
    let complained = String::from_utf8_lossy(&run.diagnostics);
    let complained = complained.trim();
    // What an old version prints instead of JSON, on either channel.
    for text in [printed, complained] {
        if let Some(limit) = asked.limit(text, evidence) {
            return asked.exhausted(&limit, text);
        }
        if is_sign_in_notice(text, evidence) {
            return asked.sign_in(text);
        }
    }
    let shown = if complained.is_empty() {
        printed
    } else {
        complained
    };
    if run.code == Some(0) {
        if printed.is_empty() {
            return CallError::Unreadable {
                reason: "it is empty".into(),
            };
        }
        return changed_format(asked);
    }
    if complained.contains("unknown option") {
        return asked.misconfigured(
            format!(
                "Claude Code {} does not know an option it was started with ({})",
                asked.version,
                asked.excerpt(complained)
            ),
            "Update it with `claude update`.",
        );
    }
    asked.unavailable(
        format!(
            "it ended with {}: {}",
            exit_words(run.code),
            asked.excerpt(shown)
        ),
        // Once it has told what it starts with, it may have asked the model.
        events.any,
    )
}

fn changed_format(asked: &Asked<'_>) -> CallError {
    asked.misconfigured(
        format!(
            "Claude Code {} printed something other than the expected result",
            asked.version
        ),
        "Update SkillOpt, or set models.claude_path to a version it knows.",
    )
}

/// Whether a text is the notice that nobody is signed in. Without a sign of failure it has to be
/// nothing but that notice.
fn is_sign_in_notice(text: &str, evidence: Evidence) -> bool {
    const NOTICES: &[&str] = &[
        "Not logged in",
        "Please run /login",
        "Invalid API key",
        "Invalid auth token",
        "Invalid bearer token",
        "Authentication required",
        "Login expired",
        "Login reached its time limit",
        "OAuth token revoked",
        "OAuth token has expired",
        "Unauthorized: invalid x-api-key",
        "Failed to authenticate",
        "Your session has expired. Please run /login",
        "Session expired. Please run /login",
        "Missing API key",
    ];
    let text = text.trim();
    if text.len() > LONGEST_NOTICE {
        return false;
    }
    NOTICES.iter().any(|notice| {
        text.strip_prefix(notice)
            .is_some_and(|rest| match evidence {
                Evidence::Failure => true,
                // "Not logged in · Please run /login"
                Evidence::None => {
                    rest.is_empty()
                        || rest == "."
                        || (rest.starts_with(" · ")
                            && rest.chars().count() <= 60
                            && !rest.contains('\n'))
                }
            })
    })
}

#[cfg(test)]
mod tests;
