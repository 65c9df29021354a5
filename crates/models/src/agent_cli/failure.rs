//! What an agent says where a reply should be.
//!
//! Structured signs come first (exit code, error flag, HTTP status, the word for an error), short
//! exact notices second, and words inside a long answer never.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::tz::TimeZone;
use regex::Regex;
use skillopt_core::Instant;
use skillopt_core::text::{cut, one_line};
use skillopt_core::tool::Tool;

use super::{About, SignIn, exit_words};
use crate::error::CallError;
use crate::limit_notice::{self, Evidence, LimitNotice};
use crate::process::Run;

/// Longer texts are answers, not notices.
const LONGEST_NOTICE: usize = 300;
/// How much of what was said is shown.
const SHOWN: usize = 200;

/// Whom a run asked, for words and times.
pub(crate) struct Asked<'a> {
    pub(crate) about: &'static About,
    pub(crate) version: &'a str,
    pub(crate) model: &'a str,
    pub(crate) now: Instant,
    pub(crate) zone: &'a TimeZone,
    pub(crate) sign_in: &'a SignIn,
    /// The tools that it was offered.
    pub(crate) tools: &'a [Tool],
}

/// A failure, as far as an agent describes it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Failure<'a> {
    /// The HTTP status, when it is said apart.
    pub(crate) status: Option<u64>,
    /// The agent's or the provider's word for it: `rate_limit`, `authentication`, …
    pub(crate) word: &'a str,
    /// What is said to people.
    pub(crate) text: &'a str,
}

/// "unexpected status 401 Unauthorized: …", "HTTP 404", "503 Overloaded".
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:\A\s*(?:error:\s*)?|\bstatus(?: code)?:?\s+|\bHTTP[ /])(?P<status>[45]\d\d)\b",
    )
    .expect("a fixed pattern")
});

/// Said with a failure, what makes it a prompt that is too long.
static TOO_LONG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bcontext[ _](?:window|length)\b|\bprompt\b.{0,20}\btoo long\b|\bmaximum context\b|\btoo many (?:input )?tokens\b|\binput is too long\b")
        .expect("a fixed pattern")
});

/// Said with a failure, what makes it a model that the account does not have.
static NO_MODEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bmodel\b.{0,80}\b(?:not found|does not exist|is not supported|not available|is unknown)\b|\b(?:unknown|invalid) model\b|\bcannot use this model\b|\bmodel_not_found\b|\bmodel not found\b|\b(?:no access to|not have access to|may not use|not allowed to use)\b.{0,30}\bmodel\b|ProviderModelNotFound")
        .expect("a fixed pattern")
});

/// Said with a failure, what makes it a refusal to answer.
static FILTERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bcontent[ _-]?filter(?:ing)?\b|\bflagged\b|\bcontent[ _](?:management )?policy\b|\busage polic(?:y|ies)\b|\bpolicy violation\b|\binvalid_prompt\b|\bdata_inspection_failed\b")
        .expect("a fixed pattern")
});

/// Said with a failure, what makes it a program that is too old for the service.
static OUTDATED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\brequires a newer version\b|\bplease (?:update|upgrade) (?:to|the|your)\b[^.]{0,40}\bversion\b|\bversion is no longer supported\b")
        .expect("a fixed pattern")
});

/// Said by one that reads keys from a terminal: Ink (Claude Code, Copilot, Codex of old), Docker and
/// those who ask the system themselves.
static NO_TERMINAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\braw mode is not supported\b|\bnot a (?:tty|terminal)\b|\b(?:requires|needs) (?:a|an interactive) (?:tty|terminal)\b|\bsetRawMode is not a function\b|\binappropriate ioctl for device\b")
        .expect("a fixed pattern")
});

/// "Please try again in 20s", "retry after 1.5 seconds".
static WAIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:again|retry)\s+(?:in|after)\s+(?P<number>\d{1,5}(?:\.\d+)?)\s*(?P<unit>ms|s|sec|seconds?|m|min|minutes?)\b")
        .expect("a fixed pattern")
});

impl Asked<'_> {
    pub(crate) fn provider(&self) -> String {
        self.about.kind.to_owned()
    }

    /// A short piece of `text` for a person, without the key.
    pub(crate) fn excerpt(&self, text: &str) -> String {
        let line: String = one_line(&self.sign_in.hide(text))
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        cut(&line, SHOWN)
    }

    pub(crate) fn unavailable(&self, detail: String, sent: bool) -> CallError {
        CallError::Unavailable {
            provider: self.provider(),
            detail,
            sent,
        }
    }

    pub(crate) fn misconfigured(&self, detail: String, guidance: impl Into<String>) -> CallError {
        CallError::Misconfigured {
            provider: self.provider(),
            detail,
            guidance: guidance.into(),
        }
    }

    pub(crate) fn sign_in_needed(&self, text: &str) -> CallError {
        CallError::SignInNeeded {
            provider: self.provider(),
            detail: self.excerpt(text),
        }
    }

    pub(crate) fn exhausted(&self, limit: &LimitNotice, text: &str) -> CallError {
        CallError::QuotaExhausted {
            provider: self.provider(),
            until: limit.until,
            detail: self.excerpt(text),
        }
    }

    fn limit(&self, text: &str, evidence: Evidence) -> Option<LimitNotice> {
        limit_notice::read(text, evidence, self.now, self.zone)
    }

    /// Something other than a reply in the form that this version of ours knows.
    pub(crate) fn changed_format(&self) -> CallError {
        self.misconfigured(
            format!(
                "{} {} printed something other than the expected result",
                self.about.title, self.version
            ),
            format!(
                "Update SkillOpt, or set {} to a version it knows.",
                self.about.path_setting
            ),
        )
    }

    /// Tools or tool servers took part although none was wanted.
    pub(crate) fn not_alone(&self, what: &str) -> CallError {
        self.misconfigured(
            format!(
                "{} {} kept {what} although it was started without",
                self.about.title, self.version
            ),
            format!(
                "{} Or use another backend: replies made with tools cannot be compared.",
                self.about.update
            ),
        )
    }

    /// A text that came with every sign of success: a notice of a limit or of a missing sign-in, or
    /// nothing; `None` when it is a reply.
    pub(crate) fn instead_of_a_reply(&self, text: &str) -> Option<CallError> {
        if let Some(limit) = self.limit(text, Evidence::None) {
            return Some(self.exhausted(&limit, text));
        }
        if is_sign_in_notice(text, Evidence::None) {
            return Some(self.sign_in_needed(text));
        }
        text.trim().is_empty().then(|| CallError::Unreadable {
            reason: "it is empty".into(),
        })
    }

    /// What a failure means.
    pub(crate) fn failed(&self, failure: &Failure<'_>) -> CallError {
        let Failure { status, word, text } = *failure;
        let status = status.or_else(|| status_in(text));
        let detail = self.excerpt(text);
        if let Some(limit) = self.limit(text, Evidence::Failure) {
            return self.exhausted(&limit, text);
        }
        if matches!(
            word,
            "usage_limit_reached"
                | "insufficient_quota"
                | "quota"
                | "quota_exceeded"
                | "billing_error"
        ) || status == Some(402)
        {
            return self.exhausted(
                &LimitNotice {
                    until: limit_notice::reset_time(text, self.now, self.zone),
                },
                text,
            );
        }
        if OUTDATED.is_match(text) {
            return self.misconfigured(
                format!(
                    "{} {} is too old ({detail})",
                    self.about.title, self.version
                ),
                self.about.update,
            );
        }
        let no_model = matches!(word, "model_not_found" | "ProviderModelNotFoundError")
            || NO_MODEL.is_match(text);
        if status == Some(404) || (no_model && !matches!(status, Some(401 | 429))) {
            let asked = if self.model.is_empty() {
                "its own model"
            } else {
                self.model
            };
            return self.misconfigured(
                format!("it cannot use {asked} ({detail})"),
                "Set models.model to a model of your plan, and sign in to its provider.",
            );
        }
        if matches!(status, Some(401 | 403))
            || matches!(
                word,
                "authentication"
                    | "authentication_failed"
                    | "authorization"
                    | "oauth_org_not_allowed"
                    | "invalid_api_key"
                    | "ProviderAuthError"
            )
            || is_sign_in_notice(text, Evidence::Failure)
        {
            return self.sign_in_needed(text);
        }
        if status == Some(413)
            || matches!(
                word,
                "prompt_too_long"
                    | "context_length_exceeded"
                    | "ContextOverflowError"
                    | "context_limit"
            )
            || (TOO_LONG.is_match(text) && !matches!(status, Some(429 | 500..)))
        {
            return CallError::ContextOverflow { detail };
        }
        if status == Some(429)
            || matches!(word, "rate_limit" | "rate_limit_exceeded" | "rate_limited")
        {
            return CallError::RateLimited {
                provider: self.provider(),
                retry_after: wait_in(text),
                detail,
            };
        }
        if matches!(word, "content_filter" | "refusal") || FILTERED.is_match(text) {
            return CallError::Refused { detail };
        }
        if matches!(word, "max_output_tokens" | "MessageOutputLengthError")
            || text.contains("max_output_tokens")
        {
            return CallError::Unreadable {
                reason: "it was cut at the token limit".into(),
            };
        }
        if matches!(status, Some(400 | 422)) {
            return self.misconfigured(
                format!(
                    "its service does not take the request of {} {} ({detail})",
                    self.about.title, self.version
                ),
                format!(
                    "Compare what it says with models.model and models.reasoning_effort. {}",
                    self.about.update
                ),
            );
        }
        let overloaded = matches!(status, Some(503 | 529));
        self.unavailable(detail, !overloaded)
    }

    /// What a run means that has printed events, but none that explains its end.
    pub(crate) fn broke_off(&self, run: &Run) -> CallError {
        self.without_result(
            &Run {
                code: run.code.map(|code| code.max(1)),
                output: Vec::new(),
                diagnostics: run.diagnostics.clone(),
            },
            true,
        )
    }

    /// What a run means that has printed no result: a crash, a refusal to start, another format.
    /// `begun` says whether it may have asked the model.
    pub(crate) fn without_result(&self, run: &Run, begun: bool) -> CallError {
        let evidence = if run.code == Some(0) {
            Evidence::None
        } else {
            Evidence::Failure
        };
        let printed = String::from_utf8_lossy(&run.output);
        let printed = printed.trim();
        let complained = String::from_utf8_lossy(&run.diagnostics);
        let complained = complained.trim();
        // What is printed instead of JSON, on either channel.
        for text in [printed, complained] {
            if let Some(limit) = self.limit(text, evidence) {
                return self.exhausted(&limit, text);
            }
            if is_sign_in_notice(text, evidence) {
                return self.sign_in_needed(text);
            }
        }
        // Events of a run that has begun are for us to read, not for a person.
        let said = if complained.is_empty() && !begun {
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
            return self.changed_format();
        }
        if is_unknown_option(complained) || is_unknown_option(printed) {
            return self.misconfigured(
                format!(
                    "{} {} does not know an option it was started with ({})",
                    self.about.title,
                    self.version,
                    self.excerpt(said)
                ),
                self.about.update,
            );
        }
        // A short notice; a reply that was broken off may be about terminals.
        if !begun && said.len() <= LONGEST_NOTICE && NO_TERMINAL.is_match(said) {
            return self.misconfigured(
                format!(
                    "{} {} wants a terminal ({})",
                    self.about.title,
                    self.version,
                    self.excerpt(said)
                ),
                format!(
                    "Set {} to the program itself if it is a wrapper. {}",
                    self.about.path_setting, self.about.update
                ),
            );
        }
        if OUTDATED.is_match(said) || NO_MODEL.is_match(said) || status_in(said).is_some() {
            return self.failed(&Failure {
                text: said,
                ..Failure::default()
            });
        }
        let ended = exit_words(run.code);
        let detail = match self.excerpt(said).as_str() {
            "" if begun => format!("it ended with {ended} in the middle of its reply"),
            "" => format!("it ended with {ended} and said nothing"),
            said => format!("it ended with {ended}: {said}"),
        };
        self.unavailable(detail, begun)
    }
}

fn status_in(text: &str) -> Option<u64> {
    STATUS.captures(text)?.name("status")?.as_str().parse().ok()
}

fn wait_in(text: &str) -> Option<Duration> {
    let found = WAIT.captures(text)?;
    let number: f64 = found.name("number")?.as_str().parse().ok()?;
    let unit = match found.name("unit")?.as_str().to_ascii_lowercase().as_str() {
        "ms" => 0.001,
        minutes if minutes.starts_with('m') => 60.0,
        _ => 1.0,
    };
    Duration::try_from_secs_f64(number * unit).ok()
}

/// Whether a short text says that an option is not known, in the words of the usual parsers.
fn is_unknown_option(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "unknown option",
        "unexpected argument",
        "unrecognized option",
        "unrecognized argument",
        "Unknown argument",
        "Unknown feature flag",
        "unknown configuration field",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

/// Whether a text is the notice that nobody is signed in. Without a sign of failure it has to be
/// nothing but that notice.
pub(crate) fn is_sign_in_notice(text: &str, evidence: Evidence) -> bool {
    const NOTICES: &[&str] = &[
        "Not logged in",
        "Not authenticated",
        "Please run /login",
        "Please log out and sign in",
        "Please log in",
        "Invalid API key",
        "Invalid auth token",
        "Invalid bearer token",
        "Authentication required",
        "Error: Authentication required",
        "Login expired",
        "Login reached its time limit",
        "OAuth token revoked",
        "OAuth token has expired",
        "Unauthorized: invalid x-api-key",
        "Failed to authenticate",
        "Your session has expired. Please run /login",
        "Session expired. Please run /login",
        "Missing API key",
        "No API key found",
        "No models available",
        "Error: No authentication information found",
        "No authentication information found",
        "Your access token could not be refreshed",
        "Failed to refresh token",
        "Provided authentication token is expired",
    ];
    let text = text.trim();
    if evidence == Evidence::None && text.len() > LONGEST_NOTICE {
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
