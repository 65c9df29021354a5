//! GitHub Copilot CLI as a model: one prompt with JSON events.
//!
//! It bills by request. With a token it gets an empty directory; so it does with a model provider of
//! the user's own (`COPILOT_PROVIDER_…`). Else it uses the user's sign-in and directory, with its MCP
//! servers switched off by name. It keeps sessions there, which our readers know by the directory
//! they ran in. Its own instructions cannot be replaced, only its tools and the user's instructions
//! kept out.

mod output;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use serde_json::Value;
use skillopt_core::Problem;

use crate::agent_cli::{
    About, Agent, AgentCli, Arranged, Asked, Environment, KEYRING, Launch, Options, Place, Prompt,
    SignIn, too_old,
};
use crate::backend::RawReply;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Line, Reading, Run};
use crate::terms::Known;

/// The `kind` of this backend and its provider: one sign-in, one limit.
pub const KIND: &str = "copilot";

/// Variables that usually hold a token for it.
pub const USUAL_KEYS: &[&str] = &["COPILOT_GITHUB_TOKEN"];

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "GitHub Copilot CLI",
    programs: &["copilot"],
    path_setting: "models.copilot_path",
    update: "Update it with `copilot update`.",
    terms: Known {
        about: "Nights start GitHub Copilot by themselves, and your plan is billed for each of their requests; GitHub's terms for Copilot say what is allowed.",
        address: "https://docs.github.com/en/site-policy/github-terms/github-terms-for-additional-products-and-features",
    },
    addresses: &["COPILOT_PROVIDER_BASE_URL"],
    // Its token lives long and is not renewed by it.
    renewed_in: &[],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options without which tools, servers or instructions of the user's would take part.
const NEEDED: &[&str] = &[
    "--output-format",
    "--available-tools",
    "--disable-builtin-mcps",
    "--disable-mcp-server",
    "--no-custom-instructions",
];

/// A model provider of the user's own, instead of GitHub's.
const PROVIDER: &[&str] = &[
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_WIRE_API",
    "COPILOT_PROVIDER_AZURE_API_VERSION",
    "COPILOT_PROVIDER_MODEL_ID",
    "COPILOT_PROVIDER_WIRE_MODEL",
    "COPILOT_PROVIDER_MAX_PROMPT_TOKENS",
    "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
    "COPILOT_MODEL",
    "COPILOT_OFFLINE",
];

/// GitHub Copilot CLI on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, or `endpoint_invalid` and
/// `endpoint_insecure` for a `COPILOT_PROVIDER_BASE_URL` that a key must not be sent to.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    environment.set("COPILOT_AUTO_UPDATE", "false");
    environment.pass(&["COPILOT_GH_HOST", "GH_HOST"]);
    let own_provider = environment.own("COPILOT_PROVIDER_BASE_URL").is_some();
    match &options.sign_in {
        SignIn::Key { key, .. } => {
            environment.set("COPILOT_HOME", aside.join("copilot"));
            environment.set("COPILOT_GITHUB_TOKEN", key.expose());
        }
        SignIn::Subscription if own_provider => {
            environment.set("COPILOT_HOME", aside.join("copilot"));
            environment.pass(PROVIDER);
        }
        SignIn::Subscription => {
            environment.pass(&["COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]);
            environment.pass(KEYRING);
        }
    }
    Ok(())
}

struct Copilot {
    version: String,
    /// Options of ours that this version knows.
    extra: Vec<&'static str>,
    servers: Vec<String>,
    effort: bool,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    const WELCOME: &[&str] = &[
        "--disable-client-telemetry",
        "--no-ask-user",
        "--no-auto-update",
        "--no-remote",
        "--no-remote-export",
    ];
    let version = launch.version(cancel).await?;
    let known = launch.help(&["--help"], cancel).await?;
    too_old(launch, &version, &known, NEEDED)?;
    let listed = launch.ask(&["mcp", "list", "--json"], &[], cancel).await?;
    let servers = server_names(&listed.output)
        .ok_or_else(|| launch.not_runnable("it does not say which tool servers it would start"))?;
    Ok(Box::new(Copilot {
        version,
        extra: WELCOME
            .iter()
            .copied()
            .filter(|option| known.contains(*option))
            .collect(),
        servers,
        effort: known.contains("--reasoning-effort"),
    }))
}

/// The names in the output of `copilot mcp list --json`.
fn server_names(printed: &str) -> Option<Vec<String>> {
    let printed: Value = serde_json::from_str(printed).ok()?;
    let servers = printed.get("mcpServers")?.as_object()?;
    Some(servers.keys().cloned().collect())
}

impl Agent for Copilot {
    fn version(&self) -> &str {
        &self.version
    }

    fn system_mode(&self) -> &'static str {
        "one_prompt"
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 1.0.102: its own instructions, some 8,000 characters.
        2_200
    }

    fn takes_effort(&self) -> bool {
        self.effort
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let mut arguments: Vec<OsString> = [
            "--output-format=json",
            "--stream=on",
            "--no-color",
            "--log-level=none",
            // The name of no tool: an empty list would mean all of them.
            "--available-tools=none",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
        ]
        .map(OsString::from)
        .to_vec();
        arguments.extend(self.extra.iter().map(Into::into));
        for server in &self.servers {
            arguments.push(format!("--disable-mcp-server={server}").into());
        }
        if !place.effort.is_empty() {
            arguments.push(format!("--reasoning-effort={}", place.effort).into());
        }
        if !place.model.is_empty() {
            arguments.push(format!("--model={}", place.model).into());
        }
        Ok(Arranged {
            arguments,
            environment: Vec::new(),
            input: prompt.whole(),
            reading: Reading::Lines(judge),
            streams: true,
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }

    fn billed_for(&self, run: &Run) -> u64 {
        output::billed_for(run)
    }
}

fn judge(line: &[u8]) -> Line {
    let is = |kind: &str| line.starts_with(format!("{{\"type\":\"{kind}\"").as_bytes());
    if is("assistant.message_delta") || is("assistant.reasoning_delta") {
        Line::Piece
    } else if is("assistant.message") || is("session.error") || is("result") {
        Line::Reply
    } else {
        Line::Before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named() {
        assert_eq!(server_names("{\n  \"mcpServers\": {}\n}\n"), Some(vec![]));
        assert_eq!(
            server_names(r#"{"mcpServers":{"own":{"command":"x"},"b":{}}}"#),
            Some(vec!["own".to_owned(), "b".to_owned()])
        );
        assert_eq!(server_names("none"), None);
    }

    #[test]
    fn pieces_are_told_from_what_they_become() {
        for (line, kind) in [
            (
                r#"{"type":"assistant.message_delta","data":{}}"#,
                Line::Piece,
            ),
            (
                r#"{"type":"assistant.message_start","data":{}}"#,
                Line::Before,
            ),
            (r#"{"type":"assistant.message","data":{}}"#, Line::Reply),
            (r#"{"type":"result"}"#, Line::Reply),
            (r#"{"type":"user.message"}"#, Line::Before),
        ] {
            assert_eq!(judge(line.as_bytes()), kind, "{line}");
        }
    }
}
