//! `skillopt daemon`: the supervisor without a desktop.

use std::process::ExitCode;

use jiff::tz::TimeZone;
use serde_json::json;
use skillopt_app::context::App;
use skillopt_app::signals;
use skillopt_app::supervisor::{Launch, Supervising, Supervisor, SupervisorState, Why};
use skillopt_core::Problem;

use crate::{print, print_error, terminal};

/// Starts nights until the program is told to stop; with `once` only until none is due that could run.
/// Under `json` every change is one line on stdout, and `once` prints only the last state.
pub(crate) fn run(app: &App, once: bool, json: bool) -> Result<ExitCode, Problem> {
    let program = std::env::current_exe().map_err(|error| {
        Problem::permanent(
            "program_unknown",
            format!("The path of this program is not known: {error}."),
            "Start it by its whole path.",
        )
    })?;
    let launch = Launch {
        program,
        arguments: ["sleep", "run", "--json", "--request"]
            .map(Into::into)
            .to_vec(),
    };
    let runtime = skillopt_app::program::runtime()?;
    let mut heard = true;
    let last = runtime.block_on(async {
        let supervisor = Supervisor::start(app.clone(), launch);
        let mut state = supervisor.state();
        let mut said = String::new();
        let mut told = None;
        let stop = signals::told_to_end();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                changed = state.changed() => if changed.is_err() { break },
            }
            let now = state.borrow_and_update().clone();
            if once {
                if is_done(&now) {
                    break;
                }
                continue;
            }
            if json {
                if told.as_ref() != Some(&now) {
                    heard &= print(&format!("{}\n", json!(now)));
                }
                told = Some(now);
            } else if now.sentence != said {
                said.clone_from(&now.sentence);
                heard &= print(&line(app, &now));
            }
        }
        // A second time means now.
        let impatient = tokio::spawn(async {
            signals::told_again().await;
            std::process::exit(130);
        });
        supervisor.shutdown().await;
        impatient.abort();
        state.borrow().clone()
    });
    if once && json {
        heard &= print(&format!("{:#}\n", json!(last)));
    } else if once {
        heard &= print(&crate::show::status(&last, app));
    }
    if let Supervising::Another(holder) = &last.supervising {
        print_error(&format!("Another process starts the nights: {holder}."));
    }
    Ok(if heard {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn line(app: &App, state: &SupervisorState) -> String {
    let here = TimeZone::system().to_datetime(app.clock.now());
    format!(
        "{} {}\n",
        here.strftime("%Y-%m-%d %H:%M"),
        terminal::plain(&state.sentence)
    )
}

/// Whether nothing runs, and nothing that is due could.
fn is_done(state: &SupervisorState) -> bool {
    match state.supervising {
        Supervising::Another(_) => return true,
        Supervising::Nobody => return state.trouble.is_some(),
        Supervising::Here => {}
    }
    state.projects.iter().all(|project| {
        let asked = project.requested || (project.due && state.pause.is_none());
        let held = project
            .waits
            .iter()
            .any(|why| !matches!(why, Why::Provider { .. }));
        project.running.is_none() && (!asked || held)
    })
}
