//! Taking over configuration and state of the reference system (`~/.skillopt-sleep`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::redact::redact;
use skillopt_core::task::Task;
use skillopt_sleep::gather;
use skillopt_store::{files, projects, tasks};

use crate::context::App;

/// Largest state file that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Version of the split rule of imported tasks: the reference's own.
const REFERENCE_SPLITS: u32 = 0;

/// What is taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportInput {
    /// The folder of the reference; `~/.skillopt-sleep` when empty.
    pub from: Option<PathBuf>,
    /// Do it; otherwise only show what would be taken over.
    #[serde(default)]
    pub apply: bool,
}

/// What was, or would be, taken over.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
        return Err(Problem::permanent(
            "import_not_found",
            format!("{} is not a folder.", from.display()),
            "Name the folder of the reference system with --from.",
        ));
    }
    let mut imported = Imported {
        applied: input.apply,
        from: from.clone(),
        settings: Value::Null,
        ignored: Value::Null,
        tasks: Vec::new(),
        notes: Vec::new(),
    };
    settings(app, &from.join("config.json"), input.apply, &mut imported)?;
    archive(app, &from.join("state.json"), input.apply, &mut imported)?;
    Ok(imported)
}

fn settings(app: &App, path: &Path, apply: bool, imported: &mut Imported) -> Result<(), Problem> {
    let Some(text) = text(path)? else {
        imported.notes.push("There is no config.json.".to_owned());
        return Ok(());
    };
    let found = skillopt_settings::import::read(&text, path)?;
    imported.settings = serde_json::json!(found.taken);
    imported.ignored = serde_json::json!(found.ignored);
    if apply && !found.taken.is_empty() {
        let file = app.config().user;
        let before = files::read_pinned(&file)?.map_or_else(String::new, |pinned| {
            String::from_utf8_lossy(&pinned.bytes).into_owned()
        });
        let after = found.written_to(&before, &file)?;
        if let Some(parent) = file.parent() {
            files::create_private_dir(parent)?;
        }
        files::write_private(&file, after.as_bytes())?;
    }
    Ok(())
}

/// The archive keeps what was held out held out: by the reference's own ids.
fn archive(app: &App, path: &Path, apply: bool, imported: &mut Imported) -> Result<(), Problem> {
    let Some(text) = text(path)? else {
        imported.notes.push("There is no state.json.".to_owned());
        return Ok(());
    };
    let state: Value = serde_json::from_str(&text).map_err(|error| {
        Problem::permanent(
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
    let mut by_project: std::collections::BTreeMap<String, Vec<Task>> =
        std::collections::BTreeMap::new();
    let mut unreadable = 0_usize;
    for row in rows {
        match serde_json::from_value::<Task>(row) {
            Ok(task) => by_project
                .entry(task.project.clone())
                .or_default()
                .push(as_ours(task)),
            Err(_) => unreadable += 1,
        }
    }
    if unreadable > 0 {
        imported
            .notes
            .push(format!("{unreadable} archived tasks could not be read."));
    }
    for (root, found) in by_project {
        let present = Path::new(&root).is_dir();
        imported
            .tasks
            .push(serde_json::json!({"project": root, "tasks": found.len(), "present": present}));
        if !present {
            imported.notes.push(format!(
                "{root} does not exist any more; its tasks were left out."
            ));
            continue;
        }
        if apply {
            let project = app.project(Some(Path::new(&root)))?;
            app.store.commit("import archive", |tx| {
                let project = projects::find_or_register(tx, Path::new(&project.root))?;
                tasks::keep(tx, &project.id, None, &found, REFERENCE_SPLITS).map(|_| ())
            })?;
        }
    }
    Ok(())
}

/// The reference's archive is not redacted (§14 #8); ours is, and its ids are kept beside our own.
fn as_ours(mut task: Task) -> Task {
    let clean = |text: &str| redact(text).text.into_owned();
    let (intent, context, attempted) = (
        clean(&task.intent),
        clean(&task.context),
        clean(&task.attempted_solution),
    );
    task.legacy_id = std::mem::take(&mut task.id);
    task.id = gather::task_id(&task.project, &intent);
    task.cluster = skillopt_core::cluster::assign(&[], &[&intent]).remove(0);
    (task.intent, task.context, task.attempted_solution) = (intent, context, attempted);
    task
}

fn text(path: &Path) -> Result<Option<String>, Problem> {
    let Ok(data) = std::fs::metadata(path) else {
        return Ok(None);
    };
    let unreadable = |why: String| {
        Problem::permanent(
            "import_broken",
            format!("{} cannot be read: {why}.", path.display()),
            "Nothing was taken over; the file is as it was.",
        )
    };
    if data.len() > LARGEST {
        return Err(unreadable(format!("it has {} bytes", data.len())));
    }
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(|error| unreadable(error.to_string()))
}
