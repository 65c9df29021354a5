//! What tray, window and `skillopt status` show: plain data, the same from every process.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use skillopt_core::Instant;
use skillopt_core::schedule::{Due, Pause, Unknown, Wait, when_in_words};
use skillopt_core::text::counted;
use skillopt_store::nights::Outcome;

use crate::handoff::RefusedAnswer;

/// The state of the whole, in the word that chooses the tray's icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    /// Nothing to do before the next night.
    Asleep,
    /// A night runs.
    Working,
    /// Proposals wait for a decision, or questions for an answer.
    WaitingForReview,
    /// Something needs the user: see [`FirstLine`].
    Attention,
    /// The user paused the nights.
    Paused,
}

/// Who starts the nights that are due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "by", content = "who")]
pub enum Supervising {
    /// This process.
    Here,
    /// Another one, in words.
    Another(String),
    /// Nobody: neither the app nor the daemon runs.
    Nobody,
}

/// The first line of the tray's menu, in parts that every language can put together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FirstLine {
    /// A night runs.
    Working {
        /// Name of the project; of the first when several run.
        project: String,
        /// How many run.
        nights: usize,
        /// Seconds until the last of them ends, at most and at the pace so far; empty while one of them has
        /// no pace yet.
        seconds_left: Option<u64>,
    },
    /// No night can be looked after: the settings or the data cannot be read.
    Trouble {
        /// What is wrong, in a sentence.
        reason: String,
    },
    /// A project needs the user.
    Attention {
        /// Name of the project.
        project: String,
        /// How many nights failed in a row; fewer than three when something else is wrong.
        failures: u32,
        /// What the last one said, or what is wrong, in a sentence.
        reason: String,
    },
    /// No night begins by itself.
    Paused {
        /// Until when; for ever when empty.
        #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
        until: Option<Instant>,
    },
    /// Proposals wait for a decision.
    Proposals {
        /// How many.
        count: usize,
    },
    /// A night waits for answers by hand.
    Answers {
        /// Name of the project; of the first when several wait.
        project: String,
    },
    /// A night is due and waits.
    Waiting {
        /// Name of the project.
        project: String,
        /// What for.
        reason: Why,
    },
    /// When the next night begins.
    Next {
        /// When.
        #[cfg_attr(feature = "typescript", ts(type = "string"))]
        at: Instant,
        /// How many projects have one within the following twelve hours.
        projects: usize,
    },
    /// No night is planned.
    Nothing,
}

/// Why a night that is due, or was asked for, does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Why {
    /// A condition of its settings is not met.
    Condition(Wait),
    /// Another night asks the same provider.
    Provider {
        /// Name of the project whose night runs.
        busy: String,
    },
    /// Another process works on the project.
    Busy {
        /// Which, in words.
        holder: String,
    },
    /// The last try was put off.
    PutOff {
        /// Until when.
        #[cfg_attr(feature = "typescript", ts(type = "string"))]
        until: Instant,
        /// What the last try said, in a sentence.
        reason: String,
    },
    /// Its folder is not there.
    FolderMissing,
    /// Neither the app nor the daemon runs.
    NobodySupervises,
}

/// A night at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Running {
    /// Its id; empty before it is written down.
    pub night: Option<i64>,
    /// When it began.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub since: Option<Instant>,
    /// The stage it is at, by its name in the store, for example `claude/baseline`.
    pub stage: Option<String>,
    /// Calls of that stage that have their result.
    pub calls_done: u64,
    /// Calls of that stage.
    pub calls: u64,
    /// Calls the whole night has made.
    pub calls_of_night: u64,
    /// Calls it will have had in the end, at most; empty until its tasks are found.
    pub calls_expected: Option<u64>,
    /// Seconds it still takes, at most and at the pace so far; empty until there is a pace.
    pub seconds_left: Option<u64>,
    /// The same in minutes, rounded up as coarsely as it is known; this is what is shown.
    pub minutes_left: Option<u64>,
    /// Tokens it has used.
    pub tokens: u64,
    /// It was started by the schedule or on request, rather than by another program.
    pub supervised: bool,
}

/// How a project's last night ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Last {
    /// Its id; empty when it could not even begin.
    pub night: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// In a sentence.
    pub reason: String,
    /// The code of the problem that only a person can end, when that is why it did not get through.
    pub needs: Option<String>,
    /// It waits for answers, and this one is there and was not taken.
    pub refused_answer: Option<RefusedAnswer>,
    /// When.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub ended_at: Option<Instant>,
    /// The local time for which it was missed, when it was caught up later.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub caught_up_for: Option<jiff::civil::DateTime>,
}

/// A night that never began: what it waited for did not come before its time was over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Missed {
    /// The local time of its rule.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub slot: jiff::civil::DateTime,
    /// What it waited for last, in a sentence: "Missed: waiting for power."
    pub reason: String,
}

/// One project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProjectState {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub root: String,
    /// Whether nights of it begin by themselves.
    pub nightly: bool,
    /// Its next night, or the one that is due now.
    pub next: Option<Due>,
    /// Whether that one is due now.
    pub due: bool,
    /// Whether it is a missed one that is caught up.
    pub catching_up: bool,
    /// A night was asked for by hand and has not begun.
    pub requested: bool,
    /// Why it does not run although it is due or was asked for.
    pub waits: Vec<Why>,
    /// Conditions that could not be looked at and count as met.
    pub unknown: Vec<Unknown>,
    /// The night at work.
    pub running: Option<Running>,
    /// How the last night ended.
    pub last: Option<Last>,
    /// The last night of its schedule that was left out, for a day.
    pub missed: Option<Missed>,
    /// Proposals that wait for a decision.
    pub pending: usize,
    /// How many of them cannot be adopted any more: a file has changed since they were made.
    pub stale: usize,
    /// When cron begins its nights, as `HH:MM` or the five fields of its line; looked up only by a process that
    /// finds that nobody else begins them.
    pub cron: Option<String>,
    /// How many scheduled nights failed in a row, the last one included.
    pub failures: u32,
    /// What is wrong with its settings, which then give it no next night, or with its folder, in a sentence.
    pub problem: Option<String>,
}

impl ProjectState {
    /// Whether its night goes on once somebody has answered its questions.
    #[must_use]
    pub fn waits_for_answers(&self) -> bool {
        let asked = |last: &Last| last.outcome == Outcome::WaitingForAnswers;
        self.running.is_none() && self.last.as_ref().is_some_and(asked)
    }

    /// Whether no night gets through until a person changes something.
    #[must_use]
    pub fn needs_the_user(&self) -> bool {
        // A night that ran and failed is no reason yet: the next one has other tasks.
        let needed = self.last.as_ref().is_some_and(|last| {
            last.needs.is_some() && (last.outcome == Outcome::Deferred || last.night.is_none())
        });
        needed || self.failures >= ATTENTION_AFTER || self.problem.is_some()
    }
}

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SupervisorState {
    /// The whole in a word.
    pub overall: Overall,
    /// The first line of the tray's menu.
    pub first_line: FirstLine,
    /// That line in English.
    pub sentence: String,
    /// Every registered project.
    pub projects: Vec<ProjectState>,
    /// Proposals that wait, over all projects.
    pub pending_proposals: usize,
    /// The user's pause.
    pub pause: Option<Pause>,
    /// Who starts nights.
    pub supervising: Supervising,
    /// What the supervisor itself cannot do, in a sentence: the store cannot be read, sleep cannot be held off.
    pub trouble: Option<String>,
    /// What amounts of money are in, for example `USD`; empty when the prices cannot be read.
    pub currency: String,
}

impl SupervisorState {
    /// Before anything has been looked at.
    #[must_use]
    pub const fn nothing_yet() -> Self {
        Self {
            overall: Overall::Asleep,
            first_line: FirstLine::Nothing,
            sentence: String::new(),
            projects: Vec::new(),
            pending_proposals: 0,
            pause: None,
            supervising: Supervising::Nobody,
            trouble: None,
            currency: String::new(),
        }
    }
}

impl Why {
    /// In a sentence without its full stop: "Waiting for power".
    #[must_use]
    pub fn sentence(&self, now: Instant, zone: &TimeZone) -> String {
        match self {
            Self::Condition(wait) => wait.sentence(),
            Self::Provider { busy } => format!("Waiting for the night of {busy}"),
            Self::Busy { holder } => format!("Another process works on it ({holder})"),
            Self::PutOff { until, reason } => format!(
                "Put off until {}: {}",
                at_in_words(*until, now, zone),
                reason.trim_end_matches('.')
            ),
            Self::FolderMissing => "Its folder is not there".to_owned(),
            Self::NobodySupervises => "Neither the app nor `skillopt daemon` runs".to_owned(),
        }
    }
}

impl Why {
    /// The sentence of a night that was left out for it: "Missed: waiting for power."
    #[must_use]
    pub(super) fn missed(&self, now: Instant, zone: &TimeZone) -> String {
        let sentence = self.sentence(now, zone);
        let mut letters = sentence.chars();
        let first = letters.next().map(|first| first.to_lowercase().to_string());
        format!("Missed: {}{}.", first.unwrap_or_default(), letters.as_str())
    }
}

impl FirstLine {
    /// In English.
    #[must_use]
    pub fn sentence(&self, now: Instant, zone: &TimeZone) -> String {
        match self {
            Self::Working {
                project,
                nights,
                seconds_left,
            } => {
                let nights = match nights {
                    1 => format!("A night of {project} is running"),
                    nights => format!("{nights} nights are running"),
                };
                match seconds_left {
                    Some(seconds) => {
                        format!("{nights}, at most about {} left", left_in_words(*seconds))
                    }
                    None => nights,
                }
            }
            Self::Trouble { reason } => reason.clone(),
            Self::Attention {
                project,
                failures,
                reason,
            } if *failures >= ATTENTION_AFTER => {
                format!("{failures} nights of {project} failed in a row: {reason}")
            }
            Self::Attention {
                project, reason, ..
            } => format!("{project}: {reason}"),
            Self::Paused { until: None } => "Paused until you resume".to_owned(),
            Self::Paused { until: Some(until) } => {
                format!("Paused until {}", at_in_words(*until, now, zone))
            }
            Self::Proposals { count: 1 } => "1 proposal waits".to_owned(),
            Self::Proposals { count } => format!("{count} proposals wait"),
            Self::Answers { project } => format!("{project} waits for your answers"),
            Self::Waiting { project, reason } => {
                format!("{project}: {}", reason.sentence(now, zone))
            }
            Self::Next { at, projects } => format!(
                "Next: {} ({})",
                at_in_words(*at, now, zone),
                counted(*projects as u64, "project")
            ),
            Self::Nothing => "No night is planned".to_owned(),
        }
    }
}

/// A time that is left, rounded up: "1 min", "2 h 5 min".
#[must_use]
pub fn left_in_words(seconds: u64) -> String {
    match minutes_left(seconds) {
        minutes @ ..60 => format!("{minutes} min"),
        minutes => match (minutes / 60, minutes % 60) {
            (hours, 0) => format!("{hours} h"),
            (hours, minutes) => format!("{hours} h {minutes} min"),
        },
    }
}

/// A time that is left, in minutes, rounded up as coarsely as it is known: to five minutes where it is more
/// than a quarter of an hour. What is shown stays the same for a while then.
#[must_use]
pub const fn minutes_left(seconds: u64) -> u64 {
    match seconds.div_ceil(60) {
        0 => 1,
        minutes @ ..=15 => minutes,
        minutes => minutes.div_ceil(5).saturating_mul(5),
    }
}

/// After how many failed nights in a row the user is told.
pub const ATTENTION_AFTER: u32 = 3;

/// An instant as local time in words: "tomorrow 03:17".
#[must_use]
pub fn at_in_words(at: Instant, now: Instant, zone: &TimeZone) -> String {
    when_in_words(zone.to_datetime(at), zone.to_datetime(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_left_is_as_coarse_as_it_is_known() {
        for (seconds, words) in [
            (0, "1 min"),
            (61, "2 min"),
            (15 * 60, "15 min"),
            (15 * 60 + 1, "20 min"),
            (59 * 60, "1 h"),
            (3 * 3600 + 60, "3 h 5 min"),
        ] {
            assert_eq!(left_in_words(seconds), words, "{seconds}");
        }
    }
}
