//! The desktop app: a tray that keeps the schedule, windows that show what it found.
//!
//! One program in three roles, each a process of its own: the tray, which is always there and stays
//! small; the windows, which exist while one is open; a night, while it runs. They are peers over the
//! store. Nothing is decided here: what a command does is in `skillopt-app`.

#![cfg_attr(windows, windows_subsystem = "windows")]
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program of its own, started from terminals too"
)]

mod asked;
mod autostart;
mod calls;
mod display;
mod folders;
mod host;
mod instance;
mod menu;
mod night;
mod notify;
mod opened;
#[cfg(target_os = "linux")]
mod page;
mod place;
mod said;
mod session;
mod start;
mod surroundings;
mod text;
mod tray;
mod windows;
mod words;

use std::process::ExitCode;

use start::Start;

fn main() -> ExitCode {
    match start::read(std::env::args_os().skip(1)) {
        Start::Tray { open, quietly } => tray::around(move || host::run(open, quietly)),
        Start::Windows { first, attached } => windows::run(first, attached),
        Start::Night(words) => night::run(&words),
        Start::Say(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Start::Wrong(sentence) => {
            eprintln!("{sentence}\nSee `skillopt-desktop --help`.\n(usage)");
            ExitCode::from(2)
        }
    }
}
