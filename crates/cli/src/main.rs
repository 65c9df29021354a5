//! `skillopt` and its alias `skillopt-sleep`.

fn main() -> std::process::ExitCode {
    skillopt_cli::main(std::env::args_os().collect())
}
