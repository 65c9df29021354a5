//! Rows of simulators: answered one after the other, written down in batches.

use std::collections::HashMap;

use skillopt_core::Problem;
use skillopt_store::attempts;
use skillopt_store::calls::State;
use skillopt_store::orders;

use super::Reply;
use super::run::{Heard, Row, Run, state_of};
use crate::backend::{RawReply, Usage};
use crate::error::CallError;
use skillopt_core::reply::{Expect, parse};

/// Rows per transaction.
const BATCH: usize = 128;

type Results = Vec<(u32, Result<Reply, CallError>)>;

/// What became of one row of a batch, before it is written down.
enum Found {
    Known(Heard),
    Asked(RawReply),
    /// As the earlier row of the batch at this index.
    Same(usize),
    Failed(CallError),
}

impl Run {
    /// Answers rows whose backend answers at once. A killed night loses at most one batch of answers
    /// that cost nothing.
    pub(super) async fn instant(&self, rows: &[Row]) -> Result<Results, Problem> {
        let mut results = Results::with_capacity(rows.len());
        for batch in rows.chunks(BATCH) {
            results.extend(self.batch(batch).await?);
            tokio::task::yield_now().await;
        }
        for (position, result) in &results {
            self.tell_result(*position, result);
        }
        Ok(results)
    }

    async fn batch(&self, rows: &[Row]) -> Result<Results, Problem> {
        let (order, known) = self.path.store.read(|db| {
            let known = rows
                .iter()
                .map(|row| attempts::answered(db, &row.at.key, self.within(&row.call)))
                .collect::<Result<Vec<_>, _>>()?;
            Ok((orders::pending(db, self.night)?, known))
        })?;
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut found = Vec::with_capacity(rows.len());
        for (index, (row, known)) in rows.iter().zip(known).enumerate() {
            if let Some(heard) = known.and_then(|known| self.reused(&row.at, &row.call, known)) {
                found.push(Found::Known(heard));
            } else if let Some(first) = seen.get(row.at.key.as_str()) {
                found.push(Found::Same(*first));
            } else if order.is_some() || self.is_told_to_stop() {
                self.stop_night(CallError::Cancelled);
                found.push(Found::Failed(CallError::Cancelled));
            } else {
                seen.insert(&row.at.key, index);
                found.push(
                    match self.backend(&row.call).ask(&row.call, &self.stop).await {
                        Ok(raw) => Found::Asked(raw),
                        Err(error) => Found::Failed(error),
                    },
                );
            }
        }
        self.write(rows, found)
    }

    fn write(&self, rows: &[Row], found: Vec<Found>) -> Result<Results, Problem> {
        let heard: Vec<Result<Heard, CallError>> =
            self.path.store.commit("record replies", |tx| {
                let mut heard: Vec<Result<Heard, CallError>> = Vec::with_capacity(rows.len());
                for (row, found) in rows.iter().zip(found) {
                    let result = match found {
                        Found::Known(known) => Ok(known),
                        Found::Asked(raw) => {
                            let attempt = attempts::start(
                                tx,
                                self.night,
                                &row.at.key,
                                attempts::Cost::default(),
                            )?;
                            attempts::answer(
                                tx,
                                attempt,
                                &raw.text,
                                attempts::Usage::default(),
                                Some(0),
                            )?;
                            let parsed = parse(&Expect::of(&row.call.subject), &raw.text);
                            Ok(Heard {
                                attempt,
                                text: raw.text,
                                usage: Usage::default(),
                                fresh: true,
                                parsed,
                            })
                        }
                        Found::Same(first) => match &heard[first] {
                            Ok(first) => Ok(Heard {
                                attempt: first.attempt,
                                text: first.text.clone(),
                                usage: first.usage,
                                fresh: false,
                                parsed: first.parsed.clone(),
                            }),
                            Err(error) => Err(error.clone()),
                        },
                        Found::Failed(error) => Err(error),
                    };
                    match &result {
                        Ok(heard)
                            if (row.at.state, row.at.attempt)
                                != (state_of(heard), Some(heard.attempt)) =>
                        {
                            self.settle(tx, &row.at, state_of(heard), Some(heard.attempt))?;
                        }
                        Ok(_) | Err(CallError::Cancelled) => {}
                        Err(_) => self.settle(tx, &row.at, State::Failed, None)?,
                    }
                    heard.push(result);
                }
                Ok(heard)
            })?;
        Ok(rows
            .iter()
            .zip(heard)
            .map(|(row, heard)| {
                (
                    row.at.position,
                    heard.and_then(|heard| heard.into_reply(&row.at.key)),
                )
            })
            .collect())
    }
}
