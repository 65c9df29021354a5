//! Lines as both read them (§3.1).

use serde_json::Value;
use skillopt_core::Instant;

use crate::difference::Difference::BrokenLine;
use crate::difference::Rules;

/// The reference ends the whole harvest (§14.3, 51).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Aborts;

/// The records of a file. Lines that are no JSON are passed over.
pub(crate) fn records(bytes: &[u8], rules: Rules) -> Result<Vec<Value>, Aborts> {
    let ours = rules.differ(BrokenLine);
    let text = match std::str::from_utf8(bytes) {
        Err(_) if !ours => return Err(Aborts),
        Ok(_) | Err(_) => String::from_utf8_lossy(bytes),
    };
    let mut records = Vec::new();
    for line in text.lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(record) if record.is_object() => records.push(record),
            Ok(_) if !ours => return Err(Aborts),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(records)
}

/// The text of a value, or none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A moment. One without an offset is in UTC.
pub(crate) fn moment(text: &str) -> Option<Instant> {
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

/// Text flattening: a string, or the text blocks of a list, with line ends between them.
pub(crate) fn flat(content: &Value, counts: impl Fn(&str) -> bool) -> String {
    match content {
        Value::String(words) => words.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter(|block| block["type"] == "text")
                .map(|block| text(&block["text"]))
                .filter(|words| counts(words))
                .collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
