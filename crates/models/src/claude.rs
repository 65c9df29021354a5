//! Claude Code as a model: its command line in print mode.
//!
//! Two ways of signing in. With an API key the program runs "bare" with an empty configuration
//! directory. With a subscription it uses the user's own directory, which is never copied, and
//! options keep out everything in it but the sign-in: settings, hooks, CLAUDE.md, skills, tools,
//! MCP servers, session files. In both, the working directory is fresh and empty, the environment
//! is an allow-list, system messages replace the program's own instructions, and the prompt goes
//! in by standard input. A text cannot make it read a file (`@/etc/passwd`) or run one of its own
//! commands (`/compact`).

mod capability;
mod environment;
mod find;
mod output;
mod status;
mod turns;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::{BackendId, Call, Message, Role};
use skillopt_store::Clock;

use crate::api_key::ApiKey;
use crate::backend::{Asking, Backend, Checking, RawReply};
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Limits, Program, RunFault, Scratch, Sign, run, sweep_scratch};

use capability::{Capabilities, capabilities};
pub use find::find;
use turns::Turn;

/// The `kind` of this backend and its provider: one sign-in, one limit.
pub const KIND: &str = "claude";

/// The model asked for when none is configured.
const DEFAULT_MODEL: &str = "sonnet";
/// The most a run may print. Every piece of a reply comes with some 300 bytes around it.
const LARGEST_OUTPUT: usize = 32 * 1024 * 1024;
/// Scratch directories older than this are left from a crash.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// How the program signs in.
#[derive(Debug, Clone)]
pub enum SignIn {
    /// With an API key.
    Key(ApiKey),
    /// As the user of this computer has signed in.
    Subscription,
}

impl SignIn {
    /// The way that is configured: the variable named by `models.api_key_env` if it is set, else
    /// `ANTHROPIC_API_KEY` if the environment has it, else the user's own sign-in.
    ///
    /// # Errors
    /// As [`ApiKey::from_variable`].
    pub fn configured(
        api_key_env: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, Problem> {
        const USUAL: &str = "ANTHROPIC_API_KEY";
        let lookup = |name: &str| environment.get(name).cloned();
        let usual = environment
            .get(USUAL)
            .is_some_and(|key| !key.trim().is_empty());
        let variable = if api_key_env.trim().is_empty() && usual {
            USUAL
        } else {
            api_key_env
        };
        let key = ApiKey::from_variable(variable, lookup)?;
        Ok(key.map_or(Self::Subscription, Self::Key))
    }
}

/// What the backend is made from.
pub struct Options {
    /// The program, or empty to look for it.
    pub path: PathBuf,
    /// The model, or empty for `sonnet`.
    pub model: String,
    /// How it signs in.
    pub sign_in: SignIn,
    /// The environment of this process.
    pub environment: BTreeMap<String, String>,
    /// Until the first piece of a reply.
    pub first_byte: Duration,
    /// Until the whole reply.
    pub whole: Duration,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone of times of day in limit messages.
    pub zone: TimeZone,
}

/// Claude Code on this computer.
pub struct Claude {
    options: Options,
    path: PathBuf,
    model: String,
    capabilities: Capabilities,
}

impl Claude {
    /// Finds the program and asks it what it can do. Asks no model.
    ///
    /// # Errors
    /// `claude_not_found`, `claude_not_runnable`, `claude_too_old`, or `endpoint_invalid` and
    /// `endpoint_insecure` for an `ANTHROPIC_BASE_URL` that a sign-in must not be sent to.
    pub async fn new(options: Options, cancel: &CancelToken) -> Result<Self, Problem> {
        check_base_url(&options.environment)?;
        sweep_scratch(&std::env::temp_dir(), SystemTime::now(), LEFT_BEHIND);
        let path = find(&options.path, &options.environment)?;
        let launch = Launch {
            path: &path,
            options: &options,
        };
        let capabilities = capabilities(&launch, cancel).await?;
        let model = options.model.trim();
        Ok(Self {
            model: if model.is_empty() {
                DEFAULT_MODEL
            } else {
                model
            }
            .to_owned(),
            path,
            capabilities,
            options,
        })
    }

    /// The executable that was found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version, for example `2.1.332`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.capabilities.version
    }

    fn arguments(&self, system: Option<&Path>) -> Vec<OsString> {
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
        let if_known = [
            ("--include-partial-messages", true),
            ("--bare", matches!(self.options.sign_in, SignIn::Key(_))),
            (
                "--safe-mode",
                matches!(self.options.sign_in, SignIn::Subscription),
            ),
            ("--exclude-dynamic-system-prompt-sections", system.is_none()),
        ];
        for (option, wanted) in if_known {
            if wanted && self.capabilities.has(option) {
                arguments.push(option.into());
            }
        }
        if let Some(file) = system {
            arguments.extend(["--system-prompt-file".into(), file.into()]);
        }
        // In one word, so that a model's name cannot be taken for an option.
        arguments.push(format!("--model={}", self.model).into());
        arguments
    }

    fn has_system_file(&self) -> bool {
        self.capabilities.has("--system-prompt-file")
    }

    async fn converse(&self, call: &Call, cancel: &CancelToken) -> Result<RawReply, CallError> {
        let turn = match self.options.sign_in {
            SignIn::Key(_) => None,
            SignIn::Subscription => tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(CallError::Cancelled),
                turn = Turn::wait(&self.options.environment) => Some(turn),
            },
        };
        let reply = self.one_process(call, cancel).await?;
        if let Some(turn) = turn {
            turn.answered();
        }
        Ok(reply)
    }

    async fn one_process(&self, call: &Call, cancel: &CancelToken) -> Result<RawReply, CallError> {
        let scratch = |error: std::io::Error| CallError::Unavailable {
            provider: KIND.to_owned(),
            detail: format!("no temporary directory can be made ({error})"),
            sent: false,
        };
        let work = Scratch::new().map_err(scratch)?;
        let aside = Scratch::new().map_err(scratch)?;
        let (system, prompt) = prompt(&call.messages, self.has_system_file());
        let system_file = match system {
            Some(text) => {
                let file = aside.path().join("system.txt");
                write_new(&file, &text).map_err(scratch)?;
                Some(file)
            }
            None => None,
        };
        let launch = Launch {
            path: &self.path,
            options: &self.options,
        };
        let streams = self.capabilities.has("--include-partial-messages");
        let program = Program {
            path: self.path.clone(),
            arguments: self.arguments(system_file.as_deref()),
            environment: launch.environment(&aside),
            limits: Limits {
                // Without pieces the first word comes with the last.
                first_byte: if streams {
                    self.options.first_byte
                } else {
                    self.options.whole
                },
                whole: self.options.whole,
                output: LARGEST_OUTPUT,
            },
            sign: if streams {
                Sign::Line(is_of_the_model)
            } else {
                Sign::Byte
            },
        };
        let run = run(&program, &work, prompt.as_bytes(), cancel)
            .await
            .map_err(|fault| self.fault(fault))?;
        let hide = |text: &str| match &self.options.sign_in {
            SignIn::Key(key) => key.hide(text),
            SignIn::Subscription => text.to_owned(),
        };
        output::read(
            &run,
            &output::Asked {
                provider: KIND,
                version: self.version(),
                model: &self.model,
                now: self.options.clock.now(),
                zone: &self.options.zone,
                hide: &hide,
            },
        )
    }

    fn fault(&self, fault: RunFault) -> CallError {
        let unavailable = |detail: String, sent: bool| CallError::Unavailable {
            provider: KIND.to_owned(),
            detail,
            sent,
        };
        match fault {
            RunFault::NotStarted(error) => CallError::Misconfigured {
                provider: KIND.to_owned(),
                detail: format!("{} cannot be started ({error})", self.path.display()),
                guidance: "Install Claude Code again, or set models.claude_path.".to_owned(),
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
            RunFault::Cancelled => CallError::Cancelled,
        }
    }
}

impl Backend for Claude {
    fn id(&self) -> BackendId {
        BackendId {
            kind: KIND.to_owned(),
            address: self.path.display().to_string(),
            model: self.model.clone(),
            version: self.version().to_owned(),
            system_mode: if self.has_system_file() {
                "system_file"
            } else {
                "one_prompt"
            }
            .to_owned(),
        }
    }

    fn paid(&self) -> bool {
        true
    }

    fn provider(&self) -> String {
        KIND.to_owned()
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 2.1.332: some 450 tokens about the place it runs in, or some 2,700 with its
        // own instructions.
        if self.has_system_file() { 600 } else { 3_000 }
    }

    fn check<'a>(&'a self, cancel: &'a CancelToken) -> Checking<'a> {
        Box::pin(async move {
            if self.signed_in(cancel).await == Some(false) {
                return Err(CallError::SignInNeeded {
                    provider: KIND.to_owned(),
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

/// A program and how it is started.
struct Launch<'a> {
    path: &'a Path,
    options: &'a Options,
}

impl Launch<'_> {
    fn environment(&self, aside: &Scratch) -> Vec<(OsString, OsString)> {
        environment::environment(
            &self.options.environment,
            self.path,
            &self.options.sign_in,
            aside.path(),
            &aside.path().join("config"),
        )
    }
}

/// A sign-in may be sent to the address that the user has set for the program, under the same rule
/// as for any endpoint.
fn check_base_url(environment: &BTreeMap<String, String>) -> Result<(), Problem> {
    match environment.get("ANTHROPIC_BASE_URL") {
        Some(address) if !address.trim().is_empty() => {
            crate::openai_compatible::Address::parse(address)?.accept_credential()
        }
        _ => Ok(()),
    }
}

/// System text, when it can be given apart, and the prompt for standard input.
fn prompt(messages: &[Message], apart: bool) -> (Option<String>, String) {
    let mut system = String::new();
    let mut rest = String::new();
    for message in messages {
        let text = message.text.trim_end();
        match message.role {
            Role::System if apart => push_paragraph(&mut system, text),
            Role::System | Role::User => push_paragraph(&mut rest, text),
            Role::Assistant => push_paragraph(
                &mut rest,
                &format!("Your earlier reply:\n<earlier_reply>\n{text}\n</earlier_reply>"),
            ),
        }
    }
    (apart.then(|| inert(&system)), inert(&rest))
}

fn push_paragraph(text: &mut String, paragraph: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

/// The text such that the program takes none of it for itself: at its beginning `/` would name a
/// command, and after a space `@` a file to attach, tools or no tools. Newer versions are told so
/// by their environment, older ones are not to be trusted with it.
fn inert(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    if text.starts_with('/') {
        safe.push('\n');
    }
    let mut before = ' ';
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        safe.push(character);
        let names_a_file =
            character == '@' && before.is_whitespace() && begins_a_path(characters.as_str());
        if names_a_file {
            safe.push(' ');
        }
        before = character;
    }
    safe
}

/// Whether a text begins as a path outside the working directory does, or a quoted one.
fn begins_a_path(text: &str) -> bool {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some('/' | '\\' | '~' | '.' | '"' | '\''), _) => true,
        (Some(drive), Some(':')) => drive.is_alphabetic(),
        _ => false,
    }
}

/// Whether a printed line comes from the model: it is an event that is neither about the start nor
/// about limits.
fn is_of_the_model(line: &[u8]) -> bool {
    let Ok(event) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    let kind = event.get("type").and_then(Value::as_str);
    !matches!(kind, None | Some("system" | "rate_limit_event"))
}

/// Words for an exit code.
fn exit_words(code: Option<i32>) -> String {
    code.map_or_else(
        || "no exit code, ended by a signal".to_owned(),
        |code| format!("exit code {code}"),
    )
}

/// Writes a file that must not exist, in a directory of ours that is removed after the call.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message {
            role,
            text: text.into(),
        }
    }

    #[test]
    fn a_text_names_no_file_and_no_command() {
        for (text, safe) in [
            ("/compact now", "\n/compact now"),
            ("say /compact", "say /compact"),
            (
                "see @/etc/passwd and @~/.ssh/id",
                "see @ /etc/passwd and @ ~/.ssh/id",
            ),
            ("@../x\n@./y\t@\"a b\"", "@ ../x\n@ ./y\t@ \"a b\""),
            ("@C:\\x", "@ C:\\x"),
            (
                "me@example.com, @decorator, @: x",
                "me@example.com, @decorator, @: x",
            ),
            ("(@/a) x@/b", "(@/a) x@/b"),
            ("", ""),
        ] {
            assert_eq!(inert(text), safe);
        }
    }

    #[test]
    fn system_text_goes_apart_or_in_front() {
        let messages = [
            message(Role::System, "Be brief.\n"),
            message(Role::User, "Question"),
            message(Role::Assistant, "Prose"),
            message(Role::User, "JSON, please"),
        ];
        let dialogue = "Question\n\nYour earlier reply:\n<earlier_reply>\nProse\n</earlier_reply>\n\nJSON, please";
        assert_eq!(
            prompt(&messages, true),
            (Some("Be brief.".into()), dialogue.into())
        );
        assert_eq!(
            prompt(&messages, false),
            (None, format!("Be brief.\n\n{dialogue}"))
        );
        assert_eq!(
            prompt(&messages[1..2], true),
            (Some(String::new()), "Question".into()),
            "an empty file keeps the program's own instructions out"
        );
    }

    #[test]
    fn a_word_of_the_model_is_told_from_the_start() {
        for (line, of_the_model) in [
            (r#"{"type":"system","subtype":"init"}"#, false),
            (r#"{"type":"rate_limit_event"}"#, false),
            (r#"{"type":"stream_ev"#, false),
            ("a warning", false),
            (r#"{"type":"stream_event"}"#, true),
            (r#"{"type":"result"}"#, true),
        ] {
            assert_eq!(is_of_the_model(line.as_bytes()), of_the_model, "{line}");
        }
    }

    #[test]
    fn the_way_of_signing_in_follows_what_is_configured() {
        let environment = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let configured = |name: &str, pairs: &[(&str, &str)]| {
            SignIn::configured(name, &environment(pairs)).map(|way| match way {
                SignIn::Key(key) => Some(key.expose().to_owned()),
                SignIn::Subscription => None,
            })
        };
        assert_eq!(configured("", &[]), Ok(None));
        assert_eq!(configured("", &[("ANTHROPIC_API_KEY", " ")]), Ok(None));
        assert_eq!(
            configured("", &[("ANTHROPIC_API_KEY", "a")]),
            Ok(Some("a".into()))
        );
        assert_eq!(
            configured("WORK_KEY", &[("ANTHROPIC_API_KEY", "a"), ("WORK_KEY", "b")]),
            Ok(Some("b".into()))
        );
        assert_eq!(
            configured("WORK_KEY", &[("ANTHROPIC_API_KEY", "a")])
                .unwrap_err()
                .code,
            "api_key_missing"
        );
    }

    #[test]
    fn a_sign_in_goes_to_no_plain_address() {
        let with = |address: &str| {
            check_base_url(&[("ANTHROPIC_BASE_URL".to_owned(), address.to_owned())].into())
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
