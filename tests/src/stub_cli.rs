//! A stand-in for an agent's program that behaves by script and writes down how it was called.
//!
//! It is a program of its own (`stub-agent`), since what matters is what a process does: exit
//! codes, pipes, grandchildren, signals. Its environment is scrubbed by whoever starts it, so it
//! reads its script from a file beside itself.

mod acting;
mod dialect;
mod tools;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use acting::main;
pub use dialect::Dialect;

const SCRIPT: &str = "stub.json";
const CALLS: &str = "calls.jsonl";
const GRANDCHILDREN: &str = "grandchildren";

/// What the program does when it is asked something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Mode {
    /// Answers with this text, in today's format.
    Reply {
        /// The text.
        text: String,
    },
    /// Answers like [`crate::brain::honest_reply`].
    Honest,
    /// The same, with an event before it.
    HonestWith {
        /// The event.
        event: serde_json::Value,
    },
    /// As OpenCode with files of tools in its configuration: calls these one after the other, each in
    /// a request of its own, and answers with an object: what it is `offered`, and what it was
    /// `given`.
    CallsTools {
        /// Their names.
        names: Vec<String>,
    },
    /// Proposes a rule when it is asked for edits, calls tools as above when its prompt has the rule, and
    /// answers like an honest one when it has not.
    Follows {
        /// The rule.
        rule: String,
        /// Names of the tools.
        names: Vec<String>,
    },
    /// Prints these lines and this complaint and ends with this code. What a real version prints
    /// can be put here.
    Print {
        /// Standard output.
        output: String,
        /// Standard error.
        complaint: String,
        /// Exit code.
        code: i32,
    },
    /// Says in its own form that its provider answered with an error.
    Fails {
        /// The HTTP status.
        status: u16,
        /// What the provider says to it.
        said: String,
    },
    /// Prints the first word of a reply and ends with exit code 1.
    BreaksOff,
    /// Prints nothing and waits until it is ended, deaf to being asked.
    HangSilent,
    /// Prints its start, then waits.
    HangAfterStart,
    /// Prints the first word of a reply, starts a program that holds its pipes, and waits.
    HangWithGrandchild,
    /// Answers, but leaves a program behind that holds its pipes.
    LeaveGrandchild,
    /// Prints megabytes without end, up to 200.
    Flood,
    /// Answers with bytes that are not UTF-8.
    InvalidUtf8,
    /// Asks at the terminal, and fails when there is none.
    NeedsTerminal,
    /// Answers, without having read its input.
    DeafToInput,
}

impl Mode {
    /// Answers with this text.
    #[must_use]
    pub fn reply(text: &str) -> Self {
        Self::Reply { text: text.into() }
    }

    /// Answers like [`crate::brain::honest_reply`], with an event before it.
    #[must_use]
    pub fn honest_with(event: serde_json::Value) -> Self {
        Self::HonestWith { event }
    }

    /// Prints and ends.
    #[must_use]
    pub fn print(output: &str, complaint: &str, code: i32) -> Self {
        Self::Print {
            output: output.into(),
            complaint: complaint.into(),
            code,
        }
    }

    /// Says that its provider answered with this status and these words.
    #[must_use]
    pub fn fails(status: u16, said: &str) -> Self {
        Self::Fails {
            status,
            said: said.to_owned(),
        }
    }

    /// Calls these tools, then answers.
    #[must_use]
    pub fn calls(names: &[&str]) -> Self {
        Self::CallsTools {
            names: names.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Proposes `rule`, and calls these tools where it stands.
    #[must_use]
    pub fn follows(rule: &str, names: &[&str]) -> Self {
        Self::Follows {
            rule: rule.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Prints these events and ends with `code`.
    #[must_use]
    pub fn events(events: &[serde_json::Value], code: i32) -> Self {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        Self::print(&lines, "", code)
    }

    /// Prints a result object of Claude Code with `changes`, and ends with `code`.
    ///
    /// # Panics
    /// When `changes` is not an object.
    #[must_use]
    pub fn result(changes: &serde_json::Value, code: i32) -> Self {
        let mut result = dialect::claude_result("OK.");
        for (name, value) in changes.as_object().expect("changes are an object") {
            result[name] = value.clone();
        }
        Self::events(&[Dialect::Claude.start(), vec![result]].concat(), code)
    }
}

/// How the program was called.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Called {
    /// Arguments without the program.
    pub arguments: Vec<String>,
    /// The whole environment.
    pub environment: BTreeMap<String, String>,
    /// Where it was started.
    pub directory: PathBuf,
    /// What was in there.
    pub listing: Vec<String>,
    /// Its whole standard input.
    pub input: String,
    /// The system text, when it was given in a file.
    pub system: Option<String>,
    /// What was in its configuration directory; `None` when none was named.
    pub config: Option<Vec<String>>,
    /// Where the link `auth.json` in it leads.
    pub sign_in: Option<PathBuf>,
    /// Its process id.
    pub process: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Script {
    dialect: Dialect,
    version: String,
    signed_in: bool,
    without: Vec<String>,
    servers: Vec<String>,
    modes: Vec<Mode>,
}

/// An agent's program in a directory of its own.
#[derive(Debug)]
pub struct StubCli {
    folder: tempfile::TempDir,
    dialect: Dialect,
}

impl StubCli {
    /// Puts a copy of `program` (`env!("CARGO_BIN_EXE_stub-agent")` in a test) into a fresh
    /// directory under the name of the agent's. The n-th question gets the n-th mode, the last one
    /// stands.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn install(
        dialect: Dialect,
        program: &Path,
        modes: impl IntoIterator<Item = Mode>,
    ) -> Self {
        Self::install_version(dialect, program, dialect.usual_version(), &[], modes)
    }

    /// The same as another version whose help does not know the options `without`.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn install_version(
        dialect: Dialect,
        program: &Path,
        version: &str,
        without: &[&str],
        modes: impl IntoIterator<Item = Mode>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let stub = Self { folder, dialect };
        // Its own folder is where it looks for its script. A second name for the file is enough,
        // and unlike a copy it is never a file that is still being written.
        fs::hard_link(program, stub.path())
            .or_else(|_| fs::copy(program, stub.path()).map(drop))
            .expect("the stub program can be put there");
        stub.write(&Script {
            dialect,
            version: version.to_owned(),
            signed_in: true,
            without: without.iter().map(|&option| option.to_owned()).collect(),
            servers: Vec::new(),
            modes: modes.into_iter().collect(),
        });
        stub
    }

    /// The same with nobody signed in, as far as it tells.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn signed_out(self) -> Self {
        self.change(|script| script.signed_in = false)
    }

    /// The same with tool servers in what it has resolved.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn with_servers(self, names: &[&str]) -> Self {
        self.change(|script| script.servers = names.iter().map(|&name| name.to_owned()).collect())
    }

    fn change(self, change: impl FnOnce(&mut Script)) -> Self {
        let mut script = read_script(self.folder.path()).expect("the script was written");
        change(&mut script);
        self.write(&script);
        self
    }

    fn write(&self, script: &Script) {
        let text = serde_json::to_vec(script).expect("a script is JSON");
        File::create(self.folder.path().join(SCRIPT))
            .and_then(|mut file| file.write_all(&text))
            .expect("the script can be written");
    }

    /// The program.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let ending = if cfg!(windows) { ".exe" } else { "" };
        self.folder
            .path()
            .join(format!("{}{ending}", self.dialect.program()))
    }

    /// Every question so far; those about the program itself are none.
    ///
    /// # Panics
    /// When what it wrote cannot be read.
    #[must_use]
    pub fn asked(&self) -> Vec<Called> {
        let mut calls = self.calls();
        calls.retain(|call| !Dialect::is_about_itself(&call.arguments));
        calls
    }

    /// Every start so far.
    ///
    /// # Panics
    /// When what it wrote cannot be read.
    #[must_use]
    pub fn calls(&self) -> Vec<Called> {
        match fs::read_to_string(self.folder.path().join(CALLS)) {
            Ok(lines) => lines
                .lines()
                .map(|line| serde_json::from_str(line).expect("a call is one line of JSON"))
                .collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => panic!("the calls cannot be read: {error}"),
        }
    }

    /// Process ids of the grandchildren that it started.
    #[must_use]
    pub fn grandchildren(&self) -> Vec<u32> {
        fs::read_to_string(self.folder.path().join(GRANDCHILDREN))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect()
    }
}

fn read_script(folder: &Path) -> io::Result<Script> {
    serde_json::from_slice(&fs::read(folder.join(SCRIPT))?).map_err(io::Error::other)
}

/// Appends a line in one write, so that processes do not mix theirs.
fn append(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?
        .write_all(format!("{line}\n").as_bytes())
}
