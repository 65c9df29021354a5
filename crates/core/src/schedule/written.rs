//! Times and days as people write and read them.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time, Weekday};

use super::Days;

const NAMES: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// Days in words: names of three or more letters, ranges (over the weekend as well), separated by commas
/// or spaces. All seven when nothing is written.
pub(super) fn days(text: &str) -> Option<Days> {
    let text = text.trim().to_ascii_lowercase();
    if text.is_empty() {
        return Some(Days::ALL);
    }
    let mut found = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (day(from)?, day(to)?);
        let mut each = from;
        found.push(each);
        while each != to {
            each = each.next();
            found.push(each);
        }
    }
    Some(Days::of(&found))
}

fn day(text: &str) -> Option<Weekday> {
    let whole = |day: Weekday| -> &'static str {
        match day {
            Weekday::Monday => "monday",
            Weekday::Tuesday => "tuesday",
            Weekday::Wednesday => "wednesday",
            Weekday::Thursday => "thursday",
            Weekday::Friday => "friday",
            Weekday::Saturday => "saturday",
            Weekday::Sunday => "sunday",
        }
    };
    NAMES
        .iter()
        .find(|(short, day)| text.starts_with(short) && whole(*day).starts_with(text))
        .map(|(_, day)| *day)
}

/// A time of day such as `7:00` or `07:00`.
#[must_use]
pub fn time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| -> Option<i8> {
        let plain = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    Time::new(number(hour, 1..=2)?, number(minute, 2..=2)?, 0, 0).ok()
}

/// Two times of day such as `9:00-18:30`; over midnight when the second is the earlier one.
#[must_use]
pub fn hours(text: &str) -> Option<(Time, Time)> {
    let (from, to) = text.split_once('-')?;
    Some((time_of_day(from)?, time_of_day(to)?))
}

/// A local time as seen from another: "today 03:17", "tomorrow 03:17", "Thursday 03:17", "Thu 10 Dec 03:17".
#[must_use]
pub fn when_in_words(at: DateTime, from: DateTime) -> String {
    let in_days = |days: i64| -> Date { from.date().saturating_add(days.days()) };
    let day = if at.date() == from.date() {
        "today".to_owned()
    } else if at.date() == in_days(1) {
        "tomorrow".to_owned()
    } else if at.date() == in_days(-1) {
        "yesterday".to_owned()
    } else if at.date() > from.date() && at.date() < in_days(7) {
        at.strftime("%A").to_string()
    } else if at.date().year() == from.date().year() || at.date() < in_days(180) && at > from {
        at.strftime("%a %-d %b").to_string()
    } else {
        at.strftime("%-d %b %Y").to_string()
    };
    format!("{day} {}", at.strftime("%H:%M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_in_several_ways() {
        use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
        for (text, expected) in [
            ("mon", &[Monday][..]),
            ("Mon-Fri", &[Monday, Tuesday, Wednesday, Thursday, Friday]),
            ("sat, sun", &[Saturday, Sunday]),
            ("fri-mon", &[Friday, Saturday, Sunday, Monday]),
            ("tuesday thurs", &[Tuesday, Thursday]),
        ] {
            assert_eq!(days(text), Some(Days::of(expected)), "{text}");
        }
        assert_eq!(days(" "), Some(Days::ALL));
        for bad in ["mo", "monx", "mon-", "-fri", "1-5", "everyday"] {
            assert_eq!(days(bad), None, "{bad}");
        }
        let weekend: Vec<Weekday> = Days::of(&[Sunday, Saturday]).iter().collect();
        assert_eq!(weekend, [Saturday, Sunday]);
    }

    #[test]
    fn times_of_day_have_hours_and_two_digits_of_minutes() {
        assert_eq!(time_of_day("7:00"), Time::new(7, 0, 0, 0).ok());
        assert_eq!(time_of_day(" 23:59 "), Time::new(23, 59, 0, 0).ok());
        for bad in ["7", "24:00", "7:60", "7:0", "+7:00", "07:00:00", ""] {
            assert_eq!(time_of_day(bad), None, "{bad}");
        }
        assert_eq!(
            hours("22:00 - 6:30"),
            time_of_day("22:00").zip(time_of_day("6:30"))
        );
        assert_eq!(hours("22:00"), None);
    }

    #[test]
    fn near_times_are_told_by_their_day() {
        let from: DateTime = "2026-11-30T12:00:00".parse().unwrap();
        for (at, words) in [
            ("2026-11-30T03:17:00", "today 03:17"),
            ("2026-11-29T23:00:00", "yesterday 23:00"),
            ("2026-12-01T03:17:00", "tomorrow 03:17"),
            ("2026-12-03T03:17:00", "Thursday 03:17"),
            ("2026-12-07T03:17:00", "Mon 7 Dec 03:17"),
            ("2027-01-04T03:17:00", "Mon 4 Jan 03:17"),
            ("2027-11-04T03:17:00", "4 Nov 2027 03:17"),
            ("2026-11-20T03:17:00", "Fri 20 Nov 03:17"),
        ] {
            assert_eq!(when_in_words(at.parse().unwrap(), from), words);
        }
    }
}
