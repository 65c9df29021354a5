//! Why a call has no answer.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, Problem, Retry};

/// What a typed error stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call only; its siblings go on.
    Call,
    /// Every further call to this provider.
    Provider,
    /// Every further call of the night.
    Night,
}

/// Which limit ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// `spends.max_calls_per_night`.
    Calls,
    /// `spends.max_minutes_per_night`.
    Minutes,
    /// `spends.max_tokens_per_night`.
    Tokens,
    /// `spends.max_cost_per_night`.
    Cost,
}

impl Cap {
    /// The setting that holds it.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Calls => "spends.max_calls_per_night",
            Self::Minutes => "spends.max_minutes_per_night",
            Self::Tokens => "spends.max_tokens_per_night",
            Self::Cost => "spends.max_cost_per_night",
        }
    }
}

/// Which wait was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Nothing of the reply had arrived.
    FirstByte,
    /// The reply was not complete.
    Whole,
}

/// Why a call has no answer. `provider` is [`Backend::provider`](crate::backend::Backend::provider);
/// `detail` is a short redacted excerpt of what was said, for a person to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallError {
    /// The credential is missing, expired or not accepted.
    SignInNeeded {
        /// Who refused.
        provider: String,
        /// What it said.
        detail: String,
    },
    /// The plan allows no more for now.
    QuotaExhausted {
        /// Who refused.
        provider: String,
        /// When it allows more again; `None` when it did not say.
        until: Option<Instant>,
        /// What it said.
        detail: String,
    },
    /// Too many requests in a short time.
    RateLimited {
        /// Who refused.
        provider: String,
        /// How long to wait; `None` when it did not say.
        retry_after: Option<Duration>,
        /// What it said.
        detail: String,
    },
    /// No reply in time.
    TimedOut {
        /// Which wait.
        wait: Wait,
        /// How long it was.
        after: Duration,
    },
    /// No connection, a server error, a program that crashed.
    Unavailable {
        /// Who did not answer.
        provider: String,
        /// What happened.
        detail: String,
        /// Whether the request may have reached the model, and so may have been charged.
        sent: bool,
    },
    /// A reply came that is not what was asked for, once more after it was asked again where that can help.
    Unreadable {
        /// Why it cannot be read.
        reason: String,
    },
    /// The provider will not answer this request (content filter, policy).
    Refused {
        /// What it said.
        detail: String,
    },
    /// The request is longer than the model can read.
    ContextOverflow {
        /// What it said.
        detail: String,
    },
    /// A limit the user set would be passed; the call was not sent.
    BudgetExhausted {
        /// Which limit.
        cap: Cap,
    },
    /// As much of the plan is left as the user wants to keep; the call was not sent.
    QuotaReserved {
        /// Whose plan.
        provider: String,
        /// Percent that are left.
        left_percent: u8,
        /// When all of it is there again; `None` when the provider did not say.
        until: Option<Instant>,
    },
    /// The time has come by which the night was to be finished; the call was not sent.
    FinishTime {
        /// When that was.
        at: Instant,
    },
    /// There is too little space where answers are kept; the call was not sent, or its answer could not be
    /// kept.
    DiskFull {
        /// The data folder.
        folder: String,
    },
    /// A person (or another program) has not answered yet.
    WaitingForAnswer {
        /// The hand-off id: 16 hexadecimal digits.
        id: String,
        /// Why a file that is there was not taken; `None` when there is none.
        refused: Option<String>,
    },
    /// The user or a shutdown stopped the night.
    Cancelled,
    /// The backend cannot work as it is configured: unknown model, missing program, bad address.
    Misconfigured {
        /// Who cannot work.
        provider: String,
        /// What is wrong.
        detail: String,
        /// What to do, one sentence.
        guidance: String,
    },
}

impl CallError {
    /// Stable code of this kind of error; also written into the journal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::SignInNeeded { .. } => "sign_in_needed",
            Self::QuotaExhausted { .. } => "quota_exhausted",
            Self::RateLimited { .. } => "rate_limited",
            Self::TimedOut { .. } => "model_timed_out",
            Self::Unavailable { .. } => "model_unavailable",
            Self::Unreadable { .. } => "reply_unreadable",
            Self::Refused { .. } => "reply_refused",
            Self::ContextOverflow { .. } => "context_overflow",
            Self::BudgetExhausted { .. } => "budget_exhausted",
            Self::QuotaReserved { .. } => "quota_reserved",
            Self::FinishTime { .. } => "finish_time_reached",
            Self::DiskFull { .. } => "disk_full",
            Self::WaitingForAnswer { .. } => "waiting_for_answer",
            Self::Cancelled => "cancelled",
            Self::Misconfigured { .. } => "backend_misconfigured",
        }
    }

    /// What it stops.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        match self {
            Self::SignInNeeded { .. }
            | Self::QuotaExhausted { .. }
            | Self::RateLimited { .. }
            | Self::QuotaReserved { .. }
            | Self::Misconfigured { .. } => Scope::Provider,
            Self::TimedOut { .. }
            | Self::Unavailable { .. }
            | Self::Unreadable { .. }
            | Self::Refused { .. }
            | Self::ContextOverflow { .. }
            | Self::WaitingForAnswer { .. } => Scope::Call,
            Self::BudgetExhausted { .. }
            | Self::FinishTime { .. }
            | Self::DiskFull { .. }
            | Self::Cancelled => Scope::Night,
        }
    }

    /// Whose error it is, when it is that of a provider.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        match self {
            Self::SignInNeeded { provider, .. }
            | Self::QuotaExhausted { provider, .. }
            | Self::RateLimited { provider, .. }
            | Self::Unavailable { provider, .. }
            | Self::QuotaReserved { provider, .. }
            | Self::Misconfigured { provider, .. } => Some(provider),
            Self::TimedOut { .. }
            | Self::Unreadable { .. }
            | Self::Refused { .. }
            | Self::ContextOverflow { .. }
            | Self::BudgetExhausted { .. }
            | Self::FinishTime { .. }
            | Self::DiskFull { .. }
            | Self::WaitingForAnswer { .. }
            | Self::Cancelled => None,
        }
    }

    /// Whether the very same request may succeed within the same night without any change.
    #[must_use]
    pub const fn worth_another_try(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. } | Self::TimedOut { .. } | Self::Unavailable { .. }
        )
    }

    /// Whether the try may have been charged, so that its reservation has to count as spent.
    #[must_use]
    pub const fn may_have_cost(&self) -> bool {
        match self {
            Self::TimedOut { .. }
            | Self::Unreadable { .. }
            | Self::Refused { .. }
            | Self::Cancelled => true,
            Self::Unavailable { sent, .. } => *sent,
            Self::SignInNeeded { .. }
            | Self::QuotaExhausted { .. }
            | Self::RateLimited { .. }
            | Self::ContextOverflow { .. }
            | Self::BudgetExhausted { .. }
            | Self::QuotaReserved { .. }
            | Self::FinishTime { .. }
            | Self::DiskFull { .. }
            | Self::WaitingForAnswer { .. }
            | Self::Misconfigured { .. } => false,
        }
    }

    /// Whether trying again on another day, unchanged, can help.
    #[must_use]
    pub const fn retry(&self) -> Retry {
        match self {
            Self::QuotaExhausted { .. }
            | Self::RateLimited { .. }
            | Self::TimedOut { .. }
            | Self::Unavailable { .. }
            | Self::BudgetExhausted { .. }
            | Self::QuotaReserved { .. }
            | Self::FinishTime { .. }
            | Self::DiskFull { .. }
            | Self::WaitingForAnswer { .. }
            | Self::Cancelled => Retry::Temporary,
            // The same model is not waited for: it would answer alike.
            Self::SignInNeeded { .. }
            | Self::Unreadable { .. }
            | Self::Refused { .. }
            | Self::ContextOverflow { .. }
            | Self::Misconfigured { .. } => Retry::Permanent,
        }
    }

    /// What a person is told.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (message, guidance) = self.words();
        Problem {
            retry: self.retry(),
            ..Problem::permanent(self.code(), message, guidance)
        }
    }

    /// The same error with its detail, if it has one, put through `change`.
    #[must_use]
    pub(crate) fn map_detail(mut self, change: impl FnOnce(&str) -> String) -> Self {
        match &mut self {
            Self::SignInNeeded { detail, .. }
            | Self::QuotaExhausted { detail, .. }
            | Self::RateLimited { detail, .. }
            | Self::Unavailable { detail, .. }
            | Self::Refused { detail }
            | Self::ContextOverflow { detail }
            | Self::Misconfigured { detail, .. }
            | Self::Unreadable { reason: detail } => *detail = change(detail),
            Self::TimedOut { .. }
            | Self::BudgetExhausted { .. }
            | Self::QuotaReserved { .. }
            | Self::FinishTime { .. }
            | Self::DiskFull { .. }
            | Self::WaitingForAnswer { .. }
            | Self::Cancelled => {}
        }
        self
    }

    fn words(&self) -> (String, String) {
        match self {
            Self::SignInNeeded { provider, detail } => (
                with_detail(&format!("{provider} did not accept the sign-in"), detail),
                "Sign in again, or check the key that models.api_key_env names, or name one there if it names none; the night then goes on.".into(),
            ),
            Self::QuotaExhausted { provider, until, detail } => {
                let when = until.map_or_else(String::new, |until| format!(" until {until}"));
                (
                    with_detail(&format!("{provider} allows no more{when}"), detail),
                    "Nothing needs to be done: the night goes on when the limit is reset.".into(),
                )
            }
            Self::RateLimited { provider, retry_after, detail } => {
                let when = match retry_after.map(|wait| wait.as_secs().max(1)) {
                    None => String::new(),
                    // Nobody means what is asked for beyond.
                    Some(seconds) if seconds > 24 * 3600 => " for more than a day".to_owned(),
                    Some(seconds) => format!(" for {seconds} s"),
                };
                (
                    with_detail(&format!("{provider} asks to wait{when}"), detail),
                    "Nothing needs to be done; a lower models.concurrency avoids it.".into(),
                )
            }
            Self::TimedOut { wait, after } => (
                match wait {
                    Wait::FirstByte => {
                        format!("The model sent nothing within {} s.", after.as_secs())
                    }
                    Wait::Whole => {
                        format!("The model did not finish within {} s.", after.as_secs())
                    }
                },
                "Raise models.first_byte_seconds or models.call_seconds if the model is slow.".into(),
            ),
            Self::Unavailable { provider, detail, .. } => (
                with_detail(&format!("{provider} could not be reached or failed"), detail),
                "Check the network and the service, then run it again.".into(),
            ),
            Self::Unreadable { reason } => (
                with_detail("The model's reply could not be read", reason),
                "Nothing was learned from it; a more capable model gives readable replies more often.".into(),
            ),
            Self::Refused { detail } => (
                with_detail("The provider refused to answer this request", detail),
                "The task is left out; it can be excluded with reads.exclude.".into(),
            ),
            Self::ContextOverflow { detail } => (
                with_detail("The request is longer than the model can read", detail),
                "Use a model with a longer context, or shorten the document.".into(),
            ),
            Self::BudgetExhausted { cap } => (
                format!("The limit {} is reached; nothing more was sent.", cap.setting()),
                format!(
                    "Raise {} and run it again: the night goes on and uses the answers it has. Or let it mine fewer tasks.",
                    cap.setting()
                ),
            ),
            Self::QuotaReserved { provider, left_percent, until } => {
                let when = until.map_or_else(String::new, |until| format!(" until {until}"));
                (
                    format!("{left_percent} % of what {provider} allows is left, which is kept for you{when}."),
                    "Nothing needs to be done: the night goes on when there is more. A lower spends.reserve_percent leaves less.".into(),
                )
            }
            Self::FinishTime { at } => (
                format!("The night was to be finished by {at}; nothing more was sent."),
                "Nothing needs to be done: it goes on in the next night. A later schedule.finish_by gives it more time.".into(),
            ),
            Self::DiskFull { folder } => (
                format!("There is too little space left on the disk of {folder}; nothing more was sent."),
                "Free some space (`skillopt data size` shows what SkillOpt uses); the night then goes on and uses the answers it has.".into(),
            ),
            Self::WaitingForAnswer { id, refused: None } => (
                format!("Question {id} has no answer yet."),
                "Write the answer into the file named in PROMPTS.md and run again.".into(),
            ),
            Self::WaitingForAnswer { id, refused: Some(reason) } => (
                with_detail(&format!("The answer to question {id} was not taken"), reason),
                "Correct the answer file and run again.".into(),
            ),
            Self::Cancelled => (
                "The night was stopped.".into(),
                "Run it again; it resumes where it was.".into(),
            ),
            Self::Misconfigured { provider, detail, guidance } => (
                with_detail(&format!("{provider} cannot work as it is configured"), detail),
                guidance.clone(),
            ),
        }
    }
}

fn with_detail(sentence: &str, detail: &str) -> String {
    let detail = detail.trim();
    if detail.is_empty() {
        format!("{sentence}.")
    } else {
        let detail = detail.trim_end_matches('.');
        let end = if detail.ends_with(['?', '!', '…']) {
            ""
        } else {
            "."
        };
        format!("{sentence}: {detail}{end}")
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().0)
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_that_can_pass_by_themselves_are_tried_again() {
        // §14 #67: permanent errors were retried blindly.
        let sign_in = CallError::SignInNeeded {
            provider: "claude".into(),
            detail: String::new(),
        };
        assert!(!sign_in.worth_another_try());
        assert_eq!(sign_in.scope(), Scope::Provider);
        let quota = CallError::QuotaExhausted {
            provider: "claude".into(),
            until: None,
            detail: String::new(),
        };
        assert!(!quota.worth_another_try());
        let slow = CallError::TimedOut {
            wait: Wait::FirstByte,
            after: Duration::from_secs(90),
        };
        assert!(slow.worth_another_try());
        assert!(slow.may_have_cost());
    }

    #[test]
    fn a_problem_reads_as_sentences() {
        let until = "2026-11-30T09:00:00Z".parse().unwrap();
        let error = CallError::QuotaExhausted {
            provider: "claude".into(),
            until: Some(until),
            detail: "weekly limit reached.".into(),
        };
        let problem = error.problem();
        assert_eq!(problem.code, "quota_exhausted");
        assert_eq!(
            problem.message,
            "claude allows no more until 2026-11-30T09:00:00Z: weekly limit reached."
        );
        assert_eq!(error.to_string(), problem.message);
        let down = CallError::Unavailable {
            provider: "the endpoint".into(),
            detail: "is the server running?".into(),
            sent: false,
        };
        assert!(down.to_string().ends_with("is the server running?"));
    }
}
