//! What must hold beside the time for a night to begin by itself.

use core::time::Duration;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// What the user asks for. Empty conditions allow everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    /// Wait for power, unless the battery has at least this many percent. 100 asks for power.
    pub battery_at_least: Option<u8>,
    /// Wait for a network that is not metered.
    pub unmetered: bool,
    /// Wait until nobody has used the computer for so long.
    pub idle: Option<Duration>,
    /// Local times of day between which no night begins; the second may be on the next day.
    pub quiet: Option<(Time, Time)>,
    /// Wait for so many sessions that were not read yet.
    pub new_sessions: Option<u64>,
}

/// What is known of the computer. `None` is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// It runs on power.
    pub on_power: Option<bool>,
    /// Charge of its battery in percent.
    pub battery: Option<u8>,
    /// Its network is metered.
    pub metered: Option<bool>,
    /// How long nobody has used it.
    pub idle: Option<Duration>,
    /// Sessions of the project that were not read yet.
    pub new_sessions: Option<u64>,
}

/// What a night waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "for")]
pub enum Wait {
    /// Power, or a fuller battery.
    Power,
    /// A network that is not metered.
    UnmeteredNetwork,
    /// Nobody using the computer.
    Idle,
    /// The end of the quiet hours.
    QuietHours,
    /// More sessions.
    Sessions {
        /// How many there are.
        have: u64,
        /// How many are asked for.
        want: u64,
    },
}

impl Wait {
    /// For the tray and the overview: "Waiting for power".
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Self::Power => "Waiting for power".to_owned(),
            Self::UnmeteredNetwork => "Waiting for a network that is not metered".to_owned(),
            Self::Idle => "Waiting until nobody uses the computer".to_owned(),
            Self::QuietHours => "Waiting for the end of the quiet hours".to_owned(),
            Self::Sessions { have, want } => {
                format!("Waiting for new sessions ({have} of {want})")
            }
        }
    }
}

/// A condition that could not be looked at. It counts as met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "UnknownCondition")
)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Whether there is power.
    Power,
    /// Whether the network is metered.
    Network,
    /// How long nobody has used the computer.
    Idle,
    /// How many sessions are new.
    Sessions,
}

/// Whether a night may begin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readiness {
    /// What it waits for; it may begin when this is empty.
    pub waits: Vec<Wait>,
    /// What could not be looked at.
    pub unknown: Vec<Unknown>,
}

impl Conditions {
    /// Looks at all of them.
    #[must_use]
    pub fn look(&self, around: &Surroundings, now: Instant, zone: &TimeZone) -> Readiness {
        let mut found = Readiness::default();
        if let Some(least) = self.battery_at_least {
            match (around.on_power, around.battery) {
                (Some(true), _) => {}
                (_, Some(charge)) if charge >= least && least < 100 => {}
                (Some(false), _) => found.waits.push(Wait::Power),
                (None, _) => found.unknown.push(Unknown::Power),
            }
        }
        if self.unmetered {
            match around.metered {
                Some(false) => {}
                Some(true) => found.waits.push(Wait::UnmeteredNetwork),
                None => found.unknown.push(Unknown::Network),
            }
        }
        if let Some(least) = self.idle {
            match around.idle {
                Some(idle) if idle >= least => {}
                Some(_) => found.waits.push(Wait::Idle),
                None => found.unknown.push(Unknown::Idle),
            }
        }
        if let Some((from, to)) = self.quiet
            && is_between(zone.to_datetime(now).time(), from, to)
        {
            found.waits.push(Wait::QuietHours);
        }
        if let Some(want) = self.new_sessions {
            match around.new_sessions {
                Some(have) if have >= want => {}
                Some(have) => found.waits.push(Wait::Sessions { have, want }),
                None => found.unknown.push(Unknown::Sessions),
            }
        }
        found
    }
}

/// Whether a time of day is in `from..to`, over midnight when `to` is not after `from`. The same time
/// twice is no time at all.
#[must_use]
pub fn is_between(time: Time, from: Time, to: Time) -> bool {
    if from <= to {
        from <= time && time < to
    } else {
        from <= time || time < to
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::time;

    use super::*;

    fn waits(conditions: &Conditions, around: &Surroundings) -> Readiness {
        // 02:30 on a Sunday.
        let now = "2026-11-29T02:30:00Z".parse().unwrap();
        conditions.look(around, now, &TimeZone::UTC)
    }

    #[test]
    fn without_conditions_everything_is_allowed() {
        let around = Surroundings {
            on_power: Some(false),
            battery: Some(1),
            metered: Some(true),
            idle: Some(Duration::ZERO),
            new_sessions: Some(0),
        };
        assert_eq!(waits(&Conditions::default(), &around), Readiness::default());
    }

    #[test]
    fn each_condition_waits_for_its_own() {
        let asked = Conditions {
            battery_at_least: Some(60),
            unmetered: true,
            idle: Some(Duration::from_secs(600)),
            quiet: Some((time(22, 0, 0, 0), time(3, 0, 0, 0))),
            new_sessions: Some(3),
        };
        let around = Surroundings {
            on_power: Some(false),
            battery: Some(59),
            metered: Some(true),
            idle: Some(Duration::from_secs(599)),
            new_sessions: Some(2),
        };
        assert_eq!(
            waits(&asked, &around).waits,
            [
                Wait::Power,
                Wait::UnmeteredNetwork,
                Wait::Idle,
                Wait::QuietHours,
                Wait::Sessions { have: 2, want: 3 },
            ]
        );
        let fine = Surroundings {
            on_power: Some(false),
            battery: Some(60),
            metered: Some(false),
            idle: Some(Duration::from_secs(600)),
            new_sessions: Some(3),
        };
        let asked = Conditions {
            quiet: Some((time(3, 0, 0, 0), time(22, 0, 0, 0))),
            ..asked
        };
        assert_eq!(waits(&asked, &fine), Readiness::default());
    }

    #[test]
    fn what_is_not_known_is_allowed_and_said() {
        let asked = Conditions {
            battery_at_least: Some(100),
            unmetered: true,
            idle: Some(Duration::from_secs(1)),
            quiet: None,
            new_sessions: Some(1),
        };
        let found = waits(&asked, &Surroundings::default());
        assert_eq!(found.waits, []);
        assert_eq!(
            found.unknown,
            [
                Unknown::Power,
                Unknown::Network,
                Unknown::Idle,
                Unknown::Sessions
            ]
        );
    }

    #[test]
    fn a_full_battery_is_no_power() {
        let asked = Conditions {
            battery_at_least: Some(100),
            ..Conditions::default()
        };
        let full = Surroundings {
            on_power: Some(false),
            battery: Some(100),
            ..Surroundings::default()
        };
        assert_eq!(waits(&asked, &full).waits, [Wait::Power]);
    }

    #[test]
    fn quiet_hours_go_over_midnight_and_end_in_time() {
        let between = |hour, minute| {
            is_between(
                time(hour, minute, 0, 0),
                time(22, 0, 0, 0),
                time(6, 30, 0, 0),
            )
        };
        assert!(between(22, 0) && between(23, 59) && between(0, 0) && between(6, 29));
        assert!(!between(6, 30) && !between(21, 59) && !between(12, 0));
        assert!(!is_between(
            time(5, 0, 0, 0),
            time(5, 0, 0, 0),
            time(5, 0, 0, 0)
        ));
    }
}
