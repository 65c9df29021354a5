//! Every layer, and every bad input.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_settings::{
    ConfigPaths, GateMode, Invocation, Kind, Layer, Layers, ProjectRef, REPOSITORY_FILE, ROWS,
    Resolved, Row, Scope, Settings, Source,
};

#[path = "layers/bad_values.rs"]
mod bad_values;
#[path = "layers/paths.rs"]
mod paths;
#[path = "layers/repository.rs"]
mod repository;

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
        Layers::load(&self.paths(), Some(&project), &self.invocation())
    }

    fn invocation(&self) -> Invocation<'_> {
        Invocation {
            environment: &self.env,
            flags: &self.flags,
            home: Path::new("/home/dana"),
            directory: Path::new("/here"),
        }
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
        Kind::Text | Kind::SkillName => (json!("some-thing"), "some-thing".into()),
        Kind::Path | Kind::ProjectPath => (json!("/some/thing"), "/some/thing".into()),
        Kind::Ports => (json!(["1", "65535"]), "1,65535".into()),
        Kind::Address => (
            json!("http://localhost:8080/v1"),
            "http://localhost:8080/v1".into(),
        ),
        Kind::Variable => (json!("MY_KEY"), "MY_KEY".into()),
        Kind::Form(form) => {
            let text = match form.name {
                "TIME" => "07:00",
                "HOURS" => "09:00-18:00",
                "DAYS" => "mon-fri",
                "CRON" => "17 3 * * 1-5",
                "ZONE" => "Europe/Paris",
                other => panic!("no value for {other}"),
            };
            (json!(text), text.into())
        }
        Kind::Paths => (json!(["/one", "/two"]), "/one,/two".into()),
        Kind::List | Kind::Phrases | Kind::Globs | Kind::ProjectPaths => {
            (json!(["one", "two"]), "one,two".into())
        }
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
    let below = |file| Layers::below(&place.paths(), file, &place.invocation()).unwrap();
    assert_eq!(below(Layer::User), Settings::default());
    assert_eq!(below(Layer::Project).backend, "claude");
    place.user("[broken");
    assert_eq!(
        below(Layer::User),
        Settings::default(),
        "a broken file can be set anew"
    );
    assert_eq!(
        Layers::below(&place.paths(), Layer::Project, &place.invocation())
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
    let resolved = Layers::load(&place.paths(), None, &place.invocation()).unwrap();
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

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn a_relative_folder_of_the_desktop_is_said_to_be_ignored() {
    let place = Place::new()
        .env("XDG_DATA_HOME", "data here")
        .env("XDG_CONFIG_HOME", "/whole");
    let warnings = place.load().unwrap().warnings;
    let [only] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    assert_eq!(only.code, "variable_unusable");
    for word in ["XDG_DATA_HOME", "data here", "not used"] {
        assert!(only.message.contains(word), "{}", only.message);
    }
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
fn an_empty_file_a_mark_and_windows_line_ends_are_fine() {
    let place = Place::new();
    place.user("");
    assert_eq!(place.settings(), Settings::default());
    place.user("\u{feff}[models]\r\nmodel = \"x\"\r\n");
    assert_eq!(place.settings().model, "x");
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
