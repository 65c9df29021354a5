//! What holds for every text: a second pass changes nothing, texts are only cut at characters, and the
//! result is hardly longer than the text.

use proptest::prelude::*;
use skillopt_core::redact::{Redactor, contains_mark, redact, redact_json};

/// Pieces that mean something to the redactor, to be put together in any order.
const PIECES: &[&str] = &[
    "password",
    "Password",
    "PASSWORD",
    "token",
    "TOKEN",
    "secret",
    "api_key",
    "key",
    "pwd",
    "PWD",
    "Pwd",
    "pass",
    "auth",
    "Authorization",
    "Bearer ",
    "Basic ",
    "dXNlcjpwdw==",
    "pass phrase",
    "\u{200b}",
    "\u{ad}",
    "\u{26a0}\u{fe0f}",
    "Cookie",
    "Set-Cookie: ",
    "curl -u ",
    "sig=",
    "signature=",
    "AccountKey=",
    "=",
    ":",
    ": ",
    " = ",
    "==",
    "=>",
    "\"",
    "'",
    "`",
    "\\\"",
    "\\n",
    "\n",
    " ",
    "  ",
    ";",
    "&",
    ",",
    ")",
    "]",
    "}",
    "{",
    "[",
    "(",
    "<",
    ">",
    "</",
    "$",
    "%",
    "%3D",
    "**",
    ".",
    "-",
    "_",
    "/",
    "@",
    "://",
    "https://",
    "user:",
    "hunter2",
    "abc",
    "x1y2z3",
    "A",
    "é",
    "密码",
    "：",
    "is ",
    "value",
    "content",
    "sk-",
    "sk-abcdefghij",
    "ghp_abcdefghijklmnopqrst",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOi",
    ".eyJzdWIiOiI.SflKxwRJ",
    "xoxb-1234567890",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj",
    "[REDACTED]",
    "[REDACTED_JWT]",
    "[REDACTED",
    "export ",
    "String",
    "new ",
    "get()",
    "config.",
    "null",
    "1234",
    "123456789:AA",
    "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
    "|\n  ",
    "SK0123456789abcdef0123456789abcdef",
    "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "\u{1b}[32m",
];

fn pieced() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

fn holds(text: &str) {
    let once = redact(text);
    let again = redact(&once.text);
    assert_eq!(
        again.text, once.text,
        "a second pass changes what became of {text:?}"
    );
    assert_eq!(
        again.count, 0,
        "a second pass finds more in what became of {text:?}"
    );
    assert!(once.text.len() <= text.len() + 40 * once.count);
    assert!(once.count == 0 || contains_mark(&once.text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces(text in pieced()) {
        holds(&text);
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        holds(&text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        holds(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn json_twice(text in pieced(), key in pieced()) {
        let mut value = serde_json::json!({ key: [text, 12345], "password": { "a": 1 } });
        prop_assert!(redact_json(&mut value) >= 1);
        let once = value.clone();
        prop_assert_eq!(redact_json(&mut value), 0);
        prop_assert_eq!(value, once);
    }

    #[test]
    fn false_alarms_never_disappear(value in "[a-z0-9]{8,24}") {
        let text = format!("password={value} next");
        prop_assert_eq!(Redactor::with_false_alarms(&[value]).redact(&text).count, 0);
    }
}
