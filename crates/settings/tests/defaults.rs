//! `configs/settings.toml` and the table say the same.

#![expect(clippy::unwrap_used, reason = "what a test cannot do, it fails for")]

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::Value;
use skillopt_settings::{DEFAULTS, GROUPS, ROWS, Settings, row};

/// The commented defaults, from the table.
fn rendered() -> String {
    let mut text = "# Every setting of SkillOpt with its default.\n#\n\
                    # Your own settings file holds only what differs: `skillopt config set KEY VALUE` writes it and\n\
                    # keeps your comments; `skillopt config explain KEY` says where a value comes from.\n"
        .to_owned();
    let settings = Settings::default();
    for (group, about) in GROUPS {
        write!(text, "\n# {about}\n[{group}]\n").unwrap();
        for row in ROWS.iter().filter(|row| row.group() == *group) {
            writeln!(text, "#{}", row.text).unwrap();
            match settings.get(row) {
                Value::Null => writeln!(text, "# {} = 0.7", row.field).unwrap(),
                value => writeln!(text, "{} = {value}", row.field).unwrap(),
            }
        }
    }
    text
}

#[test]
fn the_file_of_defaults_is_the_table() {
    let expected = rendered();
    if std::env::var_os("SKILLOPT_WRITE_DEFAULTS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/settings.toml");
        std::fs::File::create(path)
            .unwrap()
            .write_all(expected.as_bytes())
            .unwrap();
    } else {
        assert_eq!(
            DEFAULTS, expected,
            "run this test once with SKILLOPT_WRITE_DEFAULTS=1 to write configs/settings.toml anew"
        );
    }
}

#[test]
fn every_row_is_whole() {
    for row in ROWS {
        assert!(
            GROUPS.iter().any(|(group, _)| *group == row.group()),
            "{} has no group",
            row.key
        );
        assert!(row.key.ends_with(row.field) && row.key.matches('.').count() == 1);
        let text = row.text.trim();
        assert!(
            text.len() > 10 && text.ends_with('.') && !text.contains('\n'),
            "{}: {text}",
            row.key
        );
        assert!(
            !row.flag.is_empty() && !row.flag.starts_with('-') && !row.kind.allowed().is_empty()
        );
        assert_eq!(
            ROWS.iter().filter(|other| other.field == row.field).count(),
            1,
            "{} is not unique",
            row.field
        );
        assert_eq!(
            ROWS.iter().filter(|other| other.flag == row.flag).count(),
            1,
            "--{} is not unique",
            row.flag
        );
        assert!(std::ptr::eq(skillopt_settings::row(row.key).unwrap(), row));
        assert!(std::ptr::eq(
            skillopt_settings::row(row.field).unwrap(),
            row
        ));
    }
    assert!(row("no.such").is_none());
}

#[test]
fn the_reference_names_of_the_contract() {
    // §2.1 of the reference, and §9.2 for the flags.
    for (reference, key) in [
        ("transcript_source", "reads.source"),
        ("projects", "reads.scope"),
        ("val_fraction", "splits.validation_fraction"),
        ("holdout_fraction", "splits.validation_fraction"),
        ("dream_rollouts", "replays.rollouts"),
        ("recall_k", "replays.recall"),
        ("llm_mine", "mines.model_miner"),
        ("evolve_skill", "changes.skill"),
        ("evolve_memory", "changes.memory"),
        ("gate_mode", "gate.mode"),
        ("max_tokens_per_night", "spends.max_tokens_per_night"),
    ] {
        assert!(
            row(key).unwrap().reference.contains(&reference),
            "{reference}"
        );
    }
    for (flag, key) in [
        ("scope", "reads.scope"),
        ("backend", "models.backend"),
        ("model", "models.model"),
        ("claude-home", "reads.claude_home"),
        ("codex-home", "reads.codex_home"),
        ("source", "reads.source"),
        ("lookback-hours", "reads.lookback_hours"),
        ("edit-budget", "changes.edit_budget"),
        ("max-sessions", "reads.max_sessions_per_night"),
        ("max-tasks", "mines.max_tasks_per_night"),
        ("target-skill-path", "changes.target_skill_path"),
        ("skill-root", "changes.skill_roots"),
        ("auto-adopt", "changes.auto_adopt"),
        ("preferences", "changes.preferences"),
    ] {
        assert_eq!(row(key).unwrap().flag, flag);
    }
}
