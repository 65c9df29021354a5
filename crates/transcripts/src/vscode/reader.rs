//! Sessions of Copilot Chat become turns.
//!
//! A file is one session in JSON, or a log that begins with one and goes on with changes. A later
//! line can change any turn, so turns are made at the end of the file.

use serde::{Deserialize, Serialize};
use skillopt_core::Instant;

use super::chat::{Chat, Gone, Part, RawChat, Request};
use super::operation::{Applied, Operation};
use crate::lenient::{NotReadable, Number, Present, parse, repair};
use crate::meta::no_prompt;
use crate::reading::Recorder;
use crate::reason::Reason;
use crate::record::parsed;
use crate::session::Author;

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(super) const VERSION: u32 = 4;

/// The extension whose sessions these are, in small letters.
const EXTENSION: &str = "github.copilot-chat";
/// Most bytes held of one session, and of a file that is one session.
const HELD_LIMIT: usize = 16 * 1024 * 1024;

/// Reads the lines of one file.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    spare: Vec<u8>,
}

/// What must be known to go on in the middle of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct State {
    chat: Chat,
    /// At most as many bytes are held.
    held: usize,
    /// The lines so far, of a session that is written over several.
    whole: Option<Vec<u8>>,
    begun: bool,
}

/// Whether a line is an operation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Kind {
    kind: Present,
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

    /// Whether the end of the file belongs to what is being read, although it is no line.
    pub(crate) fn wants_rest(&self) -> bool {
        self.state.whole.is_some()
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        let first = !std::mem::replace(&mut self.state.begun, true);
        if first && line.trim_ascii() == b"{" {
            self.state.whole = Some(Vec::new());
        }
        if let Some(whole) = &mut self.state.whole {
            if whole.len() + line.len() <= HELD_LIMIT {
                whole.extend_from_slice(line);
                whole.push(b'\n');
            } else {
                recorder.skip(Reason::BeyondLimit);
            }
            return;
        }
        match parse::<Kind>(line, &mut self.spare) {
            Ok((kind, _)) if kind.kind.0 => self.operation(line, recorder),
            Ok(_) if first => self.snapshot(line, recorder),
            Ok(_) | Err(NotReadable::Malformed) => recorder.skip(Reason::Malformed),
            Err(NotReadable::NotAnObject) => recorder.skip(Reason::NotAnObject),
        }
    }

    /// The file is at its end.
    pub(crate) fn end(&mut self, recorder: &mut Recorder<'_>) {
        if let Some(whole) = self.state.whole.take() {
            self.snapshot(&whole, recorder);
        }
        std::mem::take(&mut self.state.chat).tell(recorder);
    }

    fn snapshot(&mut self, json: &[u8], recorder: &mut Recorder<'_>) {
        if let Some(chat) = parsed::<RawChat<'_>>(json, &mut self.spare, recorder) {
            self.state.chat = chat.into();
        }
    }

    fn operation(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        let Some(operation) = parsed::<Operation<'_>>(line, &mut self.spare, recorder) else {
            return;
        };
        if self.state.apply(&operation, recorder) {
            return;
        }
        // Half an emoji, where the editor cut a text, is seen only when the value is taken apart.
        let (mut mended, mut spare) = (Vec::new(), Vec::new());
        let again = repair(line, &mut mended)
            .then(|| parse::<Operation<'_>>(&mended, &mut spare).ok())
            .flatten();
        let readable = again.is_some_and(|(operation, _)| self.state.apply(&operation, recorder));
        recorder.skip(if readable {
            Reason::Repaired
        } else {
            Reason::Malformed
        });
    }
}

impl State {
    /// Changes the session by one operation. `false` when what it puts in cannot be read.
    fn apply(&mut self, operation: &Operation<'_>, recorder: &mut Recorder<'_>) -> bool {
        let Self { chat, held, .. } = self;
        if *held + operation.bytes() > HELD_LIMIT {
            // What was replaced meanwhile is held no longer.
            *held = chat.bytes();
            if *held + operation.bytes() > HELD_LIMIT {
                recorder.skip(Reason::BeyondLimit);
                return true;
            }
        }
        *held += operation.bytes();
        match operation.apply(chat) {
            Applied::Yes => true,
            Applied::Unreadable => false,
            Applied::UnknownKind => {
                let kind = operation
                    .kind
                    .0
                    .map_or("none".to_owned(), |kind| kind.to_string());
                recorder.unknown(&format!("kind/{kind}"));
                true
            }
        }
    }
}

impl Chat {
    fn tell(self, recorder: &mut Recorder<'_>) {
        recorder.format(Number(self.format));
        recorder.session(&self.session_id);
        recorder.time(instant(self.created));
        let mut gone = self.gone;
        // Where they stood, oldest first: a sort keeps the order of those in the same place.
        gone.sort_by_key(|gone| gone.at);
        let mut gone = gone.into_iter().peekable();
        for (at, request) in self.requests.into_iter().enumerate() {
            while let Some(gone) = gone.next_if(|gone| gone.at <= at) {
                gone.tell(recorder);
            }
            request.tell(recorder);
        }
        for gone in gone {
            gone.tell(recorder);
        }
    }
}

impl Gone {
    fn tell(self, recorder: &mut Recorder<'_>) {
        self.request.tell(recorder);
        if self.replaced {
            recorder.resent();
        } else {
            recorder.undone();
        }
    }
}

impl Request {
    fn tell(self, recorder: &mut Recorder<'_>) {
        let at = instant(self.at);
        let reason = if self.by_system {
            Some(Reason::MachinePrompt)
        } else if !self.extension.is_empty() && self.extension != EXTENSION {
            Some(Reason::OtherExtension)
        } else {
            no_prompt(&self.text)
        };
        match reason {
            None => recorder.human(&self.id, at, &self.text),
            Some(reason) => {
                recorder.skip(reason);
                recorder.aside(&self.id, at);
            }
        }
        let mut words = String::new();
        for part in &self.response {
            match part {
                Part::Text(text) => words.push_str(text),
                Part::Tool(call) => {
                    recorder.tool(&call.name);
                    recorder.beside(Author::Tool);
                    if call.refused {
                        recorder.tool_rejected();
                    } else if call.commits && call.exit_code == Some(0) {
                        recorder.committed();
                    }
                }
                Part::File(path) => recorder.file(path),
                Part::Unknown(kind) => recorder.unknown(&format!("part/{kind}")),
                Part::Other => {}
            }
        }
        recorder.reply("", instant(self.completed).or(at), &words);
        if self.cancelled {
            recorder.interrupted();
        }
        if self.taken_back {
            recorder.undone();
        }
    }
}

fn instant(millis: Option<i64>) -> Option<Instant> {
    Instant::from_millisecond(millis?).ok()
}
