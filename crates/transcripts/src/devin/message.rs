//! Messages of Devin become turns.

use skillopt_core::{Instant, feedback};

use super::record::{Arguments, Call, Message};
use crate::lenient::{NotReadable, parse};
use crate::meta::is_meta;
use crate::reading::Recorder;
use crate::reason::Reason;
use crate::skills;

/// Tools that write the file they name.
const WRITING: [&str; 3] = ["edit", "write", "str_replace"];

/// A message as it stands in the conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) id: i64,
    pub(super) parent: Option<i64>,
    /// When the row was made, for messages that do not say when they were written.
    pub(super) created: Option<Instant>,
    pub(super) data: &'a [u8],
}

/// Whether a person typed a message.
pub(super) fn is_prompt(data: &[u8]) -> bool {
    parse::<Message<'_>>(data, &mut Vec::new()).is_ok_and(|(message, _)| {
        &*message.role == "user"
            && message
                .metadata
                .0
                .is_some_and(|metadata| metadata.is_user_input.0)
    })
}

/// Tells the recorder of one message.
pub(super) fn tell(node: Node<'_>, spare: &mut Vec<u8>, recorder: &mut Recorder<'_>) {
    let message: Message<'_> = match parse(node.data, spare) {
        Ok((message, repaired)) => {
            if repaired {
                recorder.skip(Reason::Repaired);
            }
            message
        }
        Err(NotReadable::Malformed) => return recorder.skip(Reason::Malformed),
        Err(NotReadable::NotAnObject) => return recorder.skip(Reason::NotAnObject),
    };
    let metadata = message.metadata.0.as_ref();
    let at = metadata
        .and_then(|metadata| metadata.created_at.0)
        .or(node.created);
    recorder.time(at);
    match &*message.role {
        "user" => person(node, &message, at, recorder),
        "assistant" => {
            recorder.reply(&message.message_id, at, &message.content);
            for call in message
                .tool_calls
                .0
                .iter()
                .filter_map(|call| call.0.as_ref())
            {
                acted(call, recorder);
            }
        }
        "tool" => {
            recorder.skip(Reason::ToolResult);
            returned(&message, recorder);
        }
        "system" => recorder.skip(Reason::Context),
        other => recorder.unknown(&format!("message/{other}")),
    }
}

fn person(node: Node<'_>, message: &Message<'_>, at: Option<Instant>, recorder: &mut Recorder<'_>) {
    let words = &*message.content;
    let typed = message
        .metadata
        .0
        .as_ref()
        .is_some_and(|metadata| metadata.is_user_input.0);
    if typed {
        // A prompt that follows the same message as another was edited and sent again.
        if let Some(parent) = node.parent {
            recorder.follows(&parent.to_string());
        }
        return recorder.human(&id(node, message), at, words);
    }
    // What describes the surroundings stands between a prompt and its answer; everything else is
    // answered itself.
    if !is_meta(words) {
        recorder.aside(&id(node, message), at);
    }
    recorder.skip(Reason::Meta);
}

/// What became of a call.
fn returned(message: &Message<'_>, recorder: &mut Recorder<'_>) {
    let metadata = message.metadata.0.as_ref();
    let extensions = metadata.and_then(|metadata| metadata.extensions.0.as_ref());
    let outcome = extensions.and_then(|extensions| extensions.result.0.as_ref());
    if outcome.is_some_and(|outcome| &*outcome.failure_reason == "Rejected") {
        recorder.tool_rejected();
    }
    let code = extensions
        .and_then(|extensions| extensions.terminal.0.as_ref()?.exit.0.as_ref())
        .and_then(|exit| exit.exit_code.0);
    let well = outcome.is_none_or(|outcome| outcome.success.0) && code.is_none_or(|it| it == 0);
    recorder.returned(&message.tool_call_id, well);
}

fn acted(call: &Call<'_>, recorder: &mut Recorder<'_>) {
    recorder.tool(&call.name);
    let mut spare = Vec::new();
    let parsed: Option<Arguments<'_>> = match &call.arguments.object {
        Some(_) => None,
        None => parse(call.arguments.text.as_bytes(), &mut spare)
            .ok()
            .map(|(arguments, _)| arguments),
    };
    let Some(arguments) = call.arguments.object.as_ref().or(parsed.as_ref()) else {
        return;
    };
    if &*call.name == "exec" && feedback::commits(&arguments.command) {
        recorder.committing(&call.id);
    }
    let path = if arguments.path.is_empty() {
        &*arguments.file_path
    } else {
        &*arguments.path
    };
    if WRITING.contains(&&*call.name) {
        recorder.file(path);
        return;
    }
    for skill in skills::read_by(&arguments.command).chain(skills::read_by(path)) {
        recorder.skill(skill);
    }
}

/// The name of a message; older rows may have none but their number.
fn id(node: Node<'_>, message: &Message<'_>) -> String {
    if message.message_id.is_empty() {
        format!("node {}", node.id)
    } else {
        message.message_id.to_string()
    }
}
