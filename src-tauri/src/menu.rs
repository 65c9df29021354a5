//! What the tray shows, as data: the face of the icon, the first line, the menu. How it gets on the
//! screen is another file's.

use jiff::ZonedDateTime;
use skillopt_app::Problem;
use skillopt_app::notices::{WaitingDocument, WaitingProposal};
use skillopt_app::supervisor::{FirstLine, Overall, ProjectState, SupervisorState};

use crate::display::Display;
use crate::place::Place;
use crate::text::one_line;
use crate::words::Words;

/// Characters of one entry.
const LONGEST: usize = 80;
/// Proposals that get an entry of their own.
const PROPOSALS: usize = 5;

/// What the user can ask for from tray and notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Open a window.
    Open(Place),
    /// Open a window on this display.
    OpenOn(Place, Display),
    /// Adopt the proposal with this nonce.
    Adopt(String),
    /// Reject it.
    Reject(String),
    /// Take the adoption of the proposal with this nonce back.
    TakeBack(String),
    /// Take its rejection back.
    Reopen(String),
    /// Run a night of this project now; by its id.
    RunNow(String),
    /// Stop the night of this project.
    Stop(String),
    /// Pause all nights: `1h`, `tomorrow`, `forever`.
    Pause(&'static str),
    /// End the pause.
    Resume,
    /// Tell the user of a problem.
    Say(Problem),
    /// End the app.
    Quit,
}

/// One entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Words that do nothing.
    Line(String),
    /// Words that do something.
    Act(String, Order),
    /// Words that lead to more.
    Sub(String, Vec<Entry>),
    /// A line between groups.
    Rule,
}

/// Everything the tray shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Face {
    /// Which icon.
    pub(crate) overall: Overall,
    /// The state in a word or two, for who cannot see the icon.
    pub(crate) title: String,
    /// The tooltip, and the first line of the menu.
    pub(crate) line: String,
    /// How the last night ended: the second line of both.
    pub(crate) last: Option<String>,
    /// The menu below that line.
    pub(crate) menu: Vec<Entry>,
}

impl Face {
    /// What the tooltip says, and the menu first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        [Some(self.line.as_str()), self.last.as_deref()]
            .into_iter()
            .flatten()
    }

    /// Before anything is known.
    pub(crate) fn blank(words: &Words) -> Self {
        let state = SupervisorState::nothing_yet();
        Self::of(&state, &[], false, words, &ZonedDateTime::now())
    }

    /// The face of an app that cannot work.
    pub(crate) fn stuck(problem: &Problem, words: &Words) -> Self {
        let menu = vec![
            Entry::Line(label(&problem.message)),
            Entry::Line(label(&problem.guidance)),
            Entry::Rule,
            Entry::Act(words.say("open"), Order::Open(Place::Overview)),
            Entry::Act(words.say("quit"), Order::Quit),
        ];
        Self {
            overall: Overall::Attention,
            title: words.say("attention"),
            line: format!("{} {}", problem.message, problem.guidance),
            last: None,
            menu,
        }
    }

    /// The face for a state and the proposals that wait; `mute` when no notification can be shown.
    pub(crate) fn of(
        state: &SupervisorState,
        waiting: &[WaitingProposal],
        mute: bool,
        words: &Words,
        now: &ZonedDateTime,
    ) -> Self {
        let title = words.say(match state.overall {
            Overall::Asleep => "asleep",
            Overall::Working => "working",
            Overall::WaitingForReview if matches!(state.first_line, FirstLine::Answers { .. }) => {
                "waiting_for_answers"
            }
            Overall::WaitingForReview => "waiting_for_review",
            Overall::Attention => "attention",
            Overall::Paused => "paused",
        });
        let line = words.first_line(&state.first_line, now);
        let last = last_of(&state.projects, words, now);
        let mut menu = vec![Entry::Line(label(&line))];
        menu.extend(last.iter().map(|last| Entry::Line(label(last))));
        if mute {
            menu.push(Entry::Line(words.say("mute")));
        }
        menu.push(Entry::Rule);
        menu.extend(
            waiting
                .iter()
                .take(PROPOSALS)
                .map(|proposal| of_proposal(proposal, words)),
        );
        if waiting.len() > PROPOSALS {
            let more = (waiting.len() - PROPOSALS).to_string();
            menu.push(Entry::Act(
                words.fill("more_proposals", &[("count", &more)]),
                Order::Open(Place::Review(None)),
            ));
        }
        let asking: Vec<_> = state
            .projects
            .iter()
            .filter(|project| project.waits_for_answers())
            .collect();
        menu.extend(asking.iter().map(|project| {
            let words = match asking.as_slice() {
                [_] => words.say("answer"),
                _ => words.fill("answer_of", &[("project", &project.name)]),
            };
            Entry::Act(
                label(&words),
                Order::Open(Place::Handoff(project.id.clone())),
            )
        }));
        if !(waiting.is_empty() && asking.is_empty()) {
            menu.push(Entry::Rule);
        }
        for project in state
            .projects
            .iter()
            .filter(|project| project.running.is_some())
        {
            menu.push(Entry::Act(
                label(&words.fill("stop_night", &[("project", &project.name)])),
                Order::Stop(project.id.clone()),
            ));
        }
        let idle: Vec<_> = state
            .projects
            .iter()
            .filter(|project| project.running.is_none())
            .map(|project| Entry::Act(label(&project.name), Order::RunNow(project.id.clone())))
            .collect();
        if state.projects.is_empty() {
            menu.push(Entry::Line(words.say("no_projects")));
        } else if !idle.is_empty() {
            menu.push(Entry::Sub(words.say("run_now"), idle));
        }
        menu.push(if state.pause.is_some() {
            Entry::Act(words.say("resume"), Order::Resume)
        } else {
            let choices = [
                ("pause_hour", "1h"),
                ("pause_tomorrow", "tomorrow"),
                ("pause_for_ever", "forever"),
            ];
            let mut choices: Vec<Entry> = choices
                .map(|(name, until)| Entry::Act(words.say(name), Order::Pause(until)))
                .into();
            // A day is chosen in the window; menus have no calendar.
            choices.push(Entry::Act(
                words.say("pause_day"),
                Order::Open(Place::Pause),
            ));
            Entry::Sub(words.say("pause"), choices)
        });
        menu.extend([
            Entry::Rule,
            Entry::Act(words.say("open"), Order::Open(Place::Overview)),
            Entry::Act(words.say("settings"), Order::Open(Place::Settings)),
            Entry::Rule,
            Entry::Act(words.say("quit"), Order::Quit),
        ]);
        Self {
            overall: state.overall,
            title,
            line,
            last,
            menu,
        }
    }
}

/// How the night that ended last did end; of which project, where there are several.
fn last_of(projects: &[ProjectState], words: &Words, now: &ZonedDateTime) -> Option<String> {
    let (project, last) = projects
        .iter()
        .filter_map(|project| Some((project, project.last.as_ref()?)))
        .max_by_key(|(_, last)| last.ended_at)?;
    let name = (projects.len() > 1).then_some(project.name.as_str());
    Some(words.last_line(last, name, now))
}

fn of_proposal(proposal: &WaitingProposal, words: &Words) -> Entry {
    let mut choices = vec![Entry::Act(
        words.say("review"),
        Order::Open(Place::Review(Some(proposal.id.clone()))),
    )];
    // What the scan flagged needs to be read before it is adopted; what is out of date cannot be.
    if proposal.is_ready() {
        choices.push(Entry::Act(
            words.say("adopt"),
            Order::Adopt(proposal.nonce.clone()),
        ));
    }
    choices.extend(to_know(proposal, words).into_iter().map(Entry::Line));
    choices.push(Entry::Act(
        words.say("reject"),
        Order::Reject(proposal.nonce.clone()),
    ));
    Entry::Sub(label(&documents(proposal, words)), choices)
}

/// What is to be known before a decision that is one click away.
pub(crate) fn to_know(proposal: &WaitingProposal, words: &Words) -> Vec<String> {
    let documents = &proposal.documents;
    let mut known = Vec::new();
    if documents.iter().any(|document| document.stale) {
        known.push(words.say("stale"));
    }
    if documents
        .iter()
        .any(|document| document.under_version_control)
    {
        known.push(words.say("everyones"));
    }
    known
}

/// "deploy-skill 0.42 → 0.75 (6 tasks), CLAUDE.md 0.50 → 0.67 (4 tasks)".
pub(crate) fn documents(proposal: &WaitingProposal, words: &Words) -> String {
    let one = |document: &WaitingDocument| {
        let name = label(&document.name);
        match (document.before, document.after) {
            (Some(before), Some(after)) => words.fill(
                "notice_scores",
                &[
                    ("document", &name),
                    ("before", &format!("{before:.2}")),
                    ("after", &format!("{after:.2}")),
                    (
                        "tasks",
                        &words.count("tasks_one", "tasks_many", "count", document.tasks),
                    ),
                ],
            ),
            _ => name,
        }
    };
    proposal
        .documents
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A line of a menu.
fn label(text: &str) -> String {
    one_line(text, LONGEST)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn proposal(n: usize, unflagged: bool) -> WaitingProposal {
        WaitingProposal {
            id: format!("2026113{n}"),
            nonce: format!("nonce{n}"),
            documents: vec![WaitingDocument {
                name: "deploy".into(),
                before: Some(0.42),
                after: Some(0.75),
                tasks: 6,
                stale: false,
                under_version_control: false,
            }],
            unflagged,
        }
    }

    fn face(waiting: &[WaitingProposal]) -> Face {
        let state = SupervisorState {
            overall: Overall::WaitingForReview,
            ..SupervisorState::nothing_yet()
        };
        Face::of(
            &state,
            waiting,
            false,
            &Words::of_the_session(),
            &ZonedDateTime::now(),
        )
    }

    #[test]
    fn what_is_waited_for_is_named() {
        assert_eq!(
            face(&[]).title,
            Words::of_the_session().say("waiting_for_review")
        );
        let state = SupervisorState {
            overall: Overall::WaitingForReview,
            first_line: FirstLine::Answers {
                project: "webshop".to_owned(),
            },
            ..SupervisorState::nothing_yet()
        };
        let words = Words::chosen(skillopt_app::types::Language::English);
        let face = Face::of(&state, &[], false, &words, &ZonedDateTime::now());
        assert_eq!(face.title, "Waiting for your answers");
    }

    fn orders(entries: &[Entry]) -> Vec<Order> {
        entries
            .iter()
            .flat_map(|entry| match entry {
                Entry::Act(_, order) => vec![order.clone()],
                Entry::Sub(_, below) => orders(below),
                Entry::Line(_) | Entry::Rule => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn a_proposal_can_be_decided_from_the_menu_unless_it_is_flagged() {
        let menu = face(&[proposal(1, true), proposal(2, false)]).menu;
        let Some(Entry::Sub(name, _)) = menu.get(2) else {
            panic!("{menu:?}")
        };
        assert_eq!(name, "deploy 0.42 → 0.75 (6 tasks)");
        let orders = orders(&menu);
        assert!(orders.contains(&Order::Adopt("nonce1".into())));
        assert!(!orders.contains(&Order::Adopt("nonce2".into())));
        assert!(orders.contains(&Order::Reject("nonce2".into())));
        assert_eq!(orders.last(), Some(&Order::Quit));
    }

    #[test]
    fn many_proposals_lead_to_the_window() {
        let many: Vec<_> = (0..9).map(|n| proposal(n, true)).collect();
        let orders = orders(&face(&many).menu);
        assert_eq!(
            orders
                .iter()
                .filter(|order| matches!(order, Order::Adopt(_)))
                .count(),
            PROPOSALS
        );
        assert!(orders.contains(&Order::Open(Place::Review(None))));
    }
}
