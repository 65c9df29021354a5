//! Canaries: made-up secrets of every kind, in every place where secrets turn up. None may survive.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use skillopt_core::redact::{redact, redact_json};

/// Letters and digits without meaning, the same in every run.
struct Letters(u64);

impl Letters {
    fn take(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| {
                self.0 = self
                    .0
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let index = usize::try_from(self.0 >> 33).unwrap() % alphabet.len();
                alphabet[index]
            })
            .collect()
    }
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Secrets that are known by their own looks: prefix, alphabet, length, and what follows.
const SELF_EVIDENT: &[(&str, &str, usize)] = &[
    ("sk-", ALNUM, 48),
    ("sk-proj-", WORD, 64),
    ("sk-ant-api03-", WORD, 93),
    ("sk-or-v1-", HEX, 64),
    ("sk-svcacct-", WORD, 60),
    ("AKIA", UPPER, 16),
    ("ASIA", UPPER, 16),
    ("ghp_", ALNUM, 36),
    ("gho_", ALNUM, 36),
    ("ghu_", ALNUM, 36),
    ("ghs_", ALNUM, 36),
    ("ghr_", ALNUM, 36),
    ("github_pat_", ALNUM, 82),
    ("glpat-", WORD, 20),
    ("gldt-", WORD, 20),
    ("glrt-", WORD, 20),
    ("xoxb-", DIGITS, 40),
    ("xoxp-", ALNUM, 50),
    ("xoxa-", ALNUM, 50),
    ("xoxr-", ALNUM, 50),
    ("xoxs-", ALNUM, 50),
    ("xapp-1-", ALNUM, 60),
    ("AIza", WORD, 35),
    ("ya29.", WORD, 60),
    ("GOCSPX-", WORD, 28),
    ("1//0", WORD, 60),
    ("npm_", ALNUM, 36),
    ("pypi-AgEIcHlwaS5vcmc", WORD, 80),
    ("hf_", ALNUM, 34),
    ("sk_live_", ALNUM, 24),
    ("sk_test_", ALNUM, 24),
    ("rk_live_", ALNUM, 24),
    ("whsec_", ALNUM, 32),
    ("shpat_", HEX, 32),
    ("shpss_", HEX, 32),
    ("sq0atp-", WORD, 22),
    ("sq0csp-", WORD, 43),
    ("dop_v1_", HEX, 64),
    ("dapi", HEX, 32),
    ("lin_api_", ALNUM, 40),
    ("ntn_", ALNUM, 46),
    ("figd_", WORD, 40),
    ("gsk_", ALNUM, 52),
    ("pplx-", ALNUM, 48),
    ("xai-", ALNUM, 80),
    ("r8_", ALNUM, 37),
    ("ATATT3xFfGF0", WORD, 180),
    ("dp.pt.", ALNUM, 43),
    ("pscale_tkn_", WORD, 43),
    ("PMAK-", HEX, 34),
    ("sntrys_", ALNUM, 80),
    ("glsa_", ALNUM, 41),
    ("NRAK-", UPPER, 27),
    ("hvs.", WORD, 90),
    ("AGE-SECRET-KEY-1", UPPER, 58),
    ("dckr_pat_", WORD, 27),
    ("HRKU-", WORD, 60),
    ("sbp_", HEX, 40),
    ("rubygems_", HEX, 48),
    ("tskey-auth-", ALNUM, 40),
    ("SK", HEX, 32),
    ("mfa.", WORD, 84),
    ("lsv2_pt_", HEX, 42),
];

/// Names behind which anything is a secret.
const NAMES: &[&str] = &[
    "password",
    "DB_PASSWORD",
    "dbPassword",
    "user-password",
    "Password",
    "passwd",
    "passphrase",
    "api_key",
    "apiKey",
    "API-KEY",
    "X-Api-Key",
    "OPENAI_API_KEY",
    "access_token",
    "accessToken",
    "refresh_token",
    "token",
    "GITHUB_TOKEN",
    "authToken",
    "client_secret",
    "clientSecret",
    "SECRET",
    "secret_key",
    "aws_secret_access_key",
    "SharedAccessKey",
    "AccountKey",
    "private_key",
    "privateKey",
    "SECRET_KEY_BASE",
    "encryption_key",
    "MYSQL_PWD",
    "SMTP_PASS",
    "webhook_secret",
    "password2",
];

/// What people choose for a password, and what machines do.
fn values(letters: &mut Letters) -> Vec<String> {
    vec![
        letters.take(ALNUM, 24),
        letters.take(HEX, 40),
        letters.take(WORD, 32),
        "hunter2".into(),
        "correcthorse".into(),
        format!("P@ss{}!x", letters.take(DIGITS, 4)),
        format!(
            "{}/{}+{}==",
            letters.take(ALNUM, 10),
            letters.take(ALNUM, 10),
            letters.take(ALNUM, 8)
        ),
    ]
}

#[track_caller]
fn gone(secret: &str, text: &str) {
    let redacted = redact(text);
    assert!(
        !redacted.text.contains(secret),
        "{secret} survives in {:?}",
        redacted.text
    );
    let half: String = secret.chars().skip(secret.chars().count() / 2).collect();
    assert!(
        half.len() < 6 || !redacted.text.contains(&half),
        "half of {secret} survives in {:?}",
        redacted.text
    );
    let mut json = serde_json::json!({"message": {"content": [text]}});
    redact_json(&mut json);
    assert!(
        !json.to_string().contains(secret),
        "{secret} survives in JSON: {json}"
    );
    let line = serde_json::json!({"message": {"content": [{"text": text}]}}).to_string();
    assert!(
        !redact(&line).text.contains(secret),
        "{secret} survives in a line of JSON: {}",
        redact(&line).text
    );
}

fn places(secret: &str) -> Vec<String> {
    vec![
        secret.to_owned(),
        format!("I used {secret} for it."),
        format!("it is \"{secret}\", keep it"),
        format!("`{secret}`"),
        format!("{{\"a\":\"{secret}\",\"b\":1}}"),
        format!("https://example.com/x?t={secret}&y=1"),
        format!("export THING={secret}\nnext"),
        format!("before\n{secret}\nafter"),
        format!("a line\\n{secret}\\nescaped"),
        format!("\u{1b}[32m{secret}\u{1b}[0m"),
        format!("curl -H \"X-Thing: {secret}\" https://x"),
        format!("ends with {secret}"),
        format!("schlüssel→{secret}←"),
        format!("[REDACTED] {secret}"),
    ]
}

#[test]
fn self_evident_secrets_are_found_everywhere() {
    let mut letters = Letters(7);
    let mut secrets: Vec<String> = SELF_EVIDENT
        .iter()
        .map(|(prefix, alphabet, length)| format!("{prefix}{}", letters.take(alphabet, *length)))
        .collect();
    // Letters may come out without a digit, which some families need.
    for secret in &mut secrets {
        if secret.ends_with('-') || secret.ends_with('_') {
            secret.push('7');
        }
    }
    secrets.push(format!(
        "SG.{}.{}",
        letters.take(ALNUM, 22),
        letters.take(ALNUM, 43)
    ));
    secrets.push(format!(
        "eyJ{}.eyJ{}.{}",
        letters.take(WORD, 30),
        letters.take(WORD, 60),
        letters.take(WORD, 43)
    ));
    secrets.push(format!(
        "{}:AA{}",
        letters.take("123456789", 10),
        letters.take(ALNUM, 33)
    ));
    secrets.push(format!(
        "MTk4{}.{}.{}",
        letters.take(ALNUM, 20),
        letters.take(ALNUM, 6),
        letters.take(ALNUM, 27)
    ));
    assert!(secrets.len() >= 60);
    for secret in &secrets {
        for text in places(secret) {
            gone(secret, &text);
        }
    }
}

#[test]
fn named_secrets_are_found_everywhere() {
    let mut letters = Letters(11);
    for name in NAMES {
        for value in values(&mut letters) {
            for text in [
                format!("{name}={value}"),
                format!("{name} = {value}\nnext"),
                format!("{name}: {value}"),
                format!("{name}=\"{value}\""),
                format!("{name} = '{value}';"),
                format!("{{\"{name}\": \"{value}\", \"x\": 1}}"),
                format!("{{\"x\":{{\"{name}\":\"{value}\"}}}}"),
                format!("{{'{name}': '{value}'}}"),
                format!("  {name}: \"{value}\"  # a comment"),
                format!("export {name}={value}"),
                format!("https://example.com/x?{name}={value}&y=1"),
                format!("config[\"{name}\"] = \"{value}\""),
                format!("<{name}>{value}</{name}>"),
                format!("if {name} == \"{value}\":"),
                format!("{name}: str = \"{value}\""),
                format!("{{\"name\": \"{name}\", \"value\": \"{value}\"}}"),
                format!("- name: {name}\n  value: {value}\n"),
                format!("{{\\\"{name}\\\": \\\"{value}\\\"}}"),
                format!("**{name}:** {value}"),
                format!("{name} := \"{value}\""),
                format!(":{name} => \"{value}\""),
            ] {
                gone(&value, &text);
            }
        }
    }
}

#[test]
fn other_places_of_secrets() {
    let mut letters = Letters(13);
    let body = |letters: &mut Letters| (0..4).map(|_| letters.take(ALNUM, 64)).collect::<Vec<_>>();
    for _ in 0..5 {
        let (word, short) = (letters.take(ALNUM, 32), letters.take(ALNUM, 12));
        for text in [
            format!("postgres://app:{short}@db:5432/x"),
            format!("amqps://u:{short}@host"),
            format!("DATABASE_URL=mysql://root:{short}@localhost/x"),
            format!("Server=x;User=y;Password={short};Db=z"),
            format!("Driver=x;UID=y;PWD={short};"),
            format!("machine x login y password {short}1"),
            format!("curl -u admin:{short} https://x"),
            format!("curl --user 'admin:{short}' https://x"),
            format!("Authorization: Basic {short}"),
            format!("\"Authorization\": \"Basic {short}\""),
            format!("Cookie: session={short}; other={short}"),
            format!("Set-Cookie: sid={short}; Path=/; HttpOnly"),
            format!("mysql --password={short} x"),
            format!("mysql -u root -p{short} x"),
            format!("sshpass -p {short} ssh x"),
            format!("sshpass -p '{short}' ssh x"),
            format!("docker login -u x -p {short} ghcr.io"),
            format!("redis-cli -h x -a {short} ping"),
            format!("| password | {short}1 |"),
            format!("| API key | {short}1 |"),
            format!("password: &anchor {short}"),
            format!("password: !!str {short}"),
            format!("{{\"password\": {{\"value\": \"{short}\"}}}}"),
            format!("\"auth\": \"{short}\""),
            format!("db_pass: {short}"),
            format!("dbPass = '{short}'"),
            format!("aws configure set aws_secret_access_key {short}1"),
            format!("tool --api-key {short}1 --verbose"),
            format!("my password is {short}1"),
            format!("ALTER USER x WITH PASSWORD '{short}1';"),
            format!("setPassword(\"{short}1\")"),
            format!("token = String::from(\"{short}1\")"),
            format!("密码：{short}"),
            format!("password: |\n  {short}\nnext: 1"),
            format!("passwords:\n  password: >-\n    {short}\n"),
            format!("api_keys = {{ api_key = [\"{short}\", \"{short}\"] }}"),
        ] {
            gone(&short, &text);
        }
        for text in [
            format!("Authorization: Bearer {word}"),
            format!("curl -H 'Authorization: Bearer {word}' x"),
            format!("https://x/?sv=1&sig={word}%3D&se=2"),
            format!("https://hooks.slack.com/services/T0/B0/{word}"),
            format!("https://discord.com/api/webhooks/123456789/{word}"),
            format!("https://{word}1a2b@github.com/x/y"),
            format!("DEPLOY_AUTH={word}1a2b"),
            format!("credentials: {word}1a2b"),
            format!("key: \"{word}1a2b\""),
        ] {
            gone(&word, &text);
        }
        let lines = body(&mut letters);
        for text in [
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
                lines.join("\n")
            ),
            format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}", lines.join("\n")),
            format!(
                "\"-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\"",
                lines.join("\\n")
            ),
            format!(
                "key: |\n  -----BEGIN EC PRIVATE KEY-----\n  {}\n  -----END EC PRIVATE KEY-----",
                lines.join("\n  ")
            ),
            format!(
                "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 4\n{}\nPrivate-MAC: 1",
                lines.join("\n")
            ),
            format!(
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{}",
                lines.join("\n")
            ),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,A1B2\n\n{}",
                lines.join("\n")
            ),
        ] {
            for line in &lines {
                gone(line, &text);
            }
        }
    }
}
