//! `cargo xtask …`: what a developer, a new user with a checkout, and CI run.
//!
//! Built on the standard library alone, so that the first command on a cold machine starts within
//! seconds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool whose output is for a terminal"
)]

mod bench;
mod check_targets;
mod command;
mod demo;
mod docs;
mod fuzz;
mod needs;
mod package;
mod private_home;
mod test;
mod test_clis;
mod test_model;
mod ui;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo [ARGUMENTS…]          build `skillopt` and run `skillopt demo` in a temporary home
  test [--yes] [--fast] [-- NEXTEST ARGUMENTS…]
                             formatting, clippy, licences, documentation, every test
                             --yes   install what is missing without asking
                             --fast  formatting, clippy and tests only
  test-clis [AGENT…]         install the real programs of agents from npm below target/, and drive each
                             against a server on this computer
  test-model                 install llama.cpp's server with a small model below target/, and make a whole
                             night with it
  bench [NAME…]              run the benchmarks; prints rows for docs/performance.md
  footprint                  measure what the desktop app costs while nobody looks, and its windows
  fuzz [SECONDS] [TARGET…]   fuzz the readers of hostile input, SECONDS (60) for each target
  ui                         build the pages of the windows into ui/dist
  check-targets [TARGET…]    type-check the product for Windows and macOS, without linking; needs their
                             standard libraries from rustup, or Debian
  package [--bundles LIST]   build the packages of this system below target/release/bundle
  docs                       write the generated pages in docs/ again
  deps                       show crates that are built in more than one version
";

/// Why a command ended early: a sentence that was not yet shown, or a step that spoke for itself.
pub(crate) enum Stop {
    /// To be printed as one line.
    Because(String),
    /// The step that failed has already said why.
    Shown,
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Because(error.to_string())
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_str() {
        "demo" => demo::run(&rest),
        "test" => test::run(&rest),
        "test-clis" => test_clis::run(&rest),
        "test-model" => test_model::run(),
        "bench" => bench::run(&rest),
        "footprint" => bench::run(&[bench::FOOTPRINT.to_owned()]),
        "fuzz" => fuzz::run(&rest),
        "check-targets" => check_targets::run(&rest),
        "docs" => docs::run(),
        "ui" => ui::build(),
        "package" => package::run(&rest),
        "deps" => command::cargo(["tree", "--duplicates", "--workspace"]).run("duplicate crates"),
        "" | "help" | "-h" | "--help" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => Err(Stop::Because(format!(
            "there is no command \"{other}\"\n\n{USAGE}"
        ))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Shown) => ExitCode::FAILURE,
        Err(Stop::Because(reason)) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
