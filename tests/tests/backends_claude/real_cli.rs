//! The real program in a home full of things that must not reach a model.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use skillopt_models::claude::{Claude, Options, SignIn};
use skillopt_models::{Backend as _, CancelToken};
use skillopt_store::SystemClock;
use skillopt_tests::stub_server::StubServer;

/// In every file of the home.
const CANARY: &str = "CANARY";

pub(crate) async fn check(program: &Path) {
    let home = tempfile::tempdir().unwrap();
    let secret = furnish(home.path());
    let server = StubServer::start();
    server.brain(|_| "Paris".to_owned());
    for key in [None, Some("sk-ant-stub-key")] {
        let mut environment: std::collections::BTreeMap<String, String> = [
            ("HOME", home.path().display().to_string()),
            ("PATH", std::env::var("PATH").unwrap()),
            ("LANG", "C.UTF-8".to_owned()),
            ("ANTHROPIC_BASE_URL", format!("http://{}", server.address())),
            ("CLAUDECODE", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        if let Some(key) = key {
            environment.insert("ANTHROPIC_API_KEY".into(), key.into());
        }
        let claude = Claude::new(
            Options {
                path: program.to_owned(),
                model: String::new(),
                sign_in: SignIn::configured("", &environment).unwrap(),
                environment,
                first_byte: Duration::from_secs(120),
                whole: Duration::from_secs(120),
                clock: Arc::new(SystemClock),
                zone: TimeZone::UTC,
            },
            &CancelToken::new(),
        )
        .await
        .unwrap();
        assert_ne!(claude.signed_in(&CancelToken::new()).await, Some(false));
        let before = server.requests().len();
        for question in [
            format!(
                "/compact the text @{} and name the capital of France.",
                secret.display()
            ),
            format!("Is @{} a file? @~/.claude/CLAUDE.md", secret.display()),
        ] {
            let reply = claude
                .ask(&super::call(&question), &CancelToken::new())
                .await
                .unwrap();
            assert_eq!(reply.text, "Paris");
            assert!(reply.usage.output_tokens.is_some());
        }
        let requests = server.requests();
        let asked: Vec<_> = requests[before..]
            .iter()
            .filter(|request| request.path.starts_with("/v1/messages"))
            .collect();
        assert_eq!(asked.len(), 2, "one request for each question");
        for request in asked {
            let body = request.body.to_string();
            assert!(
                body.contains("Be brief."),
                "our own instructions are missing"
            );
            assert!(body.contains("France") || body.contains("a file?"));
            assert!(
                !body.contains(CANARY),
                "something of the user's is in: {body}"
            );
            assert!(request.body["tools"].as_array().is_none_or(Vec::is_empty));
            let signed_in = request
                .header("x-api-key")
                .or(request.header("authorization"));
            match key {
                Some(key) => assert_eq!(signed_in, Some(key)),
                None => assert_eq!(signed_in, Some("Bearer sk-ant-oat01-stub")),
            }
        }
    }
    assert!(
        !home.path().join("hook-ran").exists(),
        "a hook of the user ran"
    );
    assert!(
        !home.path().join("server-ran").exists(),
        "a tool server of the user ran"
    );
    assert!(
        !home.path().join(".claude/projects").exists(),
        "a session was saved"
    );
}

/// Fills a home with instructions, skills, commands, agents, hooks, a tool server and a sign-in;
/// the path of a secret file in it.
fn furnish(home: &Path) -> std::path::PathBuf {
    let file = |name: &str, text: &str| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(&path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        path
    };
    file(
        ".claude/CLAUDE.md",
        &format!("{CANARY} always answer like a pirate"),
    );
    file(".claude/rules/rule.md", &format!("{CANARY} rule"));
    for (name, kind) in [
        ("skills/own/SKILL.md", "skill"),
        ("commands/own.md", "command"),
        ("agents/own.md", "agent"),
    ] {
        file(
            &format!(".claude/{name}"),
            &format!("---\nname: own\ndescription: {CANARY} {kind}\n---\n{CANARY} {kind}\n"),
        );
    }
    let hook = format!(
        r#"[{{"hooks":[{{"type":"command","command":"echo {CANARY}; touch '{}'"}}]}}]"#,
        home.join("hook-ran").display()
    );
    file(
        ".claude/settings.json",
        &format!(
            r#"{{"hooks":{{"SessionStart":{hook},"UserPromptSubmit":{hook}}},"outputStyle":"Explanatory"}}"#
        ),
    );
    file(
        ".claude.json",
        &format!(
            r#"{{"hasCompletedOnboarding":true,"mcpServers":{{"own":{{"type":"stdio","command":"touch","args":["{}"]}}}}}}"#,
            home.join("server-ran").display()
        ),
    );
    file(
        ".claude/.credentials.json",
        r#"{"claudeAiOauth":{"accessToken":"sk-ant-oat01-stub","refreshToken":"sk-ant-ort01-stub","expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}"#,
    );
    file("secret.txt", &format!("{CANARY} secret"))
}
