//! One night, as a child of the tray: asked for in JSON, its report printed in JSON.

use std::process::ExitCode;

use skillopt_app::commands::{self, Command, Output};
use skillopt_app::sleep::RunInput;
use skillopt_app::{Problem, program, signals};

use crate::surroundings;

/// Runs the night that `words` ask for: one word, a [`RunInput`] as JSON.
pub(crate) fn run(words: &[String]) -> ExitCode {
    match tonight(words) {
        Ok((json, code)) => {
            println!("{json}");
            ExitCode::from(code)
        }
        Err(problem) => {
            println!("{}", problem.as_json());
            ExitCode::from(program::exit_code(&problem))
        }
    }
}

fn tonight(words: &[String]) -> Result<(String, u8), Problem> {
    let input: RunInput = match words {
        [text] => serde_json::from_str(text).map_err(|error| crate::asked::unreadable(&error))?,
        _ => {
            return Err(Problem::refused(
                "usage",
                "A night takes one request.",
                "Use `skillopt sleep run`.",
            ));
        }
    };
    let app = surroundings::app()?;
    let runtime = program::runtime()?;
    let cancel = app.cancel.clone();
    runtime.block_on(async {
        let stop = tokio::spawn(signals::stop(cancel));
        let output = commands::execute(&app, Command::SleepRun(input)).await;
        stop.abort();
        match output? {
            Output::SleepRun(run) => Ok((serde_json::json!(run.report).to_string(), run.exit_code)),
            other => Ok((serde_json::json!(other).to_string(), 0)),
        }
    })
}
