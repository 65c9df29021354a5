//! What must be on the machine, and installing what is missing.

use std::io::{IsTerminal, Write};

use crate::Stop;
use crate::command::{cargo, program, say};

/// The version of nextest that is installed when there is none.
const NEXTEST: &str = "0.9.143";

/// A program that is looked for on the search path, and the Debian package that has it.
pub(crate) struct Need {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

/// To build everything and run the tests.
pub(crate) const FOR_TESTS: &[Need] = &[
    Need {
        program: "cc",
        package: "build-essential",
        why: "SQLite, zstd and ring are built from C",
    },
    Need {
        program: "git",
        package: "git",
        why: "tests make repositories and worktrees",
    },
    #[cfg(target_os = "linux")]
    Need {
        program: "dbus-daemon",
        package: "dbus-daemon",
        why: "tests have a bus of their own for network, idleness, sleep and keys",
    },
    #[cfg(target_os = "linux")]
    Need {
        program: "gnome-keyring-daemon",
        package: "gnome-keyring",
        why: "tests keep keys in a real keyring",
    },
];

/// To build the program alone.
pub(crate) const FOR_BUILDING: &[Need] = &[Need {
    program: "cc",
    package: "build-essential",
    why: "SQLite, zstd and ring are built from C",
}];

/// To build the fuzz targets.
pub(crate) const FOR_FUZZING: &[Need] = &[Need {
    program: "c++",
    package: "build-essential",
    why: "libFuzzer is built from C++",
}];

/// Installs the packages that are missing, after showing the line and asking on a terminal.
pub(crate) fn system(needs: &[Need], yes: bool) -> Result<(), Stop> {
    let missing: Vec<&Need> = needs
        .iter()
        .filter(|need| !is_installed(need.program))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        eprintln!("missing: {} ({})", need.program, need.why);
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    if !is_installed("apt-get") {
        return Err(Stop::Because(format!(
            "install the programs above with your system's package manager, then run this again \
             (on Debian and Ubuntu the packages are: {})",
            packages.join(" ")
        )));
    }
    let as_root = !program("id", ["-u"])
        .into_command()
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let prefix: &[&str] = if as_root { &["sudo"] } else { &[] };
    let install = ["apt-get", "install", "-y", "--no-install-recommends"];
    let line: Vec<&str> = prefix
        .iter()
        .chain(&install)
        .chain(&packages)
        .copied()
        .collect();
    agree(&line.join(" "), yes)?;
    let apt = |arguments: &[&str]| {
        let line: Vec<&str> = prefix
            .iter()
            .copied()
            .chain(arguments.iter().copied())
            .collect();
        program(line[0], &line[1..]).env("DEBIAN_FRONTEND", "noninteractive")
    };
    apt(&["apt-get", "update", "-qq"]).run("package lists")?;
    apt(&line[prefix.len()..]).run("system packages")
}

/// Installs cargo-nextest when there is none. Any version that runs will do.
pub(crate) fn nextest(yes: bool) -> Result<(), Stop> {
    if cargo(["nextest", "--version"]).succeeds() {
        return Ok(());
    }
    let line = ["install", "--locked", "cargo-nextest", "--version", NEXTEST];
    eprintln!("missing: cargo-nextest (runs the tests)");
    agree(&format!("cargo {}", line.join(" ")), yes)?;
    cargo(line).run("cargo-nextest")
}

/// Installs cargo-fuzz when there is none.
pub(crate) fn cargo_fuzz(yes: bool) -> Result<(), Stop> {
    if cargo(["fuzz", "--version"]).succeeds() {
        return Ok(());
    }
    let line = ["install", "--locked", "cargo-fuzz", "--version", "0.13.2"];
    eprintln!("missing: cargo-fuzz (drives libFuzzer)");
    agree(&format!("cargo {}", line.join(" ")), yes)?;
    cargo(line).run("cargo-fuzz")
}

/// Shows the line. On a terminal it waits for a yes, elsewhere it goes on.
fn agree(line: &str, yes: bool) -> Result<(), Stop> {
    if yes || !std::io::stdin().is_terminal() {
        say(line);
        return Ok(());
    }
    eprint!("Run `{line}`? [Y/n] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "" | "y" | "yes" => Ok(()),
        _ => Err(Stop::Because(format!(
            "nothing was installed; run `{line}` yourself, then run this again"
        ))),
    }
}

fn is_installed(name: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    std::env::split_paths(&path)
        .any(|folder| folder.join(name).is_file() || folder.join(format!("{name}.exe")).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_search_path_only() {
        assert!(is_installed("cargo"));
        assert!(!is_installed("no-such-program-anywhere"));
    }
}
