//! OpenCode as a model: `opencode run` with JSON events.
//!
//! It looks for instructions, agents, plugins and skills in many places of the home and
//! configuration directories, so it gets empty ones of ours; its sessions go into a database of
//! ours. With the user's sign-in it keeps the data directory, where that lies, and of the user's
//! configuration the providers and the model, nothing else. What it has resolved from all that is
//! checked before the first call.

mod config;
mod output;
mod tools;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::tool::{MOST_ROUNDS, Tool};

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
pub const KIND: &str = "opencode";

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "OpenCode",
    programs: &["opencode"],
    path_setting: "models.opencode_path",
    update: "Update it with `opencode upgrade`.",
    terms: Known {
        about: "Nights start OpenCode by themselves and use the provider you have set up in it; the terms of that provider say what is allowed.",
        address: "https://opencode.ai/docs/providers/",
    },
    addresses: &[],
    renewed_in: &["XDG_DATA_HOME", "HOME", "USERPROFILE"],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options without which plugins or another agent of the user's would take part.
const NEEDED: &[&str] = &[
    "--pure",
    "--format",
    "--agent",
    "--model",
    "--title",
    "--print-logs",
    "--log-level",
];

/// Set for every call: nothing of the user's, no tools, no updates.
const SET: &[(&str, &str)] = &[
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
    ("OPENCODE_DISABLE_SHARE", "1"),
    ("OPENCODE_PERMISSION", r#"{"*":"deny"}"#),
    ("OPENCODE_PURE", "1"),
];

/// OpenCode on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, `agent_not_alone`.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    environment.set_all(SET);
    environment.set("OPENCODE_DB", aside.join("opencode.db"));
    let home = aside.join("home");
    std::fs::create_dir(&home)?;
    environment.set("XDG_CONFIG_HOME", home.join("config"));
    environment.set("XDG_STATE_HOME", home.join("state"));
    let users = |environment: &Environment<'_>, variable: &str, below: &str| {
        let named = environment.own(variable).map(PathBuf::from);
        named.or_else(|| environment.home().map(|home| home.join(below)))
    };
    // Models and parts that were fetched before; nothing in it is the user's.
    if let Some(cache) = users(environment, "XDG_CACHE_HOME", ".cache") {
        environment.set("XDG_CACHE_HOME", cache);
    }
    match &options.sign_in {
        SignIn::Key { variable, key } => {
            environment.set("XDG_DATA_HOME", home.join("data"));
            environment.set(variable, key.expose());
        }
        SignIn::Subscription => {
            if let Some(data) = users(environment, "XDG_DATA_HOME", ".local/share") {
                environment.set("XDG_DATA_HOME", data);
            }
            let variables = config::of_user(&options.environment).variables;
            let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
            environment.pass(&variables);
        }
    }
    environment.set("OPENCODE_CONFIG_CONTENT", content(options, None, &[]));
    // Last: what was looked up above is the user's.
    environment.set("HOME", &home);
    environment.set("USERPROFILE", &home);
    Ok(())
}

/// The configuration, with `system` as the file of our agent's instructions, and its tools.
fn content(options: &Options, system: Option<&Path>, tools: &[Tool]) -> String {
    let users = match &options.sign_in {
        SignIn::Key { .. } => config::Users::default(),
        SignIn::Subscription => config::of_user(&options.environment),
    };
    users
        .with_ours(system, options.temperature, tools)
        .to_string()
}

struct OpenCode {
    version: String,
    variants: bool,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    let version = launch.version(cancel).await?;
    let known = launch.help(&["run", "--help"], cancel).await?;
    too_old(launch, &version, &known, NEEDED)?;
    let resolved = launch
        .ask(&["debug", "config", "--pure"], &[], cancel)
        .await?;
    let Ok(resolved) = serde_json::from_str::<Value>(&resolved.output) else {
        return Err(launch.not_runnable("it does not say what it is configured with"));
    };
    if let Some(kept) = config::kept(&resolved) {
        return Err(launch.not_alone(
            &kept,
            "It comes from a configuration for the whole computer; remove it there, or use another backend.".to_owned(),
        ));
    }
    Ok(Box::new(OpenCode {
        version,
        variants: known.contains("--variant"),
    }))
}

impl Agent for OpenCode {
    fn version(&self) -> &str {
        &self.version
    }

    fn system_mode(&self) -> &'static str {
        "system_file"
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 1.18.33: the model, the day and the place it runs in.
        120
    }

    fn takes_effort(&self) -> bool {
        self.variants
    }

    fn takes_temperature(&self) -> bool {
        true
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let system = place.write_new("system.txt", &prompt.system())?;
        let mut arguments: Vec<OsString> = [
            "run",
            "--pure",
            "--format=json",
            "--title=skillopt",
            // Its events call some failures unknown; its log does not.
            "--print-logs",
            "--log-level=ERROR",
        ]
        .map(OsString::from)
        .to_vec();
        arguments.push(format!("--agent={}", config::AGENT).into());
        if !place.effort.is_empty() {
            arguments.push(format!("--variant={}", place.effort).into());
        }
        if !place.model.is_empty() {
            arguments.push(format!("--model={}", place.model).into());
        }
        let mut environment = vec![(
            "OPENCODE_CONFIG_CONTENT".into(),
            content(place.options, Some(&system), place.tools).into(),
        )];
        if !place.tools.is_empty() {
            let home = place.aside.join("with-tools");
            tools::write(&home, &self.version, place.tools)?;
            let permission = tools::permission(place.tools).to_string();
            environment.push(("XDG_CONFIG_HOME".into(), home.into()));
            environment.push(("OPENCODE_PERMISSION".into(), permission.into()));
        }
        Ok(Arranged {
            arguments,
            environment,
            input: prompt.dialogue(),
            reading: if place.tools.is_empty() {
                Reading::Lines(|_| Line::Before)
            } else {
                Reading::Rounds {
                    ends: tools::ends_a_round,
                    most: MOST_ROUNDS,
                }
            },
            streams: false,
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }
}
