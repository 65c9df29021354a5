//! Records of Codex become turns.
//!
//! One message of a person can stand in a file in up to three forms: a completed item, an older
//! event, and the response item that went to the model. All forms of a message are written before
//! the agent says or does anything, so the forms that wait when it does are compared, and the best
//! form wins.

use std::borrow::Cow;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, feedback};

use super::head::{Head, head, of_item, of_payload, of_type};
use super::record::{Item, Part, Payload, Record, Returned};
use super::{injected, old};
use crate::lenient::{Content, Keys, Number, parse};
use crate::reading::{Recorder, instant, short};
use crate::reason::Reason;
use crate::record::parsed;
use crate::rules::Kept;
use crate::skills;

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 4;

/// Most forms of messages that wait at a time.
const WAITING_LIMIT: usize = 64;

/// Reads the lines of one file.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    spare: Vec<u8>,
}

/// What must be known to go on in the middle of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The thread of this file.
    thread: String,
    branch: String,
    /// When a file of a version before September 2025 was begun.
    began: Option<Instant>,
    waiting: Vec<Waiting>,
    /// The file says which messages of the agent were shown.
    tells: bool,
    /// How many more messages the agent wrote than were shown, since the last summary.
    untold: i64,
}

/// The forms a message can have, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Form {
    /// `item_completed` with a `UserMessage`.
    Item,
    /// `user_message`, in older versions.
    Event,
    /// A response item of role `user`.
    Response,
}

/// One form of a person's message.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Waiting {
    form: Form,
    id: String,
    at: Option<Instant>,
    kept: Kept,
}

impl Reader {
    pub(crate) fn resume(state: State) -> Self {
        Self {
            state,
            spare: Vec::new(),
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Whether a line that begins like this is needed.
    pub(crate) fn needs(beginning: &[u8], recorder: &mut Recorder<'_>) -> bool {
        match head(beginning) {
            Head::Parse => true,
            other => {
                count(other, recorder);
                false
            }
        }
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        let head = match head(line) {
            Head::Skip(Reason::ToolResult | Reason::OtherForm)
                if recorder.awaits_commit() || may_be_rejection(line) =>
            {
                Head::Parse
            }
            head => head,
        };
        if head != Head::Parse {
            if head == Head::Skip(Reason::Compaction) {
                self.state.compacted(recorder);
            }
            return count(head, recorder);
        }
        let Some(record) = parsed::<Record<'_>>(line, &mut self.spare, recorder) else {
            return;
        };
        if record.payload.0.is_none() && old::is_bare(&record) {
            self.state.bare(line, &record, recorder);
        } else {
            self.state.record(&record, recorder);
        }
    }

    /// The file is at its end.
    pub(crate) fn end(&mut self, recorder: &mut Recorder<'_>) {
        self.state.choose(recorder);
    }
}

fn count(head: Head<'_>, recorder: &mut Recorder<'_>) {
    match head {
        Head::Parse => {}
        Head::Skip(reason) => recorder.skip(reason),
        Head::Unknown { family, name } => {
            let name = String::from_utf8_lossy(name);
            if family.is_empty() {
                recorder.unknown(&name);
            } else {
                recorder.unknown(&format!("{family}/{name}"));
            }
        }
    }
}

impl State {
    fn record(&mut self, record: &Record<'_>, recorder: &mut Recorder<'_>) {
        let Some(payload) = &record.payload.0 else {
            return match of_type(record.r#type.as_bytes()) {
                Head::Unknown { .. }
                    if matches!(&*record.r#type, "response_item" | "event_msg" | "") =>
                {
                    recorder.skip(Reason::Malformed);
                }
                Head::Parse => recorder.skip(Reason::Malformed),
                other => count(other, recorder),
            };
        };
        let at = instant(&record.timestamp).or_else(|| instant(&payload.timestamp));
        match &*record.r#type {
            "session_meta" => {
                recorder.time(at);
                self.meta(payload, recorder);
            }
            "turn_context" => {
                recorder.skip(Reason::Bookkeeping);
                recorder.place(&payload.cwd, &self.branch);
            }
            "response_item" => self.response(payload, at, recorder),
            "event_msg" => self.event(payload, at, recorder),
            other => count(of_type(other.as_bytes()), recorder),
        }
    }

    /// A record of versions before September 2025: a payload without anything around it. Only the first one of a
    /// file has a time, so all have that one.
    fn bare(&mut self, line: &[u8], record: &Record<'_>, recorder: &mut Recorder<'_>) {
        if !record.record_type.is_empty() {
            return recorder.skip(Reason::Bookkeeping);
        }
        let mut spare = Vec::new();
        let Ok((payload, _)) = parse::<Payload<'_>>(line, &mut spare) else {
            return recorder.skip(Reason::Malformed);
        };
        if record.r#type.is_empty() {
            self.began = instant(&record.timestamp);
            recorder.time(self.began);
            return self.meta(&payload, recorder);
        }
        if let Some(directory) = old::directory(&payload) {
            recorder.place(&directory, &self.branch);
        }
        self.response(&payload, self.began, recorder);
    }

    fn meta(&mut self, meta: &Payload<'_>, recorder: &mut Recorder<'_>) {
        recorder.skip(Reason::Bookkeeping);
        if self.thread.is_empty() {
            self.thread = short(&meta.id).to_owned();
            recorder.session(&meta.id);
        } else if self.thread != short(&meta.id) {
            // An older fork holds its parent's records, the first of them included.
            recorder.holds_copies();
            return recorder.forked_from(&meta.id);
        }
        recorder.version(&meta.cli_version);
        recorder.forked_from(&meta.forked_from_id);
        if let Some(git) = &meta.git.0 {
            self.branch = short(&git.branch).to_owned();
        }
        recorder.place(&meta.cwd, &self.branch);
        let headless = &*meta.source.text == "exec" || meta.originator.ends_with("_exec");
        recorder.entrypoint(&meta.originator, headless);
        let subagent = meta.source.names.iter().any(|name| &**name == "subagent");
        if subagent || &*meta.thread_source == "subagent" {
            recorder.condemn(Reason::Subagent);
        }
    }

    fn response(
        &mut self,
        payload: &Payload<'_>,
        at: Option<Instant>,
        recorder: &mut Recorder<'_>,
    ) {
        let kind = &*payload.r#type;
        if kind != "message" {
            let head = of_payload("response_item", kind.as_bytes());
            if head == Head::Parse {
                self.choose(recorder);
                call(payload, recorder);
                return;
            }
            if is_rejection(&payload.output) {
                self.choose(recorder);
                recorder.tool_rejected();
            }
            if recorder.awaits_commit()
                && let Some(well) = ended_well(&payload.output)
            {
                recorder.returned(&payload.call_id, well);
            }
            return count(head, recorder);
        }
        match &*payload.role {
            "assistant" => {
                self.choose(recorder);
                self.untold += 1;
                recorder.reply(&payload.id, at, &joined(&payload.content));
            }
            "user" => match words_of(payload) {
                Some(words) => self.wait(Form::Response, &payload.id, at, &words, recorder),
                None => recorder.skip(Reason::Context),
            },
            _ => recorder.skip(Reason::Context),
        }
    }

    fn event(&mut self, payload: &Payload<'_>, at: Option<Instant>, recorder: &mut Recorder<'_>) {
        match &*payload.r#type {
            "item_completed" => match &payload.item.0 {
                Some(item) => self.item(item, at, recorder),
                None => recorder.skip(Reason::Malformed),
            },
            "user_message" => {
                let plain = matches!(&*payload.kind, "" | "plain");
                match injected::words(&payload.message) {
                    Some(words) if plain => self.wait(Form::Event, "", at, words, recorder),
                    _ => recorder.skip(Reason::Context),
                }
            }
            "agent_message" => {
                self.choose(recorder);
                self.told();
                recorder.reply("", at, &payload.message);
            }
            "turn_aborted" => {
                self.choose(recorder);
                if matches!(&*payload.reason, "" | "interrupted") {
                    recorder.interrupted();
                } else {
                    recorder.skip(Reason::Bookkeeping);
                }
            }
            "thread_rolled_back" => {
                self.choose(recorder);
                recorder.skip(Reason::Bookkeeping);
                let turns = payload.num_turns.0.and_then(|it| usize::try_from(it).ok());
                recorder.taken_back(turns.unwrap_or(0));
            }
            "undo_completed" => {
                self.choose(recorder);
                recorder.skip(Reason::Bookkeeping);
                if payload.success.0 {
                    recorder.taken_back(1);
                }
            }
            "exec_command_end" => {
                self.choose(recorder);
                recorder.tool("exec_command");
                decide(&payload.status, recorder);
                ended(&payload.call_id, payload.exit_code, recorder);
            }
            "patch_apply_begin" | "patch_apply_end" => {
                self.choose(recorder);
                recorder.tool("apply_patch");
                files(&payload.changes, recorder);
                decide(&payload.status, recorder);
            }
            other => count(of_payload("event_msg", other.as_bytes()), recorder),
        }
    }

    fn item(&mut self, item: &Item<'_>, at: Option<Instant>, recorder: &mut Recorder<'_>) {
        match &*item.r#type {
            "UserMessage" => {
                let words = joined(&item.content);
                self.wait(Form::Item, &item.id, at, &words, recorder);
            }
            "AgentMessage" => {
                self.choose(recorder);
                self.told();
                recorder.reply(&item.id, at, &joined(&item.content));
            }
            "FileChange" => {
                self.choose(recorder);
                files(&item.changes, recorder);
                decide(&item.status, recorder);
            }
            other => {
                ended(&item.id, item.exit_code, recorder);
                if &*item.status == DECLINED {
                    self.choose(recorder);
                    recorder.tool_rejected();
                }
                count(of_item(other.as_bytes()), recorder);
            }
        }
    }

    fn wait(
        &mut self,
        form: Form,
        id: &str,
        at: Option<Instant>,
        words: &str,
        recorder: &mut Recorder<'_>,
    ) {
        if self.waiting.len() >= WAITING_LIMIT {
            self.choose(recorder);
        }
        self.waiting.push(Waiting {
            form,
            id: short(id).to_owned(),
            at,
            kept: recorder.keep(words),
        });
    }

    /// The person was shown a message of the agent.
    fn told(&mut self) {
        self.tells = true;
        self.untold -= 1;
    }

    /// A long conversation was replaced by a summary. The agent wrote that as its last message, and
    /// showed it to nobody.
    fn compacted(&mut self, recorder: &mut Recorder<'_>) {
        if self.tells && self.untold > 0 {
            recorder.no_answer();
        }
        self.untold = 0;
    }

    /// The agent says or does something: what waits is all there is of the messages before it.
    fn choose(&mut self, recorder: &mut Recorder<'_>) {
        let Some(best) = self.waiting.iter().map(|waiting| waiting.form).min() else {
            return;
        };
        for waiting in self.waiting.drain(..) {
            if waiting.form == best {
                recorder.kept(&waiting.id, waiting.at, waiting.kept);
            } else {
                recorder.skip(Reason::OtherForm);
            }
        }
    }
}

/// What the status of a refused command or patch is called.
const DECLINED: &str = "declined";
/// How the output of a refused call ends.
const REJECTED: &str = "rejected by user";
/// Longest line that is looked at for a refusal, in bytes: longer ones return something.
const LONGEST_REJECTION: usize = 4096;

/// Whether a result of a tool may be a refusal, without parsing it.
fn may_be_rejection(line: &[u8]) -> bool {
    line.len() <= LONGEST_REJECTION
        && (memmem::find(line, REJECTED.as_bytes()).is_some()
            || memmem::find(line, DECLINED.as_bytes()).is_some())
}

fn is_rejection(output: &str) -> bool {
    let output = output.trim();
    output.len() < 80 && output.ends_with(REJECTED)
}

/// A command or a patch is over; perhaps the person refused it.
fn decide(status: &str, recorder: &mut Recorder<'_>) {
    if status == DECLINED {
        recorder.tool_rejected();
    }
}

/// A command ended with this code, if it says so.
fn ended(call: &str, exit_code: Number, recorder: &mut Recorder<'_>) {
    if let Some(code) = exit_code.0 {
        recorder.returned(call, code == 0);
    }
}

/// Whether a command ended well, by what was returned of it; `None` when that does not say.
fn ended_well(output: &str) -> Option<bool> {
    if output.starts_with('{') {
        let mut spare = Vec::new();
        let (returned, _) = parse::<Returned>(output.as_bytes(), &mut spare).ok()?;
        return Some(returned.metadata.0?.exit_code.0? == 0);
    }
    output
        .lines()
        .take_while(|line| *line != "Output:")
        .find_map(|line| {
            line.strip_prefix("Process exited with code ")
                .or_else(|| line.strip_prefix("Exit code: "))
        })
        .map(|code| code.trim() == "0")
}

/// A tool call of any kind.
fn call(payload: &Payload<'_>, recorder: &mut Recorder<'_>) {
    let kind = &*payload.r#type;
    let name = match (&*payload.name, kind) {
        ("", "web_search_call" | "tool_search_call") => kind.trim_end_matches("_call"),
        ("", _) => kind,
        (name, _) => name,
    };
    recorder.tool(name);
    if feedback::commits(&payload.arguments) || feedback::commits(&payload.input) {
        recorder.committing(&payload.call_id);
    }
    // Codex has no call for skills: it reads `<skill>/SKILL.md`.
    for skill in skills::read_by(&payload.arguments).chain(skills::read_by(&payload.input)) {
        recorder.skill(skill);
    }
    if name == "apply_patch" {
        for line in payload.input.lines() {
            let file = [
                "*** Add File: ",
                "*** Update File: ",
                "*** Delete File: ",
                "*** Move to: ",
            ]
            .iter()
            .find_map(|start| line.strip_prefix(start));
            recorder.file(file.unwrap_or_default().trim());
        }
    }
}

fn files(changes: &Keys<'_>, recorder: &mut Recorder<'_>) {
    for file in &changes.names {
        recorder.file(file);
    }
}

/// The person's words in a response item: the parts marked as a person's, or, where nothing is
/// marked, those that do not look like the program's.
fn words_of<'a>(payload: &'a Payload<'a>) -> Option<Cow<'a, str>> {
    let kinds = payload
        .marks
        .0
        .as_ref()
        .map(|marks| &marks.content_item_kinds.0);
    let Some(kinds) = kinds.filter(|kinds| !kinds.is_empty()) else {
        let words = match &payload.content {
            Content::Text(text) => injected::words(text).map(Cow::Borrowed)?,
            Content::Blocks(parts) => {
                join(parts.iter().filter_map(|part| injected::words(&part.text)))
            }
        };
        return (!words.is_empty()).then_some(words);
    };
    if !kinds.iter().any(|kind| kind.starts_with("user.")) {
        return None;
    }
    Some(match &payload.content {
        Content::Text(text) => Cow::Borrowed(&**text),
        Content::Blocks(parts) => join(
            parts
                .iter()
                .zip(kinds)
                .filter(|(_, kind)| kind.starts_with("user."))
                .map(|(part, _)| &*part.text),
        ),
    })
}

fn joined<'a>(content: &'a Content<'a, Part<'a>>) -> Cow<'a, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Blocks(parts) => join(parts.iter().map(|part| &*part.text)),
    }
}

fn join<'a>(parts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut parts = parts.filter(|part| !part.is_empty());
    let Some(first) = parts.next() else {
        return Cow::Borrowed("");
    };
    let mut joined = Cow::Borrowed(first);
    for part in parts {
        let joined = joined.to_mut();
        joined.push('\n');
        joined.push_str(part);
    }
    joined
}
