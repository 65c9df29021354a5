//! Running a program that takes a prompt on its standard input and prints a reply.
//!
//! What holds for every run:
//!
//! * the prompt goes in by standard input, which is then closed; nothing is asked of a terminal
//!   (on Unix the program gets a session of its own, on Windows no console window);
//! * the environment is exactly what the caller lists and a mark of the run, the working directory is
//!   fresh and empty;
//! * the wait for the first sign of a reply and the wait for the whole run end; so does the run
//!   when it is told to stop or its future is dropped;
//! * the end of a run is the end of the whole process tree: asked, waited for, then killed. A
//!   grandchild that holds the pipes open delays nothing;
//! * what is kept of the output is bounded.

mod escaped;
mod scratch;
mod search;
mod tree;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::Wait;

pub use scratch::{Scratch, sweep_scratch};
pub use search::system_program;
pub(crate) use search::{absolute_folders, is_program};
use tree::Tree;

/// How long the pipes are still read after the program itself has ended. What a program wrote
/// before it ended is already in the pipe; what comes later is from a grandchild.
const DRAIN: Duration = Duration::from_secs(2);
/// How long a program that was asked to end may take before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of standard error is kept.
const DIAGNOSTICS: usize = 64 * 1024;

/// How long a run may take and how much it may print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until the first sign of a reply.
    pub first_byte: Duration,
    /// Until the end.
    pub whole: Duration,
    /// Bytes of standard output that are kept. One more ends the run as
    /// [`RunFault::TooMuchOutput`].
    pub output: usize,
}

/// What is run. Arguments are a vector and never go through a shell.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable, absolute.
    pub path: PathBuf,
    /// Its arguments. Prompts and secrets do not belong here: every user can read them.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How long it may take and how much it may print.
    pub limits: Limits,
    /// How its output is read.
    pub reading: Reading,
}

/// How the output of a program is read.
#[derive(Debug, Clone, Copy)]
pub enum Reading {
    /// All of it is kept, and the first byte is the first sign of a reply.
    Bytes,
    /// Line by line; for programs that say more than their reply.
    Lines(fn(&[u8]) -> Line),
    /// Line by line, none a sign of a reply, for programs that make several requests in a run.
    Rounds {
        /// Whether a complete line says that a request is followed by another.
        ends: fn(&[u8]) -> bool,
        /// How often that may be. Once more ends the run as [`RunFault::TooManyRounds`].
        most: usize,
    },
}

/// What a complete line of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Kept, but no sign of a reply.
    Before,
    /// Kept, and a sign that the reply has begun.
    Reply,
    /// Such a sign, and not kept: a piece that comes again in a later line.
    Piece,
}

/// How a run ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output, without lines that are not kept.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub diagnostics: Vec<u8>,
}

/// Why there is no [`Run`].
#[derive(Debug)]
pub enum RunFault {
    /// The program could not be started.
    NotStarted(io::Error),
    /// No fresh working directory could be made.
    NoScratch(io::Error),
    /// It took too long and was ended.
    TimedOut {
        /// Which wait was too long.
        wait: Wait,
        /// How long it was.
        after: Duration,
    },
    /// It printed more than [`Limits::output`] and was ended.
    TooMuchOutput,
    /// It made more requests than it may and was ended.
    TooManyRounds,
    /// It was told to stop and was ended.
    Cancelled,
    /// Its pipes or its end could not be read.
    Lost(io::Error),
}

/// Runs `program` in `scratch`, with `prompt` on its standard input, until its end or that of `stop`.
///
/// # Errors
/// See [`RunFault`]. A non-zero exit is not one: what it means is for the caller to say.
pub async fn run(
    program: &Program,
    scratch: &Scratch,
    prompt: &[u8],
    stop: impl Future<Output = ()>,
) -> Result<Run, RunFault> {
    let started = Instant::now();
    let mut tree = Tree::new(
        command(program, scratch)
            .spawn()
            .map_err(RunFault::NotStarted)?,
        scratch.path(),
    );
    let begun = AtomicBool::new(false);
    let stopped = {
        let talk = converse(&mut tree, program, prompt, &begun);
        tokio::pin!(talk, stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break RunFault::Cancelled,
                done = &mut talk => match done {
                    Ok(run) => return Ok(run),
                    Err(fault) => break fault,
                },
                () = sleep_until(started + program.limits.whole) => {
                    break RunFault::TimedOut { wait: Wait::Whole, after: program.limits.whole };
                }
                () = sleep_until(started + program.limits.first_byte),
                    if !begun.load(Ordering::Relaxed) =>
                {
                    if !begun.load(Ordering::Relaxed) {
                        break RunFault::TimedOut {
                            wait: Wait::FirstByte,
                            after: program.limits.first_byte,
                        };
                    }
                }
            }
        }
    };
    tree.end(PATIENCE).await;
    Err(stopped)
}

fn command(program: &Program, scratch: &Scratch) -> CommandWrap {
    let mut command = CommandWrap::with_new(&program.path, |command| {
        command
            .args(&program.arguments)
            .env_clear()
            .envs(
                program
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .env(escaped::MARK, scratch.path())
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    tree::own(&mut command);
    command
}

/// Writes the prompt, reads both outputs and waits for the end of the program itself.
async fn converse(
    tree: &mut Tree,
    program: &Program,
    prompt: &[u8],
    begun: &AtomicBool,
) -> Result<Run, RunFault> {
    let pipes = tree.pipes().map_err(RunFault::Lost)?;
    let mut output = Vec::new();
    let mut diagnostics = Vec::new();
    let status = {
        let talk = async {
            tokio::try_join!(
                write_prompt(pipes.input, prompt),
                read_reply(pipes.output, &mut output, program, begun),
                read_head(pipes.diagnostics, &mut diagnostics, DIAGNOSTICS),
            )
        };
        tokio::pin!(talk);
        tokio::select! {
            status = tree.leader() => {
                let status = status.map_err(RunFault::Lost)?;
                // From here on only grandchildren can write; they are not part of the reply.
                tree.kill();
                if let Ok(said) = timeout(DRAIN, talk).await {
                    said?;
                }
                status
            }
            said = &mut talk => {
                said?;
                let status = tree.leader().await.map_err(RunFault::Lost)?;
                tree.kill();
                status
            }
        }
    };
    Ok(Run {
        code: status.code(),
        output,
        diagnostics,
    })
}

/// Writes everything and closes the pipe. A program that does not want to read it may do so.
async fn write_prompt(mut input: impl AsyncWrite + Unpin, prompt: &[u8]) -> Result<(), RunFault> {
    // The reply or the exit code says what went wrong if the program hung up on us.
    let _ = input.write_all(prompt).await;
    let _ = input.shutdown().await;
    Ok(())
}

async fn read_reply(
    mut from: impl AsyncRead + Unpin,
    into: &mut Vec<u8>,
    program: &Program,
    begun: &AtomicBool,
) -> Result<(), RunFault> {
    let mut chunk = vec![0; 16 * 1024];
    // Where the line begins that is not complete yet.
    let mut line = 0;
    let mut rounds = 0;
    loop {
        let read = from.read(&mut chunk).await.map_err(RunFault::Lost)?;
        if read == 0 {
            return Ok(());
        }
        if let Reading::Bytes = program.reading {
            begun.store(true, Ordering::Relaxed);
            into.extend_from_slice(&chunk[..read]);
            if into.len() > program.limits.output {
                return Err(RunFault::TooMuchOutput);
            }
            continue;
        }
        for part in chunk[..read].split_inclusive(|&byte| byte == b'\n') {
            into.extend_from_slice(part);
            if into.len() > program.limits.output {
                return Err(RunFault::TooMuchOutput);
            }
            if part.last() != Some(&b'\n') {
                continue;
            }
            let complete = &into[line..into.len() - 1];
            let kind = match program.reading {
                Reading::Lines(judge) => judge(complete),
                Reading::Rounds { ends, most } => {
                    rounds += usize::from(ends(complete));
                    if rounds > most {
                        return Err(RunFault::TooManyRounds);
                    }
                    Line::Before
                }
                Reading::Bytes => Line::Reply,
            };
            match kind {
                Line::Before => {}
                Line::Reply => begun.store(true, Ordering::Relaxed),
                Line::Piece => {
                    begun.store(true, Ordering::Relaxed);
                    into.truncate(line);
                }
            }
            line = into.len();
        }
    }
}

/// Keeps the first `limit` bytes and reads the rest away, so that the writer never blocks.
async fn read_head(
    mut from: impl AsyncRead + Unpin,
    into: &mut Vec<u8>,
    limit: usize,
) -> Result<(), RunFault> {
    let mut chunk = vec![0; 4 * 1024];
    loop {
        let read = from.read(&mut chunk).await.map_err(RunFault::Lost)?;
        if read == 0 {
            return Ok(());
        }
        let room = limit.saturating_sub(into.len()).min(read);
        into.extend_from_slice(&chunk[..room]);
    }
}
