//! Projects. The id is random and survives moving the folder; everything hangs on it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use skillopt_core::{Instant, Problem};

use crate::fault::Fault;
use crate::meta;
use crate::paths::real_path;
use crate::row::{At, from_json, to_json};
use crate::store::Tx;

/// A registered project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Project {
    /// 16 random lowercase hex characters.
    pub id: String,
    /// Canonical absolute path of the folder.
    pub root: String,
    /// Last component of the path when it was registered.
    pub name: String,
    /// When it was registered.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub first_seen: Instant,
}

const COLUMNS: &str = "id, root, name, first_seen";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project {
        id: row.get(0)?,
        root: row.get(1)?,
        name: row.get(2)?,
        first_seen: row.get::<_, At>(3)?.0,
    })
}

/// The project whose root is `root`, registered now when it is new. One that was removed stays removed:
/// a night that is still scheduled must not bring it back.
///
/// `root` must exist; it is made canonical. Errors: `project_removed`, `project_folder_missing`,
/// `path_not_text`.
pub fn find_or_register(tx: &Tx<'_>, root: &Path) -> Result<Project, Fault> {
    let root = canonical(root)?;
    let removed = tx
        .query_row(
            "SELECT removed_at IS NOT NULL FROM project WHERE root = ?1",
            [&root],
            |row| row.get(0),
        )
        .optional()?
        .unwrap_or(false);
    if removed {
        return Err(Problem::refused(
            "project_removed",
            format!("{root} was taken off the list of projects."),
            "`skillopt project add` puts it back, with its history.",
        )
        .into());
    }
    registered(tx, &root)
}

/// Like [`find_or_register`], and puts back what was removed, because the user says so.
pub fn register(tx: &Tx<'_>, root: &Path) -> Result<Project, Fault> {
    let root = canonical(root)?;
    tx.execute(
        "UPDATE project SET removed_at = NULL WHERE root = ?1",
        [&root],
    )?;
    registered(tx, &root)
}

fn registered(tx: &Tx<'_>, root: &str) -> Result<Project, Fault> {
    if let Some(project) = with_root(tx, root)? {
        return Ok(project);
    }
    let name = name_of(root);
    tx.execute(
        "INSERT INTO project (id, root, name, first_seen) VALUES (lower(hex(randomblob(8))), ?1, ?2, ?3)",
        (root, &name, At(tx.now())),
    )?;
    with_root(tx, root)?.ok_or_else(|| Fault::Sql(rusqlite::Error::QueryReturnedNoRows))
}

/// The registered project whose root is `root`. A folder that no longer exists is looked up as written.
pub fn find(db: &Connection, root: &Path) -> Result<Option<Project>, Fault> {
    let root = canonical(root).unwrap_or_else(|_| root.to_string_lossy().into_owned());
    Ok(db
        .query_row(
            &format!("SELECT {COLUMNS} FROM project WHERE root = ?1 AND removed_at IS NULL"),
            [root],
            from_row,
        )
        .optional()?)
}

/// The project that would be registered for `root`, with an empty id. Nothing is written.
///
/// Errors: `project_folder_missing`, `path_not_text`.
pub fn unregistered(root: &Path, now: Instant) -> Result<Project, Problem> {
    let root = canonical(root)?;
    Ok(Project {
        id: String::new(),
        name: name_of(&root),
        root,
        first_seen: now,
    })
}

/// The project with this id, removed or not.
pub fn get(db: &Connection, id: &str) -> Result<Option<Project>, Fault> {
    Ok(db
        .query_row(
            &format!("SELECT {COLUMNS} FROM project WHERE id = ?1"),
            [id],
            from_row,
        )
        .optional()?)
}

/// Every registered project, in the order they were registered.
pub fn list(db: &Connection) -> Result<Vec<Project>, Fault> {
    let mut rows = db.prepare(&format!(
        "SELECT {COLUMNS} FROM project WHERE removed_at IS NULL ORDER BY first_seen, id"
    ))?;
    let projects = rows.query_map([], from_row)?.collect::<Result<_, _>>()?;
    Ok(projects)
}

/// The folder of project `id` is now at `new_root`; its history goes on, and where it was is remembered.
///
/// Errors: `project_unknown`, `project_exists` (another project is registered there),
/// `project_folder_missing`, `path_not_text`.
pub fn relocate(tx: &Tx<'_>, id: &str, new_root: &Path) -> Result<Project, Fault> {
    let root = canonical(new_root)?;
    if let Some(other) = with_root(tx, &root)?
        && other.id != id
    {
        return Err(Problem::refused(
            "project_exists",
            format!("{root} is already registered as project {}.", other.id),
            "Purge that project first if its history is not needed.",
        )
        .into());
    }
    let before = get(tx, id)?.ok_or_else(|| unknown(id))?;
    tx.execute(
        "UPDATE project SET root = ?2, removed_at = NULL WHERE id = ?1",
        (id, &root),
    )?;
    let mut former = former_roots(tx, id)?;
    former.retain(|earlier| *earlier != root && *earlier != before.root);
    if before.root != root {
        former.push(before.root);
    }
    meta::set(tx, &former_key(id), &to_json("folders", &former)?)?;
    get(tx, id)?.ok_or_else(|| unknown(id))
}

/// The folders a project was in before it was moved, the latest last.
pub fn former_roots(db: &Connection, id: &str) -> Result<Vec<String>, Fault> {
    meta::get(db, &former_key(id))?
        .map_or_else(|| Ok(Vec::new()), |text| from_json("folders", &text))
}

/// Where the store keeps the former folders of a project.
pub(crate) fn former_key(id: &str) -> String {
    format!("former_roots:{id}")
}

/// Takes project `id` off the list. Its history stays until it is purged, and comes back when the
/// user [`register`]s the same folder again. Error: `project_unknown`.
pub fn remove(tx: &Tx<'_>, id: &str) -> Result<(), Fault> {
    let changed = tx.execute(
        "UPDATE project SET removed_at = ?2 WHERE id = ?1",
        (id, At(tx.now())),
    )?;
    if changed == 0 {
        Err(unknown(id))
    } else {
        Ok(())
    }
}

fn name_of(root: &str) -> String {
    Path::new(root).file_name().map_or_else(
        || root.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn with_root(db: &Connection, root: &str) -> Result<Option<Project>, Fault> {
    Ok(db
        .query_row(
            &format!("SELECT {COLUMNS} FROM project WHERE root = ?1"),
            [root],
            from_row,
        )
        .optional()?)
}

/// No such project.
pub(crate) fn unknown(id: &str) -> Fault {
    Fault::Problem(Problem::refused(
        "project_unknown",
        format!("No project is registered as \"{id}\"."),
        "`skillopt project list` shows the registered projects.",
    ))
}

fn canonical(root: &Path) -> Result<String, Problem> {
    let real = real_path(root).map_err(|error| {
        Problem::refused(
            "project_folder_missing",
            format!(
                "The project folder {} cannot be opened: {error}.",
                root.display()
            ),
            "If it was moved, tell SkillOpt where with `skillopt project move`.",
        )
    })?;
    real.into_os_string().into_string().map_err(|path| {
        Problem::permanent(
            "path_not_text",
            format!("The path {} is not valid Unicode.", path.to_string_lossy()),
            "Rename the folder so that its path is plain text.",
        )
    })
}
