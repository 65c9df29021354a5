//! Redaction of JSON: every text, and whole values under keys named like credentials.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{harmless, mark, name, redact_except};

/// Deeper values are taken out as a whole, so that no nesting can exhaust the stack.
const DEEPEST: usize = 256;

pub(super) fn redact(json: &mut Value, false_alarms: &HashSet<String>) -> usize {
    walk(json, false_alarms, 0)
}

fn walk(json: &mut Value, false_alarms: &HashSet<String>, depth: usize) -> usize {
    match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => {
            let redacted = redact_except(text, false_alarms);
            let count = redacted.count;
            if count > 0 {
                *text = redacted.text.into_owned();
            }
            count
        }
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            *json = Value::String(mark::PLAIN.to_owned());
            1
        }
        Value::Array(items) => items
            .iter_mut()
            .map(|item| walk(item, false_alarms, depth + 1))
            .sum(),
        Value::Object(fields) => {
            let mut count = 0;
            let mut renamed = false;
            for (key, field) in fields.iter_mut() {
                let plain = redact_except(key, false_alarms);
                renamed |= plain.count > 0;
                if name::is_secret_key(&plain.text) && is_secret(field, false_alarms) {
                    *field = Value::String(mark::PLAIN.to_owned());
                    count += 1;
                } else {
                    count += walk(field, false_alarms, depth + 1);
                }
            }
            if renamed {
                count += rename(fields, false_alarms);
            }
            count
        }
    }
}

/// Whether a value under a credential's name is worth taking out.
fn is_secret(field: &Value, false_alarms: &HashSet<String>) -> bool {
    match field {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.to_string().len() >= 4,
        Value::String(text) => {
            !mark::is_mark(text)
                && !harmless::is_placeholder(text.trim().as_bytes())
                && !false_alarms.contains(text.trim())
        }
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Redacts the keys themselves. Keys that become equal get a number, so that no value is lost.
fn rename(fields: &mut Map<String, Value>, false_alarms: &HashSet<String>) -> usize {
    let mut count = 0;
    let mut next_number = HashMap::<String, usize>::new();
    let old = std::mem::take(fields);
    for (key, field) in old {
        let redacted = redact_except(&key, false_alarms);
        count += redacted.count;
        let plain = redacted.text.into_owned();
        let mut name = plain.clone();
        while fields.contains_key(&name) {
            let number = next_number.entry(plain.clone()).or_insert(2);
            name = format!("{plain} ({number})");
            *number += 1;
        }
        fields.insert(name, field);
    }
    count
}
