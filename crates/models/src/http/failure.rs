//! What an error of a server means.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use skillopt_core::Instant;
use skillopt_core::text::{cut, one_line};

use super::protocol::Protocol;
use super::said::Said;
use crate::api_key::ApiKey;
use crate::error::CallError;
use crate::limit_notice::{self, Evidence, reset_time};

/// A limit that is lifted sooner than this is a busy server, not a used-up plan.
const SHORT_QUOTA: SignedDuration = SignedDuration::from_secs(120);
/// How much of a server's words is shown.
const SHOWN: usize = 200;

/// Who was asked, for words and times.
pub(super) struct Asked<'a> {
    pub(super) provider: &'a str,
    pub(super) address: &'a str,
    pub(super) protocol: Protocol,
    pub(super) model: &'a str,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) now: Instant,
    pub(super) zone: &'a TimeZone,
}

impl Asked<'_> {
    /// A short piece of a server's words that is safe to show: one line, no control characters,
    /// never the key.
    pub(super) fn excerpt(&self, text: &str) -> String {
        let text = self
            .key
            .map_or_else(|| text.to_owned(), |key| key.hide(text));
        let visible: String = one_line(&text)
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        cut(&visible, SHOWN)
    }

    /// The status and a piece of the words.
    fn with_status(&self, status: StatusCode, said: &Said) -> String {
        let detail = format!("{} {}", status.as_u16(), self.excerpt(said.shown()));
        detail.trim_end().to_owned()
    }

    pub(super) fn unavailable(&self, detail: impl Into<String>, sent: bool) -> CallError {
        CallError::Unavailable {
            provider: self.provider.to_owned(),
            detail: detail.into(),
            sent,
        }
    }

    pub(super) fn misconfigured(
        &self,
        detail: impl Into<String>,
        guidance: impl Into<String>,
    ) -> CallError {
        CallError::Misconfigured {
            provider: self.provider.to_owned(),
            detail: detail.into(),
            guidance: guidance.into(),
        }
    }

    /// A usage limit, or a short wait when it is lifted at once.
    pub(super) fn limited(&self, until: Option<Instant>, detail: String) -> CallError {
        let provider = self.provider.to_owned();
        if let Some(until) = until {
            let wait = until.duration_since(self.now);
            if wait <= SHORT_QUOTA {
                return CallError::RateLimited {
                    provider,
                    retry_after: Some(wait.try_into().unwrap_or_default()),
                    detail,
                };
            }
        }
        CallError::QuotaExhausted {
            provider,
            until,
            detail,
        }
    }
}

/// What a response with an error status means. `headers` may be empty.
pub(super) fn meaning(
    status: StatusCode,
    headers: &HeaderMap,
    said: &Said,
    asked: &Asked<'_>,
) -> CallError {
    known(status, headers, said, asked).unwrap_or_else(|| not_taken(status, said, asked))
}

/// A request that the server does not take, for no reason that is known. What it complains of is the
/// same in every request that is made like this one.
pub(super) fn not_taken(status: StatusCode, said: &Said, asked: &Asked<'_>) -> CallError {
    asked.misconfigured(
        format!(
            "it does not take the request ({})",
            asked.with_status(status, said)
        ),
        "Compare what it says with models.endpoint, models.model and models.api; `skillopt backend test` shows whether it answers.",
    )
}

/// The same for the errors that are known; `None` for a request that it does not take for another
/// reason.
pub(super) fn known(
    status: StatusCode,
    headers: &HeaderMap,
    said: &Said,
    asked: &Asked<'_>,
) -> Option<CallError> {
    let words = said.everything().to_ascii_lowercase();
    let has = |known: &[&str]| known.iter().any(|word| words.contains(word));
    let detail = asked.with_status(status, said);
    let provider = asked.provider.to_owned();
    let wait = retry_after(headers, asked.now);

    if is_overflow(status, &words) {
        return Some(CallError::ContextOverflow { detail });
    }
    Some(match status.as_u16() {
        300..=399 => {
            let target = headers
                .get(LOCATION)
                .and_then(|to| to.to_str().ok())
                .and_then(|to| reqwest::Url::parse(asked.address).ok()?.join(to).ok());
            let target = target
                .as_ref()
                .and_then(reqwest::Url::host_str)
                .unwrap_or("another address");
            asked.misconfigured(
                format!(
                    "it redirects to {}, which is not followed so that neither key nor prompts go there",
                    asked.excerpt(target)
                ),
                "Set models.endpoint to the final address.",
            )
        }
        400 | 403 | 422 if has(FILTERED) => CallError::Refused { detail },
        451 => CallError::Refused { detail },
        403 if names_model(said, asked.model) => asked.misconfigured(
            format!(
                "this sign-in may not use the model {} ({detail})",
                asked.model
            ),
            "Set models.model to a model that your account may use, or have this one allowed for it.",
        ),
        401 | 403 => CallError::SignInNeeded { provider, detail },
        402 => asked.limited(reset_time(&said.message, asked.now, asked.zone), detail),
        400 | 422 if has(&["api key not valid", "api_key_invalid", "invalid_api_key"]) => {
            CallError::SignInNeeded { provider, detail }
        }
        400 | 404 | 422
            if has(&["model_not_found", "invalid model", "unknown model"])
                || (has(&["model"]) && has(&["not found", "does not exist", "not exist"])) =>
        {
            asked.misconfigured(
                format!("it does not have the model {} ({detail})", asked.model),
                "Set models.model to one of the names that `skillopt doctor` lists for this endpoint.",
            )
        }
        404 | 405 => asked.misconfigured(
            format!(
                "{} has no {} ({detail})",
                asked.address,
                asked.protocol.name()
            ),
            "Check models.endpoint: it is the base address, for example https://api.openai.com/v1.",
        ),
        408 | 409 | 425 => asked.unavailable(detail, false),
        429 => {
            let limit = limit_notice::read(&words, Evidence::Failure, asked.now, asked.zone);
            let named = reset_time(&said.message, asked.now, asked.zone);
            let waited = wait.and_then(|wait| asked.now.checked_add(wait).ok());
            if limit.is_some() {
                return Some(asked.limited(waited.or(named), detail));
            }
            CallError::RateLimited {
                provider,
                retry_after: wait.or_else(|| {
                    named.and_then(|at| at.duration_since(asked.now).try_into().ok())
                }),
                detail,
            }
        }
        503 | 529 if wait.is_some() => CallError::RateLimited {
            provider,
            retry_after: wait,
            detail,
        },
        503 | 529 => asked.unavailable(detail, false),
        500..=599 => asked.unavailable(detail, true),
        _ => return None,
    })
}

/// Said with a request that is not answered for what it holds: by OpenAI, Azure, Anthropic, Gemini,
/// Qwen (`data_inspection_failed`), MiniMax (`input new_sensitive`) and those who pass their words on.
const FILTERED: &[&str] = &[
    "content_filter",
    "content filter",
    "content-filter",
    "content_policy",
    "content policy",
    "content management policy",
    "responsibleai",
    "flagged",
    "moderation",
    "invalid_prompt",
    "usage polic",
    "safety_violation",
    "safety system",
    "prohibited_content",
    "data_inspection_failed",
    "datainspectionfailed",
    "inappropriate content",
    "new_sensitive",
];

/// Whether an error is about the model: it says its name, or the word as a word of its own. The scope
/// `model.request` that a key lacks is none.
fn names_model(said: &Said, model: &str) -> bool {
    let message = said.message.to_ascii_lowercase();
    let mut words = message
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':')))
        .map(|word| word.trim_matches(['.', ':']));
    let asked = model.to_ascii_lowercase();
    said.parameter == "model"
        || said.code.to_ascii_lowercase().starts_with("model_not_")
        || words.any(|word| word == "model" || (!word.is_empty() && word == asked))
}

/// Whether the request was too long, said by status or in the words of the usual servers.
fn is_overflow(status: StatusCode, words: &str) -> bool {
    status == StatusCode::PAYLOAD_TOO_LARGE
        || (status.is_client_error()
            && status != StatusCode::TOO_MANY_REQUESTS
            && [
                "context_length_exceeded",
                "maximum context length",
                "exceed_context_size",
                "exceeds the available context size",
                "context length",
                "context window",
                "prompt is too long",
                "input is too long",
                "too many input tokens",
                "string_above_max_length",
            ]
            .iter()
            .any(|known| words.contains(known)))
}

/// `Retry-After` in seconds or as a date, `retry-after-ms` before it.
fn retry_after(headers: &HeaderMap, now: Instant) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let seconds = |number: f64| Duration::try_from_secs_f64(number).ok();
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()) {
        return seconds(millis / 1000.0);
    }
    let value = text(RETRY_AFTER.as_str())?.trim();
    if let Ok(number) = value.parse::<f64>() {
        return seconds(number);
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    // A date that has passed means: now.
    Some(
        date.timestamp()
            .duration_since(now)
            .try_into()
            .unwrap_or_default(),
    )
}

/// What a transport error means. Its own words may hold an address, so they are not passed on.
pub(super) fn transport(error: &reqwest::Error, asked: &Asked<'_>) -> CallError {
    let address = asked.address;
    let mut source = std::error::Error::source(error);
    let mut chain = String::new();
    while let Some(cause) = source {
        if let Some(tls) = tls_cause(cause) {
            return tls_meaning(tls, asked);
        }
        if let Some(cause) = cause.downcast_ref::<std::io::Error>() {
            match cause.kind() {
                std::io::ErrorKind::ConnectionRefused => {
                    return asked.unavailable(
                        format!(
                            "The endpoint {address} refuses connections; is the server running?"
                        ),
                        false,
                    );
                }
                std::io::ErrorKind::NetworkUnreachable | std::io::ErrorKind::HostUnreachable => {
                    return asked.unavailable(format!("there is no way to {address}"), false);
                }
                _ => {}
            }
        }
        chain.push_str(&cause.to_string());
        chain.push(' ');
        source = cause.source();
    }
    let chain = chain.to_ascii_lowercase();
    if error.is_connect() && (chain.contains("dns") || chain.contains("lookup address")) {
        return asked.unavailable(
            format!("the name in {address} is not known to the network"),
            false,
        );
    }
    if error.is_connect() && chain.contains("tls") {
        return asked.unavailable(format!("no encrypted connection to {address}"), false);
    }
    if error.is_decode()
        && ["gzip", "deflate", "corrupt", "checksum"]
            .iter()
            .any(|word| chain.contains(word))
    {
        return asked.unavailable(
            format!("{address} sent a reply that cannot be unpacked"),
            true,
        );
    }
    if error.is_connect() {
        let why = if error.is_timeout() {
            ": no answer"
        } else {
            ""
        };
        return asked.unavailable(format!("no connection to {address}{why}"), false);
    }
    asked.unavailable(
        format!("{address} closed the connection before the reply was complete"),
        true,
    )
}

/// The TLS error that `cause` is or carries. Each layer below puts what it was given into an
/// [`std::io::Error`] of its own, whose `source` is not that error but the next one.
fn tls_cause<'a>(mut cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    loop {
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        cause = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
    }
}

fn tls_meaning(error: &rustls::Error, asked: &Asked<'_>) -> CallError {
    let address = asked.address;
    if let rustls::Error::InvalidCertificate(reason) = error {
        return asked.misconfigured(
            format!(
                "the certificate of {address} is not accepted ({})",
                asked.excerpt(&reason.to_string())
            ),
            "Check the certificate, the clock of this computer, and whether the network intercepts connections; a server on this computer can be reached by http://127.0.0.1.",
        );
    }
    asked.unavailable(
        format!(
            "no encrypted connection to {address} ({})",
            asked.excerpt(&error.to_string())
        ),
        false,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Scope;

    fn asked(zone: &TimeZone) -> Asked<'_> {
        Asked {
            provider: "openai_compatible:host",
            address: "https://host/v1",
            protocol: Protocol::Chat,
            model: "m",
            key: None,
            now: "2026-11-29T18:25:00Z".parse().unwrap(),
            zone,
        }
    }

    fn meaning_of(status: u16, headers: &[(&str, &str)], body: &str) -> CallError {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(
                reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        meaning(
            StatusCode::from_u16(status).unwrap(),
            &map,
            &Said::read(body),
            &asked(&TimeZone::UTC),
        )
    }

    #[test]
    fn a_model_that_is_not_allowed_is_no_missing_sign_in() {
        for (body, code) in [
            // OpenAI, for a project without it.
            (
                r#"{"error":{"message":"Project `proj_x` does not have access to model `gpt-9`","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
                "backend_misconfigured",
            ),
            // Amazon Bedrock.
            (
                r#"{"message":"You don't have access to the model with the specified model ID."}"#,
                "backend_misconfigured",
            ),
            // Anthropic; nothing is said of a model.
            (
                r#"{"error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource"}}"#,
                "sign_in_needed",
            ),
            // OpenAI, for a key with few rights.
            (
                r#"{"error":{"message":"You have insufficient permissions for this operation. Missing scopes: model.request."}}"#,
                "sign_in_needed",
            ),
            // OpenRouter.
            (
                r#"{"error":{"code":403,"message":"The chosen model requires moderation and your input was flagged"}}"#,
                "reply_refused",
            ),
        ] {
            assert_eq!(meaning_of(403, &[], body).code(), code, "{body}");
        }
    }

    #[test]
    fn retry_after_in_both_forms() {
        // RFC 9110 §10.2.3: delay in seconds or an HTTP date.
        for (headers, expected) in [
            (vec![("retry-after", "7")], Some(7_000)),
            (vec![("retry-after", "1.5")], Some(1_500)),
            (
                vec![("retry-after", "Sun, 29 Nov 2026 18:27:00 GMT")],
                Some(120_000),
            ),
            (
                vec![("retry-after", "Sun, 29 Nov 2026 18:20:00 GMT")],
                Some(0),
            ),
            (
                vec![("retry-after-ms", "250"), ("retry-after", "9")],
                Some(250),
            ),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-3")], None),
            (vec![], None),
        ] {
            let CallError::RateLimited { retry_after, .. } = meaning_of(429, &headers, "{}") else {
                panic!("{headers:?}");
            };
            assert_eq!(
                retry_after.map(|wait| wait.as_millis()),
                expected,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn a_used_up_plan_is_told_from_a_busy_server() {
        let quota = meaning_of(
            429,
            &[],
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        );
        assert!(
            matches!(quota, CallError::QuotaExhausted { until: None, .. }),
            "{quota:?}"
        );
        let until = meaning_of(
            429,
            &[("retry-after", "7200")],
            r#"{"error":{"message":"You've hit your weekly limit"}}"#,
        );
        assert!(
            matches!(&until, CallError::QuotaExhausted { until: Some(at), .. } if at.to_string() == "2026-11-29T20:25:00Z"),
            "{until:?}"
        );
        // Gemini speaks of a quota when it means a minute.
        let minute = meaning_of(
            429,
            &[],
            r#"[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 11.5s.","status":"RESOURCE_EXHAUSTED"}}]"#,
        );
        assert!(
            matches!(&minute, CallError::RateLimited { retry_after: Some(wait), .. } if wait.as_millis() == 11_500),
            "{minute:?}"
        );
        let busy = meaning_of(
            429,
            &[],
            r#"{"error":{"message":"Rate limit reached for gpt-x on requests per min. Please try again in 20s."}}"#,
        );
        assert!(
            matches!(&busy, CallError::RateLimited { retry_after: Some(wait), .. } if wait.as_secs() == 20),
            "{busy:?}"
        );
    }

    #[test]
    fn too_long_in_the_words_of_the_usual_servers() {
        for body in [
            r#"{"error":{"code":"context_length_exceeded","message":"…"}}"#,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","code":400}"#,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}"#,
            r#"{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens"}}"#,
        ] {
            assert!(
                matches!(
                    meaning_of(400, &[], body),
                    CallError::ContextOverflow { .. }
                ),
                "{body}"
            );
        }
        assert!(matches!(
            meaning_of(413, &[], ""),
            CallError::ContextOverflow { .. }
        ));
    }

    #[test]
    fn a_request_that_is_not_taken_is_no_refusal_to_answer() {
        for (status, body) in [
            (400, r#"{"error":"no"}"#),
            (
                400,
                r#"{"error":{"message":"Unknown parameter: 'metadata'.","type":"invalid_request_error","code":"unknown_parameter"}}"#,
            ),
            (
                422,
                r#"{"detail":[{"type":"missing","loc":["body","messages"]}]}"#,
            ),
            (410, ""),
        ] {
            let error = meaning_of(status, &[], body);
            assert_eq!(error.code(), "backend_misconfigured", "{body}");
            assert_eq!(error.scope(), Scope::Provider);
        }
        for body in [
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
            r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}}"#,
            r#"{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}"#,
        ] {
            let error = meaning_of(400, &[], body);
            assert_eq!(error.code(), "reply_refused", "{body}");
            assert_eq!(error.scope(), Scope::Call);
        }
    }

    #[test]
    fn a_server_that_repeats_the_key_or_sends_escapes_is_not_quoted_with_them() {
        let key = ApiKey::new("sk-canary-42");
        let zone = TimeZone::UTC;
        let asked = Asked {
            key: key.as_ref(),
            ..asked(&zone)
        };
        let said = Said::read(
            r#"{"error":{"message":"Incorrect API key \u001b[31msk-canary-42\nprovided"}}"#,
        );
        let error = meaning(StatusCode::UNAUTHORIZED, &HeaderMap::new(), &said, &asked);
        assert_eq!(
            error,
            CallError::SignInNeeded {
                provider: "openai_compatible:host".into(),
                detail: "401 Incorrect API key [31m[key] provided".into(),
            }
        );
    }
}
