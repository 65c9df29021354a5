//! A small invented project with a week of sessions, for `skillopt demo`.
//!
//! Somebody asks for the same kinds of short texts again and again and corrects the same two things
//! each time. That is what a night should notice.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;
use skillopt_core::split;
use skillopt_core::task::{Split, Task};
use skillopt_settings::Settings;
use skillopt_sleep::gather;
use skillopt_store::{files, real_path};

/// What is asked (in two wordings), what was answered first, and which corrections followed.
struct Habit {
    wordings: [&'static str; 2],
    first_answer: &'static str,
    corrections: &'static [&'static str],
}

const RISKS: &str = "No, please add a section called Risks.";
const TAGS: &str = "No, wrap the final answer in <answer> tags.";

const HABITS: [Habit; 10] = [
    Habit {
        wordings: [
            "Write a short announcement that the search page is faster now",
            "Please write a short announcement that the search page is faster now",
        ],
        first_answer: "Good news: the search page answers faster than before.",
        corrections: &[RISKS],
    },
    Habit {
        wordings: [
            "Draft a note to customers about the planned maintenance window",
            "Draft a note to our customers about the planned maintenance window",
        ],
        first_answer: "We plan a short maintenance window on Sunday morning.",
        corrections: &[RISKS, TAGS],
    },
    Habit {
        wordings: [
            "Summarise why we moved from polling to webhooks",
            "Summarise in a paragraph why we moved from polling to webhooks",
        ],
        first_answer: "Webhooks tell us about changes at once and cost fewer requests.",
        corrections: &[TAGS],
    },
    Habit {
        wordings: [
            "Explain to a new colleague what our feature flags are for",
            "Explain to a new colleague what our feature flags are for, please",
        ],
        first_answer: "Feature flags let us switch a change on for a few users first.",
        corrections: &[RISKS],
    },
    Habit {
        wordings: [
            "Propose a one-line status for the incident with the login page",
            "Propose a one-line status for the incident with the login page again",
        ],
        first_answer: "Signing in works again; we are watching it.",
        corrections: &[TAGS],
    },
    Habit {
        wordings: [
            "Write the decision record for choosing a message queue",
            "Write a decision record for choosing a message queue",
        ],
        first_answer: "We choose a message queue because orders must not get lost.",
        corrections: &[RISKS, TAGS],
    },
    Habit {
        wordings: [
            "Answer a user who asks whether their data is encrypted at rest",
            "Answer the user who asks whether their data is encrypted at rest",
        ],
        first_answer: "Yes, all stored data is encrypted.",
        corrections: &[TAGS],
    },
    Habit {
        wordings: [
            "Describe the rollout of the new billing model in three sentences",
            "Describe the rollout of our new billing model in three sentences",
        ],
        first_answer: "We start with five percent of the accounts. Then half. Then everyone.",
        corrections: &[RISKS],
    },
    Habit {
        wordings: [
            "Outline a proposal for an on-call rotation with four people",
            "Outline the proposal for an on-call rotation with four people",
        ],
        first_answer: "Each person takes one week in four, with a hand-over on Monday.",
        corrections: &[RISKS, TAGS],
    },
    Habit {
        wordings: [
            "Suggest a polite reply to a vendor who missed a deadline",
            "Suggest a polite reply to the vendor who missed a deadline",
        ],
        first_answer: "Thank you for the update; please send us a new date.",
        corrections: &[RISKS, TAGS],
    },
];

/// Instructions the demonstration project starts with.
const MEMORY: &str = "# Working agreements\n\nWe write for customers in plain words.\n";

/// Writes the project and the sessions below `home`; gives the project's folder.
pub(crate) fn write(home: &Path) -> Result<PathBuf, Problem> {
    let project = home.join("work").join("customer-letters");
    create(&project)?;
    // The folder is canonical from here on, as agents record it.
    let project = real_path(&project).map_err(|error| cannot("open", &project, &error))?;
    files::write_private(&project.join("CLAUDE.md"), MEMORY.as_bytes())?;
    let slug: String = project
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let sessions = home.join(".claude").join("projects").join(slug);
    create(&sessions)?;
    for (position, habit) in HABITS.iter().enumerate() {
        for (repeat, wording) in habit.wordings.iter().enumerate() {
            let id = uuid(&format!("session {position} {repeat}"));
            let day = 2 + repeat * 5 + position % 4;
            let text = session(&id, &project, day, 8 + position, wording, habit);
            files::write_private(&sessions.join(format!("{id}.jsonl")), text.as_bytes())?;
        }
    }
    Ok(project)
}

/// A seed with which this sample has enough held-out tasks. Slices follow from ids, and ids from the
/// folder, so a demonstration in another folder would otherwise now and then have too few to tell.
pub(crate) fn seed(project: &Path) -> u64 {
    let project = project.to_string_lossy();
    let usual = Settings::default();
    let held_out = |seed: u64| {
        let mut tasks: Vec<Task> = HABITS
            .iter()
            .map(|habit| {
                Task::new(
                    gather::task_id(&project, habit.wordings[0]),
                    "",
                    habit.wordings[0],
                )
            })
            .collect();
        split::assign(&mut tasks, &[], usual.fractions(), seed);
        tasks
            .iter()
            .filter(|task| task.split == Split::Validation)
            .count()
    };
    (usual.seed..usual.seed + 1_000)
        .find(|&seed| (3..=5).contains(&held_out(seed)))
        .unwrap_or(usual.seed)
}

fn session(
    id: &str,
    project: &Path,
    day: usize,
    hour: usize,
    wording: &str,
    habit: &Habit,
) -> String {
    let mut lines = Vec::new();
    let mut minute = 0;
    let mut say = |author: &str, text: &str| {
        minute += 1;
        lines.push(record(
            id,
            project,
            author,
            text,
            &format!("2026-11-{day:02}T{hour:02}:{minute:02}:00.000Z"),
        ));
    };
    say("user", wording);
    say("assistant", habit.first_answer);
    for correction in habit.corrections {
        say("user", correction);
        say("assistant", "Here is the corrected text.");
    }
    say("user", "Perfect, thanks!");
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

fn record(session: &str, project: &Path, author: &str, text: &str, at: &str) -> Value {
    let mut record = json!({
        "type": author,
        "uuid": uuid(&format!("{session} {at}")),
        "isSidechain": false,
        "sessionId": session,
        "cwd": project,
        "timestamp": at,
        "version": "2.1.332",
        "userType": "external",
        "entrypoint": "cli",
    });
    if author == "user" {
        record["promptSource"] = json!("typed");
        record["message"] = json!({"role": "user", "content": text});
    } else {
        record["message"] = json!({
            "id": format!("msg_{}", &sha256_hex(at.as_bytes())[..16]),
            "role": "assistant",
            "model": "sample",
            "content": [{"type": "text", "text": text}],
        });
    }
    record
}

/// An id in the form agents use, derived from `name` so that the demonstration is the same every time.
fn uuid(name: &str) -> String {
    let hex = sha256_hex(name.as_bytes());
    format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..32]
    )
}

fn create(folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))
}

fn cannot(doing: &str, path: &Path, error: &std::io::Error) -> Problem {
    Problem::refused(
        "demo_folder_unusable",
        format!(
            "The demonstration could not {doing} {}: {error}.",
            path.display()
        ),
        "Check that the temporary folder can be written, or set TMPDIR to another one.",
    )
}
