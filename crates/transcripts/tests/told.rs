//! What happened to an answer, for every agent that tells it, and nothing for those that do not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use skillopt_core::agent::Agent;
use skillopt_core::feedback::Happened;
use skillopt_transcripts::{Harvest, Session, Told, told};

#[path = "support/devin.rs"]
mod devin;
#[path = "support/homes.rs"]
mod homes;
#[path = "support/opencode.rs"]
mod opencode;
#[path = "support/script.rs"]
mod script;

use homes::Home;
use script::Event::{Answers, Commits, Refuses, Says, SaysInstead, Stops, TakesBack, Writes};
use script::{Event, write_down};

/// A session in which it happens, and the turn it happens to.
fn course(happened: Happened) -> (Vec<Event>, usize) {
    let first = [Says("Write the parser"), Answers("I begin.")];
    let more = [Says("And now something else"), Answers("Done.")];
    match happened {
        Happened::Interrupted => ([&first[..], &[Stops], &more].concat(), 0),
        Happened::ToolRejected => (
            [
                &[Says("Write the parser"), Refuses, Answers("Then not.")][..],
                &more,
            ]
            .concat(),
            0,
        ),
        Happened::Resent => (
            [
                &first[..],
                &[
                    Says("Write the tests"),
                    Answers("Written."),
                    SaysInstead("Write the tests without mocks"),
                    Answers("Done."),
                ],
            ]
            .concat(),
            1,
        ),
        Happened::Undone => (
            [
                &first[..],
                &[Says("Write the tests"), Answers("Written.")],
                &more,
                &[TakesBack],
            ]
            .concat(),
            2,
        ),
        Happened::Abandoned => (vec![Says("Write the parser"), Writes], 0),
        Happened::Committed => (committing(0), 0),
    }
}

/// A session in which what the first turn did is committed, which ends with this code.
fn committing(code: i64) -> Vec<Event> {
    vec![
        Says("Write the parser"),
        Writes,
        Answers("Written."),
        Says("Commit it"),
        Commits(code),
        Answers("Done."),
    ]
}

/// The turns of the only session to which it happened.
fn turns(harvest: &Harvest, happened: Happened) -> Vec<usize> {
    let [session] = harvest.sessions.as_slice() else {
        panic!("{harvest:#?}");
    };
    session
        .human_turns()
        .enumerate()
        .filter(|(_, turn)| turn.feedback.iter().any(|it| it == happened.signal()))
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn every_agent_tells_what_it_is_said_to_tell() {
    let mut wrong = Vec::new();
    for agent in Agent::ALL {
        for happened in Happened::ALL {
            let home = Home::new();
            let (events, turn) = course(happened);
            let written = write_down(agent, &home, &events);
            let found = if written {
                turns(&home.harvest(), happened)
            } else {
                Vec::new()
            };
            let right = match told(agent, happened) {
                Told::Read(from) => written && found == [turn] && !from.is_empty(),
                // No session can be written that tells it.
                Told::Untold(why) => !written && !why.is_empty(),
            };
            if !right {
                wrong.push(format!("{agent} {happened:?}: {written} {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_commit_that_failed_keeps_nothing() {
    for agent in Agent::ALL {
        let home = Home::new();
        assert!(write_down(agent, &home, &committing(1)), "{agent}");
        let found = turns(&home.harvest(), Happened::Committed);
        assert!(found.is_empty(), "{agent}: {found:?}");
    }
}

#[test]
fn another_request_after_an_interruption_is_not_the_same_again() {
    for agent in Agent::ALL {
        let home = Home::new();
        let (events, _) = course(Happened::Interrupted);
        if write_down(agent, &home, &events) {
            let found = turns(&home.harvest(), Happened::Resent);
            assert!(found.is_empty(), "{agent}: {found:?}");
        }
    }
}

#[test]
fn the_same_request_after_a_refusal_is_sent_again() {
    for agent in Agent::ALL {
        let home = Home::new();
        let events = [
            Says("Write the parser"),
            Refuses,
            Answers("Then not."),
            Says("Write the parser without make"),
            Answers("Written."),
        ];
        if write_down(agent, &home, &events) {
            assert_eq!(turns(&home.harvest(), Happened::Resent), [0], "{agent}");
        }
    }
}

/// What is found in the real sessions. None of them has a commit, or a turn that was taken back.
#[test]
fn real_sessions_tell_nothing_they_are_not_said_to() {
    let fixtures =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts");
    let mut home = Home::new();
    home.request.homes = Agent::ALL
        .into_iter()
        .map(|agent| (agent, vec![fixtures.join(agent.id())]))
        .collect();
    let harvest = home.harvest();
    let signals = |session: &Session| -> Vec<(Agent, Happened)> {
        session
            .human_turns()
            .flat_map(|turn| &turn.feedback)
            .filter_map(|signal| Some((session.agent, Happened::of(signal)?)))
            .collect()
    };
    let found: BTreeSet<String> = harvest
        .sessions
        .iter()
        .flat_map(signals)
        .inspect(|&(agent, happened)| {
            assert!(
                matches!(told(agent, happened), Told::Read(_)),
                "{agent} {happened:?}"
            );
        })
        .map(|(agent, happened)| format!("{agent} {}", happened.signal()))
        .collect();
    // "Still broken: …" was stopped, and said again with "please continue".
    let expected = ["claude neg:interrupted", "claude neg:resent"];
    assert_eq!(found, expected.map(str::to_owned).into());
}
