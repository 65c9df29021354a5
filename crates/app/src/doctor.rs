//! Whether everything a night needs is there.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::text::counted;
use skillopt_sleep::preview::{self, Material};
use skillopt_sleep::run::{self, Answering};
use skillopt_sleep::{harvesting, staging, targets};
use skillopt_store::projects::{self, Project};
use skillopt_store::{Paths, repair};
use skillopt_transcripts::Harvest;

use crate::backend;
use crate::context::App;
use crate::schedule;
use crate::sleep::as_problem;

mod last_night;
mod sessions;

/// What is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct DoctorInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Check as the scheduled run would find things: with the bare environment of cron.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub as_scheduled: bool,
}

/// How one check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Fine.
    Good,
    /// Works, but look at it.
    Warning,
    /// Will not work.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Finding {
    /// What was checked.
    pub subject: String,
    /// The projects it is about, where several were looked at and it does not hold for all of them.
    pub projects: Vec<String>,
    /// How it came out.
    pub health: Health,
    /// Names what was found, for whoever says it in other words: `detail` has what they need. Of what went
    /// wrong it is the code of the problem.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// What to do; empty when nothing.
    pub guidance: String,
    /// Details.
    pub detail: Value,
}

impl Finding {
    /// What was checked, and of which projects.
    #[must_use]
    pub fn about(&self) -> String {
        match self.projects.as_slice() {
            [] => self.subject.clone(),
            names => format!("{} ({})", self.subject, names.join(", ")),
        }
    }
}

/// What the next night of a project would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "night", rename_all = "snake_case")]
pub enum Expected {
    /// It would fail: something is missing.
    Fails {
        /// What is wrong.
        code: String,
        /// In one sentence.
        message: String,
    },
    /// It would stop before it asks anybody.
    Stops {
        /// What keeps it.
        code: String,
        /// In one sentence.
        message: String,
    },
    /// There is nothing new.
    NothingNew,
    /// What is new holds no task.
    NoTask {
        /// How many sessions are new.
        sessions: u64,
    },
    /// It would replay tasks.
    Replays {
        /// Of how many sessions.
        sessions: u64,
        /// How many.
        tasks: u64,
        /// With how many paid calls of models at most.
        calls: u64,
    },
    /// No project is registered.
    NoProject,
}

impl Expected {
    /// In words, after "Tonight would".
    fn sentence(&self) -> String {
        match self {
            Self::Fails { message, .. } => format!("fail: {message}"),
            Self::Stops { message, .. } => format!("stop: {message}"),
            Self::NothingNew => "find nothing new.".to_owned(),
            Self::NoTask { sessions } => format!(
                "read {} and find no task that can be judged and recurs yet.",
                counted(*sessions, "session")
            ),
            Self::Replays {
                sessions,
                tasks,
                calls,
            } => {
                let calls = match calls {
                    0 => "no paid model calls".to_owned(),
                    &calls => format!("at most {}", counted(calls, "model call")),
                };
                format!(
                    "read {} and replay {}, with {calls}.",
                    counted(*sessions, "session"),
                    counted(*tasks, "task")
                )
            }
            Self::NoProject => "do nothing: no project is registered.".to_owned(),
        }
    }
}

/// What the next night would do, and of which project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Tonight {
    /// The name of the project, where several were looked at.
    pub project: Option<String>,
    /// What its night would do.
    pub expected: Expected,
}

impl Tonight {
    fn sentence(&self) -> String {
        let expected = self.expected.sentence();
        match &self.project {
            Some(name) => format!("{name}: {expected}"),
            None => expected,
        }
    }
}

/// All checks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Diagnosis {
    /// Whether a night would work.
    pub healthy: bool,
    /// Every check.
    pub findings: Vec<Finding>,
    /// What the next night would do, after the words "Tonight would".
    pub tonight: String,
    /// The same, night by night.
    pub nights: Vec<Tonight>,
}

impl Diagnosis {
    fn of(findings: Vec<Finding>, nights: Vec<Tonight>) -> Self {
        let sentences: Vec<String> = nights.iter().map(Tonight::sentence).collect();
        Self {
            healthy: findings.iter().all(|finding| finding.health != Health::Bad),
            findings,
            tonight: sentences.join(" "),
            nights,
        }
    }

    /// What would fail or deserves a look, as sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.findings
            .iter()
            .filter(|finding| finding.health != Health::Good)
            .map(|finding| {
                format!("{} {}", finding.message, finding.guidance)
                    .trim()
                    .to_owned()
            })
            .collect()
    }
}

/// Checks store, settings, transcripts, documents and backends: of the project that is meant, or, in a folder
/// that can be none, of every registered one.
pub async fn doctor(app: &App, input: DoctorInput) -> Result<Diagnosis, Problem> {
    let named = input.project.as_deref();
    match app.looked_at(named) {
        Err(problem) if named.is_none() && problem.code == "project_is_home" => {
            everywhere(app, input.as_scheduled).await
        }
        meant => one_project(app, named, meant, input.as_scheduled).await,
    }
}

async fn one_project(
    app: &App,
    named: Option<&Path>,
    meant: Result<Project, Problem>,
    scheduled: bool,
) -> Result<Diagnosis, Problem> {
    let mut app = app.clone();
    let mut findings = Vec::new();
    if scheduled {
        findings.push(as_scheduled(&mut app, named));
    }
    findings.extend(broken_line(&app, named));
    findings.push(database(&app));
    let context = match meant {
        Ok(project) => app
            .untold_night(project)
            .map_err(|problem| ("settings", problem)),
        Err(problem) => Err(("project", problem)),
    };
    let context = match context {
        Ok(context) => {
            let answering = run::who_answers(&context).await;
            findings.extend(last_night::look(&context, answering.as_ref().ok())?);
            findings.push(settings(&context));
            let harvest = match sessions::look(&context) {
                Ok((found, within)) => {
                    findings.extend(found);
                    Some(within)
                }
                Err(problem) => {
                    findings.push(bad("sessions", &problem));
                    None
                }
            };
            findings.push(documents(&context));
            findings.extend(
                staging::ready(&context)
                    .err()
                    .map(|problem| bad("proposals", &problem)),
            );
            findings.extend(of_models(&app, &context, answering, scheduled).await);
            harvest.map(|harvest| (context, harvest))
        }
        Err((subject, problem)) => {
            findings.push(bad(subject, &problem));
            None
        }
    };
    let first_bad = findings
        .iter()
        .find(|finding| finding.health == Health::Bad);
    let expected = match (first_bad, context) {
        (Some(finding), _) => Expected::Fails {
            code: finding.code.clone(),
            message: finding.message.clone(),
        },
        (None, Some((context, harvest))) => expected(&context, harvest).await,
        // What could not be read is bad, and found first.
        (None, None) => Expected::Fails {
            code: String::new(),
            message: String::new(),
        },
    };
    let night = Tonight {
        project: None,
        expected,
    };
    Ok(Diagnosis::of(findings, vec![night]))
}

/// Every registered project, and what does not depend on one when there is none. What is the same for all of
/// them is said once.
async fn everywhere(app: &App, scheduled: bool) -> Result<Diagnosis, Problem> {
    let projects = app.store.read(projects::list)?;
    if projects.is_empty() {
        return without_project(app, scheduled).await;
    }
    let mut found: Vec<(Finding, Vec<String>)> = Vec::new();
    let mut nights = Vec::new();
    let all = projects.len();
    for project in projects {
        let (name, root) = (project.name.clone(), PathBuf::from(&project.root));
        let diagnosis = one_project(app, Some(&root), Ok(project), scheduled).await?;
        nights.extend(diagnosis.nights.into_iter().map(|night| Tonight {
            project: Some(name.clone()),
            ..night
        }));
        for finding in diagnosis.findings {
            match found.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, names)) => names.push(name.clone()),
                None => found.push((finding, vec![name.clone()])),
            }
        }
    }
    let findings = found
        .into_iter()
        .map(|(finding, names)| Finding {
            projects: if names.len() == all {
                Vec::new()
            } else {
                names
            },
            ..finding
        })
        .collect();
    Ok(Diagnosis::of(findings, nights))
}

/// What can be checked before there is a project.
async fn without_project(app: &App, scheduled: bool) -> Result<Diagnosis, Problem> {
    let mut findings = vec![database(app)];
    // It has the user's settings, and nothing of it is read.
    let nowhere = projects::unregistered(&app.directory, app.clock.now())?;
    match app.untold_night(nowhere) {
        Ok(context) => {
            findings.push(settings(&context));
            let answering = run::who_answers(&context).await;
            findings.extend(of_models(app, &context, answering, scheduled).await);
        }
        Err(problem) => findings.push(bad("settings", &problem)),
    }
    findings.push(Finding {
        health: Health::Warning,
        guidance: "Go into the folder of a project and run `skillopt sleep run`, or `skillopt project add`; `skillopt project find` names folders your agents were used in."
            .to_owned(),
        ..good("projects", "projects_none", "No project is registered yet.", Value::Null)
    });
    let night = Tonight {
        project: None,
        expected: Expected::NoProject,
    };
    Ok(Diagnosis::of(findings, vec![night]))
}

async fn of_models(
    app: &App,
    context: &skillopt_sleep::Context,
    answering: Result<Answering, Problem>,
    scheduled: bool,
) -> [Finding; 2] {
    [
        local_servers(app, context).await,
        backends(context, answering, scheduled),
    ]
}

/// The settings, with what of them is not used.
fn settings(context: &skillopt_sleep::Context) -> Finding {
    const SUBJECT: &str = "settings";
    if context.warnings.is_empty() {
        return good(
            SUBJECT,
            "settings_readable",
            "The settings can be read.",
            Value::Null,
        );
    }
    Finding {
        health: Health::Warning,
        guidance: "`skillopt config show` lists what holds.".to_owned(),
        ..good(
            SUBJECT,
            "settings_unused",
            context.warnings.join(" "),
            json!(context.warnings),
        )
    }
}

/// What a night would do now, when nothing stands in its way.
async fn expected(context: &skillopt_sleep::Context, harvest: Harvest) -> Expected {
    let stops = |problem: &Problem| Expected::Stops {
        code: problem.code.to_string(),
        message: problem.message.clone(),
    };
    let material = Material::Harvested(Box::new(harvest));
    let preview = match preview::preview(context, material, false).await {
        Ok(preview) => preview,
        Err(stop) => return stops(&as_problem(stop)),
    };
    if let Some(problem) = &preview.budget_problem {
        return stops(problem);
    }
    let sessions = preview.n_sessions as u64;
    match (sessions, preview.n_tasks as u64) {
        (0, 0) => Expected::NothingNew,
        (_, 0) => Expected::NoTask { sessions },
        (_, tasks) => Expected::Replays {
            sessions,
            tasks,
            calls: preview.forecast.calls + preview.forecast.mining_calls,
        },
    }
}

/// The line of a project in the crontab, when it cannot run.
fn broken_line(app: &App, project: Option<&Path>) -> Option<Finding> {
    let message = schedule::broken(&scheduled_root(app, project))?;
    Some(Finding {
        health: Health::Bad,
        guidance:
            "Run `skillopt sleep schedule` again, which writes it anew, or `skillopt sleep unschedule`."
                .to_owned(),
        ..good(SCHEDULED_RUN, "schedule_line_broken", message, Value::Null)
    })
}

/// The subject of what is said of the line in the crontab.
const SCHEDULED_RUN: &str = "scheduled run";

/// The folder by which the crontab knows a project.
fn scheduled_root(app: &App, project: Option<&Path>) -> PathBuf {
    let root = project.map_or_else(|| app.directory.clone(), |path| app.directory.join(path));
    root.canonicalize().unwrap_or(root)
}

/// Gives `app` the environment of the scheduled run, and says whether that finds the same folders.
fn as_scheduled(app: &mut App, project: Option<&Path>) -> Finding {
    let found = schedule::environment(app, &scheduled_root(app, project))
        .and_then(|environment| Ok((Paths::from_env(&environment)?, environment)));
    let (paths, environment) = match found {
        Ok(found) => found,
        Err(problem) => return bad(SCHEDULED_RUN, &problem),
    };
    app.environment = std::sync::Arc::new(environment);
    let folders = json!({"data": paths.data, "settings": paths.config});
    if (&paths.data, &paths.config) == (&app.paths.data, &app.paths.config) {
        return good(
            SCHEDULED_RUN,
            "schedule_same_folders",
            "It uses the same folders as this shell.",
            folders,
        );
    }
    Finding {
        health: Health::Bad,
        guidance:
            "Run `skillopt sleep schedule` again; its line then names the folders of this shell."
                .to_owned(),
        ..good(
            SCHEDULED_RUN,
            "schedule_other_folders",
            format!(
                "The scheduled run would keep its data in {} and read the settings in {}, not those of this shell.",
                paths.data.display(),
                paths.config.display()
            ),
            folders,
        )
    }
}

fn good(subject: &str, code: &str, message: impl Into<String>, detail: Value) -> Finding {
    Finding {
        subject: subject.to_owned(),
        projects: Vec::new(),
        health: Health::Good,
        code: code.to_owned(),
        message: message.into(),
        guidance: String::new(),
        detail,
    }
}

fn bad(subject: &str, problem: &Problem) -> Finding {
    Finding {
        health: Health::Bad,
        guidance: problem.guidance.clone(),
        ..good(subject, &problem.code, problem.message.clone(), Value::Null)
    }
}

fn database(app: &App) -> Finding {
    const SUBJECT: &str = "database";
    let copies: Vec<Value> = repair::copies(&app.paths)
        .into_iter()
        .map(|copy| json!({"path": copy.path, "sound": copy.sound}))
        .collect();
    let newest = repair::newest_sound_copy(&app.paths);
    let detail = json!({"path": app.paths.database(), "copies": copies, "goes_on_from": newest});
    let way_out = match newest {
        Some(copy) => format!("goes on from {}", copy.display()),
        None => "begins anew, since there is no sound copy".to_owned(),
    };
    let damaged = |code: &str, message: String| Finding {
        health: Health::Bad,
        guidance: format!(
            "`skillopt data restore --yes` {way_out}; what is there now is put aside."
        ),
        ..good(SUBJECT, code, message, detail.clone())
    };
    let checked = match &app.unopened {
        Some(problem) => Err(problem.clone()),
        None => repair::check(&app.store),
    };
    match checked {
        Ok(faults) if faults.is_empty() => {
            good(SUBJECT, "database_sound", "The database is sound.", detail)
        }
        Ok(faults) => damaged(
            "database_corrupt",
            format!("The database is damaged: {}.", faults.join("; ")),
        ),
        Err(problem)
            if matches!(
                problem.code.as_ref(),
                "database_corrupt" | "database_missing"
            ) =>
        {
            damaged(&problem.code, problem.message)
        }
        Err(problem) => bad(SUBJECT, &problem),
    }
}

fn documents(context: &skillopt_sleep::Context) -> Finding {
    match targets::resolve(context, &harvesting::agents(context, &[])) {
        Ok((_, unusable)) if !unusable.is_empty() => bad("documents", &unusable[0]),
        Ok((targets, _)) => {
            let rows: Vec<Value> = targets
                .iter()
                .map(|target| json!({"id": target.id, "path": target.path, "real_path": target.real_path, "exists": target.text.is_some()}))
                .collect();
            good(
                "documents",
                "documents_found",
                format!(
                    "{} can be improved.",
                    counted(targets.len() as u64, "document")
                ),
                json!(rows),
            )
        }
        Err(problem) => bad("documents", &problem),
    }
}

/// Model servers on this computer; having none is nothing to look at.
async fn local_servers(app: &App, context: &skillopt_sleep::Context) -> Finding {
    let subject = "local model servers";
    let found = backend::on_this_computer(app, &context.settings).await;
    let words: Vec<String> = found
        .iter()
        .map(|server| {
            let models = match server.models.as_slice() {
                [] => "no model".to_owned(),
                [one] => format!("the model {one}"),
                several => format!("{} models", several.len()),
            };
            format!(
                "{} answers at {} with {models}",
                server.name, server.endpoint
            )
        })
        .collect();
    if words.is_empty() {
        let message = format!(
            "No model server answers on this computer (ports {}).",
            context.settings.local_ports.join(", ")
        );
        let detail = json!({"ports": context.settings.local_ports});
        return good(subject, "servers_none", message, detail);
    }
    good(
        subject,
        "servers_found",
        format!("{}.", words.join("; ")),
        json!(found),
    )
}

fn backends(
    context: &skillopt_sleep::Context,
    answering: Result<Answering, Problem>,
    as_scheduled: bool,
) -> Finding {
    match answering {
        Ok(answering) => {
            let detail = json!({
                "target": answering.target, "optimizer": answering.optimizer, "judge": answering.judge,
                "silent": answering.silent, "unheard": answering.unheard,
            });
            if let Some(terms) = answering.terms.first() {
                return bad("models", &terms.problem());
            }
            if answering.simulated {
                return Finding {
                    health: Health::Warning,
                    guidance: "Set models.backend to use a model.".to_owned(),
                    ..good("models", "models_simulated", "Answers come from a built-in simulation.", detail)
                };
            }
            if context.settings.reserve_percent > 0 && !answering.silent.is_empty() {
                return Finding {
                    health: Health::Warning,
                    guidance: "A limit of the night (spends.max_calls_per_night, spends.max_tokens_per_night, schedule.finish_by) holds with every backend.".to_owned(),
                    ..good(
                        "models",
                        "models_reserve_unkept",
                        format!(
                            "spends.reserve_percent cannot be kept: {} does not say how much of the plan is left.",
                            answering.silent.join(" and ")
                        ),
                        detail,
                    )
                };
            }
            if !answering.unheard.is_empty() {
                let unheard: Vec<String> = answering.unheard.iter().map(ToString::to_string).collect();
                return Finding {
                    health: Health::Warning,
                    guidance: "Take the setting out, or use a backend that has it.".to_owned(),
                    ..good("models", "models_setting_unheard", unheard.join(" "), detail)
                };
            }
            good("models", "models_usable", "The backends can be used.", detail)
        }
        Err(problem) if as_scheduled && problem.code.starts_with("api_key") => Finding {
            guidance: "cron does not have the variables of your shell. Write NAME=VALUE for this one on a \
                       line of its own above the SkillOpt lines (`crontab -e`); this check cannot see it there."
                .to_owned(),
            ..bad("models", &problem)
        },
        Err(problem) => bad("models", &problem),
    }
}
