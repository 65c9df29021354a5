//! Every setting once: name, type, default, text, flag, and whether a repository may restrict it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml_edit::Value as Toml;

use crate::value::{Kind, Setting, choices};

choices! {
    /// Whose sessions are read.
    Source {
        /// Every agent that is found.
        Auto = "auto",
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Codex when it has sessions, else Claude Code, as the reference chooses.
        ReferenceAuto = "reference-auto",
    }
}

choices! {
    /// Which sessions belong to a project.
    Scope {
        /// Those typed in its folder or below.
        Project = "project",
        /// Also those typed in a folder above it.
        Parents = "parents",
        /// Every session.
        All = "all",
    }
}

choices! {
    /// Who answers model calls.
    Backend {
        /// A built-in simulation that obeys literal rules.
        Mock = "mock",
        /// A built-in simulation of the reference's personas.
        PersonaSim = "persona-sim",
        /// A server that speaks Chat Completions.
        OpenAiCompatible = "openai_compatible",
        /// The Claude Code command line.
        Claude = "claude",
        /// A person or another program, through files.
        Handoff = "handoff",
    }
}

choices! {
    /// Where proposals are staged.
    Staging {
        /// In SkillOpt's data folder.
        Data = "data",
        /// In `.skillopt-sleep/` of the project, as the reference does.
        Project = "project",
    }
}

choices! {
    /// Whether edits have to defend themselves on held-out tasks.
    GateMode {
        /// They have to be strictly better.
        Strict = "strict",
        /// They are taken as they come.
        Off = "off",
    }
}

choices! {
    /// Which score the gate compares.
    Metric {
        /// A weighted mean of hard and soft.
        Mixed = "mixed",
        /// All or nothing.
        Hard = "hard",
        /// Partial credit.
        Soft = "soft",
    }
}

/// What a repository's own file may say about a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InRepository {
    /// Nothing.
    Never,
    /// It may add items to a list of what is left out.
    Adds,
    /// It may switch something off.
    SwitchesOff,
    /// It may lower a limit.
    Lowers,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Section and name, for example `reads.source`.
    pub name: &'static str,
    /// The name alone, unique over all sections; the field of [`Settings`].
    pub field: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// One or two sentences for a person.
    pub text: &'static str,
    /// The command line flag without its dashes; `None` when there is none.
    pub flag: Option<&'static str>,
    /// Its name in the reference's configuration; empty when it has none.
    pub reference: &'static str,
    /// What a repository may say about it.
    pub in_repository: InRepository,
    /// Smallest and largest number.
    pub range: Option<(f64, f64)>,
}

impl Key {
    /// The environment variable that sets it.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("SKILLOPT_{}", self.field.to_uppercase())
    }

    /// The section it stands in.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }
}

macro_rules! optional {
    () => { None };
    ($value:expr) => { Some($value) };
}
macro_rules! or_empty {
    () => { "" };
    ($value:expr) => { $value };
}
macro_rules! or_never {
    () => { InRepository::Never };
    ($value:ident) => { InRepository::$value };
}

macro_rules! settings {
    ($($section:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr
            $(, flag $flag:literal)? $(, reference $reference:literal)?
            $(, repository $repository:ident)? $(, from $low:literal to $high:literal)?;)+
    })+) => {
        /// The settings that hold: one field per row of [`TABLE`].
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct Settings {
            $($($(#[doc = $doc])+ pub $field: $type,)+)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($($field: $default,)+)+ }
            }
        }

        /// Every setting, in the order they are shown.
        pub const TABLE: &[Key] = &[
            $($(Key {
                name: concat!(stringify!($section), ".", stringify!($field)),
                field: stringify!($field),
                kind: <$type as Setting>::KIND,
                text: concat!($($doc),+),
                flag: optional!($($flag)?),
                reference: or_empty!($($reference)?),
                in_repository: or_never!($($repository)?),
                range: optional!($(($low as f64, $high as f64))?),
            },)+)+
        ];

        impl Settings {
            /// Sets one field from a TOML value; the error completes "… must be …".
            pub(crate) fn set_toml(&mut self, field: &str, value: &Toml) -> Result<(), String> {
                match field {
                    $($(stringify!($field) => self.$field = in_range(<$type as Setting>::from_toml(value)?, field)?,)+)+
                    _ => {}
                }
                Ok(())
            }

            /// Sets one field from text; the error completes "… must be …".
            pub(crate) fn set_text(&mut self, field: &str, text: &str) -> Result<(), String> {
                match field {
                    $($(stringify!($field) => self.$field = in_range(<$type as Setting>::from_text(text)?, field)?,)+)+
                    _ => {}
                }
                Ok(())
            }

            /// The value of one field as JSON; null when there is no such field.
            #[must_use]
            pub fn value(&self, field: &str) -> Value {
                match field {
                    $($(stringify!($field) => Setting::to_json(&self.$field),)+)+
                    _ => Value::Null,
                }
            }
        }
    };
}

fn in_range<T: Setting>(value: T, field: &str) -> Result<T, String> {
    let range = TABLE.iter().find(|key| key.field == field).and_then(|key| key.range);
    if let (Some((low, high)), Some(number)) = (range, value.to_json().as_f64())
        && !(low..=high).contains(&number)
    {
        return Err(format!("from {low} to {high}"));
    }
    Ok(value)
}

settings! {
    reads {
        /// Whose sessions are read.
        source: Source = Source::Auto, flag "source", reference "transcript_source";
        /// Claude Code's folder; empty for $CLAUDE_CONFIG_DIR, else ~/.claude.
        claude_home: String = String::new(), flag "claude-home", reference "claude_home";
        /// Codex's folder; empty for $CODEX_HOME, else ~/.codex.
        codex_home: String = String::new(), flag "codex-home", reference "codex_home";
        /// Which sessions belong to a project.
        scope: Scope = Scope::Project, flag "scope", reference "projects";
        /// How many hours before the project was first seen reading begins; 0 for everything there is.
        lookback_hours: u32 = 72, flag "lookback-hours", reference "lookback_hours";
        /// Sessions per night; 0 for three times mines.max_tasks_per_night. The rest comes another night.
        max_sessions_per_night: u32 = 0, flag "max-sessions", reference "max_sessions_per_night";
        /// Folders and files that are never read, as globs.
        exclude: Vec<String> = Vec::new(), repository Adds;
        /// Sessions whose first prompt contains one of these texts were made by a program and are skipped.
        agent_markers: Vec<String> = Vec::new();
        /// Further words of complaint.
        negative_words: Vec<String> = Vec::new();
        /// Further words of praise.
        positive_words: Vec<String> = Vec::new();
    }
    mines {
        /// Let the optimizer name the tasks of each session that could be replayed.
        model_miner: bool = true, reference "llm_mine";
        /// Tasks per night. The rest comes another night.
        max_tasks_per_night: u32 = 40, flag "max-tasks", reference "max_tasks_per_night", repository Lowers, from 1 to 10000;
        /// In how many sessions a request must occur before it is worth money.
        min_recurrence: u32 = 2, from 1 to 100;
        /// With a skill of your own as target, keep only the tasks it could help with.
        target_task_filter: bool = true, reference "target_task_filter";
    }
    splits {
        /// Share of tasks that only the gate sees.
        validation_fraction: f64 = 0.34, reference "val_fraction", from 0 to 1;
        /// Share of tasks that nothing sees before the end.
        test_fraction: f64 = 0.0, reference "test_fraction", from 0 to 1;
        /// Decides, with a task's id, to which slice it belongs.
        seed: u32 = 42, reference "seed";
    }
    replays {
        /// Attempts at each training task; several show the optimizer what made the difference.
        rollouts: u32 = 1, reference "dream_rollouts", from 1 to 16;
        /// Variants made of each training task.
        dream_factor: u32 = 0, reference "dream_factor", from 0 to 8;
        /// Similar training tasks of earlier nights that are replayed as well.
        recall: u32 = 0, reference "recall_k", from 0 to 100;
    }
    models {
        /// Who answers model calls.
        backend: Backend = Backend::Mock, flag "backend", reference "backend";
        /// The model; empty for the backend's own default.
        model: String = String::new(), flag "model", reference "model";
        /// Who answers attempts; empty for models.backend.
        target_backend: Option<Backend> = None, flag "target-backend", reference "target_backend";
        /// The model of the target side; empty for models.model.
        target_model: String = String::new(), flag "target-model", reference "target_model";
        /// Who mines, judges and reflects; empty for models.backend.
        optimizer_backend: Option<Backend> = None, flag "optimizer-backend", reference "optimizer_backend";
        /// The model of the optimizer side; empty for models.model.
        optimizer_model: String = String::new(), flag "optimizer-model", reference "optimizer_model";
        /// Address of a Chat Completions server, for example http://127.0.0.1:8080/v1.
        endpoint: String = String::new(), flag "endpoint";
        /// Name of the environment variable that holds the key; never the key itself.
        api_key_env: String = String::new(), flag "api-key-env";
        /// The claude program; empty to look for it.
        claude_path: String = String::new(), flag "claude-path";
        /// Calls in flight per provider.
        concurrency: u32 = 8, flag "concurrency", from 1 to 256;
        /// How long to wait for the first byte of a reply, in seconds.
        first_byte_seconds: u32 = 90, from 1 to 3600;
        /// How long to wait for a whole reply, in seconds.
        call_seconds: u32 = 300, from 1 to 7200;
        /// Sampling temperature; empty leaves it to the server.
        temperature: Option<f64> = None, from 0 to 2;
        /// A file of your own prompt templates; empty for prompts.json in the configuration folder.
        prompts: String = String::new();
        /// Where hand-off questions and answers lie; empty for the data folder.
        handoff_dir: String = String::new();
    }
    changes {
        /// Improve the skill document.
        skill: bool = true, reference "evolve_skill", repository SwitchesOff;
        /// Improve the memory document (CLAUDE.md, AGENTS.md).
        memory: bool = true, reference "evolve_memory", repository SwitchesOff;
        /// Name of the skill SkillOpt keeps for you.
        managed_skill_name: String = "skillopt-sleep-learned".to_owned(), reference "managed_skill_name";
        /// A skill of your own to improve instead; relative to the project.
        target_skill_path: String = String::new(), flag "target-skill-path", reference "target_skill_path";
        /// Further folders in which skills may be changed.
        skill_roots: Vec<String> = Vec::new(), flag "skill-root", reference "skill_roots";
        /// Edits per document and night.
        edit_budget: u32 = 4, flag "edit-budget", reference "edit_budget", from 1 to 20;
        /// Standing wishes the optimizer is told.
        preferences: String = String::new(), flag "preferences", reference "preferences";
        /// Adopt without asking what is better and unflagged; never a skill you wrote.
        auto_adopt: bool = false, flag "auto-adopt", reference "auto_adopt";
        /// Where proposals are staged.
        staging: Staging = Staging::Data;
    }
    gate {
        /// Whether edits have to defend themselves on held-out tasks.
        mode: GateMode = GateMode::Strict, flag "gate", reference "gate_mode";
        /// Which score the gate compares.
        metric: Metric = Metric::Mixed, reference "gate_metric";
        /// Weight of the soft score in the mixed one.
        mixed_weight: f64 = 0.5, reference "gate_mixed_weight", from 0 to 1;
        /// One held-out task that gets worse blocks an edit.
        no_regression: bool = false, reference "gate_no_regression";
        /// With fewer held-out tasks nothing is called better.
        min_validation_tasks: u32 = 3, from 1 to 1000;
    }
    spends {
        /// Model calls per night; 0 for no limit.
        max_calls_per_night: u32 = 400, flag "max-calls";
        /// Minutes at work per night; 0 for no limit.
        max_minutes_per_night: u32 = 120, flag "max-minutes";
        /// Tokens per night; 0 for no limit.
        max_tokens_per_night: u32 = 400_000, flag "max-tokens", reference "max_tokens_per_night";
        /// Money per night, in the currency of the prices; 0 for no limit.
        max_cost_per_night: f64 = 0.0, flag "max-cost", from 0 to 1000000;
        /// Price of a million input tokens; 0 when it is not known.
        input_price: f64 = 0.0, from 0 to 1000000;
        /// Price of a million output tokens; 0 when it is not known.
        output_price: f64 = 0.0, from 0 to 1000000;
    }
    privacy {
        /// Days after which the texts of prompts and replies are deleted; verdicts stay.
        evidence_days: u32 = 30, from 1 to 3650;
        /// Texts that look like secrets but are none.
        false_alarms: Vec<String> = Vec::new();
    }
    schedule {
        /// Hour of the nightly run, local time.
        hour: u32 = 3, flag "hour", from 0 to 23;
        /// Minute of the nightly run.
        minute: u32 = 17, flag "minute", from 0 to 59;
    }
}
