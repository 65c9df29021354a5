//! Nights ask nobody's service before the user has agreed to it, once.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    reason = "a test writes its own files and starts programs"
)]

use std::io::Write as _;
use std::path::Path;

use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// A stub of an agent, and the words of a night with it.
fn stub(dialect: Dialect) -> (StubCli, Vec<String>) {
    let program = Path::new(env!("CARGO_BIN_EXE_stub-agent"));
    let stub = StubCli::install(dialect, program, [Mode::Honest]);
    let name = dialect.backend();
    let words = [
        "sleep",
        "run",
        "--model-miner=false",
        &format!("--backend={name}"),
        &format!("--{name}-path={}", stub.path().display()),
    ];
    let words = words.map(str::to_owned).to_vec();
    (stub, words)
}

fn run(home: &Home, words: &[String], more: &[&str]) -> Ran {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    home.run(&[&words, more].concat())
}

#[test]
fn a_night_waits_until_the_user_has_agreed_once() {
    let (stub, words) = stub(Dialect::Claude);
    let home = Home::with_sample(PROGRAM);
    let ran = run(&home, &words, &["--json"]);
    let json = ran.json();
    assert_eq!(
        (json["outcome"].as_str(), ran.code),
        (Some("deferred"), 75),
        "{json}"
    );
    assert_eq!(json["problem"]["code"], "terms_not_accepted");
    let terms = &json["terms"][0];
    assert_eq!(terms["provider"], "claude");
    let address = terms["address"].as_str().unwrap();
    assert!(address.starts_with("https://"), "{address}");
    assert_eq!(stub.asked().len(), 0, "nothing was asked");
    let nights = home.run(&["night", "list", "--json"]).json();
    assert_eq!(nights, serde_json::json!([]), "no night has begun");

    // The same in words, by everything that says what would fail.
    let path = format!("--claude-path={}", stub.path().display());
    let told = run(&home, &words, &[]);
    let list = home.run(&["backend", "list", "--backend=claude", &path]);
    let doctor = home.run(&["doctor", "--backend=claude", &path]);
    for said in [&told.out, &list.out, &doctor.out] {
        assert!(said.contains(address), "{said}");
        assert!(said.contains("skillopt backend accept claude"), "{said}");
    }
    // A test of the backend is the user's own question.
    let tested = home.run(&["backend", "test", "claude", &path, "--json"]);
    assert_eq!(tested.code, 0, "{}", tested.out);
    let asked = stub.asked().len();

    let agreed = home.run(&["backend", "accept", "claude"]);
    assert_eq!(agreed.code, 0, "{}", agreed.err);
    assert!(agreed.out.contains(address), "{}", agreed.out);
    let again = home.run(&["backend", "accept", "claude", "codex", "--json"]);
    let again = again.json();
    assert_eq!(again["accepted"], serde_json::json!(["claude", "codex"]));
    assert_eq!(again["added"].as_array().unwrap().len(), 1, "{again}");
    let json = run(&home, &words, &["--json"]).json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    assert!(stub.asked().len() > asked);
    let rows = home.run(&["backend", "list", "--backend=claude", &path, "--json"]);
    let rows = rows.json();
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "claude");
    assert_eq!(row.unwrap()["terms_accepted"], true);
}

#[test]
fn agreeing_without_a_name_is_about_what_a_night_would_ask() {
    let (stub, words) = stub(Dialect::Pi);
    let mut home = Home::with_sample(PROGRAM);
    home.set("SKILLOPT_BACKEND", "pi");
    home.set("SKILLOPT_PI_PATH", stub.path().to_str().unwrap());
    let agreed = home.run(&["backend", "accept", "--json"]).json();
    assert_eq!(agreed["accepted"], serde_json::json!(["pi"]));
    assert_eq!(
        run(&home, &words, &["--json"]).json()["outcome"],
        "proposed"
    );
    // Simulations and servers on this computer need nothing.
    home.set("SKILLOPT_BACKEND", "mock");
    let nothing = home.run(&["backend", "accept", "--json"]).json();
    assert_eq!(nothing["added"], serde_json::json!([]));
    let unknown = home.run(&["backend", "accept", "claud", "--json"]);
    assert_eq!(
        (unknown.code, unknown.json()["error"].as_str()),
        (2, Some("provider_unknown"))
    );
}

#[test]
fn one_can_agree_before_there_is_a_key() {
    let mut home = Home::with_sample(PROGRAM);
    let added = |home: &Home, words: &[&str]| {
        let ran = home.run(&[&["backend", "accept", "--json"], words].concat());
        assert_eq!(ran.code, 0, "{words:?} {}", ran.out);
        ran.json()["added"][0]["provider"].clone()
    };
    assert_eq!(added(&home, &["anthropic"]), "anthropic:api.anthropic.com");
    let azure = [
        "--backend=azure_openai",
        "--endpoint=https://me.openai.azure.com/openai",
    ];
    assert_eq!(
        added(&home, &[&azure[..], &["azure_openai"]].concat()),
        "azure_openai:me.openai.azure.com",
        "nor is a deployment needed"
    );
    home.set("SKILLOPT_BACKEND", "openai_compatible");
    home.set("SKILLOPT_ENDPOINT", "https://models.example.org/v1");
    home.set("SKILLOPT_API_KEY_ENV", "NO_SUCH_KEY");
    assert_eq!(added(&home, &[]), "openai_compatible:models.example.org");
    // Without an address nobody knows whom it asks.
    home.set("SKILLOPT_ENDPOINT", "");
    let nobody = home.run(&["backend", "accept", "openai_compatible", "--json"]);
    assert_eq!(nobody.json()["error"], "endpoint_invalid", "{}", nobody.out);
}

#[test]
fn neither_a_repository_nor_another_provider_agrees() {
    let (stub, words) = stub(Dialect::Codex);
    let mut home = Home::with_sample(PROGRAM);
    std::fs::write(
        home.project().join(".skillopt.toml"),
        "[models]\nterms_accepted = [\"codex\"]\n",
    )
    .unwrap();
    home.set("SKILLOPT_TERMS_ACCEPTED", "claude, openai_compatible:codex");
    let json = run(&home, &words, &["--json"]).json();
    assert_eq!(json["problem"]["code"], "terms_not_accepted", "{json}");
    assert_eq!(stub.asked().len(), 0);
    home.set("SKILLOPT_TERMS_ACCEPTED", "claude,codex");
    let json = run(&home, &words, &["--json"]).json();
    assert_eq!(json["outcome"], "proposed", "{json}");
}

#[test]
fn a_service_over_http_needs_it_too_and_nothing_is_sent_before() {
    let home = Home::with_sample(PROGRAM);
    let words = [
        "sleep",
        "run",
        "--backend=anthropic",
        "--api-key-env=THE_KEY",
        "--json",
    ];
    let ran = home.run_with(&words, &[("THE_KEY", "sk-canary-0123456789")]);
    let json = ran.json();
    assert_eq!(json["problem"]["code"], "terms_not_accepted", "{json}");
    assert_eq!(json["terms"][0]["provider"], "anthropic:api.anthropic.com");
}

/// `script` of util-linux gives the program a terminal and types what it is given.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_asks() {
    use std::process::{Command, Stdio};
    let (stub, words) = stub(Dialect::Claude);
    let home = Home::with_sample(PROGRAM);
    let line = format!("{PROGRAM} {}", words.join(" "));
    let type_in = |answer: &str| -> Ran {
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(home.project())
            .env_clear()
            .env("HOME", home.home())
            .env("PATH", "/usr/bin:/bin")
            .env("SKILLOPT_DATA_DIR", home.data())
            .env("SKILLOPT_CONFIG_DIR", home.home().join("skillopt-config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut typed = child.stdin.take().unwrap();
        typed.write_all(answer.as_bytes()).unwrap();
        // Closing it would close the terminal.
        let ran = child.wait_with_output().unwrap().into();
        drop(typed);
        ran
    };
    let no = type_in("n\n");
    assert!(no.out.contains("May nights ask claude"), "{}", no.out);
    assert_eq!(no.code, 75, "{}", no.out);
    assert_eq!(stub.asked().len(), 0);
    let yes = type_in("y\n");
    assert_eq!(yes.code, 0, "{}", yes.out);
    assert!(!stub.asked().is_empty());
    let later = type_in("");
    assert!(!later.out.contains("May nights ask"), "{}", later.out);
}
