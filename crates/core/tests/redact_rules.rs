//! Redaction, case by case. Expectations are written by hand from §7.10 of the reference and from the
//! providers' documentation of their token formats.

use skillopt_core::redact::{contains_mark, is_mark, redact, redact_json};

#[track_caller]
fn becomes(text: &str, expected: &str) {
    assert_eq!(redact(text).text, expected, "of {text:?}");
    assert_eq!(
        redact(expected).count,
        0,
        "a second pass changes {expected:?}"
    );
}

#[track_caller]
fn stays(text: &str) {
    let redacted = redact(text);
    assert_eq!((redacted.text.as_ref(), redacted.count), (text, 0));
}

#[test]
fn provider_tokens_of_the_reference() {
    becomes("use sk-abcdefghij now", "use [REDACTED_OPENAI_KEY] now");
    becomes(
        "use sk-proj-aB3_dE-6gH now",
        "use [REDACTED_OPENAI_KEY] now",
    );
    becomes("AKIAIOSFODNN7EXAMPLE", "[REDACTED_AWS_KEY]");
    for kind in ["ghp", "gho", "ghu", "ghs", "ghr"] {
        becomes(
            &format!("({kind}_abcdefghijklmnopqrst)"),
            "([REDACTED_GITHUB_TOKEN])",
        );
    }
    for kind in ["xoxb", "xoxa", "xoxp", "xoxr", "xoxs"] {
        becomes(&format!("{kind}-1234567890"), "[REDACTED_SLACK_TOKEN]");
    }
    becomes(
        "key AIzaSyA-1234567890_abcdefg.",
        "key [REDACTED_GOOGLE_KEY].",
    );
    becomes("eyJhbGciOi.eyJzdWIiOiI.SflKxwRJ", "[REDACTED_JWT]");
}

#[test]
fn too_short_tokens_are_words() {
    stays("sk-short12");
    stays("AKIA123");
    stays("ghp_abc");
    stays("eyJa.eyJb.c");
    stays("xoxb-123");
}

#[test]
fn assignments() {
    becomes("password: hunter2", "password: [REDACTED]");
    becomes("password=hunter2 next", "password=[REDACTED] next");
    becomes("api_key = 'abc'", "api_key = '[REDACTED]'");
    becomes("API-KEY: \"abc def\"", "API-KEY: \"[REDACTED]\"");
    becomes("apiKey=abc;x=1", "apiKey=[REDACTED];x=1");
    becomes(
        "f(access_token=abc, b=2)",
        "f(access_token=[REDACTED], b=2)",
    );
    becomes("?refresh_token=abc&b=2", "?refresh_token=[REDACTED]&b=2");
    becomes("myClientSecret=abc", "myClientSecret=[REDACTED]");
    becomes(
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
        "aws_secret_access_key = [REDACTED]",
    );
    becomes("SharedAccessKey=abc+/=;", "SharedAccessKey=[REDACTED];");
    becomes("private_key: abc", "private_key: [REDACTED]");
    becomes("{token: abc}", "{token: [REDACTED]}");
    becomes("[passwd=abc]", "[passwd=[REDACTED]]");
    becomes("secret={a;b}", "secret={[REDACTED]}");
    becomes(
        "token=ghp_abcdefghijklmnopqrst",
        "token=[REDACTED_GITHUB_TOKEN]",
    );
}

#[test]
fn quoted_values() {
    becomes(r#"password="a\"b" c"#, r#"password="[REDACTED]" c"#);
    becomes("password='it''s' c", "password='[REDACTED]' c");
    becomes(
        "password=\"open to the end\nnext",
        "password=\"[REDACTED]\nnext",
    );
    becomes(
        r#"{"password": "a b", "x": 1}"#,
        r#"{"password": "[REDACTED]", "x": 1}"#,
    );
    becomes(
        r#"{"clientSecret":"ghp_abcdefghijklmnopqrst"}"#,
        r#"{"clientSecret":"[REDACTED]"}"#,
    );
    becomes(
        r#"{"text":"{\"api_key\": \"abc\", \"x\": 1}"}"#,
        r#"{"text":"{\"api_key\": \"[REDACTED]\", \"x\": 1}"}"#,
    );
    becomes(
        "{\"password\":\n  \"abc\"}",
        "{\"password\":\n  \"[REDACTED]\"}",
    );
}

#[test]
fn characters_nobody_sees_hide_no_secret() {
    becomes(
        "sk-abc\u{200b}def\u{200b}ghijklm1 x",
        "[REDACTED_OPENAI_KEY] x",
    );
    becomes(
        "pass\u{ad}word: hun\u{2060}ter2",
        "pass\u{ad}word: [REDACTED]",
    );
    becomes(
        "\u{feff}AKIA\u{200d}IOSFODNN7EXAMPLE\u{200b} and \u{26a0}\u{fe0f} api_key=a\u{202e}bc",
        "\u{feff}[REDACTED_AWS_KEY]\u{200b} and \u{26a0}\u{fe0f} api_key=[REDACTED]",
    );
    // They also part words: what is a secret as it stands is one.
    becomes("x\u{200b}sk-abcdefghijk1", "x\u{200b}[REDACTED_OPENAI_KEY]");
    stays("so\u{ad}ft hy\u{ad}phens, \u{6a9}\u{200c}\u{62a}\u{627}\u{628}");
    let mut value =
        serde_json::json!({"pass\u{200b}word": "hunter2", "note": "token=\u{200b}a\u{200b}bc1"});
    assert_eq!(redact_json(&mut value), 2, "{value}");
}

#[test]
fn bare_names() {
    becomes(
        "pass phrase: correct horse",
        "pass phrase: [REDACTED] horse",
    );
    becomes("Pass-phrase = \"a b\"", "Pass-phrase = \"[REDACTED]\"");
    becomes("PASS_PHRASE=abc", "PASS_PHRASE=[REDACTED]");
    stays("the pass phrase is required");
    becomes("password hunter2", "password [REDACTED]");
    becomes("the token abc_def is", "the token [REDACTED] is");
    becomes("secret abcdefghijklmnop", "secret [REDACTED]");
    becomes("api_key a1b2c3", "api_key [REDACTED]");
    becomes("password is hunter2.", "password is [REDACTED].");
    becomes(
        "The password is `hunter2`.",
        "The password is `[REDACTED]`.",
    );
    stays("password abcde1"[..14].trim_end());
    stays("the token expired");
    stays("the secret sauce.");
}

#[test]
fn connection_strings() {
    becomes(
        "Server=x;Password=a$b;Db=y",
        "Server=x;Password=[REDACTED_DB_PASS];Db=y",
    );
    becomes("Server=x;Pwd=abc", "Server=x;Pwd=[REDACTED_DB_PASS]");
    becomes("server=x;pwd=abc;", "server=x;pwd=[REDACTED_DB_PASS];");
    becomes("SERVER=x;PWD=abc;", "SERVER=x;PWD=[REDACTED_DB_PASS];");
    becomes("Password={a;b}c", "Password={[REDACTED_DB_PASS]}c");
    becomes(
        "AccountName=x;AccountKey=abc+/==;E=y",
        "AccountName=x;AccountKey=[REDACTED_STORAGE_KEY];E=y",
    );
    stays("PWD=/home/x");
    stays("OLDPWD=/home/x\nPWD=/home/x/y");
    becomes(
        "https://x/?sv=1&sig=abcdefghij%3D&se=2",
        "https://x/?sv=1&sig=[REDACTED_SAS_SIG]&se=2",
    );
    stays("sig=short");
    becomes(
        "postgres://app:s3cr3t@db/x",
        "postgres://app:[REDACTED]@db/x",
    );
    stays("http://localhost:8080/@scope");
    stays("git@github.com:org/repo.git ssh://git@github.com/x");
}

#[test]
fn headers() {
    becomes(
        "Authorization: Bearer abc.def",
        "Authorization: Bearer [REDACTED]",
    );
    becomes(
        "authorization: Basic dXNlcjpwdw==",
        "authorization: Basic [REDACTED]",
    );
    becomes(
        r#"{"Authorization": "Bearer abcdef"}"#,
        r#"{"Authorization": "Bearer [REDACTED]"}"#,
    );
    becomes(
        "curl -H 'Authorization: token abc123' x",
        "curl -H 'Authorization: token [REDACTED]' x",
    );
    becomes("X-Api-Key: abc", "X-Api-Key: [REDACTED]");
    becomes(
        "Cookie: sid=abcd1234; theme=dark",
        "Cookie: sid=[REDACTED]; theme=[REDACTED]",
    );
    becomes(
        "Set-Cookie: sid=abcd; Path=/; HttpOnly",
        "Set-Cookie: sid=[REDACTED]; Path=/; HttpOnly",
    );
    becomes(
        "log in with Basic dXNlcjpodW50ZXIy, then ask",
        "log in with Basic [REDACTED], then ask",
    );
    becomes("basic YWRtaW46cHc", "basic [REDACTED]");
    stays("Basic structures, Basic data, basic authentication");
    stays("Basic aGVsbG8gd29ybGQhIQ==");
    stays("Authorization: required");
    stays("headers[\"Authorization\"] = f\"Bearer {token}\"");
    stays("the bearer of this letter");
    becomes(
        "curl -u admin:hunter2 https://x",
        "curl -u admin:[REDACTED] https://x",
    );
}

#[test]
fn pem_blocks() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nAgEAAoIBAQC7\n";
    becomes(
        &format!("a\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nb"),
        "a\n[REDACTED_PRIVATE_KEY]\nb",
    );
    becomes(
        &format!("-----BEGIN PRIVATE KEY-----\n{body}"),
        "[REDACTED_PRIVATE_KEY]\n",
    );
    stays("-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----");
    stays("It starts with -----BEGIN PRIVATE KEY----- and then comes base64.");
}

#[test]
fn other_providers() {
    for token in [
        "glpat-abcdefghij0123456789",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "pypi-AgEIcHlwaS5vcmcCJGFiY2RlZmdoLTEyMzQtNTY3OC05",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "sk_live_abcdefghij0123456789",
        "rk_live_abcdefghij0123456789",
        "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
        "SK0123456789abcdef0123456789abcdef",
        "ya29.a0AfH6SMBabcdefghijk",
        "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    ] {
        let redacted = redact(token);
        assert!(is_mark(&redacted.text), "{token} became {}", redacted.text);
    }
    becomes(
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://hooks.slack.com/services/[REDACTED_WEBHOOK]",
    );
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "token_count = 5",
        "secret_santa = true",
        "the password is required",
        "tokens: 1500",
        "max_tokens: 800",
        "\"max_tokens\": 800, \"input_tokens\": 12345678",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id: 550e8400-e29b-41d4-a716-446655440000",
        "let token = tokens.next();",
        "token: String,",
        "fn check(password: &str) -> bool",
        "password = os.environ[\"DB_PASSWORD\"]",
        "const apiKey = process.env.API_KEY;",
        "token = get_token()",
        "TOKEN=$GITHUB_TOKEN",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password=\"\"",
        "password: \"<your password>\"",
        "api_key=YOUR_API_KEY",
        "type=\"password\" name=\"q\"",
        "Unexpected token < in JSON at position 0",
        "SyntaxError: Unexpected token: }",
        "the keyboard key: Enter",
        "primary_key: id",
        "<div class=\"sk-folding-cube\">",
        "task-based and risk-averse design-systems",
        "msg.send(body)",
        "tests pass: 12",
        "bypass: true1234",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "sha512-Jm1Xl3C9pFtn4mB9nJ6Jqg1kXz0a0yF0oVg==",
        "see src/auth/token.rs and docs/password.md",
        "if token.kind == TokenKind::Ident {",
        "pad_token: \"<pad>\"",
    ] {
        stays(text);
    }
}

#[test]
fn marks() {
    assert!(is_mark("[REDACTED]") && is_mark("[REDACTED_DB_PASS]"));
    assert!(!is_mark("[REDACTED] ") && !is_mark("[REDACTED_]") && !is_mark("[REDACTEDX]"));
    assert!(contains_mark("x [REDACTED_A1] y") && !contains_mark("[REDACTED x] [redacted]"));
}
