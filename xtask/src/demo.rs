//! `cargo xtask demo`: a whole night on sample transcripts, from a checkout, touching nothing.

use crate::Stop;
use crate::command::cargo;
use crate::needs;
use crate::private_home::PrivateHome;

/// Builds `skillopt` and runs `skillopt demo` with `arguments` in a temporary home.
///
/// In the dev profile: on a cold machine it is ready in a fraction of the time that a release
/// build takes, and its dependencies are optimised anyway.
pub(crate) fn run(arguments: &[String]) -> Result<(), Stop> {
    needs::system(needs::FOR_BUILDING, false)?;
    let home = PrivateHome::new()?;
    cargo([
        "run",
        "--package",
        "skillopt-cli",
        "--bin",
        "skillopt",
        "--",
        "demo",
    ])
    .args(arguments)
    .with(|command| home.apply(command))
    .run("skillopt demo")
}
