//! `cargo xtask test`: everything that has to hold before a change goes in.

use crate::Stop;
use crate::command::{cargo, on_ci, root, say};
use crate::needs;
use crate::private_home::PrivateHome;
use crate::ui;

struct Options<'a> {
    yes: bool,
    fast: bool,
    nextest: &'a [String],
}

/// Runs the checks, cheapest first. The tests come last, so that the runner's summary is the last
/// thing on the screen.
pub(crate) fn run(arguments: &[String]) -> Result<(), Stop> {
    let options = options(arguments)?;
    needs::of_tests(options.yes)?;
    needs::nextest(options.yes)?;

    cargo(["fmt", "--all", "--check"]).run("formatting")?;
    licences()?;
    // The desktop app embeds them.
    ui::build()?;
    clippy()?;
    if !options.fast {
        documentation()?;
        ui::test()?;
        failures()?;
    }
    tests(options.nextest)
}

/// What people are told when a backend fails; the tests hold the page against what they find.
fn failures() -> Result<(), Stop> {
    let page = std::fs::read_to_string(root().join("docs/failures.md"))?;
    say("what is told when a server or an agent's program fails (docs/failures.md):");
    for line in tables(&page) {
        println!("{line}");
    }
    Ok(())
}

/// The tables of a page, with the headings above them.
fn tables(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter(|line| line.starts_with('|') || line.starts_with("## "))
}

fn options(arguments: &[String]) -> Result<Options<'_>, Stop> {
    let mut options = Options {
        yes: false,
        fast: false,
        nextest: &[],
    };
    for (position, argument) in arguments.iter().enumerate() {
        match argument.as_str() {
            "--yes" | "-y" => options.yes = true,
            "--fast" => options.fast = true,
            "--" => {
                options.nextest = &arguments[position + 1..];
                break;
            }
            other => {
                return Err(Stop::Because(format!(
                    "`test` does not know \"{other}\"; arguments for nextest go behind `--`"
                )));
            }
        }
    }
    Ok(options)
}

/// On CI the lock file must be the one that was committed.
fn locked() -> &'static [&'static str] {
    if on_ci() { &["--locked"] } else { &[] }
}

/// What depends on the lock file alone. Advisories change with the world, not with a commit, and
/// need a network: `cargo deny check advisories` is a job of its own.
fn licences() -> Result<(), Stop> {
    if !cargo(["deny", "--version"]).succeeds() {
        say(
            "licences, bans and sources: skipped, cargo-deny is not installed (cargo install --locked cargo-deny)",
        );
        return Ok(());
    }
    cargo([
        "deny",
        "--workspace",
        "--offline",
        "check",
        "licenses",
        "bans",
        "sources",
    ])
    .run("licences, bans and sources")
}

fn clippy() -> Result<(), Stop> {
    let lints: &[&str] = if on_ci() {
        &["--", "-D", "warnings"]
    } else {
        &[]
    };
    cargo(["clippy", "--workspace", "--all-targets"])
        .args(locked())
        .args(lints)
        .run("clippy")
}

fn documentation() -> Result<(), Stop> {
    let flags = if on_ci() { "-D warnings" } else { "" };
    cargo([
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ])
    .args(locked())
    .env("RUSTDOCFLAGS", flags)
    .run_quietly("documentation")?;
    Ok(())
}

fn tests(arguments: &[String]) -> Result<(), Stop> {
    let home = PrivateHome::new()?;
    let profile: &[&str] = if on_ci() { &["--profile", "ci"] } else { &[] };
    cargo(["nextest", "run", "--workspace"])
        .args(locked())
        .args(profile)
        .args(arguments)
        .with(|command| home.apply(command))
        .run("tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_two_dashes_goes_to_nextest() {
        let arguments = ["--fast", "--", "--yes", "-p", "x"].map(str::to_owned);
        let options = options(&arguments).ok().expect("these are known");
        assert!(options.fast && !options.yes);
        assert_eq!(options.nextest, ["--yes", "-p", "x"]);
    }

    #[test]
    fn the_failures_of_servers_and_of_programs_are_shown() {
        let page = std::fs::read_to_string(root().join("docs/failures.md"))
            .expect("the page is in the repository");
        let shown: Vec<&str> = tables(&page).collect();
        let place = |begins: &str| shown.iter().position(|line| line.starts_with(begins));
        let programs = place("## Programs of agents").expect("a heading");
        assert!(
            place("| 401 |").is_some_and(|row| row < programs),
            "{shown:?}"
        );
        assert!(
            place("| it crashes |").is_some_and(|row| row > programs),
            "{shown:?}"
        );
    }

    #[test]
    fn an_unknown_argument_is_refused() {
        assert!(matches!(
            options(&["--slow".to_owned()]),
            Err(Stop::Because(_))
        ));
    }
}
