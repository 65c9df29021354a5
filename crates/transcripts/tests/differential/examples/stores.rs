//! Those of Cursor and of the agents whose sessions are rows.

use serde_json::json;
use skillopt_core::agent::Agent;

use super::{Example, files, prompts, signals};
use crate::course::Seen;
use crate::difference::Difference;
use crate::made_rows::{Copilot, OpenCode, Turn, answers, says};
use crate::opencode_rows::text;
use crate::wanted::Wanted;
use crate::{File, WRITTEN, cursor_files, cursor_workspace};

pub(super) fn of_cursor(difference: Difference) -> Option<Example> {
    type Told = (
        Vec<File>,
        Wanted,
        fn(&Seen) -> String,
        &'static str,
        &'static str,
    );
    let prompt = |words: &str| {
        let record = json!({"role": "user", "message": {"content": words}});
        format!("{record}\n").into_bytes()
    };
    let (files, wanted, show, reference, ours): Told = match difference {
        Difference::TurnErrors => {
            let error = b"{\"type\":\"turn_ended\",\"status\":\"error\"}\n";
            (
                cursor_files([&prompt("Rename it")[..], error].concat()),
                Wanted::default(),
                signals,
                "neg:cursor_turn_error",
                "",
            )
        }
        Difference::NearestWorkspace => (
            [
                cursor_workspace("/w", "above", prompt("Rename it")),
                cursor_workspace("/w/app/ui", "below", prompt("And the tests")),
            ]
            .concat(),
            Wanted::of("/w/app"),
            prompts,
            "Rename it",
            "And the tests",
        ),
        Difference::AtTheMoment => (
            cursor_files(prompt("Rename it")),
            Wanted::since(WRITTEN),
            prompts,
            "no session",
            "Rename it",
        ),
        _ => return None,
    };
    Some(Example {
        agent: Agent::Cursor,
        files,
        wanted,
        show,
        reference,
        ours,
    })
}

pub(super) fn of_opencode(difference: Difference) -> Option<Example> {
    let (messages, reference, ours) = match difference {
        Difference::ShellQuotes => (
            vec![says("\"Rename it\""), answers(vec![text("Renamed.")])],
            "\"Rename it\"",
            "Rename it",
        ),
        _ => return None,
    };
    let made = OpenCode {
        messages,
        ..OpenCode::default()
    };
    Some(Example {
        agent: Agent::OpenCode,
        files: vec![made.file()],
        wanted: Wanted::default(),
        show: prompts,
        reference,
        ours,
    })
}

pub(super) fn of_copilot(difference: Difference) -> Option<Example> {
    let turn = |asked: &str, tool| -> Turn { (Some(asked.to_owned()), None, tool) };
    type Told = (fn(&Seen) -> String, Vec<Turn>, &'static str, &'static str);
    let (show, turns, reference, ours): Told = match difference {
        Difference::Cut => (
            |seen| prompts(seen).chars().count().to_string(),
            vec![turn(&"so on.".repeat(1000), None)],
            "4000",
            "6000",
        ),
        Difference::OtherWords => (
            signals,
            vec![turn("Rename it", None), turn("/undo", None)],
            "neg:undo",
            "",
        ),
        Difference::InOrder => (
            files,
            vec![
                turn("Rename it", Some("edit")),
                turn("Test it", Some("create")),
            ],
            "/w/app/97.rs, /w/app/98.rs",
            "/w/app/98.rs, /w/app/97.rs",
        ),
        _ => return None,
    };
    let made = Copilot {
        turns,
        folder: Some("/w/app"),
        old: false,
    };
    Some(Example {
        agent: Agent::Copilot,
        files: vec![made.file()],
        wanted: Wanted::default(),
        show,
        reference,
        ours,
    })
}
