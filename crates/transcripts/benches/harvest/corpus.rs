//! Corpora made of real records, the same on every machine.
//!
//! Each generated session is a copy of a real one (`tests/fixtures/transcripts`) with its own ids,
//! times, project and words. Nothing else is changed, so records keep their real sizes, order and
//! keys; only texts of vendors that were cut out of the real ones get their length back. Mixes:
//!
//! - [`Mix::AsRecorded`]: Claude Code sessions as they are, 1 to 5 turns, 70 to 200 KB each;
//! - [`Mix::Long`]: the records of the conversation forty times over, as in sessions of a whole day;
//! - [`Mix::Events`]: Copilot CLI's event logs, eight times over;
//! - [`Mix::Rollouts`]: Codex's rollouts, eight times over.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillopt_core::agent::Agent;

/// What sessions are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    AsRecorded,
    Long,
    Events,
    Rollouts,
}

impl Mix {
    /// How often the records of the conversation are written.
    const fn repeats(self) -> usize {
        match self {
            Self::AsRecorded => 1,
            Self::Long => 40,
            Self::Events | Self::Rollouts => 8,
        }
    }

    /// Whose sessions these are.
    pub(crate) const fn agent(self) -> Agent {
        match self {
            Self::AsRecorded | Self::Long => Agent::Claude,
            Self::Events => Agent::Copilot,
            Self::Rollouts => Agent::Codex,
        }
    }

    /// Where a session lies below the agent's home.
    fn path(self, session: &str, project: usize) -> PathBuf {
        match self {
            Self::AsRecorded | Self::Long => PathBuf::from(format!(
                "projects/-home-dana-work-project-{project}/{session}.jsonl"
            )),
            Self::Events => PathBuf::from(format!("session-state/{session}/events.jsonl")),
            Self::Rollouts => PathBuf::from(format!(
                "sessions/2026/01/{:02}/rollout-2026-01-05T10-00-00-{session}.jsonl",
                1 + project
            )),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AsRecorded => "as recorded",
            Self::Long => "long",
            Self::Events => "event logs",
            Self::Rollouts => "rollouts",
        }
    }
}

/// Raised when the same arguments would give other bytes.
const GENERATION: u32 = 2;
/// Projects the sessions are spread over.
pub(crate) const PROJECTS: usize = 8;
const UUID: usize = 36;
/// Stands in real records for a vendor's text.
const CUT: &str = "[vendor text removed]";
/// Bytes such a text has in an event log: system prompts are 60 % of the real ones.
const CUT_BYTES: usize = 30_000;

/// One real session.
struct Original {
    session: String,
    lines: Vec<Line>,
}

struct Line {
    text: String,
    /// A record of the conversation, or an attachment to it that a long session repeats.
    repeated: bool,
    /// Where its words are, if they are a person's.
    prompt: Option<&'static str>,
}

/// A corpus on disk.
pub(crate) struct Corpus {
    /// The home of the agent.
    pub(crate) home: PathBuf,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) bytes: u64,
    /// Bytes per record type, most first.
    pub(crate) shares: Vec<(String, u64)>,
}

/// The folder of a project of the corpus.
pub(crate) fn project(index: usize) -> String {
    format!("/home/dana/work/project-{index}")
}

/// Makes at least `bytes` of sessions below `folder`, or takes them from there if they were made
/// before.
pub(crate) fn corpus(folder: &Path, bytes: u64, mix: Mix) -> io::Result<Corpus> {
    let originals = originals(mix)?;
    let home = folder.join(format!(
        "{}-{bytes}-{GENERATION}",
        mix.name().replace(' ', "-")
    ));
    let done = home.join("done");
    let write = !done.exists();
    if write && home.exists() {
        fs::remove_dir_all(&home)?;
    }
    let mut corpus = Corpus {
        home: home.clone(),
        files: Vec::new(),
        bytes: 0,
        shares: Vec::new(),
    };
    let mut shares: BTreeMap<String, u64> = BTreeMap::new();
    let mut number = 0;
    while corpus.bytes < bytes {
        let original = &originals[number % originals.len()];
        let session = varied_uuid(&original.session, number);
        let project = number % PROJECTS;
        let path = home.join(mix.path(&session, project));
        if write {
            fs::create_dir_all(path.parent().unwrap_or(&home))?;
            corpus.bytes += write_session(&path, original, number, mix, &mut shares)?;
        } else {
            corpus.bytes += fs::metadata(&path)?.len();
        }
        corpus.files.push(path);
        number += 1;
    }
    if write {
        let text: String = shares
            .iter()
            .map(|(name, bytes)| format!("{name}\t{bytes}\n"))
            .collect();
        File::create(&done)?.write_all(text.as_bytes())?;
    }
    corpus.shares = fs::read_to_string(&done)?
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(name, bytes)| Some((name.to_owned(), bytes.parse().ok()?)))
        .collect();
    corpus
        .shares
        .sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    Ok(corpus)
}

fn originals(mix: Mix) -> io::Result<Vec<Original>> {
    let (store, file) = match mix {
        Mix::Events => ("copilot/session-state", Some("events.jsonl")),
        // All real ones are of one day.
        Mix::Rollouts => ("codex/sessions/2026/11", None),
        Mix::AsRecorded | Mix::Long => ("claude/projects", None),
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts");
    let mut paths = Vec::new();
    for folder in fs::read_dir(fixtures.join(store))? {
        let folder = folder?.path();
        if folder.to_string_lossy().contains("skillopt") {
            continue;
        }
        match file {
            Some(file) => paths.push(folder.join(file)),
            None => paths.extend(
                fs::read_dir(folder)?
                    .filter_map(|file| Some(file.ok()?.path()))
                    .filter(|path| path.extension().is_some_and(|found| found == "jsonl")),
            ),
        }
    }
    paths.sort();
    paths.iter().map(|path| original(path, mix)).collect()
}

fn original(path: &Path, mix: Mix) -> io::Result<Original> {
    let text = fs::read_to_string(path)?;
    let lines = text
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line)?;
            Ok(match mix {
                Mix::Events => event(line, &record),
                Mix::Rollouts => rollout_line(line, &record),
                Mix::AsRecorded | Mix::Long => claude_record(line, &record),
            })
        })
        .collect::<io::Result<Vec<Line>>>()?;
    let named = match mix {
        Mix::Events => path.parent().and_then(Path::file_name),
        Mix::AsRecorded | Mix::Long | Mix::Rollouts => path.file_stem(),
    };
    let named = named.unwrap_or_default().to_string_lossy();
    // A rollout's name ends in its id.
    let session = named[named.len().saturating_sub(UUID)..].to_owned();
    Ok(Original { session, lines })
}

fn claude_record(line: &str, record: &Value) -> Line {
    let prompt = record.get("promptSource").is_some() && record["message"]["content"].is_string();
    Line {
        text: line.to_owned(),
        repeated: matches!(
            record["type"].as_str().unwrap_or_default(),
            "user" | "assistant" | "system" | "queue-operation" | "last-prompt" | "tools-used"
        ),
        prompt: prompt.then_some("/message/content"),
    }
}

fn event(line: &str, record: &Value) -> Line {
    let kind = record["type"].as_str().unwrap_or_default();
    let typed = kind == "user.message" && record.get("agentId").is_none();
    Line {
        text: line.replace(CUT, &"All words of the vendor. ".repeat(CUT_BYTES / 25)),
        repeated: kind != "session.start",
        prompt: typed.then_some("/data/content"),
    }
}

fn rollout_line(line: &str, record: &Value) -> Line {
    let kind = record["type"].as_str().unwrap_or_default();
    // Newer versions write what a person typed as a finished item.
    let item = record.pointer("/payload/item/type") == Some(&Value::from("UserMessage"));
    Line {
        text: line.replace(CUT, &"All words of the vendor. ".repeat(CUT_BYTES / 25)),
        repeated: kind != "session_meta",
        prompt: (kind == "event_msg" && item).then_some("/payload/item/content/0/text"),
    }
}

fn write_session(
    path: &Path,
    original: &Original,
    number: usize,
    mix: Mix,
    shares: &mut BTreeMap<String, u64>,
) -> io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    for round in 0..mix.repeats() {
        for line in &original.lines {
            if round > 0 && !line.repeated {
                continue;
            }
            let text = varied(&line.text, line.prompt, number, round)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            let bytes = text.len() as u64 + 1;
            written += bytes;
            *shares.entry(kind(&line.text)).or_default() += bytes;
        }
    }
    file.flush()?;
    Ok(written)
}

/// The record type, with the type of an attachment.
fn kind(line: &str) -> String {
    let record: Value = serde_json::from_str(line).unwrap_or_default();
    let kind = record["type"].as_str().unwrap_or_default();
    match record["attachment"]["type"].as_str() {
        Some(attachment) => format!("{kind}/{attachment}"),
        None => kind.to_owned(),
    }
}

/// A line with other ids, times, project and words. The same session keeps the same ids in all its
/// lines, except that every round has its own messages.
fn varied(line: &str, prompt: Option<&str>, number: usize, round: usize) -> io::Result<String> {
    let line = if let Some(place) = prompt {
        let mut record: Value = serde_json::from_str(line)?;
        if let Some(Value::String(words)) = record.pointer_mut(place) {
            words.push_str(&format!(" (case {number}, part {round})"));
        }
        serde_json::to_string(&record)?
    } else {
        line.to_owned()
    };
    let project = project(number % PROJECTS);
    let line = line
        .replace("/home/dana/work/acme-api", &project)
        .replace("/home/dana/work/web_app.ui-2", &project)
        .replace("/home/dana/work/zürich-web", &project);
    let day = format!(
        "2026-{:02}-{:02}T{:02}:",
        1 + number / 28 % 11,
        1 + number % 28,
        (number + round) % 24
    );
    let line = line.replace("2026-11-29T17:", &day);
    let mut varied = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = next_uuid(rest) {
        varied.push_str(&rest[..at]);
        let uuid = &rest[at..at + UUID];
        // `uuid`, `parentUuid` and their kind differ by round; the session's id does not.
        let own = !["sessionId", "session_id", "thread_id"]
            .iter()
            .any(|name| varied.ends_with(&format!("\"{name}\":\"")));
        varied.push_str(&varied_uuid(
            uuid,
            if own { number + (round << 32) } else { number },
        ));
        rest = &rest[at + UUID..];
    }
    varied.push_str(rest);
    Ok(varied)
}

/// Where a UUID behind a quote begins.
fn next_uuid(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(step) = memchr::memchr(b'"', &bytes[from..]) {
        let at = from + step + 1;
        let is_uuid = bytes.get(at..at + UUID).is_some_and(|window| {
            window.iter().enumerate().all(|(index, byte)| match index {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        });
        if is_uuid {
            return Some(at);
        }
        from = at;
    }
    None
}

/// A UUID that depends on another one and a number.
fn varied_uuid(uuid: &str, number: usize) -> String {
    let mut state = number as u64 ^ 0x9E37_79B9_7F4A_7C15;
    for byte in uuid.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    let mut next = move || {
        // SplitMix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let hex = format!("{:016x}{:016x}", next(), next());
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}
