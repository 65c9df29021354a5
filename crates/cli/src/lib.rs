//! The command line of SkillOpt.
//!
//! Words become commands of the app (`translate`), outputs become text or JSON (`show`). Nothing is
//! decided here but how it looks. stdout carries data, stderr everything else.

mod args;
mod daemon;
mod manual;
mod progress;
mod setting_flags;
mod show;
mod terminal;
mod terms;
mod translate;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use skillopt_app::key::{Secret, SetInput};
use skillopt_app::program;
use skillopt_app::signals;
use skillopt_app::types::Keyring;
use skillopt_core::Problem;
use skillopt_store::SystemClock;
use skillopt_store::adoption::Recovered;

use args::{AliasCli, Cli};
use translate::{Asked, View};

/// Carries out one command line and gives its exit code.
///
/// Called as `skillopt-sleep`, it is `skillopt sleep`.
#[must_use]
pub fn main(words: Vec<OsString>) -> ExitCode {
    let json = words.iter().any(|word| word == "--json");
    let alias = called_by_the_references_name(&words);
    let matches = match words_of(alias).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, json),
    };
    let cli = match read(&matches, alias) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, json),
    };
    let (command, view) = match translate::translate(cli.command, &cli.common) {
        Asked::Command(command, view) => (command, view),
        Asked::Daemon { once } => {
            return match daemon(once, cli.common.json) {
                Ok(code) => code,
                Err(problem) => fail(&problem, cli.common.json),
            };
        }
        Asked::KeyToKeep(name) => match terminal::secret(&name) {
            Ok(secret) => {
                let secret = Secret::new(secret);
                (Command::KeySet(SetInput { name, secret }), View::Usual)
            }
            Err(error) => {
                let problem = Problem::refused(
                    "key_empty",
                    format!("The key could not be read: {error}."),
                    "Give the key on standard input, or paste it where you are asked.",
                );
                return fail(&problem, json);
            }
        },
        Asked::Completions(shell) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut words_of(false), "skillopt", &mut script);
            return printed(&String::from_utf8_lossy(&script));
        }
        Asked::Man(words) => return man(&words, json),
        Asked::Wrong(message) => {
            let problem = Problem::refused("invalid_selection", message, "See --help.");
            return fail(&problem, json);
        }
    };
    let above: &[&str] = if alias { &["sleep"] } else { &[] };
    match execute(&cli.common, setting_flags::given(&matches, above), command) {
        Ok((output, app)) => finish(&output, view, cli.common.json, &app),
        Err(problem) => fail(&problem, cli.common.json),
    }
}

/// `skillopt-sleep run` is `skillopt sleep run`.
fn called_by_the_references_name(words: &[OsString]) -> bool {
    let name = words.first().map(std::path::PathBuf::from);
    name.as_ref()
        .and_then(|path| path.file_stem())
        .is_some_and(|stem| stem == "skillopt-sleep")
}

/// Every word the program knows.
fn words_of(alias: bool) -> clap::Command {
    if alias {
        setting_flags::add_to(AliasCli::command(), &["sleep"])
    } else {
        setting_flags::add_to(Cli::command(), &[])
    }
}

fn read(matches: &clap::ArgMatches, alias: bool) -> Result<Cli, clap::Error> {
    if !alias {
        return Cli::from_arg_matches(matches);
    }
    let AliasCli { common, command } = AliasCli::from_arg_matches(matches)?;
    Ok(Cli {
        common,
        command: args::Verb::Sleep(command),
    })
}

/// Opens the store for the daemon and runs it.
fn daemon(once: bool, json: bool) -> Result<ExitCode, Problem> {
    let (environment, directory) = surroundings()?;
    let app = App::open(environment, directory, Arc::new(SystemClock))?;
    daemon::run(&app, once, json)
}

/// The environment, and the folder the user is in.
fn surroundings() -> Result<(BTreeMap<String, String>, PathBuf), Problem> {
    let directory = std::env::current_dir().map_err(|error| {
        Problem::refused(
            "project_folder_missing",
            format!("The folder you are in cannot be opened: {error}."),
            "Go into a folder that exists.",
        )
    })?;
    Ok((program::environment(), directory))
}

fn execute(
    common: &args::EveryCommand,
    settings: Vec<(String, String)>,
    command: Command,
) -> Result<(Output, App), Problem> {
    let (environment, directory) = surroundings()?;
    let mut app = match &command {
        // The database must not be open while it is replaced.
        Command::DataRestore(_) => App::apart(environment, directory, Arc::new(SystemClock), None)?,
        // What cannot be opened is what doctor is asked about.
        Command::Doctor(_) => {
            match App::open(
                environment.clone(),
                directory.clone(),
                Arc::new(SystemClock),
            ) {
                Ok(app) => app,
                Err(problem) => {
                    App::apart(environment, directory, Arc::new(SystemClock), Some(problem))?
                }
            }
        }
        // It has a home of its own; nothing of it belongs into the user's.
        Command::Demo(_) => App::apart(environment, directory, Arc::new(SystemClock), None)?,
        _ => App::open(environment, directory, Arc::new(SystemClock))?,
    };
    app.flags = settings;
    app.keyring = Keyring::of_the_system();
    let progress = progress::Progress::start(common.progress, common.json);
    app.listener = progress.listener();
    let runtime = program::runtime()?;
    for sentence in app.recovered.iter().flat_map(Recovered::sentences) {
        print_error(&sentence);
    }
    let cancel = app.cancel.clone();
    let result = runtime.block_on(async {
        let stop = tokio::spawn(async move {
            signals::stop(cancel).await;
            signals::told_to_end().await;
            std::process::exit(130);
        });
        let result = commands::execute(&app, command.clone()).await;
        let result = match result {
            Ok(Output::SleepRun(run)) if terms::can_be_asked(&run.report, common.json) => {
                progress.pause();
                terms::ask(&app, run, command).await
            }
            other => other,
        };
        stop.abort();
        result
    });
    progress.finish();
    result.map(|output| (output, app))
}

fn finish(output: &Output, view: View, json: bool, app: &App) -> ExitCode {
    let text = if json {
        None
    } else {
        Some(show::text(output, view, app))
    };
    let text = text.unwrap_or_else(|| show::json(output));
    if !print(&text) {
        return ExitCode::FAILURE;
    }
    ExitCode::from(show::exit_code(output, view))
}

/// Writes to stdout; whether it arrived. A reader that has gone (`skillopt … | head`) wants no more.
fn print(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => true,
        Err(error) => {
            print_error(&format!("The output could not be written: {error}."));
            false
        }
    }
}

/// Writes to stdout what was asked for, and nothing else was.
fn printed(text: &str) -> ExitCode {
    if print(text) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn fail(problem: &Problem, json: bool) -> ExitCode {
    if json {
        print(&format!("{}\n", problem.as_json()));
    } else {
        print_error(&format!(
            "{}\n{}\n({})",
            terminal::plain(&problem.message),
            terminal::plain(&problem.guidance),
            problem.code
        ));
    }
    ExitCode::from(program::exit_code(problem))
}

/// Wrong words: exit 2, help and version: exit 0. A flag of the reference says what there is instead.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let shown = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if shown {
        return printed(&error.render().to_string());
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(problem) = setting_flags::of_the_reference(flag)
    {
        return fail(&problem, json);
    }
    if json {
        let message = text.lines().next().unwrap_or_default();
        let message = message.trim_start_matches("error: ");
        let problem = Problem::refused("usage", message, "See `skillopt --help`.");
        return fail(&problem, true);
    }
    print_error(text.trim_end());
    ExitCode::from(2)
}

fn man(words: &[String], json: bool) -> ExitCode {
    match manual::page(words_of(false), words) {
        Some(Ok(page)) => printed(&page),
        Some(Err(_)) => ExitCode::from(1),
        None => {
            let problem = Problem::refused(
                "usage",
                format!(
                    "There is no command \"{}\".",
                    words.join(" ").escape_debug()
                ),
                "`skillopt --help` lists the commands.",
            );
            fail(&problem, json)
        }
    }
}
