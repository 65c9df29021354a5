//! How long a night still takes: from what it will ask at most, written down before it asks, and from the
//! pace of its answers so far.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, Problem};
use skillopt_store::calls::State;
use skillopt_store::events::Event;
use skillopt_store::nights::Night;
use skillopt_store::{Connection, Fault, attempts, calls, events};

use crate::estimate::Forecast;
use crate::night;
use crate::run::to_value;

/// The event that holds an [`Outlook`].
const OUTLOOK: &str = "night/outlook";
/// From how many answers on a pace is one.
const ENOUGH: u64 = 3;

/// What a night will ask at most, said once its tasks are found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Outlook {
    /// Calls that had their result before.
    before: u64,
    /// What comes from then on.
    forecast: Forecast,
}

impl Outlook {
    /// What another version wrote differently says nothing.
    fn read(event: Event) -> Option<Self> {
        serde_json::from_value(event.body).ok()
    }

    const fn expected(self) -> u64 {
        self.before.saturating_add(self.forecast.calls)
    }
}

/// Where a night stands on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Calls it will have made in the end, at most.
    pub expected: u64,
    /// How long it takes until then; `None` before there is a pace.
    pub left: Option<Duration>,
}

/// The pace of a night.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Calls that are to come, at most.
    pub to_come: u64,
    /// Answers to calls that were asked, rather than answered from earlier nights.
    pub answers: u64,
    /// How long these took together; several are asked at once.
    pub took: Duration,
}

impl Pace {
    /// How long what is to come takes at this pace; `None` before there is one.
    #[must_use]
    pub fn left(self) -> Option<Duration> {
        if self.answers < ENOUGH {
            return None;
        }
        let seconds = self.took.as_secs_f64() * self.to_come as f64 / self.answers as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// Writes down what the night will ask, unless that was done before it was interrupted, and gives how many
/// calls are to come, at most.
pub(crate) fn note(night: &night::Night<'_>, forecast: Forecast) -> Result<u64, Problem> {
    night.context.store.commit("night outlook", |tx| {
        let settled = settled(tx, night.id)?;
        let expected = match events::first(tx, night.id, OUTLOOK)? {
            Some(known) => Outlook::read(known).map_or(settled, Outlook::expected),
            None => {
                let outlook = Outlook {
                    before: settled,
                    forecast,
                };
                events::append(tx, night.id, OUTLOOK, &to_value(&outlook)?)?;
                outlook.expected()
            }
        };
        Ok(expected.saturating_sub(settled))
    })
}

/// Where a night at work stands; `None` before it knows what it will ask.
///
/// Errors: those of the store.
pub fn way(db: &Connection, night: &Night, now: Instant) -> Result<Option<Way>, Fault> {
    let Some(event) = events::first(db, night.id, OUTLOOK)? else {
        return Ok(None);
    };
    // Time in which the night was stopped is no part of its pace.
    let since = event.at.max(night.resumed_at);
    let Some(expected) = Outlook::read(event).map(Outlook::expected) else {
        return Ok(None);
    };
    let pace = Pace {
        to_come: expected.saturating_sub(settled(db, night.id)?),
        answers: attempts::answered_since(db, night.id, since)?,
        took: Duration::try_from(now.duration_since(since)).unwrap_or_default(),
    };
    Ok(Some(Way {
        expected,
        left: pace.left(),
    }))
}

/// Calls of a night that have their result.
fn settled(db: &Connection, night: i64) -> Result<u64, Fault> {
    let counts = calls::counts(db, night)?;
    Ok(counts
        .iter()
        .filter(|(state, _)| match state {
            State::Fresh | State::Reused | State::Failed => true,
            State::Planned | State::Waiting => false,
        })
        .map(|(_, count)| count)
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_come_takes_as_long_as_what_was_asked() {
        let pace = |to_come, answers, seconds| {
            let took = Duration::from_secs(seconds);
            Pace {
                to_come,
                answers,
                took,
            }
            .left()
            .map(|left| left.as_secs())
        };
        assert_eq!(pace(40, 10, 60), Some(240));
        assert_eq!(pace(0, 10, 60), Some(0));
        assert_eq!(pace(40, ENOUGH - 1, 60), None);
        assert_eq!(pace(u64::MAX, ENOUGH, u64::MAX), None);
    }
}
