//! The page's rules for Copilot Chat in VS Code (§3.4).

use serde_json::Value;
use skillopt_core::Instant;

use crate::course::{Compared, Course, Filters, Item, Place};
use crate::difference::Difference::{NoExtension, SkillsAndFiles, TakenAway, Unasked};
use crate::difference::Rules;
use crate::records::text;
use crate::words::is_meta;

/// One log, by the name it has without its ending and the folder of its workspace.
pub(crate) fn read(name: &str, folder: &str, bytes: &[u8], rules: Rules) -> Course {
    let mut log = Log {
        state: Value::Null,
        gone: Vec::new(),
    };
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Ok(operation) = serde_json::from_str::<Value>(line) {
            log.operation(&operation);
        }
    }
    let id = text(&log.state["sessionId"]);
    let mut course = Course {
        session: if id.is_empty() { name } else { id }.to_owned(),
        first: moment(&log.state["creationDate"]),
        place: Place {
            folder: folder.to_owned(),
            branch: String::new(),
        },
        redacts: true,
        filters: Filters::Both,
        must_name_folder: true,
        compared: Compared::Moments,
        ..Course::default()
    };
    let requests = log.state["requests"].as_array().into_iter().flatten();
    let mut gone = log.gone;
    gone.sort_by_key(|(at, _)| *at);
    gone.retain(|_| rules.differ(TakenAway));
    let mut all = Vec::new();
    let mut gone = gone.into_iter().peekable();
    for (at, request) in requests.enumerate() {
        while let Some((_, before)) = gone.next_if(|(before, _)| *before <= at) {
            all.push(before);
        }
        all.push(request.clone());
    }
    all.extend(gone.map(|(_, request)| request));
    for request in &all {
        tell(request, &mut course, rules);
    }
    course
}

struct Log {
    state: Value,
    /// Requests that were taken away, and where each stood.
    gone: Vec<(usize, Value)>,
}

impl Log {
    fn operation(&mut self, operation: &Value) {
        let value = &operation["v"];
        let path: Vec<&Value> = operation["k"].as_array().into_iter().flatten().collect();
        match operation["kind"].as_u64() {
            Some(0) if value.is_object() => self.state = value.clone(),
            Some(1) => {
                if let Some((last, above)) = path.split_last()
                    && let Some(place) = at(&mut self.state, above)
                {
                    put(place, last, value.clone());
                }
            }
            Some(2) => {
                let requests = path.len() == 1 && path[0] == "requests";
                let Some(Value::Array(list)) = at(&mut self.state, &path) else {
                    return;
                };
                if let Some(from) = operation["i"].as_u64() {
                    let from = usize::try_from(from).unwrap();
                    if from > list.len() {
                        return;
                    }
                    let cut = list.split_off(from);
                    if requests {
                        self.gone.extend((from..).zip(cut));
                    }
                }
                list.extend(value.as_array().into_iter().flatten().cloned());
            }
            Some(3) => {
                if let Some((last, above)) = path.split_last()
                    && let Some(Value::Object(fields)) = at(&mut self.state, above)
                    && let Some(key) = last.as_str()
                {
                    fields.remove(key);
                }
            }
            _ => {}
        }
    }
}

/// What a path leads to.
fn at<'a>(state: &'a mut Value, path: &[&Value]) -> Option<&'a mut Value> {
    path.iter().try_fold(state, |place, key| match key {
        Value::String(key) => place.get_mut(key.as_str()),
        key => place.get_mut(usize::try_from(key.as_u64()?).ok()?),
    })
}

fn put(place: &mut Value, key: &Value, value: Value) {
    match (place, key) {
        (Value::Object(fields), Value::String(key)) => {
            fields.insert(key.clone(), value);
        }
        (Value::Array(list), key) => {
            let at = key.as_u64().and_then(|at| usize::try_from(at).ok());
            if let Some(slot) = at.and_then(|at| list.get_mut(at)) {
                *slot = value;
            }
        }
        _ => {}
    }
}

/// Numbers above ten thousand million are milliseconds, others seconds.
fn moment(number: &Value) -> String {
    let Some(number) = number.as_i64() else {
        return String::new();
    };
    let millis = if number > 10_000_000_000 {
        number
    } else {
        number * 1000
    };
    Instant::from_millisecond(millis).unwrap().to_string()
}

fn tell(request: &Value, course: &mut Course, rules: Rules) {
    let id = &request["agent"]["extensionId"];
    let extension = [&id["_lower"], &id["value"], id]
        .into_iter()
        .map(text)
        .find(|name| !name.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    let unnamed = extension.is_empty() && rules.differ(NoExtension);
    let words = text(&request["message"]["text"]);
    let programs = (extension != "github.copilot-chat" && !unnamed)
        || request["isSystemInitiated"] == true
        || (is_meta(words, rules) && !words.trim().is_empty());
    let nothing = words.trim().is_empty() || programs;
    if nothing && !rules.differ(Unasked) {
        return;
    }
    let asked = moment(&request["timestamp"]);
    let completed = moment(&request["modelState"]["completedAt"]);
    course.items.push(if programs {
        Item::Program {
            id: String::new(),
            place: course.place.clone(),
        }
    } else {
        Item::Prompt {
            id: text(&request["requestId"]).to_owned(),
            at: asked.clone(),
            text: words.to_owned(),
            place: course.place.clone(),
        }
    });
    let mut answer = String::new();
    for part in request["response"].as_array().into_iter().flatten() {
        match text(&part["kind"]) {
            "" | "markdownContent" => answer.push_str(text(&part["value"])),
            "toolInvocationSerialized" => {
                let name = text(&part["toolId"]).to_owned();
                course.items.push(Item::Tool(name));
            }
            "textEditGroup" if rules.differ(SkillsAndFiles) => {
                let path = text(&part["uri"]["path"]).to_owned();
                course.items.push(Item::File(path));
            }
            _ => {}
        }
    }
    let at = if completed.is_empty() {
        asked
    } else {
        completed
    };
    if !at.is_empty() {
        course.last = at.clone().max(course.last.clone());
    }
    course.items.push(Item::Said {
        id: String::new(),
        at,
        text: answer,
    });
}
