//! The page's rules for Pi (§3.8).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::course::{Course, Filters, Item, Place};
use crate::difference::Difference::{
    ApiErrors, FileName, OneBadLine, ResultNames, SentAgain, SkillsAndFiles,
};
use crate::difference::Rules;
use crate::records::{flat, text};
use crate::words::is_meta;

/// One file, by the name it has without its ending; `None` when it is dropped.
pub(crate) fn read(name: &str, bytes: &[u8], rules: Rules) -> Option<Course> {
    let file = String::from_utf8_lossy(bytes);
    let mut records = Vec::new();
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(record) if record.is_object() => records.push(record),
            Ok(_) | Err(_) if rules.differ(OneBadLine) => {}
            Ok(_) | Err(_) => return None,
        }
    }
    let header = records.first().filter(|it| it["type"] == "session")?;
    let id = text(&header["id"]);
    let mut course = Course {
        session: if rules.differ(FileName) { name } else { id }.to_owned(),
        first: text(&header["timestamp"]).to_owned(),
        place: Place {
            folder: text(&header["cwd"]).to_owned(),
            branch: String::new(),
        },
        redacts: true,
        filters: Filters::Headless,
        once: true,
        ..Course::default()
    };
    let entries = &records[1..];
    let counted = counted(entries, rules);
    for (entry, _) in entries.iter().zip(&counted).filter(|(_, counts)| **counts) {
        tell(entry, &mut course, rules);
    }
    Some(course)
}

/// Which entries count: those of the branch of the last one.
fn counted(entries: &[Value], rules: Rules) -> Vec<bool> {
    let place: BTreeMap<&str, usize> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| (text(&entry["id"]), at))
        .collect();
    let parent = |at: usize| place.get(text(&entries[at]["parentId"])).copied();
    let mut counted = vec![false; entries.len()];
    let mut next = entries.len().checked_sub(1);
    while let Some(at) = next {
        counted[at] = true;
        next = parent(at);
    }
    if !rules.differ(SentAgain) {
        return counted;
    }
    // A prompt beside a later one of the branch was edited and sent again; what hangs on it, too.
    let is_prompt = |at: usize| {
        let message = &entries[at]["message"];
        message["role"] == "user" && !is_programs(&flat(&message["content"], |_| true), rules)
    };
    let branch: Vec<usize> = (0..entries.len()).filter(|&at| counted[at]).collect();
    let mut beside = BTreeSet::new();
    for at in 0..entries.len() {
        let hangs = parent(at).is_some_and(|above| beside.contains(&above));
        let edited = is_prompt(at)
            && parent(at).is_none_or(|above| counted[above])
            && branch
                .iter()
                .any(|&later| later > at && is_prompt(later) && parent(later) == parent(at));
        if !counted[at] && (hangs || edited) {
            beside.insert(at);
        }
    }
    for at in beside {
        counted[at] = true;
    }
    counted
}

/// Whether there are words, and a program's.
fn is_programs(words: &str, rules: Rules) -> bool {
    !words.trim().is_empty() && is_meta(words, rules)
}

fn tell(entry: &Value, course: &mut Course, rules: Rules) {
    let message = &entry["message"];
    let at = text(&entry["timestamp"]).to_owned();
    if !at.is_empty() {
        course.last.clone_from(&at);
    }
    // Ids have eight digits: only with the time they are one message's.
    let id = format!("{} {at}", text(&entry["id"]));
    let words = flat(&message["content"], |_| true);
    match text(&message["role"]) {
        "user" if is_programs(&words, rules) => course.items.push(Item::Program {
            id: String::new(),
            place: course.place.clone(),
        }),
        "user" => course.items.push(Item::Prompt {
            id,
            at,
            text: words,
            place: course.place.clone(),
        }),
        "assistant" => {
            let failed = message["stopReason"] == "error" && rules.differ(ApiErrors);
            course.items.push(Item::Said {
                id,
                at,
                text: if failed { String::new() } else { words },
            });
            for call in message["content"].as_array().into_iter().flatten() {
                if call["type"] == "toolCall" {
                    calls(call, course, rules);
                }
            }
        }
        "toolResult" if !rules.differ(ResultNames) => {
            let name = text(&message["toolName"]).to_owned();
            course.items.push(Item::Tool(name));
        }
        _ => {}
    }
}

fn calls(call: &Value, course: &mut Course, rules: Rules) {
    let name = text(&call["name"]);
    course.items.push(Item::Tool(name.to_owned()));
    if !rules.differ(SkillsAndFiles) {
        return;
    }
    let path = text(&call["arguments"]["path"]);
    match name {
        "read" | "bash" => {
            let read = [path, text(&call["arguments"]["command"])];
            for (before, _) in read.iter().filter_map(|it| it.split_once("/SKILL.md")) {
                let skill = before.rsplit(['/', ' ']).next().unwrap_or_default();
                course.items.push(Item::Skill(skill.to_owned()));
            }
        }
        "write" | "edit" if path.starts_with('/') => {
            course.items.push(Item::File(path.to_owned()));
        }
        "write" | "edit" if !path.is_empty() => {
            let path = format!("{}/{path}", course.place.folder);
            course.items.push(Item::File(path));
        }
        _ => {}
    }
}
