//! `cargo xtask ui`: the pages of the windows.

use crate::Stop;
use crate::command::{Step, of_npm, program, root};

/// Installs what the pages are built with, and builds them into `ui/dist`, which the desktop app embeds.
pub(crate) fn build() -> Result<(), Stop> {
    let installed = root().join("ui/node_modules/.package-lock.json");
    let lock = root().join("ui/package-lock.json");
    let newer = |path: &std::path::Path| {
        std::fs::metadata(path)
            .and_then(|file| file.modified())
            .ok()
    };
    if newer(&installed) < newer(&lock) {
        npm(&["ci", "--no-audit", "--no-fund"]).run_quietly("what the pages are built with")?;
    }
    npm(&["run", "build"]).run_quietly("the pages of the windows")?;
    Ok(())
}

/// Runs the tests of the pages, in a browser and without.
pub(crate) fn test() -> Result<(), Stop> {
    npm(&["test"]).run("tests of the pages")
}

/// npm with these arguments, in `ui`. What the pages are built with needs npm 11; an older one fetches it.
fn npm(arguments: &[&str]) -> Step {
    let version = program(of_npm("npm"), ["--version"])
        .into_command()
        .output();
    let major = version
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.split('.').next()?.trim().parse::<u32>().ok());
    let step = match major {
        Some(0..11) => program(of_npm("npx"), ["--yes", "npm@11"]),
        Some(_) | None => program(of_npm("npm"), [""; 0]),
    };
    step.args(["--prefix", "ui"]).args(arguments)
}
