//! Everything that is stored, as one folder another program can read.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::{Map, Value, json};
use skillopt_core::Problem;

use super::{empty_destination, folders, tree};
use crate::fault::{Fault, io_problem};
use crate::files;
use crate::opening::{SCHEMA_VERSION, vacuum_into};
use crate::paths::Paths;
use crate::store::Store;

/// What was exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Files copied besides the database.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Tables whose bodies are bytes: they are in the copy of the database only.
const BYTES_ONLY: [&str; 2] = ["blob", "transcript_digest"];

/// Writes to the new folder `to`: `skillopt.db` (a consistent copy), `tables/*.jsonl` (the same rows
/// as JSON lines), `copies/` (earlier ones of the database), `staging/`, `backups/`, `handoff/`, `config/`, `cron.log`, and last `export.json`. Keys and
/// passwords are never stored, so none are exported.
///
/// Errors: `destination_unusable`, `destination_not_empty`, `data_dir_busy` while the data is purged or moved,
/// and those of writing.
pub fn export(store: &Store, paths: &Paths, to: &Path) -> Result<Exported, Problem> {
    let _alone = crate::locks::copying(paths, store.clock().now())?;
    empty_destination(to, &paths.data)?;
    files::create_private_dir(to)?;
    let database = to.join("skillopt.db");
    store.with_connection(|db| Ok(vacuum_into(db, &database)?))?;
    // From the copy, so that tables and database are of the same moment.
    let copy =
        Connection::open(&database).map_err(|error| Fault::Sql(error).into_problem(&database))?;
    let rows = write_tables(&copy, &to.join("tables"))?;
    drop(copy);
    let mut exported = Exported {
        rows,
        files: 0,
        bytes: 0,
    };
    let mut parts: Vec<_> = folders(paths).into();
    if paths.config != paths.data {
        parts.push(("config", paths.config.clone()));
    }
    for (name, folder) in parts {
        let (files, bytes) = tree::copy(&folder, &to.join(name))?;
        exported.files += files;
        exported.bytes += bytes;
    }
    for (log, name) in paths.logs().iter().zip(["cron.log", "cron.log.1"]) {
        if let Some(bytes) = tree::copy_file(log, &to.join(name))? {
            exported.files += 1;
            exported.bytes += bytes;
        }
    }
    let contents = json!({
        "format": "skillopt-export",
        "format_version": 1,
        "written_by": env!("CARGO_PKG_VERSION"),
        "schema": SCHEMA_VERSION,
        "exported_at": store.clock().now().to_string(),
        "rows": exported.rows,
        "files": exported.files,
        "bytes": exported.bytes,
    });
    files::write_private(
        &to.join("export.json"),
        format!("{contents:#}\n").as_bytes(),
    )?;
    Ok(exported)
}

/// The names of all tables of ours.
pub(super) fn tables(db: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement = db.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )?;
    let names = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(names)
}

/// How many rows each table has.
pub(super) fn counts(db: &Connection) -> Result<BTreeMap<String, u64>, Fault> {
    let mut counts = BTreeMap::new();
    for table in tables(db)? {
        let count: i64 = db.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
            row.get(0)
        })?;
        counts.insert(table, u64::try_from(count).unwrap_or(0));
    }
    Ok(counts)
}

fn write_tables(db: &Connection, folder: &Path) -> Result<BTreeMap<String, u64>, Problem> {
    files::create_private_dir(folder)?;
    let named = |fault: Fault| fault.into_problem(folder);
    for table in tables(db).map_err(named)? {
        if !BYTES_ONLY.contains(&table.as_str()) {
            write_table(db, &table, &folder.join(format!("{table}.jsonl")))?;
        }
    }
    counts(db).map_err(named)
}

fn write_table(db: &Connection, table: &str, path: &Path) -> Result<(), Problem> {
    let written = (|| -> Result<(), Fault> {
        let failed = |error: std::io::Error| Fault::Problem(io_problem(&error, "write", path));
        let mut out = std::io::BufWriter::new(files::open_private(path).map_err(failed)?);
        let mut statement = db.prepare(&format!("SELECT * FROM \"{table}\""))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut object = Map::new();
            for (index, column) in columns.iter().enumerate() {
                object.insert(column.clone(), plain(row.get_ref(index)?));
            }
            writeln!(out, "{}", Value::Object(object)).map_err(failed)?;
        }
        let file = out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)
    })();
    written.map_err(|fault| fault.into_problem(path))
}

fn plain(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        // JSON columns are shown as JSON.
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let structured = text
                .starts_with(['{', '['])
                .then(|| serde_json::from_str(&text).ok())
                .flatten();
            structured.unwrap_or_else(|| Value::String(text.into_owned()))
        }
        ValueRef::Blob(bytes) => Value::String(String::from_utf8_lossy(bytes).into_owned()),
    }
}
