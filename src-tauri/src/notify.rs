//! Notifications with buttons, and the answers to them. A notification is a hint: all it offers is also
//! in the menu and in the window, since buttons can be missing anywhere.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use skillopt_app::Problem;
use skillopt_app::notices::Notice;
use tokio::sync::mpsc::UnboundedSender;

#[cfg(target_os = "linux")]
use self::linux::{deliver, has_buttons};
#[cfg(target_os = "macos")]
use self::macos::{deliver, has_buttons};
#[cfg(windows)]
use self::windows::{deliver, has_buttons};
use crate::menu::{self, Order};
use crate::place::Place;
use crate::text;
use crate::words::Words;

/// Characters of a heading, and of what is said below it.
const LONGEST_TITLE: usize = 120;
const LONGEST_BODY: usize = 400;
/// Scores that are named in one notification.
const NAMED: usize = 4;

/// A notification as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Card {
    /// Its heading.
    pub(crate) title: String,
    /// What it says.
    pub(crate) body: String,
    /// Its buttons, in order; the first is also what a click on the card does.
    pub(crate) buttons: Vec<(String, Order)>,
    /// Whether it stays until it is answered.
    pub(crate) stays: bool,
}

impl Card {
    /// The card of a notice.
    pub(crate) fn of(notice: &Notice, words: &Words) -> Self {
        match notice {
            Notice::Proposals { proposals } => {
                let mut named: Vec<String> = proposals
                    .iter()
                    .take(NAMED)
                    .map(|proposal| menu::documents(proposal, words))
                    .collect();
                if proposals.len() > NAMED {
                    let more = (proposals.len() - NAMED).to_string();
                    named.push(words.fill("notice_more", &[("count", &more)]));
                }
                let only = match proposals.as_slice() {
                    [only] => Some(only),
                    _ => None,
                };
                let review = Place::Review(only.map(|proposal| proposal.id.clone()));
                let mut buttons = vec![(words.say("review"), Order::Open(review))];
                let mut body = named.join(", ");
                // One click is for one decision; several are made in the window.
                if let Some(only) = only {
                    if only.is_ready() {
                        buttons.push((words.say("adopt"), Order::Adopt(only.nonce.clone())));
                    }
                    buttons.push((words.say("reject"), Order::Reject(only.nonce.clone())));
                    for line in menu::to_know(only, words) {
                        body = format!("{body}\n{line}");
                    }
                }
                Self {
                    title: words.count(
                        "notice_proposals_one",
                        "notice_proposals_many",
                        "count",
                        proposals.len(),
                    ),
                    body,
                    buttons,
                    stays: true,
                }
            }
            Notice::Trouble { reason } => Self {
                title: words.say("notice_trouble"),
                body: reason.clone(),
                buttons: vec![(words.say("open"), Order::Open(Place::Settings))],
                stays: false,
            },
            Notice::Attention {
                project,
                name,
                failures,
                reason,
            } => {
                let failed = *failures >= skillopt_app::supervisor::ATTENTION_AFTER;
                let title = if failed {
                    "notice_failures"
                } else {
                    "notice_attention"
                };
                Self {
                    title: words.fill(title, &[("project", name)]),
                    body: reason.clone(),
                    buttons: vec![(
                        words.say("open"),
                        Order::Open(Place::Project(project.clone())),
                    )],
                    stays: failed,
                }
            }
            Notice::NoTray => Self {
                title: words.say("notice_no_tray"),
                body: words.say("notice_no_tray_body"),
                buttons: vec![(words.say("open"), Order::Open(Place::Overview))],
                stays: false,
            },
            Notice::Missed {
                project,
                name,
                slot,
                reason,
            } => Self {
                title: words.fill("notice_missed", &[("project", name)]),
                body: words.fill(
                    "notice_missed_body",
                    &[
                        ("time", &slot.strftime("%Y-%m-%d %H:%M").to_string()),
                        ("reason", reason),
                    ],
                ),
                buttons: vec![(
                    words.say("open"),
                    Order::Open(Place::Project(project.clone())),
                )],
                stays: false,
            },
            Notice::AnswerRefused {
                project,
                name,
                answer,
            } => Self {
                title: words.fill("notice_answers", &[("project", name)]),
                body: words.fill(
                    "notice_answer_refused_body",
                    &[("id", &answer.id), ("reason", &answer.reason)],
                ),
                buttons: vec![(
                    words.say("answer"),
                    Order::Open(Place::Handoff(project.clone())),
                )],
                stays: false,
            },
            Notice::Answers { project, name } => Self {
                title: words.fill("notice_answers", &[("project", name)]),
                body: words.say("notice_answers_body"),
                buttons: vec![(
                    words.say("answer"),
                    Order::Open(Place::Handoff(project.clone())),
                )],
                stays: false,
            },
        }
    }

    /// A card that only says something.
    pub(crate) fn saying(title: String, body: String) -> Self {
        Self {
            title,
            body,
            buttons: Vec::new(),
            stays: false,
        }
    }

    /// The card of something that did not work.
    pub(crate) fn of_problem(problem: &Problem, words: &Words) -> Self {
        Self::saying(
            words.say("notice_failed"),
            format!("{} {}", problem.message, problem.guidance),
        )
    }

    /// Shows it, and sends the order of the button that is pressed. Whether it could be shown.
    pub(crate) async fn show(
        mut self,
        orders: UnboundedSender<Order>,
        words: &Words,
    ) -> Result<(), String> {
        if !self.buttons.is_empty() && !has_buttons().await {
            // A server that shows no buttons may still tell of a click on the card.
            self.buttons.truncate(1);
            self.body = format!("{}\n{}", self.body, words.say("notice_without_buttons"));
        }
        self.title = text::one_line(&self.title, LONGEST_TITLE);
        self.body = text::lines(&self.body, LONGEST_BODY);
        deliver(self, orders).await
    }
}

/// What the button is called for the system. Every process of the session can say that it was pressed, so
/// what decides something is called by what only the proposal's owner knows.
#[cfg(any(test, not(target_os = "macos")))]
fn key(number: usize, order: &Order) -> String {
    match order {
        Order::Adopt(nonce)
        | Order::Reject(nonce)
        | Order::TakeBack(nonce)
        | Order::Reopen(nonce) => format!("{number}.{nonce}"),
        Order::Open(_)
        | Order::OpenOn(..)
        | Order::Say(_)
        | Order::RunNow(_)
        | Order::Stop(_)
        | Order::Pause(_)
        | Order::Resume
        | Order::Quit => number.to_string(),
    }
}

#[cfg(any(test, not(target_os = "macos")))]
fn order_of(action: &str, buttons: &[(String, Order)]) -> Option<Order> {
    if action == "default" {
        return buttons.first().map(|(_, order)| order.clone());
    }
    buttons
        .iter()
        .enumerate()
        .find(|(number, (_, order))| key(*number, order) == action)
        .map(|(_, (_, order))| order.clone())
}

#[cfg(test)]
mod tests {
    use skillopt_app::notices::WaitingProposal;

    use super::*;
    use crate::menu::tests::proposal;

    fn card(proposals: Vec<WaitingProposal>) -> Card {
        Card::of(&Notice::Proposals { proposals }, &Words::of_the_session())
    }

    #[test]
    fn one_proposal_is_decided_with_one_click_and_review_comes_first() {
        let one = card(vec![proposal(1, true)]);
        assert_eq!(one.body, "deploy 0.42 → 0.75 (6 tasks)");
        let orders: Vec<_> = one.buttons.iter().map(|(_, order)| order.clone()).collect();
        assert_eq!(
            orders,
            [
                Order::Open(Place::Review(Some("20261131".into()))),
                Order::Adopt("nonce1".into()),
                Order::Reject("nonce1".into())
            ]
        );
        assert_eq!(order_of("default", &one.buttons), Some(orders[0].clone()));
        assert_eq!(order_of("1.nonce1", &one.buttons), Some(orders[1].clone()));
        for forged in ["", "1", "1.", "1.nonce2", "9", "adopt", "__closed"] {
            assert_eq!(order_of(forged, &one.buttons), None, "{forged}");
        }
    }

    #[test]
    fn what_is_flagged_or_many_is_not_adopted_from_a_card() {
        for several in [
            card(vec![proposal(1, false)]),
            card((0..6).map(|n| proposal(n, true)).collect()),
        ] {
            assert!(
                !several
                    .buttons
                    .iter()
                    .any(|(_, order)| matches!(order, Order::Adopt(_)))
            );
            assert!(matches!(
                several.buttons[0].1,
                Order::Open(Place::Review(_))
            ));
        }
        assert!(
            card((0..6).map(|n| proposal(n, true)).collect())
                .body
                .contains("2")
        );
    }
}
