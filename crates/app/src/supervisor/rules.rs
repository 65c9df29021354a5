//! From settings to the rules of a schedule.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::Serialize;
use skillopt_core::schedule::{
    Conditions, Cron, Days, Due, Rule, When, hours, time_of_day, when_in_words,
};
use skillopt_core::{Instant, Problem};
use skillopt_models::Roles;
use skillopt_settings::Settings;

/// When a project's nights run, and under which conditions.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Whether they begin by themselves.
    pub nightly: bool,
    /// Their times.
    pub rule: Rule,
    /// The zone of these times.
    pub zone: TimeZone,
    /// What must hold besides.
    pub conditions: Conditions,
    /// Whom they ask; nights that ask the same provider run one after the other.
    pub providers: BTreeSet<String>,
    /// Whether the computer is kept awake meanwhile.
    pub keep_awake: bool,
}

impl Schedule {
    /// As the settings of a project say.
    ///
    /// Errors: `time_zone_unknown`, `cron_invalid`, `schedule_invalid`.
    pub fn of(settings: &Settings) -> Result<Self, Problem> {
        Ok(Self {
            nightly: settings.nightly,
            rule: rule(settings)?,
            zone: zone(&settings.time_zone)?,
            conditions: conditions(settings),
            providers: Roles::providers(settings),
            keep_awake: settings.keep_awake,
        })
    }

    /// The rule in one line: when it differs from the one before, nights of the past were not missed.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let when = match &self.rule.when {
            When::Daily { time, days } => {
                let days: Vec<String> = days
                    .iter()
                    .map(|day| format!("{day:?}").to_lowercase())
                    .collect();
                format!("{} {}", time.strftime("%H:%M"), days.join(" "))
            }
            When::Cron(cron) => cron.expression().to_owned(),
        };
        format!(
            "{} {when} {}",
            if self.nightly { "nightly" } else { "never" },
            self.zone.iana_name().unwrap_or("local")
        )
    }
}

fn rule(settings: &Settings) -> Result<Rule, Problem> {
    let when = if settings.cron.is_empty() {
        When::Daily {
            time: clock_time(settings),
            days: Days::parse(&settings.days).ok_or_else(|| unreadable("schedule.days"))?,
        }
    } else {
        When::Cron(Cron::parse(&settings.cron)?)
    };
    Ok(Rule {
        when,
        delay: minutes(settings.random_delay_minutes),
        finish_by: time_of_day(&settings.finish_by),
        catch_up: minutes(settings.catch_up_hours * 60),
    })
}

/// The settings keep hour and minute in their bounds.
fn clock_time(settings: &Settings) -> Time {
    let part = |number: u32| i8::try_from(number).unwrap_or_default();
    Time::new(part(settings.hour), part(settings.minute), 0, 0).unwrap_or_default()
}

fn zone(name: &str) -> Result<TimeZone, Problem> {
    if name.is_empty() {
        return Ok(TimeZone::system());
    }
    TimeZone::get(name).map_err(|_| {
        Problem::refused(
            "time_zone_unknown",
            format!("There is no time zone \"{name}\"."),
            "Set schedule.time_zone to a name such as Europe/Paris, or leave it empty for the computer's own.",
        )
    })
}

fn unreadable(key: &str) -> Problem {
    Problem::refused(
        "schedule_invalid",
        format!("The setting {key} cannot be read."),
        format!("`skillopt config explain {key}` says what it takes."),
    )
}

fn conditions(settings: &Settings) -> Conditions {
    let above = |number: u32| (number > 0).then_some(number);
    Conditions {
        battery_at_least: above(settings.battery_at_least)
            .and_then(|percent| u8::try_from(percent).ok()),
        unmetered: settings.unmetered_only,
        idle: above(settings.idle_minutes).map(minutes),
        quiet: hours(&settings.quiet_hours),
        new_sessions: above(settings.min_new_sessions).map(u64::from),
    }
}

/// When a night that begins now must be over, if it must.
pub(crate) fn finish_at(settings: &Settings, now: Instant) -> Option<Instant> {
    let zone = zone(&settings.time_zone).unwrap_or_else(|_| TimeZone::system());
    let finish_by = time_of_day(&settings.finish_by)?;
    Some(skillopt_core::schedule::finish_at(finish_by, now, &zone))
}

fn minutes(number: u32) -> Duration {
    Duration::from_secs(u64::from(number) * 60)
}

/// One of the next nights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Upcoming {
    /// When it begins, a random delay included.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub at: Instant,
    /// As somebody in the zone of the schedule would say it now: "tomorrow 03:17, over by 07:00".
    pub words: String,
}

/// The next `count` nights; none when they do not run by themselves.
#[must_use]
pub fn upcoming(schedule: &Schedule, project: &str, now: Instant, count: usize) -> Vec<Upcoming> {
    if !schedule.nightly {
        return Vec::new();
    }
    let zone = &schedule.zone;
    let here = zone.to_datetime(now);
    schedule
        .rule
        .upcoming(now, zone, project)
        .take(count)
        .map(|Due { at, finish_by, .. }| {
            let begins = when_in_words(zone.to_datetime(at), here);
            let words = match finish_by {
                Some(end) => format!(
                    "{begins}, over by {}",
                    zone.to_datetime(end).strftime("%H:%M")
                ),
                None => begins,
            };
            Upcoming { at, words }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl FnOnce(&mut Settings)) -> Schedule {
        let mut settings = Settings {
            time_zone: "UTC".to_owned(),
            random_delay_minutes: 0,
            ..Settings::default()
        };
        change(&mut settings);
        Schedule::of(&settings).unwrap()
    }

    fn words(schedule: &Schedule) -> Vec<String> {
        // A Monday.
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        let nights = upcoming(schedule, "p", now, 3);
        nights.into_iter().map(|night| night.words).collect()
    }

    #[test]
    fn the_next_nights_are_told_in_words() {
        assert_eq!(
            words(&of(|_| {})),
            ["tomorrow 03:17", "Wednesday 03:17", "Thursday 03:17"]
        );
        assert_eq!(
            words(&of(|settings| {
                settings.days = "mon, sat".to_owned();
                settings.hour = 23;
                settings.finish_by = "6:30".to_owned();
            })),
            [
                "today 23:17, over by 06:30",
                "Saturday 23:17, over by 06:30",
                "Mon 7 Dec 23:17, over by 06:30"
            ]
        );
        assert_eq!(
            words(&of(|settings| settings.cron = "0 22 1 * *".to_owned())),
            ["tomorrow 22:00", "Fri 1 Jan 22:00", "Mon 1 Feb 22:00"]
        );
        assert_eq!(
            words(&of(|settings| settings.time_zone = "Asia/Tokyo".to_owned())),
            ["tomorrow 03:17", "Wednesday 03:17", "Thursday 03:17"]
        );
        assert!(words(&of(|settings| settings.nightly = false)).is_empty());
    }

    #[test]
    fn a_night_is_over_when_the_clocks_of_its_zone_say_so() {
        let now = "2026-11-29T20:00:00Z".parse().unwrap();
        let end = |zone: &str, time: &str| {
            let settings = Settings {
                time_zone: zone.to_owned(),
                finish_by: time.to_owned(),
                ..Settings::default()
            };
            finish_at(&settings, now).map(|end| end.to_string())
        };
        assert_eq!(end("UTC", ""), None);
        assert_eq!(end("UTC", "7:00").as_deref(), Some("2026-11-30T07:00:00Z"));
        // There it is five in the morning.
        assert_eq!(
            end("Asia/Tokyo", "7:00").as_deref(),
            Some("2026-11-29T22:00:00Z")
        );
        assert_eq!(
            end("Asia/Tokyo", "05:00").as_deref(),
            Some("2026-11-30T20:00:00Z")
        );
    }

    #[test]
    fn a_zone_that_does_not_exist_is_said() {
        let settings = Settings {
            time_zone: "Europe/Nowhere".to_owned(),
            ..Settings::default()
        };
        let problem = Schedule::of(&settings).unwrap_err();
        assert_eq!(problem.code, "time_zone_unknown");
        assert!(problem.message.contains("Europe/Nowhere"));
    }

    #[test]
    fn what_asks_for_nothing_is_no_condition() {
        let schedule = of(|settings| {
            settings.battery_at_least = 0;
            settings.unmetered_only = false;
        });
        assert_eq!(schedule.conditions, Conditions::default());
        let schedule = of(|settings| {
            settings.battery_at_least = 100;
            settings.idle_minutes = 5;
            settings.quiet_hours = "9:00-17:00".to_owned();
            settings.min_new_sessions = 3;
        });
        assert_eq!(schedule.conditions.battery_at_least, Some(100));
        assert_eq!(schedule.conditions.idle, Some(Duration::from_secs(300)));
        assert!(schedule.conditions.quiet.is_some() && schedule.conditions.unmetered);
        assert_eq!(schedule.conditions.new_sessions, Some(3));
    }

    #[test]
    fn nights_of_one_provider_are_known_by_its_name_and_address() {
        let one = of(|settings| settings.backend = "codex".to_owned()).providers;
        assert_eq!(one, BTreeSet::from(["codex".to_owned()]));
        let two = of(|settings| {
            settings.backend = "openai_compatible".to_owned();
            settings.endpoint = "http://localhost:8080/v1".to_owned();
            settings.optimizer_backend = "claude".to_owned();
        })
        .providers;
        assert!(two.contains("openai_compatible http://localhost:8080/v1"));
        assert_eq!(two.len(), 2);
        // Two nights that have nothing in common but who judges.
        let judged = |backend: &str| {
            of(|settings| {
                settings.backend = backend.to_owned();
                settings.judge_backend = "codex".to_owned();
            })
            .providers
        };
        let common: Vec<_> = judged("claude")
            .intersection(&judged("qwen"))
            .cloned()
            .collect();
        assert_eq!(common, ["codex"]);
    }

    #[test]
    fn another_time_is_another_rule_and_another_delay_is_not() {
        let one = of(|_| {}).fingerprint();
        assert_eq!(
            one,
            of(|settings| settings.random_delay_minutes = 9).fingerprint()
        );
        for other in [
            of(|settings| settings.hour = 4),
            of(|settings| settings.days = "mon".to_owned()),
            of(|settings| settings.cron = "17 3 * * *".to_owned()),
            of(|settings| settings.time_zone = "Europe/Paris".to_owned()),
            of(|settings| settings.nightly = false),
        ] {
            assert_ne!(one, other.fingerprint());
        }
    }
}
