//! Entries become turns.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, feedback};

use super::head::{Head, Kind, head, of_role, of_type};
use super::record::{Message, Record};
use super::tree::{Act, Says, Tree};
use super::{Dialect, Said};
use crate::lenient::Content;
use crate::meta::no_prompt;
use crate::reading::{Recorder, instant, short};
use crate::reason::Reason;
use crate::record::parsed;
use crate::rules::Kept;
use crate::{skills, words};

/// Answers longer than this many bytes are made fit to be kept at once; shorter ones only when it
/// is known which of them count.
const LONG_ANSWER: usize = 64 * 1024;
/// Most things one entry of the agent does.
const ACT_LIMIT: usize = 200;
/// Most commits that wait for their results at a time.
const COMMITTING_LIMIT: usize = 16;
/// What the result of a call is, unless it is waited for.
const RESULT: Kind<'static> = Kind::Skip(Reason::ToolResult);

/// Reads the entries of one session.
#[derive(Debug, Default)]
pub(crate) struct Reader<D> {
    dialect: D,
    state: State,
    spare: Vec<u8>,
}

/// What must be known to go on in the middle of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// A header was read.
    begun: bool,
    tree: Tree,
    /// Calls of `git commit` whose result has not come yet.
    #[serde(default)]
    committing: Vec<String>,
}

impl<D: Dialect> Reader<D> {
    pub(crate) fn new(dialect: D) -> Self {
        Self {
            dialect,
            ..Self::default()
        }
    }

    pub(crate) fn resume(state: State) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Whether a line that begins like this is needed.
    pub(crate) fn needs(&mut self, beginning: &[u8], recorder: &mut Recorder<'_>) -> bool {
        match head::<D>(beginning) {
            Head::Parse => true,
            Head::Node { id, parent, kind } => {
                self.state.node(id, parent, kind, recorder);
                false
            }
        }
    }

    /// One line.
    pub(crate) fn line(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        if let Head::Node { id, parent, kind } = head::<D>(line)
            && (kind != RESULT || self.state.committing.is_empty())
        {
            return self.state.node(id, parent, kind, recorder);
        }
        if let Some(record) = parsed::<Record<'_>>(line, &mut self.spare, recorder) {
            self.state.record(&self.dialect, line, &record, recorder);
        }
    }

    /// The file is at its end.
    pub(crate) fn end(&mut self, recorder: &mut Recorder<'_>) {
        self.state.tree.tell(recorder);
    }
}

impl State {
    /// An entry of which only the place in the tree is needed.
    fn node(&mut self, id: &str, parent: &str, kind: Kind<'_>, recorder: &mut Recorder<'_>) {
        let author = match kind {
            Kind::Skip(reason) => {
                recorder.leave_out(reason);
                reason.author()
            }
            Kind::Unknown(name) => {
                recorder.unknown(name);
                None
            }
            Kind::UnknownRole(name) => {
                recorder.unknown(&format!("message/{name}"));
                None
            }
        };
        self.tree.beside(short(id), short(parent), author, recorder);
    }

    fn record<D: Dialect>(
        &mut self,
        dialect: &D,
        line: &[u8],
        record: &Record<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let (id, parent) = (short(&record.id), short(&record.parent_id));
        let at = instant(&record.timestamp);
        match &*record.r#type {
            "session" => self.header(record, at, recorder),
            "message" => {
                let Some(message) = &record.message.0 else {
                    recorder.skip(Reason::Malformed);
                    return self.tree.add(id, parent, None, recorder);
                };
                let kind = of_role(&message.role);
                if kind == Some(RESULT) && self.returned(id, parent, message, recorder) {
                    return;
                }
                if let Some(kind) = kind {
                    return self.node(id, parent, kind, recorder);
                }
                if &*message.role == "user" {
                    let says = person(dialect, line, id, at, message, recorder);
                    self.tree.add(id, parent, Some(says), recorder);
                } else if D::is_answer(line) {
                    let says = agent::<D>(id, at, message, recorder);
                    self.await_commits(&says);
                    self.tree.add(id, parent, Some(says), recorder);
                } else {
                    self.node(id, parent, Kind::Skip(Reason::Bookkeeping), recorder);
                }
            }
            "context_edit" => {
                recorder.skip(Reason::Bookkeeping);
                let says = self.tree.position(&record.target_id).map(|target| {
                    let words = record
                        .replacement
                        .0
                        .as_ref()
                        .map(|message| fit(words(message), recorder));
                    Says::Edit {
                        target,
                        words: words.unwrap_or_default(),
                    }
                });
                self.tree.add(id, parent, says, recorder);
            }
            other => {
                let kind = of_type::<D>(other).unwrap_or(Kind::Unknown(other));
                self.node(id, parent, kind, recorder);
            }
        }
    }

    /// Takes note of the commits in what the agent did.
    fn await_commits(&mut self, says: &Says) {
        let Says::Agent { acts, .. } = says else {
            return;
        };
        for act in acts {
            if let Act::Commit(call) = act
                && self.committing.len() < COMMITTING_LIMIT
            {
                self.committing.push(call.clone());
            }
        }
    }

    /// The result of a call; whether it is one that is waited for.
    fn returned(
        &mut self,
        id: &str,
        parent: &str,
        message: &Message<'_>,
        recorder: &mut Recorder<'_>,
    ) -> bool {
        let call = short(&message.tool_call_id);
        let Some(at) = self.committing.iter().position(|waits| waits == call) else {
            return false;
        };
        let call = self.committing.remove(at);
        let code = message.details.0.as_ref().and_then(|it| it.exit_code.0);
        let well = !message.is_error.0 && code.is_none_or(|code| code == 0);
        recorder.leave_out(Reason::ToolResult);
        self.tree
            .add(id, parent, Some(Says::Returned { call, well }), recorder);
        true
    }

    fn header(&mut self, header: &Record<'_>, at: Option<Instant>, recorder: &mut Recorder<'_>) {
        recorder.skip(Reason::Bookkeeping);
        if self.begun {
            return;
        }
        self.begun = true;
        recorder.format(header.version);
        recorder.time(at);
        recorder.place(&header.cwd, "");
        if !header.parent_session.is_empty() {
            recorder.holds_copies();
            let file = header
                .parent_session
                .rsplit(['/', '\\'])
                .next()
                .unwrap_or_default();
            recorder.forked_from(file.strip_suffix(".jsonl").unwrap_or(file));
        }
    }
}

fn person<D: Dialect>(
    dialect: &D,
    line: &[u8],
    id: &str,
    at: Option<Instant>,
    message: &Message<'_>,
    recorder: &mut Recorder<'_>,
) -> Says {
    let text = words(message);
    let refused = D::tells_refusal(&text);
    let reason = match dialect.said(line, &text) {
        Said::Words { words, skill } => match no_prompt(&words) {
            Some(reason) => reason,
            None => {
                return Says::Person {
                    id: id.to_owned(),
                    at,
                    kept: recorder.keep(&words),
                    skill: short(skill).to_owned(),
                    refused,
                };
            }
        },
        Said::Else(reason) => reason,
    };
    recorder.leave_out(reason);
    Says::Aside {
        id: id.to_owned(),
        at,
        author: reason.author(),
        refused,
    }
}

fn agent<D: Dialect>(
    id: &str,
    at: Option<Instant>,
    message: &Message<'_>,
    recorder: &mut Recorder<'_>,
) -> Says {
    let failed = &*message.stop_reason == "error";
    if failed {
        recorder.skip(Reason::ApiError);
    }
    Says::Agent {
        id: id.to_owned(),
        at,
        words: if failed {
            String::new()
        } else {
            fit(D::answer(words(message)), recorder)
        },
        acts: acts(message),
        interrupted: &*message.stop_reason == "aborted",
    }
}

fn acts(message: &Message<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    let Content::Blocks(blocks) = &message.content else {
        return acts;
    };
    for block in blocks.iter().filter(|block| &*block.r#type == "toolCall") {
        acts.push(Act::Tool(short(&block.name).to_owned()));
        let Some(arguments) = &block.arguments.0 else {
            continue;
        };
        // Pi has no call for skills: it reads `<skill>/SKILL.md`.
        let read = skills::read_by(&arguments.command).chain(skills::read_by(&arguments.path));
        if matches!(&*block.name, "bash" | "exec") && feedback::commits(&arguments.command) {
            acts.push(Act::Commit(short(&block.id).to_owned()));
        }
        match &*block.name {
            "bash" | "read" => acts.extend(read.map(|skill| Act::Skill(skill.to_owned()))),
            "write" | "edit" => acts.push(Act::File(short(&arguments.path).to_owned())),
            _ => {}
        }
    }
    acts.truncate(ACT_LIMIT);
    acts
}

/// The words of a message: its text, without what the model thought.
fn words<'a>(message: &'a Message<'a>) -> Cow<'a, str> {
    words::of_content(&message.content, |block| {
        (&*block.r#type == "text").then_some(&*block.text)
    })
}

/// An answer that is kept until it is known whether it counts.
fn fit(words: Cow<'_, str>, recorder: &Recorder<'_>) -> String {
    if words.len() <= LONG_ANSWER {
        return words.into_owned();
    }
    match recorder.keep_answer(&words) {
        Kept::Words(words) => words,
        Kept::Private | Kept::Wordless => String::new(),
    }
}
