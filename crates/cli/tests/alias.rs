//! `skillopt-sleep` as it is installed: a small program beside `skillopt`.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails where something is missing"
)]

use std::path::Path;
use std::process::{Command, Output};

fn run(program: &Path, words: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(program)
        .args(words)
        .env_clear()
        .env("HOME", home.path())
        .output()
        .unwrap()
}

#[test]
fn it_is_the_program_beside_it_by_another_name() {
    let alias = Path::new(env!("CARGO_BIN_EXE_skillopt-sleep"));
    let version = run(alias, &["--version"]);
    assert!(
        version.stdout.starts_with(b"skillopt-sleep "),
        "{version:?}"
    );
    let dry = run(alias, &["dry-run", "--json"]);
    let same = run(
        Path::new(env!("CARGO_BIN_EXE_skillopt")),
        &["sleep", "dry-run", "--json"],
    );
    assert_eq!(dry.status.code(), same.status.code());
    assert_eq!(run(alias, &["walk"]).status.code(), Some(2));
}

#[test]
fn it_says_when_the_other_program_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let alias = folder.path().join("skillopt-sleep");
    std::fs::copy(env!("CARGO_BIN_EXE_skillopt-sleep"), &alias).unwrap();
    let output = run(&alias, &["run"]);
    assert_eq!(output.status.code(), Some(127));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Install SkillOpt again"), "{said}");
}
