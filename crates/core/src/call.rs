//! The data of one question to a model.
//!
//! A call says *what* is asked (its [`Subject`]) and *how it was put* ([`Message`]s). Text backends
//! see the messages, simulators the subject. Messages are rendered and redacted when a stage is
//! planned; from then on a call never changes, and its [`key`](Call::key) names it for ever.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::TargetKind;
use crate::hash::sha256_parts;
use crate::task::Task;
use crate::tool::{Tool, ToolReply};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The question.
    User,
    /// An earlier reply, when a question is repeated after an unreadable one.
    Assistant,
}

/// One message as it goes over the wire, already redacted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// Which side of the night is asked. Each may be another backend and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The model whose work the documents should improve: attempts.
    Target,
    /// The model that mines and reflects.
    Optimizer,
    /// The model that grades replies by a rubric; the optimizer unless it is said, or found, otherwise.
    Judge,
}

impl Side {
    /// Every side.
    pub const ALL: [Self; 3] = [Self::Target, Self::Optimizer, Self::Judge];

    /// Its stable word: `target`, `optimizer` or `judge`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Optimizer => "optimizer",
            Self::Judge => "judge",
        }
    }
}

/// One failure shown to the optimizer. Texts are cut and redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The task that failed.
    pub task: String,
    /// Its request.
    pub intent: String,
    /// The reply that failed.
    pub response: String,
    /// Why it failed.
    pub reason: String,
    /// Tags of the task.
    pub tags: Vec<String>,
}

/// A better and a worse attempt at the same task, when several were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contrast {
    /// The task.
    pub task: String,
    /// Its request.
    pub intent: String,
    /// The better reply.
    pub better: String,
    /// The worse reply.
    pub worse: String,
    /// Why the worse one lost.
    pub reason: String,
    /// Tags of the task.
    pub tags: Vec<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// Find tasks in one session.
    Mine {
        /// Absolute path of the project.
        project: String,
        /// Session id.
        session: String,
        /// The human turns, in order, cut.
        prompts: Vec<String>,
        /// The last assistant text, cut.
        last_reply: String,
        /// Feedback signals (`neg:…`, `pos:…`).
        feedback: Vec<String>,
    },
    /// Do the task under these documents.
    Attempt {
        /// The task. Its judge is not rendered into the messages. In a call, its tools are those that
        /// are offered: none unless tools are replayed and the backend takes them.
        task: Box<Task>,
        /// Text of the skill document.
        skill: String,
        /// Text of the memory document.
        memory: String,
    },
    /// Grade a reply by a rubric.
    Judge {
        /// The task's request.
        intent: String,
        /// What a good reply has.
        rubric: String,
        /// The reply to grade.
        response: String,
    },
    /// Propose edits to one document.
    Reflect {
        /// Which document.
        target: TargetKind,
        /// Its current text, redacted.
        document: String,
        /// Text of the other document, so that nothing is proposed twice.
        other_document: String,
        /// How many edits at most.
        edit_budget: u32,
        /// Failing tasks of the training slice.
        failures: Vec<Failure>,
        /// Better/worse pairs; empty unless several samples were drawn.
        contrasts: Vec<Contrast>,
        /// Failing criteria in plain words with their counts, most frequent first.
        criteria: Vec<String>,
        /// Output contract that no rule may break; empty when there is none.
        guard: String,
        /// The user's standing preferences.
        preferences: String,
        /// Edits that were tried and rejected before, so that they are not repeated.
        rejected: Vec<String>,
    },
}

impl Subject {
    /// The word used in rows, templates and reports.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Mine { .. } => "mine",
            Self::Attempt { .. } => "attempt",
            Self::Judge { .. } => "judge",
            Self::Reflect { .. } => "reflect",
        }
    }

    /// Which side answers it.
    #[must_use]
    pub const fn side(&self) -> Side {
        match self {
            Self::Attempt { .. } => Side::Target,
            Self::Mine { .. } | Self::Reflect { .. } => Side::Optimizer,
            Self::Judge { .. } => Side::Judge,
        }
    }
}

/// How a call is to be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Upper bound of the reply, in tokens.
    pub max_tokens: u32,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// JSON schema the reply must follow, for servers that can enforce one.
    pub schema: Option<Value>,
}

/// Who would answer: everything about a backend that can change an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BackendId {
    /// The word in the settings: `mock`, `openai_compatible`, `claude`, `codex`, …
    pub kind: String,
    /// Base address without credentials, or the executable; empty for simulators.
    pub address: String,
    /// The resolved model.
    pub model: String,
    /// Version of the command-line program; empty when there is none.
    pub version: String,
    /// How system messages reach the model, for example `system_role` or `one_prompt`.
    pub system_mode: String,
}

/// One question, frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Who would answer.
    pub backend: BackendId,
    /// What is asked.
    pub subject: Subject,
    /// How it is put; redacted.
    pub messages: Vec<Message>,
    /// How it is to be answered.
    pub params: Params,
    /// Which independent draw this is, from 0.
    pub sample: u32,
    /// 0, or 1 for the one repeat after an unreadable reply; of a call that offers tools, how many
    /// rounds came before it.
    pub ask: u8,
    /// The replies before this one that called tools. Their results are those of the tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ToolReply>,
}

impl Call {
    /// The tools that are offered.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        match &self.subject {
            Subject::Attempt { task, .. } => &task.tools,
            Subject::Mine { .. } | Subject::Judge { .. } | Subject::Reflect { .. } => &[],
        }
    }

    /// The name of this call: SHA-256 over backend, messages, parameters, sample and ask, and over the
    /// tools and what was called of them, if any are offered.
    ///
    /// Simulators answer from the subject, so for them the subject is hashed as well; for text
    /// backends two subjects with equal messages are the same question.
    #[must_use]
    pub fn key(&self) -> String {
        let subject = if self.backend.address.is_empty() && self.backend.kind != "handoff" {
            json_text(&self.subject)
        } else {
            String::new()
        };
        let tools = if self.tools().is_empty() {
            String::new()
        } else {
            format!("\n{}\n{}", json_text(self.tools()), json_text(&self.rounds))
        };
        sha256_parts(&[
            json_text(&self.backend).as_bytes(),
            b"\n",
            json_text(&self.messages).as_bytes(),
            b"\n",
            json_text(&self.params).as_bytes(),
            b"\n",
            subject.as_bytes(),
            format!("\n{} {}", self.sample, self.ask).as_bytes(),
            tools.as_bytes(),
        ])
    }
}

fn json_text<T: Serialize + ?Sized>(value: &T) -> String {
    // These types have string keys and no failing serializers.
    serde_json::to_string(value).unwrap_or_default()
}
