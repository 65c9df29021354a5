//! What a night works with: the store, the clock, the settings, the project, and who is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use skillopt_core::Instant;
use skillopt_core::text::counted;
use skillopt_models::{CallEvent, CancelToken, Keyring, Spend};
use skillopt_settings::Settings;
use skillopt_store::projects::Project;
use skillopt_store::{Clock, Paths, Store};

/// What happens while a night runs, for whoever shows it. Nothing is decided from it.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// A stage begins.
    StageStarted {
        /// Its name, for example `claude/baseline`.
        stage: String,
        /// How many calls it has.
        calls: usize,
    },
    /// One call of a stage has its result.
    CallDone {
        /// The stage.
        stage: String,
        /// Whether it was asked now; `false` when an earlier answer was used.
        fresh: bool,
        /// What the night has spent until now; `None` when the call has no answer.
        spent: Option<Spend>,
    },
    /// A stage is over.
    StageDone {
        /// Its name.
        stage: String,
    },
    /// It is known what the rest of the night asks.
    Outlook {
        /// Calls that are to come, at most.
        calls: u64,
    },
    /// A call gets another try.
    Again {
        /// What went wrong, in a sentence.
        why: String,
        /// How long it waits.
        seconds: u64,
    },
    /// Something worth a line.
    Note(String),
}

/// Told about progress; called from any thread.
pub type Listener = Arc<dyn Fn(&Progress) + Send + Sync>;

/// What a night works with.
#[derive(Clone)]
pub struct Context {
    /// The store.
    pub store: Arc<Store>,
    /// Our folders.
    pub paths: Paths,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The settings that hold for this project.
    pub settings: Settings,
    /// What in the settings is not used, and why: the first notes of a report.
    pub warnings: Vec<String>,
    /// The project.
    pub project: Project,
    /// The environment: where agents say their homes are, and where keys are.
    pub environment: Arc<BTreeMap<String, String>>,
    /// Where a key is looked for that the environment does not have.
    pub keyring: Keyring,
    /// The user's home folder.
    pub home: PathBuf,
    /// When the night must be over; nothing is asked after it.
    pub finish_at: Option<Instant>,
    /// Raised to stop.
    pub cancel: CancelToken,
    /// Told about progress.
    pub listener: Listener,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("project", &self.project.root)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Turns what happens on the path of a call into progress.
    pub(crate) fn on_call(&self) -> skillopt_models::path::OnEvent {
        let listener = Arc::clone(&self.listener);
        Arc::new(move |event| {
            if let Some(progress) = progress(event) {
                listener(&progress);
            }
        })
    }

    /// Says something worth a line.
    pub(crate) fn note(&self, text: impl Into<String>) {
        (self.listener)(&Progress::Note(text.into()));
    }
}

fn progress(event: &CallEvent) -> Option<Progress> {
    Some(match event {
        CallEvent::Planned { stage, calls } => Progress::StageStarted {
            stage: stage.clone(),
            calls: *calls,
        },
        CallEvent::Answered {
            stage,
            fresh,
            spent,
            ..
        } => Progress::CallDone {
            stage: stage.clone(),
            fresh: *fresh,
            spent: Some(*spent),
        },
        CallEvent::Failed { stage, .. } => Progress::CallDone {
            stage: stage.clone(),
            fresh: true,
            spent: None,
        },
        CallEvent::Again { wait, error, .. } => Progress::Again {
            why: error.to_string(),
            seconds: wait.as_secs().max(1),
        },
        CallEvent::Paused { provider, until } => {
            Progress::Note(format!("{provider} allows no more until {until}."))
        }
        CallEvent::Stopping { replies, grace } => Progress::Note(format!(
            "Stopping. {} under way may take {} s more; they are not waited for when it is stopped once more.",
            counted(*replies as u64, "call"),
            grace.as_secs()
        )),
        CallEvent::Questions {
            open,
            folder,
            refused,
        } => {
            let mut lines: Vec<String> = refused
                .iter()
                .map(|(id, why)| format!("Answer {id} was not taken: {why}."))
                .collect();
            lines.push(format!(
                "Questions that wait: {open}, in {}.",
                folder.display()
            ));
            Progress::Note(lines.join("\n"))
        }
        CallEvent::AnswerChanged { id } => Progress::Note(format!(
            "The answer to question {id} was changed after it was used; the first one counts."
        )),
        CallEvent::Sent { .. } => return None,
    })
}
