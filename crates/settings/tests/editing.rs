//! Changing a settings file by `config set`.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use std::path::Path;

use proptest::prelude::*;
use skillopt_settings::{ROWS, Settings, set, unset};

const FILE: &str = "settings.toml";

#[track_caller]
fn changed(text: &str, key: &str, value: &str) -> String {
    set(text, Path::new(FILE), key, value, &Settings::default()).unwrap()
}

#[test]
fn a_new_file_holds_one_difference() {
    assert_eq!(
        changed("", "models.backend", "claude"),
        "[models]\nbackend = \"claude\"\n"
    );
    assert_eq!(
        changed("", "max_tasks_per_night", "7"),
        "[mines]\nmax_tasks_per_night = 7\n"
    );
    assert_eq!(
        changed("", "models.backend", "mock"),
        "",
        "the default is no difference"
    );
}

#[test]
fn comments_and_order_stay() {
    let text = "# my file\n\n[models]  # who\n# cheap\nbackend = \"claude\" # for now\nmodel = \"x\"\n\n[gate]\nmode = \"off\"\n# the end\n";
    let expected = "# my file\n\n[models]  # who\n# cheap\nbackend = \"handoff\" # for now\nmodel = \"x\"\n\n[gate]\nmode = \"off\"\n# the end\n";
    assert_eq!(changed(text, "models.backend", "handoff"), expected);
    let added = changed(text, "schedule.hour", "4");
    assert!(
        added.starts_with(text.trim_end_matches("# the end\n"))
            && added.contains("[schedule]\nhour = 4\n")
            && added.contains("# the end")
    );
}

#[test]
fn a_value_equal_to_the_layer_below_is_removed_and_its_comments_stay() {
    let text = "[models]\n# cheap\nbackend = \"claude\" # for now\nmodel = \"x\"\n";
    assert_eq!(
        changed(text, "models.backend", "mock"),
        "[models]\n# cheap\n# for now\nmodel = \"x\"\n"
    );
    let text = "[models]\n# cheap\nbackend = \"claude\"\n\n[gate]\nmode = \"off\"\n";
    let removed = changed(text, "models.backend", "mock");
    assert!(
        removed.contains("# cheap")
            && !removed.contains("[models]")
            && removed.ends_with("[gate]\nmode = \"off\"\n"),
        "{removed}"
    );
    let text = "[gate]\nmode = \"off\"\n\n[models]\n# last\nbackend = \"claude\"\n";
    let removed = changed(text, "models.backend", "mock");
    assert!(
        removed.contains("# last") && !removed.contains("[models]"),
        "{removed}"
    );
    let below = Settings {
        backend: "claude".into(),
        ..Settings::default()
    };
    let text = "[models]\nbackend = \"claude\"\n";
    assert_eq!(
        set(text, Path::new(FILE), "models.backend", "claude", &below).unwrap(),
        ""
    );
    assert_eq!(
        set("", Path::new(FILE), "models.backend", "mock", &below).unwrap(),
        "[models]\nbackend = \"mock\"\n"
    );
}

#[test]
fn dotted_and_inline_tables_are_edited_in_place() {
    assert_eq!(
        changed("models.backend = \"claude\"\n", "models.backend", "handoff"),
        "models.backend = \"handoff\"\n"
    );
    assert_eq!(
        changed("models = { backend = \"claude\" }\n", "models.model", "x"),
        "models = { backend = \"claude\", model = \"x\" }\n"
    );
}

#[test]
fn line_ends_and_mark_stay() {
    assert_eq!(
        changed(
            "\u{feff}[models]\r\nmodel = \"x\"\r\n",
            "models.backend",
            "claude"
        ),
        "\u{feff}[models]\r\nmodel = \"x\"\r\nbackend = \"claude\"\r\n"
    );
}

#[test]
fn bad_requests_change_nothing() {
    let problem = |text: &str, key: &str, value: &str| {
        set(text, Path::new(FILE), key, value, &Settings::default())
            .unwrap_err()
            .code
            .into_owned()
    };
    assert_eq!(problem("", "models.backnd", "x"), "setting_unknown");
    assert_eq!(problem("", "models.backend", "x"), "backend_unknown");
    assert_eq!(
        problem("", "gate.no_regression", "maybe"),
        "setting_invalid"
    );
    assert_eq!(problem("[broken", "models.model", "x"), "config_broken");
    assert_eq!(
        problem("models = 3\n", "models.model", "x"),
        "setting_invalid"
    );
    assert_eq!(
        unset("[broken", Path::new(FILE), "models.model")
            .unwrap_err()
            .code,
        "config_broken"
    );
    assert_eq!(
        unset("a = 1\n", Path::new(FILE), "models.model").unwrap(),
        "a = 1\n"
    );
}

proptest! {
    #[test]
    fn other_lines_never_change(
        index in 0..ROWS.len(),
        other in 0..ROWS.len(),
        comment in "[a-zA-Z ]{0,20}",
        number in 1_u32..20,
    ) {
        let (row, neighbour) = (&ROWS[index], &ROWS[other]);
        prop_assume!(row.key != neighbour.key);
        let text = format!("# {comment}\n[{}]\n# {comment} 1\nunknown_{number} = [ 1,2 ] # {comment}\n", neighbour.group());
        let value = match row.kind.words() {
            [] => number.to_string(),
            words => words[number as usize % words.len()].to_owned(),
        };
        let Ok(once) = set(&text, Path::new(FILE), row.key, &value, &Settings::default()) else { return Ok(()) };
        for line in text.lines() {
            prop_assert!(once.lines().any(|other| other == line), "{line:?} is gone from {once:?}");
        }
        let twice = set(&once, Path::new(FILE), row.key, &value, &Settings::default()).unwrap();
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(unset(&once, Path::new(FILE), row.key).unwrap(), text);
    }
}
