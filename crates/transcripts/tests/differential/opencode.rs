//! The page's rules for OpenCode (§3.7).

use rusqlite::Connection;
use serde_json::Value;

use crate::File;
use crate::course::{Compared, Course, Filters, Item, Place};
use crate::difference::Difference::{
    HiddenSummary, OneAnswer, OneBadLine, Refusals, SaysWho, ShellQuotes, SkillsAndFiles,
    TurnErrors,
};
use crate::difference::Rules;
use crate::records::text;
use crate::rows::{instant, opened};
use crate::words::is_meta;

/// The root sessions of a database.
pub(crate) fn read(files: &[File], rules: Rules) -> Vec<Course> {
    let (_folder, database) = opened(files, "opencode.db");
    let metadata = match database.prepare("SELECT metadata FROM session") {
        Ok(_) => "metadata",
        Err(_) => "NULL",
    };
    let mut statement = database
        .prepare(&format!(
            "SELECT id, directory, ifnull(agent, ''), time_created, time_updated, {metadata}
             FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC, id DESC"
        ))
        .unwrap();
    let sessions = statement.query_map([], |row| {
        let metadata: Option<String> = row.get(5)?;
        let metadata: Value =
            serde_json::from_str(&metadata.unwrap_or_default()).unwrap_or_default();
        let agent: String = row.get(2)?;
        let course = Course {
            session: row.get(0)?,
            first: instant(row.get(3)?),
            last: instant(row.get(4)?),
            place: Place {
                folder: row.get(1)?,
                branch: text(&metadata["gitBranch"]).to_owned(),
            },
            redacts: true,
            filters: Filters::Both,
            once: true,
            in_blocks: true,
            must_name_folder: true,
            compared: Compared::After,
            ..Course::default()
        };
        Ok((course, agent))
    });
    let sessions: Vec<(Course, String)> = sessions.unwrap().map(Result::unwrap).collect();
    sessions
        .into_iter()
        .filter(|(_, agent)| !is_engine(agent))
        .filter_map(|(course, _)| conversation(&database, course, rules))
        .collect()
}

fn is_engine(agent: &str) -> bool {
    agent
        .strip_prefix("skillopt-sleep-")
        .is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// The messages of a session; `None` when it is dropped.
fn conversation(database: &Connection, course: Course, rules: Rules) -> Option<Course> {
    let data = |query: &str, id: &str| -> Vec<(String, Value)> {
        let mut statement = database.prepare_cached(query).unwrap();
        let rows = statement
            .query_map([id], |row| {
                let data: String = row.get(1)?;
                let data = serde_json::from_str(&data).unwrap_or_default();
                Ok((row.get(0)?, data))
            })
            .unwrap();
        rows.map(Result::unwrap).collect()
    };
    let messages = data(
        "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
        &course.session,
    );
    let mut session = Session {
        rules,
        course,
        unattended: false,
    };
    for (id, message) in messages {
        let parts = data(
            "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id",
            &id,
        );
        let parts: Vec<Value> = parts.into_iter().map(|(_, part)| part).collect();
        let whole = message.is_object() && parts.iter().all(Value::is_object);
        if !whole && !rules.differ(OneBadLine) {
            return None;
        }
        session.message(&id, &message, &parts);
    }
    Some(session.course)
}

struct Session {
    rules: Rules,
    course: Course,
    /// The prompt at hand was given on a command line.
    unattended: bool,
}

impl Session {
    fn message(&mut self, id: &str, message: &Value, parts: &[Value]) {
        let at = instant(message["time"]["created"].as_i64().unwrap_or_default());
        let said: Vec<&str> = parts
            .iter()
            .filter(|part| is_said(part))
            .map(|part| text(&part["text"]))
            .collect();
        match text(&message["role"]) {
            "user" => {
                let added = parts.iter().any(|part| match text(&part["type"]) {
                    "compaction" => true,
                    "text" => !is_said(part),
                    _ => false,
                });
                self.user(&at, &said.join("\n"), added);
            }
            "assistant" => self.assistant(id, &at, message, parts, &said),
            _ => {}
        }
    }

    fn user(&mut self, at: &str, words: &str, added: bool) {
        let rules = self.rules;
        let typed = if rules.differ(ShellQuotes) {
            without_quotes(words)
        } else {
            words.to_owned()
        };
        let no_prompt = if rules.differ(SaysWho) {
            words.trim().is_empty() && added
        } else {
            is_meta(words, rules) && !words.trim().is_empty()
        };
        self.course.items.push(if no_prompt {
            Item::Program {
                id: at.to_owned(),
                place: self.course.place.clone(),
            }
        } else {
            self.unattended = typed != words;
            self.prompt(at, typed)
        });
    }

    /// Copies have ids of their own, and the time and the words of what they are copies of.
    fn prompt(&self, at: &str, words: String) -> Item {
        Item::Prompt {
            id: format!("{at} {}", words.trim()),
            at: at.to_owned(),
            text: words,
            place: self.course.place.clone(),
        }
    }

    fn assistant(&mut self, id: &str, at: &str, message: &Value, parts: &[Value], said: &[&str]) {
        let rules = self.rules;
        let summary = message["mode"] == "compaction" || message["agent"] == "compaction";
        if summary && rules.differ(HiddenSummary) {
            return;
        }
        if message["error"].is_object() && !rules.differ(TurnErrors) {
            let signal = Item::Signal("neg:opencode_message_error".to_owned());
            self.course.items.push(signal);
        }
        let completed = message["time"]["completed"].as_i64();
        let ended = completed.map_or_else(|| at.to_owned(), instant);
        let says = |words: &str| Item::Said {
            id: id.to_owned(),
            at: ended.clone(),
            text: words.to_owned(),
        };
        // Ours come block by block: what is said behind a refusal answers that.
        if !rules.differ(OneAnswer) {
            self.course.items.push(says(&said.join("\n")));
        }
        for part in parts {
            match text(&part["type"]) {
                "text" if is_said(part) && rules.differ(OneAnswer) => {
                    self.course.items.push(says(text(&part["text"])));
                }
                "tool" => self.calls(&ended, text(&message["path"]["cwd"]), part),
                "tool-invocation" => {
                    let name = text(&part["toolInvocation"]["toolName"]);
                    self.course.items.push(Item::Tool(name.to_owned()));
                }
                _ => {}
            }
        }
    }

    fn calls(&mut self, at: &str, here: &str, part: &Value) {
        let (name, state) = (text(&part["tool"]), &part["state"]);
        let items = &mut self.course.items;
        items.push(Item::Tool(name.to_owned()));
        if self.rules.differ(SkillsAndFiles) {
            let path = text(&state["input"]["filePath"]);
            match name {
                "skill" => {
                    let skill = text(&state["input"]["name"]).to_owned();
                    items.push(Item::Skill(skill));
                }
                "write" | "edit" if state["status"] == "completed" => {
                    let path = if path.starts_with('/') {
                        path.to_owned()
                    } else {
                        format!("{here}/{path}")
                    };
                    items.push(Item::File(path));
                }
                _ => {}
            }
        }
        let said = text(&state["error"])
            .strip_prefix("The user rejected permission to use this specific tool call")
            .and_then(|rest| rest.split_once("with the following feedback:"))
            .map_or("", |(_, said)| said.trim());
        if !(said.is_empty() || self.unattended) && self.rules.differ(Refusals) {
            let prompt = self.prompt(at, said.to_owned());
            self.course.items.push(prompt);
        }
    }
}

/// Whether a part is what somebody said, and not what the program put there.
fn is_said(part: &Value) -> bool {
    part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true
}

/// What `opencode run` stores between quotes, as it was typed.
fn without_quotes(words: &str) -> String {
    let inside = words
        .trim()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inside| inside.contains(' '))
        .filter(|inside| !inside.replace("\\\"", "").contains('"'));
    inside.map_or_else(|| words.to_owned(), |inside| inside.replace("\\\"", "\""))
}
