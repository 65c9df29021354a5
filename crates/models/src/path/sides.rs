//! The sides of a night: who answers on each, and how it is asked.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use skillopt_core::call::Side;

use crate::backend::Backend;

/// Who answers on each side of a night. They may be the same backend.
#[derive(Clone)]
pub struct Roles {
    /// Answers attempts.
    pub target: Arc<dyn Backend>,
    /// Mines and reflects.
    pub optimizer: Arc<dyn Backend>,
    /// Grades replies by a rubric.
    pub judge: Arc<dyn Backend>,
    /// What is to be said of the choice of the judge, one sentence; `None` when there was none to make.
    pub judge_note: Option<String>,
}

impl Roles {
    /// Roles whose judge is the optimizer.
    #[must_use]
    pub fn new(target: Arc<dyn Backend>, optimizer: Arc<dyn Backend>) -> Self {
        Self {
            target,
            judge: Arc::clone(&optimizer),
            optimizer,
            judge_note: None,
        }
    }

    /// The backend of a side.
    #[must_use]
    pub fn of(&self, side: Side) -> &Arc<dyn Backend> {
        match side {
            Side::Target => &self.target,
            Side::Optimizer => &self.optimizer,
            Side::Judge => &self.judge,
        }
    }

    /// The backends of all sides, in the order of [`Side::ALL`].
    #[must_use]
    pub fn each(&self) -> [&Arc<dyn Backend>; 3] {
        Side::ALL.map(|side| self.of(side))
    }

    /// Everything about them that can change an answer, as a night is pinned to it.
    #[must_use]
    pub fn ids(&self) -> serde_json::Value {
        Side::ALL
            .into_iter()
            .map(|side| (side.id().to_owned(), serde_json::json!(self.of(side).id())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Roles");
        for side in Side::ALL {
            shown.field(side.id(), &self.of(side).id());
        }
        shown.finish()
    }
}

/// One of something for each side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerSide<T> {
    /// For attempts.
    pub target: T,
    /// For mining and reflection.
    pub optimizer: T,
    /// For grading.
    pub judge: T,
}

impl<T> PerSide<T> {
    /// What `of` gives for each side.
    pub fn of(of: impl Fn(Side) -> T) -> Self {
        Self {
            target: of(Side::Target),
            optimizer: of(Side::Optimizer),
            judge: of(Side::Judge),
        }
    }

    /// That of a side.
    #[must_use]
    pub const fn get(&self, side: Side) -> &T {
        match side {
            Side::Target => &self.target,
            Side::Optimizer => &self.optimizer,
            Side::Judge => &self.judge,
        }
    }
}

/// How the model of a side is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Manner {
    /// Tokens that it reads and writes at most; `None` for what its server or the price table says of it.
    pub window: Option<u64>,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Upper bounds of its replies.
    pub lengths: Lengths,
}

/// Upper bounds of replies, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lengths {
    /// Of a miner.
    pub mine: u32,
    /// Of an attempt.
    pub attempt: u32,
    /// Of a judge.
    pub judge: u32,
    /// Of a reflection.
    pub reflect: u32,
}

impl Lengths {
    /// The same bound for every purpose.
    #[must_use]
    pub const fn all(tokens: u32) -> Self {
        Self {
            mine: tokens,
            attempt: tokens,
            judge: tokens,
            reflect: tokens,
        }
    }

    /// The bound for a subject of this kind.
    #[must_use]
    pub fn of(&self, kind: &str) -> u32 {
        match kind {
            "mine" => self.mine,
            "judge" => self.judge,
            "reflect" => self.reflect,
            _ => self.attempt,
        }
    }
}

impl Default for Lengths {
    /// The numbers of the reference (§4.2, §5.2, §5.4, §6.4) with room for the keys it does not ask for
    /// and for models that think aloud.
    fn default() -> Self {
        Self {
            mine: 1200,
            attempt: 1024,
            judge: 400,
            reflect: 1600,
        }
    }
}
