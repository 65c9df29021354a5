//! The stub of an agent's program; see `skillopt_tests::stub_cli`.

fn main() -> std::process::ExitCode {
    skillopt_tests::stub_cli::main()
}
