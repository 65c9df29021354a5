//! What an installed agent can do, asked once for each version of its file, by whichever process.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::text::{cut, one_line};

use super::environment::search_path;
use super::find::Found;
use super::{About, Environment, Options, exit_words, memory};
use crate::cancel::CancelToken;
use crate::process::{Limits, Program, Reading, Run, RunFault, Scratch, run};

/// How long a question about the program itself may take. A cold start from a slow disk, or without
/// a network, takes seconds.
const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(60),
    whole: Duration::from_secs(60),
    output: 4 * 1024 * 1024,
};

/// How far the definitions of options are indented at most; their descriptions are further.
const DEFINITION: usize = 8;

/// A program and how it is started.
pub(crate) struct Launch<'a> {
    pub(crate) about: &'static About,
    pub(super) found: &'a Found,
    pub(crate) options: &'a Options,
}

/// What a program has said about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Printed {
    pub(crate) output: String,
    pub(crate) complaint: String,
}

/// A program file as it was when it was asked, and the question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) path: PathBuf,
    pub(super) changed: Option<SystemTime>,
    /// Some installers give every file of every version one date; that of its making is its own.
    pub(super) created: Option<SystemTime>,
    pub(super) size: u64,
    /// A script is run by another program, which is found on this.
    pub(super) search_path: OsString,
    pub(super) arguments: Vec<String>,
}

static KNOWN: LazyLock<Mutex<HashMap<Question, Printed>>> = LazyLock::new(Mutex::default);

impl Launch<'_> {
    pub(crate) fn path(&self) -> &Path {
        &self.found.path
    }

    /// The environment of a run with `aside` as a directory of ours.
    pub(super) fn environment(&self, aside: &Path) -> io::Result<Environment<'_>> {
        let mut environment = Environment::new(&self.options.environment, self.found, aside);
        (self.about.prepare)(self.options, aside, &mut environment)?;
        Ok(environment)
    }

    /// Asks the program about itself, in an environment like that of a call.
    ///
    /// # Errors
    /// As [`run`].
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        cancel: &CancelToken,
    ) -> Result<Run, RunFault> {
        self.run_with(arguments, &[], cancel).await
    }

    async fn run_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        cancel: &CancelToken,
    ) -> Result<Run, RunFault> {
        let work = Scratch::new().map_err(RunFault::NoScratch)?;
        let aside = Scratch::new().map_err(RunFault::NoScratch)?;
        let mut environment = self
            .environment(aside.path())
            .map_err(RunFault::NoScratch)?;
        environment.set("PWD", work.path());
        environment.set_all(variables);
        let program = Program {
            path: self.found.path.clone(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: environment.into_variables(),
            limits: LIMITS,
            reading: Reading::Bytes,
        };
        run(&program, &work, b"", cancel.cancelled()).await
    }

    /// The same, with more variables, when anything but success is a fault of the installation.
    ///
    /// # Errors
    /// `agent_not_runnable`.
    pub(crate) async fn ask(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        cancel: &CancelToken,
    ) -> Result<Printed, Problem> {
        let question = arguments.join(" ");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let why = match self.run_with(arguments, variables, cancel).await {
            Ok(run) if run.code == Some(0) => {
                return Ok(Printed {
                    output: text(&run.output),
                    complaint: text(&run.diagnostics),
                });
            }
            Ok(run) => {
                let said = if run.diagnostics.is_empty() {
                    &run.output
                } else {
                    &run.diagnostics
                };
                format!(
                    "{question} ended with {}: {}",
                    exit_words(run.code),
                    shown(&self.options.sign_in.hide(&text(said)))
                )
            }
            Err(RunFault::NotStarted(error)) => format!("it cannot be started ({error})"),
            Err(RunFault::NoScratch(error) | RunFault::Lost(error)) => error.to_string(),
            Err(RunFault::TimedOut { after, .. }) => {
                format!("{question} did not answer within {} s", after.as_secs())
            }
            Err(RunFault::TooMuchOutput | RunFault::TooManyRounds) => {
                format!("{question} printed without end")
            }
            Err(RunFault::Cancelled) => "it was stopped".to_owned(),
        };
        Err(self.not_runnable(&why))
    }

    /// [`ask`](Self::ask), from the memory of this process or an earlier one when the same file was asked the same before. For what
    /// depends on the version alone.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub(crate) async fn ask_once(
        &self,
        arguments: &[&str],
        cancel: &CancelToken,
    ) -> Result<Printed, Problem> {
        let question = self.question(arguments);
        let known = KNOWN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&question)
            .cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let folder = self.options.memory.as_deref();
        let printed = match memory::recall(folder, &question) {
            Some(printed) => printed,
            None => {
                let printed = self.ask(arguments, &[], cancel).await?;
                memory::keep(folder, &question, &printed);
                printed
            }
        };
        KNOWN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(question, printed.clone());
        Ok(printed)
    }

    /// The version that the program says with `--version`.
    ///
    /// # Errors
    /// `agent_not_runnable` when it cannot be started or says none.
    pub(crate) async fn version(&self, cancel: &CancelToken) -> Result<String, Problem> {
        let printed = self.ask_once(&["--version"], cancel).await?;
        // Pi says it on standard error.
        version_in(&printed.output)
            .or_else(|| version_in(&printed.complaint))
            .ok_or_else(|| {
                self.not_runnable(&format!(
                    "it does not say its version but: {}",
                    shown(&printed.output)
                ))
            })
    }

    /// The options in the help text that `arguments` print.
    ///
    /// # Errors
    /// `agent_not_runnable`.
    pub(crate) async fn help(
        &self,
        arguments: &[&str],
        cancel: &CancelToken,
    ) -> Result<BTreeSet<String>, Problem> {
        let printed = self.ask_once(arguments, cancel).await?;
        let mut options = options_in(&printed.output);
        options.extend(options_in(&printed.complaint));
        Ok(options)
    }

    fn question(&self, arguments: &[&str]) -> Question {
        // What a link leads to changes with an update, the link itself does not.
        let path = &self.found.path;
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let metadata = path.metadata().ok();
        Question {
            changed: metadata.as_ref().and_then(|data| data.modified().ok()),
            created: metadata.as_ref().and_then(|data| data.created().ok()),
            size: metadata.map_or(0, |data| data.len()),
            search_path: search_path(&self.options.environment, self.found),
            path,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    pub(crate) fn not_runnable(&self, why: &str) -> Problem {
        Problem::permanent(
            "agent_not_runnable",
            format!(
                "{} at {} cannot be used: {why}.",
                self.about.title,
                self.found.path.display()
            ),
            "Run it once in a terminal to see what it says; a version installed with npm also needs Node.",
        )
    }

    /// That something of the user's would take part in every call.
    pub(crate) fn not_alone(&self, what: &str, guidance: String) -> Problem {
        Problem::permanent(
            "agent_not_alone",
            format!(
                "{} at {} would be used with {what}, although it was started without.",
                self.about.title,
                self.found.path.display()
            ),
            guidance,
        )
    }
}

/// An error when the program does not know one of `needed`: options without which the user's own
/// instructions, settings, hooks, skills, tools, MCP servers or session files would take part.
///
/// # Errors
/// `agent_too_old`.
pub(crate) fn too_old(
    launch: &Launch<'_>,
    version: &str,
    known: &BTreeSet<String>,
    needed: &[&str],
) -> Result<(), Problem> {
    let missing: Vec<&str> = needed
        .iter()
        .copied()
        .filter(|option| !known.contains(*option))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Problem::permanent(
        "agent_too_old",
        format!(
            "{} {version} at {} does not know {}; without {}, your own instructions, skills, tools or hooks would take part.",
            launch.about.title,
            launch.path().display(),
            missing.join(", "),
            if missing.len() == 1 { "it" } else { "them" },
        ),
        format!(
            "{} Or set {} to a newer one.",
            launch.about.update, launch.about.path_setting
        ),
    ))
}

/// The first word of the first line that is a version: `2.1.332 (Claude Code)`, `codex-cli 0.171.0`,
/// `GitHub Copilot CLI 1.0.102.`
pub(super) fn version_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    line.split_whitespace()
        .map(|word| word.trim_start_matches('v').trim_end_matches(['.', ',']))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'))
        .map(|word| cut(word, 60))
}

/// The long options that a help text defines. One that is only mentioned in the text of another is
/// none.
pub(super) fn options_in(help: &str) -> BTreeSet<String> {
    let mut options = BTreeSet::new();
    for line in help.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.starts_with('-') && indent <= DEFINITION {
            let names = text.split("  ").next().unwrap_or_default();
            options.extend(
                names
                    .split([' ', ',', '|', '='])
                    .filter(|word| word.starts_with("--"))
                    .map(str::to_owned),
            );
        }
    }
    options
}

fn shown(text: &str) -> String {
    let line: String = one_line(text).chars().filter(|c| !c.is_control()).collect();
    cut(line.trim_end_matches('.'), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_their_definitions() {
        // Shortened from `claude --help` of 2.1.332, `codex exec --help` of 0.171.0 and
        // `opencode run --help` of 1.18.33.
        let help = "\
Options:
  --allowedTools, --allowed-tools <tools...>
      Comma or space-separated list (e.g. \"Bash(git *) Edit\")
  --bare                                Minimal mode. Explicitly provide context
                                        via: --system-prompt[-file],
                                        --add-dir (CLAUDE.md dirs), --mcp-config
  -p, --print                           Print response and exit
  --tools <tools...>                    Built-in tools: \"\" for none (see --other)
  -c, --config <key=value>
      --pure         run without external plugins                    [boolean]
";
        let read = options_in(help);
        let known = [
            "--allowed-tools",
            "--allowedTools",
            "--bare",
            "--config",
            "--print",
            "--pure",
            "--tools",
        ];
        assert_eq!(read.iter().map(String::as_str).collect::<Vec<_>>(), known);
    }

    #[test]
    fn a_version_is_found_where_each_agent_says_it() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n",
                Some("1.0.102"),
            ),
            ("\n1.18.33\n", Some("1.18.33")),
            ("v22.23.5", Some("22.23.5")),
            ("2025.09.18-7ae6800", Some("2025.09.18-7ae6800")),
            ("node: command not found", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}
