//! What a night may spend, and what it has spent.
//!
//! Limits are hard. A try reserves its worst case before it is sent and settles afterwards; what was
//! not settled counts as spent. What the gate needs can be held back from everything before it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use skillopt_store::attempts::Cost;
use tokio::sync::Notify;

use crate::error::{CallError, Cap};

/// The limits of one night. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Caps {
    /// Tries of paid backends.
    pub calls: Option<u64>,
    /// Time at work, over all resumes.
    pub time: Option<std::time::Duration>,
    /// Tokens of messages and replies together.
    pub tokens: Option<u64>,
    /// Millionths of the currency.
    pub cost_micros: Option<u64>,
}

/// A part of the budget: spent, reserved or held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spend {
    /// Tries of paid backends.
    pub calls: u64,
    /// Tokens; as reserved where what was used is not known.
    pub tokens: u64,
    /// Millionths of the currency, in the same way.
    pub cost_micros: u64,
}

impl Spend {
    fn add(&mut self, cost: Cost) {
        self.tokens = self.tokens.saturating_add(cost.tokens);
        self.cost_micros = self.cost_micros.saturating_add(cost.micros);
    }
}

#[derive(Debug, Default)]
struct State {
    /// Calls begun, and what the ended ones used.
    spent: Spend,
    /// Reservations of tries under way.
    open: Cost,
    held: Spend,
}

/// The account of one night. Shared by everything that asks in it.
#[derive(Debug)]
pub struct Budget {
    caps: Caps,
    state: Mutex<State>,
    settled: Notify,
}

/// The worst case of a try under way. Dropped without [`settle`](Reservation::settle), all of it
/// counts as spent: nobody knows what became of the try.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    cost: Cost,
    used: Cost,
}

impl Budget {
    /// An account in which `spent` is gone already.
    #[must_use]
    pub fn new(caps: Caps, spent: Spend) -> Arc<Self> {
        Arc::new(Self {
            caps,
            state: Mutex::new(State {
                spent,
                ..State::default()
            }),
            settled: Notify::new(),
        })
    }

    /// Reserves one call and its worst case. Waits while tries under way may still give back what is
    /// missing; [`CallError::BudgetExhausted`] when they cannot.
    pub async fn reserve(self: &Arc<Self>, worst: Cost) -> Result<Reservation, CallError> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // From here on no settlement is missed.
            settled.as_mut().enable();
            match self.try_reserve(worst) {
                Ok(Some(reservation)) => return Ok(reservation),
                Ok(None) => settled.await,
                Err(cap) => return Err(CallError::BudgetExhausted { cap }),
            }
        }
    }

    /// `None` while what is under way may still make room.
    fn try_reserve(self: &Arc<Self>, worst: Cost) -> Result<Option<Reservation>, Cap> {
        let mut state = self.state();
        let State { spent, open, held } = &*state;
        let over = |cap: Option<u64>, parts: [u64; 4]| {
            cap.is_some_and(|cap| {
                parts
                    .iter()
                    .fold(0_u64, |sum, part| sum.saturating_add(*part))
                    > cap
            })
        };
        if over(self.caps.calls, [spent.calls, 1, held.calls, 0]) {
            return Err(Cap::Calls);
        }
        let mut wait = false;
        for (cap, limit, spent, open, held, worst) in [
            (
                Cap::Tokens,
                self.caps.tokens,
                spent.tokens,
                open.tokens,
                held.tokens,
                worst.tokens,
            ),
            (
                Cap::Cost,
                self.caps.cost_micros,
                spent.cost_micros,
                open.micros,
                held.cost_micros,
                worst.micros,
            ),
        ] {
            if over(limit, [spent, 0, held, worst]) {
                return Err(cap);
            }
            wait |= over(limit, [spent, open, held, worst]);
        }
        if wait {
            return Ok(None);
        }
        state.spent.calls += 1;
        state.open.tokens += worst.tokens;
        state.open.micros += worst.micros;
        Ok(Some(Reservation {
            budget: Arc::clone(self),
            cost: worst,
            used: worst,
        }))
    }

    /// Holds `part` back from everything that is reserved from now on; replaces what was held before.
    /// Give it back (`Spend::default()`) before the stage it was held for.
    ///
    /// [`CallError::BudgetExhausted`] when so much is not left; then nothing is held.
    pub fn hold(&self, part: Spend) -> Result<(), CallError> {
        let mut state = self.state();
        let State { spent, open, .. } = &*state;
        for (cap, limit, used, part) in [
            (Cap::Calls, self.caps.calls, spent.calls, part.calls),
            (
                Cap::Tokens,
                self.caps.tokens,
                spent.tokens.saturating_add(open.tokens),
                part.tokens,
            ),
            (
                Cap::Cost,
                self.caps.cost_micros,
                spent.cost_micros.saturating_add(open.micros),
                part.cost_micros,
            ),
        ] {
            if limit.is_some_and(|limit| used.saturating_add(part) > limit) {
                return Err(CallError::BudgetExhausted { cap });
            }
        }
        state.held = part;
        drop(state);
        // Less may be held than before.
        self.settled.notify_waiters();
        Ok(())
    }

    /// What is gone: used, or reserved by tries under way.
    #[must_use]
    pub fn spent(&self) -> Spend {
        let state = self.state();
        let mut spent = state.spent;
        spent.add(state.open);
        spent
    }

    /// The limits.
    #[must_use]
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// The worst case that was reserved.
    #[must_use]
    pub const fn worst(&self) -> Cost {
        self.cost
    }

    /// The try used `used`; the rest is given back.
    pub fn settle(mut self, used: Cost) {
        self.used = used;
    }

    /// The try was not made after all: the call is given back as well.
    pub fn unsent(mut self) {
        self.used = Cost::default();
        let mut state = self.budget.state();
        state.spent.calls = state.spent.calls.saturating_sub(1);
        // Dropping the reservation takes the lock again.
        drop(state);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.open.tokens = state.open.tokens.saturating_sub(self.cost.tokens);
        state.open.micros = state.open.micros.saturating_sub(self.cost.micros);
        state.spent.add(self.used);
        drop(state);
        self.budget.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn cost(tokens: u64, micros: u64) -> Cost {
        Cost { tokens, micros }
    }

    fn exhausted(cap: Cap) -> CallError {
        CallError::BudgetExhausted { cap }
    }

    #[tokio::test]
    async fn calls_are_never_given_back() {
        let budget = Budget::new(
            Caps {
                calls: Some(2),
                ..Caps::default()
            },
            Spend {
                calls: 1,
                ..Spend::default()
            },
        );
        budget.reserve(cost(5, 0)).await.unwrap().settle(cost(0, 0));
        assert_eq!(
            budget.reserve(cost(5, 0)).await.unwrap_err(),
            exhausted(Cap::Calls)
        );
        assert_eq!(
            budget.spent(),
            Spend {
                calls: 2,
                tokens: 0,
                cost_micros: 0
            }
        );
    }

    #[tokio::test]
    async fn a_try_waits_for_what_others_may_give_back() {
        let budget = Budget::new(
            Caps {
                tokens: Some(10),
                ..Caps::default()
            },
            Spend::default(),
        );
        let first = budget.reserve(cost(8, 0)).await.unwrap();
        let waiting = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move {
                budget
                    .reserve(cost(5, 0))
                    .await
                    .map(|reservation| reservation.settle(cost(5, 0)))
            }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.settle(cost(5, 0));
        waiting.await.unwrap().unwrap();
        assert_eq!(
            budget.reserve(cost(1, 0)).await.unwrap_err(),
            exhausted(Cap::Tokens)
        );
    }

    #[tokio::test]
    async fn a_try_nobody_settled_counts_as_spent() {
        let budget = Budget::new(Caps::default(), Spend::default());
        drop(budget.reserve(cost(7, 3)).await.unwrap());
        assert_eq!(
            budget.spent(),
            Spend {
                calls: 1,
                tokens: 7,
                cost_micros: 3
            }
        );
    }

    #[tokio::test]
    async fn what_is_held_is_kept_until_it_is_given_back() {
        let budget = Budget::new(
            Caps {
                calls: Some(3),
                ..Caps::default()
            },
            Spend::default(),
        );
        let gate = Spend {
            calls: 2,
            ..Spend::default()
        };
        budget.hold(gate).unwrap();
        budget.reserve(cost(1, 0)).await.unwrap().settle(cost(1, 0));
        assert_eq!(
            budget.reserve(cost(1, 0)).await.unwrap_err(),
            exhausted(Cap::Calls)
        );
        assert_eq!(
            budget.hold(Spend { calls: 3, ..gate }).unwrap_err(),
            exhausted(Cap::Calls)
        );
        budget.hold(Spend::default()).unwrap();
        budget.reserve(cost(1, 0)).await.unwrap().settle(cost(1, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn many_workers_never_spend_more_than_the_limits(
            tries in proptest::collection::vec((1_u64..50, 0_u64..20, 0_u8..=2, 0_u32..4), 1..60),
            calls in 0_u64..40, tokens in 0_u64..600, micros in 0_u64..300, held in 0_u64..5,
        ) {
            let caps = Caps { calls: Some(calls), tokens: Some(tokens), cost_micros: Some(micros), time: None };
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
            let spent = runtime.block_on(async {
                let budget = Budget::new(caps, Spend::default());
                let _ = budget.hold(Spend { calls: held, ..Spend::default() });
                let mut workers = tokio::task::JoinSet::new();
                for (tokens, micros, fate, pauses) in tries {
                    let budget = Arc::clone(&budget);
                    workers.spawn(async move {
                        let Ok(reservation) = budget.reserve(cost(tokens, micros)).await else { return };
                        for _ in 0..pauses {
                            tokio::task::yield_now().await;
                        }
                        match fate {
                            0 => reservation.settle(cost(tokens / 2, micros / 2)),
                            1 => reservation.settle(cost(0, 0)),
                            _ => drop(reservation),
                        }
                    });
                }
                while workers.join_next().await.is_some() {
                    let spent = budget.spent();
                    assert!(spent.calls <= calls && spent.tokens <= tokens && spent.cost_micros <= micros);
                }
                budget.spent()
            });
            let kept = if held <= calls { held } else { 0 };
            prop_assert!(spent.calls <= calls - kept);
            prop_assert!(spent.tokens <= tokens && spent.cost_micros <= micros);
        }
    }
}
