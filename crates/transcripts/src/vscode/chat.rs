//! A session as the editor keeps it: what is looked at of it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skillopt_core::feedback;

use crate::lenient::{Flag, List, Number, Object, Present, Text, TextOr};
use crate::reading::short;

/// Kinds of parts that are known and have nothing that is read, after the editor's sources of
/// 2026. What was edited outside of the editor's own edits (`externalEdit`) is of agents that
/// keep their own sessions.
const NOT_READ: [&str; 45] = [
    "agentDetection",
    "asyncContent",
    "autoModeResolution",
    "clearToPreviousToolInvocation",
    "codeCitation",
    "codeblockUri",
    "command",
    "confirmation",
    "content",
    "disabledClaudeHooks",
    "elicitation",
    "elicitation2",
    "elicitationSerialized",
    "extensions",
    "externalEdit",
    "externalEdits",
    "externalToolInvocationUpdate",
    "hook",
    "info",
    "inlineReference",
    "mcpAuthenticationRequired",
    "mcpServersStarting",
    "mcpServersStartingSlow",
    "move",
    "multiDiffData",
    "notebookEdit",
    "notebookEditGroup",
    "planReview",
    "prepareToolInvocation",
    "progressMessage",
    "progressTask",
    "progressTaskResult",
    "progressTaskSerialized",
    "pullRequest",
    "questionCarousel",
    "reference",
    "systemNotification",
    "textEdit",
    "thinking",
    "toolInvocation",
    "treeData",
    "undoStop",
    "usage",
    "usedContext",
    "workspaceEdit",
];

/// Most bytes kept of one text. Answers come in many small parts.
const TEXT_LIMIT: usize = 1024 * 1024;

/// A whole session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Chat {
    /// The version of its format.
    pub(super) format: Option<i64>,
    pub(super) session_id: String,
    /// Milliseconds since 1970.
    pub(super) created: Option<i64>,
    pub(super) requests: Vec<Request>,
    /// What was taken back, in the order in which it was.
    pub(super) gone: Vec<Gone>,
}

/// A request that is no longer in the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Gone {
    /// Where it stood.
    pub(super) at: usize,
    /// Another one was sent in its place.
    pub(super) replaced: bool,
    pub(super) request: Request,
}

/// One thing a person asked, with its answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) text: String,
    /// Id of the extension that answers, in small letters; empty when none is named.
    pub(super) extension: String,
    /// Milliseconds since 1970.
    pub(super) at: Option<i64>,
    /// Milliseconds since 1970.
    pub(super) completed: Option<i64>,
    pub(super) by_system: bool,
    pub(super) cancelled: bool,
    /// The person went back to before it; when something is sent from there it is removed.
    pub(super) taken_back: bool,
    pub(super) response: Vec<Part>,
}

/// A part of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Part {
    Text(String),
    Tool(Call),
    File(String),
    /// Of a kind that is not known.
    Unknown(String),
    Other,
}

/// A tool that was called.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) name: String,
    /// The person did not let it be called.
    pub(super) refused: bool,
    /// It is a command that commits.
    pub(super) commits: bool,
    /// How a command ended.
    pub(super) exit_code: Option<i64>,
}

impl Chat {
    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        let gone = self.gone.iter().map(|gone| &gone.request);
        self.requests.iter().chain(gone).map(Request::bytes).sum()
    }
}

impl Request {
    pub(super) fn bytes(&self) -> usize {
        let parts: usize = self.response.iter().map(Part::bytes).sum();
        size_of::<Self>() + self.id.len() + self.text.len() + parts
    }
}

impl Part {
    pub(super) fn bytes(&self) -> usize {
        let words = match self {
            Self::Text(words) | Self::File(words) | Self::Unknown(words) => words.len(),
            Self::Tool(call) => call.name.len(),
            Self::Other => 0,
        };
        size_of::<Self>() + words
    }
}

/// A session in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawChat<'a> {
    version: Number,
    #[serde(borrow)]
    session_id: Text<'a>,
    creation_date: Number,
    requests: List<Object<RawRequest<'a>>>,
}

/// A request in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawRequest<'a> {
    #[serde(borrow)]
    request_id: Text<'a>,
    message: Object<RawMessage<'a>>,
    agent: Object<RawAgent<'a>>,
    timestamp: Number,
    model_state: Object<RawModelState>,
    is_system_initiated: Flag,
    is_canceled: Flag,
    should_be_removed_on_send: Present,
    response: List<Object<RawPart<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawMessage<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawAgent<'a> {
    #[serde(borrow)]
    extension_id: TextOr<'a, RawId<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawId<'a> {
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(rename = "_lower")]
    lower: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawModelState {
    completed_at: Number,
    /// How far the answer is.
    value: Number,
}

/// A part of an answer in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawPart<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    /// Markdown of a part without a kind.
    value: TextOr<'a, RawMarkdown<'a>>,
    /// Markdown of a part that says it is.
    content: TextOr<'a, RawMarkdown<'a>>,
    tool_id: Text<'a>,
    is_confirmed: Option<&'a RawValue>,
    tool_specific_data: Object<RawSpecific<'a>>,
    uri: Object<RawUri<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawMarkdown<'a> {
    #[serde(borrow)]
    value: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawUri<'a> {
    #[serde(borrow)]
    scheme: Text<'a>,
    path: Text<'a>,
}

/// What is known of a call beside its name, for some tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawSpecific<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    command_line: Object<RawCommandLine<'a>>,
    /// The same in older versions.
    command: Text<'a>,
    terminal_command_state: Object<RawTerminalState>,
}

/// A command as it was proposed, and as it was changed before it ran.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawCommandLine<'a> {
    #[serde(borrow)]
    original: Text<'a>,
    tool_edited: Text<'a>,
    user_edited: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawTerminalState {
    exit_code: Number,
}

/// Why a call may be made, or may not.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawConfirmed {
    r#type: Number,
}

impl From<RawChat<'_>> for Chat {
    fn from(raw: RawChat<'_>) -> Self {
        Self {
            format: raw.version.0,
            session_id: short(&raw.session_id).to_owned(),
            created: millis(raw.creation_date),
            requests: requests(raw.requests),
            gone: Vec::new(),
        }
    }
}

impl From<RawRequest<'_>> for Request {
    fn from(raw: RawRequest<'_>) -> Self {
        let agent = raw.agent.0.unwrap_or_default();
        let state = raw.model_state.0.unwrap_or_default();
        Self {
            id: short(&raw.request_id).to_owned(),
            text: raw.message.0.as_ref().map(text).unwrap_or_default(),
            extension: extension(&agent),
            at: millis(raw.timestamp),
            completed: completed(&state),
            by_system: raw.is_system_initiated.0,
            cancelled: raw.is_canceled.0 || cancelled(&state),
            taken_back: raw.should_be_removed_on_send.0,
            response: parts(raw.response),
        }
    }
}

impl From<RawPart<'_>> for Part {
    fn from(raw: RawPart<'_>) -> Self {
        match &*raw.kind {
            "" | "markdownContent" | "markdownVuln" => {
                let texts = [&raw.value, &raw.content].map(|value| {
                    let inner = value.object.as_ref().map(|object| &object.value);
                    inner.unwrap_or(&value.text)
                });
                let markdown = texts.into_iter().find(|text| !text.is_empty());
                markdown.map_or(Self::Other, |text| Self::Text(cut(text)))
            }
            "toolInvocationSerialized" => Self::Tool(call(&raw)),
            "textEditGroup" => match raw.uri.0 {
                Some(uri) if matches!(&*uri.scheme, "" | "file") => {
                    Self::File(short(&uri.path).to_owned())
                }
                _ => Self::Other,
            },
            kind if NOT_READ.contains(&kind) => Self::Other,
            kind => Self::Unknown(short(kind).to_owned()),
        }
    }
}

pub(super) fn requests(raw: List<Object<RawRequest<'_>>>) -> Vec<Request> {
    let request = |raw: Object<RawRequest<'_>>| raw.0.unwrap_or_default().into();
    raw.0.into_iter().map(request).collect()
}

pub(super) fn parts(raw: List<Object<RawPart<'_>>>) -> Vec<Part> {
    let part = |raw: Object<RawPart<'_>>| raw.0.unwrap_or_default().into();
    raw.0.into_iter().map(part).collect()
}

pub(super) fn text(raw: &RawMessage<'_>) -> String {
    cut(&raw.text)
}

pub(super) fn extension(raw: &RawAgent<'_>) -> String {
    let id = &raw.extension_id;
    let name = match &id.object {
        Some(object) if object.lower.is_empty() => &object.value,
        Some(object) => &object.lower,
        None => &id.text,
    };
    short(name).to_ascii_lowercase()
}

fn call(raw: &RawPart<'_>) -> Call {
    let mut call = Call {
        name: short(&raw.tool_id).to_owned(),
        refused: raw.is_confirmed.is_some_and(refused),
        ..Call::default()
    };
    if let Some(specific) = &raw.tool_specific_data.0 {
        call.tell(specific);
    }
    call
}

impl Call {
    /// Notes what is known of it beside its name.
    pub(super) fn tell(&mut self, specific: &RawSpecific<'_>) {
        if &*specific.kind != "terminal" {
            return;
        }
        let line = specific.command_line.0.as_ref();
        let command = line
            .into_iter()
            .flat_map(|line| [&line.user_edited, &line.tool_edited, &line.original])
            .find(|command| !command.is_empty())
            .unwrap_or(&specific.command);
        self.commits = feedback::commits(command);
        self.exit_code = specific
            .terminal_command_state
            .0
            .as_ref()
            .and_then(exit_code);
    }
}

pub(super) fn exit_code(state: &RawTerminalState) -> Option<i64> {
    state.exit_code.0
}

/// Whether the person did not let a call be made: `false` in older versions, later a reason, of which
/// 0 is a refusal and 5 that the call is left out.
pub(super) fn refused(confirmed: &RawValue) -> bool {
    let reason = || serde_json::from_str::<Object<RawConfirmed>>(confirmed.get());
    confirmed.get() == "false"
        || reason().is_ok_and(|reason| {
            reason
                .0
                .is_some_and(|reason| matches!(reason.r#type.0, Some(0 | 5)))
        })
}

/// Whether the answer was stopped, in versions that do not write `isCanceled`.
pub(super) fn cancelled(state: &RawModelState) -> bool {
    state.value.0 == Some(2)
}

pub(super) fn completed(raw: &RawModelState) -> Option<i64> {
    millis(raw.completed_at)
}

/// Small numbers are seconds (§3.4).
pub(super) fn millis(number: Number) -> Option<i64> {
    const SECONDS: i64 = 10_000_000_000;
    match number.0? {
        seconds if seconds <= SECONDS => seconds.checked_mul(1000),
        millis => Some(millis),
    }
}

/// At most the first megabyte.
pub(super) fn cut(text: &str) -> String {
    let mut end = text.len().min(TEXT_LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
