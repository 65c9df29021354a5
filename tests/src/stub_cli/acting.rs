//! The program itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{CALLS, Called, GRANDCHILDREN, Mode, append, is_question_about_itself, read_script};

/// How long it waits when it hangs. A test that leaves it running is noticed long before.
const LONG: Duration = Duration::from_secs(120);
/// The argument of a grandchild.
const HOLD: &str = "hold-the-pipes";

/// Options in the form of `claude --help`.
const OPTIONS: &[&str] = &[
    "--bare",
    "--disable-slash-commands",
    "--exclude-dynamic-system-prompt-sections",
    "--include-partial-messages",
    "--model",
    "--no-session-persistence",
    "--output-format",
    "--print",
    "--safe-mode",
    "--setting-sources",
    "--strict-mcp-config",
    "--system-prompt-file",
    "--tools",
    "--verbose",
    "--version",
];

/// Runs the stub program.
#[must_use]
pub fn main() -> ExitCode {
    match act() {
        Ok(code) => code,
        // Whoever started us has closed the pipe: nothing is left to say.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(141),
        Err(error) => {
            let _ = writeln!(io::stderr(), "stub: {error}");
            ExitCode::from(70)
        }
    }
}

fn act() -> io::Result<ExitCode> {
    let mut arguments = std::env::args();
    let own = arguments.next().map(PathBuf::from).unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    if arguments.first().is_some_and(|first| first == HOLD) {
        std::thread::sleep(LONG);
        return Ok(ExitCode::SUCCESS);
    }
    let folder = own.parent().unwrap_or(Path::new("."));
    let script = read_script(folder)?;
    let asked_before = fs::read_to_string(folder.join(CALLS))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| serde_json::from_str::<Called>(line).ok())
        .filter(|call| !is_question_about_itself(&call.arguments))
        .count();
    let last = script.modes.len().saturating_sub(1);
    let mode = script
        .modes
        .get(asked_before.min(last))
        .cloned()
        .unwrap_or(Mode::Reply { text: "OK.".into() });

    let itself = is_question_about_itself(&arguments);
    let input = if itself || mode == Mode::DeafToInput {
        String::new()
    } else {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let called = describe(&arguments, input)?;
    append(&folder.join(CALLS), &json_line(&called)?)?;
    let mut out = io::stdout();

    if arguments.iter().any(|argument| argument == "--version") {
        writeln!(out, "{} (Claude Code)", script.version)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments == ["auth", "status"] {
        let code = u8::from(!script.signed_in);
        writeln!(
            out,
            "{}",
            json!({ "loggedIn": script.signed_in, "authMethod": "claude.ai" })
        )?;
        return Ok(ExitCode::from(code));
    }
    if itself {
        writeln!(out, "Usage: claude [options] [prompt]\n\nOptions:")?;
        for option in OPTIONS
            .iter()
            .filter(|option| !script.without.iter().any(|gone| gone == *option))
        {
            writeln!(out, "  {option}                 What it does")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    perform(&mode, folder, &own)
}

fn perform(mode: &Mode, folder: &Path, own: &Path) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    match mode {
        Mode::Reply { text } => {
            reply(text)?;
            Ok(ExitCode::SUCCESS)
        }
        Mode::DeafToInput => {
            reply("OK.")?;
            Ok(ExitCode::SUCCESS)
        }
        Mode::Print {
            output,
            complaint,
            code,
        } => {
            write!(out, "{output}")?;
            write!(io::stderr(), "{complaint}")?;
            Ok(ExitCode::from(u8::try_from(*code).unwrap_or(1)))
        }
        Mode::HangSilent => {
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::HangAfterStart => {
            writeln!(out, "{}", init())?;
            out.flush()?;
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::HangWithGrandchild => {
            writeln!(out, "{}\n{}", init(), first_word())?;
            out.flush()?;
            grandchild(own, folder)?;
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::LeaveGrandchild => {
            grandchild(own, folder)?;
            reply("OK.")?;
            Ok(ExitCode::SUCCESS)
        }
        Mode::Flood => {
            let megabyte = vec![b'x'; 1024 * 1024];
            for _ in 0..200 {
                out.write_all(&megabyte)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Mode::InvalidUtf8 => {
            let line = result("caf\u{e9}").to_string();
            writeln!(out, "{}", init())?;
            let bytes: Vec<u8> = line
                .replace('\u{e9}', "\u{1}")
                .bytes()
                .map(|byte| if byte == 1 { 0xe9 } else { byte })
                .collect();
            out.write_all(&bytes)?;
            Ok(ExitCode::SUCCESS)
        }
        Mode::NeedsTerminal => {
            if let Ok(mut terminal) = File::open("/dev/tty") {
                // Would wait for a person; the time limits have to end it.
                let _ = terminal.read(&mut [0]);
            }
            writeln!(
                io::stderr(),
                "Raw mode is not supported on the current process.stdin"
            )?;
            Ok(ExitCode::from(1))
        }
    }
}

fn reply(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{}\n{}\n{}", init(), first_word(), result(text))?;
    out.flush()
}

fn grandchild(own: &Path, folder: &Path) -> io::Result<()> {
    let child = Command::new(own).arg(HOLD).stdin(Stdio::null()).spawn()?;
    append(&folder.join(GRANDCHILDREN), &child.id().to_string())
}

fn describe(arguments: &[String], input: String) -> io::Result<Called> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        })
        .collect();
    let directory = std::env::current_dir()?;
    let system = arguments
        .iter()
        .position(|argument| argument == "--system-prompt-file")
        .and_then(|place| arguments.get(place + 1))
        .map(fs::read_to_string)
        .transpose()?;
    Ok(Called {
        arguments: arguments.to_vec(),
        config: environment
            .get("CLAUDE_CONFIG_DIR")
            .map(|folder| names(Path::new(folder))),
        environment,
        listing: names(&directory),
        directory,
        input,
        system,
        process: std::process::id(),
    })
}

/// What is in a directory; nothing when there is none.
fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn json_line(called: &Called) -> io::Result<String> {
    serde_json::to_string(called).map_err(io::Error::other)
}

/// The event with which Claude Code 2.1.332 says how it was started.
pub(super) fn init() -> Value {
    json!({
        "type": "system", "subtype": "init", "tools": [], "mcp_servers": [],
        "model": "claude-stub-5", "claude_code_version": "2.1.332",
    })
}

fn first_word() -> Value {
    json!({ "type": "stream_event", "event": { "type": "message_start" } })
}

/// The event with which it ends.
pub(super) fn result(text: &str) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "result": text, "stop_reason": "end_turn", "api_error_status": null,
        "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 5, "output_tokens": 3,
        },
        "modelUsage": { "claude-stub-5": { "outputTokens": 3 } },
        "total_cost_usd": 0.001,
    })
}
