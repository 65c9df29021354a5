use jiff::civil::time;
use jiff::tz::TimeZone;

use super::*;

fn zone(posix: &str) -> TimeZone {
    TimeZone::posix(posix).unwrap()
}

/// Central European Time with its change of clocks: 2026-03-29 and 2026-10-25.
fn paris() -> TimeZone {
    zone("CET-1CEST,M3.5.0,M10.5.0/3")
}

fn new_york() -> TimeZone {
    zone("EST5EDT,M3.2.0,M11.1.0")
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn slot(text: &str) -> DateTime {
    text.parse().unwrap()
}

fn daily(hour: i8, minute: i8) -> Rule {
    Rule {
        when: When::Daily {
            time: time(hour, minute, 0, 0),
            days: Days::ALL,
        },
        delay: Duration::ZERO,
        finish_by: None,
        catch_up: Duration::from_secs(24 * 3600),
    }
}

fn instants(rule: &Rule, from: &str, zone: &TimeZone, count: usize) -> Vec<String> {
    rule.upcoming(at(from), zone, "p")
        .take(count)
        .map(|due| due.at.to_string())
        .collect()
}

/// Lives through some days minute by minute and completes each night at once. Gives `(slot, instant)`.
fn live(
    rule: &Rule,
    zone: &TimeZone,
    from: &str,
    hours: i64,
    mut completed: Option<DateTime>,
) -> Vec<(String, String)> {
    let mut ran = Vec::new();
    for minute in 0..hours * 60 {
        let now = at(from) + SignedDuration::from_mins(minute);
        if let Decision::Run { due, .. } = rule.decide(now, zone, "p", completed, Instant::MIN) {
            completed = Some(due.slot);
            ran.push((due.slot.to_string(), now.to_string()));
        }
    }
    ran
}

#[test]
fn a_time_that_the_clocks_skip_is_moved_and_one_shown_twice_runs_once() {
    let rule = daily(2, 30);
    // Local 02:30 is 01:30 UTC in winter and 00:30 UTC in summer; on 03-29 it is skipped at 01:00 UTC.
    assert_eq!(
        instants(&rule, "2026-03-27T12:00:00Z", &paris(), 3),
        [
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:30:00Z"
        ]
    );
    assert_eq!(
        instants(&rule, "2026-10-24T12:00:00Z", &paris(), 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    for (from, expected) in [
        (
            "2026-03-28T12:00:00Z",
            vec!["2026-03-29T02:30:00", "2026-03-30T02:30:00"],
        ),
        (
            "2026-10-24T12:00:00Z",
            vec!["2026-10-25T02:30:00", "2026-10-26T02:30:00"],
        ),
    ] {
        let yesterday = slot(from.trim_end_matches('Z'))
            .date()
            .to_datetime(time(2, 30, 0, 0));
        let ran = live(&rule, &paris(), from, 48, Some(yesterday));
        let slots: Vec<&str> = ran.iter().map(|(slot, _)| slot.as_str()).collect();
        assert_eq!(slots, expected);
    }
}

#[test]
fn a_journey_repeats_no_local_date() {
    let rule = daily(3, 0);
    let ran = live(&rule, &paris(), "2026-06-10T00:00:00Z", 6, None);
    assert_eq!(
        ran.last().map(|(slot, _)| slot.as_str()),
        Some("2026-06-10T03:00:00")
    );
    // The same day in New York: its 3 o'clock comes six hours later.
    let ran = live(
        &rule,
        &new_york(),
        "2026-06-10T06:00:00Z",
        30,
        Some(slot("2026-06-10T03:00:00")),
    );
    assert_eq!(
        ran,
        [(
            "2026-06-11T03:00:00".to_owned(),
            "2026-06-11T07:00:00Z".to_owned()
        )]
    );
}

#[test]
fn a_missed_night_is_caught_up_once_and_not_when_it_is_too_old() {
    let rule = daily(3, 0);
    let zone = TimeZone::UTC;
    let completed = Some(slot("2026-05-01T03:00:00"));
    // Asleep for three days: one night, the last one.
    let woke = at("2026-05-04T09:00:00Z");
    let Decision::Run { due, caught_up } = rule.decide(woke, &zone, "p", completed, Instant::MIN)
    else {
        panic!("a night is due");
    };
    assert_eq!(due.slot, slot("2026-05-04T03:00:00"));
    assert!(caught_up);
    assert_eq!(
        rule.decide(woke, &zone, "p", Some(due.slot), Instant::MIN),
        Decision::Sleep(rule.next(woke, &zone, "p").unwrap())
    );

    let impatient = Rule {
        catch_up: Duration::from_secs(3600),
        ..daily(3, 0)
    };
    let Decision::Sleep(next) = impatient.decide(woke, &zone, "p", completed, Instant::MIN) else {
        panic!("too late for the night of 3 o'clock");
    };
    assert_eq!(next.slot, slot("2026-05-05T03:00:00"));
    // On time is not caught up.
    let Decision::Run { caught_up, .. } = rule.decide(
        at("2026-05-04T03:01:00Z"),
        &zone,
        "p",
        completed,
        Instant::MIN,
    ) else {
        panic!("a night is due");
    };
    assert!(!caught_up);
}

#[test]
fn a_clock_that_is_set_back_runs_no_night_again() {
    let rule = daily(3, 0);
    let zone = TimeZone::UTC;
    let completed = Some(slot("2026-05-04T03:00:00"));
    let Decision::Sleep(next) = rule.decide(
        at("2026-05-04T02:30:00Z"),
        &zone,
        "p",
        completed,
        Instant::MIN,
    ) else {
        panic!("that night is over");
    };
    assert_eq!(next.slot, slot("2026-05-05T03:00:00"));
}

#[test]
fn only_the_days_that_were_chosen() {
    let rule = Rule {
        when: When::Daily {
            time: time(3, 0, 0, 0),
            days: Days::of(&[Weekday::Monday, Weekday::Thursday]),
        },
        ..daily(3, 0)
    };
    assert_eq!(
        instants(&rule, "2026-11-29T12:00:00Z", &TimeZone::UTC, 3),
        [
            "2026-11-30T03:00:00Z",
            "2026-12-03T03:00:00Z",
            "2026-12-07T03:00:00Z"
        ]
    );
    let never = Rule {
        when: When::Daily {
            time: time(3, 0, 0, 0),
            days: Days::of(&[]),
        },
        ..daily(3, 0)
    };
    let now = at("2026-11-29T12:00:00Z");
    assert_eq!(
        never.decide(now, &TimeZone::UTC, "p", None, Instant::MIN),
        Decision::Never
    );
}

#[test]
fn the_delay_is_drawn_once_and_spreads_projects() {
    let rule = Rule {
        delay: Duration::from_secs(30 * 60),
        ..daily(3, 0)
    };
    let now = at("2026-11-29T12:00:00Z");
    let planned = at("2026-11-30T03:00:00Z");
    let delays: std::collections::BTreeSet<i64> = (0..50)
        .map(|number| {
            let project = format!("project {number}");
            let due = rule.next(now, &TimeZone::UTC, &project).unwrap();
            assert_eq!(rule.next(now, &TimeZone::UTC, &project), Some(due.clone()));
            due.at.duration_since(planned).as_secs()
        })
        .collect();
    assert!(delays.len() > 30, "{delays:?}");
    assert!(delays.iter().all(|delay| (0..=1800).contains(delay)));
    // Between its time and its delayed beginning the night is neither due nor lost.
    for project in ["a", "b", "c", "d"] {
        let due = rule.next(now, &TimeZone::UTC, project).unwrap();
        let before = due.at - SignedDuration::from_secs(1);
        assert_eq!(
            rule.decide(
                before,
                &TimeZone::UTC,
                project,
                Some(slot("2026-11-29T03:00:00")),
                Instant::MIN
            ),
            Decision::Sleep(due.clone())
        );
        assert!(matches!(
            rule.decide(due.at, &TimeZone::UTC, project, Some(slot("2026-11-29T03:00:00")), Instant::MIN),
            Decision::Run { due: run, .. } if run == due
        ));
    }
}

#[test]
fn finish_by_is_the_next_time_of_that_name() {
    let rule = |hour| Rule {
        finish_by: Some(time(7, 0, 0, 0)),
        ..daily(hour, 0)
    };
    let now = at("2026-11-29T12:00:00Z");
    let end = |hour| {
        rule(hour)
            .next(now, &TimeZone::UTC, "p")
            .and_then(|due| due.finish_by)
            .map(|end| end.to_string())
    };
    assert_eq!(end(3).as_deref(), Some("2026-11-30T07:00:00Z"));
    assert_eq!(end(22).as_deref(), Some("2026-11-30T07:00:00Z"));
    // Caught up after its end, a night has none.
    let Decision::Run { due, caught_up } = rule(3).decide(
        at("2026-11-30T09:00:00Z"),
        &TimeZone::UTC,
        "p",
        None,
        Instant::MIN,
    ) else {
        panic!("a night is due");
    };
    assert_eq!((due.finish_by, caught_up), (None, true));
}

fn planned(expression: &str) -> Rule {
    Rule {
        when: When::Cron(Cron::parse(expression).unwrap()),
        ..daily(0, 0)
    }
}

#[test]
fn a_cron_plan_keeps_its_local_times_when_clocks_change_and_on_journeys() {
    // Expression, zone, from, hours, the last that ran; local times that run, and when in UTC.
    type Row<'a> = (
        &'a str,
        TimeZone,
        &'a str,
        i64,
        &'a str,
        &'a [(&'a str, &'a str)],
    );
    let rows: &[Row<'_>] = &[
        // 02:30 is skipped on 03-29 at 01:00 UTC: the night begins then.
        (
            "30 2 * * *",
            paris(),
            "2026-03-28T12:00:00Z",
            48,
            "2026-03-28T02:30:00",
            &[
                ("2026-03-29T02:30:00", "2026-03-29T01:00:00Z"),
                ("2026-03-30T02:30:00", "2026-03-30T00:30:00Z"),
            ],
        ),
        // 02:30 is shown twice on 10-25: the first one counts.
        (
            "30 2 * * *",
            paris(),
            "2026-10-24T12:00:00Z",
            48,
            "2026-10-24T02:30:00",
            &[
                ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
                ("2026-10-26T02:30:00", "2026-10-26T01:30:00Z"),
            ],
        ),
        // Every hour over the skipped one: it begins with the next, and no time runs twice.
        (
            "0 1-4 * * *",
            paris(),
            "2026-03-28T23:30:00Z",
            5,
            "2026-03-28T04:00:00",
            &[
                ("2026-03-29T01:00:00", "2026-03-29T00:00:00Z"),
                ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
                ("2026-03-29T04:00:00", "2026-03-29T02:00:00Z"),
            ],
        ),
        // Every hour over the one that is shown twice.
        (
            "0 1-4 * * *",
            paris(),
            "2026-10-24T22:30:00Z",
            6,
            "2026-10-24T04:00:00",
            &[
                ("2026-10-25T01:00:00", "2026-10-24T23:00:00Z"),
                ("2026-10-25T02:00:00", "2026-10-25T00:00:00Z"),
                ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
                ("2026-10-25T04:00:00", "2026-10-25T03:00:00Z"),
            ],
        ),
        // Sundays: both names of the day, and it is the local one.
        (
            "30 23 * * 7",
            new_york(),
            "2026-06-12T12:00:00Z",
            96,
            "2026-06-07T23:30:00",
            &[("2026-06-14T23:30:00", "2026-06-15T03:30:00Z")],
        ),
        // Westwards after the night of the day: its time comes again there, and does not run again.
        (
            "0 3 * * *",
            new_york(),
            "2026-06-10T06:00:00Z",
            30,
            "2026-06-10T03:00:00",
            &[("2026-06-11T03:00:00", "2026-06-11T07:00:00Z")],
        ),
        // Eastwards over the time of the night: it is caught up on arrival.
        (
            "0 3 * * *",
            paris(),
            "2026-06-10T05:00:00Z",
            10,
            "2026-06-09T03:00:00",
            &[("2026-06-10T03:00:00", "2026-06-10T05:00:00Z")],
        ),
    ];
    for (expression, zone, from, hours, completed, expected) in rows {
        let ran = live(
            &planned(expression),
            zone,
            from,
            *hours,
            Some(slot(completed)),
        );
        let ran: Vec<(&str, &str)> = ran
            .iter()
            .map(|(slot, at)| (slot.as_str(), at.as_str()))
            .collect();
        assert_eq!(&ran, expected, "{expression} from {from}");
    }
}

#[test]
fn a_cron_plan_may_have_several_nights_a_day() {
    let ran = live(
        &planned("0 1,13 * * *"),
        &TimeZone::UTC,
        "2026-11-29T00:30:00Z",
        24,
        Some(slot("2026-11-28T13:00:00")),
    );
    let slots: Vec<&str> = ran.iter().map(|(slot, _)| slot.as_str()).collect();
    assert_eq!(slots, ["2026-11-29T01:00:00", "2026-11-29T13:00:00"]);
}

#[test]
fn sleeping_for_nine_hours_or_nine_days_catches_up_one_night() {
    let zone = TimeZone::UTC;
    let rule = daily(3, 0);
    for (slept, hours) in [
        ("2026-05-04T02:00:00Z", 9),
        ("2026-05-04T02:00:00Z", 9 * 24 + 9),
    ] {
        let woke = at(slept) + SignedDuration::from_hours(hours);
        let mut completed = Some(slot("2026-05-03T03:00:00"));
        let mut ran = Vec::new();
        // The minutes after waking up.
        for minute in 0..180 {
            let now = woke + SignedDuration::from_mins(minute);
            if let Decision::Run { due, caught_up } =
                rule.decide(now, &zone, "p", completed, Instant::MIN)
            {
                assert!(caught_up);
                completed = Some(due.slot);
                ran.push(due.slot);
            }
        }
        let last = zone.to_datetime(woke).date().to_datetime(time(3, 0, 0, 0));
        assert_eq!(ran, [last], "{hours} hours");
    }
}

#[test]
fn a_rule_that_is_new_has_missed_nothing() {
    let rule = daily(3, 0);
    let zone = TimeZone::UTC;
    let now = at("2026-05-04T10:00:00Z");
    // It was set at nine, six hours after its time of today.
    let Decision::Sleep(next) = rule.decide(now, &zone, "p", None, at("2026-05-04T09:00:00Z"))
    else {
        panic!("nothing was missed");
    };
    assert_eq!(next.slot, slot("2026-05-05T03:00:00"));
    // It was set before.
    assert!(matches!(
        rule.decide(now, &zone, "p", None, at("2026-05-04T02:00:00Z")),
        Decision::Run {
            caught_up: true,
            ..
        }
    ));
}

#[test]
fn a_night_of_a_clock_that_ran_years_ahead_stops_no_other() {
    let rule = daily(3, 0);
    let zone = TimeZone::UTC;
    let now = at("2026-05-04T03:00:00Z");
    let wrong = Some(slot("2031-01-01T03:00:00"));
    assert!(matches!(
        rule.decide(now, &zone, "p", wrong, Instant::MIN),
        Decision::Run { .. }
    ));
    // A journey over the date line is no wrong clock.
    let ahead = Some(slot("2026-05-05T03:00:00"));
    assert!(matches!(
        rule.decide(now, &zone, "p", ahead, Instant::MIN),
        Decision::Sleep(_)
    ));
}

#[test]
fn without_catching_up_only_a_night_on_time_runs() {
    let rule = Rule {
        catch_up: Duration::ZERO,
        ..daily(3, 0)
    };
    let zone = TimeZone::UTC;
    let decide = |now: &str| rule.decide(at(now), &zone, "p", None, Instant::MIN);
    assert!(matches!(
        decide("2026-05-04T03:10:00Z"),
        Decision::Run {
            caught_up: false,
            ..
        }
    ));
    assert!(matches!(decide("2026-05-04T03:20:00Z"), Decision::Sleep(_)));
}

#[test]
fn a_delay_that_is_longer_than_the_plan_loses_no_night() {
    let rule = Rule {
        when: When::Cron(Cron::parse("*/10 * * * *").unwrap()),
        delay: Duration::from_secs(40 * 60),
        ..daily(0, 0)
    };
    // Each night that begins is later than the one before, and the last of each hour does begin.
    let ran = live(
        &rule,
        &TimeZone::UTC,
        "2026-11-29T00:00:00Z",
        6,
        Some(slot("2026-11-28T23:50:00")),
    );
    assert!(ran.is_sorted(), "{ran:?}");
    assert!(ran.len() >= 6, "{ran:?}");
}

#[test]
fn another_scheduler_names_the_latest_night_of_the_last_day() {
    let rule = daily(3, 0);
    let zone = TimeZone::UTC;
    assert_eq!(
        rule.slot_at(at("2026-05-04T03:00:00Z"), &zone),
        Some(slot("2026-05-04T03:00:00"))
    );
    assert_eq!(
        rule.slot_at(at("2026-05-04T02:59:00Z"), &zone),
        Some(slot("2026-05-03T03:00:00"))
    );
    let mondays = Rule {
        when: When::Daily {
            time: time(3, 0, 0, 0),
            days: Days::of(&[Weekday::Monday]),
        },
        ..daily(3, 0)
    };
    assert_eq!(mondays.slot_at(at("2026-05-06T03:00:00Z"), &zone), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]

    /// Whatever the zone, the rule and the delay: minute by minute over two weeks with changes of the
    /// clocks, each local date has one night, and none begins before its time.
    #[test]
    fn every_local_date_has_one_night(
        hour in 0_i8..24, minute in 0_i8..60, delay in 0_u64..90, start in 0_i64..350, here in 0_usize..4,
    ) {
        let zone = [paris(), new_york(), zone("IST-5:30"), zone("LHST-10:30LHDT-11,M10.1.0,M4.1.0")][here].clone();
        let rule = Rule { delay: Duration::from_secs(delay * 60), ..daily(hour, minute) };
        let from = at("2026-01-01T00:00:00Z") + SignedDuration::from_hours(24 * start);
        let mut completed = Some(zone.to_datetime(from).saturating_sub(1.day()));
        let mut dates = Vec::new();
        // Ticks of seven minutes, as a busy machine has them.
        for tick in 0..(14 * 24 * 60 / 7) {
            let now = from + SignedDuration::from_mins(tick * 7);
            if let Decision::Run { due, .. } = rule.decide(now, &zone, "p", completed, Instant::MIN) {
                proptest::prop_assert!(due.at <= now);
                completed = Some(due.slot);
                dates.push(due.slot.date());
            }
        }
        proptest::prop_assert!(dates.windows(2).all(|pair| pair[0].tomorrow().ok() == Some(pair[1])), "{dates:?}");
        proptest::prop_assert!(dates.len() >= 13, "{dates:?}");
    }
}
