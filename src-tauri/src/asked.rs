//! What a page may ask for: the commands the windows use, and no other.

use serde_json::Value;
use skillopt_app::Problem;
use skillopt_app::commands::Command;

/// The command of a page, given as `{"command": name, "input": …}`.
///
/// Errors: `command_unreadable`, `command_refused`.
pub(crate) fn read(asked: Value) -> Result<Command, Problem> {
    let command: Command = serde_json::from_value(asked).map_err(|error| unreadable(&error))?;
    if is_for_windows(&command) {
        return Ok(command);
    }
    Err(Problem::permanent(
        "command_refused",
        format!("A window may not ask for `{}`.", command.name()),
        "Give that command to `skillopt` in a terminal.",
    ))
}

/// A problem when a command cannot even be read.
pub(crate) fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::permanent(
        "command_unreadable",
        format!("The window asked for something this program does not know: {error}."),
        "Close the window and open it again; if that does not help, install the program again.",
    )
}

/// Whether windows use a command. Pages show what models wrote: should one ever be made to say something
/// of its own, it finds nothing here that the user could not press.
const fn is_for_windows(command: &Command) -> bool {
    match command {
        Command::SleepDryRun(_)
        | Command::SleepStatus(_)
        | Command::Status(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::ProjectList(_)
        | Command::ProjectAdd(_)
        | Command::ProjectFind(_)
        | Command::ProjectRemove(_)
        | Command::ProjectMove(_)
        | Command::ProposalList(_)
        | Command::ProposalShow(_)
        | Command::ProposalAdopt(_)
        | Command::ProposalReject(_)
        | Command::ProposalReopen(_)
        | Command::Rollback(_)
        | Command::NightList(_)
        | Command::NightShow(_)
        | Command::NightCancel(_)
        | Command::NightStart(_)
        | Command::BackendList(_)
        | Command::BackendTest(_)
        | Command::BackendAccept(_)
        | Command::BackendUse(_)
        | Command::BackendServers(_)
        | Command::Spend(_)
        | Command::KeyList(_)
        | Command::KeySet(_)
        | Command::KeyRemove(_)
        | Command::Handoff(_)
        | Command::HandoffAnswer(_)
        | Command::ConfigShow(_)
        | Command::ConfigSet(_)
        | Command::Doctor(_)
        | Command::Log(_)
        | Command::ReportShow(_)
        | Command::ReportExport(_)
        | Command::DataSize(_)
        | Command::DataExport(_)
        | Command::DataPurge(_) => true,
        // What was found; not the words of sessions, nor a file of tasks.
        Command::SleepHarvest(input) => input.output.is_none() && !input.digests,
        Command::SleepRun(_)
        | Command::SleepSchedule(_)
        | Command::SleepUnschedule(_)
        | Command::NightPause(_)
        | Command::NightRecord(_)
        | Command::ConfigExplain(_)
        | Command::ConfigPrompts(_)
        | Command::Demo(_)
        | Command::Experiment(_)
        | Command::Import(_)
        | Command::DataMove(_)
        | Command::DataCopy(_)
        | Command::DataRestore(_)
        | Command::DataRemoveOld(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use skillopt_app::commands::NAMES;
    use skillopt_tests::checkout::{files, read as text_of, root};

    use super::*;

    /// A command of this name, with whatever its input needs. Some ids are numbers.
    fn asked(name: &str) -> Value {
        // A harvest is for windows where it writes nothing.
        let output = (name != "sleep harvest").then_some("x");
        let with = |id: Value| {
            json!({"command": name, "input": {
                "id": id, "answer": "x", "backend": "mock", "key": "x", "name": "x", "output": output,
                "program": "x", "project": "x", "providers": [], "secret": "x", "to": "x", "value": "x",
                "night": 1, "nights": 1, "persona": "x",
            }})
        };
        let plain = with(json!("x"));
        match serde_json::from_value::<Command>(plain.clone()) {
            Ok(_) => plain,
            Err(_) => with(json!(1)),
        }
    }

    /// The names of the commands that the pages use.
    fn used() -> BTreeSet<String> {
        let pages = root().join("ui/src");
        ["svelte", "ts"]
            .iter()
            .flat_map(|ending| files(&pages, ending))
            .filter(|file| !file.to_string_lossy().contains(".test."))
            .flat_map(|file| {
                let text = text_of(&file);
                text.match_indices("call('")
                    .filter_map(|(at, word)| text[at + word.len()..].split('\'').next())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn pages_get_the_commands_they_use_and_no_other() {
        let allowed: BTreeSet<String> = NAMES
            .iter()
            .filter(|name| match read(asked(name)) {
                Ok(_) => true,
                Err(problem) => {
                    assert_eq!(problem.code, "command_refused", "{}", problem.message);
                    false
                }
            })
            .map(|name| (*name).to_owned())
            .collect();
        assert!(allowed.len() > 30);
        assert_eq!(allowed, used());
    }

    #[test]
    fn a_harvest_for_a_page_writes_nothing_and_has_no_words_of_sessions() {
        for input in [json!({"output": "tasks.json"}), json!({"digests": true})] {
            let asked = json!({"command": "sleep harvest", "input": input});
            assert_eq!(read(asked).unwrap_err().code, "command_refused");
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_a_sentence() {
        for odd in [
            json!(null),
            json!({"command": "rm"}),
            json!({"command": "status"}),
            json!({"command": "project add", "input": []}),
        ] {
            assert_eq!(read(odd).unwrap_err().code, "command_unreadable");
        }
    }
}
