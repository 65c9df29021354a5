//! Paid tries. An error is a row, never an answer.
//!
//! A try reserves its worst case before it starts and settles afterwards. What a dead process left
//! open has an unknown fate: it may have been paid for, so its reservation counts as spent.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Instant;

use crate::blobs::{self, Keep};
use crate::events;
use crate::fault::{Fault, unreadable};
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;
use crate::words::words;

words! {
    /// What became of a try.
    State {
        /// Under way, or left open by a process that died.
        Started = "started",
        /// A reply came.
        Answered = "answered",
        /// An error came; what it cost is known.
        Failed = "failed",
        /// Nobody knows; the reservation counts as spent.
        Unknown = "unknown",
    }
}

/// Tokens a server says it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input_tokens: Option<u64>,
    /// Of these, how many came from a cache of the provider.
    pub cached_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
}

/// What a try may cost at worst, or did cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Tokens, prompt and reply together.
    pub tokens: u64,
    /// Millionths of the currency in which prices are given; 0 when no price is known.
    pub micros: u64,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// Its id in the store.
    pub id: i64,
    /// The night that paid for it.
    pub night: i64,
    /// Key of the call.
    pub key: String,
    /// Which try of this call in this night, from 1.
    pub n: u32,
    /// What became of it.
    pub state: State,
    /// Its worst case.
    pub reserved: Cost,
    /// What the server said it used.
    pub usage: Usage,
    /// What it cost in millionths of the currency; `None` while it is not known.
    pub cost_micros: Option<u64>,
    /// Code of the error.
    pub error_code: Option<String>,
    /// The error as data.
    pub error: Option<Value>,
    /// Hash of the reply's text.
    pub reply: Option<String>,
    /// When it was sent.
    pub started_at: Instant,
    /// When it was answered or failed.
    pub ended_at: Option<Instant>,
}

/// Which answers may be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within<'a> {
    /// Of any night: mine, judge.
    Ever,
    /// Of these nights only: attempt, reflect.
    Nights(&'a [i64]),
}

/// A reply that was paid for, with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The try that brought it.
    pub attempt: i64,
    /// The night that paid for it.
    pub night: i64,
    /// The reply.
    pub text: String,
    /// What the server said it used.
    pub usage: Usage,
}

/// What a night has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Spend {
    /// Tries, whatever became of them.
    pub calls: u64,
    /// Tokens: as used, or as reserved where that is not known.
    pub tokens: u64,
    /// Of these, how many came from a cache of the provider.
    pub cached_tokens: u64,
    /// Millionths of the currency, in the same way.
    pub cost_micros: u64,
    /// Of these tries, how many have an unknown fate.
    pub unknown: u64,
    /// Of these tries, how many are under way.
    pub open: u64,
    /// Thousandths of requests that providers bill apart from tokens.
    pub request_thousandths: u64,
}

/// Kind of the events that count billed requests. They are no column of a try: only one provider has
/// them, and a try without one is the rule.
const REQUESTS: &str = "models/requests";

/// The provider bills so many thousandths of a request for what a try in this stage brought.
pub fn bill_requests(
    tx: &Tx<'_>,
    night: i64,
    stage: &str,
    attempt: i64,
    thousandths: u64,
) -> Result<(), Fault> {
    let body = json!({"stage": stage, "attempt": attempt, "thousandths": thousandths});
    events::append(tx, night, REQUESTS, &body).map(|_| ())
}

/// What [`bill_requests`] has counted for each try of a night.
pub fn requests_of_tries(db: &Connection, night: i64) -> Result<BTreeMap<i64, u64>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT json_extract(body, '$.attempt'), json_extract(body, '$.thousandths') FROM event
         WHERE night = ?1 AND kind = ?2",
    )?;
    let rows = statement.query_map((night, REQUESTS), |row| {
        Ok((row.get(0)?, row.get::<_, Count>(1)?.0))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What [`bill_requests`] has counted in each stage of a night.
fn billed_requests(db: &Connection, night: i64) -> Result<BTreeMap<String, u64>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT json_extract(body, '$.stage'), sum(json_extract(body, '$.thousandths')) FROM event
         WHERE night = ?1 AND kind = ?2 GROUP BY 1",
    )?;
    let rows = statement.query_map((night, REQUESTS), |row| {
        Ok((row.get(0)?, row.get::<_, Count>(1)?.0))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A try begins; its worst case is reserved. Gives its id.
pub fn start(tx: &Tx<'_>, night: i64, key: &str, reserved: Cost) -> Result<i64, Fault> {
    tx.prepare_cached(
        "INSERT INTO attempt (night, key, n, state, reserved_tokens, reserved_cost, started_at)
         VALUES (?1, ?2, (SELECT 1 + coalesce(max(n), 0) FROM attempt WHERE night = ?1 AND key = ?2),
                 'started', ?3, ?4, ?5)",
    )?
    .execute((night, key, Count(reserved.tokens), Count(reserved.micros), At(tx.now())))?;
    Ok(tx.last_insert_rowid())
}

/// The reply came. Without a cost the reservation counts; without usage its tokens do.
pub fn answer(
    tx: &Tx<'_>,
    attempt: i64,
    reply: &str,
    usage: Usage,
    cost_micros: Option<u64>,
) -> Result<(), Fault> {
    let reply = blobs::put(tx, reply.as_bytes(), Keep::Evidence)?;
    tx.prepare_cached(
        "UPDATE attempt SET state = 'answered', reply = ?2, input_tokens = ?3, output_tokens = ?4, cost = ?5,
             ended_at = ?6, cached_tokens = ?7 WHERE id = ?1",
    )?
    .execute((
        attempt,
        reply,
        usage.input_tokens.map(Count),
        usage.output_tokens.map(Count),
        cost_micros.map(Count),
        At(tx.now()),
        usage.cached_tokens.map(Count),
    ))?;
    Ok(())
}

/// An error came, and the try cost nothing.
pub fn fail(tx: &Tx<'_>, attempt: i64, code: &str, error: &Value) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE attempt SET state = 'failed', error_code = ?2, error = ?3, cost = 0, ended_at = ?4 WHERE id = ?1",
    )?
    .execute((attempt, code, to_json("error", error)?, At(tx.now())))?;
    Ok(())
}

/// An error came, and nobody knows whether the try was paid for (for example a time-out after the
/// request was sent): the reservation counts as spent.
pub fn lose(tx: &Tx<'_>, attempt: i64, code: &str, error: &Value) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE attempt SET state = 'unknown', error_code = ?2, error = ?3, ended_at = ?4 WHERE id = ?1",
    )?
    .execute((attempt, code, to_json("error", error)?, At(tx.now())))?;
    Ok(())
}

/// Tries a dead process left open become unknown. Gives their number.
pub fn forget_started(tx: &Tx<'_>, night: i64) -> Result<usize, Fault> {
    Ok(tx.execute(
        "UPDATE attempt SET state = 'unknown', error_code = 'process_died', ended_at = ?2
         WHERE night = ?1 AND state = 'started'",
        (night, At(tx.now())),
    )?)
}

/// The newest readable answer to a call. Answers whose text has expired do not count.
pub fn answered(db: &Connection, key: &str, within: Within<'_>) -> Result<Option<Answered>, Fault> {
    let nights = match within {
        Within::Ever => None,
        Within::Nights(nights) => Some(json!(nights).to_string()),
    };
    let found = db
        .prepare_cached(
            "SELECT id, night, reply, input_tokens, cached_tokens, output_tokens FROM attempt
             WHERE key = ?1 AND state = 'answered'
               AND (?2 IS NULL OR night IN (SELECT value FROM json_each(?2)))
               AND EXISTS (SELECT 1 FROM blob WHERE hash = reply AND body IS NOT NULL)
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row((key, nights), |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?,
                usage(row, 3)?,
            ))
        })
        .optional()?;
    let Some((attempt, night, reply, usage)) = found else {
        return Ok(None);
    };
    Ok(text(db, &reply)?.map(|text| Answered {
        attempt,
        night,
        text,
        usage,
    }))
}

/// The text of an attempt's reply; `None` when it has none, or when it has expired.
pub fn reply(db: &Connection, attempt: i64) -> Result<Option<String>, Fault> {
    let hash: Option<String> = db
        .prepare_cached("SELECT reply FROM attempt WHERE id = ?1")?
        .query_row([attempt], |row| row.get(0))
        .optional()?
        .flatten();
    hash.map_or(Ok(None), |hash| text(db, &hash))
}

/// The try with this id.
pub fn get(db: &Connection, attempt: i64) -> Result<Option<Attempt>, Fault> {
    Ok(select(db, "id = ?1", [attempt])?.pop())
}

/// Every try of a night, in order.
pub fn of_night(db: &Connection, night: i64) -> Result<Vec<Attempt>, Fault> {
    select(db, "night = ?1", [night])
}

/// What a night has spent, from its rows.
///
/// `answered` and `failed` count as used (an answer without usage: as reserved), `unknown` and
/// `started` as reserved.
pub fn spend(db: &Connection, night: i64) -> Result<Spend, Fault> {
    let spend = db
        .prepare_cached(&format!("SELECT {SUMS} FROM attempt WHERE night = ?1"))?
        .query_row([night], |row| sums(row, 0))?;
    Ok(Spend {
        request_thousandths: billed_requests(db, night)?.values().sum(),
        ..spend
    })
}

/// How many tries of a night were answered at `since` or later.
pub fn answered_since(db: &Connection, night: i64, since: Instant) -> Result<u64, Fault> {
    let answered = db
        .prepare_cached(
            "SELECT count(*) FROM attempt WHERE night = ?1 AND state = 'answered' AND ended_at >= ?2",
        )?
        .query_row((night, At(since)), |row| row.get::<_, Count>(0))?;
    Ok(answered.0)
}

/// What each stage of a night has spent, in the order of their first tries. A call that several stages
/// ask belongs to the one that paid for it.
pub fn spend_of_stages(db: &Connection, night: i64) -> Result<Vec<(String, Spend)>, Fault> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT coalesce(
             (SELECT stage FROM night_call WHERE attempt = attempt.id AND night = attempt.night
              ORDER BY state = 'fresh' DESC LIMIT 1),
             (SELECT min(stage) FROM night_call WHERE key = attempt.key AND night = attempt.night),
             '') AS of_stage, {SUMS}
         FROM attempt WHERE night = ?1 GROUP BY of_stage ORDER BY min(id)"
    ))?;
    let rows = statement.query_map([night], |row| Ok((row.get(0)?, sums(row, 1)?)))?;
    let mut stages: Vec<(String, Spend)> = rows.collect::<rusqlite::Result<_>>()?;
    let billed = billed_requests(db, night)?;
    for (stage, spend) in &mut stages {
        spend.request_thousandths = billed.get(stage).copied().unwrap_or(0);
    }
    Ok(stages)
}

/// What one night has spent on models that cost something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NightSpend {
    /// The night.
    pub night: i64,
    /// Id of its project.
    pub project: String,
    /// When it began.
    pub started_at: Instant,
    /// What its paid tries have spent.
    pub spend: Spend,
}

/// What every night has spent that paid for something, the oldest first; of one project when it is
/// named.
pub fn spend_of_nights(db: &Connection, project: Option<&str>) -> Result<Vec<NightSpend>, Fault> {
    // Paid tries are told from others by what they reserve.
    let mut statement = db.prepare_cached(&format!(
        "SELECT night.id, night.project, night.started_at, {SUMS}
         FROM attempt JOIN night ON night.id = attempt.night
         WHERE attempt.reserved_tokens > 0 AND (?1 IS NULL OR night.project = ?1)
         GROUP BY night.id ORDER BY night.id"
    ))?;
    let rows = statement.query_map([project], |row| {
        Ok(NightSpend {
            night: row.get(0)?,
            project: row.get(1)?,
            started_at: row.get::<_, At>(2)?.0,
            spend: sums(row, 3)?,
        })
    })?;
    let mut nights: Vec<NightSpend> = rows.collect::<rusqlite::Result<_>>()?;
    for night in &mut nights {
        let billed = billed_requests(db, night.night)?;
        night.spend.request_thousandths = billed.values().sum();
    }
    Ok(nights)
}

/// The columns of a [`Spend`].
const SUMS: &str = "count(attempt.id),
    coalesce(sum(CASE
        WHEN attempt.state IN ('started', 'unknown') THEN reserved_tokens
        WHEN input_tokens IS NULL AND output_tokens IS NULL
            THEN CASE attempt.state WHEN 'answered' THEN reserved_tokens ELSE 0 END
        ELSE coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END), 0),
    coalesce(sum(cached_tokens), 0),
    coalesce(sum(CASE
        WHEN attempt.state IN ('started', 'unknown') THEN reserved_cost
        WHEN attempt.state = 'answered' THEN coalesce(cost, reserved_cost)
        ELSE coalesce(cost, 0) END), 0),
    count(*) FILTER (WHERE attempt.state = 'unknown'),
    count(*) FILTER (WHERE attempt.state = 'started')";

fn sums(row: &Row<'_>, first: usize) -> rusqlite::Result<Spend> {
    let count = |place: usize| row.get::<_, Count>(first + place).map(|count| count.0);
    Ok(Spend {
        calls: count(0)?,
        tokens: count(1)?,
        cached_tokens: count(2)?,
        cost_micros: count(3)?,
        unknown: count(4)?,
        open: count(5)?,
        request_thousandths: 0,
    })
}

impl std::ops::AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.open = self.open.saturating_add(other.open);
        self.request_thousandths = self
            .request_thousandths
            .saturating_add(other.request_thousandths);
    }
}

fn text(db: &Connection, hash: &str) -> Result<Option<String>, Fault> {
    blobs::get(db, hash)?
        .map(|bytes| String::from_utf8(bytes).map_err(|error| unreadable("reply", error)))
        .transpose()
}

fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<Usage> {
    Ok(Usage {
        input_tokens: row.get::<_, Option<Count>>(first)?.map(|count| count.0),
        cached_tokens: row.get::<_, Option<Count>>(first + 1)?.map(|count| count.0),
        output_tokens: row.get::<_, Option<Count>>(first + 2)?.map(|count| count.0),
    })
}

fn select(
    db: &Connection,
    condition: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Attempt>, Fault> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT id, night, key, n, state, reserved_tokens, reserved_cost, input_tokens, cached_tokens, output_tokens, cost,
             error_code, error, reply, started_at, ended_at FROM attempt WHERE {condition} ORDER BY id"
    ))?;
    let mut rows = statement.query(params)?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        let error: Option<String> = row.get(12)?;
        attempts.push(Attempt {
            id: row.get(0)?,
            night: row.get(1)?,
            key: row.get(2)?,
            n: row.get(3)?,
            state: row.get(4)?,
            reserved: Cost {
                tokens: row.get::<_, Count>(5)?.0,
                micros: row.get::<_, Count>(6)?.0,
            },
            usage: usage(row, 7)?,
            cost_micros: row.get::<_, Option<Count>>(10)?.map(|count| count.0),
            error_code: row.get(11)?,
            error: error.map(|text| from_json("error", &text)).transpose()?,
            reply: row.get(13)?,
            started_at: row.get::<_, At>(14)?.0,
            ended_at: row.get::<_, Option<At>>(15)?.map(|at| at.0),
        });
    }
    Ok(attempts)
}
