//! Nights that the user put off.

use jiff::ToSpan;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// How long no night begins by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "kind", content = "until")]
pub enum Pause {
    /// Until then.
    Until(#[cfg_attr(feature = "typescript", ts(type = "string"))] Instant),
    /// Until the user ends it.
    Forever,
}

impl Pause {
    /// Until the next local day begins.
    #[must_use]
    pub fn until_tomorrow(now: Instant, zone: &TimeZone) -> Self {
        let tomorrow = zone.to_datetime(now).date().saturating_add(1.day());
        zone.to_ambiguous_timestamp(tomorrow.to_datetime(jiff::civil::Time::midnight()))
            .compatible()
            .map_or(Self::Forever, Self::Until)
    }

    /// Whether it holds at `now`.
    #[must_use]
    pub fn holds(self, now: Instant) -> bool {
        match self {
            Self::Until(until) => now < until,
            Self::Forever => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_pause_ends_by_itself_except_the_one_for_ever() {
        let now: Instant = "2026-03-28T22:30:00Z".parse().unwrap();
        let later = |minutes| now + SignedDuration::from_mins(minutes);
        let hour = Pause::Until(later(60));
        assert!(hour.holds(now) && hour.holds(later(59)) && !hour.holds(later(60)));
        // 2026-03-29 begins in this zone (UTC+1) at 23:00 UTC.
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let day = Pause::until_tomorrow(now, &zone);
        assert_eq!(day, Pause::Until("2026-03-28T23:00:00Z".parse().unwrap()));
        assert!(Pause::Forever.holds(Instant::MAX));
    }

    #[test]
    fn it_survives_being_stored() {
        for pause in [Pause::Forever, Pause::Until(Instant::UNIX_EPOCH)] {
            let text = serde_json::to_string(&pause).unwrap();
            assert_eq!(serde_json::from_str::<Pause>(&text).unwrap(), pause);
        }
    }
}
