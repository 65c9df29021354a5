//! The page's rules for Cursor's agent transcripts (§3.6).

use serde_json::Value;

use crate::WRITTEN;
use crate::course::{Compared, Course, Item, Place};
use crate::difference::Difference::{SkillsAndFiles, TurnErrors, Unasked};
use crate::difference::Rules;
use crate::records::{flat, text};
use crate::words::is_meta;

/// How the reference's own calls begin.
const REPLAY: &str = "<skillopt_sleep_internal_replay_v1>";

/// One file, by the name it has without its ending and the folder of its workspace; `None` when the
/// reference made it.
pub(crate) fn read(name: &str, folder: &str, bytes: &[u8], rules: Rules) -> Option<Course> {
    let mut course = Course {
        session: name.to_owned(),
        place: Place {
            folder: folder.to_owned(),
            branch: String::new(),
        },
        last: WRITTEN.to_owned(),
        redacts: true,
        compared: Compared::After,
        ..Course::default()
    };
    let file = String::from_utf8_lossy(bytes);
    let records = file
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for record in records.filter(Value::is_object) {
        let message = &record["message"];
        if record["type"] == "turn_ended" && record["status"] == "error" {
            course
                .items
                .push(Item::Signal("neg:cursor_turn_error".to_owned()));
        }
        let role = match text(&record["role"]) {
            "" => text(&message["role"]),
            role => role,
        };
        let words = flat(&message["content"], |_| true);
        match role {
            "user" => {
                if words.trim_start().starts_with(REPLAY) {
                    return None;
                }
                let typed = words
                    .trim_end()
                    .strip_suffix("</user_query>")
                    .and_then(|words| words.rsplit_once("<user_query>"))
                    .map_or(&*words, |(_, typed)| typed);
                // Without words it is a prompt of which nothing is kept.
                let program = is_meta(typed, rules) && !typed.trim().is_empty();
                if program {
                    if typed.trim_start().starts_with('/') && rules.differ(Unasked) {
                        course.items.push(Item::Nobodys);
                    }
                    continue;
                }
                course.items.push(Item::Prompt {
                    id: String::new(),
                    at: String::new(),
                    text: typed.to_owned(),
                    place: course.place.clone(),
                });
            }
            "assistant" => {
                course.items.push(Item::Said {
                    id: String::new(),
                    at: String::new(),
                    text: words,
                });
                for call in message["content"].as_array().into_iter().flatten() {
                    if call["type"] == "tool_use" {
                        calls(call, &mut course, rules);
                    }
                }
            }
            _ => {}
        }
    }
    if rules.differ(TurnErrors) {
        course.items.retain(|item| !matches!(item, Item::Signal(_)));
    }
    Some(course)
}

fn calls(call: &Value, course: &mut Course, rules: Rules) {
    let (name, path) = (text(&call["name"]), text(&call["input"]["path"]));
    course.items.push(Item::Tool(name.to_owned()));
    if !rules.differ(SkillsAndFiles) {
        return;
    }
    if matches!(name, "Write" | "StrReplace") && path.starts_with('/') {
        course.items.push(Item::File(path.to_owned()));
    }
    if let Some((before, _)) = path.split_once("/SKILL.md") {
        let skill = before.rsplit('/').next().unwrap_or_default();
        course.items.push(Item::Skill(skill.to_owned()));
    }
}
