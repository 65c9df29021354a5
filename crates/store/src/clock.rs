//! Where the time comes from. Whatever can be tested takes a clock.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant as Monotonic};

use skillopt_core::Instant;

/// A source of the current instant.
pub trait Clock: Send + Sync {
    /// Now, in UTC. Stored instants keep microseconds.
    fn now(&self) -> Instant;

    /// How long it is since some moment that stays the same while this process lives. Setting the
    /// computer's clock does not change it.
    fn steady(&self) -> Duration;
}

/// The computer's clock, cut to microseconds so that what is stored equals what was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let now = Instant::now();
        Instant::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    fn steady(&self) -> Duration {
        static BEGAN: OnceLock<Monotonic> = OnceLock::new();
        BEGAN.get_or_init(Monotonic::now).elapsed()
    }
}

/// A clock that stands still until it is moved; for tests and for reproducible demonstrations.
#[derive(Debug)]
pub struct FixedClock(Mutex<Hands>);

#[derive(Debug, Clone, Copy)]
struct Hands {
    now: Instant,
    /// How far the clock was set without time having passed, in microseconds.
    leapt: i64,
}

impl FixedClock {
    /// A clock that says `at`.
    #[must_use]
    pub const fn new(at: Instant) -> Self {
        Self(Mutex::new(Hands { now: at, leapt: 0 }))
    }

    /// Time passes, or is taken back: from now on the clock says `at`.
    pub fn set(&self, at: Instant) {
        self.hands().now = at;
    }

    /// Somebody sets the clock: from now on it says `at`, and no time has passed.
    pub fn leap(&self, at: Instant) {
        let mut hands = self.hands();
        hands.leapt += at.as_microsecond() - hands.now.as_microsecond();
        hands.now = at;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        self.hands().now
    }

    fn steady(&self) -> Duration {
        let hands = *self.hands();
        let passed = hands.now.as_microsecond() - hands.leapt;
        Duration::from_micros(u64::try_from(passed).unwrap_or(0))
    }
}
