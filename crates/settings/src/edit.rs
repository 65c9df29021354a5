//! Changing a settings file, comments kept.

use std::path::Path;

use serde_json::Value;
use skillopt_core::Problem;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use crate::problems::{broken, invalid, known};
use crate::resolved::Place;
use crate::table::{Row, Settings};

/// The text of a settings file with `key` set to `value`, which is written as for a flag or a variable
/// (a list: separated by commas, or as in TOML). `text` is the file as it is now, empty when there is
/// none; `file` is only named in problems.
///
/// `below` are the settings of the layers under this file ([`Layers::below`](crate::Layers::below)), not
/// those that hold with it: a value equal to theirs is not written, and
/// removed if it stands there, so that the file holds only differences.
///
/// Errors: `setting_unknown`, `setting_invalid`, `backend_unknown`, `config_broken`.
pub fn set(
    text: &str,
    file: &Path,
    key: &str,
    value: &str,
    below: &Settings,
) -> Result<String, Problem> {
    let row = known(key)?;
    let value = row
        .kind
        .read(value)
        .map_err(|fault| invalid(row, &Place::Command, &fault))?;
    put(text, file, row, &value, below)
}

/// The text of a settings file without `key`. Its comments stay.
///
/// Errors: `setting_unknown`, `config_broken`.
pub fn unset(text: &str, file: &Path, key: &str) -> Result<String, Problem> {
    let row = known(key)?;
    edited(text, file, |document| {
        remove(document, row);
        Ok(())
    })
}

/// As [`set`], with a value that was checked.
pub(crate) fn put(
    text: &str,
    file: &Path,
    row: &Row,
    value: &Value,
    below: &Settings,
) -> Result<String, Problem> {
    edited(text, file, |document| {
        let same = *value == below.get(row);
        match to_toml(value).filter(|_| !same) {
            Some(value) => insert(document, file, row, value),
            None => {
                remove(document, row);
                Ok(())
            }
        }
    })
}

/// Parses, changes and writes a text; a byte order mark and Windows line ends stay.
fn edited(
    text: &str,
    file: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Problem>,
) -> Result<String, Problem> {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        broken(
            file,
            text,
            error.span().map_or(0, |span| span.start),
            error.message(),
        )
    })?;
    change(&mut document)?;
    let mut changed = document.to_string();
    let lines = text.matches('\n').count();
    if lines > 0 && text.matches("\r\n").count() == lines {
        changed = changed.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Ok(format!("{mark}{changed}"))
}

fn insert(
    document: &mut DocumentMut,
    file: &Path,
    row: &Row,
    mut value: toml_edit::Value,
) -> Result<(), Problem> {
    let first = document.is_empty() && document.trailing().as_str().is_none_or(str::is_empty);
    let group = document.entry(row.group()).or_insert_with(|| {
        let mut table = Table::new();
        table.decor_mut().set_prefix(if first { "" } else { "\n" });
        Item::Table(table)
    });
    let inline = group.is_inline_table();
    let Some(group) = group.as_table_like_mut() else {
        return Err(Problem::refused(
            "setting_invalid",
            format!(
                "{} in {} is a single value, and must be a table.",
                row.group(),
                file.display()
            ),
            format!("Write [{}] on a line of its own.", row.group()),
        ));
    };
    match group.get_mut(row.field) {
        Some(item) => {
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => {
            if inline {
                // The space before the closing brace moves behind the new last value.
                if let Some((_, last)) = group.iter_mut().last()
                    && let Some(last) = last.as_value_mut()
                {
                    last.decor_mut().set_suffix("");
                }
                value.decor_mut().set_prefix(" ");
                value.decor_mut().set_suffix(" ");
            }
            group.insert(row.field, Item::Value(value));
        }
    }
    Ok(())
}

fn remove(document: &mut DocumentMut, row: &Row) {
    let Some(group) = document
        .get_mut(row.group())
        .and_then(Item::as_table_like_mut)
    else {
        return;
    };
    if !group.contains_key(row.field) {
        return;
    }
    let comment = comment_of(group, row.field);
    let next = group
        .iter()
        .map(|(name, _)| name.to_owned())
        .skip_while(|name| name != row.field)
        .nth(1);
    group.remove(row.field);
    let empty = group.is_empty();
    let left = match next.as_deref().and_then(|next| group.key_mut(next)) {
        Some(mut key) => {
            let decor = key.leaf_decor_mut();
            let old = decor
                .prefix()
                .and_then(|prefix| prefix.as_str())
                .unwrap_or_default()
                .to_owned();
            decor.set_prefix(format!("{comment}{old}"));
            String::new()
        }
        None => comment,
    };
    if !left.is_empty() {
        leave(document, row.group(), &left);
    }
    if empty && left_bare(document, row.group()) {
        document.remove(row.group());
    }
}

/// The comments before a key and behind its value, each on its own line; empty when there are none.
fn comment_of(group: &dyn TableLike, field: &str) -> String {
    let before = group
        .key(field)
        .and_then(|key| key.leaf_decor().prefix())
        .and_then(|prefix| prefix.as_str());
    let behind = group
        .get(field)
        .and_then(Item::as_value)
        .and_then(|value| value.decor().suffix())
        .and_then(|suffix| suffix.as_str());
    let mut comment = before
        .filter(|text| text.contains('#'))
        .unwrap_or_default()
        .to_owned();
    if let Some(behind) = behind.map(str::trim).filter(|text| text.starts_with('#')) {
        comment.push_str(behind);
        comment.push('\n');
    }
    comment
}

/// Puts a comment where the next table begins, or at the end.
fn leave(document: &mut DocumentMut, group: &str, comment: &str) {
    let position = |item: &Item| item.as_table().and_then(Table::position);
    let here = document.get(group).and_then(position);
    let next = document
        .iter()
        .filter_map(|(name, item)| Some((position(item)?, name.to_owned())))
        .filter(|(place, _)| Some(*place) > here)
        .min();
    let next = next
        .and_then(|(_, name)| document.get_mut(&name))
        .and_then(Item::as_table_mut);
    match next {
        Some(table) => {
            let old = table
                .decor()
                .prefix()
                .and_then(|prefix| prefix.as_str())
                .unwrap_or_default()
                .to_owned();
            table.decor_mut().set_prefix(format!("{comment}{old}"));
        }
        None => {
            let old = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{comment}{old}"));
        }
    }
}

/// Whether a table has no comment that would go with it.
fn left_bare(document: &DocumentMut, group: &str) -> bool {
    document
        .get(group)
        .and_then(Item::as_table)
        .is_some_and(|table| {
            let comments = |text: Option<&toml_edit::RawString>| {
                text.and_then(|text| text.as_str())
                    .is_some_and(|text| text.contains('#'))
            };
            !comments(table.decor().prefix()) && !comments(table.decor().suffix())
        })
}

fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().filter_map(to_toml).collect::<Array>().into(),
        Value::Null | Value::Object(_) => return None,
    })
}
