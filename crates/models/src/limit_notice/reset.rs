//! When a limit is lifted, read from words.

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ZonedDateTime};
use regex::{Captures, Regex};
use skillopt_core::Instant;

/// A reset further away is a misreading: plans reset at least monthly.
const FURTHEST: SignedDuration = SignedDuration::from_hours(24 * 40);

/// "limit reached|1755772800", "resetsAt":1755772800; seconds or milliseconds.
static EPOCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:\||resets?_?at"?\s*[:=]\s*)\s*(\d{10}|\d{13})\b"#)
        .expect("a fixed pattern")
});

/// "resets at 2026-05-09 18:00:00", with or without `Z` or an offset.
static STAMP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:resets?|again|until|after)\b[^0-9\n]{0,20}(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?",
    )
    .expect("a fixed pattern")
});

/// "resets in 3h 12m", "try again in 5 hours 3 minutes", "in 6m0s", "in 11.05s", "in 2 days".
static SPAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:resets?|again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)\b?[\s,]*(?:and\s+)?)+)")
        .expect("a fixed pattern")
});

static SPAN_PART: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(\d+(?:\.\d+)?)\s*(ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)",
    )
    .expect("a fixed pattern")
});

/// "resets 7am", "resets at 18:00", "resets Dec 2, 6:25pm (UTC)", "resets Mon 9am",
/// "will reset at 9pm (America/New_York)", "try again at 7:22 AM".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\b(?:resets?|again|until)\s+(?:(?:on|at|by)\s+)?",
        r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{4}))?(?:,|\s+at)?\s*",
        r"|(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+(?:at\s+)?|(?P<tomorrow>tomorrow)\s+(?:at\s+)?)?",
        r"(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]\.?m\b\.?)?)?",
        r"(?:\s*\((?P<zone>[A-Za-z0-9_+\-/]{1,40})\))?",
    ))
    .expect("a fixed pattern")
});

/// The first moment after `now` that `text` names as the end of a limit.
#[must_use]
pub fn reset_time(text: &str, now: Instant, zone: &TimeZone) -> Option<Instant> {
    let at = epoch(text)
        .or_else(|| stamp(text, zone))
        .or_else(|| span(text, now))
        .or_else(|| clock(text, now, zone))?;
    let ahead = at.duration_since(now);
    (ahead > SignedDuration::ZERO && ahead <= FURTHEST).then_some(at)
}

fn epoch(text: &str) -> Option<Instant> {
    let digits = EPOCH.captures(text)?.get(1)?.as_str();
    let number: i64 = digits.parse().ok()?;
    if digits.len() == 13 {
        Instant::from_millisecond(number).ok()
    } else {
        Instant::from_second(number).ok()
    }
}

fn stamp(text: &str, zone: &TimeZone) -> Option<Instant> {
    let found = STAMP.captures(text)?;
    let seconds = found.get(3).map_or(":00", |seconds| seconds.as_str());
    let civil = format!("{}T{}{seconds}", &found[1], &found[2]);
    match found.get(4).map(|offset| offset.as_str()) {
        None => civil
            .parse::<DateTime>()
            .ok()?
            .to_zoned_datetime(zone.clone())
            .ok()
            .map(|at| at.timestamp()),
        Some(utc) if utc.eq_ignore_ascii_case("z") || utc.eq_ignore_ascii_case("utc") => {
            format!("{civil}Z").parse().ok()
        }
        Some(offset) => format!("{civil}{offset}").parse().ok(),
    }
}

fn span(text: &str, now: Instant) -> Option<Instant> {
    let found = SPAN.captures(text)?;
    let mut seconds = 0.0;
    for part in SPAN_PART.captures_iter(&found[1]) {
        let number: f64 = part[1].parse().ok()?;
        let unit = part[2].to_ascii_lowercase();
        seconds += number
            * match unit.as_bytes() {
                b"ms" => 0.001,
                [b'd', ..] => 86_400.0,
                [b'h', ..] => 3_600.0,
                [b'm', ..] => 60.0,
                _ => 1.0,
            };
    }
    if !(seconds > 0.0 && seconds <= FURTHEST.as_secs_f64()) {
        return None;
    }
    now.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?)
        .ok()
}

fn clock(text: &str, now: Instant, local: &TimeZone) -> Option<Instant> {
    CLOCK
        .captures_iter(text)
        .find_map(|found| on_the_clock(&found, now, local))
}

fn on_the_clock(found: &Captures<'_>, now: Instant, local: &TimeZone) -> Option<Instant> {
    let word = |name: &str| found.name(name).map(|group| group.as_str());
    let zone = match word("zone") {
        Some(name) => TimeZone::get(name).ok()?,
        None => local.clone(),
    };
    let dated = word("month").is_some() || word("weekday").is_some() || word("tomorrow").is_some();
    let time = match (word("hour"), word("half"), word("minute")) {
        // "resets 5" alone could be anything.
        (Some(_), None, None) if !dated => return None,
        (Some(hour), half, minute) => time_of_day(hour, minute, half)?,
        (None, ..) if dated => Time::midnight(),
        (None, ..) => return None,
    };
    let here = now.to_zoned_datetime(zone.clone());
    let date = if let Some(month) = word("month") {
        let day = word("day")?.parse().ok()?;
        let month = month_number(month)?;
        match word("year") {
            Some(year) => Date::new(year.parse().ok()?, month, day).ok()?,
            None => next_date(&here, month, day, time)?,
        }
    } else if let Some(weekday) = word("weekday") {
        let weekday = weekday_named(weekday)?;
        if here.weekday() == weekday && here.time() < time {
            here.date()
        } else {
            here.date().nth_weekday(1, weekday).ok()?
        }
    } else if word("tomorrow").is_some() || here.time() >= time {
        here.date().tomorrow().ok()?
    } else {
        here.date()
    };
    // An hour that a clock change leaves out is taken after it, one that comes twice the first time.
    Some(
        date.to_datetime(time)
            .to_zoned_datetime(zone)
            .ok()?
            .timestamp(),
    )
}

fn time_of_day(hour: &str, minute: Option<&str>, half: Option<&str>) -> Option<Time> {
    let mut hour: i8 = hour.parse().ok()?;
    let minute: i8 = minute.map_or(Ok(0), str::parse).ok()?;
    if let Some(half) = half {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour %= 12;
        if half.starts_with(['p', 'P']) {
            hour += 12;
        }
    }
    Time::new(hour, minute, 0, 0).ok()
}

/// The next day with this month and day whose `time` has not passed. A day that has just passed
/// belongs to this year, not the next: the notice is old.
fn next_date(here: &ZonedDateTime, month: i8, day: i8, time: Time) -> Option<Date> {
    let this_year = Date::new(here.year(), month, day).ok()?;
    if this_year.to_datetime(time) > here.datetime() {
        return Some(this_year);
    }
    let months_ago = (i32::from(here.month()) - i32::from(month)).rem_euclid(12);
    if months_ago > 6 {
        Date::new(here.year().checked_add(1)?, month, day).ok()
    } else {
        None
    }
}

fn month_number(name: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let place = NAMES
        .iter()
        .position(|month| name.eq_ignore_ascii_case(month))?;
    i8::try_from(place + 1).ok()
}

fn weekday_named(name: &str) -> Option<Weekday> {
    Some(match name.to_ascii_lowercase().as_str() {
        "mon" => Weekday::Monday,
        "tue" => Weekday::Tuesday,
        "wed" => Weekday::Wednesday,
        "thu" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        "sun" => Weekday::Sunday,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_times_in_every_known_form() {
        // Sunday, 29 Nov 2026, 18:25 UTC = 19:25 in Paris = 13:25 in New York.
        let now: Instant = "2026-11-29T18:25:00Z".parse().unwrap();
        let zone = TimeZone::get("Europe/Paris").unwrap();
        for (text, expected) in [
            (
                "Claude AI usage limit reached|1795983924",
                "2026-11-29T20:25:24Z",
            ),
            (
                r#"{"status":"rejected","resetsAt":1795983924}"#,
                "2026-11-29T20:25:24Z",
            ),
            ("limit reached|1795983924000", "2026-11-29T20:25:24Z"),
            (
                "You've hit your limit · resets 8:25pm (UTC)",
                "2026-11-29T20:25:00Z",
            ),
            // Local zone: 7am in Paris is tomorrow 06:00 UTC; 9pm is still to come today.
            ("5-hour limit reached ∙ resets 7am", "2026-11-30T06:00:00Z"),
            ("limit reached ∙ resets 9pm", "2026-11-29T20:00:00Z"),
            ("limit reached ∙ resets 12am", "2026-11-29T23:00:00Z"),
            ("limit reached ∙ resets 12pm", "2026-11-30T11:00:00Z"),
            ("limit reached ∙ resets at 23:30", "2026-11-29T22:30:00Z"),
            // 5:10pm has passed in Paris, so it is tomorrow's.
            (
                "hit your session limit · resets 5:10pm (Europe/Paris)",
                "2026-11-30T16:10:00Z",
            ),
            (
                "Your limit will reset at 9pm (America/New_York).",
                "2026-11-30T02:00:00Z",
            ),
            (
                "weekly limit · resets Dec 2, 6:25pm (UTC)",
                "2026-12-02T18:25:00Z",
            ),
            (
                "weekly limit · resets Dec 17 at 6am (Europe/Oslo)",
                "2026-12-17T05:00:00Z",
            ),
            (
                "weekly limit · resets Jan 3, 1pm (UTC)",
                "2027-01-03T13:00:00Z",
            ),
            ("weekly limit · resets Mon 9:00 AM", "2026-11-30T08:00:00Z"),
            (
                "weekly limit · resets Sunday 11pm (UTC)",
                "2026-11-29T23:00:00Z",
            ),
            (
                "weekly limit · resets Sun 6pm (UTC)",
                "2026-12-06T18:00:00Z",
            ),
            (
                "limit reached. Try again at 7:30 AM",
                "2026-11-30T06:30:00Z",
            ),
            ("Try again in 3 hours 12 minutes.", "2026-11-29T21:37:00Z"),
            ("Please try again in 6m0s.", "2026-11-29T18:31:00Z"),
            ("Please try again in 20s.", "2026-11-29T18:25:20Z"),
            ("resets in 2 days", "2026-12-01T18:25:00Z"),
            (
                "Your limit will reset at 2026-12-01 18:00:00",
                "2026-12-01T17:00:00Z",
            ),
            (
                "resets at 2026-12-01T18:00:00+02:00",
                "2026-12-01T16:00:00Z",
            ),
            ("resets at 2026-12-01T18:00:00Z", "2026-12-01T18:00:00Z"),
        ] {
            assert_eq!(
                reset_time(text, now, &zone)
                    .map(|at| at.to_string())
                    .as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_a_reset_is_not_one() {
        let now: Instant = "2026-11-29T18:25:00Z".parse().unwrap();
        for text in [
            "You've hit your limit",
            "limit reached|1000000000",
            "limit reached|9999999999",
            "resets 25pm",
            "resets 7",
            "resets 7am (Nowhere/Land)",
            "resets Feb 30, 7am",
            "resets Nov 28, 7am (UTC)",
            "resets in 99999999999999999999 hours",
            "resets in 400 days",
            "resets",
        ] {
            assert_eq!(reset_time(text, now, &TimeZone::UTC), None, "{text}");
        }
    }

    #[test]
    fn an_hour_that_a_clock_change_leaves_out_comes_after_it() {
        // Paris skips 02:00–03:00 on 29 Mar 2026.
        let now: Instant = "2026-03-28T22:00:00Z".parse().unwrap();
        assert_eq!(
            reset_time("resets 2:30am (Europe/Paris)", now, &TimeZone::UTC)
                .map(|at| at.to_string())
                .as_deref(),
            Some("2026-03-29T01:30:00Z")
        );
    }
}
