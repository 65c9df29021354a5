//! The page's rules for Claude Code (§3.2).

use serde_json::Value;

use crate::course::{Course, Filters, Item, Place};
use crate::difference::Difference::{
    ApiErrors, CopiesOfRequests, ExpandedSkills, HeadIsNoBranch, Interruptions, MetaFlag, Queued,
    Refusals, Reminders, SaysWho, ServerTools, Sidechains, Summaries, ToolResults, TouchedFiles,
};
use crate::difference::Rules;
use crate::records::{Aborts, flat, records, text};
use crate::words::is_meta;

/// One file, by the name it has without its ending.
pub(crate) fn read(name: &str, bytes: &[u8], rules: Rules) -> Result<Course, Aborts> {
    let mut file = File {
        rules,
        course: Course {
            session: name.to_owned(),
            filters: Filters::Both,
            in_blocks: true,
            ..Course::default()
        },
        here: Place::default(),
        says_who: false,
        command: String::new(),
    };
    for record in records(bytes, rules)? {
        file.record(&record);
    }
    Ok(file.course)
}

struct File {
    rules: Rules,
    course: Course,
    /// Where the session is.
    here: Place,
    /// An earlier record said who gave a prompt.
    says_who: bool,
    /// The command whose expansion is expected.
    command: String,
}

impl File {
    fn record(&mut self, record: &Value) {
        let time = text(&record["timestamp"]);
        if !time.is_empty() {
            if self.course.first.is_empty() {
                time.clone_into(&mut self.course.first);
            }
            time.clone_into(&mut self.course.last);
        }
        let (folder, branch) = (text(&record["cwd"]), text(&record["gitBranch"]));
        for (known, named) in [
            (&mut self.course.place.folder, folder),
            (&mut self.course.place.branch, branch),
        ] {
            if known.is_empty() {
                named.clone_into(known);
            }
        }
        let kind = text(&record["type"]);
        self.touched(kind, record);
        let queued = kind == "attachment" && record["attachment"]["type"] == "queued_command";
        if queued && self.rules.differ(Queued) {
            self.locate(folder, branch);
            return self.queued(record);
        }
        if self.rules.differ(CopiesOfRequests) && !matches!(kind, "user" | "assistant") {
            return;
        }
        if self.rules.differ(Sidechains) && record["isSidechain"] == true {
            return;
        }
        self.locate(folder, branch);
        if text(&record["entrypoint"]).starts_with("sdk") {
            self.course.headless = true;
        }
        self.course.copied |=
            record["requestSessionId"].is_string() || record["forkedFrom"].is_object();
        match text(&record["message"]["role"]) {
            "user" => self.user(record),
            "assistant" => self.assistant(record),
            _ => {}
        }
    }

    fn locate(&mut self, folder: &str, branch: &str) {
        let branch = match branch {
            "HEAD" if self.rules.differ(HeadIsNoBranch) => "",
            named => named,
        };
        if !(folder.is_empty() && branch.is_empty()) {
            branch.clone_into(&mut self.here.branch);
        }
        if !folder.is_empty() {
            folder.clone_into(&mut self.here.folder);
        }
    }

    fn says(&mut self, record: &Value, words: &str) {
        self.course.items.push(Item::Prompt {
            id: text(&record["uuid"]).to_owned(),
            at: text(&record["timestamp"]).to_owned(),
            text: words.to_owned(),
            place: self.here.clone(),
        });
    }

    fn user(&mut self, record: &Value) {
        let rules = self.rules;
        let content = &record["message"]["content"];
        let words = flat(content, |block| {
            !(rules.differ(Reminders) && is_reminder(block))
        });
        let mut blocks = content.as_array().into_iter().flatten();
        let command = if blocks.any(|block| block["type"] == "tool_result") {
            String::new()
        } else {
            std::mem::take(&mut self.command)
        };
        if rules.differ(Summaries) && record["isCompactSummary"] == true {
            return;
        }
        if rules.differ(MetaFlag) && record["isMeta"] == true {
            if let Some(folder) = words.strip_prefix("Base directory for this skill: ")
                && rules.differ(ExpandedSkills)
            {
                let folder = folder.lines().next().unwrap_or_default();
                let last = folder.rsplit('/').next().unwrap_or_default();
                let skill = if command.is_empty() { last } else { &command };
                self.course.items.push(Item::Skill(skill.to_owned()));
            }
            return;
        }
        let stopped = !record["interruptedMessageId"].is_null()
            || words.starts_with("[Request interrupted by user");
        if rules.differ(Interruptions) && stopped {
            return;
        }
        if rules.differ(ToolResults) && has_result(content) {
            if let Some(said) = refusal(content)
                && rules.differ(Refusals)
                && !said.is_empty()
            {
                self.says(record, said);
            }
            return;
        }
        if rules.differ(SaysWho) {
            return self.by_record(record, &words);
        }
        if rules.differ(Summaries) && is_summary(&words) {
            return;
        }
        if !is_meta(&words, rules) {
            self.says(record, &words);
        }
    }

    /// A prompt, where the record says who gave it; else what its shape says.
    fn by_record(&mut self, record: &Value, words: &str) {
        let (source, origin) = (
            text(&record["promptSource"]),
            text(&record["origin"]["kind"]),
        );
        let by_shape = is_meta(words, self.rules) && !words.trim().is_empty();
        let counts = if source.is_empty() {
            let today = self.says_who
                || ["origin", "rowSource", "turnOrigin", "turnPosition"]
                    .iter()
                    .any(|key| !record[*key].is_null());
            if self.rules.differ(Summaries) && is_summary(words) {
                return;
            }
            let unseen = ["[Pasted text", "Caveat:", "# /"]
                .iter()
                .any(|start| words.trim().starts_with(start));
            if unseen && !words.contains("<command-name>") {
                return;
            }
            !by_shape && !today
        } else {
            self.says_who = true;
            matches!(source, "typed" | "sdk" | "queued")
                && matches!(origin, "" | "human" | "sdk")
                && !is_command(words)
        };
        if counts {
            return self.says(record, words);
        }
        self.course.items.push(Item::Program {
            id: text(&record["uuid"]).to_owned(),
            place: self.here.clone(),
        });
        self.command = words
            .split_once("<command-name>/")
            .and_then(|(_, rest)| rest.split_once('<'))
            .map_or_else(String::new, |(name, _)| name.to_owned());
    }

    fn queued(&mut self, record: &Value) {
        let queued = &record["attachment"];
        let words = flat(&queued["prompt"], |_| true);
        let human = matches!(text(&queued["origin"]["kind"]), "" | "human")
            && matches!(text(&record["origin"]["kind"]), "" | "human");
        if queued["commandMode"] == "prompt"
            && queued["isMeta"] != true
            && human
            && !is_command(&words)
        {
            self.says(record, &words);
        }
    }

    fn assistant(&mut self, record: &Value) {
        let message = &record["message"];
        let failed = self.rules.differ(ApiErrors) && record["isApiErrorMessage"] == true;
        let said = flat(&message["content"], |_| true);
        self.course.items.push(Item::Said {
            id: text(&message["id"]).to_owned(),
            at: text(&record["timestamp"]).to_owned(),
            text: if failed { String::new() } else { said },
        });
        if failed {
            return;
        }
        for block in message["content"].as_array().into_iter().flatten() {
            let kind = text(&block["type"]);
            let call = kind == "tool_use"
                || (self.rules.differ(ServerTools) && kind.ends_with("_tool_use"));
            if !call {
                continue;
            }
            let (name, input) = (text(&block["name"]), &block["input"]);
            self.course.items.push(Item::Tool(name.to_owned()));
            let skill = text(&input["skill"]).trim();
            if name == "Skill" && !skill.is_empty() {
                self.course.items.push(Item::Skill(skill.to_owned()));
            }
            let writes = matches!(name, "Write" | "Edit" | "MultiEdit" | "NotebookEdit");
            if writes && self.rules.differ(TouchedFiles) {
                self.file(text(&input["file_path"]));
                self.file(text(&input["notebook_path"]));
            }
        }
    }

    /// Files that a record says were touched.
    fn touched(&mut self, kind: &str, record: &Value) {
        let ours = self.rules.differ(TouchedFiles);
        let snapshot = match (kind, ours) {
            ("file-history-snapshot", true) => &record["snapshot"]["trackedFileBackups"],
            ("file-history-snapshot", false) if record["snapshot"].is_object() => {
                &record["snapshot"]
            }
            ("file-history-snapshot", false) => &record["files"],
            ("file-history-delta", true) => return self.file(text(&record["trackingPath"])),
            _ => return,
        };
        let keys: Vec<String> = snapshot
            .as_object()
            .into_iter()
            .flat_map(|files| files.keys().take(20).cloned())
            .collect();
        for key in keys {
            self.file(&key);
        }
    }

    fn file(&mut self, path: &str) {
        if path.is_empty() {
            return;
        }
        let from_here = self.rules.differ(TouchedFiles) && !path.starts_with('/');
        let path = if from_here && !self.here.folder.is_empty() {
            format!("{}/{path}", self.here.folder)
        } else {
            path.to_owned()
        };
        self.course.items.push(Item::File(path));
    }
}

fn is_summary(words: &str) -> bool {
    words
        .trim()
        .starts_with("This session is being continued from a previous conversation")
}

fn is_reminder(block: &str) -> bool {
    let block = block.trim();
    (block.starts_with("<system-reminder>") && block.ends_with("</system-reminder>"))
        || (block.starts_with("<ide_") && block.ends_with('>'))
}

/// `/name`, perhaps with words behind it, and no path.
fn is_command(words: &str) -> bool {
    let name = words.split_whitespace().next().unwrap_or("");
    name.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|it: char| it.is_ascii_alphabetic())
            && name
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || "-_:".contains(it))
    })
}

fn has_result(content: &Value) -> bool {
    let mut blocks = content.as_array().into_iter().flatten();
    blocks.any(|block| block["type"] == "tool_result")
}

/// What the person said when refusing a call.
fn refusal(content: &Value) -> Option<&str> {
    let blocks = content.as_array()?;
    let result = blocks.iter().find(|block| block["is_error"] == true)?;
    let said = result["content"].as_str()?;
    said.strip_prefix("The user doesn't want to proceed with this tool use")?;
    Some(
        said.split_once("the user said:")
            .map_or("", |(_, words)| words)
            .trim(),
    )
}
