//! The one path every call takes.
//!
//! redact → look up → hand-off → budget → limiter → backend (timeouts, retries) → record
//!
//! [`CallPath::plan`] renders and redacts the calls of a stage and writes them down in one
//! transaction; a stage that was planned is never rendered again. [`CallPath::answer`] works off the
//! rows: what is answered is looked up, what waits for a person is handed off, the rest is asked
//! within budget and limits. Every paid try is a row before it is sent. So a night that was killed
//! goes on from its rows and pays for no answered call twice.

mod account;
mod fit;
mod instant;
mod prepare;
pub(crate) mod questions;
mod renewal;
mod reserve;
mod room;
mod run;
mod secrets;
mod send;
mod sides;
mod stop;
#[cfg(test)]
mod tests;
mod turns;
mod window;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use skillopt_core::call::{Call, Subject};
use skillopt_core::redact::Redactor;
use skillopt_core::tool::MOST_ROUNDS;
use skillopt_core::{Instant, Problem};
use skillopt_store::{Store, calls, events, stages};

use crate::backend::Usage;
use crate::budget::{Budget, Caps, Spend};
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::estimate::{Asked, Estimate, estimate};
use crate::limits::Limits;
use crate::price::Prices;
use crate::retry::Retry;
use crate::templates::Templates;
use skillopt_core::reply::Parsed;

pub use self::sides::{Lengths, Manner, PerSide, Roles};
pub(crate) use self::window::WINDOWS;

/// How calls are made.
#[derive(Debug, Clone)]
pub struct PathOptions {
    /// What a night may spend.
    pub caps: Caps,
    /// What tokens cost.
    pub prices: Prices,
    /// Calls in flight per provider; share it between the nights of a process.
    pub limits: Arc<Limits>,
    /// When a failed try is made again.
    pub retry: Retry,
    /// Time for one try.
    pub try_timeout: Duration,
    /// Whether attempts offer the tools of their task to backends that take them.
    pub tools: bool,
    /// How much of a plan is not used, in percent.
    pub reserve_percent: u8,
    /// When nothing more begins; `None` for no such time.
    pub finish_at: Option<Instant>,
    /// With less than so many bytes left on the disk of the data nothing is asked: an answer that cannot be
    /// kept is paid for in vain.
    pub least_room: u64,
    /// How the model of each side is asked.
    pub sides: PerSide<Manner>,
    /// Texts the user marked as no secrets.
    pub false_alarms: Vec<String>,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self {
            caps: Caps::default(),
            prices: Prices::default(),
            limits: Limits::new(8),
            retry: Retry::default(),
            try_timeout: Duration::from_secs(300),
            tools: false,
            reserve_percent: 0,
            finish_at: None,
            least_room: room::LEAST,
            sides: PerSide::default(),
            false_alarms: Vec::new(),
        }
    }
}

/// A question to be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What is asked.
    pub subject: Subject,
    /// Which independent draw, from 0.
    pub sample: u32,
}

/// A real reply and what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reply {
    /// Key of the call that was answered; the repeat's key when only that could be read.
    pub call: String,
    /// The attempt row that brought it.
    pub attempt: i64,
    /// The reply; without the reasoning some models put in front of it when it is an attempt's.
    pub text: String,
    /// What it says.
    pub parsed: Parsed,
    /// The tools that were called before it, in order; `None` when none were offered.
    pub called: Option<Vec<String>>,
    /// Whether this night made the try that brought it for this row.
    pub fresh: bool,
    /// Tokens as the provider counted them.
    pub usage: Usage,
}

/// What happens on the path, for progress. Nothing depends on it.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEvent {
    /// The calls of a stage were written down.
    Planned {
        /// The stage.
        stage: String,
        /// How many.
        calls: usize,
    },
    /// A try was sent.
    Sent {
        /// The stage.
        stage: String,
        /// Place in it.
        position: u32,
        /// Which try of the call, from 1.
        made: u32,
    },
    /// A row has its reply.
    Answered {
        /// The stage.
        stage: String,
        /// Place in it.
        position: u32,
        /// Whether it was asked now rather than looked up.
        fresh: bool,
        /// What the night has spent until now.
        spent: Spend,
    },
    /// A row has no reply.
    Failed {
        /// The stage.
        stage: String,
        /// Place in it.
        position: u32,
        /// Why.
        error: CallError,
    },
    /// A try failed and is made again.
    Again {
        /// The stage.
        stage: String,
        /// Place in it.
        position: u32,
        /// When.
        wait: Duration,
        /// Why.
        error: CallError,
    },
    /// A provider allows no more.
    Paused {
        /// Who.
        provider: String,
        /// Until when.
        until: Instant,
    },
    /// The night was told to stop; what is under way may still finish.
    Stopping {
        /// How many replies are waited for.
        replies: usize,
        /// How long at most.
        grace: Duration,
    },
    /// Questions wait for a person.
    Questions {
        /// How many.
        open: usize,
        /// Where.
        folder: PathBuf,
        /// Answers that are there and were not taken: id of the question, and why.
        refused: Vec<(String, String)>,
    },
    /// The file of an answer that was taken now says something else; it is not used.
    AnswerChanged {
        /// The question.
        id: String,
    },
}

/// Who is told about [`CallEvent`]s.
pub type OnEvent = Arc<dyn Fn(&CallEvent) + Send + Sync>;

/// The path. Cheap to clone; clones share budget, limits and cancellation.
#[derive(Clone)]
pub struct CallPath {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<Store>,
    roles: Roles,
    templates: Templates,
    redactor: Redactor,
    options: PathOptions,
    cancel: CancelToken,
    on_event: OnEvent,
    budgets: Mutex<BTreeMap<i64, Arc<Budget>>>,
    turns: turns::Turns,
    /// What those who serve the models said of their windows; empty until they were asked.
    windows: tokio::sync::OnceCell<PerSide<Option<u64>>>,
    /// Calls of stages planned by this process and not answered yet, so that they need not be read
    /// back. A planned stage never changes.
    planned: Mutex<BTreeMap<(i64, String), Vec<Call>>>,
}

impl CallPath {
    /// A path over `store`, whose clock it uses.
    #[must_use]
    pub fn new(
        store: Arc<Store>,
        roles: Roles,
        templates: Templates,
        options: PathOptions,
        cancel: CancelToken,
        on_event: OnEvent,
    ) -> Self {
        let redactor = Redactor::with_false_alarms(&options.false_alarms);
        Self {
            inner: Arc::new(Inner {
                store,
                roles,
                templates,
                redactor,
                options,
                cancel,
                on_event,
                budgets: Mutex::default(),
                turns: turns::Turns::default(),
                windows: tokio::sync::OnceCell::new(),
                planned: Mutex::default(),
            }),
        }
    }

    /// Renders and redacts the calls of a stage and writes them with the stage in one transaction.
    /// Gives the number of its positions. A stage that is planned already stays as it is, whatever
    /// `asks` holds.
    pub fn plan(&self, night: i64, stage: &str, asks: Vec<Ask>) -> Result<usize, Problem> {
        let inner = &self.inner;
        let known = inner.store.read(|db| {
            if !stages::planned(db, night, stage)? {
                return Ok(None);
            }
            let rows = calls::rows(db, night, stage)?;
            Ok(Some(rows.iter().filter(|row| row.ask == 0).count()))
        })?;
        if let Some(count) = known {
            return Ok(count);
        }
        let mut prepare = prepare::Prepare::new(inner);
        let planned: Vec<_> = asks.into_iter().map(|ask| prepare.call(ask)).collect();
        let (redactions, cut) = (prepare.redactions, prepare.cut);
        let (count, ours) = inner.store.commit("plan stage", |tx| {
            // Somebody else may have planned it since; then their rows count.
            let ours = !stages::planned(tx, night, stage)?;
            let count = calls::plan(tx, night, stage, &planned)?;
            if ours && redactions > 0 {
                let body = serde_json::json!({"stage": stage, "values": redactions});
                events::append(tx, night, "models/redacted", &body)?;
            }
            if ours && cut.0 > 0 {
                let body = serde_json::json!({"stage": stage, "calls": cut.0, "bytes": cut.1});
                events::append(tx, night, "models/cut", &body)?;
            }
            Ok((count, ours))
        })?;
        if ours {
            inner.planned().insert((night, stage.to_owned()), planned);
        }
        inner.tell(&CallEvent::Planned {
            stage: stage.to_owned(),
            calls: count,
        });
        Ok(count)
    }

    /// Answers the calls of a planned stage, as far as that is possible, and gives the results in the
    /// order of its rows.
    ///
    /// A row without a reply has a typed error, and its siblings go on; only an order to stop, a
    /// budget that is used up and a provider that allows no more end what was not begun. `Err` is for
    /// the store alone, and for a backend that is not the one the stage was planned for
    /// (`backend_changed`).
    pub async fn answer(
        &self,
        night: i64,
        stage: &str,
    ) -> Result<Vec<Result<Reply, CallError>>, Problem> {
        run::Run::open(Arc::clone(&self.inner), night, stage)?
            .all()
            .await
    }

    /// What the night has spent so far, over all its resumes; paid tries only.
    pub fn spent(&self, night: i64) -> Result<Spend, Problem> {
        Ok(self.inner.budget(night)?.spent())
    }

    /// Holds so much back for the gate: nothing before it may use it. `Spend::default()` gives it
    /// back. `Ok(Err(BudgetExhausted))` when so much is not left, so that a budget too small to
    /// validate is known before anything is spent.
    pub fn hold(&self, night: i64, part: Spend) -> Result<Result<(), CallError>, Problem> {
        Ok(self.inner.budget(night)?.hold(part))
    }

    /// What these calls will cost, before any is planned.
    #[must_use]
    pub fn estimate(&self, plan: &[Asked]) -> Estimate {
        estimate(plan, &self.inner.roles, &self.inner.options)
    }

    /// The call that `ask` would be, as it would be sent.
    #[must_use]
    pub fn render(&self, ask: Ask) -> Call {
        prepare::Prepare::new(&self.inner).call(ask)
    }

    /// How large the messages of `ask` are, and what its tools may add, for an estimate.
    #[must_use]
    pub fn measure(&self, ask: Ask) -> Asked {
        let call = self.render(ask);
        let messages: usize = call.messages.iter().map(|said| said.text.len()).sum();
        let (offered, results) = call
            .tools()
            .iter()
            .fold((0, 0), |(offered, results), tool| {
                let words = tool.name.len() + tool.shown_description().len();
                (offered + words, results + tool.shown_result().len())
            });
        Asked {
            kind: call.subject.kind(),
            side: call.subject.side(),
            questions: 1,
            rounds: if call.tools().is_empty() {
                0
            } else {
                MOST_ROUNDS as u64
            },
            prompt_bytes: (messages + offered) as u64,
            result_bytes: results as u64,
        }
    }

    /// The backends.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.inner.roles
    }

    /// What has to be said about the prices of the backends, one sentence each.
    #[must_use]
    pub fn price_notes(&self) -> Vec<String> {
        self.inner.options.prices.notes(&self.inner.roles)
    }

    /// The template set.
    #[must_use]
    pub fn templates(&self) -> &Templates {
        &self.inner.templates
    }
}

impl Inner {
    fn tell(&self, event: &CallEvent) {
        (self.on_event)(event);
    }

    /// The calls of a stage in order, if this process planned it and nobody took them yet.
    fn take_planned(&self, night: i64, stage: &str) -> std::vec::IntoIter<Call> {
        self.planned()
            .remove(&(night, stage.to_owned()))
            .unwrap_or_default()
            .into_iter()
    }

    fn planned(&self) -> std::sync::MutexGuard<'_, BTreeMap<(i64, String), Vec<Call>>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The account of a night, read from its rows when it is first needed.
    fn budget(&self, night: i64) -> Result<Arc<Budget>, Problem> {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(budget) = budgets.get(&night) {
            return Ok(Arc::clone(budget));
        }
        let budget = Budget::new(self.options.caps, account::spent(&self.store, night)?);
        budgets.insert(night, Arc::clone(&budget));
        Ok(budget)
    }
}
