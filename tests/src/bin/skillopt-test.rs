//! `skillopt` with points at which a test can end the process (`SKILLOPT_KILL_AT_COMMIT`).

fn main() -> std::process::ExitCode {
    skillopt_cli::main(std::env::args_os().collect())
}
