//! Reading a settings file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::Value;
use skillopt_core::Problem;
use toml_edit::{Document, Item, TableLike};

use crate::kind::from_toml;
use crate::problems::{broken, position, unreadable};

/// No settings file is larger, in bytes.
const LARGEST: u64 = 1 << 20;

/// One `key = value` of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
    /// The dotted name.
    pub(crate) key: String,
    /// Its value; null when it is a table.
    pub(crate) value: Value,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// The entries of a file, in its order; `None` when there is no file. `own` says that the file must be
/// itself and no link, as one in a repository must.
///
/// Errors: `config_unreadable`, `config_broken`.
pub(crate) fn read(path: &Path, own: bool) -> Result<Option<Vec<Entry>>, Problem> {
    let metadata = if own {
        path.symlink_metadata()
    } else {
        path.metadata()
    };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error.to_string())),
    };
    if !metadata.is_file() {
        return Err(unreadable(path, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(path, "it is larger than a settings file can be"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        broken(path, &text, valid, "this is not UTF-8 text")
    })?;
    entries(&text, path).map(Some)
}

/// The entries of a text.
pub(crate) fn entries(text: &str, path: &Path) -> Result<Vec<Entry>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document::parse(text).map_err(|error| {
        broken(
            path,
            text,
            error.span().map_or(0, |span| span.start),
            error.message(),
        )
    })?;
    let mut entries = Vec::new();
    collect(document.as_table(), "", text, &mut entries);
    Ok(entries)
}

fn collect(table: &dyn TableLike, prefix: &str, text: &str, entries: &mut Vec<Entry>) {
    for (name, item) in table.iter() {
        let key = if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}.{name}")
        };
        if let (true, Some(inner)) = (prefix.is_empty(), item.as_table_like()) {
            collect(inner, &key, text, entries);
            continue;
        }
        let value = match item {
            Item::Value(value) => from_toml(value),
            Item::None | Item::Table(_) | Item::ArrayOfTables(_) => Value::Null,
        };
        let span = table.key(name).and_then(toml_edit::Key::span);
        let line = position(text, span.map_or(0, |span| span.start)).0;
        entries.push(Entry { key, value, line });
    }
}
