//! What answers a call.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use skillopt_core::call::{BackendId, Call};

use crate::allowance::Allowance;
use crate::cancel::CancelToken;
use crate::cassette::Recording;
use crate::error::CallError;
use crate::handoff::Handoff;
use crate::terms::Terms;

/// Tokens as the provider counted them; `None` where it said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// Tokens of the messages, cached ones included.
    pub input_tokens: Option<u64>,
    /// Of these, how many came from a cache of the provider.
    pub cached_tokens: Option<u64>,
    /// Tokens of the reply, hidden reasoning included.
    pub output_tokens: Option<u64>,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or the provider did not say.
    #[default]
    Done,
    /// The reply was cut at the token limit.
    Length,
}

/// A real reply of a model. Anything that is not one is a [`CallError`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawReply {
    /// The reply as it came, save for the key it was asked with.
    pub text: String,
    /// What it cost in tokens.
    pub usage: Usage,
    /// The model that says it answered; empty when the provider did not say.
    pub model: String,
    /// Why it ended.
    pub finish: Finish,
    /// Thousandths of requests that the provider bills apart from tokens; 0 when it bills none.
    pub request_thousandths: u64,
    /// What the provider says is left after it; `None` when it says nothing of that.
    pub allowance: Option<Allowance>,
}

impl RawReply {
    /// A complete reply with nothing else known about it.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// The pending answer of [`Backend::ask`].
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<RawReply, CallError>> + Send + 'a>>;

/// The pending answer of [`Backend::check`].
pub type Checking<'a> = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send + 'a>>;

/// The pending answer of [`Backend::window`].
pub type TellingWindow<'a> = Pin<Box<dyn Future<Output = Option<u64>> + Send + 'a>>;

/// Something that answers calls.
///
/// A backend makes exactly **one** try per [`ask`](Backend::ask): retries, budgets, the number of
/// calls in flight and what is written down belong to the path around it. It keeps the time to the
/// first byte itself (only it can see that byte); the path keeps the time of the whole try by
/// dropping the future, which must stop the work (a child process must not outlive it).
///
/// A backend never turns a failure into text: an error page, a sign-in notice, a usage limit, a
/// non-zero exit or an empty reply is a [`CallError`].
pub trait Backend: Send + Sync {
    /// Everything about it that can change an answer. Fixed while a night runs.
    fn id(&self) -> BackendId;

    /// Whether a try costs money or quota. Unpaid backends are not budgeted.
    fn paid(&self) -> bool;

    /// What the user has to agree to before nights ask it; `None` when it is nobody's service: a
    /// simulation, a person, a server on this computer.
    fn terms(&self) -> Option<Terms> {
        None
    }

    /// Whether replies say how much of the plan is left, as far as that is known before there is one.
    /// Without it nothing can be kept in reserve.
    fn tells_allowance(&self) -> bool {
        false
    }

    /// Settings that say something else than their default and that it cannot be told of, for the report.
    fn unheard(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a question may offer it tools. Replies to such a question are
    /// [`ToolReply`](skillopt_core::tool::ToolReply)s in their JSON.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Whether it gives the results of tools itself, within one try; else every round is a try.
    fn answers_tools(&self) -> bool {
        false
    }

    /// Whether it runs on this computer, so that its tokens cost no money unless the user gives them a
    /// price.
    fn local(&self) -> bool {
        false
    }

    /// Whose limits apply: key of the concurrency limit and of pauses, for example
    /// `openai_compatible:api.example.com` or `claude`.
    fn provider(&self) -> String;

    /// The sign-in that a try may have to renew, as a name that is equal for equal ones; `None` when none
    /// is renewed. Of tries with an equal one, one goes alone until it is answered.
    fn renews(&self) -> Option<String> {
        None
    }

    /// Thousandths of requests that the provider bills apart from tokens for the try of the call with
    /// this key that has just failed; 0 when it bills none. Told once.
    fn billed_failing(&self, _key: &str) -> u64 {
        0
    }

    /// What else is known of the earlier night that its answers are of; `None` when it gives its own.
    /// Nothing is waited for with one, and what it says about a provider is not true of today's.
    fn recording(&self) -> Option<&Recording> {
        None
    }

    /// Whether it answers at once from the subject, in this process. Such answers are not worth a
    /// transaction each and are written down in batches.
    fn instant(&self) -> bool {
        false
    }

    /// The folder of questions, when a person or another program answers.
    fn handoff(&self) -> Option<&Handoff> {
        None
    }

    /// Tokens a try costs besides messages and reply, for example the words a command line adds.
    fn overhead_tokens(&self) -> u64 {
        0
    }

    /// How many tokens its model reads and writes at most, as whoever serves it says; `None` when nobody
    /// does. Asks no model, and no second time.
    fn window<'a>(&'a self, _cancel: &'a CancelToken) -> TellingWindow<'a> {
        Box::pin(async { None })
    }

    /// Whether it could answer now, as far as that can be told at little or no cost. For `doctor`; a
    /// night finds out by asking.
    fn check<'a>(&'a self, _cancel: &'a CancelToken) -> Checking<'a> {
        Box::pin(async { Ok(()) })
    }

    /// Makes one try. What is under way when `cancel` is raised may finish; soon after its second step
    /// the try ends with [`CallError::Cancelled`].
    fn ask<'a>(&'a self, call: &'a Call, cancel: &'a CancelToken) -> Asking<'a>;
}
