//! What may not be written, and what is said of it.

use super::*;

#[test]
fn a_broken_file_stops_everything_and_is_named_with_line_and_column() {
    let place = Place::new();
    place.user("# mine\n[mines]\nmax_tasks_per_night = = 3\n");
    let problem = place.problem("config_broken", &["settings.toml", "line 3, column 23"]);
    assert!(!problem.message.contains('\n'));
    let place = Place::new();
    place.project("[gate\n");
    place.problem("config_broken", &["0123abcd.toml", "line 1"]);
    let place = Place::new();
    place.repository("exclude = [\n");
    place.problem("config_broken", &[".skillopt.toml"]);
    let place = Place::new();
    place.user(b"model = \"\xff\"\n");
    place.problem("config_broken", &["UTF-8", "line 1, column 10"]);
    let place = Place::new();
    place.user("[gate]\nmode = \"off\"\nmode = \"off\"\n");
    place.problem("config_broken", &["line 3"]);
    let place = Place::new();
    place.user(" ".repeat((1 << 20) + 1));
    place.problem("config_unreadable", &["larger"]);
    let place = Place::new();
    std::fs::create_dir_all(place.paths().user).unwrap();
    place.problem("config_unreadable", &["settings.toml"]);
}

#[test]
fn words_of_ones_own_are_as_many_and_as_long_as_is_said() {
    let list = |count: usize, length: usize| {
        let word = "ä".repeat(length);
        let words: Vec<String> = (0..count)
            .map(|number| format!("\"{word}{number:04}\""))
            .collect();
        format!("reads.negative_words = [{}]", words.join(", "))
    };
    let place = Place::new();
    place.user(list(1000, 196));
    assert_eq!(place.settings().negative_words.len(), 1000);
    for (text, parts) in [
        (list(1, 197), &["at most 200 characters", "has 201"][..]),
        (list(1001, 1), &["a list of 1001 entries", "at most 1000"]),
    ] {
        let place = Place::new();
        place.user(text);
        place.problem("setting_invalid", parts);
    }
}

#[test]
fn wrong_types_and_ranges_name_key_layer_and_what_is_allowed() {
    for (line, parts) in [
        (
            "mines.max_tasks_per_night = \"ten\"",
            &[
                "mines.max_tasks_per_night",
                "line 1",
                "\"ten\"",
                "from 1 to 10000",
            ][..],
        ),
        (
            "mines.max_tasks_per_night = \"10\"",
            &["the text \"10\"", "without quotes"],
        ),
        (
            "mines.max_tasks_per_night = 0",
            &["is 0,", "from 1 to 10000"],
        ),
        ("mines.max_tasks_per_night = -3", &["is -3,"]),
        ("mines.max_tasks_per_night = 2.5", &["is 2.5,"]),
        (
            "gate.no_regression = \"false\"",
            &["the text \"false\"", "true or false", "without quotes"],
        ),
        ("gate.no_regression = 1", &["is 1,", "true or false"]),
        (
            "gate.mixed_weight = nan",
            &["gate.mixed_weight", "from 0 to 1"],
        ),
        ("gate.mixed_weight = inf", &["gate.mixed_weight"]),
        ("gate.mixed_weight = 1.5", &["is 1.5,"]),
        ("gate.metric = \"medium\"", &["hard, soft or mixed"]),
        ("gate.metric = \"mixd\"", &["did you mean \"mixed\"?"]),
        ("gate.mode = false", &["strict or off"]),
        ("reads.exclude = \"x\"", &["a list of"]),
        ("reads.exclude = [1]", &["entries must be texts"]),
        ("reads.source = \"gazelle\"", &["auto, claude, codex"]),
        ("gate.mode = \"confident\"", &["this version does not have"]),
        ("models.temperature = 3", &["from 0 to 2"]),
        ("models.endpoint = \"localhost:8080\"", &["http://"]),
        (
            "models.endpoint = \"http://me:secret@host\"",
            &["without a password"],
        ),
        (
            "models.endpoint = \"http://[::1\"",
            &["models.endpoint", "\"http://[::1\"", "IPv6"],
        ),
        ("models.endpoint = \"http://\"", &["host"]),
        ("models.endpoint = \"http://a b/v1\"", &["invalid"]),
        ("models.endpoint = \"http://host:99999\"", &["port"]),
        (
            "models.target_endpoint = \"https://host/v1?key=x\"",
            &["models.target_endpoint", "after ? or #"],
        ),
        (
            "reads.exclude = [\"ok\", \"[z-a]\"]",
            &["reads.exclude", "\"[z-a]\"", "globs", "range"],
        ),
        ("reads.exclude = [\"~bob/x\"]", &["only ~/ stands"]),
        ("models.local_ports = [\"http\"]", &["from 1 to 65535"]),
        ("models.local_ports = [\"0\"]", &["from 1 to 65535"]),
        (
            "models.prompts = \"~bob/prompts.json\"",
            &["models.prompts", "a path", "only ~/ stands"],
        ),
        ("changes.skill_roots = [\"~bob\"]", &["only ~/ stands"]),
        (
            "reads.pi_home = \"~bob\"",
            &["a path, or a list", "only ~/ stands"],
        ),
        ("reads.pi_home = [\"/a\", 1]", &["entries must be texts"]),
        ("reads.pi_home = 1", &["is 1,", "a path, or a list"]),
        ("changes.target_skill_path = \"~bob\"", &["only ~/ stands"]),
        ("models.model = \"a\\nb\"", &["control characters"]),
        ("changes.managed_skill_name = \"../x\"", &["hyphens"]),
        ("schedule.hour = 24", &["from 0 to 23"]),
        ("schedule.hour = 03:00:00", &["from 0 to 23"]),
        ("[reads.source]\nx = 1", &["reads.source"]),
        ("[[reads.source]]", &["reads.source"]),
    ] {
        let place = Place::new();
        place.user(line);
        let problem = place.problem("setting_invalid", parts);
        assert!(
            problem.message.contains("settings.toml, line 1"),
            "{}",
            problem.message
        );
        assert!(!problem.message.contains("secret"), "{}", problem.message);
    }
    Place::new().env("SKILLOPT_NO_REGRESSION", "maybe").problem(
        "setting_invalid",
        &["by the variable SKILLOPT_NO_REGRESSION"],
    );
    Place::new()
        .flag("max-tasks", "-1")
        .problem("setting_invalid", &["by --max-tasks", "\"-1\""]);
    Place::new()
        .flag("gate-mixed-weight", "inf")
        .problem("setting_invalid", &["from 0 to 1"]);
}

#[test]
fn shares_must_leave_something_to_train_on() {
    let place = Place::new()
        .flag("validation-fraction", "0.6")
        .flag("test-fraction", "0.4");
    place.problem("fractions_invalid", &["0.6", "0.4"]);
    assert_eq!(
        Place::new()
            .flag("validation-fraction", "0")
            .settings()
            .validation_fraction,
        0.0
    );
}

#[test]
fn an_unknown_backend_is_refused_with_the_list_and_a_suggestion() {
    let list = "mock, persona-sim, openai_compatible, anthropic, azure_openai, qwen, minimax, claude, codex, copilot, cursor, opencode, pi, handoff or cassette";
    let place = Place::new();
    place.user("[models]\nbackend = \"cluade\"\n");
    place.problem(
        "backend_unknown",
        &[
            "models.backend",
            "line 2",
            "\"cluade\"",
            list,
            "did you mean \"claude\"?",
        ],
    );
    Place::new()
        .env("SKILLOPT_TARGET_BACKEND", "gpt")
        .problem("backend_unknown", &["models.target_backend", list]);
    Place::new()
        .flag("backend", "")
        .problem("backend_unknown", &[list]);
    assert_eq!(
        Place::new()
            .flag("target-backend", "")
            .settings()
            .target_backend,
        ""
    );
    assert_eq!(
        Place::new()
            .flag("backend", "openai-compatible")
            .settings()
            .backend,
        "openai_compatible"
    );
}

#[test]
fn unknown_and_retired_keys_are_reported_by_name() {
    for (line, code, parts) in [
        (
            "[reads]\nexlude = []",
            "setting_unknown",
            &["reads.exlude", "did you mean reads.exclude?", "line 2"][..],
        ),
        (
            "max_tasks_per_night = 3",
            "setting_unknown",
            &["did you mean mines.max_tasks_per_night?"],
        ),
        (
            "models.max_calls_per_night = 3",
            "setting_unknown",
            &["did you mean spends.max_calls_per_night?"],
        ),
        (
            "gate_mode = \"off\"",
            "setting_renamed",
            &["gate_mode is now gate.mode"],
        ),
        (
            "evolve_skill = false",
            "setting_renamed",
            &["now changes.skill"],
        ),
        (
            "holdout_fraction = 0.2",
            "setting_renamed",
            &["now splits.validation_fraction"],
        ),
        (
            "max_tokens_per_night = 1",
            "setting_unknown",
            &["did you mean spends.max_tokens_per_night?"],
        ),
        (
            "redact_secrets = false",
            "setting_retired",
            &["secrets are always redacted"],
        ),
        (
            "[models]\napi_key = \"sk-abcdefghijklmnop\"",
            "setting_unknown",
            &["models.api_key_env"],
        ),
        ("zebra = 1", "setting_unknown", &["zebra"]),
        ("[deep.er]\nx = 1", "setting_unknown", &["deep.er"]),
        ("[[list]]\nx = 1", "setting_unknown", &["list"]),
    ] {
        let place = Place::new();
        place.user(line);
        place.warning(code, parts);
        assert_eq!(place.settings(), Settings::default(), "{line}");
        assert!(
            place
                .load()
                .unwrap()
                .warnings
                .iter()
                .all(|warning| !warning.message.contains("abcdefgh"))
        );
    }
    let place = Place::new().flag("no-such-flag", "1");
    place.problem("setting_unknown", &["no-such-flag"]);
    let place = Place::new();
    let problem = place.load().unwrap().explain("modle").unwrap_err();
    assert_eq!(
        (
            problem.code.as_ref(),
            problem.message.contains("models.model")
        ),
        ("setting_unknown", true),
        "{problem}"
    );
    Place::new()
        .env("SKILLOPT_MAX_TASK_PER_NIGHT", "1")
        .warning("variable_unknown", &["SKILLOPT_MAX_TASKS_PER_NIGHT"]);
    let quiet = Place::new()
        .env("SKILLOPT_DATA_DIR", "/x")
        .env("SKILLOPT_SLEEP_CODEX_MODEL", "x")
        .env("SKILLOPT_SOMETHING_ELSE", "x");
    assert_eq!(quiet.load().unwrap().warnings, []);
}

#[test]
fn a_key_itself_is_never_taken_for_the_name_of_a_variable() {
    for key in [
        "sk-abcdefghijklmnopqrstuv",
        "AIzaSyA1234567890abcdefghijk",
        "0a1b2c3d4e5f6a7b8c9d0e1f",
    ] {
        let problem = Place::new()
            .flag("api-key-env", key)
            .problem("setting_invalid", &["environment variable"]);
        assert!(!problem.message.contains(key), "{}", problem.message);
    }
    assert_eq!(
        Place::new()
            .flag("api-key-env", "OPENAI_API_KEY")
            .settings()
            .api_key_env,
        "OPENAI_API_KEY"
    );
}

/// Joined here, so that nothing looks for these keys in this file.
fn keys() -> [String; 4] {
    [
        ["sk-proj-", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"].concat(),
        ["sk-ant-", "api03-abcdefghijklmnopqrstuvwxyz0123456789"].concat(),
        ["api_key=", "abcdefghijklmnop0123456789"].concat(),
        ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat(),
    ]
}

#[test]
fn a_key_in_a_free_text_is_refused_wherever_it_is_given() {
    for key in keys() {
        for (flag, name) in [
            ("model", "models.model"),
            ("preferences", "changes.preferences"),
        ] {
            let of_flag = Place::new().flag(flag, &key);
            let of_file = Place::new();
            let (group, field) = name.split_once('.').unwrap();
            of_file.user(format!("[{group}]\n{field} = \"{key}\"\n"));
            let of_project = Place::new();
            of_project.project(&format!("[{group}]\n{field} = \"{key}\"\n"));
            for place in [of_flag, of_file, of_project] {
                let problem = place.problem("setting_invalid", &[name, "looks like a key"]);
                let said = format!("{problem:?}");
                assert!(!said.contains(&key), "{said}");
                assert!(said.contains("skillopt key set"), "{said}");
            }
            let written = skillopt_settings::set(
                "",
                Path::new("settings.toml"),
                name,
                &key,
                &Settings::default(),
            );
            assert_eq!(written.unwrap_err().code, "setting_invalid");
        }
        for address in [
            format!("https://models.example.org/v1?api_key={key}"),
            format!("https://me:{key}@models.example.org/v1"),
            format!("https://models.example.org/{key}/v1"),
        ] {
            let problem = Place::new()
                .flag("endpoint", &address)
                .problem("setting_invalid", &["models.endpoint"]);
            let said = format!("{problem:?}");
            let secret = key.trim_start_matches("api_key=");
            assert!(!said.contains(secret), "{said}");
        }
    }
}

#[test]
fn names_of_models_are_no_keys() {
    for model in [
        "gpt-4o-2024-08-06",
        "ft:gpt-4o-mini-2024-07-18:my-org:custom-suffix:7p4lURel",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        "hf.co/unsloth/DeepSeek-R1-Distill-Llama-8B-GGUF:Q4_K_M",
        "/models/Qwen2.5-0.5B-Instruct-Q4_K_M.gguf",
        "accounts/fireworks/models/llama-v3p1-8b-instruct",
        "projects/my-project/locations/us-central1/endpoints/1234567890123456789",
        "sk-learn-large",
        "token-classifier-v2",
    ] {
        assert_eq!(Place::new().flag("model", model).settings().model, model);
    }
    let identity = "d2f8c1b4-7a3e-4f0b-9c6d-5e1a2b3c4d5e";
    let place = Place::new().flag("azure-client-id", identity);
    assert_eq!(place.settings().azure_client_id, identity);
    for endpoint in [
        "https://gateway.ai.cloudflare.com/v1/0123456789abcdef0123456789abcdef/gw/openai",
        "http://127.0.0.1:8080/v1",
        "https://my-resource-7f3k2.openai.azure.com",
    ] {
        let place = Place::new().flag("endpoint", endpoint);
        assert_eq!(place.settings().endpoint, endpoint);
    }
}
