//! The name the reference is called by: `skillopt-sleep run` is `skillopt sleep run`.

fn main() -> std::process::ExitCode {
    skillopt_cli::main(std::env::args_os().collect())
}
