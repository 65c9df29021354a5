//! Room on the disk for the answers that are paid for.

use std::time::Duration;

use skillopt_core::{Problem, Retry};
use skillopt_store::{Fault, Tx};

use super::run::{Run, Stop};
use crate::error::CallError;

/// What is left on the disk before nothing more is asked: the longest replies that can be under way at a
/// time, with their prompts, and the log of the database, which is only given back at its end.
pub(super) const LEAST: u64 = 32 << 20;
/// How long an answer that could not be written down waits before each further try: a minute in all.
const PATIENCE: [u64; 6] = [1, 2, 4, 8, 15, 30];

impl Run {
    /// Nothing is asked when its answer might not be kept.
    pub(super) fn enough_room(&self) -> Result<(), Stop> {
        match self.path.store.room() {
            Some(room) if room < self.path.options.least_room => Err(self.too_little_room()),
            Some(_) | None => Ok(()),
        }
    }

    /// Writes down what was paid for, and what would end the pass if it could not be written: that drops
    /// the answers of others which wait here. While it fails and may yet succeed (somebody frees space,
    /// another process lets go of the database) it is tried again, for about a minute or until the night
    /// drops everything.
    pub(super) async fn keep<T>(
        &self,
        label: &'static str,
        write: impl Fn(&Tx<'_>) -> Result<T, Fault>,
    ) -> Result<T, Stop> {
        let mut waits = PATIENCE.iter();
        loop {
            let problem = match self.path.store.commit(label, &write) {
                Ok(written) => return Ok(written),
                Err(problem) => problem,
            };
            let wait = waits.next().filter(|_| problem.retry == Retry::Temporary);
            let Some(wait) = wait else {
                return Err(self.without_room(problem));
            };
            tokio::select! {
                biased;
                // Once more, and no longer.
                () = self.stop.dropped() => waits = [].iter(),
                () = tokio::time::sleep(Duration::from_secs(*wait)) => {}
            }
        }
    }

    /// What a problem of the store ends. A full disk ends the night and not the pass, which would drop what
    /// is under way: other answers may still find room.
    fn without_room(&self, problem: Problem) -> Stop {
        if problem.code == "disk_full" {
            self.too_little_room()
        } else {
            Stop::Pass(problem)
        }
    }

    fn too_little_room(&self) -> Stop {
        let database = self.path.store.path();
        let folder = database.parent().unwrap_or(database);
        self.stop_night(CallError::DiskFull {
            folder: folder.display().to_string(),
        })
    }
}
