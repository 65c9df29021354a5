//! When a project's night is due.
//!
//! A [`Rule`] names local times; a time zone, which the caller looks up, turns them into instants.
//! What is due follows from the rule, the clock and the last night that was completed, never from
//! when a night happened to run: a missed night is caught up once, a change of the clocks gives
//! neither two nights nor none, and a journey to another zone never repeats a local date.

mod conditions;
mod cron;
mod pause;
mod written;

use core::time::Duration;

use jiff::civil::{DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, ToSpan};
use serde::{Deserialize, Serialize};

pub use self::conditions::{Conditions, Readiness, Surroundings, Unknown, Wait, is_between};
pub use self::cron::Cron;
pub use self::pause::Pause;
pub use self::written::{hours, time_of_day, when_in_words};
use crate::Instant;
use crate::hash::sha256_hex;

/// How late a night may start and still count as on time, rather than caught up.
const ON_TIME: Duration = Duration::from_secs(15 * 60);
/// How far clocks that were set back move local times, at the most.
const SET_BACK: i64 = 3;
/// Local dates differ by no more than this many days over all zones, with one to spare. A night that was
/// completed later than that is the work of a clock that was wrong.
const AHEAD: i64 = 2;

/// At which local times nights are due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Once on each of these days.
    Daily {
        /// The time of day.
        time: Time,
        /// The days.
        days: Days,
    },
    /// As a cron expression says.
    Cron(Cron),
}

/// Days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Days(u8);

impl Days {
    /// All seven.
    pub const ALL: Self = Self(0b111_1111);

    /// These days.
    #[must_use]
    pub fn of(days: &[Weekday]) -> Self {
        Self(days.iter().fold(0, |set, day| set | Self::bit(*day)))
    }

    /// Whether `day` is one of them.
    #[must_use]
    pub fn has(self, day: Weekday) -> bool {
        self.0 & Self::bit(day) != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The days in `text`: "mon-fri", "sat, sun", "fri-mon"; all of them when it is empty. `None` when it
    /// says something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        written::days(text)
    }

    /// The days from Monday on.
    pub fn iter(self) -> impl Iterator<Item = Weekday> {
        Weekday::Monday
            .cycle_forward()
            .take(7)
            .filter(move |day| self.has(*day))
    }

    fn bit(day: Weekday) -> u8 {
        1 << day.to_monday_zero_offset()
    }
}

/// When a project's nights are due, and how they are placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The local times.
    pub when: When,
    /// A night begins up to this long after its time, so that many do not begin at once. How long is
    /// drawn from the project and the time, so that it is the same however often it is asked.
    pub delay: Duration,
    /// The local time of day by which a night must be over, if there is one.
    pub finish_by: Option<Time>,
    /// How long after its time a missed night is still caught up.
    pub catch_up: Duration,
}

/// One night that is or was due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Due {
    /// The local time of the rule. Nights are told apart by it.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub slot: DateTime,
    /// When it begins, the delay included.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub at: Instant,
    /// When it must be over.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub finish_by: Option<Instant>,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// A night is due.
    Run {
        /// Which one.
        due: Due,
        /// It was missed and is caught up.
        caught_up: bool,
    },
    /// Nothing until the next one.
    Sleep(Due),
    /// The rule names no further time.
    Never,
}

impl Rule {
    /// The first night whose time is after `now`.
    #[must_use]
    pub fn next(&self, now: Instant, zone: &TimeZone, project: &str) -> Option<Due> {
        self.upcoming(now, zone, project).next()
    }

    /// The nights whose times are after `now`, in order.
    pub fn upcoming<'a>(
        &'a self,
        now: Instant,
        zone: &'a TimeZone,
        project: &'a str,
    ) -> impl Iterator<Item = Due> + 'a {
        self.slots_after(self.earlier(local(now, zone)))
            .map(move |slot| self.due(slot, zone, project))
            .filter(move |due| due.at > now)
    }

    /// Whether a night is due at `now`.
    ///
    /// `completed` is the slot of the last night that was completed (or given up), in whatever zone; one
    /// that lies days ahead was written by a wrong clock and is ignored. Nights before `since`, when the
    /// rule began to hold, were never missed.
    ///
    /// Of several missed nights only the last is caught up.
    #[must_use]
    pub fn decide(
        &self,
        now: Instant,
        zone: &TimeZone,
        project: &str,
        completed: Option<DateTime>,
        since: Instant,
    ) -> Decision {
        let completed = completed.filter(|last| *last <= Self::believable(now, zone));
        let patience = SignedDuration::try_from(self.catch_up).unwrap_or(SignedDuration::MAX);
        let oldest = now.saturating_sub(patience).unwrap_or(Instant::MIN);
        // A night that could not begin on its minute is still on time.
        let oldest = oldest.min(now.saturating_sub(on_time()).unwrap_or(Instant::MIN));
        let missed = self
            .slots_after(self.earlier(local(oldest, zone)))
            .take_while(|slot| *slot <= local(now, zone).saturating_add(SET_BACK.hours()))
            .map(|slot| self.due(slot, zone, project))
            .filter(|due| (oldest..=now).contains(&due.at) && due.at >= since)
            .filter(|due| self.is_new(due.slot, completed))
            .last();
        if let Some(due) = missed {
            let over = due.finish_by.is_some_and(|end| end <= now);
            let caught_up = over || now.duration_since(due.at) > on_time();
            // A night that is caught up cannot be over before it began.
            let finish_by = if over { None } else { due.finish_by };
            return Decision::Run {
                due: Due { finish_by, ..due },
                caught_up,
            };
        }
        self.upcoming(now, zone, project)
            .find(|due| self.is_new(due.slot, completed))
            .map_or(Decision::Never, Decision::Sleep)
    }

    /// The slot a night belongs to that another scheduler starts at `now`: the latest whose time has come
    /// within the last day. `None` when the rule had none.
    #[must_use]
    pub fn slot_at(&self, now: Instant, zone: &TimeZone) -> Option<DateTime> {
        let here = local(now, zone);
        self.slots_after(here.saturating_sub(1.day()))
            .take_while(|slot| *slot <= here)
            .last()
    }

    /// Whether `slot` is another night than the last completed: a daily rule has one on each local date.
    #[must_use]
    pub fn is_new(&self, slot: DateTime, completed: Option<DateTime>) -> bool {
        completed.is_none_or(|last| match self.when {
            When::Daily { .. } => slot.date() > last.date(),
            When::Cron(_) => slot > last,
        })
    }

    /// The latest slot that can have been completed at `now`, unless the clock was wrong.
    #[must_use]
    pub fn believable(now: Instant, zone: &TimeZone) -> DateTime {
        local(now, zone).saturating_add(AHEAD.days())
    }

    /// A local time before that of every slot that begins at or after `at`: a slot may begin later by the
    /// delay, and clocks that were set back show local times twice.
    fn earlier(&self, at: DateTime) -> DateTime {
        at.saturating_sub(self.delay)
            .saturating_sub(SET_BACK.hours())
    }

    fn slots_after(&self, from: DateTime) -> Box<dyn Iterator<Item = DateTime> + '_> {
        match &self.when {
            When::Daily { time, days } => {
                let (time, days) = (*time, *days);
                // Seven days hold every weekday; without one the series would never end.
                let dates = (!days.is_empty()).then(|| from.date().series(1.day()));
                Box::new(
                    dates
                        .into_iter()
                        .flatten()
                        .filter(move |date| days.has(date.weekday()))
                        .map(move |date| date.to_datetime(time))
                        .filter(move |slot| *slot > from),
                )
            }
            When::Cron(cron) => Box::new(cron.after(from)),
        }
    }

    /// The night of a slot.
    #[must_use]
    pub fn due(&self, slot: DateTime, zone: &TimeZone, project: &str) -> Due {
        let planned = instant(slot, zone);
        let at = planned
            .saturating_add(
                SignedDuration::try_from(self.drawn_delay(slot, project)).unwrap_or_default(),
            )
            .unwrap_or(Instant::MAX);
        Due {
            slot,
            at,
            finish_by: self.finish_by.map(|time| next_time(time, slot, zone)),
        }
    }

    /// Evenly spread over `0..=delay` in whole seconds.
    fn drawn_delay(&self, slot: DateTime, project: &str) -> Duration {
        let drawn = sha256_hex(format!("{project}\n{slot}").as_bytes());
        // Sixteen digits of a hash always fit.
        let number = u64::from_str_radix(&drawn[..16], 16).unwrap_or_default();
        Duration::from_secs(number % (self.delay.as_secs() + 1))
    }
}

/// When a night that begins at `now` must be over: the next time the clocks of `zone` show `finish_by`.
#[must_use]
pub fn finish_at(finish_by: Time, now: Instant, zone: &TimeZone) -> Instant {
    next_time(finish_by, local(now, zone), zone)
}

fn next_time(time: Time, after: DateTime, zone: &TimeZone) -> Instant {
    let same_day = after.date().to_datetime(time);
    let next = if same_day > after {
        same_day
    } else {
        same_day.saturating_add(1.day())
    };
    instant(next, zone)
}

/// The instant of a local time: of one that the clocks show twice the first, and instead of one that they
/// skip the moment in which they skip it.
fn instant(slot: DateTime, zone: &TimeZone) -> Instant {
    let ambiguous = zone.to_ambiguous_timestamp(slot);
    let skipped = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
    let Ok(at) = ambiguous.compatible() else {
        return Instant::MAX;
    };
    if skipped {
        // Read with the offset of before, the local time lies after the change.
        let change = zone
            .preceding(at.saturating_add(1.nanosecond()).unwrap_or(at))
            .next();
        return change.map_or(at, |change| change.timestamp());
    }
    at
}

fn on_time() -> SignedDuration {
    SignedDuration::from_secs(ON_TIME.as_secs().cast_signed())
}

fn local(at: Instant, zone: &TimeZone) -> DateTime {
    zone.to_datetime(at)
}

#[cfg(test)]
mod tests;
