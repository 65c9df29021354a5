//! Messages and their parts become turns, from whichever store they come.

use std::borrow::Cow;

use skillopt_core::{Instant, feedback};

use super::record::{Message, Part};
use crate::head::{Cursor, Value};
use crate::lenient::{NotReadable, parse};
use crate::reading::Recorder;
use crate::reason::Reason;
use crate::session::Author;

/// Most bytes of one person's message that are put together from its parts.
const RAW_LIMIT: usize = 1024 * 1024;

/// The messages of one session, in order.
pub(super) struct Conversation<'c, 'r> {
    recorder: &'c mut Recorder<'r>,
    place: Place,
    now: Now,
    /// The prompt at hand came from a command line, where nobody is asked whether a tool may be called.
    unattended: bool,
    spare: Vec<u8>,
}

/// Where the session is, and who is where in it.
struct Place {
    directory: String,
    /// Empty if it is not known.
    branch: String,
    /// When the session was created; messages that are older are copies.
    created: Option<Instant>,
    /// Where the copies at hand were written.
    origin: String,
}

impl Place {
    fn is_copy(&self, at: Option<Instant>) -> bool {
        at.zip(self.created)
            .is_some_and(|(at, created)| at < created)
    }

    /// The folder and the branch of a person, who is where the session is, though an answer may have
    /// moved elsewhere.
    fn of_person(&self, at: Option<Instant>) -> (&str, &str) {
        if self.is_copy(at) && !self.origin.is_empty() {
            (&self.origin, "")
        } else {
            (&self.directory, &self.branch)
        }
    }

    /// The branch of the agent in a folder.
    fn branch_in(&self, folder: &str) -> &str {
        if folder == self.directory {
            &self.branch
        } else {
            ""
        }
    }
}

/// The message whose parts are coming.
enum Now {
    Nothing,
    Human {
        id: String,
        at: Option<Instant>,
        words: String,
        /// The program wrote some of it.
        added: bool,
        compaction: bool,
    },
    Agent {
        id: String,
        at: Option<Instant>,
        /// Where the agent was, which may be elsewhere than the session.
        folder: String,
    },
    /// A message of which nothing is wanted.
    PassedOver,
}

impl<'c, 'r> Conversation<'c, 'r> {
    /// Starts a session that was created in `directory`, on a branch if that is known. A fork holds
    /// copies of messages under new ids, with their old times; it was itself created later.
    pub(super) fn new(
        recorder: &'c mut Recorder<'r>,
        directory: &str,
        branch: &str,
        created: Option<Instant>,
    ) -> Self {
        recorder.time(created);
        Self {
            recorder,
            place: Place {
                directory: directory.to_owned(),
                branch: branch.to_owned(),
                created,
                origin: String::new(),
            },
            now: Now::Nothing,
            unattended: false,
            spare: Vec::new(),
        }
    }

    /// The next message. `created` is asked for when the message itself does not say.
    pub(super) fn message(&mut self, id: &str, created: Option<Instant>, data: &[u8]) {
        let mut spare = std::mem::take(&mut self.spare);
        let parsed = parse(data, &mut spare);
        if let Ok((message, _)) = &parsed {
            self.answers_copy(message);
        }
        self.end_message();
        self.begin(id, created, parsed);
        self.spare = spare;
    }

    /// A copied prompt was typed where its answer was written, and not where the fork is.
    fn answers_copy(&mut self, message: &Message<'_>) {
        if let Now::Human { at, .. } = self.now
            && self.place.is_copy(at)
            && &*message.role == "assistant"
            && !message.folder().is_empty()
        {
            message.folder().clone_into(&mut self.place.origin);
        }
    }

    fn begin(
        &mut self,
        id: &str,
        created: Option<Instant>,
        parsed: Result<(Message<'_>, bool), NotReadable>,
    ) {
        self.now = Now::PassedOver;
        let message = match parsed {
            Ok((message, repaired)) => {
                if repaired {
                    self.recorder.skip(Reason::Repaired);
                }
                message
            }
            Err(fault) => return self.recorder.skip(reason(fault)),
        };
        let times = message.times();
        let at = times.created.instant().or(created);
        self.recorder.time(at);
        match &*message.role {
            "user" => {
                self.now = Now::Human {
                    id: id.to_owned(),
                    at,
                    words: String::new(),
                    added: false,
                    compaction: false,
                }
            }
            "assistant" => {
                if &*message.mode == "compaction" || &*message.agent == "compaction" {
                    return self.recorder.skip(Reason::Compaction);
                }
                let folder = message.folder();
                self.recorder.place(folder, self.place.branch_in(folder));
                if let Some(failure) = &message.error.0 {
                    if &*failure.name == "MessageAbortedError" {
                        self.recorder.interrupted();
                    } else {
                        self.recorder.skip(Reason::ApiError);
                    }
                }
                let at = times.completed.instant().or(at);
                self.recorder.time(at);
                self.now = Now::Agent {
                    id: id.to_owned(),
                    at,
                    folder: folder.to_owned(),
                };
            }
            other => self.recorder.unknown(&format!("message/{other}")),
        }
    }

    /// A part of the message at hand.
    pub(super) fn part(&mut self, data: &[u8]) {
        if matches!(self.now, Now::Nothing | Now::PassedOver) {
            return;
        }
        // Most parts are known by their first key.
        if kind(data).is_some_and(is_bookkeeping) {
            return self.recorder.skip(Reason::Bookkeeping);
        }
        let part: Part<'_> = match parse(data, &mut self.spare) {
            Ok((part, repaired)) => {
                if repaired {
                    self.recorder.skip(Reason::Repaired);
                }
                part
            }
            Err(fault) => return self.recorder.skip(reason(fault)),
        };
        match (&*part.r#type, &mut self.now) {
            (_, Now::Nothing | Now::PassedOver) => {}
            ("text", Now::Human { words, added, .. }) => {
                if part.synthetic.0 || part.ignored.0 {
                    *added = true;
                } else if words.len() < RAW_LIMIT {
                    if !words.is_empty() {
                        words.push('\n');
                    }
                    words.push_str(&part.text);
                }
            }
            ("text", Now::Agent { id, at, .. }) => {
                if part.synthetic.0 || part.ignored.0 {
                    self.recorder.skip(Reason::Meta);
                } else {
                    self.recorder.reply_block(id, *at, &part.text);
                }
            }
            ("compaction", Now::Human { compaction, .. }) => *compaction = true,
            ("tool", Now::Agent { id, at, folder }) => {
                tool(&part, self.recorder);
                if let (Some(said), false) = (refusal(&part), self.unattended) {
                    self.recorder.tool_rejected();
                    if !said.is_empty() {
                        let (here, branch) = self.place.of_person(*at);
                        self.recorder.place(here, branch);
                        self.recorder.human(&format!("{id}:refusal"), *at, said);
                        self.recorder.place(folder, self.place.branch_in(folder));
                    }
                }
            }
            ("tool-invocation", Now::Agent { .. }) => {
                if let Some(invocation) = &part.invocation.0 {
                    self.recorder.tool(&invocation.tool_name);
                    self.recorder.beside(Author::Tool);
                }
            }
            ("tool" | "tool-invocation" | "compaction", _) => {
                self.recorder.skip(Reason::Bookkeeping);
            }
            (other, _) if is_bookkeeping(other.as_bytes()) => {
                self.recorder.skip(Reason::Bookkeeping);
            }
            (other, _) => self.recorder.unknown(&format!("part/{other}")),
        }
    }

    /// A message that cannot be read.
    pub(super) fn no_message(&mut self, reason: Reason) {
        self.end_message();
        self.now = Now::PassedOver;
        self.recorder.skip(reason);
    }

    /// A part that cannot be read.
    pub(super) fn no_part(&mut self, reason: Reason) {
        if !matches!(self.now, Now::Nothing | Now::PassedOver) {
            self.recorder.skip(reason);
        }
    }

    /// There are no more messages. `revert` is the first one that was taken back, if any was.
    pub(super) fn end(&mut self, revert: &str) {
        self.end_message();
        if !revert.is_empty() {
            self.recorder.taken_back_from(revert);
        }
    }

    fn end_message(&mut self) {
        let Now::Human {
            id,
            at,
            words,
            added,
            compaction,
        } = std::mem::replace(&mut self.now, Now::Nothing)
        else {
            return;
        };
        let (here, branch) = self.place.of_person(at);
        self.recorder.place(here, branch);
        if words.trim().is_empty() && (added || compaction) {
            // The agent goes on by itself: nobody asked for what it says now.
            self.recorder.skip(if compaction {
                Reason::Compaction
            } else {
                Reason::Meta
            });
            return self.recorder.aside(&id, at);
        }
        let typed = without_shell_quotes(&words);
        self.unattended = matches!(typed, Cow::Owned(_));
        self.recorder.human(&id, at, &typed);
    }
}

/// The type of a part, as far as its first keys tell.
fn kind(data: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::object(data)?;
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(name)) => return Some(name),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// Whether nothing is looked at of a part of this type.
fn is_bookkeeping(name: &[u8]) -> bool {
    matches!(
        name,
        b"reasoning"
            | b"step-start"
            | b"step-finish"
            | b"snapshot"
            | b"patch"
            | b"file"
            | b"agent"
            | b"retry"
            | b"subtask"
            | b"source-url"
    )
}

fn reason(fault: NotReadable) -> Reason {
    match fault {
        NotReadable::Malformed => Reason::Malformed,
        NotReadable::NotAnObject => Reason::NotAnObject,
    }
}

/// A tool call: its name, the skill it loads, the files it writes.
fn tool(part: &Part<'_>, recorder: &mut Recorder<'_>) {
    recorder.tool(&part.tool);
    let Some(state) = &part.state.0 else { return };
    if matches!(&*state.status, "completed" | "error") {
        recorder.beside(Author::Tool);
    }
    let Some(input) = &state.input.0 else { return };
    match &*part.tool {
        "skill" => recorder.skill(&input.name),
        "bash"
            if state.metadata.0.as_ref().and_then(|ended| ended.exit.0) == Some(0)
                && feedback::commits(&input.command) =>
        {
            recorder.committed();
        }
        "write" | "edit" | "multiedit" if &*state.status == "completed" => {
            recorder.file(&input.file_path);
        }
        "apply_patch" if &*state.status == "completed" => {
            for line in input.patch_text.lines() {
                let file = ["*** Add File: ", "*** Update File: ", "*** Move to: "]
                    .iter()
                    .find_map(|start| line.strip_prefix(start));
                recorder.file(file.unwrap_or_default().trim());
            }
        }
        _ => {}
    }
}

/// How the error of a call begins that the person refused.
const REFUSED: &str = "The user rejected permission to use this specific tool call";
/// What stands before the person's own words, where there are any.
const SAID: &str = "with the following feedback:";

/// What the person said when refusing a call, possibly nothing; `None` when it was not refused. A
/// call that the settings forbid has another error.
fn refusal<'a>(part: &'a Part<'_>) -> Option<&'a str> {
    let state = part.state.0.as_ref()?;
    let rest = (&*state.status == "error")
        .then(|| state.error.strip_prefix(REFUSED))
        .flatten()?;
    Some(
        rest.trim_start()
            .strip_prefix(SAID)
            .map_or("", |said| said.trim()),
    )
}

/// The words as they were typed: `opencode run` puts every argument that has a space in it between
/// quotes, and a backslash before quotes inside.
fn without_shell_quotes(words: &str) -> Cow<'_, str> {
    let text = words.trim();
    let Some(inside) = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return Cow::Borrowed(words);
    };
    let one_argument = inside.contains(' ')
        && !inside
            .match_indices('"')
            .any(|(at, _)| !inside[..at].ends_with('\\'));
    if one_argument {
        Cow::Owned(inside.replace("\\\"", "\""))
    } else {
        Cow::Borrowed(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_the_command_line_go_and_those_of_a_person_stay() {
        for (stored, typed) in [
            ("\"fix the test\"", "fix the test"),
            ("\"say \\\"hello\\\" twice\"", "say \"hello\" twice"),
            ("fix the test\n", "fix the test\n"),
            ("\"a b\" and \"c d\"", "\"a b\" and \"c d\""),
            ("\"word\"", "\"word\""),
            ("\"", "\""),
            ("\"\"", "\"\""),
            ("", ""),
        ] {
            assert_eq!(without_shell_quotes(stored), typed, "{stored}");
        }
    }
}
