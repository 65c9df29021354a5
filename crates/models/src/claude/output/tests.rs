//! What is a reply, and what everything else is.

use super::*;
use crate::agent_cli::SignIn;
use crate::api_key::ApiKey;
use jiff::tz::TimeZone;
use serde_json::json;

fn read_run(code: Option<i32>, output: &str, diagnostics: &str) -> Result<RawReply, CallError> {
    let run = Run {
        code,
        output: output.as_bytes().to_vec(),
        diagnostics: diagnostics.as_bytes().to_vec(),
    };
    let (zone, key) = (TimeZone::UTC, ApiKey::new("sk-canary"));
    let sign_in = SignIn::Key {
        variable: "K".to_owned(),
        key: key.unwrap(),
    };
    super::read(
        &run,
        &Asked {
            about: &crate::claude::ABOUT,
            version: "2.1.332",
            model: "sonnet",
            now: "2026-11-29T18:25:00Z".parse().unwrap(),
            zone: &zone,
            sign_in: &sign_in,
            tools: &[],
        },
    )
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// Shortened from 2.1.332; `extra` wins.
fn result(extra: &Value) -> Value {
    let mut base = json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "result": "Paris", "stop_reason": "end_turn", "api_error_status": null,
        "terminal_reason": "completed",
        "usage": {
            "input_tokens": 9, "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 1000, "output_tokens": 40,
        },
        "modelUsage": {
            "claude-haiku-5": { "outputTokens": 1 },
            "claude-sonnet-5-5": { "outputTokens": 40 },
        },
    });
    for (name, value) in extra.as_object().unwrap() {
        base[name] = value.clone();
    }
    base
}

#[test]
fn a_reply_in_each_of_the_three_forms() {
    let init = json!({ "type": "system", "subtype": "init", "tools": [], "mcp_servers": [], "model": "claude-sonnet-5-5" });
    let delta = json!({ "type": "stream_event", "event": { "type": "message_start" } });
    for printed in [
        result(&json!({})).to_string(),
        Value::Array(vec![init.clone(), result(&json!({}))]).to_string(),
        lines(&[init, delta, result(&json!({}))]),
        format!("some warning\n{{broken\n{}", result(&json!({}))),
    ] {
        let reply = read_run(Some(0), &printed, "a warning").unwrap();
        assert_eq!(
            reply,
            RawReply {
                text: "Paris".into(),
                usage: Usage {
                    input_tokens: Some(1109),
                    cached_tokens: Some(1000),
                    output_tokens: Some(40)
                },
                model: "claude-sonnet-5-5".into(),
                finish: Finish::Done,
                ..RawReply::default()
            },
            "{printed}"
        );
    }
}

#[test]
fn failures_as_a_real_version_prints_them() {
    // Each printed by 2.1.332 against a server that failed in this way.
    let error = |word: &str| json!({ "type": "assistant", "error": word, "message": {} });
    let event = |info: Value| json!({ "type": "rate_limit_event", "rate_limit_info": info });
    for (events, code, words) in [
        (
            vec![
                event(
                    json!({ "status": "rejected", "resetsAt": 1_795_983_924, "rateLimitType": "five_hour" }),
                ),
                error("rate_limit"),
                result(
                    &json!({ "is_error": true, "api_error_status": 429, "result": "You've hit your 5-hour limit · resets 8:25pm (UTC)" }),
                ),
            ],
            "quota_exhausted",
            "until 2026-11-29T20:25:24Z: You've hit your 5-hour limit",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "api_error_status": 429, "result": "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)" }),
            )],
            "quota_exhausted",
            "until 2026-12-02T18:25:00Z",
        ),
        (
            vec![
                event(json!({ "status": "rejected", "isUsingOverage": false })),
                error("rate_limit"),
                result(
                    &json!({ "is_error": true, "api_error_status": 429, "result": "API Error: Server is temporarily limiting requests (not your usage limit) · This request would exceed your organization's rate limit" }),
                ),
            ],
            "rate_limited",
            "temporarily limiting requests",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "result": "Not logged in · Please run /login" }),
            )],
            "sign_in_needed",
            "Not logged in",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "api_error_status": 401, "result": "Failed to authenticate. API Error: 401 OAuth token has expired." }),
            )],
            "sign_in_needed",
            "OAuth token has expired",
        ),
        (
            vec![
                error("billing_error"),
                result(
                    &json!({ "is_error": true, "api_error_status": 400, "result": "Credit balance is too low" }),
                ),
            ],
            "quota_exhausted",
            "claude allows no more: Credit balance is too low",
        ),
        (
            vec![
                error("model_not_found"),
                result(
                    &json!({ "is_error": true, "api_error_status": 404, "result": "There's an issue with the selected model (sonnet)." }),
                ),
            ],
            "backend_misconfigured",
            "cannot use sonnet",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "api_error_status": 400, "terminal_reason": "prompt_too_long", "result": "Prompt is too long · …" }),
            )],
            "context_overflow",
            "Prompt is too long",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "api_error_status": 413, "result": "Request too large (max 32MB)." }),
            )],
            "context_overflow",
            "Request too large",
        ),
        (
            vec![
                error("server_error"),
                result(
                    &json!({ "is_error": true, "api_error_status": 529, "result": "API Error: 529 Overloaded." }),
                ),
            ],
            "model_unavailable",
            "529 Overloaded",
        ),
        (
            vec![
                json!({ "type": "system", "subtype": "model_refusal_no_fallback" }),
                error("invalid_request"),
                result(
                    &json!({ "is_error": true, "result": "API Error: safeguards flagged this message" }),
                ),
            ],
            "reply_refused",
            "safeguards flagged",
        ),
        (
            vec![
                error("max_output_tokens"),
                result(
                    &json!({ "is_error": true, "result": "API Error: response exceeded the maximum" }),
                ),
            ],
            "reply_unreadable",
            "cut at the token limit",
        ),
        (
            vec![result(
                &json!({ "is_error": true, "subtype": "error_during_execution", "result": null }),
            )],
            "model_unavailable",
            "exit code 1 (error_during_execution)",
        ),
    ] {
        for exit in [0, 1] {
            let failed = read_run(Some(exit), &lines(&events), "").unwrap_err();
            assert_eq!(failed.code(), code, "{failed}");
            if exit == 1 {
                assert!(failed.to_string().contains(words), "{failed}");
            }
        }
    }
}

#[test]
fn success_that_is_none() {
    for (result, code) in [
        (
            result(&json!({ "result": "Claude AI usage limit reached|1795983924" })),
            "quota_exhausted",
        ),
        (
            result(&json!({ "result": "Not logged in · Please run /login" })),
            "sign_in_needed",
        ),
        (
            result(&json!({ "result": "Invalid API key" })),
            "sign_in_needed",
        ),
        (result(&json!({ "result": " " })), "reply_unreadable"),
        (result(&json!({ "result": 7 })), "backend_misconfigured"),
        (
            result(
                &json!({ "result": "/cost isn't available in this environment.", "num_turns": 0 }),
            ),
            "model_unavailable",
        ),
    ] {
        let failed = read_run(Some(0), &result.to_string(), "").unwrap_err();
        assert_eq!(failed.code(), code, "{result}");
    }
    let tools =
        json!({ "type": "system", "subtype": "init", "tools": ["Bash"], "mcp_servers": [] });
    let failed = read_run(Some(0), &lines(&[tools, result(&json!({}))]), "").unwrap_err();
    assert!(
        failed.to_string().contains("kept the tools Bash"),
        "{failed}"
    );
    let failed = read_run(Some(3), &result(&json!({})).to_string(), "").unwrap_err();
    assert_eq!(
        failed.code(),
        "model_unavailable",
        "a non-zero exit is never a reply"
    );
}

#[test]
fn answers_that_speak_of_sign_in_are_answers() {
    // Field note 5: the words "API key" in an ordinary answer were taken for a failure.
    for text in [
        "Invalid API key errors mean that the header is missing; set it like this.",
        "Not logged in users see the landing page.",
        "Please run /login first, then the token is stored in the keyring and reused by all calls.",
    ] {
        let reply = read_run(Some(0), &result(&json!({ "result": text })).to_string(), "");
        assert_eq!(reply.unwrap().text, text);
    }
}

#[test]
fn what_is_no_json_at_all() {
    for (exit, printed, complained, code, words) in [
        (
            Some(1),
            "Claude AI usage limit reached|1795983924",
            "",
            "quota_exhausted",
            "until 2026-11-29T20:25:24Z",
        ),
        (
            Some(0),
            "You've hit your limit · resets 8pm (UTC)",
            "",
            "quota_exhausted",
            "until 2026-11-29T20:00:00Z",
        ),
        (
            Some(0),
            "Not logged in · Please run /login",
            "",
            "sign_in_needed",
            "Not logged in",
        ),
        (
            Some(1),
            "",
            "Invalid API key · sk-canary",
            "sign_in_needed",
            "Invalid API key · [key]",
        ),
        (
            Some(1),
            "",
            "error: unknown option '--tools'",
            "backend_misconfigured",
            "unknown option '--tools'",
        ),
        (
            Some(0),
            "Here is my answer.",
            "",
            "backend_misconfigured",
            "printed something other",
        ),
        (Some(0), "", "", "reply_unreadable", "it is empty"),
        (
            Some(1),
            "",
            "Raw mode is not supported on the current process.stdin",
            "backend_misconfigured",
            "wants a terminal (Raw mode",
        ),
        (None, "", "", "model_unavailable", "ended by a signal"),
    ] {
        let failed = read_run(exit, printed, complained).unwrap_err();
        assert_eq!(failed.code(), code, "{failed}");
        assert!(failed.to_string().contains(words), "{failed}");
    }
}

#[test]
fn how_much_of_the_plan_is_left() {
    // As 2.1.283 and later print them.
    let left = |info: Value| {
        let event = json!({ "type": "rate_limit_event", "rate_limit_info": info });
        let printed = lines(&[event, result(&json!({}))]);
        let reply = read_run(Some(0), &printed, "").unwrap();
        let allowance = reply.allowance?;
        let until = allowance.until.map(jiff::Timestamp::as_second);
        Some((allowance.left_percent, until))
    };
    assert_eq!(
        left(json!({
            "status": "allowed", "resetsAt": 1_790_619_000, "rateLimitType": "five_hour",
            "unifiedWindows": {
                "five_hour": { "utilization": 0.03, "resetsAt": 1_790_619_000 },
                "seven_day": { "utilization": 0.48, "resetsAt": 1_791_028_800 },
            },
        })),
        Some((52, Some(1_791_028_800)))
    );
    assert_eq!(
        left(json!({
            "status": "allowed_warning", "resetsAt": 1_735_689_600, "rateLimitType": "seven_day",
            "utilization": 0.85,
        })),
        Some((15, Some(1_735_689_600)))
    );
    for info in [
        json!({ "status": "allowed", "resetsAt": 1_735_689_600 }),
        json!({ "utilization": "much" }),
        json!(7),
    ] {
        assert_eq!(left(info), None);
    }
}
