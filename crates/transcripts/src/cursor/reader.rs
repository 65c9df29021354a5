//! Records of Cursor become turns.

use std::borrow::Cow;

use skillopt_core::{Instant, feedback};

use super::record::{Message, Record};
use crate::lenient::Content;
use crate::meta::is_meta;
use crate::reading::Recorder;
use crate::reason::Reason;
use crate::record::parsed;
use crate::{skills, words};

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 4;

/// What Cursor puts around the words a person typed.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");
/// How the reference's own calls begin (§3.6).
const REPLAY: &str = "<skillopt_sleep_internal_replay_v1>";

/// Reads the lines of one file. A file that has grown is read from its start: the time of every
/// turn is that of the file, and has changed with it.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    transcript: Transcript,
    spare: Vec<u8>,
}

/// What is known of the file.
#[derive(Debug, Default)]
struct Transcript {
    /// When it was last written: records have no times of their own.
    written: Option<Instant>,
}

impl Reader {
    /// When the file was last written.
    pub(crate) fn written(&mut self, at: Option<Instant>) {
        self.transcript.written = at;
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        if let Some(record) = parsed::<Record<'_>>(line, &mut self.spare, recorder) {
            self.transcript.record(&record, recorder);
        }
    }
}

impl Transcript {
    fn record(&self, record: &Record<'_>, recorder: &mut Recorder<'_>) {
        if &*record.r#type == "turn_ended" {
            return match &*record.status {
                "aborted" => recorder.interrupted(),
                "error" => recorder.skip(Reason::ApiError),
                _ => recorder.skip(Reason::Bookkeeping),
            };
        }
        let Some(message) = &record.message.0 else {
            return if record.r#type.is_empty() {
                recorder.skip(Reason::Malformed);
            } else {
                recorder.unknown(&record.r#type);
            };
        };
        let role = if record.role.is_empty() {
            &*message.role
        } else {
            &*record.role
        };
        match role {
            "user" => self.user(message, recorder),
            "assistant" => {
                recorder.reply("", self.written, &words(message));
                calls(message, recorder);
            }
            "system" => recorder.skip(Reason::Context),
            "tool" => recorder.skip(Reason::ToolResult),
            other => recorder.unknown(&format!("role/{other}")),
        }
    }

    fn user(&self, message: &Message<'_>, recorder: &mut Recorder<'_>) {
        let text = words(message);
        if text.trim_start().starts_with(REPLAY) {
            recorder.condemn(Reason::EngineCall);
        }
        let typed = typed(&text);
        if is_meta(typed) {
            if typed.trim_start().starts_with('/') {
                recorder.skip(Reason::SlashCommand);
                // What the agent does now answers no prompt.
                recorder.aside("", self.written);
            } else {
                recorder.skip(Reason::Meta);
            }
        } else if typed.trim().is_empty() && only_results(message) {
            recorder.skip(Reason::ToolResult);
        } else {
            recorder.human("", self.written, typed);
        }
    }
}

/// What a person typed: the words in the last `<user_query>`, or everything where there is none.
fn typed(text: &str) -> &str {
    let inner = text
        .trim_end()
        .strip_suffix(QUERY.1)
        .and_then(|text| text.rsplit_once(QUERY.0));
    inner.map_or(text, |(_, words)| words)
}

fn only_results(message: &Message<'_>) -> bool {
    match &message.content {
        Content::Text(_) => false,
        Content::Blocks(blocks) => blocks.iter().any(|block| &*block.r#type == "tool_result"),
    }
}

fn calls(message: &Message<'_>, recorder: &mut Recorder<'_>) {
    let Content::Blocks(blocks) = &message.content else {
        return;
    };
    for block in blocks.iter().filter(|block| &*block.r#type == "tool_use") {
        recorder.tool(&block.name);
        let Some(input) = &block.input.0 else {
            continue;
        };
        // Nothing in the file says how a command ended.
        if &*block.name == "Shell" && feedback::commits(&input.command) {
            recorder.committed();
        }
        match &*block.name {
            "Write" | "StrReplace" => recorder.file(&input.path),
            "Read" | "Shell" => {
                // Cursor has no call for skills: it reads `<skill>/SKILL.md`.
                for skill in skills::read_by(&input.path).chain(skills::read_by(&input.command)) {
                    recorder.skill(skill);
                }
            }
            _ => {}
        }
    }
}

/// The words of a message.
fn words<'a>(message: &'a Message<'a>) -> Cow<'a, str> {
    words::of_content(&message.content, |block| {
        (&*block.r#type == "text").then_some(&*block.text)
    })
}
