//! The words of the command line: which flags a command takes, its manual, its other name.

#![allow(clippy::disallowed_methods, reason = "a test copies the program")]

use skillopt_settings::ROWS;
use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn help(home: &Home, command: &[&str]) -> String {
    let ran = home.run(&[command, &["--help"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

#[test]
fn settings_are_flags_only_where_they_matter() {
    let home = Home::empty(PROGRAM);
    for command in [
        &["completions"][..],
        &["demo"],
        &["project", "list"],
        &["data", "purge"],
        &["proposal", "show"],
    ] {
        let text = help(&home, command);
        for row in ROWS {
            assert!(
                !text.contains(&format!("--{} ", row.flag)),
                "{command:?} takes --{}",
                row.flag
            );
        }
    }
    let run = help(&home, &["sleep", "run"]);
    let shown = help(&home, &["config", "show"]);
    for row in ROWS {
        let flag = format!("--{}", row.flag);
        assert_eq!(run.contains(&flag), row.group() != "desktop", "{flag}");
        assert!(shown.contains(&flag), "{flag}");
    }
    let harvest = help(&home, &["sleep", "harvest"]);
    assert!(harvest.contains("--lookback-hours") && !harvest.contains("--max-cost"));

    let status = help(&home, &["sleep", "status"]);
    assert!(status.contains("--hour") && !status.contains("--max-cost"));

    let unknown = home.run(&["project", "list", "--backend=mock", "--json"]);
    assert_eq!(
        (unknown.code, unknown.json()["error"].as_str()),
        (2, Some("usage"))
    );
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let home = Home::empty(PROGRAM);
    let whole = home.run(&["man"]).out;
    for heading in [
        "DESCRIPTION",
        "SUBCOMMANDS",
        "EXIT STATUS",
        "FILES",
        "EXAMPLES",
    ] {
        assert!(whole.contains(heading), "{heading}: {whole}");
    }
    assert!(
        !whole.contains("max\\-cost"),
        "settings are on the pages of their commands"
    );
    let run = home.run(&["man", "sleep", "run"]).out;
    assert!(
        run.contains("How much money one night may cost") && run.contains("EXIT STATUS"),
        "{run}"
    );
    let head = run.lines().find(|line| line.starts_with(".TH")).unwrap();
    let version = concat!("SkillOpt ", env!("CARGO_PKG_VERSION"));
    assert!(head.contains("sleep") && head.contains(version), "{head}");
    let (_, synopsis) = run.split_once(".SH SYNOPSIS").unwrap();
    let (synopsis, _) = synopsis.split_once(".SH").unwrap();
    assert!(synopsis.contains("[OPTIONS]"), "{synopsis}");
    assert!(synopsis.lines().all(|line| line.len() < 200), "{synopsis}");
    let none = home.run(&["man", "sleep", "walk", "--json"]);
    assert_eq!(
        (none.code, none.json()["error"].as_str()),
        (2, Some("usage"))
    );
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_a_failure_and_said() {
    let home = Home::after_demo(PROGRAM);
    for words in [
        &["man"][..],
        &["man", "sleep", "run"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["status"],
        &["status", "--json"],
        &["config", "show", "--json"],
        &["proposal", "show", "--json"],
        &["sleep", "dry-run", "--json"],
        &["man", "nothing", "--json"],
        &["no-such-command", "--json"],
        &["daemon", "--once"],
        &["daemon", "--once", "--json"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("the device");
        let ran = home.run_into(words, full);
        assert!(ran.code > 0, "{words:?}: {}", ran.err);
        assert!(
            ran.err.contains("The output could not be written"),
            "{words:?}: {}",
            ran.err
        );
    }
}

#[test]
fn the_references_name_has_usage_and_version_of_its_own() {
    let home = Home::empty(PROGRAM);
    let alias = home.path().join("skillopt-sleep");
    std::fs::copy(PROGRAM, &alias).unwrap();
    let said = |words: &[&str]| {
        let output = std::process::Command::new(&alias)
            .args(words)
            .env_clear()
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said(&["--version"]).starts_with("skillopt-sleep "));
    let usage = said(&["run", "--help"]);
    assert!(usage.contains("Usage: skillopt-sleep run"), "{usage}");
    assert!(usage.contains("--lookback-hours"), "{usage}");
}
