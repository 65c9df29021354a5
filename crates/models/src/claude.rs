//! Claude Code as a model: its command line in print mode.
//!
//! With an API key the program runs "bare" with an empty configuration directory. With a
//! subscription it uses the user's own directory, and options keep out everything in it but the
//! sign-in: settings, hooks, CLAUDE.md, skills, tools, MCP servers, session files. In both, system
//! messages replace the program's own instructions.

mod output;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use serde_json::Value;
use skillopt_core::{Problem, own_call};

use crate::agent_cli::{
    About, Agent, AgentCli, Arranged, Asked, Environment, Launch, Options, Place, Prompt, SignIn,
    too_old,
};
use crate::backend::RawReply;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Line, Reading, Run};
use crate::terms::Known;

/// The `kind` of this backend and its provider: one sign-in, one limit.
pub const KIND: &str = "claude";

/// Variables that usually hold a key for it.
pub const USUAL_KEYS: &[&str] = &["ANTHROPIC_API_KEY"];

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "Claude Code",
    programs: &["claude"],
    path_setting: "models.claude_path",
    update: "Update it with `claude update`.",
    terms: Known {
        about: "Nights start Claude Code by themselves and use up the limits of your plan, or your key; Anthropic's terms for the account it is signed in with say what is allowed.",
        address: "https://code.claude.com/docs/en/legal-and-compliance",
    },
    addresses: &["ANTHROPIC_BASE_URL"],
    renewed_in: &["CLAUDE_CONFIG_DIR", "HOME", "USERPROFILE"],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options without which the user's own CLAUDE.md, settings, hooks, skills, tools, MCP servers or
/// session files would take part in a call.
const NEEDED: &[&str] = &[
    "--print",
    "--output-format",
    "--verbose",
    "--model",
    "--tools",
    "--setting-sources",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
];

/// Passed on when the user's own sign-in is used: where it is, and its forms for machines without a
/// browser. The desktop variables lead to the keyring.
const PASSED_FOR_SUBSCRIPTION: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_AUTH_TOKEN",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Set for every call: no updates, no reports, no memory, no files read because a text mentions
/// them, and one repeat at most, since repeating is counted and paced by the path around us.
const SET: &[(&str, &str)] = &[
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", own_call::ENTRYPOINT),
];

fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    environment.set_all(SET);
    environment.pass(&["ANTHROPIC_BASE_URL"]);
    match &options.sign_in {
        SignIn::Key { key, .. } => {
            environment.set("ANTHROPIC_API_KEY", key.expose());
            environment.set("CLAUDE_CONFIG_DIR", aside.join("config"));
        }
        SignIn::Subscription => environment.pass(PASSED_FOR_SUBSCRIPTION),
    }
    Ok(())
}

/// Claude Code on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, or `endpoint_invalid` and
/// `endpoint_insecure` for an `ANTHROPIC_BASE_URL` that a sign-in must not be sent to.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

struct Claude {
    version: String,
    known: BTreeSet<String>,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    let version = launch.version(cancel).await?;
    let mut known = launch.help(&["--help"], cancel).await?;
    // Known, but only mentioned in the text of another: `--system-prompt[-file]`.
    let text = launch.ask_once(&["--help"], cancel).await?.output;
    if text.contains("--system-prompt[-file]") || text.contains("--system-prompt-file") {
        known.insert("--system-prompt-file".to_owned());
    }
    too_old(launch, &version, &known, NEEDED)?;
    Ok(Box::new(Claude { version, known }))
}

impl Claude {
    fn has(&self, option: &str) -> bool {
        self.known.contains(option)
    }

    fn has_system_file(&self) -> bool {
        self.has("--system-prompt-file")
    }

    fn arguments(&self, place: &Place<'_>, system: Option<&Path>) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = [
            "--print",
            "--output-format",
            "stream-json",
            "--verbose",
            "--no-session-persistence",
            "--disable-slash-commands",
            "--strict-mcp-config",
            "--tools",
            "",
            "--setting-sources",
            "",
        ]
        .map(OsString::from)
        .to_vec();
        let with_key = matches!(place.options.sign_in, SignIn::Key { .. });
        let if_known = [
            ("--include-partial-messages", true),
            ("--bare", with_key),
            ("--safe-mode", !with_key),
            ("--exclude-dynamic-system-prompt-sections", system.is_none()),
        ];
        for (option, wanted) in if_known {
            if wanted && self.has(option) {
                arguments.push(option.into());
            }
        }
        if let Some(file) = system {
            arguments.extend(["--system-prompt-file".into(), file.into()]);
        }
        // In one word each, so that neither can be taken for an option.
        if !place.effort.is_empty() {
            arguments.push(format!("--effort={}", place.effort).into());
        }
        arguments.push(format!("--model={}", place.model).into());
        arguments
    }
}

impl Agent for Claude {
    fn version(&self) -> &str {
        &self.version
    }

    fn usual_model(&self) -> &'static str {
        "sonnet"
    }

    fn system_mode(&self) -> &'static str {
        if self.has_system_file() {
            "system_file"
        } else {
            "one_prompt"
        }
    }

    fn takes_effort(&self) -> bool {
        self.has("--effort")
    }

    fn tells_allowance(&self) -> bool {
        true
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 2.1.332: some 450 tokens about the place it runs in, or some 2,700 with its
        // own instructions.
        if self.has_system_file() { 600 } else { 3_000 }
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let (system, input) = if self.has_system_file() {
            let file = place.write_new("system.txt", &prompt.system())?;
            (Some(file), prompt.dialogue())
        } else {
            (None, prompt.whole())
        };
        Ok(Arranged {
            arguments: self.arguments(place, system.as_deref()),
            environment: Vec::new(),
            input,
            reading: Reading::Lines(judge),
            streams: self.has("--include-partial-messages"),
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }

    fn sign_in_question(&self, sign_in: &SignIn) -> Option<&'static [&'static str]> {
        matches!(sign_in, SignIn::Subscription).then_some(&["auth", "status"])
    }

    fn signed_in(&self, run: &Run) -> Option<bool> {
        // It exits with 1 when nobody is signed in, so the exit code is no sign of failure.
        let printed: Value = serde_json::from_slice(&run.output).ok()?;
        printed.get("loggedIn")?.as_bool()
    }
}

/// A line comes from the model when it is an event that is neither about the start nor about limits.
fn judge(line: &[u8]) -> Line {
    let Ok(event) = serde_json::from_slice::<Value>(line) else {
        return Line::Before;
    };
    match event.get("type").and_then(Value::as_str) {
        None | Some("system" | "rate_limit_event") => Line::Before,
        // What they say comes again, whole, in the events that follow.
        Some("stream_event") => Line::Piece,
        Some(_) => Line::Reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_model_is_told_from_the_start() {
        for (line, kind) in [
            (r#"{"type":"system","subtype":"init"}"#, Line::Before),
            (r#"{"type":"rate_limit_event"}"#, Line::Before),
            (r#"{"type":"stream_ev"#, Line::Before),
            ("a warning", Line::Before),
            (r#"{"type":"stream_event"}"#, Line::Piece),
            (r#"{"type":"result"}"#, Line::Reply),
        ] {
            assert_eq!(judge(line.as_bytes()), kind, "{line}");
        }
    }
}
