//! What happened in a session, in the order of its file; and what a digest makes of it (§1.1).

use std::collections::BTreeSet;

use skillopt_core::Instant;
use skillopt_core::feedback::Happened;
use skillopt_transcripts::Session;

use crate::difference::Difference::{
    Copies, EveryTurn, InOrder, OneAnswer, TimesOfTurns, Unasked, WhereTyped,
};
use crate::difference::Rules;
use crate::records::moment;
use crate::wanted::Wanted;
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
    /// A command or a program set the agent to work, here.
    Program {
        id: String,
        place: Place,
    },
    Said {
        id: String,
        at: String,
        text: String,
    },
    Tool(String),
    Skill(String),
    File(String),
    /// A signal that no prompt gave.
    Signal(String),
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

/// How the reference compares the end of a session with the moment since which sessions count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Compared {
    /// As texts, the moment as the clock on the wall shows it.
    #[default]
    Texts,
    /// As texts, the first ten letters.
    Days,
    /// As moments.
    Moments,
    /// As moments; what was written at the very moment is too old.
    After,
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
    /// Every folder that is named after it, where the reference takes a later one for the first if it is
    /// the project's.
    pub(crate) later: Vec<String>,
    /// The reference leaves the session out when it names no folder.
    pub(crate) must_name_folder: bool,
    /// How its end is compared with the moment since which sessions count.
    pub(crate) compared: Compared,
    /// It holds records of another session.
    pub(crate) copied: bool,
    pub(crate) headless: bool,
    /// An agent whose words the reference redacts.
    pub(crate) redacts: bool,
    pub(crate) filters: Filters,
    /// An agent of which the reference keeps each signal once.
    pub(crate) once: bool,
    /// An agent of which the reference sorts signals, tools and files.
    pub(crate) sorted: bool,
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

/// The digests of what is wanted of some files. Those without a person's words are left out: nothing is
/// mined of them (§4.1).
pub(crate) fn digests(mut courses: Vec<Course>, wanted: &Wanted, rules: Rules) -> Vec<Seen> {
    // The one that began first owns a message. A fork's first record may be a copy.
    courses.sort_by_key(|it| (it.first.clone(), it.copied, it.last.clone()));
    let mut taken = BTreeSet::new();
    let mut seen: Vec<Seen> = courses
        .iter()
        .filter_map(|course| digest(course, &mut taken, wanted, rules))
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
    wanted: &'a Wanted,
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

fn digest(
    course: &Course,
    taken: &mut BTreeSet<String>,
    wanted: &Wanted,
    rules: Rules,
) -> Option<Seen> {
    if is_no_persons(course, rules) {
        return None;
    }
    let place = wanted.place_of(course, rules);
    if !(rules.differ(WhereTyped) || wanted.covers(course, &place.folder, rules)) {
        return None;
    }
    let mut digest = Digest {
        course,
        wanted,
        rules,
        asked: Asked::Nobody,
        answer: None,
        worked: false,
        started: None,
        ended: None,
        seen: Seen {
            session: course.session.clone(),
            place,
            started: course.first.clone(),
            ended: course.last.clone(),
            ..Seen::default()
        },
    };
    for (at, item) in course.items.iter().enumerate() {
        digest.item(item, &course.items[at + 1..], taken);
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
    if course.sorted && !rules.differ(InOrder) {
        for names in [&mut seen.signals, &mut seen.tools, &mut seen.files] {
            names.sort();
        }
    }
    seen.finals.drain(..seen.finals.len().saturating_sub(5));
    // The records of some agents have no times; then that of the file stands in the course.
    let ended = match seen.ended.as_str() {
        "" => &course.last,
        ended => ended,
    };
    let wanted = !seen.prompts.is_empty() && !wanted.is_too_old(ended, course.compared, rules);
    wanted.then_some(seen)
}

impl Digest<'_> {
    fn item(&mut self, item: &Item, after: &[Item], taken: &mut BTreeSet<String>) {
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
                let copy = self.is_copy(id, taken);
                if text.is_empty() || copy || !self.is_here(place) {
                    return;
                }
                self.asked = Asked::Person;
                if self.rules.differ(WhereTyped) && self.seen.prompts.is_empty() {
                    self.seen.place = place.clone();
                }
                let at = moment(at);
                self.started = self.started.or(at);
                self.ended = self.ended.max(at);
                self.seen.signals.extend(signals(&text, self.rules));
                self.seen.prompts.push(text);
            }
            Item::Program { id, place } => {
                self.turn_ends();
                // What set nothing off is nowhere kept, and so is no original of a copy.
                let copy = sets_off(after) && self.is_copy(id, taken);
                self.asked = if copy || !self.is_here(place) {
                    Asked::Nobody
                } else {
                    Asked::Program
                };
            }
            Item::Nobodys => {
                self.turn_ends();
                self.asked = Asked::Nobody;
            }
            Item::Signal(signal) => self.seen.signals.push(signal.clone()),
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

    /// Whether what has this id was met before.
    fn is_copy(&self, id: &str, taken: &mut BTreeSet<String>) -> bool {
        self.rules.differ(Copies) && !id.is_empty() && !taken.insert(id.to_owned())
    }

    /// Whether a turn that begins in this place is wanted. Where turns have no places of their own, the
    /// whole session is or is not.
    fn is_here(&self, place: &Place) -> bool {
        !self.rules.differ(WhereTyped) || self.wanted.covers(self.course, &place.folder, self.rules)
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
            self.ended = self.ended.max(moment(&at));
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
            Item::Program { .. }
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
    let second = |time: &str| Some(moment(time)?.as_second());
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

/// Whether the agent uses anything before somebody else sets it to work.
fn sets_off(after: &[Item]) -> bool {
    after
        .iter()
        .take_while(|item| {
            let begins = matches!(
                item,
                Item::Prompt { .. } | Item::Program { .. } | Item::Nobodys
            );
            !begins
        })
        .any(|item| matches!(item, Item::Tool(_) | Item::Skill(_) | Item::File(_)))
}

/// Adds a name that is not there yet.
fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
