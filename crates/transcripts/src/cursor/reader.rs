//! Records of Cursor become turns.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use skillopt_core::{Instant, feedback};

use super::record::{Message, Record};
use crate::lenient::Content;
use crate::meta::is_meta;
use crate::reading::Recorder;
use crate::reason::Reason;
use crate::record::parsed;
use crate::{skills, words};

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 5;

/// What Cursor puts around the words a person typed.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");
/// What newer versions put before them: when they were sent.
const SENT: (&str, &str) = ("<timestamp>", "</timestamp>");
/// What Cursor writes in the place of the agent's thoughts, at the end of its words or alone.
const THOUGHTS: &str = "[REDACTED]";
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
    /// When it was last written: older versions give records no times of their own.
    written: Option<Instant>,
    /// When the prompt at hand was sent, where that is said.
    sent: Option<Instant>,
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
    fn record(&mut self, record: &Record<'_>, recorder: &mut Recorder<'_>) {
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
                recorder.reply("", self.at(), without_thoughts(&words(message)));
                calls(message, recorder);
            }
            "system" => recorder.skip(Reason::Context),
            "tool" => recorder.skip(Reason::ToolResult),
            other => recorder.unknown(&format!("role/{other}")),
        }
    }

    /// When the turn at hand was: its answer has no time of its own.
    fn at(&self) -> Option<Instant> {
        self.sent.or(self.written)
    }

    fn user(&mut self, message: &Message<'_>, recorder: &mut Recorder<'_>) {
        let text = words(message);
        let (sent, text) = sent(&text);
        self.sent = sent;
        if text.trim_start().starts_with(REPLAY) {
            recorder.condemn(Reason::EngineCall);
        }
        let typed = typed(text);
        if is_meta(typed) {
            if typed.trim_start().starts_with('/') {
                recorder.skip(Reason::SlashCommand);
                // What the agent does now answers no prompt.
                recorder.aside("", self.at());
            } else {
                recorder.skip(Reason::Meta);
            }
        } else if typed.trim().is_empty() && only_results(message) {
            recorder.skip(Reason::ToolResult);
        } else {
            recorder.human("", self.at(), typed);
        }
    }
}

/// When a message was sent, and the message without the line that says so. Some versions give the day
/// alone, which is no instant.
fn sent(text: &str) -> (Option<Instant>, &str) {
    let found = text
        .trim_start()
        .strip_prefix(SENT.0)
        .and_then(|text| text.split_once(SENT.1));
    found.map_or((None, text), |(stamp, rest)| (instant(stamp), rest))
}

/// The instant of `Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)`.
fn instant(stamp: &str) -> Option<Instant> {
    let (time, zone) = stamp.trim().strip_suffix(')')?.split_once(" (UTC")?;
    // The day of the week says nothing more.
    let (_, time) = time.split_once(", ")?;
    let time = DateTime::strptime("%b %d, %Y, %I:%M %p", time).ok()?;
    offset(zone)?.to_timestamp(time).ok()
}

/// The offset of ``, `+3`, `-4` or `+5:30`.
fn offset(zone: &str) -> Option<Offset> {
    if zone.is_empty() {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-" | "\u{2212}", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
    Offset::from_seconds(sign * seconds).ok()
}

/// What a person typed: the words in the last `<user_query>`, or everything where there is none. Behind
/// it stand other blocks of the program alone; elsewhere the person wrote about such marks.
fn typed(text: &str) -> &str {
    let inner = text
        .rsplit_once(QUERY.1)
        .filter(|(_, behind)| behind.trim().is_empty() || is_block(behind))
        .and_then(|(text, _)| text.rsplit_once(QUERY.0));
    inner.map_or(text, |(_, words)| words)
}

/// Whether a text begins and ends with marks.
fn is_block(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('<') && text.ends_with('>')
}

/// The words of the agent without what stands for its thoughts.
fn without_thoughts(words: &str) -> &str {
    let rest = words.trim_end().strip_suffix(THOUGHTS);
    rest.filter(|rest| rest.trim().is_empty() || rest.ends_with('\n'))
        .map_or(words, str::trim_end)
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
