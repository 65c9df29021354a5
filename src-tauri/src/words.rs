//! Every word that tray and notifications show, by language. The window has its own in `ui`.

use std::collections::BTreeMap;

use jiff::ZonedDateTime;
use skillopt_app::supervisor::{self, FirstLine, Last, Why};
use skillopt_app::types::{Language, Outcome, Wait};

const ENGLISH: &str = include_str!("../strings/en.json");
const CHINESE: &str = include_str!("../strings/zh-CN.json");

/// The words of one language.
#[derive(Debug, Clone)]
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    /// The language of the session: Chinese where it is asked for, else English.
    pub(crate) fn of_the_session() -> Self {
        Self::in_language(&language())
    }

    /// The language that `desktop.language` names.
    pub(crate) fn chosen(language: Language) -> Self {
        match language {
            Language::System => Self::of_the_session(),
            Language::English | Language::Chinese => Self::in_language(language.id()),
        }
    }

    fn in_language(language: &str) -> Self {
        let text = if is_chinese(language) {
            CHINESE
        } else {
            ENGLISH
        };
        // A test reads both.
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// The words called `name`.
    pub(crate) fn say(&self, name: &str) -> String {
        self.0
            .get(name)
            .map_or_else(|| name.to_owned(), Clone::clone)
    }

    /// The words called `name` with their places filled; what is filled in is not looked at again.
    pub(crate) fn fill(&self, name: &str, values: &[(&str, &str)]) -> String {
        let text = self.say(name);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, place)) = rest.split_once('{') {
            out.push_str(before);
            let Some((key, after)) = place.split_once('}') else {
                out.push('{');
                rest = place;
                continue;
            };
            out.push_str(
                values
                    .iter()
                    .find(|(name, _)| *name == key)
                    .map_or("", |(_, value)| value),
            );
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// `one` for 1, else `many`.
    pub(crate) fn count(&self, one: &str, many: &str, key: &str, count: usize) -> String {
        if count == 1 {
            self.say(one)
        } else {
            self.fill(many, &[(key, &count.to_string())])
        }
    }

    /// A time that is left: "25 min", "2 h 5 min".
    fn left(&self, seconds: u64) -> String {
        let minutes = supervisor::minutes_left(seconds);
        let (hours, rest) = ((minutes / 60).to_string(), (minutes % 60).to_string());
        match minutes {
            ..60 => self.fill("left_minutes", &[("minutes", &rest)]),
            _ => self.fill("left_hours", &[("hours", &hours), ("minutes", &rest)]),
        }
    }

    /// The first line of the menu. Reasons of the engine are in its own words.
    pub(crate) fn first_line(&self, line: &FirstLine, now: &ZonedDateTime) -> String {
        match line {
            FirstLine::Working {
                project,
                nights,
                seconds_left,
            } => {
                let nights = match nights {
                    1 => self.fill("line_working_one", &[("project", project)]),
                    nights => self.fill("line_working_many", &[("nights", &nights.to_string())]),
                };
                match seconds_left {
                    Some(seconds) => self.fill(
                        "line_left",
                        &[("nights", &nights), ("left", &self.left(*seconds))],
                    ),
                    None => nights,
                }
            }
            FirstLine::Trouble { reason } => reason.clone(),
            FirstLine::Attention {
                project,
                failures,
                reason,
            } if *failures >= supervisor::ATTENTION_AFTER => self.fill(
                "line_failures",
                &[
                    ("project", project),
                    ("failures", &failures.to_string()),
                    ("reason", reason),
                ],
            ),
            FirstLine::Attention {
                project, reason, ..
            } => self.fill(
                "line_attention",
                &[("project", project), ("reason", reason)],
            ),
            FirstLine::Paused { until: None } => self.say("line_paused_for_ever"),
            FirstLine::Paused { until: Some(until) } => {
                self.fill("line_paused_until", &[("time", &self.time(*until, now))])
            }
            FirstLine::Proposals { count } => {
                self.count("line_proposals_one", "line_proposals_many", "count", *count)
            }
            FirstLine::Answers { project } => self.fill("line_answers", &[("project", project)]),
            FirstLine::Waiting { project, reason } => self.fill(
                "line_waiting",
                &[("project", project), ("reason", &self.why(reason, now))],
            ),
            FirstLine::Next { at, projects } => {
                let time = self.time(*at, now);
                let name = if *projects == 1 {
                    "line_next_one"
                } else {
                    "line_next_many"
                };
                self.fill(
                    name,
                    &[("time", &time), ("projects", &projects.to_string())],
                )
            }
            FirstLine::Nothing => self.say("line_nothing"),
        }
    }

    /// Why a night waits. What only the engine knows is left out where it would be in another language.
    fn why(&self, why: &Why, now: &ZonedDateTime) -> String {
        match why {
            Why::Condition(Wait::Power) => self.say("why_power"),
            Why::Condition(Wait::UnmeteredNetwork) => self.say("why_network"),
            Why::Condition(Wait::Idle) => self.say("why_idle"),
            Why::Condition(Wait::QuietHours) => self.say("why_quiet_hours"),
            Why::Condition(Wait::Sessions { have, want }) => self.fill(
                "why_sessions",
                &[("have", &have.to_string()), ("want", &want.to_string())],
            ),
            Why::Provider { busy } => self.fill("why_provider", &[("project", busy)]),
            Why::Busy { holder } => self.fill("why_busy", &[("holder", holder)]),
            Why::PutOff { until, reason } => self.fill(
                "why_put_off",
                &[
                    ("time", &self.time(*until, now)),
                    ("reason", reason.trim_end_matches('.')),
                ],
            ),
            Why::FolderMissing => self.say("why_folder_missing"),
            Why::NobodySupervises => self.say("why_nobody"),
        }
    }

    /// How the last night ended; `project` is named where there are several.
    pub(crate) fn last_line(
        &self,
        last: &Last,
        project: Option<&str>,
        now: &ZonedDateTime,
    ) -> String {
        let outcome = self.say(match last.outcome {
            Outcome::Proposed => "outcome_proposed",
            Outcome::NotImproved => "outcome_not_improved",
            Outcome::Inconclusive => "outcome_inconclusive",
            Outcome::NothingToDo => "outcome_nothing_to_do",
            Outcome::WaitingForAnswers => "outcome_waiting_for_answers",
            Outcome::Deferred => "outcome_deferred",
            Outcome::Interrupted => "outcome_interrupted",
            Outcome::Failed => "outcome_failed",
        });
        let outcome = match project {
            Some(project) => self.fill("last_of", &[("project", project), ("outcome", &outcome)]),
            None => outcome,
        };
        match last.ended_at {
            Some(at) => {
                let time = self.past(at, now);
                self.fill("last_at", &[("outcome", &outcome), ("time", &time)])
            }
            None => self.fill("last", &[("outcome", &outcome)]),
        }
    }

    /// A time that is over: the hour, and the day unless it is today.
    fn past(&self, at: jiff::Timestamp, now: &ZonedDateTime) -> String {
        let at = at.to_zoned_datetime(now.time_zone().clone());
        let hour = at.strftime("%H:%M").to_string();
        if at.date() == now.date() {
            hour
        } else if now
            .date()
            .yesterday()
            .is_ok_and(|yesterday| at.date() == yesterday)
        {
            self.fill("yesterday", &[("time", &hour)])
        } else {
            at.strftime("%Y-%m-%d %H:%M").to_string()
        }
    }

    /// A time near now: the hour, and the day unless it is today.
    fn time(&self, at: jiff::Timestamp, now: &ZonedDateTime) -> String {
        let at = at.to_zoned_datetime(now.time_zone().clone());
        let hour = at.strftime("%H:%M").to_string();
        if at.date() == now.date() {
            self.fill("today", &[("time", &hour)])
        } else if now
            .date()
            .tomorrow()
            .is_ok_and(|tomorrow| at.date() == tomorrow)
        {
            self.fill("tomorrow", &[("time", &hour)])
        } else {
            at.strftime("%Y-%m-%d %H:%M").to_string()
        }
    }
}

/// The language of the session, for pages: their web views ask the system in ways of their own, which differ
/// from this one. `None` where sessions do not say it like this, and the web view knows better.
pub(crate) fn spoken() -> Option<&'static str> {
    let said = language();
    if said.is_empty() && !cfg!(target_os = "linux") {
        return None;
    }
    Some(if is_chinese(&said) { "zh" } else { "en" })
}

fn is_chinese(language: &str) -> bool {
    language.to_ascii_lowercase().starts_with("zh")
}

/// The language as POSIX sessions say it.
fn language() -> String {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use skillopt_tests::checkout::{files, read, root};

    use super::*;

    fn places(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> = text
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split('}').next())
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_night_at_work_says_how_long_it_still_takes() {
        let line = |locale: &str, seconds_left| {
            let working = FirstLine::Working {
                project: "p".to_owned(),
                nights: 1,
                seconds_left,
            };
            Words::in_language(locale).first_line(&working, &ZonedDateTime::now())
        };
        assert_eq!(line("en", None), "A night of p is running");
        assert_eq!(
            line("en", Some(1_210)),
            "A night of p is running, at most about 25 min left"
        );
        assert!(line("en", Some(8_000)).ends_with("about 2 h 15 min left"));
        assert!(line("zh_CN", Some(8_000)).ends_with("2 小时 15 分钟"));
    }

    #[test]
    fn both_languages_say_the_same_things() {
        let (english, chinese) = (
            Words::in_language("en_GB.UTF-8"),
            Words::in_language("zh_CN.UTF-8"),
        );
        assert!(english.0.len() > 40);
        assert_eq!(
            english.0.keys().collect::<Vec<_>>(),
            chinese.0.keys().collect::<Vec<_>>()
        );
        for (name, text) in &english.0 {
            let mut expected = places(text);
            // What the engine says of these is English.
            if ["why_busy", "why_put_off"].contains(&name.as_str()) {
                expected.retain(|place| !["holder", "reason"].contains(place));
            }
            assert_eq!(expected, places(&chinese.0[name]), "{name}");
        }
    }

    #[test]
    fn a_night_is_called_the_same_in_tray_and_windows() {
        let windows = root().join("ui/src/lib/strings");
        let texts: Vec<String> = files(&windows, "ts")
            .iter()
            .map(|file| read(file))
            .collect();
        assert!(
            texts
                .iter()
                .filter(|text| text.contains("夜间运行"))
                .count()
                > 3
        );
        for text in texts.iter().map(String::as_str).chain([CHINESE]) {
            assert!(!text.contains("夜间任务"), "{text}");
        }
        assert!(CHINESE.contains("夜间运行"));
    }

    #[test]
    fn what_a_night_waits_for_is_said_in_one_language() {
        let now: ZonedDateTime = "2026-11-30T22:00:00+08:00[Asia/Shanghai]".parse().unwrap();
        let every = [
            Why::Condition(Wait::Power),
            Why::Condition(Wait::UnmeteredNetwork),
            Why::Condition(Wait::Idle),
            Why::Condition(Wait::QuietHours),
            Why::Condition(Wait::Sessions { have: 1, want: 3 }),
            Why::Provider {
                busy: "商店".into(),
            },
            Why::Busy {
                holder: "skillopt, process 7".into(),
            },
            Why::PutOff {
                until: "2026-11-30T16:00:00Z".parse().unwrap(),
                reason: "Codex allows no more.".into(),
            },
            Why::FolderMissing,
            Why::NobodySupervises,
        ];
        let (english, chinese) = (Words::in_language("en"), Words::in_language("zh_CN"));
        for reason in every {
            let line = FirstLine::Waiting {
                project: "商店".into(),
                reason: reason.clone(),
            };
            let said = chinese.first_line(&line, &now);
            assert!(said.starts_with("商店"), "{said}");
            assert!(!said.contains(|c: char| c.is_ascii_alphabetic()), "{said}");
            // The same as every other process says it.
            let sentence = line.sentence(now.timestamp(), now.time_zone());
            assert_eq!(english.first_line(&line, &now), sentence);
        }
    }

    #[test]
    fn the_last_result_is_told_with_its_time() {
        let now: ZonedDateTime = "2026-11-30T08:00:00+01:00[Europe/Paris]".parse().unwrap();
        let last = |outcome, ended_at: Option<&str>| Last {
            night: Some(1),
            outcome,
            reason: String::new(),
            needs: None,
            refused_answer: None,
            ended_at: ended_at.map(|at| at.parse().unwrap()),
            caught_up_for: None,
        };
        let words = Words::in_language("en");
        for (outcome, at, project, expected) in [
            (
                Outcome::NotImproved,
                Some("2026-11-30T02:31:00Z"),
                None,
                "Last: No edit helped, 03:31",
            ),
            (
                Outcome::Proposed,
                Some("2026-11-29T02:31:00Z"),
                Some("shop"),
                "Last: shop: Improved, yesterday 03:31",
            ),
            (
                Outcome::Failed,
                Some("2026-11-20T02:31:00Z"),
                None,
                "Last: Failed, 2026-11-20 03:31",
            ),
            (Outcome::Failed, None, None, "Last: Failed"),
        ] {
            assert_eq!(words.last_line(&last(outcome, at), project, &now), expected);
        }
    }

    #[test]
    fn the_setting_decides_the_language() {
        assert_eq!(Words::chosen(Language::English).say("quit"), "Quit");
        assert_eq!(Words::chosen(Language::Chinese).say("quit"), "退出");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let words = Words::in_language("C");
        assert_eq!(
            words.fill(
                "line_attention",
                &[("project", "{reason}"), ("reason", "no")]
            ),
            "{reason}: no"
        );
    }

    #[test]
    fn times_are_told_from_where_one_is() {
        let words = Words::in_language("en");
        let now: ZonedDateTime = "2026-11-30T22:00:00+01:00[Europe/Paris]".parse().unwrap();
        let line = |at: &str| {
            words.first_line(
                &FirstLine::Next {
                    at: at.parse().unwrap(),
                    projects: 2,
                },
                &now,
            )
        };
        assert_eq!(
            line("2026-11-30T22:10:00Z"),
            "Next: today 23:10 (2 projects)"
        );
        assert_eq!(
            line("2026-12-01T02:10:00Z"),
            "Next: tomorrow 03:10 (2 projects)"
        );
        assert_eq!(
            line("2026-12-03T02:10:00Z"),
            "Next: 2026-12-03 03:10 (2 projects)"
        );
    }
}
