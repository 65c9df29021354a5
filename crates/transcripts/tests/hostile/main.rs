//! Whatever a session or its store holds, and whatever happens to it: nothing aborts the harvest, the
//! rest is read, and the reason is counted. One table of every store of every agent and every fault.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/homes.rs"]
mod homes;

mod faults;
mod other_process;
mod scene;
mod stores;
mod variations;

use std::collections::BTreeSet;
use std::fmt::Write;

use skillopt_core::agent::Agent;
use skillopt_transcripts::Reason;

use faults::{Cell, Fault, cell};
use scene::Found;
use stores::{Form, STORES, Store};

/// Not a test: the program whose store it is, started as a process of its own.
#[test]
fn the_other_process() {
    other_process::be();
}

#[test]
fn every_store_of_every_agent_is_in_the_table() {
    let agents: BTreeSet<Agent> = STORES.iter().map(|store| store.agent).collect();
    assert_eq!(agents, Agent::ALL.into_iter().collect());
    // What was looked at and has a session, without the homes.
    for store in &STORES {
        let scene = scene::Scene::new(store);
        let found = scene.found();
        assert!(found.beside && found.said.is_empty(), "{}", store.name);
        assert!(
            found.counted.is_empty(),
            "{}: {:?}",
            store.name,
            found.counted
        );
    }
}

/// Faults that cost nothing at all, so that there is nothing to count.
fn loses_nothing(store: &Store, fault: Fault) -> bool {
    match fault {
        // What is committed is read past the locks; an odd name is a name; a wrong clock is a time.
        Fault::Locked | Fault::ClockSkew => true,
        Fault::OddPath => !matches!(store.form, Form::Folder),
        // Of the future is only what is read besides.
        Fault::Future => store.unknown.is_empty(),
        Fault::CutRecord
        | Fault::RandomRecord
        | Fault::CutStore
        | Fault::RandomStore
        | Fault::WrongShape
        | Fault::Deep
        | Fault::Giant
        | Fault::Broad
        | Fault::Bomb
        | Fault::RollsBack
        | Fault::BeingWritten
        | Fault::Corrupt
        | Fault::NoTable
        | Fault::OtherColumns
        | Fault::SameIds
        | Fault::LinkLoop
        | Fault::Deleted => false,
    }
}

/// Whether the fault is one of a single session, beside which the store goes on.
fn spares_the_store(store: &Store, fault: Fault) -> bool {
    let is_database = matches!(store.form, Form::Rows(_));
    match fault {
        Fault::CutStore
        | Fault::RandomStore
        | Fault::RollsBack
        | Fault::Corrupt
        | Fault::NoTable
        | Fault::OtherColumns
        | Fault::LinkLoop
        | Fault::Deleted => !is_database,
        Fault::CutRecord
        | Fault::RandomRecord
        | Fault::WrongShape
        | Fault::Deep
        | Fault::Giant
        | Fault::Broad
        | Fault::Bomb
        | Fault::Locked
        | Fault::BeingWritten
        | Fault::Future
        | Fault::ClockSkew
        | Fault::SameIds
        | Fault::OddPath => true,
    }
}

/// What is in a cell, in one line; and what should not be in it.
fn shown(store: &Store, fault: Fault, wrong: &mut Vec<String>) -> String {
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{}: {}: {what}", store.name, fault.text()));
        }
    };
    match cell(store, fault) {
        Cell::DoesNotApply(because) => format!("does not apply: {because}"),
        Cell::AsFarAsWritten(counted) => {
            let allowed = BTreeSet::from([
                Reason::HalfWritten,
                Reason::Malformed,
                Reason::BusyDatabase,
                Reason::NoHumanTurn,
                // A message is there, and its words are still to come.
                Reason::Wordless,
            ]);
            must(counted.is_subset(&allowed), &format!("{counted:?}"));
            "what was complete by then, in order".to_owned()
        }
        Cell::Found(Found {
            said,
            beside,
            counted,
            unknown,
        }) => {
            let spared = beside || !spares_the_store(store, fault);
            must(spared, "the session beside it was lost");
            let silent = counted.is_empty() == loses_nothing(store, fault);
            must(silent, &format!("{said:?} {counted:?}"));
            if fault == Fault::Future && !store.unknown.is_empty() {
                let [name] = unknown.as_slice() else {
                    panic!("{}: {unknown:?}", store.name);
                };
                must(name.contains(store.unknown_name), name);
            }
            let mut line = if said.is_empty() {
                "nothing of it".to_owned()
            } else {
                let words: Vec<String> = said.iter().map(|words| brief(words)).collect();
                words.join(", ")
            };
            if !beside {
                line.push_str(", nothing beside it");
            }
            for (reason, number) in counted {
                write!(line, "; {} {number}", reason.id()).unwrap();
            }
            for name in unknown {
                write!(line, "; unknown: {name}").unwrap();
            }
            line
        }
    }
}

/// Words, or how many there are of them.
fn brief(words: &str) -> String {
    if words.len() <= 20
        && words
            .chars()
            .all(|letter| letter.is_ascii_graphic() || letter == ' ')
    {
        words.to_owned()
    } else {
        format!("{} characters", words.chars().count())
    }
}

/// Compares with `table.md`, or writes it when `SKILLOPT_WRITE_PAGES` is set.
#[cfg(unix)]
#[test]
fn every_fault_in_every_store() {
    let mut table = "# What a harvest makes of every fault in every store\n\n\
        Written by the test beside it. Of the session with the fault, what was typed before and after \
        it; then what was counted. The sessions in other stores were read each time.\n"
        .to_owned();
    let mut wrong = Vec::new();
    // Only Linux has paths that are no text.
    let all = cfg!(target_os = "linux");
    for &fault in Fault::ALL
        .iter()
        .filter(|&&fault| all || fault != Fault::OddPath)
    {
        write!(
            table,
            "\n## {}\n\n| Store | What came of it |\n| --- | --- |\n",
            fault.text()
        )
        .unwrap();
        for store in &STORES {
            writeln!(
                table,
                "| {} | {} |",
                store.name,
                shown(store, fault, &mut wrong)
            )
            .unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/table.md");
    if all && std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        homes::write(path.as_ref(), table.as_bytes());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let written = std::fs::read_to_string(path).unwrap();
    let sections: Vec<&str> = written
        .split("\n## ")
        .filter(|section| all || !section.starts_with(Fault::OddPath.text()))
        .collect();
    assert_eq!(
        sections.join("\n## "),
        table,
        "look at what changed, then run this test with SKILLOPT_WRITE_PAGES=1"
    );
}
