//! `cargo xtask docs`: writes the generated pages of `docs/` again.

use crate::Stop;
use crate::command::cargo;
use crate::private_home::PrivateHome;

/// The test that checks the generated pages writes them when it is asked to.
pub(crate) fn run() -> Result<(), Stop> {
    let home = PrivateHome::new()?;
    cargo([
        "test",
        "--quiet",
        "--package",
        "skillopt-tests",
        "--test",
        "pages",
        "--test",
        "failures",
    ])
    .with(|command| home.apply(command))
    .env("SKILLOPT_WRITE_PAGES", "1")
    .run_quietly("generated pages")?;
    Ok(())
}
