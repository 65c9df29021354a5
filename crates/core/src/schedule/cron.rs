//! Cron expressions with their ordinary meaning.
//!
//! Five fields: minute, hour, day of the month, month, day of the week. In the last one 0 and 7 are
//! Sunday, and when both day fields are restricted a day needs to match only one of them, as in
//! POSIX `crontab`. The `cron` crate evaluates the fields; its own days of the week begin with 1 for
//! Sunday, so that field is read here and handed on by name.

use std::str::FromStr;

use chrono::{DateTime as Chrono, Datelike, TimeZone as _, Timelike, Utc};
use jiff::civil::DateTime;

use crate::Problem;

const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

/// A cron expression.
#[derive(Debug, Clone)]
pub struct Cron {
    expression: String,
    fields: String,
    /// Several where either of two day fields may match.
    schedules: Vec<cron::Schedule>,
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression
    }
}

impl Eq for Cron {}

impl Cron {
    /// Reads `minute hour day month weekday`, or `@hourly`, `@daily`, `@midnight`, `@weekly`,
    /// `@monthly`, `@yearly`, `@annually`.
    ///
    /// Error: `cron_invalid`.
    pub fn parse(expression: &str) -> Result<Self, Problem> {
        let invalid = |why: &str| {
            Problem::refused(
                "cron_invalid",
                format!(
                    "\"{}\" is not a time plan: {why}.",
                    expression.escape_debug()
                ),
                "Write minute, hour, day of the month, month and day of the week, such as \"17 3 * * 1-5\".",
            )
        };
        let expression = expression.trim();
        let full = match expression {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = full.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(invalid(&format!(
                "it has {} fields instead of 5",
                fields.len()
            )));
        };
        let minute = field(minute, 0, 59, &[]).map_err(|why| invalid(&format!("minute: {why}")))?;
        let hour = field(hour, 0, 23, &[]).map_err(|why| invalid(&format!("hour: {why}")))?;
        let month =
            field(month, 1, 12, &MONTHS).map_err(|why| invalid(&format!("month: {why}")))?;
        let (any_day, any_weekday) = (day.starts_with('*'), weekday.starts_with('*'));
        let day = field(day, 1, 31, &[]).map_err(|why| invalid(&format!("day: {why}")))?;
        let weekday =
            field(weekday, 0, 7, &DAYS).map_err(|why| invalid(&format!("weekday: {why}")))?;
        let weekday = weekday
            .iter()
            .map(|day| DAYS[usize::from(day % 7)].to_owned())
            .collect::<Vec<_>>()
            .join(",");
        let times = format!("0 {} {}", list(&minute), list(&hour));
        let month = list(&month);
        let plans = if any_day || any_weekday {
            vec![format!("{times} {} {month} {weekday}", list(&day))]
        } else {
            vec![
                format!("{times} {} {month} *", list(&day)),
                format!("{times} * {month} {weekday}"),
            ]
        };
        let schedules = plans
            .iter()
            .map(|plan| cron::Schedule::from_str(plan).map_err(|error| invalid(&error.to_string())))
            .collect::<Result<Vec<_>, _>>()?;
        let plan = Self {
            expression: expression.to_owned(),
            fields: fields.join(" "),
            schedules,
        };
        // Such as the 30th of February.
        if plan
            .after(DateTime::constant(2024, 1, 1, 0, 0, 0, 0))
            .next()
            .is_none()
        {
            return Err(invalid("there is no such day"));
        }
        Ok(plan)
    }

    /// The expression as it was written.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// Its five fields, separated by one space; of a name such as `@daily` those it stands for.
    #[must_use]
    pub fn fields(&self) -> &str {
        &self.fields
    }

    /// The local times after `from`, in order.
    pub fn after(&self, from: DateTime) -> impl Iterator<Item = DateTime> + '_ {
        let mut last = Some(from);
        std::iter::from_fn(move || {
            let from = to_chrono(last?);
            let next = from.and_then(|from| {
                self.schedules
                    .iter()
                    .filter_map(|schedule| schedule.after(&from).next())
                    .min()
            });
            last = next.and_then(from_chrono);
            last
        })
    }
}

/// The values a field allows, in order.
fn field(text: &str, least: u8, most: u8, names: &[&str]) -> Result<Vec<u8>, String> {
    let mut allowed = std::collections::BTreeSet::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => {
                let step: u8 = step
                    .parse()
                    .ok()
                    .filter(|step| *step > 0)
                    .ok_or_else(|| format!("\"{step}\" is no step"))?;
                (range, Some(step))
            }
        };
        let value = |text: &str| value(text, least, most, names);
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (value(from)?, value(to)?),
            None => {
                let from = value(range)?;
                (from, if step.is_some() { most } else { from })
            }
        };
        // `FRI-SUN` ends with the 7 that is Sunday, too.
        let to = if to < from && !names.is_empty() && to == 0 {
            7
        } else {
            to
        };
        if to < from {
            return Err(format!("\"{range}\" runs backwards"));
        }
        allowed.extend((from..=to).step_by(usize::from(step.unwrap_or(1))));
    }
    Ok(allowed.into_iter().collect())
}

fn value(text: &str, least: u8, most: u8, names: &[&str]) -> Result<u8, String> {
    let named = names
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text))
        .and_then(|index| u8::try_from(index).ok())
        .map(|index| index + least);
    let number = text
        .parse::<u8>()
        .ok()
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|number| (least..=most).contains(number));
    named
        .or(number)
        .ok_or_else(|| format!("\"{text}\" is not between {least} and {most}"))
}

fn list(values: &[u8]) -> String {
    let values: Vec<String> = values.iter().map(u8::to_string).collect();
    values.join(",")
}

/// A local time as if it were UTC: zones are none of the crate's business.
fn to_chrono(at: DateTime) -> Option<Chrono<Utc>> {
    let number = |value: i8| u32::try_from(value).ok();
    Utc.with_ymd_and_hms(
        at.year().into(),
        number(at.month())?,
        number(at.day())?,
        number(at.hour())?,
        number(at.minute())?,
        number(at.second())?,
    )
    .single()
}

fn from_chrono(at: Chrono<Utc>) -> Option<DateTime> {
    let number = |value: u32| i8::try_from(value).ok();
    DateTime::new(
        i16::try_from(at.year()).ok()?,
        number(at.month())?,
        number(at.day())?,
        number(at.hour())?,
        number(at.minute())?,
        number(at.second())?,
        0,
    )
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(expression: &str, from: &str, count: usize) -> Vec<String> {
        let plan = Cron::parse(expression).unwrap_or_else(|problem| panic!("{problem:?}"));
        plan.after(from.parse().unwrap())
            .take(count)
            .map(|slot| slot.strftime("%a %m-%d %H:%M").to_string())
            .collect()
    }

    // 2026-11-29 is a Sunday.
    const SUNDAY: &str = "2026-11-29T12:00:00";

    #[test]
    fn zero_and_seven_are_sunday() {
        let expected = ["Sun 12-06 03:17", "Sun 12-13 03:17"];
        for sunday in ["0", "7", "sun", "SUN", "0,7"] {
            assert_eq!(first(&format!("17 3 * * {sunday}"), SUNDAY, 2), expected);
        }
    }

    #[test]
    fn ranges_of_days_are_as_people_expect() {
        assert_eq!(
            first("0 3 * * 1-5", SUNDAY, 6),
            [
                "Mon 11-30 03:00",
                "Tue 12-01 03:00",
                "Wed 12-02 03:00",
                "Thu 12-03 03:00",
                "Fri 12-04 03:00",
                "Mon 12-07 03:00",
            ]
        );
        let weekend = ["Fri 12-04 03:00", "Sat 12-05 03:00", "Sun 12-06 03:00"];
        assert_eq!(first("0 3 * * 5-7", SUNDAY, 3), weekend);
        assert_eq!(first("0 3 * * FRI-SUN", SUNDAY, 3), weekend);
    }

    #[test]
    fn either_day_field_is_enough_when_both_are_restricted() {
        assert_eq!(
            first("0 3 1,15 * 5", SUNDAY, 4),
            [
                "Tue 12-01 03:00",
                "Fri 12-04 03:00",
                "Fri 12-11 03:00",
                "Tue 12-15 03:00"
            ]
        );
    }

    #[test]
    fn steps_lists_and_names() {
        assert_eq!(
            first("*/20 1-3/2 * dec *", SUNDAY, 4),
            [
                "Tue 12-01 01:00",
                "Tue 12-01 01:20",
                "Tue 12-01 01:40",
                "Tue 12-01 03:00"
            ]
        );
        assert_eq!(first("@weekly", SUNDAY, 1), ["Sun 12-06 00:00"]);
        assert_eq!(Cron::parse(" @weekly").unwrap().fields(), "0 0 * * 0");
        assert_eq!(Cron::parse("0  3 * *\t1").unwrap().fields(), "0 3 * * 1");
        assert_eq!(first("0 0 29 2 *", SUNDAY, 1), ["Tue 02-29 00:00"]);
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_reason() {
        for (expression, why) in [
            ("", "0 fields"),
            ("0 3 * *", "4 fields"),
            ("0 3 * * * *", "6 fields"),
            ("60 3 * * *", "minute"),
            ("0 24 * * *", "hour"),
            ("0 3 0 * *", "day"),
            ("0 3 * 13 *", "month"),
            ("0 3 * * 8", "weekday"),
            ("0 3 * * 5-2", "backwards"),
            ("*/0 3 * * *", "step"),
            ("0 3 30 2 *", "no such day"),
            ("+1 3 * * *", "minute"),
            ("0 3 * * mon\u{202e}", "weekday"),
        ] {
            let problem = Cron::parse(expression).expect_err(expression);
            assert_eq!(problem.code, "cron_invalid");
            assert!(problem.message.contains(why), "{}", problem.message);
        }
    }
}
