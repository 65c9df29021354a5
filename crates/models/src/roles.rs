//! From settings to backends: who answers, with which model, on which side (§10.11).

pub(crate) mod servers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use skillopt_core::Problem;
use skillopt_core::call::Side;
use skillopt_settings::Settings;
use skillopt_store::{Clock, Paths};

use crate::agent_cli::SignIn;
use crate::backend::Backend;
use crate::budget::Caps;
use crate::cancel::CancelToken;
use crate::handoff::Handoff;
use crate::keyring::Keyring;
use crate::limits::Limits;
use crate::mock::Mock;
use crate::path::{PathOptions, Roles};
use crate::persona_sim::PersonaSim;
use crate::price::{Price, Prices};
use crate::templates::{Loaded, Templates};
use crate::{
    agent_cli, cassette, claude, codex, copilot, cursor, handoff, http, mock, opencode,
    persona_sim, pi,
};

/// A backend keeps the time of a try itself and says which wait was too long; the path only steps in
/// when it does not end.
const BACKSTOP: Duration = Duration::from_secs(15);

/// What backends are made from besides settings.
pub struct Surroundings<'a> {
    /// The environment: keys, proxies, where programs are.
    pub environment: &'a BTreeMap<String, String>,
    /// Where a key is looked for that the environment does not have.
    pub keyring: &'a Keyring,
    /// The folder of hand-off questions; see [`handoff_folder`].
    pub handoff: PathBuf,
    /// Where what programs say about themselves is kept for other processes; `None` for nowhere.
    pub agents: Option<PathBuf>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Ends asking a program or a server what it can do.
    pub cancel: &'a CancelToken,
}

/// Who answers on one side, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kind: String,
    pub(crate) model: String,
    /// Empty for the backend's own.
    pub(crate) endpoint: String,
    /// The variable that holds the key; empty for the backend's own.
    pub(crate) key_variable: String,
    /// The setting that names it.
    pub(crate) key_setting: &'static str,
    /// Empty for the model's own choice.
    pub(crate) effort: String,
}

/// What one side says about itself; empty for what holds for the whole night.
struct Said<'a> {
    kind: &'a str,
    model: &'a str,
    endpoint: &'a str,
    key_variable: &'a str,
    key_setting: &'static str,
    effort: &'a str,
}

impl Choice {
    /// A side that says nothing is as the whole night is. Model and effort of the whole night are
    /// inherited with its backend only: another backend would not know them.
    fn of(settings: &Settings, side: Side) -> Self {
        let said = match side {
            Side::Target => Said {
                kind: &settings.target_backend,
                model: &settings.target_model,
                endpoint: &settings.target_endpoint,
                key_variable: &settings.target_api_key_env,
                key_setting: "models.target_api_key_env",
                effort: &settings.target_reasoning_effort,
            },
            Side::Optimizer => Said {
                kind: &settings.optimizer_backend,
                model: &settings.optimizer_model,
                endpoint: &settings.optimizer_endpoint,
                key_variable: &settings.optimizer_api_key_env,
                key_setting: "models.optimizer_api_key_env",
                effort: &settings.optimizer_reasoning_effort,
            },
        };
        let kind = if said.kind.is_empty() {
            settings.backend.as_str()
        } else {
            said.kind
        };
        let or_shared = |own: &str, shared: &str, is_for_it: bool| match own.trim() {
            "" if is_for_it => shared.trim().to_owned(),
            own => own.to_owned(),
        };
        let (inherits, served) = (kind == settings.backend, is_served(settings, kind));
        let own_key = !said.key_variable.trim().is_empty();
        Self {
            kind: kind.to_owned(),
            model: or_shared(said.model, &settings.model, inherits),
            endpoint: or_shared(said.endpoint, &settings.endpoint, served),
            key_variable: or_shared(said.key_variable, &settings.api_key_env, served),
            key_setting: if own_key {
                said.key_setting
            } else {
                "models.api_key_env"
            },
            effort: or_shared(said.effort, &settings.reasoning_effort, inherits),
        }
    }
}

/// Whether the endpoint and key of the whole night are for the backend `kind`. With two providers they
/// are one's only: a key must not be sent to another company. A server has the better claim than a
/// program that is signed in by itself, and the night's own backend than another.
fn is_served(settings: &Settings, kind: &str) -> bool {
    let used = |side: &String| {
        let kind = if side.is_empty() {
            &settings.backend
        } else {
            side
        };
        servers::is_server(kind).then(|| kind.clone())
    };
    let of_sides = [
        used(&settings.target_backend),
        used(&settings.optimizer_backend),
    ];
    match of_sides {
        [None, None] => true,
        [Some(one), None] | [None, Some(one)] => one == kind,
        [Some(one), Some(other)] if one == other => one == kind,
        [Some(_), Some(_)] => kind == settings.backend,
    }
}

impl Roles {
    /// The backends the settings name. Starts a command line only to ask what it can do, and a server
    /// only to ask for its model when none is named; asks no model.
    ///
    /// Errors: those of the backends (`api_key_missing`, `endpoint_…`, `agent_…`), and
    /// `backend_misconfigured`, `model_unavailable` and `sign_in_needed` when a server is asked for its
    /// model.
    pub async fn from_settings(
        settings: &Settings,
        around: &Surroundings<'_>,
    ) -> Result<Self, Problem> {
        let (target, optimizer) = (
            Choice::of(settings, Side::Target),
            Choice::of(settings, Side::Optimizer),
        );
        // A recorded night had both sides, each with its own name.
        if [&target, &optimizer]
            .iter()
            .any(|choice| choice.kind == cassette::KIND)
        {
            return cassette::load(Path::new(settings.cassette.trim()));
        }
        let made = make(&target, settings, around).await?;
        if target == optimizer {
            return Ok(Self {
                optimizer: Arc::clone(&made),
                target: made,
            });
        }
        Ok(Self {
            optimizer: make(&optimizer, settings, around).await?,
            target: made,
        })
    }

    /// What the settings call the backends of both sides: target, optimizer.
    #[must_use]
    pub fn kinds(settings: &Settings) -> [String; 2] {
        [Side::Target, Side::Optimizer].map(|side| Choice::of(settings, side).kind)
    }

    /// Whether both sides are the same in everything, so that one backend is made for both.
    #[must_use]
    pub fn one_backend(settings: &Settings) -> bool {
        Choice::of(settings, Side::Target) == Choice::of(settings, Side::Optimizer)
    }

    /// The backend of one side alone. Errors as [`from_settings`](Self::from_settings).
    pub async fn one_from_settings(
        settings: &Settings,
        side: Side,
        around: &Surroundings<'_>,
    ) -> Result<Arc<dyn Backend>, Problem> {
        make(&Choice::of(settings, side), settings, around).await
    }

    /// Whether both sides are simulations, so that a score says nothing about a model.
    #[must_use]
    pub fn simulated(&self) -> bool {
        [&self.target, &self.optimizer]
            .iter()
            .all(|backend| is_simulation(&backend.id().kind))
    }

    /// [`simulated`](Self::simulated) before any backend is made.
    #[must_use]
    pub fn simulated_by_settings(settings: &Settings) -> bool {
        [Side::Target, Side::Optimizer]
            .into_iter()
            .all(|side| is_simulation(&Choice::of(settings, side).kind))
    }
}

fn is_simulation(kind: &str) -> bool {
    matches!(kind, mock::KIND | persona_sim::KIND)
}

async fn make(
    choice: &Choice,
    settings: &Settings,
    around: &Surroundings<'_>,
) -> Result<Arc<dyn Backend>, Problem> {
    let agent = |path: &str, usual_keys: &[&str]| {
        Ok::<_, Problem>(agent_cli::Options {
            path: PathBuf::from(path.trim()),
            model: choice.model.clone(),
            effort: choice.effort.clone(),
            temperature: settings.temperature,
            sign_in: SignIn::configured(
                &choice.key_variable,
                usual_keys,
                around.environment,
                around.keyring,
            )?,
            environment: around.environment.clone(),
            memory: around.agents.clone(),
            first_byte: seconds(settings.first_byte_seconds),
            whole: seconds(settings.call_seconds),
            clock: Arc::clone(&around.clock),
            zone: TimeZone::system(),
        })
    };
    Ok(match choice.kind.as_str() {
        mock::KIND => Arc::new(Mock),
        persona_sim::KIND => Arc::new(PersonaSim),
        handoff::KIND => Arc::new(Handoff::new(around.handoff.clone())),
        cassette::KIND => cassette::load(Path::new(settings.cassette.trim()))?.target,
        kind if servers::is_server(kind) => {
            let server = http::Server::new(servers::options(choice, settings, around)?)?;
            Arc::new(
                server
                    .with_served_model(around.cancel)
                    .await
                    .map_err(|error| error.problem())?,
            )
        }
        claude::KIND => {
            let options = agent(&settings.claude_path, claude::USUAL_KEYS)?;
            Arc::new(claude::open(options, around.cancel).await?)
        }
        codex::KIND => {
            let options = agent(&settings.codex_path, codex::USUAL_KEYS)?;
            Arc::new(codex::open(options, around.cancel).await?)
        }
        copilot::KIND => {
            let options = agent(&settings.copilot_path, copilot::USUAL_KEYS)?;
            Arc::new(copilot::open(options, around.cancel).await?)
        }
        cursor::KIND => {
            let options = agent(&settings.cursor_path, cursor::USUAL_KEYS)?;
            Arc::new(cursor::open(options, around.cancel).await?)
        }
        // These two speak with any provider: which key is meant has to be said.
        opencode::KIND => {
            let options = agent(&settings.opencode_path, &[])?;
            Arc::new(opencode::open(options, around.cancel).await?)
        }
        pi::KIND => {
            let options = agent(&settings.pi_path, &[])?;
            Arc::new(pi::open(options, around.cancel).await?)
        }
        // §14 #15: an unknown name became a simulation silently. Settings that were loaded have none.
        unknown => {
            return Err(Problem::permanent(
                "backend_unknown",
                format!("There is no backend called \"{unknown}\"."),
                format!(
                    "Set models.backend to one of {}.",
                    skillopt_settings::BACKENDS.words.join(", ")
                ),
            ));
        }
    })
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}

impl PathOptions {
    /// What the settings say about budget, prices, limits and times.
    #[must_use]
    pub fn from_settings(settings: &Settings, prices: Prices) -> Self {
        // So much per million tokens is so many millionths for a million of them. 0 is no limit.
        let micros = (settings.max_cost_per_night > 0.0)
            .then(|| Price::flat(settings.max_cost_per_night, 0.0).micros(1_000_000, 0));
        Self {
            caps: Caps {
                calls: Some(u64::from(settings.max_calls_per_night)),
                time: Some(Duration::from_secs(
                    u64::from(settings.max_minutes_per_night) * 60,
                )),
                tokens: Some(settings.max_tokens_per_night),
                cost_micros: micros,
            },
            prices: prices.with_given(Price::given(settings.input_price, settings.output_price)),
            limits: Limits::new(usize::try_from(settings.concurrency).unwrap_or(usize::MAX)),
            try_timeout: Duration::from_secs(u64::from(settings.call_seconds)) + BACKSTOP,
            tools: settings.tools,
            reserve_percent: u8::try_from(settings.reserve_percent).unwrap_or(u8::MAX),
            window: Some(settings.context_tokens).filter(|tokens| *tokens > 0),
            temperature: settings.temperature,
            false_alarms: settings.false_alarms.clone(),
            ..Self::default()
        }
    }
}

impl Templates {
    /// The template set of the settings: `models.prompts`, else `prompts.json` of the configuration
    /// folder if there is one. Errors as [`Templates::load`].
    pub fn from_settings(settings: &Settings, paths: &Paths) -> Result<Loaded, Problem> {
        let named = !settings.prompts.trim().is_empty();
        Self::load(&Self::file(settings, paths), named)
    }

    /// The file of [`Templates::from_settings`].
    #[must_use]
    pub fn file(settings: &Settings, paths: &Paths) -> PathBuf {
        match settings.prompts.trim() {
            "" => paths.prompts(),
            named => PathBuf::from(named),
        }
    }
}

/// The folder of hand-off questions of a project: `models.handoff_dir` (relative to the project's
/// root), else a folder of ours.
#[must_use]
pub fn handoff_folder(settings: &Settings, paths: &Paths, project: &str, root: &Path) -> PathBuf {
    match settings.handoff_dir.trim() {
        "" => paths.handoff(project),
        named => root.join(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai_compatible;
    use skillopt_store::SystemClock;

    async fn roles(settings: &Settings, environment: &[(&str, &str)]) -> Result<Roles, Problem> {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let around = Surroundings {
            environment: &environment,
            keyring: &Keyring::nowhere(),
            handoff: PathBuf::from("/nowhere"),
            agents: None,
            clock: Arc::new(SystemClock),
            cancel: &CancelToken::new(),
        };
        Roles::from_settings(settings, &around).await
    }

    fn of(backend: &str) -> Settings {
        Settings {
            backend: backend.to_owned(),
            ..Settings::default()
        }
    }

    #[tokio::test]
    async fn equal_sides_share_a_backend_and_others_do_not() {
        let same = roles(&of(mock::KIND), &[]).await.unwrap();
        assert!(Arc::ptr_eq(&same.target, &same.optimizer) && same.simulated());
        let settings = Settings {
            optimizer_backend: handoff::KIND.into(),
            ..of(persona_sim::KIND)
        };
        let two = roles(&settings, &[]).await.unwrap();
        assert_eq!(
            (
                two.target.id().kind.as_str(),
                two.optimizer.id().kind.as_str()
            ),
            ("persona-sim", "handoff")
        );
        assert!(!two.simulated() && !Roles::simulated_by_settings(&settings));
        assert_eq!(
            roles(&of("cluade"), &[]).await.unwrap_err().code,
            "backend_unknown"
        );
        assert!(Roles::simulated_by_settings(&Settings {
            target_backend: persona_sim::KIND.into(),
            ..of(mock::KIND)
        }));
    }

    #[test]
    fn a_model_is_inherited_with_its_backend_only() {
        let settings = Settings {
            model: "m".into(),
            target_backend: claude::KIND.into(),
            optimizer_model: "o".into(),
            ..of(openai_compatible::KIND)
        };
        let target = Choice::of(&settings, Side::Target);
        assert_eq!(
            (target.kind.as_str(), target.model.as_str()),
            ("claude", "")
        );
        let optimizer = Choice::of(&settings, Side::Optimizer);
        assert_eq!(
            (optimizer.kind.as_str(), optimizer.model.as_str()),
            ("openai_compatible", "o")
        );
        let inherited = Settings {
            optimizer_model: String::new(),
            ..settings
        };
        assert_eq!(Choice::of(&inherited, Side::Optimizer).model, "m");
    }

    #[test]
    fn a_key_goes_to_one_provider_only() {
        let shared = |backend: &str, target: &str, optimizer: &str| {
            let settings = Settings {
                endpoint: "https://a.example/v1".into(),
                api_key_env: "A_KEY".into(),
                target_backend: target.into(),
                optimizer_backend: optimizer.into(),
                ..of(backend)
            };
            [Side::Target, Side::Optimizer].map(|side| {
                let choice = Choice::of(&settings, side);
                assert_eq!(choice.endpoint.is_empty(), choice.key_variable.is_empty());
                !choice.key_variable.is_empty()
            })
        };
        for (backend, target, optimizer, expected) in [
            ("openai_compatible", "", "", [true, true]),
            ("claude", "", "", [true, true]),
            ("openai_compatible", "claude", "", [false, true]),
            ("claude", "openai_compatible", "", [true, false]),
            ("openai_compatible", "claude", "claude", [true, true]),
            ("anthropic", "qwen", "", [false, true]),
            ("claude", "qwen", "anthropic", [false, false]),
        ] {
            assert_eq!(
                shared(backend, target, optimizer),
                expected,
                "{backend} {target} {optimizer}"
            );
        }
    }

    #[test]
    fn each_side_has_its_own_server_key_and_effort() {
        let settings = Settings {
            endpoint: "https://a.example/v1".into(),
            api_key_env: "A_KEY".into(),
            reasoning_effort: "low".into(),
            optimizer_endpoint: "https://b.example/v1".into(),
            optimizer_api_key_env: "B_KEY".into(),
            optimizer_reasoning_effort: "high".into(),
            ..of(openai_compatible::KIND)
        };
        let parts = |side| {
            let Choice {
                endpoint,
                key_variable,
                key_setting,
                effort,
                ..
            } = Choice::of(&settings, side);
            (endpoint, key_variable, key_setting, effort)
        };
        assert_eq!(
            parts(Side::Target),
            (
                "https://a.example/v1".into(),
                "A_KEY".into(),
                "models.api_key_env",
                "low".into()
            )
        );
        assert_eq!(
            parts(Side::Optimizer),
            (
                "https://b.example/v1".into(),
                "B_KEY".into(),
                "models.optimizer_api_key_env",
                "high".into()
            )
        );
    }

    #[tokio::test]
    async fn a_server_is_made_as_configured_and_a_missing_key_is_said() {
        let settings = Settings {
            endpoint: "https://api.example.com/v1".into(),
            api_key_env: "EXAMPLE_KEY".into(),
            model: "m".into(),
            ..of(openai_compatible::KIND)
        };
        assert_eq!(
            roles(&settings, &[]).await.unwrap_err().code,
            "api_key_missing"
        );
        let made = roles(&settings, &[("EXAMPLE_KEY", "k-1")]).await.unwrap();
        assert_eq!(
            (
                made.target.id().kind.as_str(),
                made.target.id().model.as_str()
            ),
            ("openai_compatible", "m")
        );
        assert!(made.target.paid());
    }

    #[test]
    fn settings_become_limits() {
        let options = PathOptions::from_settings(
            &Settings {
                max_cost_per_night: 1.5,
                input_price: 2.0,
                max_calls_per_night: 0,
                max_minutes_per_night: 3,
                max_tokens_per_night: 7,
                temperature: Some(0.5),
                ..Settings::default()
            },
            Prices::default(),
        );
        let time = Some(Duration::from_secs(180));
        assert_eq!(
            options.caps,
            Caps {
                calls: Some(0),
                time,
                tokens: Some(7),
                cost_micros: Some(1_500_000)
            }
        );
        assert_eq!(options.prices.given, Some(Price::flat(2.0, 2.0)));
        assert_eq!(options.temperature, Some(0.5));
        assert_eq!(
            PathOptions::from_settings(&Settings::default(), Prices::default())
                .caps
                .cost_micros,
            None
        );
    }

    #[test]
    fn prompts_and_questions_are_where_the_settings_say() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::at(folder.path());
        assert_eq!(
            Templates::from_settings(&Settings::default(), &paths)
                .unwrap()
                .templates,
            Templates::default()
        );
        let named = Settings {
            prompts: folder.path().join("no.json").display().to_string(),
            ..Settings::default()
        };
        assert_eq!(
            Templates::from_settings(&named, &paths).unwrap_err().code,
            "prompts_missing"
        );
        let root = Path::new("/w/app");
        assert_eq!(
            handoff_folder(&Settings::default(), &paths, "p1", root),
            paths.handoff("p1")
        );
        let placed = Settings {
            handoff_dir: ".questions".into(),
            ..Settings::default()
        };
        assert_eq!(
            handoff_folder(&placed, &paths, "p1", root),
            Path::new("/w/app/.questions")
        );
    }
}
