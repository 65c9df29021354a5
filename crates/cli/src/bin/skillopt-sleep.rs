//! The name the reference is called by: `skillopt-sleep run` is `skillopt sleep run`. It hands over to the
//! `skillopt` beside it, so that no package holds that program twice.

use std::env;
use std::io::Write;
use std::process::{Command, ExitCode};

/// What a shell gives for a program that could not be started.
const NOT_STARTED: u8 = 127;

fn main() -> ExitCode {
    let name = format!("skillopt{}", env::consts::EXE_SUFFIX);
    let program = match env::current_exe() {
        Ok(path) => path.with_file_name(name),
        Err(_) => name.into(),
    };
    let error = match hand_over(&mut Command::new(&program)) {
        Ok(code) => return code,
        Err(error) => error,
    };
    let _ = writeln!(
        std::io::stderr(),
        "skillopt-sleep: {} cannot be started: {error}. Install SkillOpt again: both programs belong into one folder.",
        program.display()
    );
    ExitCode::from(NOT_STARTED)
}

/// Becomes that program, which says the name it was called by in its usage.
#[cfg(unix)]
fn hand_over(program: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(program
        .arg0("skillopt-sleep")
        .args(env::args_os().skip(1))
        .exec())
}

/// Runs that program: here no process can become another.
#[cfg(not(unix))]
fn hand_over(program: &mut Command) -> std::io::Result<ExitCode> {
    let status = program.arg("sleep").args(env::args_os().skip(1)).status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
