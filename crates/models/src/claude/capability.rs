//! What an installed `claude` can do, asked once for each version of the file.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use skillopt_core::Problem;
use skillopt_core::text::{cut, one_line};

use super::Launch;
use crate::cancel::CancelToken;
use crate::process::{Limits, Program, Run, RunFault, Scratch, Sign, run};

/// How long `--version` and `--help` may take. A cold start from a slow disk takes seconds.
const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(60),
    whole: Duration::from_secs(60),
    output: 1024 * 1024,
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

/// The version of a `claude` and the options that it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// For example `2.1.332`.
    pub(super) version: String,
    options: BTreeSet<String>,
}

impl Capabilities {
    pub(super) fn has(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    /// Reads what `--version` and `--help` have printed.
    fn read(version: &str, help: &str) -> Option<Self> {
        let version = version.split_whitespace().next()?;
        if !version.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let mut options = BTreeSet::new();
        for line in help.lines() {
            let line = line.trim_start();
            // The definition of an option, not a mention in the text of another.
            if line.starts_with('-') {
                let names = line.split("  ").next().unwrap_or_default();
                options.extend(
                    names
                        .split([' ', ',', '|', '='])
                        .filter(|word| word.starts_with("--"))
                        .map(str::to_owned),
                );
            }
        }
        // Known, but only mentioned: `--system-prompt[-file]`.
        if help.contains("--system-prompt[-file]") || help.contains("--system-prompt-file") {
            options.insert("--system-prompt-file".to_owned());
        }
        Some(Self {
            version: version.to_owned(),
            options,
        })
    }

    fn missing(&self) -> Vec<&'static str> {
        NEEDED
            .iter()
            .copied()
            .filter(|option| !self.has(option))
            .collect()
    }
}

/// A program file as it was when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Identity {
    path: PathBuf,
    changed: Option<SystemTime>,
    size: u64,
}

static KNOWN: LazyLock<Mutex<HashMap<Identity, Capabilities>>> = LazyLock::new(Mutex::default);

/// Asks the program for its version and its options; from memory when the same file was asked
/// before.
///
/// # Errors
/// `claude_not_runnable` when it cannot be started or does not say its version, `claude_too_old`
/// when it lacks an option that is needed.
pub(super) async fn capabilities(
    launch: &Launch<'_>,
    cancel: &CancelToken,
) -> Result<Capabilities, Problem> {
    let identity = identity(launch.path);
    let known = KNOWN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&identity)
        .cloned();
    let capabilities = match known {
        Some(known) => known,
        None => {
            let version = ask(launch, "--version", cancel).await?;
            let help = ask(launch, "--help", cancel).await?;
            let asked = Capabilities::read(&version, &help).ok_or_else(|| {
                not_runnable(
                    launch.path,
                    &format!("it does not say its version but: {}", shown(&version)),
                )
            })?;
            KNOWN
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(identity, asked.clone());
            asked
        }
    };
    let missing = capabilities.missing();
    if missing.is_empty() {
        return Ok(capabilities);
    }
    Err(Problem::permanent(
        "claude_too_old",
        format!(
            "Claude Code {} at {} does not know {}; without {}, your own instructions, skills, tools or hooks would take part.",
            capabilities.version,
            launch.path.display(),
            missing.join(", "),
            if missing.len() == 1 { "it" } else { "them" },
        ),
        "Update it with `claude update`, or set models.claude_path to a newer one.",
    ))
}

fn identity(path: &Path) -> Identity {
    // What a link leads to changes with an update, the link itself does not.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let metadata = path.metadata().ok();
    Identity {
        changed: metadata.as_ref().and_then(|data| data.modified().ok()),
        size: metadata.map_or(0, |data| data.len()),
        path,
    }
}

async fn ask(launch: &Launch<'_>, option: &str, cancel: &CancelToken) -> Result<String, Problem> {
    let no_scratch = |_| not_runnable(launch.path, "no temporary directory can be made");
    let work = Scratch::new().map_err(no_scratch)?;
    let aside = Scratch::new().map_err(no_scratch)?;
    let program = Program {
        path: launch.path.to_owned(),
        arguments: vec![option.into()],
        environment: launch.environment(&aside),
        limits: LIMITS,
        sign: Sign::Byte,
    };
    let why = match run(&program, &work, b"", cancel).await {
        Ok(Run {
            code: Some(0),
            output,
            ..
        }) => return Ok(String::from_utf8_lossy(&output).into_owned()),
        Ok(Run {
            code,
            output,
            diagnostics,
        }) => {
            let said = if diagnostics.is_empty() {
                output
            } else {
                diagnostics
            };
            format!(
                "{option} ended with {}: {}",
                super::exit_words(code),
                shown(&String::from_utf8_lossy(&said))
            )
        }
        Err(RunFault::NotStarted(error)) => format!("it cannot be started ({error})"),
        Err(RunFault::NoScratch(error) | RunFault::Lost(error)) => error.to_string(),
        Err(RunFault::TimedOut { after, .. }) => {
            format!("{option} did not answer within {} s", after.as_secs())
        }
        Err(RunFault::TooMuchOutput) => format!("{option} printed without end"),
        Err(RunFault::Cancelled) => "it was stopped".to_owned(),
    };
    Err(not_runnable(launch.path, &why))
}

fn not_runnable(path: &Path, why: &str) -> Problem {
    Problem::permanent(
        "claude_not_runnable",
        format!("Claude Code at {} cannot be used: {why}.", path.display()),
        "Run it once in a terminal to see what it says; a version installed with npm also needs Node.",
    )
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
        // Shortened from `claude --help` of 2.1.332.
        let help = "\
Options:
  --allowedTools, --allowed-tools <tools...>
      Comma or space-separated list (e.g. \"Bash(git *) Edit\")
  --bare                                Minimal mode. Explicitly provide context
                                        via: --system-prompt[-file],
                                        --add-dir (CLAUDE.md dirs), --mcp-config
  -p, --print                           Print response and exit
  --tools <tools...>                    Built-in tools: \"\" for none (see --other)
";
        let read = Capabilities::read("2.1.332 (Claude Code)\n", help).unwrap();
        assert_eq!(read.version, "2.1.332");
        for known in [
            "--allowedTools",
            "--allowed-tools",
            "--bare",
            "--print",
            "--tools",
            "--system-prompt-file",
        ] {
            assert!(read.has(known), "{known}");
        }
        for unknown in ["--other", "--model"] {
            assert!(!read.has(unknown), "{unknown}");
        }
        assert_eq!(read.missing()[..2], ["--output-format", "--verbose"]);
        assert_eq!(Capabilities::read("node: command not found", help), None);
        assert_eq!(Capabilities::read("", help), None);
    }
}
