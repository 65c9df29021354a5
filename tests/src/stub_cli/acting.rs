//! The program itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::dialect::Itself;
use super::{CALLS, Called, Dialect, GRANDCHILDREN, Mode, append, read_script};
use crate::brain::honest_reply;

/// How long it waits when it hangs. A test that leaves it running is noticed long before.
const LONG: Duration = Duration::from_secs(120);
/// The argument of a grandchild.
const HOLD: &str = "hold-the-pipes";

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
        .filter(|call| !Dialect::is_about_itself(&call.arguments))
        .count();
    let last = script.modes.len().saturating_sub(1);
    let mode = script
        .modes
        .get(asked_before.min(last))
        .cloned()
        .unwrap_or(Mode::Reply { text: "OK.".into() });

    let itself = Dialect::is_about_itself(&arguments);
    let input = if itself || mode == Mode::DeafToInput {
        String::new()
    } else {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let called = describe(script.dialect, &arguments, input)?;
    append(&folder.join(CALLS), &json_line(&called)?)?;
    if itself {
        let said = script.dialect.about_itself(
            &arguments,
            &Itself {
                version: &script.version,
                signed_in: script.signed_in,
                without: &script.without,
                servers: &script.servers,
            },
        );
        write!(io::stdout(), "{}", said.output)?;
        write!(io::stderr(), "{}", said.complaint)?;
        return Ok(ExitCode::from(said.code));
    }
    let prompt = format!("{}\n{}", called.system.unwrap_or_default(), called.input);
    let mode = match mode {
        Mode::Honest => Mode::reply(&honest_reply(&prompt)),
        Mode::HonestWith { event } => {
            writeln!(io::stdout(), "{event}")?;
            Mode::reply(&honest_reply(&prompt))
        }
        Mode::Follows { rule, names } => following(&prompt, &rule, names),
        other => other,
    };
    perform(script.dialect, &mode, folder, &own)
}

/// What is done with `prompt` by one that proposes `rule` and calls tools where it stands.
fn following(prompt: &str, rule: &str, names: Vec<String>) -> Mode {
    if prompt.contains("\"edits\"") {
        let edit = json!({"op": "add", "content": rule, "anchor": "", "rationale": "It was missed.", "tasks": []});
        Mode::reply(&json!({"edits": [edit]}).to_string())
    } else if prompt.contains(rule) {
        Mode::CallsTools { names }
    } else {
        Mode::reply(&honest_reply(prompt))
    }
}

fn perform(dialect: Dialect, mode: &Mode, folder: &Path, own: &Path) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    match mode {
        Mode::Reply { text } => {
            reply(dialect, text)?;
            Ok(ExitCode::SUCCESS)
        }
        // One that depends on its prompt has become another above.
        Mode::DeafToInput | Mode::Honest | Mode::HonestWith { .. } | Mode::Follows { .. } => {
            reply(dialect, "OK.")?;
            Ok(ExitCode::SUCCESS)
        }
        Mode::CallsTools { names } => {
            write!(out, "{}", lines(&super::tools::run(names)?))?;
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
        Mode::Fails { status, said } => {
            let (events, code) = dialect.failing(*status, said);
            write!(out, "{}", lines(&[dialect.start(), events].concat()))?;
            Ok(ExitCode::from(code))
        }
        Mode::BreaksOff => {
            writeln!(out, "{}{}", lines(&dialect.start()), dialect.first_word())?;
            Ok(ExitCode::FAILURE)
        }
        Mode::HangSilent => {
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::HangAfterStart => {
            write!(out, "{}", lines(&dialect.start()))?;
            out.flush()?;
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::HangWithGrandchild => {
            writeln!(out, "{}{}", lines(&dialect.start()), dialect.first_word())?;
            out.flush()?;
            grandchild(own, folder)?;
            std::thread::sleep(LONG);
            Ok(ExitCode::SUCCESS)
        }
        Mode::LeaveGrandchild => {
            grandchild(own, folder)?;
            reply(dialect, "OK.")?;
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
            let line = lines(&[dialect.start(), dialect.ending("caf\u{e9}")].concat());
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

fn reply(dialect: Dialect, text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    let events = [
        dialect.start(),
        vec![dialect.first_word()],
        dialect.ending(text),
    ];
    write!(out, "{}", lines(&events.concat()))?;
    out.flush()
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn grandchild(own: &Path, folder: &Path) -> io::Result<()> {
    let mut command = Command::new(own);
    command.arg(HOLD).stdin(Stdio::null());
    // Out of reach for who ends the group.
    #[cfg(target_os = "linux")]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn()?;
    append(&folder.join(GRANDCHILDREN), &child.id().to_string())
}

fn describe(dialect: Dialect, arguments: &[String], input: String) -> io::Result<Called> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        })
        .collect();
    let directory = std::env::current_dir()?;
    let system = dialect
        .system_file(arguments)
        .map(fs::read_to_string)
        .transpose()?;
    let home = environment.get(dialect.home_variable()).map(PathBuf::from);
    Ok(Called {
        arguments: arguments.to_vec(),
        config: home.as_deref().map(names),
        sign_in: home.and_then(|home| fs::read_link(home.join("auth.json")).ok()),
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
