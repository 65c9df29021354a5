//! Tables of prices: the built-in one and the user's.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use skillopt_core::Problem;

use super::Price;

/// The name of the user's table in the settings folder.
pub const FILE: &str = "prices.toml";

/// The built-in table.
const BUILT_IN: &str = include_str!("../../../../configs/prices.toml");

/// More than this is no table of prices.
const LARGEST_FILE: u64 = 1024 * 1024;

/// A table as it is in its file.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// What all its prices are in; empty when it does not say.
    #[serde(default)]
    pub(super) currency: String,
    #[serde(default)]
    pub(super) model: Vec<Row>,
}

/// One row: models of one price.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    names: Vec<String>,
    input: f64,
    /// As `input` when it is not said.
    cached: Option<f64>,
    output: f64,
    /// Tokens it reads and writes at most.
    pub(super) context: Option<u64>,
    /// The day of the price.
    pub(super) as_of: String,
}

impl Row {
    #[cfg(test)]
    pub(super) fn of(model: &str, price: Price) -> Self {
        Self {
            names: vec![model.to_owned()],
            input: price.input,
            cached: Some(price.cached),
            output: price.output,
            context: None,
            as_of: "2026-01-01".to_owned(),
        }
    }

    pub(super) fn price(&self) -> Price {
        Price {
            input: self.input,
            cached: self.cached.unwrap_or(self.input),
            output: self.output,
        }
    }
}

/// The row of a model. Its name may have its maker in front of it and a date behind, and be spelled as
/// GitHub and routers do (`claude-sonnet-4.5`, `minimax-m3`).
pub(super) fn rows_of<'a>(rows: &'a [Row], model: &str) -> Option<&'a Row> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let undated = without_date(bare);
    let has = |row: &&Row, same: fn(&str, &str) -> bool| {
        let names = [model, bare, undated];
        row.names
            .iter()
            .any(|known| names.iter().any(|name| same(known, name)))
    };
    rows.iter()
        .find(|row| has(row, |known, name| known == name))
        .or_else(|| rows.iter().find(|row| has(row, is_spelling)))
}

/// Whether two names differ in capitals, and in dots and dashes, at most.
fn is_spelling(known: &str, name: &str) -> bool {
    let plain = |byte: u8| match byte {
        b'.' => b'-',
        byte => byte.to_ascii_lowercase(),
    };
    known.bytes().map(plain).eq(name.bytes().map(plain))
}

/// A model's name without `-20250929`, `-2024-08-06` or `-latest` behind it.
fn without_date(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date = &name[digits.len()..];
    // What is left of a name that ends in a version keeps its digits: claude-opus-4-5-20251101.
    for length in ["-20250929".len(), "-2024-08-06".len()] {
        let Some(start) = date.len().checked_sub(length) else {
            continue;
        };
        let tail = &date[start..];
        let parts: Vec<&str> = tail.split('-').skip(1).collect();
        let is_date = tail.starts_with('-')
            && match parts.as_slice() {
                [day] => day.len() == 8 && day.starts_with("20"),
                [year, month, day] => {
                    year.len() == 4 && year.starts_with("20") && month.len() == 2 && day.len() == 2
                }
                _ => false,
            };
        if is_date {
            return &name[..name.len() - length];
        }
    }
    name
}

/// The built-in table.
pub(super) fn built_in() -> Result<Table, Problem> {
    read(BUILT_IN, "the built-in table of prices")
}

/// The user's table; an empty one when there is no file.
pub(super) fn own(folder: &Path) -> Result<Table, Problem> {
    let path = folder.join(FILE);
    let shown = path.display().to_string();
    match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Table::default()),
        Ok(found) if found.len() > LARGEST_FILE => return Err(broken(&shown, "it is too large")),
        Ok(_) | Err(_) => {}
    }
    let text = fs::read_to_string(&path).map_err(|error| broken(&shown, &error.to_string()))?;
    read(&text, &shown)
}

fn read(text: &str, shown: &str) -> Result<Table, Problem> {
    let mut table: Table = toml_edit::de::from_str(text)
        .map_err(|error| broken(shown, &skillopt_core::text::one_line(error.message())))?;
    for row in &table.model {
        let prices = [row.input, row.cached.unwrap_or(row.input), row.output];
        if prices
            .iter()
            .any(|price| !price.is_finite() || *price < 0.0)
        {
            let name = row.names.first().map_or("", String::as_str);
            return Err(broken(shown, &format!("a price of {name} is not one")));
        }
        if prices[1] > row.input {
            let name = row.names.first().map_or("", String::as_str);
            return Err(broken(
                shown,
                &format!("cached tokens of {name} cost more than others"),
            ));
        }
    }
    table.currency = table.currency.trim().to_uppercase();
    Ok(table)
}

fn broken(shown: &str, why: &str) -> Problem {
    Problem::refused(
        "prices_broken",
        format!("{shown} cannot be used: {why}."),
        "Correct the file, or move it away; configs/prices.toml shows the form.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_whole_and_dated() {
        let Table {
            currency,
            model: rows,
        } = built_in().unwrap();
        assert_eq!(currency, "USD");
        assert!(rows.len() > 10);
        let mut names: Vec<&String> = rows.iter().flat_map(|row| &row.names).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a model is listed twice");
        for row in &rows {
            assert!(row.as_of.parse::<jiff::civil::Date>().is_ok(), "{row:?}");
            assert!(row.output >= row.input && !row.names.is_empty(), "{row:?}");
            assert!(
                row.context.is_some_and(|tokens| tokens >= 100_000),
                "{row:?}"
            );
        }
    }

    #[test]
    fn a_date_behind_a_name_does_not_matter_and_a_size_does() {
        for (name, undated) in [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-sonnet-5-latest", "claude-sonnet-5"),
            ("gpt-4o-mini", "gpt-4o-mini"),
            ("gpt-5.4", "gpt-5.4"),
            ("claude-opus-4-5", "claude-opus-4-5"),
            ("m-12345678", "m-12345678"),
            ("", ""),
            ("é-2024-08-06", "é"),
        ] {
            assert_eq!(without_date(name), undated);
        }
        let rows = built_in().unwrap().model;
        assert!(rows_of(&rows, "openai/gpt-4o-2024-08-06").is_some());
        assert!(rows_of(&rows, "gpt-4o-audio").is_none());
        for (spelled, name) in [
            ("claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("anthropic/claude-opus-4.1", "claude-opus-4-1"),
            ("minimax/minimax-m3", "MiniMax-M3"),
            ("openai/gpt-5.4-mini", "gpt-5.4-mini"),
        ] {
            let found = rows_of(&rows, spelled);
            assert!(found.is_some(), "{spelled}");
            assert_eq!(found, rows_of(&rows, name));
        }
        assert!(rows_of(&rows, "").is_none());
    }

    #[test]
    fn a_broken_table_says_where_and_why() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(own(folder.path()).unwrap(), Table::default());
        let row =
            |fields: &str| format!("[[model]]\nnames = [\"m\"]\nas_of = \"2026-01-01\"\n{fields}");
        for (text, words) in [
            ("model = 7".to_owned(), "invalid type"),
            (row("input = -1.0\noutput = 1.0"), "a price of m is not one"),
            (row("input = nan\noutput = 1.0"), "a price of m is not one"),
            (
                row("input = 1.0\ncached = 2.0\noutput = 1.0"),
                "cost more than others",
            ),
            (
                row("input = 1.0\noutput = 1.0\ncolour = 3"),
                "unknown field",
            ),
        ] {
            skillopt_store::files::write_private(&folder.path().join(FILE), text.as_bytes())
                .unwrap();
            let problem = own(folder.path()).unwrap_err();
            assert_eq!(problem.code, "prices_broken");
            assert!(problem.message.contains(words), "{problem}");
            assert!(problem.message.contains(FILE), "{problem}");
        }
    }
}
