//! Faults of which there are too many for a table, over the same stores.

use std::fs;
use std::sync::Mutex;

use serde_json::Value;
use skillopt_transcripts::{Harvest, Reason, harvest};

use crate::faults::{noise, settled};
use crate::homes::{words, write};
use crate::scene::Scene;
use crate::stores::{Form, Record, STORES, Store};

/// One session for each record, each with the record between two prompts; then what was typed in each,
/// in the order of the records.
fn around_each(store: &Store, records: &[Record]) -> (Harvest, Vec<Vec<String>>) {
    let scene = Scene::new(store);
    let home = scene.home();
    let rows = match &store.form {
        Form::Rows(rows) => Some((rows, rows.open(&home))),
        Form::Lines { .. } | Form::Document { .. } | Form::Folder => None,
    };
    if let Some((_, db)) = &rows {
        // Thousands of rows, and nobody pulls the plug.
        db.execute_batch("PRAGMA synchronous = OFF").unwrap();
    }
    for (number, record) in (0_u32..).zip(records) {
        let name = format!("odd{number:05}");
        // No session may hold what looks like a copy of a turn of another one.
        let typed = |at: u32, words: &str| store.typed_as(1000 + number * 2 + at, 1 + at, words);
        // The number tells which session it is, whatever becomes of its name.
        let (before, after) = (
            typed(0, &format!("before {number}")),
            typed(1, &format!("after {number}")),
        );
        // A header in the place of a record names its own session.
        let odd = match String::from_utf8(record.bytes.clone()) {
            Ok(text) => Record {
                bytes: text.replace("NAME", &name).into_bytes(),
                millis: record.millis,
            },
            Err(_) => record.clone(),
        };
        let all = [before, odd, after];
        match &rows {
            Some((rows, db)) => {
                rows.add_session(db, &name);
                for (place, record) in (1..).zip(&all) {
                    rows.add(db, &name, place, record);
                }
            }
            None => store.put(&home, &name, &all),
        }
    }
    let harvest = harvest(&scene.request, None, &|| false).unwrap();
    let mut said: Vec<(usize, Vec<String>)> = harvest
        .sessions
        .iter()
        .filter_map(|session| {
            let said: Vec<String> = words(session).into_iter().map(str::to_owned).collect();
            let (_, number) = said.last()?.rsplit_once(' ')?;
            Some((number.parse().ok()?, said))
        })
        .collect();
    said.sort();
    let numbers: Vec<usize> = said.iter().map(|(number, _)| *number).collect();
    let all: Vec<usize> = (0..records.len()).collect();
    assert_eq!(numbers, all, "{}", store.name);
    (harvest, said.into_iter().map(|(_, said)| said).collect())
}

/// Stores in which a damaged record damages nothing else, and whose records are JSON.
fn with_records_of_their_own() -> impl Iterator<Item = &'static Store> {
    STORES
        .iter()
        .filter(|store| store.json() && !matches!(store.form, Form::Document { .. }))
}

#[test]
fn damaged_records_cost_only_themselves() {
    let giant = format!("1{}", "0".repeat(5000));
    for store in with_records_of_their_own() {
        let sound = store.typed(2, "odd").bytes;
        let twice = [&sound[..], b"}"].concat();
        let damaged: [(&[u8], Reason); 9] = [
            (b"nonsense", Reason::Malformed),
            (&sound[..sound.len() / 2], Reason::Malformed),
            (&noise(4096), Reason::Malformed),
            (b"\0\0\0", Reason::Malformed),
            (&twice, Reason::Malformed),
            (b"[1,2]", Reason::NotAnObject),
            (b"null", Reason::NotAnObject),
            (b"\"text\"", Reason::NotAnObject),
            (giant.as_bytes(), Reason::NotAnObject),
        ];
        let records: Vec<Record> = damaged
            .iter()
            .map(|(bytes, _)| Record::of(*bytes))
            .collect();
        let (harvest, said) = around_each(store, &records);
        for (number, said) in said.iter().enumerate() {
            let both = [format!("before {number}"), format!("after {number}")];
            assert_eq!(said[..], both, "{} {number}", store.name);
        }
        let counted = |reason| crate::homes::skipped(&harvest, store.agent, reason);
        // Values of the editor's database are known by their keys: all that are no message are alike.
        let no_objects = counted(Reason::NotAnObject);
        assert!(no_objects == 4 || no_objects == 0 && store.name.contains("editor"));
        assert_eq!(
            counted(Reason::Malformed) + no_objects,
            9,
            "{}: {:?}",
            store.name,
            harvest.skipped
        );
    }
}

/// Every place in a value, as a pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                places(inner, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (position, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{position}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn values_of_the_wrong_shape_cost_at_most_their_record() {
    let shapes: Vec<Value> = [
        "null",
        "7",
        "-1.5",
        "true",
        "\"x\"",
        "[]",
        "[[1]]",
        "{}",
        "{\"a\":{}}",
    ]
    .iter()
    .map(|json| serde_json::from_str(json).unwrap())
    .collect();
    for store in STORES.iter().filter(|store| store.json()) {
        let mut lines = vec![String::from_utf8(store.typed(9, "odd").bytes).unwrap()];
        if let Form::Lines { header, .. } = store.form {
            lines.push(header.to_owned());
        }
        let mut records = Vec::new();
        for line in lines {
            let sound: Value = serde_json::from_str(&line).unwrap();
            let mut pointers = Vec::new();
            places(&sound, "", &mut pointers);
            for pointer in &pointers {
                for shape in &shapes {
                    let mut odd = sound.clone();
                    *odd.pointer_mut(pointer).unwrap() = shape.clone();
                    records.push(Record::of(odd.to_string()));
                }
            }
        }
        // That the prompt behind it is found in each is what is asserted there.
        let (_, said) = around_each(store, &records);
        assert!(said.len() >= 9 * 3, "{}: {}", store.name, said.len());
    }
}

#[test]
fn a_half_written_end_is_read_when_it_is_whole() {
    for store in &STORES {
        let Form::Lines { .. } = store.form else {
            continue;
        };
        let scene = Scene::new(store);
        let home = scene.home();
        let both = [store.typed(1, "before"), store.typed(3, "after")];
        store.put(&home, "bad", &both);
        let path = store.session(&home, "bad");
        let whole = fs::read(&path).unwrap();
        for length in [whole.len() - 2, whole.len() - 12] {
            write(&path, &whole[..length]);
            let found = scene.found();
            assert_eq!(found.said, ["before"], "{}", store.name);
            assert_eq!(found.counted.get(&Reason::HalfWritten), Some(&1));
        }
        // Only the line end is missing: the record is complete.
        for length in [whole.len() - 1, whole.len()] {
            write(&path, &whole[..length]);
            let found = scene.found();
            assert_eq!(found.said, ["before", "after"], "{}", store.name);
            assert!(found.counted.is_empty(), "{}", store.name);
        }
    }
}

#[test]
fn databases_that_are_damaged_anywhere_are_said_and_invent_nothing() {
    for store in &STORES {
        let Form::Rows(rows) = &store.form else {
            continue;
        };
        let sound = Scene::new(store);
        let both = [store.typed(1, "before"), store.typed(3, "after")];
        store.put(&sound.home(), "bad", &both);
        let bytes = fs::read(settled(rows, &sound.home())).unwrap();
        let noise = noise(bytes.len());
        for part in 1..12 {
            let at = bytes.len() * part / 12;
            let mut overwritten = bytes.clone();
            let end = (at + 300).min(bytes.len());
            overwritten[at..end].copy_from_slice(&noise[at..end]);
            for (kind, damaged) in [("cut", bytes[..at].to_vec()), ("overwritten", overwritten)] {
                let scene = Scene::new(store);
                fs::remove_file(scene.home().join(rows.path)).unwrap();
                write(&scene.home().join(rows.path), &damaged);
                // What is in the other stores is read; see there.
                let found = scene.found();
                let place = format!(
                    "{} {kind} {part}: {:?} {:?}",
                    store.name, found.said, found.counted
                );
                let everything = found.beside && found.said == ["before", "after"];
                assert!(everything || !found.counted.is_empty(), "{place}");
                if kind == "cut" {
                    assert!(
                        found.counted.contains_key(&Reason::DamagedDatabase),
                        "{place}"
                    );
                }
                let told = |said: &String| *said == "before" || *said == "after";
                assert!(found.said.iter().all(told), "{place}");
            }
        }
    }
}

/// A session in a format of which no word of a person is understood.
fn drifted(store: &Store) -> Record {
    if !store.unknown.is_empty() {
        return Record::of(store.unknown);
    }
    let sound = String::from_utf8(store.typed(2, "").bytes).unwrap();
    Record::of(sound.replace("\"message\"", "\"utterance\""))
}

#[test]
fn a_format_that_changed_is_noticed_in_every_store() {
    for store in &STORES {
        let scene = Scene::empty(store);
        let silent = || {
            let harvest = harvest(&scene.request, None, &|| false).unwrap();
            harvest.silent.get(&store.agent).copied()
        };
        for (number, session) in (1..).zip(["one", "two", "three"]) {
            store.put(&scene.home(), session, &[drifted(store)]);
            assert_eq!(silent(), Some(number), "{}", store.name);
        }
        // Somebody was understood after them.
        store.put(&scene.home(), "good", &[store.typed(30, "words")]);
        assert_eq!(silent(), None, "{}", store.name);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn on_battery_every_store_is_read_by_a_thread_that_steps_back() {
    let niceness = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
    let before = niceness();
    for store in &STORES {
        for on_battery in [false, true] {
            let mut scene = Scene::new(store);
            scene.request.agents = vec![store.agent];
            scene.request.on_battery = on_battery;
            // It is asked between one session and the next, by the thread that reads databases and
            // starts those that read files; a thread is as nice as the one that started it.
            let found = Mutex::new(Vec::new());
            let ask = || {
                found.lock().unwrap().push(niceness());
                false
            };
            let harvest = harvest(&scene.request, None, &ask).unwrap();
            assert_eq!(harvest.sessions.len(), 2, "{}", store.name);
            let found = found.into_inner().unwrap();
            let expected = if on_battery { 19 } else { before };
            assert!(!found.is_empty(), "{}", store.name);
            assert!(found.iter().all(|nice| *nice == expected), "{found:?}");
            assert_eq!(niceness(), before);
        }
    }
}
