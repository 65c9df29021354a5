//! The table of settings: one row for each key, and everything that follows from it.

use serde_json::Value;

use crate::choice::{
    APIS, AZURE_AUTHS, Api, AzureAuth, GATE_MODES, GateMode, LANGUAGES, LEGACY_THINKINGS, Language,
    LegacyThinking, METRICS, Metric, NOTIFICATIONS, Notifications, REGIONS, Region, SCOPES,
    SOURCES, STAGINGS, Scope, Source, Staging, THEMES, THINKINGS, TRAY_ICONS, Theme, Thinking,
    TrayIcon,
};
use crate::kind::{CRON, DAYS, HOURS, Kind, TIME, ZONE};

/// What a file in a repository may do with a setting. It can only ever take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restriction {
    /// Add to a list.
    Add,
    /// Turn off.
    TurnOff,
    /// Lower a number.
    Lower,
}

/// One setting.
///
/// No row holds a secret: `models.api_key_env` is the *name* of an environment variable.
#[derive(Debug)]
pub struct Row {
    /// Name in files: `group.field`.
    pub key: &'static str,
    /// The last part of the name, unique over the table: the field of [`Settings`].
    pub field: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// One line for `--help` and the settings file.
    pub text: &'static str,
    /// What a number counts; empty for anything else.
    pub unit: &'static str,
    /// The flag, without its dashes. A flag of a list may be given several times; one of a
    /// [`Kind::Bool`] stands for `true` when it has no value.
    pub flag: &'static str,
    /// The reference's names in `config.json`, in the order in which they win (§2.1).
    pub reference: &'static [&'static str],
    /// A variable of the reference that is honoured below our own (§2.5).
    pub reference_variable: Option<&'static str>,
    /// What a repository may do with it; `None` for nothing.
    pub repository: Option<Restriction>,
    /// Whether a night is pinned to the value: it decides what is asked, compared or written. Budgets,
    /// limits and times may change while a night waits.
    pub pinned: bool,
}

impl Row {
    const fn new(kind: Kind, flag: &'static str) -> Self {
        Self {
            key: "",
            field: "",
            kind,
            text: "",
            unit: "",
            flag,
            reference: &[],
            reference_variable: None,
            repository: None,
            pinned: true,
        }
    }

    const fn named(self, key: &'static str, field: &'static str, text: &'static str) -> Self {
        Self {
            key,
            field,
            text,
            ..self
        }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    const fn was(self, reference: &'static [&'static str]) -> Self {
        Self { reference, ..self }
    }

    const fn also(self, variable: &'static str) -> Self {
        Self {
            reference_variable: Some(variable),
            ..self
        }
    }

    const fn in_repository(self, restriction: Restriction) -> Self {
        Self {
            repository: Some(restriction),
            ..self
        }
    }

    const fn free(self) -> Self {
        Self {
            pinned: false,
            ..self
        }
    }

    /// The environment variable: `SKILLOPT_` and the field in capitals.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("SKILLOPT_{}", self.field.to_uppercase())
    }

    /// The group: the part of the key before the dot.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.key
            .split_once('.')
            .map_or(self.key, |(group, _)| group)
    }

    /// What `--help` calls the value: `N`, `PATH`, `TEXT`, …
    #[must_use]
    pub fn value_name(&self) -> &'static str {
        self.kind.value_name()
    }
}

/// Builds [`Settings`] and [`ROWS`] from one list.
macro_rules! settings {
    ($($(#[doc = $text:literal])+ $group:ident.$field:ident: $type:ty = $default:expr, $row:expr;)+) => {
        /// Every setting with the value that holds. Serialised, it is one object of dotted names.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $($(#[doc = $text])+ pub $field: $type,)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Settings {
            /// The value of a row as JSON.
            #[must_use]
            pub fn get(&self, row: &Row) -> Value {
                match row.key {
                    $(concat!(stringify!($group), ".", stringify!($field)) => {
                        serde_json::to_value(&self.$field).unwrap_or(Value::Null)
                    })+
                    _ => Value::Null,
                }
            }

            /// Gives a row's value its default.
            pub fn reset(&mut self, row: &Row) {
                let usual = Self::default();
                match row.key {
                    $(concat!(stringify!($group), ".", stringify!($field)) => {
                        self.$field = usual.$field;
                    })+
                    _ => {}
                }
            }

            /// Puts a value that [`Kind`] has checked in the place of a row's.
            pub(crate) fn put(&mut self, row: &Row, value: Value) -> serde_json::Result<()> {
                match row.key {
                    $(concat!(stringify!($group), ".", stringify!($field)) => {
                        self.$field = serde_json::from_value(value)?;
                    })+
                    _ => {}
                }
                Ok(())
            }
        }

        /// Every setting, in the order of the settings file.
        pub static ROWS: &[Row] = &[
            $($row.named(
                concat!(stringify!($group), ".", stringify!($field)),
                stringify!($field),
                concat!($($text),+),
            ),)+
        ];
    };
}

const fn switch(flag: &'static str) -> Row {
    Row::new(Kind::Bool, flag)
}

const fn whole(least: u64, most: u64, flag: &'static str) -> Row {
    Row::new(Kind::Whole { least, most }, flag)
}

const fn number(least: f64, most: f64, flag: &'static str) -> Row {
    Row::new(
        Kind::Number {
            least,
            most,
            optional: false,
        },
        flag,
    )
}

const fn of(kind: Kind, flag: &'static str) -> Row {
    Row::new(kind, flag)
}

settings! {
    /// Whose sessions are read.
    reads.source: Source = Source::Auto, of(Kind::Choice(&SOURCES), "source").was(&["transcript_source"]);
    /// Where Claude Code keeps its files, one folder or several; empty for $CLAUDE_CONFIG_DIR or ~/.claude.
    reads.claude_home: Vec<String> = Vec::new(), of(Kind::Paths, "claude-home").was(&["claude_home"]);
    /// Where Codex keeps its files, one folder or several; empty for $CODEX_HOME or ~/.codex.
    reads.codex_home: Vec<String> = Vec::new(), of(Kind::Paths, "codex-home").was(&["codex_home"]);
    /// Where GitHub Copilot CLI keeps its files, one folder or several; empty for $COPILOT_HOME or ~/.copilot.
    reads.copilot_home: Vec<String> = Vec::new(), of(Kind::Paths, "copilot-home");
    /// Where Copilot Chat in VS Code keeps its files, one folder or several; empty for those of every VS Code there is.
    reads.vscode_home: Vec<String> = Vec::new(), of(Kind::Paths, "vscode-home");
    /// Where Cursor keeps its files, one folder or several; empty for ~/.cursor and the folder of its editor.
    reads.cursor_home: Vec<String> = Vec::new(), of(Kind::Paths, "cursor-home").was(&["cursor_home"]);
    /// Where Pi keeps its files, one folder or several; empty for $PI_CODING_AGENT_DIR or ~/.pi/agent.
    reads.pi_home: Vec<String> = Vec::new(), of(Kind::Paths, "pi-home").was(&["pi_home"]);
    /// Where OpenCode keeps its files, folders or databases; empty for $XDG_DATA_HOME/opencode and ~/.local/share/opencode.
    reads.opencode_home: Vec<String> = Vec::new(), of(Kind::Paths, "opencode-home").was(&["opencode_db"]);
    /// Where OpenClaw keeps its files, one folder or several; empty for $OPENCLAW_STATE_DIR or ~/.openclaw.
    reads.openclaw_home: Vec<String> = Vec::new(), of(Kind::Paths, "openclaw-home");
    /// Where Devin keeps its files, folders or databases; empty for devin/cli in the folder of the user's data.
    reads.devin_home: Vec<String> = Vec::new(), of(Kind::Paths, "devin-home");
    /// Which sessions belong to a project.
    reads.scope: Scope = Scope::Project, of(Kind::Choice(&SCOPES), "scope").was(&["projects"]);
    /// How far back the first night of a project reads; 0 for everything there is.
    reads.lookback_hours: u32 = 72, whole(0, 1_000_000, "lookback-hours").unit("hours").was(&["lookback_hours"]);
    /// How many sessions one night reads; 0 for three times mines.max_tasks_per_night.
    reads.max_sessions_per_night: u32 = 0,
        whole(0, 100_000, "max-sessions").unit("sessions").was(&["max_sessions_per_night"]);
    /// Files and folders whose sessions are never read, as globs.
    reads.exclude: Vec<String> = Vec::new(), of(Kind::Globs, "exclude").in_repository(Restriction::Add);
    /// Texts that mark a session as a machine's when its first prompt contains one of them.
    reads.agent_markers: Vec<String> = Vec::new(),
        of(Kind::List, "agent-marker").also("SKILLOPT_SLEEP_AGENT_MARKERS");
    /// Words that say that something went wrong, besides the usual ones.
    reads.negative_words: Vec<String> = Vec::new(),
        of(Kind::Phrases, "negative-word").also("SKILLOPT_SLEEP_NEG_FEEDBACK");
    /// Words that say that something went well, besides the usual ones.
    reads.positive_words: Vec<String> = Vec::new(),
        of(Kind::Phrases, "positive-word").also("SKILLOPT_SLEEP_POS_FEEDBACK");

    /// Whether a model helps to find tasks in the sessions.
    mines.model_miner: bool = true, switch("model-miner").was(&["llm_mine"]);
    /// How many tasks one night works on.
    mines.max_tasks_per_night: u32 = 40,
        whole(1, 10_000, "max-tasks").unit("tasks").was(&["max_tasks_per_night"]).in_repository(Restriction::Lower);
    /// In how many sessions a task must recur before money is spent on it.
    mines.min_recurrence: u32 = 2, whole(1, 1_000, "min-recurrence").unit("sessions");
    /// Whether only tasks that fit the target skill are kept, when one is named.
    mines.target_task_filter: bool = true, switch("target-task-filter").was(&["target_task_filter"]);

    /// The share of tasks that is held out for the gate.
    splits.validation_fraction: f64 = 0.34,
        number(0.0, 0.99, "validation-fraction").unit("share").was(&["val_fraction", "holdout_fraction"]);
    /// The share of tasks that is held out from the gate as well.
    splits.test_fraction: f64 = 0.0, number(0.0, 0.99, "test-fraction").unit("share").was(&["test_fraction"]);
    /// What the split of new tasks is drawn from; a task keeps the slice it has.
    splits.seed: u64 = 42, whole(0, MAX_SEED, "seed").was(&["seed"]);

    /// How often each task is tried.
    replays.rollouts: u32 = 1, whole(1, 64, "rollouts").unit("tries").was(&["dream_rollouts"]);
    /// How many variants of each training task are made up.
    replays.dream_factor: u32 = 0, whole(0, 64, "dream-factor").unit("variants").was(&["dream_factor"]);
    /// How many tasks of earlier nights that resemble tonight's are replayed with them.
    replays.recall: u32 = 0, whole(0, 1_000, "recall").unit("tasks").was(&["recall_k"]);
    /// Whether tasks with tools are replayed with them; their results are fixed, and nothing is executed.
    replays.tools: bool = false, switch("replay-tools").was(&["opencode_tool_replay"]);

    /// Which model is asked, and how.
    models.backend: String = "mock".to_owned(),
        of(Kind::Backend { optional: false }, "backend").was(&["backend"]);
    /// The model's name; empty for the backend's own choice.
    models.model: String = String::new(), of(Kind::Text, "model").was(&["model"]);
    /// The backend that does the tasks, when it is another one.
    models.target_backend: String = String::new(),
        of(Kind::Backend { optional: true }, "target-backend").was(&["target_backend"]);
    /// The model that does the tasks, when it is another one.
    models.target_model: String = String::new(), of(Kind::Text, "target-model").was(&["target_model"]);
    /// The backend that mines and proposes, and judges when no other does, when it is another one.
    models.optimizer_backend: String = String::new(),
        of(Kind::Backend { optional: true }, "optimizer-backend").was(&["optimizer_backend"]);
    /// The model that mines and proposes, and judges when no other does, when it is another one.
    models.optimizer_model: String = String::new(), of(Kind::Text, "optimizer-model").was(&["optimizer_model"]);
    /// The backend that judges replies, when it is not the one that mines and proposes.
    models.judge_backend: String = String::new(), of(Kind::Backend { optional: true }, "judge-backend");
    /// The model that judges replies, when it is not the one that mines and proposes.
    models.judge_model: String = String::new(), of(Kind::Text, "judge-model");
    /// Whether replies are judged by a backend of another family than their writer, when none was chosen and you have agreed that nights ask one.
    models.judge_of_another_family: bool = true, switch("judge-of-another-family");
    /// The base address of the model server, for example http://localhost:8080/v1; empty for the backend's own.
    models.endpoint: String = String::new(), of(Kind::Address, "endpoint");
    /// The model server of the backend that does the tasks, when it is another one.
    models.target_endpoint: String = String::new(), of(Kind::Address, "target-endpoint");
    /// The model server of the backend that mines and proposes, when it is another one.
    models.optimizer_endpoint: String = String::new(), of(Kind::Address, "optimizer-endpoint");
    /// The model server of the backend that judges, when it is another one.
    models.judge_endpoint: String = String::new(), of(Kind::Address, "judge-endpoint");
    /// The name of the environment variable that holds the key; never the key itself.
    models.api_key_env: String = String::new(), of(Kind::Variable, "api-key-env").free();
    /// The variable with the key of the backend that does the tasks, when it is another one.
    models.target_api_key_env: String = String::new(), of(Kind::Variable, "target-api-key-env").free();
    /// The variable with the key of the backend that mines and proposes, when it is another one.
    models.optimizer_api_key_env: String = String::new(), of(Kind::Variable, "optimizer-api-key-env").free();
    /// The variable with the key of the backend that judges, when it is another one.
    models.judge_api_key_env: String = String::new(), of(Kind::Variable, "judge-api-key-env").free();
    /// Which of OpenAI's interfaces openai_compatible and azure_openai are asked with.
    models.api: Api = Api::Auto, of(Kind::Choice(&APIS), "api");
    /// Which of OpenAI's interfaces the model that does the tasks is asked with; auto for what models.api says.
    models.target_api: Api = Api::Auto, of(Kind::Choice(&APIS), "target-api");
    /// Which of OpenAI's interfaces the model that mines and proposes is asked with; auto for what models.api says.
    models.optimizer_api: Api = Api::Auto, of(Kind::Choice(&APIS), "optimizer-api");
    /// Which of OpenAI's interfaces the model that judges is asked with; auto is as the one that mines and proposes.
    models.judge_api: Api = Api::Auto, of(Kind::Choice(&APIS), "judge-api");
    /// How hard models think, in a word of their maker such as low or high; empty for their own choice.
    models.reasoning_effort: String = String::new(), of(Kind::Text, "reasoning-effort");
    /// How hard the model that does the tasks thinks, when it is something else.
    models.target_reasoning_effort: String = String::new(), of(Kind::Text, "target-reasoning-effort");
    /// How hard the model that mines and proposes thinks, when it is something else.
    models.optimizer_reasoning_effort: String = String::new(), of(Kind::Text, "optimizer-reasoning-effort");
    /// How hard the model that judges thinks, when it is something else.
    models.judge_reasoning_effort: String = String::new(), of(Kind::Text, "judge-reasoning-effort");
    /// Whether qwen and minimax think before they answer.
    models.thinking: Thinking = Thinking::Unset, of(Kind::Choice(&THINKINGS), "thinking").also("QWEN_CHAT_THINKING_MODE");
    /// Whether the model that does the tasks thinks before it answers, when that is something else.
    models.target_thinking: Thinking = Thinking::Unset, of(Kind::Choice(&THINKINGS), "target-thinking");
    /// Whether the model that mines and proposes thinks before it answers, when that is something else.
    models.optimizer_thinking: Thinking = Thinking::Unset, of(Kind::Choice(&THINKINGS), "optimizer-thinking");
    /// Whether the model that judges thinks before it answers, when that is something else.
    models.judge_thinking: Thinking = Thinking::Unset, of(Kind::Choice(&THINKINGS), "judge-thinking");
    /// The reference's older switch for models.thinking of qwen; true is enabled, false is server_default.
    models.enable_thinking: LegacyThinking = LegacyThinking::Unset,
        of(Kind::Choice(&LEGACY_THINKINGS), "enable-thinking").also("QWEN_CHAT_ENABLE_THINKING");
    /// Where minimax is asked; models.endpoint wins over it.
    models.region: Region = Region::Global, of(Kind::Choice(&REGIONS), "region").also("MINIMAX_REGION");
    /// How one signs in to azure_openai; auto is with a key when one is named, else azure_cli.
    models.azure_auth: AzureAuth = AzureAuth::Auto,
        of(Kind::Choice(&AZURE_AUTHS), "azure-auth").also("AZURE_OPENAI_AUTH_MODE").free();
    /// The API version of an older azure_openai resource; empty for today's interface, which needs none.
    models.azure_api_version: String = String::new(),
        of(Kind::Text, "azure-api-version").also("AZURE_OPENAI_API_VERSION");
    /// Which of several managed identities of the machine asks azure_openai; empty for the only one.
    models.azure_client_id: String = String::new(),
        of(Kind::Text, "azure-client-id").also("AZURE_OPENAI_MANAGED_IDENTITY_CLIENT_ID").free();
    /// The ports of this computer on which doctor looks for model servers.
    models.local_ports: Vec<String> = ["8080", "11434", "1234", "8000"].map(str::to_owned).to_vec(),
        of(Kind::Ports, "local-port").free();
    /// The providers that nights may ask by themselves; `skillopt backend accept` adds one.
    models.terms_accepted: Vec<String> = Vec::new(), of(Kind::List, "accept-terms").free();
    /// The claude program; empty to look for it.
    models.claude_path: String = String::new(), of(Kind::Path, "claude-path").free();
    /// The codex program; empty to look for it.
    models.codex_path: String = String::new(),
        of(Kind::Path, "codex-path").was(&["codex_path"]).also("SKILLOPT_SLEEP_CODEX_PATH").free();
    /// The copilot program; empty to look for it.
    models.copilot_path: String = String::new(),
        of(Kind::Path, "copilot-path").also("SKILLOPT_SLEEP_COPILOT_PATH").free();
    /// The cursor-agent program; empty to look for it.
    models.cursor_path: String = String::new(),
        of(Kind::Path, "cursor-path").was(&["cursor_path"]).also("SKILLOPT_SLEEP_CURSOR_PATH").free();
    /// The opencode program; empty to look for it.
    models.opencode_path: String = String::new(),
        of(Kind::Path, "opencode-path").was(&["opencode_path"]).also("SKILLOPT_SLEEP_OPENCODE_PATH").free();
    /// The pi program; empty to look for it.
    models.pi_path: String = String::new(), of(Kind::Path, "pi-path").was(&["pi_path"]).free();
    /// How many calls one provider gets at the same time.
    models.concurrency: u32 = 8, whole(1, 256, "concurrency").unit("calls").also("SKILLOPT_SLEEP_WORKERS").free();
    /// How long the first byte of an answer may take.
    models.first_byte_seconds: u32 = 90, whole(1, 3_600, "first-byte-seconds").unit("seconds").free();
    /// How long a whole answer may take.
    models.call_seconds: u32 = 300, whole(1, 36_000, "call-seconds").unit("seconds").free();
    /// How many tokens the models read and write at most; 0 for what the server or the price table says.
    models.context_tokens: u64 = 0, whole(0, 1_000_000_000, "context-tokens").unit("tokens");
    /// How many tokens the model that mines and proposes reads and writes at most; 0 for what models.context_tokens says.
    models.optimizer_context_tokens: u64 = 0, whole(0, 1_000_000_000, "optimizer-context-tokens").unit("tokens");
    /// How many tokens the model that judges reads and writes at most; 0 is as the one that mines and proposes.
    models.judge_context_tokens: u64 = 0, whole(0, 1_000_000_000, "judge-context-tokens").unit("tokens");
    /// How many tokens one reply may have, thinking included; 0 for what its purpose needs, which is 400 to 1,600.
    models.reply_tokens: u32 = 0, whole(0, 1_000_000, "reply-tokens").unit("tokens").also("SKILLOPT_SLEEP_COMPAT_MAX_TOKENS");
    /// How many tokens a reply of the model that does the tasks may have; 0 for what models.reply_tokens says.
    models.target_reply_tokens: u32 = 0, whole(0, 1_000_000, "target-reply-tokens").unit("tokens");
    /// How many tokens a reply of the model that mines and proposes may have; 0 for what models.reply_tokens says.
    models.optimizer_reply_tokens: u32 = 0, whole(0, 1_000_000, "optimizer-reply-tokens").unit("tokens");
    /// How many tokens a reply of the model that judges may have; 0 is as the one that mines and proposes.
    models.judge_reply_tokens: u32 = 0, whole(0, 1_000_000, "judge-reply-tokens").unit("tokens");
    /// How freely the model writes; absent for the model's own choice.
    models.temperature: Option<f64> = None,
        of(Kind::Number { least: 0.0, most: 2.0, optional: true }, "temperature");
    /// How freely the model that does the tasks writes, when it is something else.
    models.target_temperature: Option<f64> = None,
        of(Kind::Number { least: 0.0, most: 2.0, optional: true }, "target-temperature");
    /// How freely the model that mines and proposes writes, when it is something else.
    models.optimizer_temperature: Option<f64> = None,
        of(Kind::Number { least: 0.0, most: 2.0, optional: true }, "optimizer-temperature");
    /// How freely the model that judges writes, when it is something else.
    models.judge_temperature: Option<f64> = None,
        of(Kind::Number { least: 0.0, most: 2.0, optional: true }, "judge-temperature");
    /// A file with your own words for the prompts; empty for ours.
    models.prompts: String = String::new(), of(Kind::Path, "prompts").also("SKILLOPT_SLEEP_PROMPTS_PATH");
    /// The recorded night that the cassette backend answers from.
    models.cassette: String = String::new(), of(Kind::Path, "cassette").free();
    /// Where the questions of the handoff backend are written; empty for the data folder.
    models.handoff_dir: String = String::new(),
        of(Kind::ProjectPath, "handoff-dir").also("SKILLOPT_SLEEP_HANDOFF_DIR").free();

    /// Whether skills are improved.
    changes.skill: bool = true, switch("skill").was(&["evolve_skill"]).in_repository(Restriction::TurnOff);
    /// Whether memory files (CLAUDE.md, AGENTS.md) are improved.
    changes.memory: bool = true, switch("memory").was(&["evolve_memory"]).in_repository(Restriction::TurnOff);
    /// The skill that holds what was learned, when no other is named.
    changes.managed_skill_name: String = "skillopt-sleep-learned".to_owned(),
        of(Kind::SkillName, "managed-skill-name").was(&["managed_skill_name"]);
    /// A skill of your own to improve instead: its SKILL.md, below the project when relative.
    changes.target_skill_path: String = String::new(),
        of(Kind::ProjectPath, "target-skill-path").was(&["target_skill_path"]);
    /// More folders with skills that may be improved.
    changes.skill_roots: Vec<String> = Vec::new(), of(Kind::ProjectPaths, "skill-root").was(&["skill_roots"]);
    /// How many edits one round proposes for a document.
    changes.edit_budget: u32 = 4, whole(1, 100, "edit-budget").unit("edits").was(&["edit_budget"]);
    /// What proposals should mind, in your own words.
    changes.preferences: String = String::new(), of(Kind::Text, "preferences").was(&["preferences"]);
    /// Whether a proposal that passed every check is adopted without asking.
    changes.auto_adopt: bool = false, switch("auto-adopt").was(&["auto_adopt"]).free();
    /// Where proposals wait for you.
    changes.staging: Staging = Staging::Data, of(Kind::Choice(&STAGINGS), "staging").free();

    /// Whether proposals must be better on held-out tasks.
    gate.mode: GateMode = GateMode::Strict, of(Kind::Choice(&GATE_MODES), "gate-mode").was(&["gate_mode"]);
    /// What the gate compares.
    gate.metric: Metric = Metric::Mixed, of(Kind::Choice(&METRICS), "gate-metric").was(&["gate_metric"]);
    /// How much the hard score counts in the mixed metric.
    gate.mixed_weight: f64 = 0.5, number(0.0, 1.0, "gate-mixed-weight").unit("share").was(&["gate_mixed_weight"]);
    /// Whether no single held-out task may get worse.
    gate.no_regression: bool = false, switch("gate-no-regression").was(&["gate_no_regression"]);
    /// How many held-out tasks a verdict needs.
    gate.min_validation_tasks: u32 = 3, whole(1, 10_000, "min-validation-tasks").unit("tasks");

    /// How many model calls one night may make.
    spends.max_calls_per_night: u32 = 400, whole(0, 1_000_000, "max-calls").unit("calls").free();
    /// How long one night may take.
    spends.max_minutes_per_night: u32 = 120, whole(1, 1_440, "max-minutes").unit("minutes").free();
    /// How many tokens one night may use.
    spends.max_tokens_per_night: u64 = 400_000,
        whole(0, 1_000_000_000_000, "max-tokens").unit("tokens").was(&["max_tokens_per_night"]).free();
    /// How much money one night may cost, in the currency of the prices; 0 for no limit in money.
    spends.max_cost_per_night: f64 = 0.0, number(0.0, 1e9, "max-cost").unit("money").free();
    /// How much of a plan is left to you, where the provider says how much is left; 0 to use it up.
    spends.reserve_percent: u32 = 0, whole(0, 99, "reserve-percent").unit("percent").free();
    /// What a million input tokens cost; 0 for unknown.
    spends.input_price: f64 = 0.0, number(0.0, 1e6, "input-price").unit("money per million tokens").free();
    /// What a million output tokens cost; 0 for unknown.
    spends.output_price: f64 = 0.0, number(0.0, 1e6, "output-price").unit("money per million tokens").free();

    /// How long the bodies of prompts and replies are kept.
    privacy.evidence_days: u32 = 30, whole(0, 36_500, "evidence-days").unit("days").free();
    /// Texts that look like secrets and are none; they are never redacted.
    privacy.false_alarms: Vec<String> = Vec::new(), of(Kind::List, "false-alarm");

    /// The hour of the night's run, local time.
    schedule.hour: u32 = 3, whole(0, 23, "hour").unit("o'clock").free();
    /// The minute of the night's run.
    schedule.minute: u32 = 17, whole(0, 59, "minute").unit("minutes").free();
    /// Whether the app or the daemon runs nights of the project by itself.
    schedule.nightly: bool = true, switch("nightly").free();
    /// The days on which a night runs; empty for every day.
    schedule.days: String = String::new(), of(Kind::Form(&DAYS), "days").free();
    /// When nights run, as a cron expression, instead of schedule.hour, schedule.minute and schedule.days.
    schedule.cron: String = String::new(), of(Kind::Form(&CRON), "cron").free();
    /// The time zone of these times; empty for that of the computer.
    schedule.time_zone: String = String::new(), of(Kind::Form(&ZONE), "time-zone").free();
    /// Up to how much later a night begins, drawn anew for each project and night.
    schedule.random_delay_minutes: u32 = 10, whole(0, 720, "random-delay-minutes").unit("minutes").free();
    /// The time of day by which a night must be over.
    schedule.finish_by: String = String::new(), of(Kind::Form(&TIME), "finish-by").free();
    /// How long after its time a missed night is still caught up; 0 for never.
    schedule.catch_up_hours: u32 = 24, whole(0, 720, "catch-up-hours").unit("hours").free();
    /// How full the battery must be when there is no power; 100 waits for power, 0 asks for nothing.
    schedule.battery_at_least: u32 = 50, whole(0, 100, "battery-at-least").unit("percent").free();
    /// Whether a night waits for a network that is not metered.
    schedule.unmetered_only: bool = true, switch("unmetered-only").free();
    /// How long nobody may have used the computer before a night begins; 0 for no matter.
    schedule.idle_minutes: u32 = 0, whole(0, 1_440, "idle-minutes").unit("minutes").free();
    /// Times of day between which no night begins by itself.
    schedule.quiet_hours: String = String::new(), of(Kind::Form(&HOURS), "quiet-hours").free();
    /// How many sessions nobody has looked at a night waits for.
    schedule.min_new_sessions: u32 = 0, whole(0, 100_000, "min-new-sessions").unit("sessions").free();
    /// Whether the computer is kept from falling asleep while a night runs.
    schedule.keep_awake: bool = true, switch("keep-awake").free();

    /// Which notifications come by themselves: all, those of decisions and questions that wait, or none.
    desktop.notifications: Notifications = Notifications::All,
        of(Kind::Choice(&NOTIFICATIONS), "notifications").free();
    /// Times of day between which no notification comes by itself; what was held back comes after them.
    desktop.silent_hours: String = String::new(), of(Kind::Form(&HOURS), "silent-hours").free();
    /// The language of windows, tray and notifications; system for that of the session.
    desktop.language: Language = Language::System, of(Kind::Choice(&LANGUAGES), "language").free();
    /// The colours of the windows; system for those of the desktop.
    desktop.theme: Theme = Theme::System, of(Kind::Choice(&THEMES), "theme").free();
    /// For which panel the tray's icon is drawn; auto for what the desktop says.
    desktop.tray_icon: TrayIcon = TrayIcon::Auto, of(Kind::Choice(&TRAY_ICONS), "tray-icon").free();
}

/// The groups of settings, in the order of the settings file, and what each is about.
pub const GROUPS: &[(&str, &str)] = &[
    ("reads", "What is read."),
    ("mines", "How tasks are found in what was read."),
    ("splits", "Which tasks are held back to check proposals."),
    ("replays", "How tasks are tried."),
    ("models", "Which models are asked."),
    ("changes", "What may be changed, and where proposals wait."),
    ("gate", "When a proposal is good enough."),
    ("spends", "What a night may cost."),
    ("privacy", "What is kept."),
    ("schedule", "When a night begins by itself."),
    ("desktop", "How the app looks and what it tells by itself."),
];

/// TOML has signed integers of 64 bits.
const MAX_SEED: u64 = i64::MAX as u64;

/// The row of a key: `models.model`, or `model` alone.
#[must_use]
pub fn row(key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.key == key || row.field == key)
}
