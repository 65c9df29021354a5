//! Taking over the reference's `config.json`.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use std::path::Path;

use serde_json::json;
use skillopt_settings::import::{Import, read};

#[track_caller]
fn import(config: &serde_json::Value) -> Import {
    read(&config.to_string(), Path::new("config.json")).unwrap()
}

fn why<'i>(import: &'i Import, name: &str) -> &'i str {
    &import
        .ignored
        .iter()
        .find(|ignored| ignored.reference == name)
        .unwrap()
        .why
}

#[test]
fn agents_and_their_homes_keep_their_meaning() {
    for (config, key, value) in [
        (
            json!({"transcript_source": "copilot"}),
            "reads.source",
            json!("vscode"),
        ),
        (
            json!({"transcript_source": "copilot_cli"}),
            "reads.source",
            json!("copilot"),
        ),
        (
            json!({"transcript_source": "pi"}),
            "reads.source",
            json!("pi"),
        ),
        (
            json!({"pi_home": "/srv/pi/"}),
            "reads.pi_home",
            json!(["/srv/pi/agent"]),
        ),
        (
            json!({"cursor_home": "/srv/cursor"}),
            "reads.cursor_home",
            json!(["/srv/cursor"]),
        ),
    ] {
        let import = import(&config);
        let taken: Vec<_> = import
            .taken
            .iter()
            .map(|taken| (taken.key, taken.value.clone()))
            .collect();
        assert_eq!(taken, [(key, value)], "{config}");
    }
    for usual in ["pi_home", "cursor_home"] {
        let folder = format!("~/.{}", usual.trim_end_matches("_home"));
        let import = import(&json!({usual: folder}));
        assert_eq!(why(&import, usual), "it is the default");
    }
}

#[test]
fn known_names_are_taken_and_the_rest_is_explained() {
    let import = import(&json!({
        "transcript_source": "auto", "projects": "invoked", "lookback_hours": -1, "val_fraction": 0.5, "holdout_fraction": 0.2,
        "backend": "claude", "gate_mode": " Greedy ", "evolve_memory": false, "dream_rollouts": 3, "max_tasks_per_night": "ten",
        "max_tokens_per_night": 1000, "redact_secrets": false, "opencode_path": "", "seed": 42, "model": null, "evolve_skill": "false",
        "skill_roots": ["/a", "/b"], "gate_mixed_weight": 7, "optimizer_backend": "azure_openai", "preferences": "Be short.", "zzz": 1,
        "claude_home": "~/.claude", "auto_adopt": true,
    }));
    let taken: Vec<_> = import
        .taken
        .iter()
        .map(|taken| (taken.key, taken.value.clone()))
        .collect();
    assert_eq!(
        taken,
        [
            ("reads.source", json!("reference-auto")),
            ("reads.lookback_hours", json!(0)),
            ("splits.validation_fraction", json!(0.5)),
            ("models.backend", json!("claude")),
            ("gate.mode", json!("off")),
            ("changes.memory", json!(false)),
            ("replays.rollouts", json!(3)),
            ("spends.max_tokens_per_night", json!(1000)),
            ("changes.skill_roots", json!(["/a", "/b"])),
            ("gate.mixed_weight", json!(1.0)),
            ("models.optimizer_backend", json!("azure_openai")),
            ("changes.preferences", json!("Be short.")),
            ("changes.auto_adopt", json!(true)),
        ]
    );
    assert_eq!(why(&import, "projects"), "it is the default");
    assert_eq!(why(&import, "seed"), "it is the default");
    assert_eq!(why(&import, "claude_home"), "it is the default");
    assert_eq!(
        why(&import, "holdout_fraction"),
        "val_fraction says the same and wins"
    );
    assert_eq!(why(&import, "model"), "it has no value");
    assert_eq!(
        why(&import, "redact_secrets"),
        "secrets are always redacted"
    );
    assert!(why(&import, "max_tasks_per_night").contains("\"ten\""));
    assert!(why(&import, "evolve_skill").contains("without quotes"));
    assert_eq!(why(&import, "opencode_path"), "it is the default");
    assert!(why(&import, "zzz").contains("does not have it either"));
    assert_eq!(
        import.taken.len() + import.ignored.len(),
        23,
        "every key is accounted for"
    );
}

#[test]
fn an_alias_counts_when_it_stands_alone_and_lists_of_projects_do_not() {
    let import = import(&json!({"holdout_fraction": 0.2, "projects": ["/a"]}));
    assert_eq!(import.taken[0].key, "splits.validation_fraction");
    assert!(why(&import, "projects").contains("skillopt project add"));
}

#[test]
fn what_the_file_says_already_stays() {
    let import = import(&json!({"backend": "claude", "max_tasks_per_night": 9}));
    let text = "# mine\n[models]\nbackend = \"handoff\"\n";
    let written = import.written_to(text, Path::new("settings.toml")).unwrap();
    assert_eq!(
        written,
        "# mine\n[models]\nbackend = \"handoff\"\n\n[mines]\nmax_tasks_per_night = 9\n"
    );
    assert_eq!(
        import
            .written_to(&written, Path::new("settings.toml"))
            .unwrap(),
        written
    );
}

#[test]
fn a_broken_file_is_named_with_its_place() {
    let problem = read("{\n  \"seed\": 1,\n}", Path::new("/h/config.json")).unwrap_err();
    assert_eq!(problem.code, "config_broken");
    assert!(
        problem
            .message
            .starts_with("/h/config.json is broken at line 3, column 1: trailing comma"),
        "{}",
        problem.message
    );
    assert_eq!(
        read("[1]", Path::new("c")).unwrap_err().code,
        "config_broken"
    );
    assert_eq!(read("", Path::new("c")).unwrap_err().code, "config_broken");
}

#[test]
fn backends_have_the_meaning_they_had_there() {
    // §10.1, the aliases of the reference.
    for (there, here) in [
        ("anthropic", Some("claude")),
        ("Claude_Code", Some("claude")),
        ("claude_cli", Some("claude")),
        ("openai_codex", Some("codex")),
        ("aoai", Some("azure_openai")),
        ("azure-responses", Some("azure_openai")),
        ("responses", Some("azure_openai")),
        ("gh_copilot", Some("copilot")),
        ("cursor_agent", Some("cursor")),
        ("opencode-cli", Some("opencode")),
        ("pi-coding-agent", Some("pi")),
        ("session", Some("handoff")),
        ("file", Some("handoff")),
        ("gpt", None),
    ] {
        for key in ["backend", "target_backend", "optimizer_backend"] {
            let import = import(&json!({ key: there }));
            let taken = import.taken.first().map(|taken| taken.value.clone());
            assert_eq!(taken, here.map(|word| json!(word)), "{key}: {there}");
            assert_eq!(import.ignored.is_empty(), here.is_some(), "{key}: {there}");
        }
    }
}
