//! The page's rules for Codex (§3.3).

use serde_json::Value;

use crate::course::{Course, Item, Place};
use crate::difference::Difference::{
    BareRecords, BranchKnown, CallNames, Forms, HiddenSummary, InjectedParts, MarkedParts,
    SkillsAndFiles, Subagents, ThreadId, WhereTyped,
};
use crate::difference::Rules;
use crate::records::{Aborts, records, text};
use crate::words::is_meta;

/// One file, by the name it has without its ending; `None` when it is a sub-agent's.
pub(crate) fn read(name: &str, bytes: &[u8], rules: Rules) -> Result<Option<Course>, Aborts> {
    let mut file = File {
        rules,
        course: Course {
            session: name.to_owned(),
            redacts: true,
            ..Course::default()
        },
        here: Place::default(),
        branch: String::new(),
        forms: Vec::new(),
        begun: String::new(),
        untold: 0,
        tells: false,
        subagent: false,
    };
    for record in records(bytes, rules)? {
        file.record(&record);
    }
    file.agent_acts();
    Ok((!file.subagent).then_some(file.course))
}

/// The forms of one message, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Item,
    Event,
    Response,
}

struct File {
    rules: Rules,
    course: Course,
    here: Place,
    branch: String,
    /// What the person said since the agent did anything.
    forms: Vec<(Form, Item)>,
    /// When a file without times in its records was begun.
    begun: String,
    /// How many more messages the agent wrote than it showed.
    untold: i32,
    tells: bool,
    subagent: bool,
}

impl File {
    fn record(&mut self, record: &Value) {
        let bare = record["payload"].is_null() && self.rules.differ(BareRecords);
        let payload = if bare { record } else { &record["payload"] };
        let at = [
            &payload["timestamp"],
            &record["timestamp"],
            &payload["started_at"],
            &payload["completed_at"],
        ]
        .into_iter()
        .map(text)
        .find(|time| !time.is_empty())
        .unwrap_or(&self.begun)
        .to_owned();
        if !at.is_empty() {
            if self.course.first.is_empty() {
                self.course.first.clone_from(&at);
            }
            self.course.last.clone_from(&at);
        }
        let folder = text(&payload["cwd"]);
        if self.course.place.folder.is_empty() {
            folder.clone_into(&mut self.course.place.folder);
        } else if !folder.is_empty() {
            self.course.later.push(folder.to_owned());
        }
        let kind = text(&record["type"]);
        if kind == "session_meta" || (bare && kind.is_empty()) {
            self.begins(payload, &at);
        }
        if matches!(kind, "session_meta" | "turn_context") && !folder.is_empty() {
            folder.clone_into(&mut self.here.folder);
            self.here.branch.clone_from(&self.branch);
        }
        if kind == "compacted" && self.rules.differ(HiddenSummary) {
            self.compacted();
        }
        let kind = text(&payload["type"]);
        match (kind, text(&payload["role"])) {
            ("user_message", _) => self.says(Form::Event, payload, &payload["message"], &at),
            ("agent_message", _) => {
                self.told();
                self.answers("", &payload["message"], &at);
            }
            ("message", "user") => {
                if bare {
                    self.context(&payload["content"]);
                }
                self.says(Form::Response, payload, &payload["content"], &at);
            }
            ("message", "assistant") => {
                self.untold += 1;
                self.answers(text(&payload["id"]), &payload["content"], &at);
            }
            ("message", _) => {}
            ("item_completed", _) => self.completed(&payload["item"], &at),
            _ => self.calls(kind, payload),
        }
    }

    fn begins(&mut self, meta: &Value, at: &str) {
        at.clone_into(&mut self.begun);
        let id = text(&meta["id"]);
        if self.rules.differ(ThreadId) && !id.is_empty() {
            id.clone_into(&mut self.course.session);
        }
        if self.rules.differ(BranchKnown) {
            text(&meta["git"]["branch"]).clone_into(&mut self.branch);
            self.here.branch.clone_from(&self.branch);
            self.course.place.branch.clone_from(&self.branch);
        }
        self.course.headless =
            meta["source"] == "exec" || text(&meta["originator"]).ends_with("_exec");
        let subagent = meta["thread_source"] == "subagent" || !meta["source"]["subagent"].is_null();
        self.subagent |= subagent && self.rules.differ(Subagents);
    }

    /// The folder that the program tells the model, where nothing else names it.
    fn context(&mut self, content: &Value) {
        let words = words(content);
        if let Some((_, rest)) = words.split_once("<cwd>")
            && self.rules.differ(WhereTyped)
        {
            let folder = rest.split("</cwd>").next().unwrap_or_default();
            folder.clone_into(&mut self.here.folder);
        }
    }

    fn says(&mut self, form: Form, payload: &Value, content: &Value, at: &str) {
        let rules = self.rules;
        let marks = &payload["internal_chat_message_metadata_passthrough"]["content_item_kinds"];
        let said = match (marks.as_array(), content.as_array()) {
            (Some(marks), Some(parts)) if rules.differ(MarkedParts) => {
                let typed = parts
                    .iter()
                    .zip(marks)
                    .filter(|(_, mark)| text(mark).starts_with("user."));
                let typed: Vec<String> = typed.map(|(part, _)| words(part)).collect();
                (!typed.is_empty()).then(|| typed.join("\n"))
            }
            (_, Some(parts)) if rules.differ(InjectedParts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .filter_map(|part| sanitised(&words(part), rules))
                    .collect();
                (!parts.is_empty()).then(|| parts.join("\n"))
            }
            _ => sanitised(&words(content), rules),
        };
        if let Some(said) = said {
            self.prompt(form, text(&payload["id"]), at, said);
        }
    }

    fn prompt(&mut self, form: Form, id: &str, at: &str, words: String) {
        let item = Item::Prompt {
            id: id.to_owned(),
            at: at.to_owned(),
            text: words,
            place: self.here.clone(),
        };
        if self.rules.differ(Forms) {
            self.forms.push((form, item));
        } else {
            self.course.items.push(item);
        }
    }

    /// All forms of what the person said are there; the best one counts. The folder of a turn may be
    /// told behind its words.
    fn agent_acts(&mut self) {
        let best = self.forms.iter().map(|(form, _)| *form).min();
        for (form, mut item) in self.forms.drain(..) {
            if let Item::Prompt { place, .. } = &mut item {
                place.clone_from(&self.here);
            }
            if Some(form) == best {
                self.course.items.push(item);
            }
        }
    }

    fn answers(&mut self, id: &str, content: &Value, at: &str) {
        self.agent_acts();
        if let Some(said) = sanitised(&words(content), self.rules) {
            self.course.items.push(Item::Said {
                id: id.to_owned(),
                at: at.to_owned(),
                text: said,
            });
        }
    }

    fn told(&mut self) {
        self.tells = true;
        self.untold -= 1;
    }

    /// What the agent wrote for itself before a summary took the place of the history.
    fn compacted(&mut self) {
        if self.tells && self.untold > 0 {
            let last = self
                .course
                .items
                .iter()
                .rposition(|item| matches!(item, Item::Said { .. }));
            if let Some(last) = last {
                self.course.items.remove(last);
            }
        }
        self.untold = 0;
    }

    fn completed(&mut self, item: &Value, at: &str) {
        if !self.rules.differ(MarkedParts) {
            return;
        }
        let id = text(&item["id"]);
        match text(&item["type"]) {
            "UserMessage" => self.prompt(Form::Item, id, at, words(&item["content"])),
            "AgentMessage" => {
                self.told();
                self.answers(id, &item["content"], at);
            }
            "FileChange" => {
                self.agent_acts();
                self.files(&item["changes"]);
            }
            _ => {}
        }
    }

    fn calls(&mut self, kind: &str, payload: &Value) {
        let named = text(&payload["name"]);
        let ours = self.rules.differ(CallNames);
        let name = match kind {
            _ if !named.is_empty() && (!ours || kind.ends_with("_call")) => named,
            "exec_command_end" => "exec_command",
            "patch_apply_begin" if ours => "apply_patch",
            "patch_apply_end" => "apply_patch",
            "web_search_call" => "web_search",
            "tool_search_call" => "tool_search",
            other if other.ends_with("_tool_call") || (ours && other.ends_with("_call")) => other,
            _ => return,
        };
        self.agent_acts();
        self.course.items.push(Item::Tool(name.to_owned()));
        if !self.rules.differ(SkillsAndFiles) {
            return;
        }
        self.files(&payload["changes"]);
        let arguments = text(&payload["arguments"]);
        if let Some((before, _)) = arguments.split_once("/SKILL.md") {
            let skill = before.rsplit(['/', ' ', '"']).next().unwrap_or_default();
            self.course.items.push(Item::Skill(skill.to_owned()));
        }
    }

    fn files(&mut self, changes: &Value) {
        if self.rules.differ(SkillsAndFiles) {
            for (file, _) in changes.as_object().into_iter().flatten() {
                self.course.items.push(Item::File(file.clone()));
            }
        }
    }
}

/// Text extraction: strings, the `text` of whatever has one, or what stands in a `content`.
fn words(content: &Value) -> String {
    match content {
        Value::String(words) => words.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(words)
                .filter(|it| !it.is_empty())
                .collect();
            parts.join("\n")
        }
        Value::Object(part) => match part.get("text") {
            Some(Value::String(words)) => words.clone(),
            _ => part.get("content").map(words).unwrap_or_default(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// How parts begin that only we know as the program's.
const INJECTED: [&str; 8] = [
    "<user_instructions",
    "<permissions",
    "<turn_aborted",
    "<user_shell_command",
    "<user_action",
    "<subagent_notification",
    "<skill",
    "<collaboration_mode",
];

/// A text without what the program put there; `None` when nothing is left.
fn sanitised(raw: &str, rules: Rules) -> Option<String> {
    let mut text = raw.trim();
    let injected = ["<codex_internal_context", "<environment_context"]
        .iter()
        .chain(INJECTED.iter().filter(|_| rules.differ(InjectedParts)))
        .any(|start| text.starts_with(start));
    if injected {
        return None;
    }
    if text.starts_with("# AGENTS.md instructions") || text.contains("--- project-doc ---") {
        let (_, tail) = text
            .rsplit_once("</environment_context>")
            .or_else(|| text.rsplit_once("</INSTRUCTIONS>"))?;
        text = tail.trim();
        if text.starts_with('<') {
            return None;
        }
    }
    if text.starts_with("# Context from my IDE setup:") && rules.differ(InjectedParts) {
        text = text.split_once("## My request for Codex:")?.1.trim();
    }
    let text = text.replace('\0', "");
    (!is_meta(&text, rules)).then_some(text)
}
