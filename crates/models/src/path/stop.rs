//! Stopping a pass. A reply that is under way is paid for, so it gets some time to come.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use skillopt_core::Problem;
use skillopt_store::orders;
use tokio::time::sleep;

use super::CallEvent;
use super::run::Run;
use crate::error::{CallError, Cap};

/// How long replies under way may take once the night was told to stop: long enough for most of
/// them, and far below what a computer that shuts down leaves a program (90 s under systemd).
const GRACE: Duration = Duration::from_secs(10);
/// How often orders are looked for while replies are waited for.
const LOOK: Duration = Duration::from_millis(500);

/// A try under way, counted until it is dropped.
pub(super) struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    pub(super) fn count(tries: &'a AtomicUsize) -> Self {
        tries.fetch_add(1, Ordering::Relaxed);
        Self(tries)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Run {
    /// Whether nothing new may begin.
    pub(super) fn is_told_to_stop(&self) -> bool {
        self.path.cancel.is_cancelled() || self.stop.is_cancelled()
    }

    /// Waits until the process or this night is told to stop, lets nothing new begin, and drops what
    /// is under way when it was told so or has had its time. Ends only when orders cannot be read.
    pub(super) async fn watch(&self) -> Result<Infallible, Problem> {
        self.told_to_stop().await?;
        self.stop.cancel();
        let replies = self.under_way.load(Ordering::Relaxed);
        if replies > 0 {
            self.path.tell(&CallEvent::Stopping {
                replies,
                grace: GRACE,
            });
        }
        tokio::select! {
            () = self.path.cancel.dropped() => {}
            () = sleep(GRACE) => {}
        }
        self.stop.drop_all();
        std::future::pending().await
    }

    /// How long a try that begins now may take at most, and why it ends then: the night's minutes, or
    /// the time by which it is to be finished. The latter leaves replies under way their time.
    pub(super) fn end(&self) -> Option<(Duration, CallError)> {
        let minutes = self
            .time_left()
            .map(|left| (left, CallError::BudgetExhausted { cap: Cap::Minutes }));
        let finish = self.path.options.finish_at.map(|at| {
            let left = at.duration_since(self.path.store.clock().now());
            let left = Duration::try_from(left).unwrap_or_default();
            (left.saturating_add(GRACE), CallError::FinishTime { at })
        });
        [minutes, finish]
            .into_iter()
            .flatten()
            .min_by_key(|(left, _)| *left)
    }

    async fn told_to_stop(&self) -> Result<(), Problem> {
        loop {
            tokio::select! {
                () = self.path.cancel.cancelled() => return Ok(()),
                () = sleep(LOOK) => {}
            }
            let order = self.path.store.read(|db| orders::pending(db, self.night))?;
            if order.is_some() {
                return Ok(());
            }
        }
    }
}
