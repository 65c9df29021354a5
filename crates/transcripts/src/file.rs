//! Reading one file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use skillopt_core::agent::Agent;

use crate::files;
use crate::lines::{Buffer, Consumed, Limits, Lines};
use crate::reader::{Reader, State, session_id};
use crate::reading::{Reading, Recorder};
use crate::reason::Reason;
use crate::rules::Rules;
use crate::source::{Packing, Unpacked, tail_hash};

/// How a huge file is gone on with when it has grown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Resume {
    /// Bytes that were read.
    offset: u64,
    /// Hash of the last of them.
    tail: String,
    reading: Reading,
    reader: State,
}

/// What came of a file.
#[derive(Debug)]
pub(crate) struct FileRead {
    pub(crate) reading: Reading,
    /// How to go on with it, if it is huge.
    pub(crate) resume: Option<Resume>,
    /// What it looked like when it was opened.
    pub(crate) state: files::State,
    /// Bytes that were read of it now.
    pub(crate) bytes: u64,
    /// It was gone on with.
    pub(crate) continued: bool,
}

/// What is the same for every file.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) limits: &'a Limits,
    pub(crate) stop: &'a AtomicBool,
}

/// Reads a file, or the rest of it. Errors say why nothing of it could be used.
pub(crate) fn read(
    agent: Agent,
    path: &Path,
    previous: Option<Resume>,
    conditions: &Conditions<'_>,
    buffer: &mut Buffer,
) -> Result<FileRead, Reason> {
    let mut file = File::open(path).map_err(|error| files::unopened(&error))?;
    let metadata = file.metadata().map_err(|error| files::unopened(&error))?;
    if !metadata.is_file() {
        return Err(Reason::NotAFile);
    }
    let state = files::State::of(&metadata);
    let unreadable = |_| Reason::Unreadable;
    let packing = Packing::of(&mut file).map_err(unreadable)?;
    let previous = match packing {
        Packing::Plain => previous.filter(|previous| goes_on(previous, &mut file, state.size)),
        Packing::Zstandard => None,
    };
    let offset = previous.as_ref().map_or(0, |previous| previous.offset);
    let continued = previous.is_some();
    let mut lines = FileLines::new(agent, previous, conditions);
    let FileLines {
        reader, recorder, ..
    } = &mut lines;
    reader.opened(path, state.written(), recorder);
    let consumed = match packing {
        Packing::Plain => {
            file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
            // What is appended from now on is left for the next time, so that what is stored
            // belongs to the size it is stored with.
            let mut plain = (&file).take(state.size - offset);
            buffer
                .read(&mut plain, conditions.limits, &mut lines)
                .map_err(unreadable)?
        }
        Packing::Zstandard => unpack(&file, state.size, conditions.limits, buffer, &mut lines),
    };
    let end = offset + consumed.complete;
    let mut resume = None;
    if packing == Packing::Plain
        && end >= conditions.limits.huge
        && let Some(reader) = lines.reader.state()
        && let Ok(tail) = tail_hash(&mut file, end)
    {
        resume = Some(Resume {
            offset: end,
            tail,
            reading: lines.recorder.so_far().clone(),
            reader,
        });
    }
    let reading = lines.finish(consumed, &session_id(agent, path));
    Ok(FileRead {
        // Nothing of a session that no person made is kept.
        resume: resume.filter(|_| reading.verdict.is_none()),
        reading,
        state,
        bytes: consumed.complete,
        continued,
    })
}

/// Reads a transcript that is in memory.
pub(crate) fn read_memory(agent: Agent, bytes: &[u8], conditions: &Conditions<'_>) -> Reading {
    let mut lines = FileLines::new(agent, None, conditions);
    let mut buffer = Buffer::new();
    let consumed = match Packing::of_bytes(bytes) {
        Packing::Plain => buffer
            .read(&mut &*bytes, conditions.limits, &mut lines)
            .unwrap_or_default(),
        Packing::Zstandard => unpack(
            bytes,
            bytes.len() as u64,
            conditions.limits,
            &mut buffer,
            &mut lines,
        ),
    };
    lines.finish(consumed, "memory")
}

/// Whether the file still begins with what was read of it.
fn goes_on(previous: &Resume, file: &mut File, size: u64) -> bool {
    size >= previous.offset
        && tail_hash(file, previous.offset).is_ok_and(|tail| tail == previous.tail)
}

/// Reads a compressed file as far as it can be decompressed.
fn unpack(
    packed: impl Read,
    size: u64,
    limits: &Limits,
    buffer: &mut Buffer,
    lines: &mut FileLines<'_>,
) -> Consumed {
    let mut unpacked = match Unpacked::new(packed, size, limits) {
        Ok(unpacked) => unpacked,
        Err(_) => {
            lines.recorder.skip(Reason::BrokenCompression);
            return Consumed::default();
        }
    };
    let consumed: io::Result<Consumed> = buffer.read(&mut unpacked, limits, lines);
    let cut = unpacked.cut;
    match consumed {
        Ok(consumed) if cut => {
            lines.recorder.skip(Reason::TooMuch);
            Consumed {
                unfinished: false,
                ..consumed
            }
        }
        Ok(consumed) => consumed,
        Err(_) => {
            lines.recorder.skip(Reason::BrokenCompression);
            Consumed::default()
        }
    }
}

/// Hands the lines of a file to its agent's reader.
struct FileLines<'a> {
    reader: Reader,
    recorder: Recorder<'a>,
    stop: &'a AtomicBool,
    /// No line was seen yet.
    at_start: bool,
}

impl<'a> FileLines<'a> {
    fn new(agent: Agent, previous: Option<Resume>, conditions: &Conditions<'a>) -> Self {
        let at_start = previous.is_none();
        let (reader, reading) = match previous {
            Some(previous) => (Reader::resume(previous.reader), previous.reading),
            None => (Reader::new(agent), Reading::default()),
        };
        Self {
            reader,
            recorder: Recorder::new(agent, conditions.rules, reading),
            stop: conditions.stop,
            at_start,
        }
    }

    fn finish(mut self, consumed: Consumed, session: &str) -> Reading {
        self.reader.end(&mut self.recorder);
        if consumed.unfinished {
            self.recorder.skip(Reason::HalfWritten);
        }
        self.recorder.finish(session)
    }
}

impl Lines for FileLines<'_> {
    fn line(&mut self, line: &[u8]) {
        const BOM: &[u8] = b"\xEF\xBB\xBF";
        let line = match line.strip_prefix(BOM) {
            Some(rest) if self.at_start => rest,
            _ => line,
        };
        self.at_start = false;
        if !line.iter().all(u8::is_ascii_whitespace) {
            self.reader.line(line, &mut self.recorder);
        }
    }

    fn needs(&mut self, beginning: &[u8]) -> bool {
        self.reader.needs(beginning, &mut self.recorder)
    }

    fn wants_rest(&self) -> bool {
        self.reader.wants_rest()
    }

    fn too_long(&mut self) {
        self.recorder.skip(Reason::LineTooLong);
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
