//! Records of Claude Code become turns.

use std::borrow::Cow;

use memchr::memmem;
use skillopt_core::feedback;

use super::head::{Head, head, of_attachment, of_type};
use super::record::{Block, Message, Queued, Record};
use super::{old, rejection};
use crate::lenient::Content;
use crate::reading::{Recorder, instant, short};
use crate::reason::Reason;
use crate::record::parsed;

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 4;

/// Reads the lines of one file.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    spare: Vec<u8>,
}

/// What must be known to go on in the middle of a file.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct State {
    /// The file has a record with `promptSource`: it was written by a version that says who gave a
    /// prompt.
    says_source: bool,
    /// The slash command whose expansion is expected next.
    command: String,
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
        if recorder.wants_first_time() {
            recorder.time(first_time(line));
        }
        let head = match head(line) {
            Head::Skip(Reason::ToolResult)
                if recorder.awaits_commit() || rejection::may_be_one(line) =>
            {
                Head::Parse
            }
            head => head,
        };
        if head != Head::Parse {
            return count(head, recorder);
        }
        if let Some(record) = parsed::<Record<'_>>(line, &mut self.spare, recorder) {
            self.state.record(&record, recorder);
        }
    }
}

fn count(head: Head<'_>, recorder: &mut Recorder<'_>) {
    match head {
        Head::Parse => {}
        Head::Skip(reason) => recorder.skip(reason),
        Head::Unknown { attachment, name } => {
            let name = String::from_utf8_lossy(name);
            if attachment {
                recorder.unknown(&format!("attachment/{name}"));
            } else {
                recorder.unknown(&name);
            }
        }
    }
}

/// The first time that stands in a line of any kind.
fn first_time(line: &[u8]) -> Option<skillopt_core::Instant> {
    const KEY: &[u8] = b"\"timestamp\":\"";
    let start = memmem::find(line, KEY)? + KEY.len();
    let length = memchr::memchr(b'"', &line[start..])?;
    instant(std::str::from_utf8(&line[start..start + length]).ok()?)
}

impl State {
    fn record(&mut self, record: &Record<'_>, recorder: &mut Recorder<'_>) {
        if record.is_sidechain.0 {
            return recorder.skip(Reason::Sidechain);
        }
        match &*record.r#type {
            "user" => {
                locate(record, recorder);
                if let Some(message) = &record.message.0 {
                    self.user(record, message, recorder);
                } else {
                    recorder.skip(Reason::Malformed);
                }
            }
            "assistant" => {
                locate(record, recorder);
                if let Some(message) = &record.message.0 {
                    assistant(record, message, recorder);
                } else {
                    recorder.skip(Reason::Malformed);
                }
            }
            "attachment" => match &record.attachment.0 {
                Some(queued) if &*queued.r#type == "queued_command" => {
                    locate(record, recorder);
                    self.queued(record, queued, recorder);
                }
                Some(other) => count(of_attachment(other.r#type.as_bytes()), recorder),
                None => recorder.skip(Reason::Malformed),
            },
            "file-history-snapshot" => {
                recorder.skip(Reason::Bookkeeping);
                let snapshot = record.snapshot.0.as_ref();
                for file in snapshot
                    .iter()
                    .flat_map(|it| &it.tracked_file_backups.names)
                {
                    recorder.file(file);
                }
            }
            "file-history-delta" => {
                recorder.skip(Reason::Bookkeeping);
                recorder.file(&record.tracking_path);
            }
            other => count(of_type(other.as_bytes()), recorder),
        }
    }

    fn user(&mut self, record: &Record<'_>, message: &Message<'_>, recorder: &mut Recorder<'_>) {
        let at = instant(&record.timestamp);
        let text = words(&message.content);
        // Most results are passed over unread; none of them ends what is expected.
        let command = if has_tool_result(&message.content) {
            String::new()
        } else {
            std::mem::take(&mut self.command)
        };
        if record.is_compact_summary.0 {
            return recorder.skip(Reason::Compaction);
        }
        if record.is_meta.0 {
            if let Some(skill) = expanded_skill(&text, &command) {
                recorder.skill(skill);
            }
            return recorder.skip(Reason::Meta);
        }
        if record.interrupted_message_id.0
            || text
                .trim_start()
                .starts_with("[Request interrupted by user")
        {
            return recorder.interrupted();
        }
        if has_tool_result(&message.content) {
            recorder.skip(Reason::ToolResult);
            returned(&message.content, recorder);
            let Some(said) = rejection::words(record, message) else {
                return;
            };
            recorder.tool_rejected();
            if !said.is_empty() {
                recorder.human(&record.uuid, at, said);
            }
            return;
        }
        let source = &*record.prompt_source;
        let origin = record.origin.0.as_ref().map_or("", |origin| &*origin.kind);
        let no_prompt = if source.is_empty() {
            let today = self.says_source
                || record.row_source.0
                || record.turn_origin.0
                || record.turn_position.0
                || record.origin.0.is_some();
            old::not_a_prompt(&text).or(today.then_some(Reason::MachinePrompt))
        } else {
            self.says_source = true;
            not_by_a_person(source, origin, &text)
        };
        if no_prompt == Some(Reason::UnknownType) {
            recorder.unknown(&format!("promptSource/{source}"));
            return recorder.aside(&record.uuid, at);
        }
        let Some(reason) = no_prompt else {
            recorder.follows(&record.parent_uuid);
            return recorder.human(&record.uuid, at, &text);
        };
        recorder.skip(reason);
        match reason {
            // The agent goes on with the turn it was at.
            Reason::Compaction | Reason::Meta => {}
            _ => recorder.aside(&record.uuid, at),
        }
        if reason == Reason::SlashCommand {
            short(command_name(&text)).clone_into(&mut self.command);
        }
    }

    /// A message sent while the agent worked.
    fn queued(&mut self, record: &Record<'_>, queued: &Queued<'_>, recorder: &mut Recorder<'_>) {
        let text = words(&queued.prompt);
        let origin = queued
            .origin
            .0
            .as_ref()
            .or(record.origin.0.as_ref())
            .map_or("", |origin| &*origin.kind);
        let by_a_person = &*queued.command_mode == "prompt"
            && !queued.is_meta.0
            && matches!(origin, "" | "human");
        if !by_a_person {
            return recorder.skip(Reason::MachinePrompt);
        }
        if is_slash_command(&text) {
            return recorder.skip(Reason::SlashCommand);
        }
        recorder.human(&record.uuid, instant(&record.timestamp), &text);
    }
}

fn assistant(record: &Record<'_>, message: &Message<'_>, recorder: &mut Recorder<'_>) {
    let at = instant(&record.timestamp);
    if !record.request_session_id.is_empty() {
        recorder.holds_copies();
    }
    if record.is_api_error_message.0 {
        recorder.time(at);
        return recorder.skip(Reason::ApiError);
    }
    let id = if message.id.is_empty() {
        &record.uuid
    } else {
        &message.id
    };
    recorder.reply_block(id, at, &words(&message.content));
    let Content::Blocks(blocks) = &message.content else {
        return;
    };
    for block in blocks {
        // `tool_use`, `server_tool_use`, `mcp_tool_use`.
        if !block.r#type.ends_with("tool_use") {
            continue;
        }
        recorder.tool(&block.name);
        let Some(input) = &block.input.0 else {
            continue;
        };
        match &*block.name {
            "Skill" => recorder.skill(&input.skill),
            "Bash" if feedback::commits(&input.command) => recorder.committing(&block.id),
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                recorder.file(&input.file_path);
                recorder.file(&input.notebook_path);
            }
            _ => {}
        }
    }
}

/// Where the session is, and what made it.
fn locate(record: &Record<'_>, recorder: &mut Recorder<'_>) {
    recorder.version(&record.version);
    recorder.place(&record.cwd, &record.git_branch);
    let entrypoint = &*record.entrypoint;
    recorder.entrypoint(entrypoint, entrypoint.starts_with("sdk"));
    if let Some(from) = &record.forked_from.0 {
        recorder.holds_copies();
        recorder.forked_from(&from.session_id);
    }
}

/// Why a prompt that names its source is no person's. `queued` are prompts that waited for the
/// agent to finish (2.1.257 and later).
fn not_by_a_person(source: &str, origin: &str, text: &str) -> Option<Reason> {
    match source {
        "typed" | "sdk" | "queued" if !matches!(origin, "" | "human" | "sdk") => {
            Some(Reason::MachinePrompt)
        }
        "typed" | "sdk" | "queued" => is_slash_command(text).then_some(Reason::SlashCommand),
        "system" => Some(Reason::MachinePrompt),
        // It may well be a person's, in a way this version does not know.
        _ => Some(Reason::UnknownType),
    }
}

/// `/name` or `/name arguments`, but not `/a/path`.
fn is_slash_command(text: &str) -> bool {
    let Some(name) = text.trim_start().strip_prefix('/') else {
        return false;
    };
    let name = name.split(char::is_whitespace).next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// The words of a message: its text blocks, without those the program put in.
fn words<'a>(content: &'a Content<'a, Block<'a>>) -> Cow<'a, str> {
    let blocks = match content {
        Content::Text(text) => return Cow::Borrowed(text),
        Content::Blocks(blocks) => blocks,
    };
    let mut words = blocks
        .iter()
        .filter(|block| &*block.r#type == "text" && !is_injected(&block.text))
        .map(|block| &*block.text);
    let Some(first) = words.next() else {
        return Cow::Borrowed("");
    };
    let mut joined = Cow::Borrowed(first);
    for more in words {
        let joined = joined.to_mut();
        joined.push('\n');
        joined.push_str(more);
    }
    joined
}

/// A block that the program, or the editor it runs in, put beside the person's words.
fn is_injected(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>"))
        || (text.starts_with("<ide_") && text.ends_with('>'))
}

fn has_tool_result(content: &Content<'_, Block<'_>>) -> bool {
    match content {
        Content::Text(_) => false,
        Content::Blocks(blocks) => blocks.iter().any(|block| &*block.r#type == "tool_result"),
    }
}

/// Calls that ended, in a message with their results.
fn returned(content: &Content<'_, Block<'_>>, recorder: &mut Recorder<'_>) {
    let Content::Blocks(blocks) = content else {
        return;
    };
    for result in blocks
        .iter()
        .filter(|block| &*block.r#type == "tool_result")
    {
        recorder.returned(&result.tool_use_id, !result.is_error.0);
    }
}

/// The name in `<command-name>/name</command-name>`, without the slash.
fn command_name(text: &str) -> &str {
    text.split_once("<command-name>")
        .and_then(|(_, rest)| rest.split_once("</command-name>"))
        .map_or("", |(name, _)| name.trim().trim_start_matches('/'))
}

/// The skill whose text was put into the conversation, if this is one: called by `command`, or
/// named by the folder it stands in.
fn expanded_skill<'a>(text: &'a str, command: &'a str) -> Option<&'a str> {
    let folder = text
        .trim_start()
        .strip_prefix("Base directory for this skill: ")?
        .lines()
        .next()?;
    if !command.is_empty() {
        return Some(command);
    }
    folder.trim().rsplit(['/', '\\']).next()
}
