//! Every layer, and every bad input.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_settings::{
    ConfigPaths, GateMode, Kind, Layer, Layers, ProjectRef, REPOSITORY_FILE, ROWS, Resolved, Row,
    Scope, Settings, Source,
};

/// A home for the files of one test.
struct Place {
    dir: tempfile::TempDir,
    env: BTreeMap<String, String>,
    flags: Vec<(String, String)>,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            env: BTreeMap::new(),
            flags: Vec::new(),
        }
    }

    fn paths(&self) -> ConfigPaths {
        ConfigPaths::at(&self.dir.path().join("config"))
    }

    fn write(&self, path: &Path, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path)
            .unwrap()
            .write_all(bytes.as_ref())
            .unwrap();
        self
    }

    fn user(&self, text: impl AsRef<[u8]>) -> &Self {
        self.write(&self.paths().user, text)
    }

    fn project(&self, text: &str) -> &Self {
        self.write(&self.paths().project("0123abcd"), text)
    }

    fn repository(&self, text: &str) -> &Self {
        self.write(&self.dir.path().join("repo").join(REPOSITORY_FILE), text)
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.push((name.into(), value.into()));
        self
    }

    fn load(&self) -> Result<Resolved, Problem> {
        let project = ProjectRef {
            id: "0123abcd".into(),
            root: self.dir.path().join("repo"),
        };
        Layers::load(&self.paths(), Some(&project), &self.env, &self.flags)
    }

    #[track_caller]
    fn settings(&self) -> Settings {
        self.load().unwrap().settings
    }

    #[track_caller]
    fn problem(&self, code: &str, parts: &[&str]) -> Problem {
        let problem = self.load().unwrap_err();
        assert_eq!(problem.code, code, "{}", problem.message);
        for part in parts {
            assert!(
                problem.message.contains(part),
                "{:?} misses {part:?}",
                problem.message
            );
        }
        assert!(problem.message.ends_with(['.', '?']) && !problem.guidance.is_empty());
        problem
    }

    #[track_caller]
    fn warning(&self, code: &str, parts: &[&str]) {
        let resolved = self.load().unwrap();
        let found = resolved.warnings.iter().any(|warning| {
            warning.code == code
                && parts.iter().all(|part| warning.message.contains(part))
                && warning.message.ends_with('.')
                || warning.code == code
                    && warning.message.ends_with('?')
                    && parts.iter().all(|part| warning.message.contains(part))
        });
        assert!(found, "no {code} with {parts:?} in {:?}", resolved.warnings);
    }
}

/// A value that differs from the default, as JSON and as plain text.
fn other(row: &Row) -> (Value, String) {
    match row.kind {
        Kind::Bool => {
            let flipped = Settings::default().get(row) == json!(false);
            (json!(flipped), flipped.to_string())
        }
        Kind::Whole { most, .. } => (json!(most.min(7)), most.min(7).to_string()),
        Kind::Number { least, most, .. } => {
            let value = (least + most.min(1.0)) / 4.0;
            (json!(value), value.to_string())
        }
        Kind::Choice(choices) => {
            let word = choices.words.last().unwrap();
            let word = if Settings::default().get(row) == json!(word) {
                choices.words.first().unwrap()
            } else {
                word
            };
            (json!(word), (*word).to_owned())
        }
        Kind::Backend { .. } => (json!("handoff"), "handoff".into()),
        Kind::Text | Kind::Path | Kind::SkillName => (json!("some-thing"), "some-thing".into()),
        Kind::Address => (
            json!("http://localhost:8080/v1"),
            "http://localhost:8080/v1".into(),
        ),
        Kind::Variable => (json!("MY_KEY"), "MY_KEY".into()),
        Kind::List => (json!(["one", "two"]), "one,two".into()),
    }
}

fn toml(value: &Value) -> String {
    value.to_string()
}

#[test]
fn every_key_goes_round_through_every_layer() {
    for row in ROWS {
        let (value, text) = other(row);
        let default = Settings::default().get(row);
        assert_ne!(value, default, "{}", row.key);
        assert_eq!(Place::new().settings().get(row), default);

        let file = format!("[{}]\n{} = {}\n", row.group(), row.field, toml(&value));
        let place = Place::new();
        place.user(&file);
        assert_eq!(
            place.settings().get(row),
            value,
            "{} in the user's file",
            row.key
        );
        assert_eq!(
            place.load().unwrap().explain(row.key).unwrap().layer,
            Layer::User
        );

        let place = Place::new();
        place.project(&format!("{} = {}\n", row.key, toml(&value)));
        assert_eq!(
            place.settings().get(row),
            value,
            "{} in the project's file",
            row.key
        );
        assert_eq!(
            place.load().unwrap().explain(row.field).unwrap().layer,
            Layer::Project
        );

        let place = Place::new().env(&row.variable(), &text);
        assert_eq!(place.settings().get(row), value, "{}", row.variable());
        assert_eq!(
            place.load().unwrap().explain(row.key).unwrap().layer,
            Layer::Environment
        );

        let mut place = Place::new();
        match &value {
            Value::Array(items) => {
                for item in items {
                    place = place.flag(row.flag, item.as_str().unwrap());
                }
            }
            _ => place = place.flag(&format!("--{}", row.flag), &text),
        }
        assert_eq!(place.settings().get(row), value, "--{}", row.flag);
        let explained = place.load().unwrap().explain(row.key).unwrap();
        assert_eq!(
            (explained.layer, explained.value, explained.default),
            (Layer::Flag, value.clone(), default)
        );

        // Only the one setting changes, and JSON has it.
        let json = serde_json::to_value(place.settings()).unwrap();
        let changed: Vec<_> = ROWS
            .iter()
            .filter(|other| {
                json[other.key] != serde_json::to_value(Settings::default()).unwrap()[other.key]
            })
            .map(|other| other.key)
            .collect();
        assert_eq!(changed, [row.key]);
        assert_eq!(json[row.key], value);
    }
}

#[test]
fn each_layer_is_above_the_one_before() {
    let mut place = Place::new();
    let value = |place: &Place| place.settings().max_tasks_per_night;
    assert_eq!(value(&place), 40);
    place.user("[mines]\nmax_tasks_per_night = 30\n");
    assert_eq!(value(&place), 30);
    place.project("[mines]\nmax_tasks_per_night = 20\n");
    assert_eq!(value(&place), 20);
    place.repository("[mines]\nmax_tasks_per_night = 10\n");
    assert_eq!(value(&place), 10);
    place = place.env("SKILLOPT_MAX_TASKS_PER_NIGHT", "50");
    assert_eq!(value(&place), 50);
    place = place.flag("max-tasks", "60");
    assert_eq!(value(&place), 60);
    let explained = place
        .load()
        .unwrap()
        .explain("max_tasks_per_night")
        .unwrap();
    let layers: Vec<_> = explained.given.iter().map(|given| given.layer).collect();
    assert_eq!(
        layers,
        [
            Layer::User,
            Layer::Project,
            Layer::Repository,
            Layer::Environment,
            Layer::Flag
        ]
    );
    assert!(
        explained.given[0].place.ends_with("settings.toml, line 2"),
        "{}",
        explained.given[0].place
    );
    assert_eq!(
        explained.given[3].place,
        "by the variable SKILLOPT_MAX_TASKS_PER_NIGHT"
    );
    assert_eq!(explained.given[4].place, "by --max-tasks");
}

#[test]
fn under_a_file_only_the_layers_below_it_count() {
    let place = Place::new();
    place
        .user("models.backend = \"claude\"")
        .project("models.backend = \"handoff\"");
    let below = |file| Layers::below(&place.paths(), file).unwrap();
    assert_eq!(below(Layer::User), Settings::default());
    assert_eq!(below(Layer::Project).backend, "claude");
    place.user("[broken");
    assert_eq!(
        below(Layer::User),
        Settings::default(),
        "a broken file can be set anew"
    );
    assert_eq!(
        Layers::below(&place.paths(), Layer::Project)
            .unwrap_err()
            .code,
        "config_broken"
    );
}

#[test]
fn without_a_project_only_the_users_layers_count() {
    let place = Place::new();
    place
        .user("reads.scope = \"all\"")
        .project("reads.scope = \"parents\"");
    let resolved = Layers::load(&place.paths(), None, &place.env, &[]).unwrap();
    assert_eq!(resolved.settings.scope, Scope::All);
}

#[test]
fn words_of_the_reference_are_understood() {
    let place = Place::new();
    place.user("[gate]\nmode = \"on\"\n[reads]\nscope = \"invoked\"\n");
    assert_eq!(
        (place.settings().mode, place.settings().scope),
        (GateMode::Strict, Scope::Project)
    );
    for word in ["off", "None", " false ", "greedy"] {
        assert_eq!(
            Place::new().flag("gate-mode", word).settings().mode,
            GateMode::Off,
            "{word}"
        );
    }
    assert_eq!(
        Place::new().flag("source", "Codex").settings().source,
        Source::Only(Agent::Codex)
    );
}

#[test]
fn every_agent_is_a_source() {
    for agent in Agent::ALL {
        let settings = Place::new().flag("source", agent.id()).settings();
        assert_eq!(settings.source, Source::Only(agent));
        assert_eq!(serde_json::to_value(settings.source).unwrap(), agent.id());
    }
    assert_eq!(Source::WORDS.first(), Some(&"auto"));
    assert_eq!(Source::WORDS.last(), Some(&"reference-auto"));
    assert_eq!(Source::WORDS.len(), Agent::ALL.len() + 2);
}

#[test]
fn variables_of_the_reference() {
    let place = Place::new()
        .env("SKILLOPT_SLEEP_NEG_FEEDBACK", "schlecht, falsch")
        .env("SKILLOPT_SLEEP_POS_FEEDBACK", "gut")
        .env("SKILLOPT_SLEEP_AGENT_MARKERS", "You are a bot")
        .env("SKILLOPT_SLEEP_WORKERS", "3")
        .env("SKILLOPT_SLEEP_PROMPTS_PATH", "/x/prompts.json")
        .env("SKILLOPT_SLEEP_HANDOFF_DIR", "/x/handoff")
        .env("SKILLOPT_SLEEP_CLAUDE_MODEL", "sonnet")
        .env("SKILLOPT_SLEEP_CODEX_MODEL", "gpt-6")
        .env("SKILLOPT_SLEEP_CODEX_PATH", "/x/codex");
    let settings = place.settings();
    assert_eq!(settings.negative_words, ["schlecht", "falsch"]);
    assert_eq!(settings.positive_words, ["gut"]);
    assert_eq!(settings.agent_markers, ["You are a bot"]);
    assert_eq!(settings.concurrency, 3);
    assert_eq!(settings.prompts, "/x/prompts.json");
    assert_eq!(settings.handoff_dir, "/x/handoff");
    assert_eq!(settings.codex_path, "/x/codex");
    // §2.5: a default for the model of an agent, when none is configured.
    assert_eq!(settings.model, "");
    let codex = Place::new()
        .env("SKILLOPT_SLEEP_CODEX_MODEL", "gpt-6")
        .flag("backend", "codex_cli");
    assert_eq!(codex.settings().model, "gpt-6");
    let place = place.flag("backend", "claude");
    assert_eq!(place.settings().model, "sonnet");
    assert_eq!(place.flag("model", "opus").settings().model, "opus");
    // Our own variable wins.
    let place = Place::new()
        .env("SKILLOPT_SLEEP_WORKERS", "3")
        .env("SKILLOPT_CONCURRENCY", "4");
    assert_eq!(place.settings().concurrency, 4);
    Place::new().env("SKILLOPT_SLEEP_WORKERS", "0").problem(
        "setting_invalid",
        &["SKILLOPT_SLEEP_WORKERS", "from 1 to 256"],
    );
}

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
fn an_empty_file_a_mark_and_windows_line_ends_are_fine() {
    let place = Place::new();
    place.user("");
    assert_eq!(place.settings(), Settings::default());
    place.user("\u{feff}[models]\r\nmodel = \"x\"\r\n");
    assert_eq!(place.settings().model, "x");
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

#[test]
fn a_repository_can_only_restrict() {
    let place = Place::new();
    place.user("reads.exclude = [\"a\"]").repository(
        "[reads]\nexclude = [\"b\", \"a\"]\n[changes]\nskill = false\nmemory = false\n[mines]\nmax_tasks_per_night = 5\n",
    );
    let settings = place.settings();
    assert_eq!(settings.exclude, ["a", "b"]);
    assert!(!settings.skill && !settings.memory);
    assert_eq!(settings.max_tasks_per_night, 5);
    // What it excludes stays excluded under a flag; the rest is the user's to say.
    let place = place.flag("exclude", "c").flag("skill", "true");
    assert_eq!(place.settings().exclude, ["c", "b", "a"]);
    assert!(place.settings().skill);

    let place = Place::new();
    place
        .user("[changes]\nskill = false\nmemory = false\n")
        .repository("[changes]\nskill = true\n[mines]\nmax_tasks_per_night = 41\n");
    place.warning(
        "repository_setting_refused",
        &["changes.skill", "line 2", "only turn it off"],
    );
    place.warning(
        "repository_setting_refused",
        &["mines.max_tasks_per_night", "line 4", "only lower it"],
    );
    assert!(!place.settings().skill);
    assert_eq!(place.settings().max_tasks_per_night, 40);
}

#[test]
fn a_repository_cannot_set_anything_else() {
    let allowed = [
        "reads.exclude",
        "changes.skill",
        "changes.memory",
        "mines.max_tasks_per_night",
    ];
    for row in ROWS {
        assert_eq!(
            row.repository.is_some(),
            allowed.contains(&row.key),
            "{}",
            row.key
        );
        if row.repository.is_none() {
            let place = Place::new();
            place.repository(&format!("{} = {}\n", row.key, toml(&other(row).0)));
            place.warning(
                "repository_setting_refused",
                &[row.key, ".skillopt.toml, line 1"],
            );
            assert_eq!(place.settings(), Settings::default(), "{}", row.key);
        }
    }
    let place = Place::new();
    place.repository("[models]\ncommand = \"rm -rf /\"\n");
    place.warning("setting_unknown", &["models.command"]);
    let place = Place::new();
    place.repository("[changes]\nskill = \"false\"\n");
    place.problem("setting_invalid", &["changes.skill", ".skillopt.toml"]);
}

#[cfg(unix)]
#[test]
fn a_repository_cannot_point_elsewhere() {
    let place = Place::new();
    let repo = place.dir.path().join("repo");
    std::fs::create_dir_all(&repo).unwrap();
    let secret = place.dir.path().join("secret");
    place.write(&secret, "password = hunter2");
    std::os::unix::fs::symlink(&secret, repo.join(REPOSITORY_FILE)).unwrap();
    let problem = place.problem("config_unreadable", &["regular file"]);
    assert!(!problem.message.contains("hunter2"));
}

#[test]
fn a_project_id_names_no_file_elsewhere() {
    let paths = ConfigPaths::at(Path::new("/c"));
    assert_eq!(
        paths.project("../../x/y"),
        Path::new("/c/projects/______x_y.toml")
    );
}

#[test]
fn lists_of_variables_keep_globs_whole() {
    let place = Place::new().env("SKILLOPT_EXCLUDE", "**/*.{key,pem}, secret/**");
    assert_eq!(place.settings().exclude, ["**/*.{key,pem}", "secret/**"]);
    let place = Place::new().env("SKILLOPT_EXCLUDE", "[\"a,b\", 'c']");
    assert_eq!(place.settings().exclude, ["a,b", "c"]);
    // An empty flag empties a list.
    let place = Place::new().flag("exclude", "");
    place.user("reads.exclude = [\"a\"]");
    assert!(place.settings().exclude.is_empty());
}

#[test]
fn a_night_is_pinned_to_what_decides_its_questions_and_nothing_else() {
    let settings = Place::new()
        .flag("max-tasks", "9")
        .flag("max-calls", "9")
        .flag("hour", "9")
        .settings();
    let pinned = settings.pinned();
    assert_eq!(pinned["mines.max_tasks_per_night"], 9);
    assert!(
        pinned.get("spends.max_calls_per_night").is_none() && pinned.get("schedule.hour").is_none()
    );
}
