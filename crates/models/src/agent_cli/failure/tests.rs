//! What failures mean, in the words of real versions.

use super::*;

impl Asked<'static> {
    /// An agent that was asked under a subscription, for tests of what it printed.
    pub(crate) fn example(
        about: &'static About,
        version: &'static str,
        model: &'static str,
    ) -> Self {
        static SIGN_IN: SignIn = SignIn::Subscription;
        static ZONE: TimeZone = TimeZone::UTC;
        Self {
            about,
            version,
            model,
            now: "2026-11-29T18:25:00Z".parse().unwrap(),
            zone: &ZONE,
            sign_in: &SIGN_IN,
            tools: &[],
        }
    }
}

impl Run {
    /// A run that printed these events, a line each.
    pub(crate) fn of_events(code: i32, events: &[serde_json::Value]) -> Self {
        let printed: String = events.iter().map(|event| format!("{event}\n")).collect();
        Self {
            code: Some(code),
            output: printed.into(),
            diagnostics: Vec::new(),
        }
    }
}

fn asked<'a>(sign_in: &'a SignIn, zone: &'a TimeZone) -> Asked<'a> {
    Asked {
        zone,
        sign_in,
        ..Asked::example(&crate::codex::ABOUT, "0.171.0", "gpt-9")
    }
}

/// Code of the error, and whether it may have been charged.
fn meaning(status: Option<u64>, word: &str, text: &str) -> (&'static str, bool) {
    let error =
        asked(&SignIn::Subscription, &TimeZone::UTC).failed(&Failure { status, word, text });
    (error.code(), error.may_have_cost())
}

#[test]
fn failures_as_real_versions_word_them() {
    // Codex 0.171.0, Pi 0.74.2, Copilot 1.0.102 and OpenCode 1.18.33 against a server that failed in
    // this way.
    let rows: &[(Option<u64>, &str, &str, &str)] = &[
        (
            None,
            "",
            "unexpected status 401 Unauthorized: Incorrect API key provided: sk-xxx., url: http://127.0.0.1:1/v1/responses",
            "sign_in_needed",
        ),
        (
            None,
            "",
            "unexpected status 403 Forbidden: Your account does not have access, url: http://127.0.0.1:1/",
            "sign_in_needed",
        ),
        (
            Some(403),
            "",
            "403 Your organization does not have access to this model.",
            "backend_misconfigured",
        ),
        (
            None,
            "",
            "The model `gpt-9` does not exist or you do not have access to it.",
            "backend_misconfigured",
        ),
        (
            None,
            "",
            "{\"detail\": \"The 'gpt-9' model is not supported when using Codex with a ChatGPT account.\"}",
            "backend_misconfigured",
        ),
        (
            None,
            "",
            "{\"detail\": \"The 'gpt-9' model requires a newer version of Codex. Please upgrade to the latest app or CLI and try again.\"}",
            "backend_misconfigured",
        ),
        (
            None,
            "",
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            "context_overflow",
        ),
        (
            None,
            "",
            "unexpected status 402 Payment Required: Insufficient credits, url: http://127.0.0.1:1/",
            "quota_exhausted",
        ),
        (
            None,
            "",
            "exceeded retry limit, last status: 429 Too Many Requests",
            "rate_limited",
        ),
        (
            None,
            "",
            "Quota exceeded. Check your plan and billing details.",
            "quota_exhausted",
        ),
        (
            None,
            "",
            "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at 11:47 PM.",
            "quota_exhausted",
        ),
        (
            None,
            "",
            "stream disconnected before completion: This content was flagged.",
            "reply_refused",
        ),
        (
            None,
            "",
            "Incomplete response returned, reason: max_output_tokens",
            "reply_unreadable",
        ),
        (
            None,
            "",
            "Connection failed: error sending request",
            "model_unavailable",
        ),
        (
            None,
            "",
            "401 Incorrect API key provided: sk-xxx.",
            "sign_in_needed",
        ),
        (
            None,
            "",
            "404 The model `fake` does not exist or you do not have access to it.",
            "backend_misconfigured",
        ),
        (
            None,
            "",
            "400 Your input exceeds the context window of this model.",
            "context_overflow",
        ),
        (
            None,
            "",
            "429 You exceeded your current quota, please check your plan and billing details.",
            "quota_exhausted",
        ),
        (
            None,
            "",
            "Provider finish_reason: content_filter",
            "reply_refused",
        ),
        (
            None,
            "",
            "Stream ended without finish_reason",
            "model_unavailable",
        ),
        (
            Some(401),
            "authentication",
            "Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).",
            "sign_in_needed",
        ),
        (
            Some(404),
            "query",
            "Model 'fake-model' not found on provider at http://127.0.0.1:1/v1 (HTTP 404).",
            "backend_misconfigured",
        ),
        (
            Some(402),
            "query",
            "402 Insufficient credits",
            "quota_exhausted",
        ),
        (
            Some(429),
            "rate_limit",
            "Failed to get response; Last error: 429 Rate limit reached. Please try again in 20s.",
            "rate_limited",
        ),
        (Some(400), "", "Bad request", "backend_misconfigured"),
        (
            None,
            "",
            "unexpected status 400 Bad Request: Unknown parameter: 'prompt_cache_key'., url: http://127.0.0.1:1/v1/responses",
            "backend_misconfigured",
        ),
        (
            Some(400),
            "",
            "Output blocked by content filtering policy",
            "reply_refused",
        ),
        (Some(500), "", "Internal", "model_unavailable"),
    ];
    for (status, word, text, code) in rows {
        assert_eq!(meaning(*status, word, text).0, *code, "{text}");
    }
}

#[test]
fn a_busy_server_has_not_charged_anything() {
    assert_eq!(
        meaning(None, "", "503 Overloaded"),
        ("model_unavailable", false)
    );
    assert_eq!(
        meaning(None, "", "500 Internal"),
        ("model_unavailable", true)
    );
}

#[test]
fn when_to_ask_again_is_read() {
    let (sign_in, zone) = (SignIn::Subscription, TimeZone::UTC);
    let asked = asked(&sign_in, &zone);
    let failed = |text: &str| {
        asked.failed(&Failure {
            text,
            ..Failure::default()
        })
    };
    let CallError::RateLimited { retry_after, .. } =
        failed("429 Rate limit reached for requests per min. Please try again in 20s.")
    else {
        panic!("it is a rate limit");
    };
    assert_eq!(retry_after, Some(Duration::from_secs(20)));
    let CallError::QuotaExhausted { until, .. } =
        failed("You’ve hit your usage limit. Upgrade to Pro or try again at 11:47 PM.")
    else {
        panic!("it is a limit of the plan");
    };
    assert_eq!(until, Some("2026-11-29T23:47:00Z".parse().unwrap()));
}

#[test]
fn an_answer_about_a_failure_is_an_answer() {
    let (sign_in, zone) = (SignIn::Subscription, TimeZone::UTC);
    let asked = asked(&sign_in, &zone);
    for text in [
        "Not logged in is what the page says when the cookie is gone.",
        "401 means that the key is wrong.",
        "The context window is the number of tokens a model can read.",
        "Invalid API key handling belongs into the gateway",
    ] {
        assert_eq!(asked.instead_of_a_reply(text), None, "{text}");
    }
    for (text, code) in [
        ("Not logged in · Please run /login", "sign_in_needed"),
        (
            "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)",
            "quota_exhausted",
        ),
        (" \n", "reply_unreadable"),
    ] {
        assert_eq!(asked.instead_of_a_reply(text).unwrap().code(), code);
    }
}

#[test]
fn runs_without_a_result() {
    let (sign_in, zone) = (SignIn::Subscription, TimeZone::UTC);
    let asked = asked(&sign_in, &zone);
    let meaning = |code: i32, output: &str, diagnostics: &str| {
        asked
            .without_result(
                &Run {
                    code: Some(code),
                    output: output.into(),
                    diagnostics: diagnostics.into(),
                },
                false,
            )
            .code()
    };
    for (code, output, complaint, expected) in [
        (
            2,
            "",
            "error: unexpected argument '--nothere' found\n\n  tip: …",
            "backend_misconfigured",
        ),
        (
            1,
            "",
            "Error: Unknown feature flag: nothere",
            "backend_misconfigured",
        ),
        (1, "", "Not logged in", "sign_in_needed"),
        (0, "Not logged in\n", "", "sign_in_needed"),
        (
            1,
            "",
            "Error: No authentication information found.\n\nCopilot can be authenticated with GitHub using",
            "sign_in_needed",
        ),
        (
            1,
            "",
            "5-hour limit reached ∙ resets 7am",
            "quota_exhausted",
        ),
        (
            1,
            "",
            "ERROR Raw mode is not supported on the current process.stdin, which Ink uses\n       as input stream by default.",
            "backend_misconfigured",
        ),
        (
            1,
            "",
            "Error: stdin is not a terminal",
            "backend_misconfigured",
        ),
        (
            1,
            "the input device is not a TTY\n",
            "",
            "backend_misconfigured",
        ),
        (139, "", "Segmentation fault", "model_unavailable"),
        (0, "", "", "reply_unreadable"),
        (0, "It is 4.", "", "backend_misconfigured"),
        (
            127,
            "",
            "env: node: No such file or directory",
            "model_unavailable",
        ),
    ] {
        assert_eq!(
            meaning(code, output, complaint),
            expected,
            "{output}{complaint}"
        );
    }
}
