//! Cursor's command line as a model: print mode with JSON events.
//!
//! Written from its documentation and the reference: no version of it could be tried. It gets a
//! configuration directory of ours, whose permissions deny everything, in its mode for questions; the
//! sign-in of its user lies elsewhere, in the keyring or in a file of its own.

mod output;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use skillopt_core::Problem;

use crate::agent_cli::{
    About, Agent, AgentCli, Arranged, Asked, Environment, KEYRING, Launch, Options, Place, Prompt,
    SignIn, too_old, write_new,
};
use crate::backend::RawReply;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Reading, Run};
use crate::terms::Known;

/// The `kind` of this backend and its provider: one sign-in, one limit.
pub const KIND: &str = "cursor";

/// Variables that usually hold a key for it.
pub const USUAL_KEYS: &[&str] = &["CURSOR_API_KEY"];

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "Cursor CLI",
    programs: &["cursor-agent"],
    path_setting: "models.cursor_path",
    update: "Update it with `cursor-agent update`.",
    terms: Known {
        about: "Nights start Cursor's agent by themselves and use up your plan; Cursor's terms of service say what is allowed.",
        address: "https://cursor.com/terms-of-service",
    },
    addresses: &[],
    renewed_in: &["XDG_CONFIG_HOME", "HOME", "USERPROFILE"],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options without which it would act, or ask for trust.
const NEEDED: &[&str] = &["--print", "--output-format", "--mode", "--model"];

/// Nothing is allowed.
const PERMISSIONS: &str = r#"{"version":1,"editor":{"vimMode":false},"approvalMode":"allowlist","permissions":{"allow":[],"deny":["Shell(*)","Read(**)","Write(**)","WebFetch(*)","Mcp(*:*)"]},"attribution":{"attributeCommitsToAgent":false,"attributePRsToAgent":false}}"#;

/// Cursor's command line on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    let folder = aside.join("cursor");
    std::fs::create_dir(&folder)?;
    write_new(&folder.join("cli-config.json"), PERMISSIONS)?;
    environment.set("CURSOR_CONFIG_DIR", &folder);
    environment.set("CURSOR_DATA_DIR", &folder);
    match &options.sign_in {
        SignIn::Key { key, .. } => environment.set("CURSOR_API_KEY", key.expose()),
        SignIn::Subscription => {
            environment.pass(&["XDG_CONFIG_HOME", "XDG_DATA_HOME"]);
            environment.pass(KEYRING);
        }
    }
    Ok(())
}

struct Cursor {
    version: String,
    trust: bool,
    pieces: bool,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    let version = launch.version(cancel).await?;
    let known = launch.help(&["--help"], cancel).await?;
    too_old(launch, &version, &known, NEEDED)?;
    Ok(Box::new(Cursor {
        version,
        trust: known.contains("--trust"),
        pieces: known.contains("--stream-partial-output"),
    }))
}

impl Agent for Cursor {
    fn version(&self) -> &str {
        &self.version
    }

    fn system_mode(&self) -> &'static str {
        "one_prompt"
    }

    fn overhead_tokens(&self) -> u64 {
        // Its own instructions and tools, which it does not count for us. A guess from its kind.
        8_000
    }

    fn takes_effort(&self) -> bool {
        // It is a part of the names of its models.
        false
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let mut arguments: Vec<OsString> = ["--print", "--output-format=stream-json", "--mode=ask"]
            .map(OsString::from)
            .to_vec();
        if self.trust {
            arguments.push("--trust".into());
        }
        if self.pieces {
            arguments.push("--stream-partial-output".into());
        }
        if !place.model.is_empty() {
            arguments.push(format!("--model={}", place.model).into());
        }
        Ok(Arranged {
            arguments,
            environment: Vec::new(),
            input: prompt.whole(),
            reading: Reading::Lines(output::judge),
            streams: self.pieces,
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }
}
