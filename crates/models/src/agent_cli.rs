//! Command-line agents as models: what is the same for all of them.
//!
//! A user who pays for an agent has a model already. Here its program is used for nothing but that
//! model: one question in, one answer out.
//!
//! * It is found although schedulers start us with a bare `PATH`, and asked once for its version and
//!   what it can do.
//! * It signs in with an API key and an empty configuration directory, or as its user has, with the
//!   user's own sign-in, which is never copied.
//! * It works in a fresh, empty directory with an environment that is an allow-list, without the
//!   user's instructions, skills, hooks, tools and MCP servers, and without keeping a session. What
//!   it has resolved is checked before the first call where it can tell; what it says about tools in
//!   a reply is checked after each.
//! * The prompt goes in by standard input. Texts in it name no file and no command.
//! * Whatever is not a reply of the model is a [`CallError`].
//!
//! What is particular to one agent is an `Agent`, one file each: `claude`, `codex`, `opencode`,
//! `copilot`, `pi`, `cursor`.

mod environment;
pub(crate) mod events;
pub(crate) mod failure;
mod find;
mod memory;
mod places;
mod probe;
mod prompt;
mod sign_in;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use skillopt_core::Problem;
use skillopt_core::call::{BackendId, Call};
use skillopt_core::tool::{MOST_ROUNDS, Tool};
use skillopt_store::Clock;

use crate::allowance::Allowance;
use crate::backend::{Asking, Backend, Checking, RawReply};
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Limits, Program, Reading, Run, RunFault, Scratch, run, sweep_scratch};
use crate::terms::{Known, Terms};

pub(crate) use environment::{Environment, KEYRING};
pub(crate) use failure::Asked;
pub(crate) use probe::{Launch, too_old};
pub(crate) use prompt::Prompt;
pub use sign_in::SignIn;

/// The most of a run's output that is kept. Every piece of a reply comes with some 300 bytes around
/// it.
const LARGEST_OUTPUT: usize = 32 * 1024 * 1024;
/// Scratch directories older than this are left from a crash.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// What a command-line agent is used with.
pub struct Options {
    /// The program, or empty to look for it.
    pub path: PathBuf,
    /// The model, or empty for the agent's own choice.
    pub model: String,
    /// How hard the model thinks, in a word of its maker; empty for its own choice.
    pub effort: String,
    /// How freely it writes; `None` for its own choice.
    pub temperature: Option<f64>,
    /// How it signs in.
    pub sign_in: SignIn,
    /// The environment of this process.
    pub environment: BTreeMap<String, String>,
    /// Where what the program says about itself is kept for other processes; `None` for nowhere.
    pub memory: Option<PathBuf>,
    /// Until the first piece of a reply.
    pub first_byte: Duration,
    /// Until the whole reply.
    pub whole: Duration,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone of times of day in limit messages.
    pub zone: TimeZone,
}

/// An agent that has been asked what it can do.
pub(crate) type Meeting<'a> =
    Pin<Box<dyn Future<Output = Result<Box<dyn Agent>, Problem>> + Send + 'a>>;

/// What is known of an agent before its program is found.
pub(crate) struct About {
    /// The word in the settings, and the provider: one sign-in, one limit.
    pub(crate) kind: &'static str,
    /// Its name, for people.
    pub(crate) title: &'static str,
    /// Its program, the most usual name first, without `.exe`.
    pub(crate) programs: &'static [&'static str],
    /// The setting that pins the program.
    pub(crate) path_setting: &'static str,
    /// How it is updated, one sentence.
    pub(crate) update: &'static str,
    /// What nights do with it and who decides about that.
    pub(crate) terms: Known,
    /// Variables with an address that a sign-in is sent to.
    pub(crate) addresses: &'static [&'static str],
    /// Where the user's sign-in lies: variables, the first that is set. It is one queue for calls
    /// that may have to renew it; empty when it needs no renewal.
    pub(crate) renewed_in: &'static [&'static str],
    /// Adds what it needs to the environment of every run, and puts what it needs into a directory of
    /// ours, the path.
    pub(crate) prepare: fn(&Options, &Path, &mut Environment<'_>) -> io::Result<()>,
    /// Asks the program what it can do, and whether anything of the user's would take part.
    pub(crate) meet: for<'a> fn(&'a Launch<'a>, &'a CancelToken) -> Meeting<'a>,
}

/// One run for one call.
pub(crate) struct Arranged {
    /// Everything after the program. Neither prompts nor secrets: every user can read them.
    pub(crate) arguments: Vec<OsString>,
    /// Variables besides those of [`environment`].
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What goes in by standard input.
    pub(crate) input: String,
    /// How the output is read.
    pub(crate) reading: Reading,
    /// Whether a reply comes in pieces. Else its first word comes with its last.
    pub(crate) streams: bool,
}

/// Where and for whom a run is arranged.
pub(crate) struct Place<'a> {
    pub(crate) options: &'a Options,
    /// The model, or empty for the agent's own choice.
    pub(crate) model: &'a str,
    /// How hard it thinks, or empty for its own choice.
    pub(crate) effort: &'a str,
    /// A directory of ours beside the empty one that it works in; removed after the call.
    pub(crate) aside: &'a Path,
    /// The tools that are offered; none for an agent that takes none.
    pub(crate) tools: &'a [Tool],
}

impl Place<'_> {
    /// Writes a file of ours beside the working directory.
    pub(crate) fn write_new(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.aside.join(name);
        write_new(&path, text)?;
        Ok(path)
    }
}

/// Writes a file that must not exist, in a directory of ours that is removed after the call.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?
        .write_all(text.as_bytes())
}

/// What is particular to one command-line agent.
pub(crate) trait Agent: Send + Sync {
    /// Its version, for example `2.1.332`.
    fn version(&self) -> &str;

    /// The model when none is configured; empty when that is the agent's own choice.
    fn usual_model(&self) -> &str {
        ""
    }

    /// How system messages reach the model: `system_file` when apart, else `one_prompt`.
    fn system_mode(&self) -> &'static str;

    /// Tokens that it adds to every call.
    fn overhead_tokens(&self) -> u64;

    /// Whether it can be told how hard to think.
    fn takes_effort(&self) -> bool;

    /// Whether it can be told how freely to write.
    fn takes_temperature(&self) -> bool {
        false
    }

    /// Whether it can be given tools that are ours, and only those. It gives their results itself.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Whether it says how much of the plan is left, with its replies or in the user's sessions.
    fn tells_allowance(&self) -> bool {
        false
    }

    /// What is left by the user's own sessions, for an agent whose replies do not say it.
    fn allowance_of_sessions(&self, _options: &Options) -> Option<Allowance> {
        None
    }

    /// Arranges a run.
    ///
    /// # Errors
    /// When a file of ours cannot be written.
    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged>;

    /// What a run says.
    ///
    /// # Errors
    /// Everything that is not a reply of the model.
    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError>;

    /// Thousandths of requests that a run says it was billed for apart from tokens.
    fn billed_for(&self, _run: &Run) -> u64 {
        0
    }

    /// Arguments that ask whether somebody is signed in; `None` when it cannot tell for free.
    fn sign_in_question(&self, _sign_in: &SignIn) -> Option<&'static [&'static str]> {
        None
    }

    /// The answer to that question; `None` when there is none in it.
    fn signed_in(&self, _run: &Run) -> Option<bool> {
        None
    }
}

/// A command-line agent on this computer.
pub struct AgentCli {
    about: &'static About,
    agent: Box<dyn Agent>,
    options: Options,
    found: find::Found,
    model: String,
    /// What failed tries were billed apart from tokens and nobody has counted yet, by the key of their
    /// call.
    billed: Mutex<HashMap<String, u64>>,
}

impl AgentCli {
    /// Finds the program and asks it what it can do. Asks no model.
    ///
    /// # Errors
    /// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, `agent_not_alone`, or
    /// `endpoint_invalid` and `endpoint_insecure` for an address in the environment that a sign-in
    /// must not be sent to.
    pub(crate) async fn open(
        about: &'static About,
        options: Options,
        cancel: &CancelToken,
    ) -> Result<Self, Problem> {
        check_addresses(about, &options.environment)?;
        sweep_scratch(&std::env::temp_dir(), SystemTime::now(), LEFT_BEHIND);
        let found = find::find(about, &options, cancel).await?;
        let agent = (about.meet)(
            &Launch {
                about,
                found: &found,
                options: &options,
            },
            cancel,
        )
        .await?;
        let model = match options.model.trim() {
            "" => agent.usual_model(),
            model => model,
        }
        .to_owned();
        Ok(Self {
            about,
            agent,
            options,
            found,
            model,
            billed: Mutex::default(),
        })
    }

    /// The executable that was found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.found.path
    }

    /// Its version, for example `2.1.332`.
    #[must_use]
    pub fn version(&self) -> &str {
        self.agent.version()
    }

    fn launch(&self) -> Launch<'_> {
        Launch {
            about: self.about,
            found: &self.found,
            options: &self.options,
        }
    }

    /// Asks the program whether somebody is signed in, as seen from where we run: schedulers often
    /// cannot reach what a terminal can. Free: it asks no model. `None` when it cannot tell; a key
    /// shows its worth only in a call.
    pub async fn signed_in(&self, cancel: &CancelToken) -> Option<bool> {
        let question = self.agent.sign_in_question(&self.options.sign_in)?;
        let run = self.launch().run(question, cancel).await.ok()?;
        self.agent.signed_in(&run)
    }

    /// What it is told of how hard to think; empty when nothing.
    fn effort(&self) -> &str {
        let wanted = self.options.effort.trim();
        if self.agent.takes_effort() {
            wanted
        } else {
            ""
        }
    }

    async fn converse(&self, call: &Call, cancel: &CancelToken) -> Result<RawReply, CallError> {
        let scratch = |error: io::Error| CallError::Unavailable {
            provider: self.about.kind.to_owned(),
            detail: format!("no temporary directory can be made ({error})"),
            sent: false,
        };
        let work = Scratch::new().map_err(scratch)?;
        let aside = Scratch::new().map_err(scratch)?;
        let prompt = Prompt::of(&call.messages);
        let place = Place {
            options: &self.options,
            model: &self.model,
            effort: self.effort(),
            aside: aside.path(),
            tools: call.tools(),
        };
        let arranged = self.agent.arrange(&place, &prompt).map_err(scratch)?;
        let launch = self.launch();
        let mut environment = launch.environment(aside.path()).map_err(scratch)?;
        for (name, value) in arranged.environment {
            environment.set(name, value);
        }
        // Some look there instead of asking the system where they are.
        environment.set("PWD", work.path());
        let program = Program {
            path: self.found.path.clone(),
            arguments: arranged.arguments,
            environment: environment.into_variables(),
            limits: Limits {
                first_byte: if arranged.streams {
                    self.options.first_byte
                } else {
                    self.options.whole
                },
                whole: self.options.whole,
                output: LARGEST_OUTPUT,
            },
            reading: arranged.reading,
        };
        let run = run(&program, &work, arranged.input.as_bytes(), cancel.dropped())
            .await
            .map_err(|fault| self.fault(fault))?;
        let read = self.agent.read(
            &run,
            &Asked {
                about: self.about,
                version: self.version(),
                model: &self.model,
                now: self.options.clock.now(),
                zone: &self.options.zone,
                sign_in: &self.options.sign_in,
                tools: call.tools(),
            },
        );
        let reply = read.inspect_err(|_| self.note_billed(call, &run))?;
        // A key has no plan.
        let allowance = reply.allowance.or_else(|| match self.options.sign_in {
            SignIn::Subscription => self.agent.allowance_of_sessions(&self.options),
            SignIn::Key { .. } => None,
        });
        Ok(RawReply {
            allowance,
            text: self.options.sign_in.taken_out_of(reply.text),
            ..reply
        })
    }

    fn note_billed(&self, call: &Call, run: &Run) {
        let billed = self.agent.billed_for(run);
        if billed > 0 {
            self.billed().insert(call.key(), billed);
        }
    }

    fn billed(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.billed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, fault: RunFault) -> CallError {
        let unavailable = |detail: String, sent: bool| CallError::Unavailable {
            provider: self.about.kind.to_owned(),
            detail,
            sent,
        };
        match fault {
            RunFault::NotStarted(error) => CallError::Misconfigured {
                provider: self.about.kind.to_owned(),
                detail: format!("{} cannot be started ({error})", self.found.path.display()),
                guidance: format!(
                    "Install {} again, or set {}.",
                    self.about.title, self.about.path_setting
                ),
            },
            RunFault::NoScratch(error) => unavailable(
                format!("no temporary directory can be made ({error})"),
                false,
            ),
            RunFault::Lost(error) => unavailable(error.to_string(), true),
            RunFault::TimedOut { wait, after } => CallError::TimedOut { wait, after },
            RunFault::TooMuchOutput => CallError::Unreadable {
                reason: format!("it is longer than {} MB", LARGEST_OUTPUT / (1024 * 1024)),
            },
            RunFault::TooManyRounds => CallError::Unreadable {
                reason: format!("it goes on calling tools after {MOST_ROUNDS} rounds"),
            },
            RunFault::Cancelled => CallError::Cancelled,
        }
    }
}

impl Backend for AgentCli {
    fn id(&self) -> BackendId {
        BackendId {
            kind: self.about.kind.to_owned(),
            address: self.found.path.display().to_string(),
            model: self.model.clone(),
            version: self.version().to_owned(),
            system_mode: match self.effort() {
                "" => self.agent.system_mode().to_owned(),
                effort => format!("{} effort={effort}", self.agent.system_mode()),
            },
        }
    }

    fn unheard(&self) -> Vec<String> {
        let effort = !self.options.effort.trim().is_empty() && !self.agent.takes_effort();
        let temperature = self.options.temperature.is_some() && !self.agent.takes_temperature();
        [
            (effort, "models.reasoning_effort"),
            (temperature, "models.temperature"),
        ]
        .into_iter()
        .filter(|(unheard, _)| *unheard)
        .map(|(_, setting)| setting.to_owned())
        .collect()
    }

    fn paid(&self) -> bool {
        true
    }

    fn terms(&self) -> Option<Terms> {
        Some(self.about.terms.of(self.about.kind.to_owned()))
    }

    fn provider(&self) -> String {
        self.about.kind.to_owned()
    }

    fn overhead_tokens(&self) -> u64 {
        self.agent.overhead_tokens()
    }

    fn takes_tools(&self) -> bool {
        self.agent.takes_tools()
    }

    fn answers_tools(&self) -> bool {
        self.agent.takes_tools()
    }

    fn renews(&self) -> Option<String> {
        let renews = matches!(self.options.sign_in, SignIn::Subscription)
            && !self.about.renewed_in.is_empty();
        renews.then(|| {
            let directory = self
                .about
                .renewed_in
                .iter()
                .find_map(|name| self.options.environment.get(*name));
            format!(
                "{}:{}",
                self.about.kind,
                directory.map_or("", String::as_str)
            )
        })
    }

    fn billed_failing(&self, key: &str) -> u64 {
        self.billed().remove(key).unwrap_or(0)
    }

    fn tells_allowance(&self) -> bool {
        // A key has no plan.
        matches!(self.options.sign_in, SignIn::Subscription) && self.agent.tells_allowance()
    }

    fn check<'a>(&'a self, cancel: &'a CancelToken) -> Checking<'a> {
        Box::pin(async move {
            if self.signed_in(cancel).await == Some(false) {
                return Err(CallError::SignInNeeded {
                    provider: self.about.kind.to_owned(),
                    detail: "it is signed out".to_owned(),
                });
            }
            Ok(())
        })
    }

    fn ask<'a>(&'a self, call: &'a Call, cancel: &'a CancelToken) -> Asking<'a> {
        Box::pin(self.converse(call, cancel))
    }
}

/// A sign-in may be sent to the address that the user has set for the program, under the same rule
/// as for any endpoint.
fn check_addresses(about: &About, environment: &BTreeMap<String, String>) -> Result<(), Problem> {
    for name in about.addresses {
        match environment.get(*name) {
            Some(address) if !address.trim().is_empty() => {
                crate::http::Address::parse(address)?.accept_credential()?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Words for an exit code.
pub(crate) fn exit_words(code: Option<i32>) -> String {
    code.map_or_else(
        || "no exit code, ended by a signal".to_owned(),
        |code| format!("exit code {code}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_goes_to_no_plain_address() {
        let with = |address: &str| {
            check_addresses(
                &crate::claude::ABOUT,
                &[("ANTHROPIC_BASE_URL".to_owned(), address.to_owned())].into(),
            )
        };
        assert!(with("").is_ok());
        assert!(with("https://gateway.example.com/anthropic").is_ok());
        assert!(with("http://127.0.0.1:8931").is_ok());
        assert_eq!(
            with("http://gateway.example.com").unwrap_err().code,
            "endpoint_insecure"
        );
    }
}
