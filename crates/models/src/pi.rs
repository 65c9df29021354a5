//! Pi as a model: its print mode with JSON events.
//!
//! With a key it gets an empty configuration directory and the key under the name of its variable,
//! by which it knows the provider. Else it uses the user's own directory, where options keep out
//! everything but sign-in, settings and the list of models.

mod output;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use skillopt_core::Problem;

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
pub const KIND: &str = "pi";

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "Pi",
    programs: &["pi"],
    path_setting: "models.pi_path",
    update: "Update it with `pi update self`.",
    terms: Known {
        about: "Nights start Pi by themselves and use the provider you have set up in it; the terms of that provider say what is allowed.",
        address: "https://www.npmjs.com/package/@earendil-works/pi-coding-agent",
    },
    addresses: &[],
    renewed_in: &["PI_CODING_AGENT_DIR", "HOME", "USERPROFILE"],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options that keep everything of the user's out, and sessions off the disk.
const ALONE: &[&str] = &[
    "--no-session",
    "--no-tools",
    "--no-skills",
    "--no-context-files",
    "--no-extensions",
    "--no-prompt-templates",
];

const NEEDED: &[&str] = &[
    "--print",
    "--mode",
    "--model",
    "--system-prompt",
    "--append-system-prompt",
];

/// What takes the place of system messages when there are none, so that its own do not.
const NO_SYSTEM: &str = "Answer the message.";

/// Pi on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, or `setting_invalid` for a model that it
/// would take for an option.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    environment.set_all(&[
        ("PI_OFFLINE", "1"),
        ("PI_TELEMETRY", "0"),
        ("PI_SKIP_VERSION_CHECK", "1"),
    ]);
    match &options.sign_in {
        SignIn::Key { variable, key } => {
            environment.set("PI_CODING_AGENT_DIR", aside.join("pi"));
            environment.set(variable, key.expose());
        }
        SignIn::Subscription => environment.pass(&["PI_CODING_AGENT_DIR"]),
    }
    Ok(())
}

struct Pi {
    version: String,
    themes: bool,
    thinking: bool,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    // It does not take an option and its value in one word.
    let options = launch.options;
    for (setting, value, example) in [
        (
            "models.model",
            options.model.trim(),
            "Set it to the name of a model, for example openai/gpt-5.",
        ),
        (
            "models.reasoning_effort",
            options.effort.trim(),
            "Set it to one of Pi's words, for example high.",
        ),
    ] {
        if value.starts_with('-') {
            return Err(Problem::refused(
                "setting_invalid",
                format!("{setting} is \"{value}\", which Pi would take for an option."),
                example,
            ));
        }
    }
    let version = launch.version(cancel).await?;
    // Without the second word it loads the user's extensions to say what options they add.
    let known = launch.help(&["--help", "--no-extensions"], cancel).await?;
    too_old(launch, &version, &known, &[ALONE, NEEDED].concat())?;
    Ok(Box::new(Pi {
        version,
        themes: known.contains("--no-themes"),
        thinking: known.contains("--thinking"),
    }))
}

impl Agent for Pi {
    fn version(&self) -> &str {
        &self.version
    }

    fn system_mode(&self) -> &'static str {
        "system_file"
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 0.74.2: the day and the place it runs in.
        60
    }

    fn takes_effort(&self) -> bool {
        self.thinking
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let system = match prompt.system() {
            empty if empty.trim().is_empty() => NO_SYSTEM.to_owned(),
            system => system,
        };
        let file = place.write_new("system.txt", &system)?;
        let mut arguments: Vec<OsString> = ["--print", "--mode", "json"].map(Into::into).to_vec();
        arguments.extend(ALONE.iter().map(Into::into));
        if self.themes {
            arguments.push("--no-themes".into());
        }
        // A name of a file stands for what is in it.
        arguments.extend(["--system-prompt".into(), file.into()]);
        arguments.extend(["--append-system-prompt", ""].map(OsString::from));
        if !place.effort.is_empty() {
            arguments.extend(["--thinking".into(), place.effort.into()]);
        }
        if !place.model.is_empty() {
            arguments.extend(["--model".into(), place.model.into()]);
        }
        Ok(Arranged {
            arguments,
            environment: Vec::new(),
            input: prompt.dialogue(),
            reading: Reading::Lines(judge),
            streams: true,
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }
}

/// Every piece of a reply comes with everything before it, twice. What matters is in its end.
fn judge(line: &[u8]) -> Line {
    let is = |kind: &str| line.starts_with(format!("{{\"type\":\"{kind}\"").as_bytes());
    if is("message_update") {
        Line::Piece
    } else if is("turn_end") || is("agent_end") {
        Line::Reply
    } else {
        Line::Before
    }
}
