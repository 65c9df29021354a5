//! Taking over configuration and state of the reference system (`~/.skillopt-sleep`).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::redact::{redact, redact_json};
use skillopt_core::task::{Judge, Task};
use skillopt_core::text::{cut, one_line};
use skillopt_core::{Problem, cluster};
use skillopt_settings::import::Import;
use skillopt_sleep::gather;
use skillopt_store::tasks;

use crate::config;
use crate::context::App;

/// Largest state file that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Version of the split rule of imported tasks: the reference's own.
const REFERENCE_SPLITS: u32 = 0;
/// How many tasks of a project are compared with those that are taken over; the reference keeps 300.
const LARGEST_ARCHIVE: usize = 100_000;

/// How many tasks that cannot be read are named.
const MOST_NAMED: usize = 10;

/// What is taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct ImportInput {
    /// The folder of the reference; `~/.skillopt-sleep` when empty.
    pub from: Option<PathBuf>,
    /// Do it; otherwise only show what would be taken over.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub apply: bool,
}

/// What was, or would be, taken over.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Imported {
    /// Whether it was done.
    pub applied: bool,
    /// The folder.
    pub from: PathBuf,
    /// Settings: reference name, our name, value.
    pub settings: Value,
    /// Settings that were not taken, and why.
    pub ignored: Value,
    /// Tasks of the archive, by project.
    pub tasks: Vec<Value>,
    /// What could not be taken, in sentences.
    pub notes: Vec<String>,
}

/// Takes over configuration and archive. The reference's files are only read.
pub async fn run(app: &App, input: ImportInput) -> Result<Imported, Problem> {
    let from = input.from.map_or_else(
        || app.home.join(".skillopt-sleep"),
        |path| app.directory.join(path),
    );
    if !from.is_dir() {
        return Err(Problem::refused(
            "import_not_found",
            format!("{} is not a folder.", from.display()),
            "Name the folder of the reference system with --from.",
        ));
    }
    let there = |name: &str| from.join(name).symlink_metadata().is_ok();
    if !there("config.json") && !there("state.json") {
        return Err(Problem::refused(
            "import_not_found",
            format!("{} has neither config.json nor state.json.", from.display()),
            "Name the folder of the reference system with --from.",
        ));
    }
    // Both files are read before anything is taken over: a broken one leaves everything as it is.
    let mut notes = Vec::new();
    let config = from.join("config.json");
    let settings = match text(&config)? {
        Some(text) => skillopt_settings::import::read(&text, &config)?,
        None => {
            notes.push("There is no config.json.".to_owned());
            Import::default()
        }
    };
    let state = from.join("state.json");
    let archive = match text(&state)? {
        Some(text) => archive(&text, &state, &mut notes)?,
        None => {
            notes.push("There is no state.json.".to_owned());
            Archive::new()
        }
    };
    if input.apply && !settings.taken.is_empty() {
        let file = app.config().user;
        config::change(app, &file, |before| settings.written_to(before, &file))?;
    }
    let mut taken = Vec::new();
    for (root, tasks) in archive {
        let present = Path::new(&root).is_dir();
        taken.push(json!({"project": root, "tasks": tasks.len(), "present": present}));
        if !present {
            notes.push(format!(
                "{root} does not exist any more; its tasks were left out."
            ));
        } else if input.apply
            && let Err(problem) = keep(app, Path::new(&root), tasks)
        {
            notes.push(format!("The tasks of {root} were left out. {problem}"));
        }
    }
    Ok(Imported {
        applied: input.apply,
        from,
        settings: json!(settings.taken),
        ignored: json!(settings.ignored),
        tasks: taken,
        notes,
    })
}

/// The tasks of the reference's archive, by project.
type Archive = BTreeMap<String, Vec<Task>>;

fn archive(text: &str, path: &Path, notes: &mut Vec<String>) -> Result<Archive, Problem> {
    let state: Value = serde_json::from_str(text).map_err(|error| {
        Problem::refused(
            "import_broken",
            format!("{} cannot be read: {error}.", path.display()),
            "Nothing was taken over; the file is as it was.",
        )
    })?;
    let rows = state
        .get("task_archive")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let mut by_project = Archive::new();
    let (mut unreadable, mut unjudged) = (Vec::new(), 0_usize);
    for (position, row) in rows.into_iter().enumerate() {
        let id = row.get("id").and_then(Value::as_str).map(str::to_owned);
        match serde_json::from_value::<Task>(row) {
            Ok(task) => {
                let judged = task.judge != Judge::None;
                let task = as_ours(task);
                unjudged += usize::from(judged && task.judge == Judge::None);
                by_project
                    .entry(task.project.clone())
                    .or_default()
                    .push(task);
            }
            Err(error) => unreadable.push(named(position, id, &error)),
        }
    }
    let more = unreadable.len().saturating_sub(MOST_NAMED);
    notes.extend(unreadable.into_iter().take(MOST_NAMED));
    if more > 0 {
        notes.push(format!("{more} more archived tasks could not be read."));
    }
    if unjudged > 0 {
        notes.push(format!(
            "{unjudged} archived tasks were judged by a text with a secret in it; they are kept, and not replayed."
        ));
    }
    Ok(by_project)
}

/// What to say of a task of the archive that cannot be read; its values may hold secrets.
fn named(position: usize, id: Option<String>, error: &serde_json::Error) -> String {
    const LONGEST: usize = 120;
    let shown = |text: &str| cut(&one_line(&redact(text).text), LONGEST);
    let place = format!("number {}", position + 1);
    let which = id.map_or(place.clone(), |id| format!("\"{}\" ({place})", shown(&id)));
    format!(
        "The archived task {which} could not be read: {}.",
        shown(&error.to_string())
    )
}

/// Puts the tasks of a project into its archive: what was held out stays held out, by the reference's
/// own ids, and near-duplicates of each other and of what is there are one cluster.
fn keep(app: &App, root: &Path, mut found: Vec<Task>) -> Result<(), Problem> {
    let project = app.project(Some(root))?;
    app.store.commit("import archive", |tx| {
        let known: Vec<(String, String)> = tasks::archive(tx, &project.id, LARGEST_ARCHIVE)?
            .into_iter()
            .map(|archived| (archived.task.cluster, archived.task.intent))
            .collect();
        let intents: Vec<&str> = found.iter().map(|task| task.intent.as_str()).collect();
        let clusters = cluster::assign(&known, &intents);
        for (task, cluster) in found.iter_mut().zip(clusters) {
            task.cluster = cluster;
        }
        tasks::keep(tx, &project.id, None, &found, REFERENCE_SPLITS).map(|_| ())
    })
}

/// The reference's archive is not redacted (§14 #8); ours is, and its ids are kept beside our own.
fn as_ours(mut task: Task) -> Task {
    for text in [
        &mut task.intent,
        &mut task.context,
        &mut task.system,
        &mut task.attempted_solution,
        &mut task.skill_hint,
    ]
    .into_iter()
    .chain(&mut task.tags)
    {
        clean(text);
    }
    // A reply can be graded by a rubric without the secret; no reply can be expected to hold it.
    let lost_its_meaning = match &mut task.judge {
        Judge::None => false,
        Judge::Rubric(rubric) => {
            clean(rubric);
            false
        }
        Judge::Exact(text) => clean(text),
        // Each of them is cleaned, also when the first one already lost something.
        Judge::Answer(texts) => {
            texts
                .iter_mut()
                .filter_map(|text| clean(text).then_some(()))
                .count()
                > 0
        }
        Judge::Rule(checks) => {
            let taken_out: usize = checks
                .iter_mut()
                .map(|check| redact_json(&mut check.arg))
                .sum();
            taken_out > 0
        }
    };
    if lost_its_meaning {
        task.judge = Judge::None;
    }
    task.legacy_id = std::mem::take(&mut task.id);
    task.id = gather::task_id(&task.project, &task.intent);
    task
}

/// Takes the secrets out of a text; whether there were any.
fn clean(text: &mut String) -> bool {
    let cleaned = redact(text).text.into_owned();
    let changed = cleaned != *text;
    *text = cleaned;
    changed
}

fn text(path: &Path) -> Result<Option<String>, Problem> {
    let unreadable = |why: String| {
        Problem::refused(
            "import_broken",
            format!("{} cannot be read: {why}.", path.display()),
            "Nothing was taken over; the file is as it was.",
        )
    };
    let data = match std::fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if !data.is_file() {
        return Err(unreadable("it is no file".to_owned()));
    }
    if data.len() > LARGEST {
        return Err(unreadable(format!("it has {} bytes", data.len())));
    }
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};
    use skillopt_store::files;

    fn import(home: &TestHome) -> Result<Imported, Problem> {
        let input = ImportInput {
            from: Some(home.path("reference")),
            apply: true,
        };
        block_on(run(&home.app, input))
    }

    fn write(home: &TestHome, name: &str, value: &Value) {
        let path = home.path("reference").join(name);
        files::write_private(&path, value.to_string().as_bytes()).unwrap();
    }

    fn row(home: &TestHome, id: &str, more: &Value) -> Value {
        let mut row = json!({
            "id": id, "project": home.app.directory, "intent": format!("Write the letter {id}"),
        });
        row.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        row
    }

    #[test]
    fn a_broken_file_leaves_everything_as_it_was() {
        let home = TestHome::new();
        write(&home, "config.json", &json!({"max_tasks_per_night": 7}));
        files::write_private(&home.path("reference/state.json"), b"{\"task_archive\": [").unwrap();
        assert_eq!(import(&home).unwrap_err().code, "import_broken");
        assert!(!home.app.config().user.exists(), "no setting was taken");
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_missing() {
        let home = TestHome::new();
        let folder = home.path("reference");
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(import(&home).unwrap_err().code, "import_not_found");
        let config = folder.join("config.json");
        std::fs::create_dir(&config).unwrap();
        let problem = import(&home).unwrap_err();
        assert_eq!(problem.code, "import_broken");
        assert!(
            problem.message.ends_with("it is no file."),
            "{}",
            problem.message
        );
        std::fs::remove_dir(&config).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&config, &config).unwrap();
            assert_eq!(import(&home).unwrap_err().code, "import_broken");
        }
    }

    #[test]
    fn a_project_that_cannot_be_registered_is_noted_and_the_others_are_taken() {
        let home = TestHome::new();
        let user_home = json!({"project": home.path("")});
        write(
            &home,
            "state.json",
            &json!({"task_archive": [row(&home, "a", &user_home), row(&home, "b", &json!({}))]}),
        );
        let imported = import(&home).unwrap();
        assert!(
            imported
                .notes
                .iter()
                .any(|note| note.contains("is not a project")),
            "{:?}",
            imported.notes
        );
        let project = home.app.known_project(None).unwrap().unwrap();
        let kept = home
            .app
            .store
            .read(|db| tasks::archive(db, &project.id, 9))
            .unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].task.legacy_id, "b");
    }

    #[test]
    fn tasks_that_cannot_be_read_are_named_with_the_reason() {
        let home = TestHome::new();
        let rows: Vec<Value> = (0..12)
            .map(|n| json!({"id": format!("t{n}"), "project": home.app.directory, "intent": [n]}))
            .chain([
                json!({"project": "ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1eF3gH5", "intent": 5}),
                json!(7),
            ])
            .collect();
        write(&home, "state.json", &json!({"task_archive": rows}));
        let notes = import(&home).unwrap().notes;
        assert!(
            notes.iter().any(|note| note.contains("\"t0\" (number 1)")
                && note.contains("could not be read: invalid type")),
            "{notes:?}"
        );
        assert!(notes.contains(&"4 more archived tasks could not be read.".to_owned()));
        assert!(!notes.concat().contains("aB3dE5"), "{notes:?}");
    }

    #[test]
    fn no_text_of_a_task_keeps_a_secret() {
        let home = TestHome::new();
        let secret = ["ghp", "_", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1eF3gH5"].concat();
        let rows = [
            json!({"reference_kind": "rubric", "reference": format!("mentions {secret}")}),
            json!({"reference_kind": "exact", "reference": secret}),
            json!({"reference_kind": "rule", "judge": {"checks": [{"op": "contains", "arg": secret}]}}),
            json!({"system": format!("use {secret}"), "tags": [secret], "context_excerpt": secret}),
        ];
        let rows: Vec<Value> = rows
            .iter()
            .zip(["a", "b", "c", "d"])
            .map(|(more, id)| row(&home, id, more))
            .collect();
        write(&home, "state.json", &json!({"task_archive": rows}));
        let imported = import(&home).unwrap();
        let project = home.app.known_project(None).unwrap().unwrap();
        let kept = home
            .app
            .store
            .read(|db| tasks::archive(db, &project.id, 9))
            .unwrap();
        assert_eq!(kept.len(), 4, "{:?}", imported.notes);
        for archived in &kept {
            let text = serde_json::to_string(&archived.task).unwrap();
            assert!(!text.contains(&secret[4..]), "{text}");
        }
        assert!(
            imported
                .notes
                .iter()
                .any(|note| note.starts_with("2 archived tasks"))
        );
    }
}
