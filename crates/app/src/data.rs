//! Our own data: size, copy, deletion, another place.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_store::data::{self as store_data, Note, PurgePlan, Size};
use skillopt_store::repair::{self, Condition};
use skillopt_store::{Paths, projects};

use crate::Nothing;
use crate::context::App;
use crate::schedule;

pub use skillopt_store::data::make_folders;

/// A folder to copy or move to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct ToInput {
    /// The folder; must be new or empty.
    pub to: PathBuf,
}

/// What is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct PurgeInput {
    /// Everything of one project, or with `evidence` only that.
    pub project: Option<PathBuf>,
    /// Prompts, replies and digests, of every project when none is named; verdicts, proposals and backups stay.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub evidence: bool,
    /// Everything.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub everything: bool,
    /// Do it; otherwise only show what would be deleted.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub apply: bool,
}

/// What was, or would be, done.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Done {
    /// Whether it was done.
    pub applied: bool,
    /// What, in one sentence.
    pub message: String,
    /// The details.
    pub detail: Value,
}

/// What was, or would be, deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Purged {
    /// Whether it was done.
    pub applied: bool,
    /// What, in one sentence.
    pub message: String,
    /// What goes: rows, folders, files, and what to know about it.
    pub detail: PurgePlan,
}

/// How much space is used.
pub async fn size(app: &App, _: Nothing) -> Result<Size, Problem> {
    store_data::size(&app.paths)
}

/// Copies all data into a folder.
pub async fn export(app: &App, input: ToInput) -> Result<Done, Problem> {
    let to = app.directory.join(input.to);
    let exported = store_data::export(&app.store, &app.paths, &to)?;
    Ok(Done {
        applied: true,
        message: format!("Everything was copied to {}.", to.display()),
        detail: json!(exported),
    })
}

/// Deletes data, or shows what would be deleted.
pub async fn purge(app: &App, input: PurgeInput) -> Result<Purged, Problem> {
    let what = match (&input.project, input.evidence, input.everything) {
        (Some(project), false, false) => {
            store_data::Purge::Project(app.registered(Some(project))?.id)
        }
        (Some(project), true, false) => store_data::Purge::Evidence {
            project: Some(app.registered(Some(project))?.id),
            before: None,
        },
        (None, true, false) => store_data::Purge::Evidence {
            project: None,
            before: None,
        },
        (None, false, true) => store_data::Purge::Everything,
        _ => {
            return Err(Problem::refused(
                "invalid_selection",
                "Say what to delete: --project FOLDER for all of a project, --evidence (with --project for that of one), or --everything.",
                "Without --yes it is only shown.",
            ));
        }
    };
    let mut plan = store_data::plan_purge(&app.store, &app.paths, &what)?;
    plan.notes.extend(handoffs_elsewhere(app, &what)?);
    let scheduled = scheduled(app, &what)?;
    plan.notes.extend(scheduled.iter().map(|root| {
        let root = root.display();
        let message = format!("The line of {root} in your crontab goes as well.");
        Note::new("crontab_line_goes", &root, message)
    }));
    if what == store_data::Purge::Everything {
        let folder = app.paths.config.display();
        let message = format!(
            "Your settings in {folder} and the keys in the keyring stay, and an empty database."
        );
        plan.notes
            .push(Note::new("settings_stay", &folder, message));
    }
    if matches!(
        what,
        store_data::Purge::Evidence {
            project: Some(_),
            ..
        }
    ) {
        plan.notes.push(Note::new(
            "transcripts_read_again",
            &"",
            "What is remembered of transcripts goes for every project; they are read again.",
        ));
    }
    if !input.apply {
        return Ok(Purged {
            applied: false,
            message: "This would be deleted; --yes deletes it.".to_owned(),
            detail: plan,
        });
    }
    store_data::apply_purge(&app.store, &app.paths, &plan)?;
    for root in &scheduled {
        if let Err(problem) = schedule::forget(root) {
            let root = root.display();
            let message = format!("The line of {root} in your crontab is still there. {problem}");
            plan.notes
                .push(Note::new("crontab_line_stays", &root, message));
        }
    }
    Ok(Purged {
        applied: true,
        message: "It was deleted.".to_owned(),
        detail: plan,
    })
}

/// The folders of projects that are deleted and have a line in the crontab: it would register them again.
fn scheduled(app: &App, what: &store_data::Purge) -> Result<Vec<PathBuf>, Problem> {
    let goes = |id: &str| match what {
        store_data::Purge::Project(project) => project == id,
        store_data::Purge::Everything => true,
        store_data::Purge::Evidence { .. } => false,
    };
    Ok(app
        .store
        .read(projects::list)?
        .into_iter()
        .filter(|project| goes(&project.id))
        .map(|project| PathBuf::from(project.root))
        .filter(|root| schedule::time(root).is_some())
        .collect())
}

/// Hand-off folders the user placed outside the data folder; they are not ours to delete.
fn handoffs_elsewhere(app: &App, what: &store_data::Purge) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for project in app.store.read(projects::list)? {
        let meant = match what {
            store_data::Purge::Project(id)
            | store_data::Purge::Evidence {
                project: Some(id), ..
            } => *id == project.id,
            store_data::Purge::Evidence { project: None, .. } | store_data::Purge::Everything => {
                true
            }
        };
        if !meant {
            continue;
        }
        // Settings that cannot be read are no reason to keep the data.
        let Ok(resolved) = app.settings(Some(&project)) else {
            continue;
        };
        let root = Path::new(&project.root);
        let folder =
            skillopt_models::handoff_folder(&resolved.settings, &app.paths, &project.id, root);
        if !folder.starts_with(&app.paths.data) {
            let folder = folder.display();
            let message = format!(
                "Hand-off files beside {folder} were placed there by models.handoff_dir and stay."
            );
            notes.push(Note::new("handoff_stays", &folder, message));
        }
    }
    Ok(notes)
}

/// Moves all data to another folder; lines in the crontab follow. The old one keeps a full copy until it is
/// removed.
pub async fn relocate(app: &App, input: ToInput) -> Result<Done, Problem> {
    let to = app.directory.join(input.to);
    let moved = store_data::move_to(&app.store, &app.paths, &to)?;
    let new = Paths {
        data: to.clone(),
        ..app.paths.clone()
    };
    let mut message = format!(
        "The data is in {} from now on. {} still has a full copy; `skillopt data move --remove-old` deletes it.",
        to.display(),
        moved.from.display()
    );
    // The data is in its new place already, so that a failure here is only told.
    match schedule::follow_data(&app.paths, &new) {
        Ok(true) => message.push_str(" Your crontab names the new folder."),
        Ok(false) => {}
        Err(problem) => message.push_str(&format!(
            " If nights of yours are started by cron, run `skillopt sleep schedule` again for each project: their lines name the old folder. {problem}"
        )),
    }
    Ok(Done {
        applied: true,
        message,
        detail: json!(moved),
    })
}

/// Deletes what the last move left in its old place.
pub async fn remove_old(app: &App, _: Nothing) -> Result<Done, Problem> {
    let left = store_data::remove_left_behind(&app.store, &app.paths)?;
    Ok(Done {
        applied: left.is_some(),
        message: match &left {
            Some(left) => format!("{} was deleted.", left.folder.display()),
            None => "No earlier move has left anything behind.".to_owned(),
        },
        detail: json!(left),
    })
}

/// Keeps a copy of the database that [`restore`] can go on from.
pub async fn keep_copy(app: &App, _: Nothing) -> Result<Done, Problem> {
    let copy = repair::keep_copy(&app.store, &app.paths)?;
    Ok(Done {
        applied: true,
        message: format!("A copy of the database is in {}.", copy.display()),
        detail: json!({"copy": copy}),
    })
}

/// What a database is restored from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct RestoreInput {
    /// The copy; the newest sound one when empty.
    pub from: Option<PathBuf>,
    /// Do it; otherwise only show what would be done.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub apply: bool,
}

/// Puts a damaged database aside, bytes untouched, and goes on from a copy, or anew when there is none; the
/// same for one that is missing. One that is sound, or of which it cannot be told, only gives way to a copy
/// that is named. `app` must stand [apart](App::apart): the database must not be open.
///
/// Errors: `database_sound`, `copy_unsound`, `data_dir_busy`, those of [`repair::condition`].
pub async fn restore(app: &App, input: RestoreInput) -> Result<Done, Problem> {
    let database = app.paths.database();
    let named = input.from.map(|path| app.directory.join(path));
    let condition = match &named {
        Some(_) => None,
        None => Some(repair::condition(&app.paths)?),
    };
    if condition == Some(Condition::Sound) {
        return Err(Problem::refused(
            "database_sound",
            format!(
                "{} is sound; there is nothing to restore.",
                database.display()
            ),
            "To go back to an earlier copy all the same, name it with --from.",
        ));
    }
    if let Some(copy) = named.as_ref().filter(|copy| !repair::is_sound(copy)) {
        return Err(Problem::refused(
            "copy_unsound",
            format!("{} is not a sound copy of our database.", copy.display()),
            "`skillopt doctor` lists the copies and which of them are sound.",
        ));
    }
    let copy = named.or_else(|| repair::newest_sound_copy(&app.paths));
    let from = match &copy {
        Some(copy) => format!("the copy {}", copy.display()),
        None => "an empty one: there is no sound copy".to_owned(),
    };
    if !input.apply {
        return Ok(Done {
            applied: false,
            message: match condition {
                Some(Condition::Missing) => format!(
                    "{} is missing; it would be made from {from}; --yes does it.",
                    database.display()
                ),
                Some(Condition::Sound | Condition::Damaged) | None => format!(
                    "{} would be put aside and replaced by {from}; --yes does it.",
                    database.display()
                ),
            },
            detail: json!({"database": database, "copy": copy}),
        });
    }
    let aside = repair::replace(&app.paths, copy.as_deref(), app.clock.now())?;
    Ok(Done {
        applied: true,
        message: match &aside {
            Some(aside) => format!(
                "The database was replaced by {from}. What was there is in {}.",
                aside.display()
            ),
            None => format!("The database was made from {from}."),
        },
        detail: json!({"database": database, "copy": copy, "aside": aside}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};

    #[test]
    fn a_move_says_what_it_leaves_and_how_to_remove_it() {
        let mut home = TestHome::new();
        home.app.paths.data_fixed = false;
        let to = home.path("elsewhere");
        let moved = block_on(relocate(&home.app, ToInput { to: to.clone() })).unwrap();
        assert!(moved.message.contains("--remove-old"), "{}", moved.message);
        assert_eq!(moved.detail["from"], json!(home.app.paths.data));
        // The next process is in the new place.
        let mut environment = (*home.app.environment).clone();
        environment.remove("SKILLOPT_DATA_DIR");
        let next = App::open(
            environment,
            home.app.directory.clone(),
            std::sync::Arc::clone(&home.app.clock),
        )
        .unwrap();
        assert_eq!(next.paths.data, to);
        let removed = block_on(remove_old(&next, Nothing {})).unwrap();
        assert!(removed.applied, "{}", removed.message);
        assert!(!home.app.paths.data.exists());
        let again = block_on(remove_old(&next, Nothing {})).unwrap();
        assert!(!again.applied);
    }
}
