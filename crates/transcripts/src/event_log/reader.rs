//! Events become turns.

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, feedback};

use super::head::{Head, beginning, head, of_type};
use super::record::{Data, Event};
use crate::meta::no_prompt;
use crate::reading::{Recorder, instant, short};
use crate::reason::Reason;
use crate::record::parsed;

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 4;

/// Most skills that wait for the prompt they were called with.
const CALLED_LIMIT: usize = 16;

/// Reads the lines of one event log.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    spare: Vec<u8>,
}

/// What must be known to go on in the middle of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Tools say which files they wrote.
    says_edits: bool,
    /// Skills a person called before the words they are for.
    called: Vec<String>,
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
    pub(crate) fn needs(start: &[u8], recorder: &mut Recorder<'_>) -> bool {
        match beginning(start) {
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
            Head::Skip(Reason::ToolResult) if recorder.awaits_commit() => Head::Parse,
            head => head,
        };
        if head != Head::Parse {
            return count(head, recorder);
        }
        if let Some(event) = parsed::<Event<'_>>(line, &mut self.spare, recorder) {
            self.state.event(&event, recorder);
        }
    }
}

fn count(head: Head<'_>, recorder: &mut Recorder<'_>) {
    match head {
        Head::Parse => {}
        Head::Skip(reason) => recorder.skip(reason),
        Head::Unknown(name) => recorder.unknown(&String::from_utf8_lossy(name)),
    }
}

impl State {
    fn event(&mut self, event: &Event<'_>, recorder: &mut Recorder<'_>) {
        let head = of_type(event.r#type.as_bytes());
        if head != Head::Parse {
            return count(head, recorder);
        }
        let Some(data) = &event.data.0 else {
            return recorder.skip(Reason::Malformed);
        };
        if !event.agent_id.is_empty() || !data.parent_tool_call_id.is_empty() {
            return recorder.skip(Reason::Sidechain);
        }
        let at = instant(&event.timestamp);
        match &*event.r#type {
            "session.start" | "session.resume" => {
                recorder.skip(Reason::Bookkeeping);
                recorder.time(at);
                recorder.version(&data.copilot_version);
                begin(data, recorder);
            }
            "session.context_changed" => {
                recorder.skip(Reason::Bookkeeping);
                recorder.place(&data.cwd, &data.branch);
            }
            "user.message" => self.message(&event.id, at, data, recorder),
            "assistant.message" => {
                recorder.reply(&data.message_id, at, &data.content);
                for request in data.tool_requests.0.iter().filter_map(|it| it.0.as_ref()) {
                    recorder.tool(&request.name);
                    let command = request.arguments.0.as_ref().map(|it| &*it.command);
                    if command.is_some_and(feedback::commits) {
                        recorder.committing(&request.tool_call_id);
                    }
                }
            }
            "tool.execution_complete" => {
                recorder.skip(Reason::ToolResult);
                // `denied` is what a rule or a hook says.
                if data
                    .error
                    .0
                    .as_ref()
                    .is_some_and(|error| &*error.code == "rejected")
                {
                    recorder.tool_rejected();
                }
                recorder.returned(&data.tool_call_id, ended_well(data));
                for edit in data.file_edits.0.iter().filter_map(|it| it.0.as_ref()) {
                    self.says_edits = true;
                    recorder.file(&edit.path);
                }
            }
            "permission.completed" => {
                recorder.skip(Reason::Bookkeeping);
                let decision = data.result.0.as_ref().map_or("", |result| &*result.kind);
                if decision == "denied-interactively-by-user" {
                    recorder.tool_rejected();
                }
            }
            "session.snapshot_rewind" => {
                recorder.skip(Reason::Bookkeeping);
                recorder.taken_back_from(&data.up_to_event_id);
            }
            "session.shutdown" => {
                recorder.skip(Reason::Bookkeeping);
                // Older versions named the files of the whole session, and only here.
                let changes = data.code_changes.0.as_ref().filter(|_| !self.says_edits);
                for file in changes.iter().flat_map(|changes| &changes.files_modified.0) {
                    recorder.file(file);
                }
            }
            "skill.invoked" => {
                recorder.skip(Reason::Meta);
                match &*data.trigger {
                    "user-invoked" if self.called.len() < CALLED_LIMIT => {
                        self.called.push(short(&data.name).to_owned());
                    }
                    "context-load" => {}
                    _ => recorder.skill(&data.name),
                }
            }
            // `abort`: by the person, unless a credit limit or a remote program did it.
            _ => match &*data.reason {
                "user_initiated" | "user_abort" | "" => recorder.interrupted(),
                _ => recorder.skip(Reason::Bookkeeping),
            },
        }
    }

    fn message(
        &mut self,
        id: &str,
        at: Option<Instant>,
        data: &Data<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let called = std::mem::take(&mut self.called);
        let words = &*data.content;
        // The text of a skill, or autopilot's own push: the agent goes on with the turn it was at.
        if data.source.starts_with("skill-") {
            return recorder.skip(Reason::Meta);
        }
        if data.is_autopilot_continuation.0 {
            return recorder.skip(Reason::MachinePrompt);
        }
        let reason = if matches!(&*data.source, "" | "user") {
            no_prompt(words)
        } else {
            Some(Reason::MachinePrompt)
        };
        match reason {
            None => recorder.human(id, at, words),
            Some(reason) => {
                recorder.skip(reason);
                recorder.aside(id, at);
            }
        }
        for skill in &called {
            recorder.skill(skill);
        }
    }
}

/// Whether a call ended well. In older versions the code of a command stands only below its output.
fn ended_well(data: &Data<'_>) -> bool {
    let shell = data.shell_execution.0.as_ref();
    let code = shell.and_then(|shell| shell.exit_code.0).or_else(|| {
        let content = &data.result.0.as_ref()?.content;
        let (_, code) = content.trim_end().rsplit_once("exit code ")?;
        code.strip_suffix('>')?.parse().ok()
    });
    data.success.0 && code.is_none_or(|code| code == 0)
}

fn begin(data: &Data<'_>, recorder: &mut Recorder<'_>) {
    recorder.session(&data.session_id);
    if let Some(context) = &data.context.0 {
        recorder.place(&context.cwd, &context.branch);
    }
    if !data.spawned_by.is_empty() {
        recorder.condemn(Reason::AgentSession);
    }
}
