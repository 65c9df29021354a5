//! Choosing the backend that answers from now on, with what belongs to it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::Side;
use skillopt_settings::{Layer, Layers, ROWS, Row, Settings, row};

use super::known;
use crate::config;
use crate::context::App;

/// What belongs to a backend, besides its name, for each side and for the whole night: whatever can be said
/// of one side alone. Another backend must not be given it.
pub(super) fn belonging() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|one| {
        let of_the_night = one.key != "models.backend"
            && Side::ALL
                .iter()
                .any(|side| row(&format!("models.{}_{}", side.id(), one.field)).is_some());
        one.group() == "models" && (of_the_night || is_of_one_side(one))
    })
}

/// Whether it says of one side what another setting says of the whole night.
pub(crate) fn is_of_one_side(one: &Row) -> bool {
    Side::ALL.iter().any(|side| {
        let name = one
            .key
            .strip_prefix("models.")
            .and_then(|field| field.strip_prefix(side.id()))
            .and_then(|field| field.strip_prefix('_'));
        name.is_some_and(|name| row(&format!("models.{name}")).is_some())
    })
}

/// The backend that answers from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "BackendUseInput", optional_fields = nullable))]
pub struct UseInput {
    /// Its name in the settings; when empty, the choice of this file is given up with all that belongs to it, and
    /// that of the layers below holds.
    pub backend: String,
    /// Its address; its own, or the one it has, when empty.
    pub endpoint: Option<String>,
    /// Its model; its own choice, or the one it has, when empty.
    pub model: Option<String>,
    /// What its key is called; never the key.
    pub api_key_env: Option<String>,
    /// For this project only.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub for_project: bool,
    /// The project.
    pub project: Option<PathBuf>,
}

/// A setting that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "SettingChanged")
)]
pub struct Changed {
    /// Its name.
    pub key: &'static str,
    /// What it was.
    pub before: Value,
    /// What it is.
    pub after: Value,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "BackendChosen")
)]
pub struct Chosen {
    /// Who answers now.
    pub backend: String,
    /// The layer that decides it: when it is above the file, the choice in the file does not hold.
    pub layer: Layer,
    /// What changed, the backend itself included.
    pub changed: Vec<Changed>,
    /// The settings file.
    pub file: PathBuf,
    /// Why it cannot answer yet; `None` when it can, as far as that is known without asking.
    pub problem: Option<Problem>,
}

/// Makes a backend the one that answers, on every side of a night, in one change of the settings file.
/// When it is another than before, what belonged to the former goes: an address or a key of one company
/// must not reach another.
///
/// Errors: `backend_unknown`, and those of the settings.
pub async fn choose(app: &App, input: UseInput) -> Result<Chosen, Problem> {
    let name = match input.backend.as_str() {
        "" => None,
        named => Some(known(named)?),
    };
    let (project, file, layer) = if input.for_project {
        let project = app.project(input.project.as_deref())?;
        let file = app.config().project(&project.id);
        (Some(project), file, Layer::Project)
    } else {
        (None, app.config().user, Layer::User)
    };
    let below = Layers::below(&app.config(), layer, &app.invocation())?;
    let before = app.settings(project.as_ref())?.settings;
    let given = [
        ("models.endpoint", input.endpoint),
        ("models.model", input.model),
        ("models.api_key_env", input.api_key_env),
    ];
    let usual = Settings::default();
    config::change(app, &file, |text| {
        let set = |text: String, key: &str, value: &str| {
            skillopt_settings::set(&text, &file, key, value, &below)
        };
        let Some(name) = &name else {
            // What shields from the layers below goes with what was chosen here.
            return row("models.backend")
                .into_iter()
                .chain(belonging())
                .try_fold(text.to_owned(), |text, row| {
                    skillopt_settings::unset(&text, &file, row.key)
                });
        };
        let mut text = set(text.to_owned(), "models.backend", name)?;
        if &before.backend != name {
            for row in belonging() {
                text = set(text, row.key, &in_words(&usual.get(row)))?;
            }
        }
        for (key, value) in &given {
            if let Some(value) = value {
                text = set(text, key, value.trim())?;
            }
        }
        Ok(text)
    })?;
    let after = app.settings(project.as_ref())?;
    let root = project.map(|project| PathBuf::from(project.root));
    Ok(Chosen {
        problem: super::missing(app, root, &after.settings.backend).await?,
        changed: changed(&before, &after.settings),
        layer: row("models.backend").map_or(layer, |row| after.layer(row)),
        backend: after.settings.backend,
        file,
    })
}

/// A value as a person writes it; nothing for one that is absent.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn changed(before: &Settings, after: &Settings) -> Vec<Changed> {
    row("models.backend")
        .into_iter()
        .chain(belonging())
        .map(|row| Changed {
            key: row.key,
            before: before.get(row),
            after: after.get(row),
        })
        .filter(|changed| changed.before != changed.after)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};

    fn used(home: &TestHome, input: UseInput) -> Chosen {
        block_on(choose(&home.app, input)).unwrap()
    }

    fn of(backend: &str) -> UseInput {
        UseInput {
            backend: backend.to_owned(),
            ..UseInput::default()
        }
    }

    fn text(home: &TestHome) -> String {
        std::fs::read_to_string(home.app.config().user).unwrap()
    }

    #[test]
    fn what_belongs_to_a_backend_is_what_can_be_said_of_a_side() {
        let keys: Vec<_> = belonging().map(|row| row.key).collect();
        for name in [
            "model",
            "endpoint",
            "api_key_env",
            "api",
            "reasoning_effort",
            "thinking",
            "context_tokens",
            "reply_tokens",
            "temperature",
        ] {
            for side in ["", "optimizer_", "judge_"] {
                let key = format!("models.{side}{name}");
                assert!(keys.contains(&key.as_str()), "{key}");
            }
        }
        for side in ["target", "optimizer", "judge"] {
            assert!(keys.contains(&format!("models.{side}_backend").as_str()));
        }
        // Nine for the night, ten for a side, and attempts are never cut.
        assert_eq!(keys.len(), 9 + 3 * 10 - 1, "{keys:?}");
    }

    #[test]
    fn limits_of_a_small_model_do_not_cut_what_another_backend_is_asked() {
        let home = TestHome::new();
        used(&home, of("openai_compatible"));
        let file = home.app.config().user;
        for (key, value) in [
            ("models.api", "chat"),
            ("models.thinking", "enabled"),
            ("models.context_tokens", "4096"),
            ("models.reply_tokens", "300"),
            ("models.temperature", "0.5"),
            ("models.judge_context_tokens", "4096"),
        ] {
            config::change(&home.app, &file, |text| {
                skillopt_settings::set(text, &file, key, value, &Settings::default())
            })
            .unwrap();
        }
        let before = home.app.settings(None).unwrap().settings;
        assert_eq!(
            (before.context_tokens, before.temperature),
            (4096, Some(0.5))
        );
        used(&home, of("claude"));
        let expected = Settings {
            backend: "claude".to_owned(),
            ..Settings::default()
        };
        assert_eq!(home.app.settings(None).unwrap().settings, expected);
    }

    #[test]
    fn what_belonged_to_another_backend_goes_with_it() {
        let home = TestHome::new();
        let local = UseInput {
            endpoint: Some("http://127.0.0.1:8080/v1".to_owned()),
            model: Some(" tiny ".to_owned()),
            api_key_env: Some("A_KEY".to_owned()),
            ..of("openai-compatible")
        };
        let chosen = used(&home, local);
        assert_eq!(chosen.backend, "openai_compatible");
        assert_eq!(chosen.layer, Layer::User);
        let settings = home.app.settings(None).unwrap().settings;
        assert_eq!(
            (settings.endpoint.as_str(), settings.model.as_str()),
            ("http://127.0.0.1:8080/v1", "tiny")
        );
        // The same one with another model keeps its address.
        let other = UseInput {
            model: Some("large".to_owned()),
            ..of("openai_compatible")
        };
        let keys: Vec<_> = used(&home, other)
            .changed
            .iter()
            .map(|one| one.key)
            .collect();
        assert_eq!(keys, ["models.model"]);
        let chosen = used(&home, of("claude"));
        let keys: Vec<_> = chosen.changed.iter().map(|one| one.key).collect();
        assert_eq!(
            keys,
            [
                "models.backend",
                "models.model",
                "models.endpoint",
                "models.api_key_env"
            ]
        );
        let text = text(&home);
        for gone in ["endpoint", "127.0.0.1", "large", "A_KEY"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
    }

    #[test]
    fn a_project_does_not_inherit_what_belongs_to_the_users_backend() {
        let home = TestHome::new();
        let everywhere = UseInput {
            endpoint: Some("https://models.example.org/v1".to_owned()),
            ..of("openai_compatible")
        };
        used(&home, everywhere);
        let here = UseInput {
            for_project: true,
            ..of("anthropic")
        };
        used(&home, here);
        let project = home.app.known_project(None).unwrap().unwrap();
        let of_project = home.app.settings(Some(&project)).unwrap().settings;
        assert_eq!(
            (of_project.backend.as_str(), of_project.endpoint.as_str()),
            ("anthropic", "")
        );
        let of_user = home.app.settings(None).unwrap().settings;
        assert_eq!(of_user.endpoint, "https://models.example.org/v1");
    }

    #[test]
    fn a_choice_that_is_given_up_takes_with_it_what_belonged_to_it() {
        let home = TestHome::new();
        let everywhere = UseInput {
            endpoint: Some("https://models.example.org/v1".to_owned()),
            ..of("openai_compatible")
        };
        used(&home, everywhere);
        let here = UseInput {
            for_project: true,
            model: Some("large".to_owned()),
            ..of("anthropic")
        };
        used(&home, here);
        let project = home.app.known_project(None).unwrap().unwrap();
        let given_up = UseInput {
            for_project: true,
            ..of("")
        };
        let chosen = used(&home, given_up);
        assert_eq!(
            (chosen.backend.as_str(), chosen.layer),
            ("openai_compatible", Layer::User)
        );
        // Neither the model of the one that was given up stays, nor the empty address that kept this one's away.
        let settings = home.app.settings(Some(&project)).unwrap().settings;
        assert_eq!(
            (settings.endpoint.as_str(), settings.model.as_str()),
            ("https://models.example.org/v1", "")
        );
    }

    #[test]
    fn what_is_wrong_changes_nothing_and_the_environment_is_told_of() {
        let mut home = TestHome::new();
        for wrong in [
            of("nobody"),
            UseInput {
                endpoint: Some("not an address".to_owned()),
                ..of("openai_compatible")
            },
        ] {
            block_on(choose(&home.app, wrong)).unwrap_err();
            assert!(!home.app.config().user.exists());
        }
        let mut environment = (*home.app.environment).clone();
        environment.insert("SKILLOPT_BACKEND".to_owned(), "handoff".to_owned());
        home.app.environment = std::sync::Arc::new(environment);
        let chosen = used(&home, of("claude"));
        assert_eq!(
            (chosen.backend.as_str(), chosen.layer),
            ("handoff", Layer::Environment)
        );
    }
}
