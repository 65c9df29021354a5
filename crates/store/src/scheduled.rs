//! The nights of schedules: which were run, which are open, which were asked for by hand, and the pause
//! in which none begins by itself.
//!
//! A night of a schedule is named by its slot, the local time of its rule. Its row is opened when it is
//! first tried and closed when it is over, so that one that was cut short is tried again, and one that
//! is over never is. One that is due and waits has a row as well, of no tries: should its time be over
//! before it begins, that says why it was left out.

use jiff::civil::DateTime;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use skillopt_core::Instant;
use skillopt_core::schedule::Pause;

use crate::fault::{Fault, unreadable};
use crate::meta;
use crate::nights::Outcome;
use crate::row::{At, Count};
use crate::store::Tx;
use crate::words::words;

words! {
    /// Where a night of a schedule stands.
    State {
        /// It was tried, or waits to be, and is not over.
        Open = "open",
        /// It is over, however it ended.
        Done = "done",
        /// It is not over, and will not be tried again.
        GivenUp = "given_up",
    }
}

/// One night of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScheduledNight {
    /// Id of its project.
    pub project: String,
    /// The local time of the rule.
    pub slot: DateTime,
    /// Where it stands.
    pub state: State,
    /// It was missed and caught up.
    pub caught_up: bool,
    /// How often it was begun; 0 for one that waits, or was left out.
    pub tries: u64,
    /// The night in the store, once there is one.
    pub night: Option<i64>,
    /// How the last try ended; `None` while it runs, or when its process died.
    pub outcome: Option<Outcome>,
    /// In a sentence.
    pub reason: String,
    /// The code of the problem that only a person can end, when that is how the last try ended.
    pub needs: Option<String>,
    /// An open one is not tried again before.
    pub not_before: Option<Instant>,
    /// When it was first tried, or was seen to wait.
    pub started_at: Instant,
    /// When the last try ended.
    pub ended_at: Option<Instant>,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Whether the night is over, and if so how.
    pub state: State,
    /// The night in the store.
    pub night: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// In a sentence.
    pub reason: String,
    /// The code of the problem that only a person can end, when that is why.
    pub needs: Option<String>,
    /// When it is tried again, if it is open.
    pub not_before: Option<Instant>,
}

const COLUMNS: &str = "project, slot, state, caught_up, tries, night, outcome, reason, not_before, \
                       started_at, ended_at, needs";

struct Raw {
    night: ScheduledNight,
    slot: String,
}

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok(Raw {
        slot: row.get(1)?,
        night: ScheduledNight {
            project: row.get(0)?,
            slot: DateTime::ZERO,
            state: row.get(2)?,
            caught_up: row.get(3)?,
            tries: row.get::<_, Count>(4)?.0,
            night: row.get(5)?,
            outcome: row.get(6)?,
            reason: row.get(7)?,
            not_before: row.get::<_, Option<At>>(8)?.map(|at| at.0),
            started_at: row.get::<_, At>(9)?.0,
            ended_at: row.get::<_, Option<At>>(10)?.map(|at| at.0),
            needs: row.get(11)?,
        },
    })
}

fn whole(raw: Raw) -> Result<ScheduledNight, Fault> {
    let slot = raw
        .slot
        .parse()
        .map_err(|error| unreadable("slot", error))?;
    Ok(ScheduledNight { slot, ..raw.night })
}

/// A slot as it is stored: such texts sort like the times they name.
fn text(slot: DateTime) -> String {
    slot.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Begins a try of a night. One that is over stays so.
pub fn begin(tx: &Tx<'_>, project: &str, slot: DateTime, caught_up: bool) -> Result<(), Fault> {
    forget_refusal(tx, project)?;
    tx.execute(
        "INSERT INTO scheduled_night (project, slot, state, caught_up, tries, started_at)
         VALUES (?1, ?2, 'open', ?3, 1, ?4)
         ON CONFLICT (project, slot) DO UPDATE SET state = 'open', tries = tries + 1, outcome = NULL, reason = '',
             needs = NULL, not_before = NULL, ended_at = NULL, caught_up = caught_up OR excluded.caught_up
             WHERE state = 'open' OR tries = 0",
        (project, text(slot), caught_up, At(tx.now())),
    )?;
    Ok(())
}

/// A night is due and waits; `reason` says in a sentence why it was left out, should it come to that.
pub fn wait(
    tx: &Tx<'_>,
    project: &str,
    slot: DateTime,
    caught_up: bool,
    reason: &str,
) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO scheduled_night (project, slot, state, caught_up, tries, reason, started_at)
         VALUES (?1, ?2, 'open', ?3, 0, ?4, ?5)
         ON CONFLICT (project, slot) DO UPDATE SET reason = excluded.reason WHERE state = 'open' AND tries = 0",
        (project, text(slot), caught_up, reason, At(tx.now())),
    )?;
    Ok(())
}

/// What waits no longer does, and was not missed: its rule has changed.
pub fn forget_waits(tx: &Tx<'_>, project: &str) -> Result<(), Fault> {
    tx.execute(
        "DELETE FROM scheduled_night WHERE project = ?1 AND state = 'open' AND tries = 0",
        [project],
    )?;
    Ok(())
}

/// Writes how a try ended.
pub fn end(tx: &Tx<'_>, project: &str, slot: DateTime, ended: &Ended) -> Result<(), Fault> {
    tx.execute(
        "UPDATE scheduled_night SET state = ?3, night = ?4, outcome = ?5, reason = ?6, not_before = ?7,
             ended_at = ?8, needs = ?9
         WHERE project = ?1 AND slot = ?2",
        (
            project,
            text(slot),
            ended.state,
            ended.night,
            ended.outcome,
            &ended.reason,
            ended.not_before.map(At),
            At(tx.now()),
            &ended.needs,
        ),
    )?;
    Ok(())
}

/// Puts off the next try of an open night.
pub fn put_off(
    tx: &Tx<'_>,
    project: &str,
    slot: DateTime,
    not_before: Instant,
) -> Result<(), Fault> {
    tx.execute(
        "UPDATE scheduled_night SET not_before = ?3 WHERE project = ?1 AND slot = ?2 AND state = 'open'",
        (project, text(slot), At(not_before)),
    )?;
    Ok(())
}

/// One night of a schedule.
pub fn get(
    db: &Connection,
    project: &str,
    slot: DateTime,
) -> Result<Option<ScheduledNight>, Fault> {
    db.query_row(
        &format!("SELECT {COLUMNS} FROM scheduled_night WHERE project = ?1 AND slot = ?2"),
        (project, text(slot)),
        raw,
    )
    .optional()?
    .map(whole)
    .transpose()
}

/// The newest nights of a project's schedule, newest first.
pub fn list(db: &Connection, project: &str, limit: usize) -> Result<Vec<ScheduledNight>, Fault> {
    let mut rows = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM scheduled_night WHERE project = ?1 ORDER BY slot DESC LIMIT ?2"
    ))?;
    let found: Vec<Raw> = rows
        .query_map((project, Count(limit as u64)), raw)?
        .collect::<Result<_, _>>()?;
    found.into_iter().map(whole).collect()
}

/// The slot of the last night that is over, among those up to `latest`: a clock that was wrong for a
/// while may have left later ones. One that was left out does not count: it may still be begun by hand.
pub fn completed(
    db: &Connection,
    project: &str,
    latest: DateTime,
) -> Result<Option<DateTime>, Fault> {
    let found: Option<String> = db.query_row(
        "SELECT max(slot) FROM scheduled_night WHERE project = ?1 AND slot <= ?2 AND state <> 'open' AND tries > 0",
        (project, text(latest)),
        |row| row.get(0),
    )?;
    found
        .map(|slot| slot.parse().map_err(|error| unreadable("slot", error)))
        .transpose()
}

/// Open nights of a project other than `slot` will not be tried again: their time is over.
pub fn give_up_others(tx: &Tx<'_>, project: &str, slot: Option<DateTime>) -> Result<usize, Fault> {
    Ok(tx.execute(
        "UPDATE scheduled_night SET state = 'given_up', ended_at = coalesce(ended_at, ?3),
             outcome = CASE WHEN tries = 0 THEN 'deferred' ELSE outcome END
         WHERE project = ?1 AND slot IS NOT ?2 AND state = 'open'",
        (project, slot.map(text), At(tx.now())),
    )?)
}

/// Since when `rule` holds for a project, if it was the last one that was seen.
pub fn rule_since(db: &Connection, project: &str, rule: &str) -> Result<Option<Instant>, Fault> {
    Ok(db
        .prepare_cached("SELECT since FROM schedule_rule WHERE project = ?1 AND rule = ?2")?
        .query_row((project, rule), |row| row.get::<_, At>(0))
        .optional()?
        .map(|at| at.0))
}

/// From now on `rule` holds for a project.
pub fn set_rule(tx: &Tx<'_>, project: &str, rule: &str) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO schedule_rule (project, rule, since) VALUES (?1, ?2, ?3)
         ON CONFLICT (project) DO UPDATE SET rule = excluded.rule, since = excluded.since
             WHERE rule <> excluded.rule",
        (project, rule, At(tx.now())),
    )?;
    Ok(())
}

/// Asks for a night of a project as soon as possible. Asking twice is asking once, and asking again after it
/// was refused is a new try.
pub fn request(tx: &Tx<'_>, project: &str) -> Result<(), Fault> {
    forget_refusal(tx, project)?;
    tx.execute(
        "INSERT INTO run_request (project, at) VALUES (?1, ?2) ON CONFLICT (project) DO NOTHING",
        (project, At(tx.now())),
    )?;
    Ok(())
}

/// The projects for which a night was asked, in the order of asking.
pub fn requests(db: &Connection) -> Result<Vec<(String, Instant)>, Fault> {
    let mut rows = db.prepare_cached("SELECT project, at FROM run_request ORDER BY at, project")?;
    let found = rows
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, At>(1)?.0)))?
        .collect::<Result<_, _>>()?;
    Ok(found)
}

/// The request is carried out, or taken back; whether there was one.
pub fn forget_request(tx: &Tx<'_>, project: &str) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM run_request WHERE project = ?1", [project])? > 0)
}

/// Why a night that was asked for by hand could not begin.
///
/// It is forgotten when a night of its project begins or goes on. So one that is there is newer than every
/// night, whatever the clocks of the processes that wrote them say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Deferred or failed.
    pub outcome: Outcome,
    /// In a sentence.
    pub reason: String,
    /// The code of the problem that only a person can end, when that is why.
    pub needs: Option<String>,
    /// When.
    pub at: Instant,
}

/// Writes down that a night that was asked for could not begin, in the place of an earlier refusal.
pub fn refuse(tx: &Tx<'_>, project: &str, refusal: &Refusal) -> Result<(), Fault> {
    tx.execute(
        "INSERT OR REPLACE INTO refused_request (project, outcome, reason, needs, at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        (
            project,
            refusal.outcome,
            &refusal.reason,
            &refusal.needs,
            At(refusal.at),
        ),
    )?;
    Ok(())
}

/// The user has changed something: what only they could end may be ended, of this project or of any. The next
/// night shows whether it is. `but` is the code of what cannot be ended by it, empty where there is none. Gives
/// whether anything was waiting for it.
pub fn mended(tx: &Tx<'_>, project: Option<&str>, but: &str) -> Result<bool, Fault> {
    let mut found = 0;
    for table in ["refused_request", "scheduled_night"] {
        found += tx.execute(
            &format!(
                "UPDATE {table} SET needs = NULL
                 WHERE needs <> ?2 AND (?1 IS NULL OR project = ?1)"
            ),
            (project, but),
        )?;
    }
    meta::set(tx, &mended_key(project), &tx.now().to_string())?;
    Ok(found > 0)
}

/// When the user has last [`mended`] something, of this project or of any.
pub fn mended_at(db: &Connection, project: &str) -> Result<Option<Instant>, Fault> {
    let mut last = None;
    for key in [mended_key(Some(project)), mended_key(None)] {
        if let Some(text) = meta::get(db, &key)? {
            let at: Instant = text.parse().map_err(|error| unreadable("instant", error))?;
            last = last.max(Some(at));
        }
    }
    Ok(last)
}

/// Where it is kept; `None` for what holds for every project.
pub(crate) fn mended_key(project: Option<&str>) -> String {
    format!("mended:{}", project.unwrap_or_default())
}

/// A night of a project begins or goes on: what an earlier request was refused for is over.
pub(crate) fn forget_refusal(tx: &Tx<'_>, project: &str) -> Result<(), Fault> {
    tx.execute("DELETE FROM refused_request WHERE project = ?1", [project])?;
    Ok(())
}

/// Why the last night that was asked for could not begin, if none has begun since.
pub fn refused(db: &Connection, project: &str) -> Result<Option<Refusal>, Fault> {
    let found = db
        .prepare_cached(
            "SELECT outcome, reason, needs, at FROM refused_request WHERE project = ?1",
        )?
        .query_row([project], |row| {
            Ok(Refusal {
                outcome: row.get(0)?,
                reason: row.get(1)?,
                needs: row.get(2)?,
                at: row.get::<_, At>(3)?.0,
            })
        })
        .optional()?;
    Ok(found)
}

/// No night begins by itself while the pause holds. A new one takes the place of the old.
pub fn pause(tx: &Tx<'_>, pause: Pause) -> Result<(), Fault> {
    let until = match pause {
        Pause::Until(until) => Some(At(until)),
        Pause::Forever => None,
    };
    tx.execute(
        "INSERT INTO nights_pause (only_one, until, at) VALUES (1, ?1, ?2)
         ON CONFLICT (only_one) DO UPDATE SET until = excluded.until, at = excluded.at",
        (until, At(tx.now())),
    )?;
    Ok(())
}

/// Ends the pause; whether there was one.
pub fn resume(tx: &Tx<'_>) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM nights_pause", [])? > 0)
}

/// The pause that holds at `now`.
pub fn paused(db: &Connection, now: Instant) -> Result<Option<Pause>, Fault> {
    let found: Option<Option<At>> = db
        .query_row("SELECT until FROM nights_pause", [], |row| row.get(0))
        .optional()?;
    Ok(found
        .map(|until| until.map_or(Pause::Forever, |until| Pause::Until(until.0)))
        .filter(|pause| pause.holds(now)))
}
