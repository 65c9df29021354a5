//! What happened in a session, in the order of its file; and what a digest makes of it (§1.1).

use std::collections::BTreeSet;

use skillopt_core::Instant;
use skillopt_core::feedback::Happened;
use skillopt_transcripts::Session;

use crate::difference::Difference::{
    Copies, EveryTurn, OneAnswer, TimesOfTurns, Unasked, WhereTyped,
};
use crate::difference::Rules;
use crate::words::{Whole, kept, no_persons, signals};

/// A folder and the branch in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: String,
    pub(crate) branch: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Item {
    Prompt {
        id: String,
        at: String,
        text: String,
        place: Place,
    },
    /// A command or a program set the agent to work.
    Program,
    Said {
        id: String,
        at: String,
        text: String,
    },
    Tool(String),
    Skill(String),
    File(String),
    /// A signal that no words gave.
    Signal(&'static str),
    /// What the agent does now answers nobody, and nothing of it counts.
    Nobodys,
}

/// Which filters the reference applies to the sessions of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Filters {
    #[default]
    None,
    /// That of headless replays.
    Headless,
    /// That of agents' sessions as well.
    Both,
}

/// One file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    pub(crate) session: String,
    pub(crate) items: Vec<Item>,
    /// Times of the first and of the last record.
    pub(crate) first: String,
    pub(crate) last: String,
    /// The first folder and the first branch that are named.
    pub(crate) place: Place,
    /// It holds records of another session.
    pub(crate) copied: bool,
    pub(crate) headless: bool,
    /// An agent whose words the reference redacts.
    pub(crate) redacts: bool,
    pub(crate) filters: Filters,
    /// An agent of which the reference keeps each signal once.
    pub(crate) once: bool,
    /// Each block of a message is a record.
    pub(crate) in_blocks: bool,
}

/// A session as both show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) session: String,
    pub(crate) place: Place,
    pub(crate) started: String,
    pub(crate) ended: String,
    pub(crate) prompts: Vec<String>,
    pub(crate) finals: Vec<String>,
    pub(crate) answers: usize,
    pub(crate) tools: Vec<String>,
    pub(crate) skills: Vec<String>,
    pub(crate) files: Vec<String>,
    /// Signals of the words alone: of what happened to an answer the reference knows nothing.
    pub(crate) signals: Vec<String>,
}

impl Seen {
    /// What our reader shows.
    pub(crate) fn ours(session: &Session) -> Self {
        let digest = session.digest();
        assert_eq!(digest.n_user_turns, digest.user_prompts.len());
        Self {
            session: digest.session_id,
            place: Place {
                folder: digest.project,
                branch: digest.git_branch,
            },
            started: digest.started_at,
            ended: digest.ended_at,
            prompts: digest.user_prompts,
            finals: digest.assistant_finals,
            answers: digest.n_assistant_turns,
            tools: digest.tools_used,
            skills: digest.skills_used,
            files: digest.files_touched,
            signals: digest
                .feedback_signals
                .into_iter()
                .filter(|signal| Happened::of(signal).is_none())
                .collect(),
        }
    }
}

/// The digests of some files. Those without a person's words are left out: nothing is mined of them
/// (§4.1).
pub(crate) fn digests(mut courses: Vec<Course>, rules: Rules) -> Vec<Seen> {
    // The one that began first owns a message. A fork's first record may be a copy.
    courses.sort_by_key(|it| (it.first.clone(), it.copied, it.last.clone()));
    let mut taken = BTreeSet::new();
    let mut seen: Vec<Seen> = courses
        .iter()
        .filter_map(|course| digest(course, &mut taken, rules))
        .collect();
    seen.sort_by(|a, b| a.session.cmp(&b.session));
    seen
}

/// Who set the agent to work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nobody,
    Person,
    Program,
}

struct Digest<'a> {
    course: &'a Course,
    rules: Rules,
    asked: Asked,
    /// Id, time and text of what the agent said last to a person.
    answer: Option<(String, String, String)>,
    /// The agent called a tool for a person.
    worked: bool,
    started: Option<Instant>,
    ended: Option<Instant>,
    seen: Seen,
}

fn digest(course: &Course, taken: &mut BTreeSet<String>, rules: Rules) -> Option<Seen> {
    if is_no_persons(course, rules) {
        return None;
    }
    let mut digest = Digest {
        course,
        rules,
        asked: Asked::Nobody,
        answer: None,
        worked: false,
        started: None,
        ended: None,
        seen: Seen {
            session: course.session.clone(),
            place: course.place.clone(),
            started: course.first.clone(),
            ended: course.last.clone(),
            ..Seen::default()
        },
    };
    for item in &course.items {
        digest.item(item, taken);
    }
    digest.turn_ends();
    let mut seen = digest.seen;
    if rules.differ(TimesOfTurns) {
        let text = |at: Option<Instant>| at.map_or_else(String::new, |at| at.to_string());
        seen.started = text(digest.started);
        seen.ended = text(digest.ended);
    }
    if course.once && !rules.differ(EveryTurn) {
        let mut met = BTreeSet::new();
        seen.signals.retain(|signal| met.insert(signal.clone()));
    }
    seen.finals.drain(..seen.finals.len().saturating_sub(5));
    (!seen.prompts.is_empty()).then_some(seen)
}

impl Digest<'_> {
    fn item(&mut self, item: &Item, taken: &mut BTreeSet<String>) {
        match item {
            Item::Prompt {
                id,
                at,
                text,
                place,
            } => {
                self.turn_ends();
                self.asked = Asked::Nobody;
                let text = kept(text, self.course.redacts, self.rules);
                let copy = self.rules.differ(Copies) && !id.is_empty() && !taken.insert(id.clone());
                if text.is_empty() || copy {
                    return;
                }
                self.asked = Asked::Person;
                if self.rules.differ(WhereTyped) && self.seen.prompts.is_empty() {
                    self.seen.place = place.clone();
                }
                let at = at.parse().ok();
                self.started = self.started.or(at);
                self.ended = self.ended.max(at);
                self.seen.signals.extend(signals(&text, self.rules));
                self.seen.prompts.push(text);
            }
            Item::Program => {
                self.turn_ends();
                self.asked = Asked::Program;
            }
            Item::Nobodys => {
                self.turn_ends();
                self.asked = Asked::Nobody;
            }
            Item::Signal(signal) => self.seen.signals.push((*signal).to_owned()),
            Item::Said { id, at, text } => self.said(id, at, text),
            Item::Tool(name) => {
                if self.counts() {
                    self.worked |= self.asked == Asked::Person;
                    add(&mut self.seen.tools, name);
                }
            }
            Item::Skill(name) => {
                if self.counts() {
                    add(&mut self.seen.skills, name);
                }
            }
            Item::File(name) => {
                if self.counts() {
                    add(&mut self.seen.files, name);
                }
            }
        }
    }

    /// Whether what the agent does now belongs to the session.
    fn counts(&self) -> bool {
        self.asked != Asked::Nobody || !self.rules.differ(Unasked)
    }

    fn said(&mut self, id: &str, at: &str, text: &str) {
        if self.asked != Asked::Person && self.rules.differ(Unasked) {
            return;
        }
        if !self.rules.differ(OneAnswer) {
            self.seen.answers += 1;
            return self.is_final(text);
        }
        match &mut self.answer {
            // Another block of the message, or another form of it.
            Some((known, _, whole)) if !id.is_empty() && known == id => {
                if self.course.in_blocks && !whole.ends_with(text) {
                    whole.push('\n');
                    whole.push_str(text);
                }
            }
            _ if text.trim().is_empty() => {}
            answer => *answer = Some((id.to_owned(), at.to_owned(), text.to_owned())),
        }
    }

    fn is_final(&mut self, text: &str) {
        let text = kept(text, self.course.redacts, self.rules);
        if !text.is_empty() {
            self.seen.finals.push(text);
        }
    }

    /// What follows is not for the same turn.
    fn turn_ends(&mut self) {
        let answer = self.answer.take();
        if self.rules.differ(OneAnswer) && (answer.is_some() || self.worked) {
            self.seen.answers += 1;
        }
        self.worked = false;
        if let Some((_, at, text)) = answer {
            self.ended = self.ended.max(at.parse().ok());
            self.is_final(&text);
        }
    }
}

fn is_no_persons(course: &Course, rules: Rules) -> bool {
    let mut prompts = Vec::new();
    let mut last = if rules.differ(TimesOfTurns) {
        &course.first
    } else {
        &course.last
    };
    for item in &course.items {
        let at = match item {
            Item::Prompt { at, text, .. } => {
                let text = kept(text, course.redacts, rules);
                if text.is_empty() {
                    continue;
                }
                prompts.push(text);
                at
            }
            Item::Said { at, .. } => at,
            Item::Program
            | Item::Tool(_)
            | Item::Skill(_)
            | Item::File(_)
            | Item::Signal(_)
            | Item::Nobodys => continue,
        };
        if rules.differ(TimesOfTurns) {
            last = at;
        }
    }
    let second = |time: &str| Some(time.parse::<Instant>().ok()?.as_second());
    let whole = Whole {
        prompts: &prompts,
        seconds: second(&course.first)
            .zip(second(last))
            .filter(|(first, last)| first < last || !rules.differ(TimesOfTurns))
            .map(|(first, last)| last - first),
        headless: course.headless,
        filters: course.filters,
    };
    no_persons(&whole, rules)
}

/// Adds a name that is not there yet.
fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
