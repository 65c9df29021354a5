//! From settings to backends: who answers, with which model, on which side (§10.11).

mod choice;
pub mod judge;
pub(crate) mod servers;

use std::collections::{BTreeMap, BTreeSet};
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
use crate::path::{Lengths, Manner, PathOptions, PerSide, Roles};
use crate::persona_sim::PersonaSim;
use crate::price::{Price, Prices};
use crate::templates::{Loaded, Templates};
use crate::terms::Terms;
use choice::Choice;

use crate::{
    agent_cli, cassette, claude, codex, copilot, cursor, handoff, http, mock, opencode,
    persona_sim, pi, terms,
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

impl Roles {
    /// The backends the settings name, and a judge of another family where none was chosen and there is
    /// one (see [`judge`]). Starts a command line only to ask what it can do, and a server only to ask
    /// what it has; asks no model.
    ///
    /// Errors: those of the backends (`api_key_missing`, `endpoint_…`, `agent_…`), and
    /// `backend_misconfigured`, `model_unavailable` and `sign_in_needed` when a server is asked for its
    /// model.
    pub async fn from_settings(
        settings: &Settings,
        around: &Surroundings<'_>,
    ) -> Result<Self, Problem> {
        let distinct = Choice::distinct(settings);
        // A recorded night had every side, each with its own name.
        if distinct
            .iter()
            .any(|(choice, _)| choice.kind == cassette::KIND)
        {
            return cassette::load(Path::new(settings.cassette.trim()));
        }
        let mut made: Vec<(Arc<dyn Backend>, Vec<Side>)> = Vec::new();
        for (choice, sides) in distinct {
            made.push((make(&choice, settings, around).await?, sides));
        }
        let of = |side| {
            let found = made.iter().find(|(_, sides)| sides.contains(&side));
            found.map_or_else(
                || Arc::clone(&made[0].0),
                |(backend, _)| Arc::clone(backend),
            )
        };
        let roles = Self {
            judge: of(Side::Judge),
            ..Self::new(of(Side::Target), of(Side::Optimizer))
        };
        Ok(judge::of_another_family(roles, settings, around).await)
    }

    /// What the settings call the backends: for each that differs in anything, the sides it has. A judge
    /// that is found is not among them.
    #[must_use]
    pub fn kinds(settings: &Settings) -> Vec<(String, Vec<Side>)> {
        let distinct = Choice::distinct(settings).into_iter();
        distinct
            .map(|(choice, sides)| (choice.kind, sides))
            .collect()
    }

    /// The providers that the sides ask by the settings, each as its backend and, where the settings name
    /// one, its address. A judge that is found is not among them.
    #[must_use]
    pub fn providers(settings: &Settings) -> BTreeSet<String> {
        let choices = Side::ALL.map(|side| Choice::of(settings, side));
        choices
            .iter()
            .map(|choice| {
                format!("{} {}", choice.kind, choice.endpoint)
                    .trim_end()
                    .to_owned()
            })
            .collect()
    }

    /// The backend of one side alone, as the settings name it. Errors as
    /// [`from_settings`](Self::from_settings).
    pub async fn one_from_settings(
        settings: &Settings,
        side: Side,
        around: &Surroundings<'_>,
    ) -> Result<Arc<dyn Backend>, Problem> {
        make(&Choice::of(settings, side), settings, around).await
    }

    /// What has to be agreed to before nights ask the backend of one side, which need not be usable yet: its
    /// key may be missing, or its program. `None` when nothing has.
    ///
    /// Errors: `endpoint_…`.
    pub fn terms(
        settings: &Settings,
        side: Side,
        environment: &BTreeMap<String, String>,
    ) -> Result<Option<Terms>, Problem> {
        let choice = Choice::of(settings, side);
        if servers::is_server(&choice.kind) {
            servers::terms(&choice, settings, environment)
        } else {
            Ok(terms::of_provider(&choice.kind))
        }
    }

    /// Whether every side is a simulation, so that a score says nothing about a model.
    #[must_use]
    pub fn simulated(&self) -> bool {
        self.each()
            .iter()
            .all(|backend| is_simulation(&backend.id().kind))
    }

    /// [`simulated`](Self::simulated) before any backend is made.
    #[must_use]
    pub fn simulated_by_settings(settings: &Settings) -> bool {
        Choice::distinct(settings)
            .iter()
            .all(|(choice, _)| is_simulation(&choice.kind))
    }
}

pub(crate) fn is_simulation(kind: &str) -> bool {
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
            temperature: choice.temperature,
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
            return Err(Problem::refused(
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

impl Manner {
    fn of(choice: &Choice) -> Self {
        Self {
            window: Some(choice.context_tokens).filter(|tokens| *tokens > 0),
            temperature: choice.temperature,
            lengths: match choice.reply_tokens {
                0 => Lengths::default(),
                tokens => Lengths::all(tokens),
            },
        }
    }
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
            sides: PerSide::of(|side| Manner::of(&Choice::of(settings, side))),
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
        assert_eq!(options.sides.judge.temperature, Some(0.5));
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
