//! Taking over a configuration of the reference (`~/.skillopt-sleep/config.json`, §2.1).

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use skillopt_core::Problem;

use crate::edit;
use crate::kind::Fault;
use crate::problems::{RETIRED, broken};
use crate::suggest::closest;
use crate::table::{ROWS, Row, Settings, row};

/// A setting that is taken over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taken {
    /// Its name in the reference.
    pub reference: String,
    /// Its name here.
    pub key: &'static str,
    /// Its value here.
    pub value: Value,
}

/// A setting that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// Its name in the reference.
    pub reference: String,
    /// Why, as the end of a sentence.
    pub why: String,
}

/// What a configuration of the reference becomes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Import {
    /// What is taken over.
    pub taken: Vec<Taken>,
    /// What is not, and why.
    pub ignored: Vec<Ignored>,
}

/// Reads the reference's `config.json`. `file` is only named in problems.
///
/// Nothing stops at a bad value: it is ignored with the reason. Values equal to our defaults need no
/// taking over.
///
/// Error: `config_broken`.
pub fn read(text: &str, file: &Path) -> Result<Import, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let config: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        broken(
            file,
            text,
            offset(text, error.line(), error.column()),
            &reason(&error),
        )
    })?;
    let mut import = Import::default();
    for (name, value) in &config {
        match taken(name, value, &config) {
            Ok(taken) => import.taken.push(taken),
            Err(why) => import.ignored.push(Ignored {
                reference: name.clone(),
                why,
            }),
        }
    }
    Ok(import)
}

impl Import {
    /// The text of a settings file with everything that is taken over. What the file already says
    /// stays: it is the newer word.
    ///
    /// Error: `config_broken`.
    pub fn written_to(&self, text: &str, file: &Path) -> Result<String, Problem> {
        let present: Vec<String> = crate::file::entries(text, file)?
            .into_iter()
            .map(|entry| entry.key)
            .collect();
        let usual = Settings::default();
        let mut written = text.to_owned();
        for taken in self
            .taken
            .iter()
            .filter(|taken| !present.iter().any(|key| key == taken.key))
        {
            if let Some(row) = row(taken.key) {
                written = edit::put(&written, file, row, &taken.value, &usual)?;
            }
        }
        Ok(written)
    }
}

fn taken(name: &str, value: &Value, config: &Map<String, Value>) -> Result<Taken, String> {
    if let Some((_, why)) = RETIRED.iter().find(|(retired, _)| *retired == name) {
        return Err((*why).to_owned());
    }
    let Some(row) = ROWS.iter().find(|row| row.reference.contains(&name)) else {
        let names = ROWS.iter().flat_map(|row| row.reference.iter().copied());
        return Err(match closest(name, names) {
            Some(near) => format!("the reference does not have it either; did you mean {near}?"),
            None => "the reference does not have it either".to_owned(),
        });
    };
    if value.is_null() {
        return Err("it has no value".to_owned());
    }
    let winner = row
        .reference
        .iter()
        .find(|other| config.get(**other).is_some_and(|value| !value.is_null()));
    if let Some(winner) = winner.filter(|winner| **winner != name) {
        return Err(format!("{winner} says the same and wins"));
    }
    let value = translated(row, value)?;
    if value == Settings::default().get(row) {
        return Err("it is the default".to_owned());
    }
    Ok(Taken {
        reference: name.to_owned(),
        key: row.key,
        value,
    })
}

/// A value of the reference as ours.
fn translated(row: &'static Row, value: &Value) -> Result<Value, String> {
    let value = match (row.field, value) {
        // §2.1: auto is Codex when it has sessions, else Claude Code.
        ("source", Value::String(text)) if text == "auto" => json!("reference-auto"),
        // §10.1: words that it knows for what has another word here. Its `anthropic` is the command
        // line of Claude Code, and ours is a server that bills a key.
        ("backend" | "target_backend" | "optimizer_backend", Value::String(text)) => {
            match text.trim().to_ascii_lowercase().as_str() {
                "anthropic" => json!("claude"),
                "azure-responses" | "azure_responses" | "aoai-responses" | "responses" => {
                    json!("azure_openai")
                }
                "session" | "file" => json!("handoff"),
                word => json!(word),
            }
        }
        // §2.1: there `copilot` is Copilot Chat in VS Code.
        ("source", Value::String(text)) if text == "copilot" => json!("vscode"),
        ("scope", Value::Array(_)) => {
            return Err(
                "projects are registered one by one with `skillopt project add`".to_owned(),
            );
        }
        // §2.1: zero and less mean everything.
        ("lookback_hours", Value::Number(hours))
            if hours.as_f64().is_some_and(|hours| hours <= 0.0) =>
        {
            json!(0)
        }
        ("mode", Value::Bool(false)) => json!("off"),
        ("mode", Value::Bool(true)) => json!("strict"),
        ("mixed_weight", Value::Number(weight)) => {
            json!(weight.as_f64().unwrap_or(0.5).clamp(0.0, 1.0))
        }
        ("claude_home", Value::String(text)) if text == "~/.claude" => json!(""),
        ("codex_home", Value::String(text)) if text == "~/.codex" => json!(""),
        ("cursor_home", Value::String(text)) if text == "~/.cursor" => json!(""),
        ("pi_home", Value::String(text)) if text == "~/.pi" => json!(""),
        // §2.3: the reference names the folder above the one that Pi calls its own.
        ("pi_home", Value::String(text)) => json!(format!("{}/agent", text.trim_end_matches('/'))),
        _ => value.clone(),
    };
    row.kind.check(&value).map_err(|fault| match fault {
        Fault::Wrong(phrase) | Fault::Backend(phrase) => format!("its value is {phrase}"),
        Fault::Secret => "it holds what looks like a key or a password".to_owned(),
    })
}

/// The reason of a JSON error without the place, which stands elsewhere in the sentence.
fn reason(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    whole
        .rsplit_once(" at line ")
        .map_or(whole.clone(), |(reason, _)| reason.to_owned())
}

/// The byte offset of a line and a byte column, both from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (start + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::shown;

    #[test]
    fn a_bad_value_is_shown_short_and_without_secrets() {
        let why =
            translated(row("model").unwrap(), &json!({"k": "sk-abcdefghijklmnop"})).unwrap_err();
        assert!(!why.contains("abcdefgh"), "{why}");
        assert!(shown(&json!("x".repeat(500))).len() < 100);
    }
}
