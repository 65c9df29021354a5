//! What must be on the machine, and installing what is missing.

use std::io::{IsTerminal, Write};

use crate::Stop;
use crate::command::{cargo, program, say};

/// The version of nextest that is installed when there is none.
const NEXTEST: &str = "0.9.143";

/// Something a step needs, and the Debian package that has it.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// A program on the search path, or, for libraries, the whole path of a file.
    found: &'static str,
    package: &'static str,
    why: &'static str,
}

#[cfg(not(windows))]
const COMPILER: Need = need(
    "cc",
    "build-essential",
    "SQLite, zstd and ring are built from C",
);

/// To build the program alone.
#[cfg(not(windows))]
pub(crate) const FOR_BUILDING: &[Need] = &[COMPILER];
/// To build the program alone: Rust is installed with the compiler of Visual Studio, which is found without
/// the search path.
#[cfg(windows)]
pub(crate) const FOR_BUILDING: &[Need] = &[];

/// To build everything, the windows of the desktop and its packages included.
#[cfg(target_os = "linux")]
pub(crate) const FOR_PACKAGES: &[Need] = &[
    COMPILER,
    need(
        "pkg-config",
        "pkg-config",
        "finds the libraries of the windows",
    ),
    need(
        "/usr/include/webkitgtk-4.1/webkit2/webkit2.h",
        "libwebkit2gtk-4.1-dev",
        "the windows are shown by WebKit",
    ),
    NPM,
    need(
        "dpkg",
        "dpkg",
        "the package for Debian is packed and tried with it",
    ),
];

/// To run the tests, besides what building needs.
#[cfg(target_os = "linux")]
const FOR_TESTS: &[Need] = &[
    GIT,
    need("chromium", "chromium", "the pages are tested in a browser"),
    need(
        "Xvfb",
        "xvfb",
        "tests open windows on a screen of their own",
    ),
    need(
        "rpm",
        "rpm",
        "tests install the package for Fedora and SUSE",
    ),
    need("openbox", "openbox", "windows get the focus from it"),
    need("wmctrl", "wmctrl", "tests name and close windows with it"),
    need(
        "xdotool",
        "xdotool",
        "tests move the pointer, and ask which window is in front",
    ),
    // Its bindings of GTK come with WebKit's headers.
    need(
        "/usr/lib/python3/dist-packages/gi/__init__.py",
        "python3-gi",
        "tests drag files out of a program written with it",
    ),
    need(
        "dbus-monitor",
        "dbus-bin",
        "tests count what is asked of the keyring",
    ),
    need(
        "WebKitWebDriver",
        "webkit2gtk-driver",
        "tests click in the windows",
    ),
    need(
        "dbus-daemon",
        "dbus-daemon",
        "tests have a session bus of their own",
    ),
    need(
        "gnome-keyring-daemon",
        "gnome-keyring",
        "tests keep keys in a real keyring",
    ),
];

/// To build everything.
#[cfg(not(target_os = "linux"))]
pub(crate) const FOR_PACKAGES: &[Need] = &[
    #[cfg(not(windows))]
    COMPILER,
    NPM,
];

/// To run the tests, besides what building needs.
#[cfg(not(target_os = "linux"))]
const FOR_TESTS: &[Need] = &[GIT];

const NPM: Need = need("npm", "npm", "builds the pages of the windows");
const GIT: Need = need("git", "git", "tests make repositories and worktrees");

const fn need(found: &'static str, package: &'static str, why: &'static str) -> Need {
    Need {
        found,
        package,
        why,
    }
}

/// To build the fuzz targets.
pub(crate) const FOR_FUZZING: &[Need] = &[need(
    "c++",
    "build-essential",
    "libFuzzer is built from C++",
)];

/// Installs what building everything and running the tests needs.
pub(crate) fn of_tests(yes: bool) -> Result<(), Stop> {
    system(&[FOR_PACKAGES, FOR_TESTS].concat(), yes)
}

/// Installs the packages that are missing, after showing the line and asking on a terminal.
pub(crate) fn system(needs: &[Need], yes: bool) -> Result<(), Stop> {
    let missing: Vec<&Need> = needs
        .iter()
        .filter(|need| !is_installed(need.found))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        eprintln!("missing: {} ({})", need.found, need.why);
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    if !is_installed("apt-get") {
        return Err(Stop::Because(format!(
            "install what is missing above with your system's package manager, then run this again \
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

/// Whether there is such a program or, for a whole path, such a file: joined to any folder, it stays itself.
fn is_installed(name: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    std::env::split_paths(&path).any(|folder| {
        ["", ".exe", ".cmd"]
            .iter()
            .any(|ending| folder.join(format!("{name}{ending}")).is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_search_path_only_and_a_file_anywhere() {
        assert!(is_installed("cargo"));
        assert!(!is_installed("no-such-program-anywhere"));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(is_installed(file));
        assert!(!is_installed(&format!("{file}.missing")));
    }
}
