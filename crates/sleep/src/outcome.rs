//! How a night ended: exit codes, and what stopped it before it came to a verdict.

use skillopt_core::{Instant, Problem, Retry};
pub use skillopt_store::nights::Outcome;

/// Exit code of `sleep run`, as the README lists them.
#[must_use]
pub const fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Proposed | Outcome::NotImproved | Outcome::Inconclusive | Outcome::NothingToDo => {
            0
        }
        Outcome::WaitingForAnswers => 3,
        Outcome::Deferred => 75,
        Outcome::Interrupted => 130,
        Outcome::Failed => 1,
    }
}

/// What stopped a night before it came to a verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// Questions wait for a person or another program.
    Waiting {
        /// How many.
        questions: usize,
    },
    /// It can go on later without any change.
    Deferred {
        /// Why.
        problem: Problem,
        /// When, if known.
        until: Option<Instant>,
    },
    /// It was told to stop.
    Interrupted,
    /// It cannot go on.
    Failed(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        match problem.retry {
            Retry::Temporary => Self::Deferred {
                problem,
                until: None,
            },
            Retry::Permanent => Self::Failed(problem),
        }
    }
}

impl Stop {
    /// The outcome of a night that was stopped this way.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Waiting { .. } => Outcome::WaitingForAnswers,
            Self::Deferred { .. } => Outcome::Deferred,
            Self::Interrupted => Outcome::Interrupted,
            Self::Failed(_) => Outcome::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_decided() {
        // README, "Exit codes".
        let table = [
            (Outcome::Proposed, 0),
            (Outcome::NotImproved, 0),
            (Outcome::Inconclusive, 0),
            (Outcome::NothingToDo, 0),
            (Outcome::WaitingForAnswers, 3),
            (Outcome::Deferred, 75),
            (Outcome::Interrupted, 130),
            (Outcome::Failed, 1),
        ];
        for (outcome, code) in table {
            assert_eq!(exit_code(outcome), code, "{outcome:?}");
        }
    }

    #[test]
    fn only_what_cannot_succeed_later_fails_a_night() {
        let busy = Problem::temporary("database_busy", "Busy.", "Wait.");
        assert_eq!(Stop::from(busy).outcome(), Outcome::Deferred);
        let broken = Problem::permanent("checks_unusable", "Broken.", "Correct it.");
        assert_eq!(Stop::from(broken).outcome(), Outcome::Failed);
    }
}
