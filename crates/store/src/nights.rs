//! Nights: one run of the pipeline over a project, from its pins to its report.
//!
//! A night is `running` while a process works on it, `stopped` when it can go on later (waiting for
//! answers, deferred, interrupted), and `ended` for ever. A `running` night whose project lock is
//! free was killed and can go on as well. Per project and kind at most one night is unfinished.

use std::time::Duration;

use jiff::SignedDuration;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use serde_json::Value;
use skillopt_core::{Instant, Problem};

use crate::fault::Fault;
use crate::row::{At, Count, from_json, to_json};
use crate::scheduled;
use crate::store::Tx;
use crate::words::words;

words! {
    /// What kind of run it is.
    #[cfg_attr(feature = "typescript", ts(rename = "NightKind"))]
    Kind {
        /// A night as scheduled or asked for; it counts.
        Run = "run",
        /// A preview; nothing is proposed.
        DryRun = "dry_run",
        /// An experiment or a demonstration.
        Experiment = "experiment",
        /// A chosen subset of edits is scored again before it is adopted.
        Revalidation = "revalidation",
    }
}

words! {
    /// Where a night stands.
    #[cfg_attr(feature = "typescript", ts(rename = "NightState"))]
    State {
        /// A process works on it, or worked on it until it was killed.
        Running = "running",
        /// It can go on later.
        Stopped = "stopped",
        /// It is over.
        Ended = "ended",
    }
}

words! {
    /// Why a night ended or stopped; the words of `--json` and of the README's exit codes.
    #[cfg_attr(feature = "typescript", ts(rename = "NightOutcome"))]
    Outcome {
        /// A target improved and was staged.
        Proposed = "proposed",
        /// Nothing improved.
        NotImproved = "not_improved",
        /// Too little evidence.
        Inconclusive = "inconclusive",
        /// No new tasks.
        NothingToDo = "nothing_to_do",
        /// Hand-off questions are open.
        WaitingForAnswers = "waiting_for_answers",
        /// It goes on later by itself.
        Deferred = "deferred",
        /// User or shutdown stopped it.
        Interrupted = "interrupted",
        /// Anything else.
        Failed = "failed",
    }
}

/// One night.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Night {
    /// Its id in the store.
    pub id: i64,
    /// Id of its project.
    pub project: String,
    /// Consecutive per project from 1; `None` until [`number`] gave it one.
    pub number: Option<u64>,
    /// What kind of run it is.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// Why it ended or stopped last; `None` while it runs for the first time.
    pub outcome: Option<Outcome>,
    /// The reason in words or as an error code.
    pub reason: String,
    /// When a deferred night goes on.
    pub until: Option<Instant>,
    /// When it began.
    pub started_at: Instant,
    /// When it was resumed last; `started_at` before that.
    pub resumed_at: Instant,
    /// When it ended or stopped last.
    pub ended_at: Option<Instant>,
    /// Microseconds it was at work before `resumed_at`.
    pub active_us: u64,
    /// What was pinned at the start: settings, template set, targets (bytes as blob hashes), ….
    pub pins: Value,
    /// Its report once it ended.
    pub report: Option<Value>,
    /// The process that works or worked on it; in words only, exclusion is by [`crate::locks`].
    pub pid: u32,
    /// The computer that process ran on.
    pub host: String,
    /// How often it was resumed.
    pub resumes: u64,
}

const COLUMNS: &str = "id, project, number, kind, state, outcome, reason, until, started_at, resumed_at, ended_at, \
                       active_us, pins, report, pid, host, resumes";

struct Raw {
    night: Night,
    pins: String,
    report: Option<String>,
}

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let instant = |index| row.get::<_, Option<At>>(index).map(|at| at.map(|at| at.0));
    Ok(Raw {
        night: Night {
            id: row.get(0)?,
            project: row.get(1)?,
            number: row.get::<_, Option<Count>>(2)?.map(|number| number.0),
            kind: row.get(3)?,
            state: row.get(4)?,
            outcome: row.get(5)?,
            reason: row.get(6)?,
            until: instant(7)?,
            started_at: row.get::<_, At>(8)?.0,
            resumed_at: row.get::<_, At>(9)?.0,
            ended_at: instant(10)?,
            active_us: row.get::<_, Count>(11)?.0,
            pins: Value::Null,
            report: None,
            pid: row.get(14)?,
            host: row.get(15)?,
            resumes: row.get::<_, Count>(16)?.0,
        },
        pins: row.get(12)?,
        report: row.get(13)?,
    })
}

fn whole(raw: Raw) -> Result<Night, Fault> {
    let report = raw
        .report
        .map(|text| from_json("report", &text))
        .transpose()?;
    Ok(Night {
        pins: from_json("pins", &raw.pins)?,
        report,
        ..raw.night
    })
}

/// Begins a night of this process. `pins` are what must not change while it runs.
///
/// Error: `night_unfinished` when one of the same kind can still go on.
pub fn begin(tx: &Tx<'_>, project: &str, kind: Kind, pins: &Value) -> Result<i64, Fault> {
    if let Some(open) = open(tx, project, kind)? {
        return Err(Problem::refused(
            "night_unfinished",
            format!(
                "A night that began at {} has not ended yet.",
                open.started_at
            ),
            "Resume it with `skillopt night resume`, or end it with `skillopt night cancel`.",
        )
        .into());
    }
    if kind == Kind::Run {
        scheduled::forget_refusal(tx, project)?;
    }
    let now = At(tx.now());
    tx.execute(
        "INSERT INTO night (project, kind, state, started_at, resumed_at, pins, pid, host)
         VALUES (?1, ?2, 'running', ?3, ?3, ?4, ?5, ?6)",
        (
            project,
            kind,
            &now,
            to_json("pins", pins)?,
            std::process::id(),
            host(),
        ),
    )?;
    let night = tx.last_insert_rowid();
    tx.begin_work(night);
    Ok(night)
}

/// The unfinished night of a project: `running` (killed, when the caller holds the project's lock)
/// or `stopped`.
pub fn open(db: &Connection, project: &str, kind: Kind) -> Result<Option<Night>, Fault> {
    db.query_row(
        &format!(
            "SELECT {COLUMNS} FROM night WHERE project = ?1 AND kind = ?2 AND state <> 'ended'"
        ),
        (project, kind),
        raw,
    )
    .optional()?
    .map(whole)
    .transpose()
}

/// How long after a night began another may still take its place: they are of one date.
const ONE_NIGHT: SignedDuration = SignedDuration::from_hours(12);

/// The nights whose place this one took: of the same project and kind, begun within half a day before this one,
/// ended by hand or for what had changed, with no night in between that came to an end of its own. Nothing was
/// decided from their answers.
pub fn replaced_by(db: &Connection, night: i64) -> Result<Vec<i64>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT old.id FROM night AS old, night AS new
         WHERE new.id = ?1 AND old.id < new.id AND old.project = new.project AND old.kind = new.kind
           AND old.state = 'ended' AND old.outcome = ?2 AND old.started_at >= new.started_at - ?3
           AND NOT EXISTS (SELECT 1 FROM night AS other
               WHERE other.project = new.project AND other.kind = new.kind
                 AND other.id > old.id AND other.id < new.id AND other.outcome IS NOT ?2)
         ORDER BY old.id",
    )?;
    let within = i64::try_from(ONE_NIGHT.as_micros()).unwrap_or(i64::MAX);
    let rows = statement.query_map((night, Outcome::Interrupted, within), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Every unfinished night of a project, whatever its kind, newest first.
pub fn unfinished(db: &Connection, project: &str) -> Result<Vec<Night>, Fault> {
    let mut rows = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM night WHERE project = ?1 AND state <> 'ended' ORDER BY started_at DESC, id DESC"
    ))?;
    let found: Vec<Raw> = rows.query_map([project], raw)?.collect::<Result<_, _>>()?;
    found.into_iter().map(whole).collect()
}

/// Takes an unfinished night over into this process. The caller holds the project's lock.
///
/// The time a killed process was at work is counted up to its last sign of life (a call or an
/// event). Attempts it left open become unknown: see [`crate::attempts::forget_started`], which is
/// called here. Gives the number of attempts whose fate is unknown. Error: `night_ended`.
pub fn resume(tx: &Tx<'_>, night: i64) -> Result<usize, Fault> {
    let found = required(tx, night)?;
    if found.state == State::Ended {
        return Err(ended(night));
    }
    if found.state == State::Running {
        add_activity_of_the_dead(tx, &found)?;
    }
    if found.kind == Kind::Run {
        scheduled::forget_refusal(tx, &found.project)?;
    }
    tx.execute(
        "UPDATE night SET state = 'running', until = NULL, resumed_at = ?2, ended_at = NULL, pid = ?3, host = ?4,
             resumes = resumes + 1 WHERE id = ?1",
        (night, At(tx.now()), std::process::id(), host()),
    )?;
    tx.begin_work(night);
    crate::attempts::forget_started(tx, night)
}

/// Gives the night its number, consecutive per project from 1, and keeps it. Only nights that
/// really ran are given one.
pub fn number(tx: &Tx<'_>, night: i64) -> Result<u64, Fault> {
    tx.execute(
        "UPDATE night SET number = (SELECT 1 + coalesce(max(number), 0) FROM night AS other
             WHERE other.project = night.project)
         WHERE id = ?1 AND number IS NULL",
        [night],
    )?;
    required(tx, night)?
        .number
        .ok_or_else(|| Fault::Sql(rusqlite::Error::QueryReturnedNoRows))
}

/// The number the next night of this project would be given.
pub fn next_number(db: &Connection, project: &str) -> Result<u64, Fault> {
    Ok(db
        .query_row(
            "SELECT 1 + coalesce(max(number), 0) FROM night WHERE project = ?1",
            [project],
            |row| row.get::<_, Count>(0),
        )?
        .0)
}

/// Replaces the report of a night, for what is only known after it ended (an adoption).
pub fn set_report(tx: &Tx<'_>, night: i64, report: &Value) -> Result<(), Fault> {
    tx.execute(
        "UPDATE night SET report = ?2 WHERE id = ?1 AND state = 'ended'",
        (night, to_json("report", report)?),
    )?;
    Ok(())
}

/// The night stops and can go on later. Error: `night_ended`.
pub fn stop(
    tx: &Tx<'_>,
    night: i64,
    outcome: Outcome,
    reason: &str,
    until: Option<Instant>,
) -> Result<(), Fault> {
    let found = required(tx, night)?;
    if found.state == State::Ended {
        return Err(ended(night));
    }
    if found.state == State::Running {
        add_activity(tx, &found, worked(tx, &found))?;
    }
    tx.execute(
        "UPDATE night SET state = 'stopped', outcome = ?2, reason = ?3, until = ?4, ended_at = ?5 WHERE id = ?1",
        (night, outcome, reason, until.map(At), At(tx.now())),
    )?;
    Ok(())
}

/// The running tests and rehearsals of a project. When the caller holds the project's lock, their processes have
/// died: a [`Kind::Run`] is gone on with by the next one, and nothing goes on with these by itself.
pub fn left_running(db: &Connection, project: &str) -> Result<Vec<i64>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT id FROM night WHERE project = ?1 AND state = 'running' AND kind IN ('dry_run', 'revalidation') ORDER BY id",
    )?;
    Ok(rows
        .query_map([project], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// The night of a process that has died stops, and can go on later. It was at work until its last sign of
/// life, as for [`resume`]. The caller holds the project's lock. Error: `night_unknown`.
pub fn abandon(tx: &Tx<'_>, night: i64, reason: &str) -> Result<(), Fault> {
    let found = required(tx, night)?;
    if found.state != State::Running {
        return Ok(());
    }
    add_activity_of_the_dead(tx, &found)?;
    tx.execute(
        "UPDATE night SET state = 'stopped', outcome = ?2, reason = ?3, until = NULL, ended_at = ?4 WHERE id = ?1",
        (night, Outcome::Interrupted, reason, last_sign_of_life(tx, night)?),
    )?;
    crate::attempts::forget_started(tx, night).map(|_| ())
}

/// The night is over. Error: `night_ended` when it already was.
pub fn end(
    tx: &Tx<'_>,
    night: i64,
    outcome: Outcome,
    reason: &str,
    report: &Value,
) -> Result<(), Fault> {
    let found = required(tx, night)?;
    if found.state == State::Ended {
        return Err(ended(night));
    }
    if found.state == State::Running {
        add_activity(tx, &found, worked(tx, &found))?;
    }
    tx.execute(
        "UPDATE night SET state = 'ended', outcome = ?2, reason = ?3, until = NULL, report = ?4, ended_at = ?5
         WHERE id = ?1",
        (night, outcome, reason, to_json("report", report)?, At(tx.now())),
    )?;
    Ok(())
}

/// How long the night has been at work at `now`, over all its resumes. `worked` is how long the process
/// that asks has been at work on it, when it is the one: see [`Store::worked`](crate::Store::worked).
#[must_use]
pub fn active(night: &Night, worked: Option<Duration>, now: Instant) -> Duration {
    let current = match night.state {
        State::Running => {
            worked.unwrap_or_else(|| Duration::from_micros(elapsed_us(night.resumed_at, now)))
        }
        State::Stopped | State::Ended => Duration::ZERO,
    };
    Duration::from_micros(night.active_us).saturating_add(current)
}

/// The night with this id.
pub fn get(db: &Connection, night: i64) -> Result<Option<Night>, Fault> {
    db.query_row(
        &format!("SELECT {COLUMNS} FROM night WHERE id = ?1"),
        [night],
        raw,
    )
    .optional()?
    .map(whole)
    .transpose()
}

/// How many nights of a kind a project has had, however they ended.
pub fn count(db: &Connection, project: &str, kind: Kind) -> Result<u64, Fault> {
    Ok(db
        .query_row(
            "SELECT count(*) FROM night WHERE project = ?1 AND kind = ?2",
            (project, kind),
            |row| row.get::<_, Count>(0),
        )?
        .0)
}

/// How often a night of a kind was begun or gone on with: it grows with every process that does.
pub fn begun(db: &Connection, project: &str, kind: Kind) -> Result<u64, Fault> {
    Ok(db
        .query_row(
            "SELECT count(*) + coalesce(sum(resumes), 0) FROM night WHERE project = ?1 AND kind = ?2",
            (project, kind),
            |row| row.get::<_, Count>(0),
        )?
        .0)
}

/// The newest nights of a project, or of all projects, newest first.
pub fn list(db: &Connection, project: Option<&str>, limit: usize) -> Result<Vec<Night>, Fault> {
    let mut rows = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM night WHERE ?1 IS NULL OR project = ?1 ORDER BY started_at DESC, id DESC LIMIT ?2"
    ))?;
    let found: Vec<Raw> = rows
        .query_map((project, Count(limit as u64)), raw)?
        .collect::<Result<_, _>>()?;
    found.into_iter().map(whole).collect()
}

fn add_activity(tx: &Tx<'_>, night: &Night, worked: Duration) -> Result<(), Fault> {
    let worked = u64::try_from(worked.as_micros()).unwrap_or(u64::MAX);
    tx.execute(
        "UPDATE night SET active_us = active_us + ?2 WHERE id = ?1",
        (night.id, Count(worked)),
    )?;
    Ok(())
}

/// Counts what a process that has died was at work on a night.
fn add_activity_of_the_dead(tx: &Tx<'_>, night: &Night) -> Result<(), Fault> {
    let last = last_sign_of_life(tx, night.id)?;
    let worked = Duration::from_micros(elapsed_us(night.resumed_at, last.0));
    add_activity(tx, night, worked)
}

/// The last thing a night's process wrote: a call, an event, or that it began.
fn last_sign_of_life(tx: &Tx<'_>, night: i64) -> Result<At, Fault> {
    Ok(tx.query_row(
        "SELECT max(resumed_at,
            (SELECT coalesce(max(max(started_at, coalesce(ended_at, 0))), 0) FROM attempt WHERE night = ?1),
            (SELECT coalesce(max(at), 0) FROM event WHERE night = ?1))
         FROM night WHERE id = ?1",
        [night],
        |row| row.get(0),
    )?)
}

/// How long a running night has been at work since it was resumed.
fn worked(tx: &Tx<'_>, night: &Night) -> Duration {
    tx.worked(night.id)
        .unwrap_or_else(|| Duration::from_micros(elapsed_us(night.resumed_at, tx.now())))
}

/// Microseconds from `from` to `to`; 0 when the clock was set back.
fn elapsed_us(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.as_microsecond() - from.as_microsecond()).unwrap_or(0)
}

/// Like [`get`]. Error: `night_unknown`.
pub fn required(db: &Connection, night: i64) -> Result<Night, Fault> {
    get(db, night)?.ok_or_else(|| {
        Fault::Problem(Problem::refused(
            "night_unknown",
            format!("There is no night {night}."),
            "`skillopt night list` shows the nights.",
        ))
    })
}

fn ended(night: i64) -> Fault {
    Fault::Problem(Problem::refused(
        "night_ended",
        format!("Night {night} has already ended."),
        "Start a new one with `skillopt sleep run`.",
    ))
}

/// The name of this computer, for words only.
fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .or_else(|| std::env::var("HOSTNAME").ok())
        .map_or_else(|| "this computer".to_owned(), |name| name.trim().to_owned())
}
