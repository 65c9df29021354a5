//! Asking at the terminal whether nights may ask a provider by themselves.

use std::io::{BufRead, IsTerminal, Write};

use skillopt_app::backend::AcceptInput;
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use skillopt_app::sleep::RunOutput;
use skillopt_app::types::NightReport;
use skillopt_core::Problem;

use crate::terminal::plain;

/// Whether somebody is there to answer for a night that may not ask yet.
pub(crate) fn can_be_asked(report: &NightReport, json: bool) -> bool {
    !report.terms.is_empty()
        && !json
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Asks, and runs the night again when the answer is yes; else what came of it stays.
pub(crate) async fn ask(
    app: &App,
    run: Box<RunOutput>,
    command: Command,
) -> Result<Output, Problem> {
    let mut providers = Vec::new();
    for terms in &run.report.terms {
        let question = format!(
            "{}\n{}\nMay nights ask {} by themselves? [y/N] ",
            terms.about, terms.address, terms.provider
        );
        if !yes(app, plain(&question)).await {
            return Ok(Output::SleepRun(run));
        }
        providers.push(terms.provider.clone());
    }
    let input = AcceptInput {
        project: None,
        providers,
    };
    commands::execute(app, Command::BackendAccept(input)).await?;
    commands::execute(app, command).await
}

/// Whether the answer is yes. An order to stop is a no.
async fn yes(app: &App, question: String) -> bool {
    let (tell, told) = tokio::sync::oneshot::channel();
    // A thread of its own: nothing waits for it when the program ends before there is an answer.
    std::thread::spawn(move || {
        let mut answer = String::new();
        let _ = write!(std::io::stderr().lock(), "{question}");
        let read = std::io::stdin().lock().read_line(&mut answer);
        // Nobody listens any more after an order to stop.
        let _ = tell.send(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"));
    });
    tokio::select! {
        answer = told => answer.unwrap_or(false),
        () = app.cancel.cancelled() => false,
    }
}
