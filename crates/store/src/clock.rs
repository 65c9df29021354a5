//! Where the time comes from. Whatever can be tested takes a clock.

use std::sync::Mutex;

use skillopt_core::Instant;

/// A source of the current instant.
pub trait Clock: Send + Sync {
    /// Now, in UTC. Stored instants keep microseconds.
    fn now(&self) -> Instant;
}

/// The computer's clock, cut to microseconds so that what is stored equals what was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let now = Instant::now();
        Instant::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}

/// A clock that stands still until it is moved; for tests and for reproducible demonstrations.
#[derive(Debug)]
pub struct FixedClock(Mutex<Instant>);

impl FixedClock {
    /// A clock that says `at`.
    #[must_use]
    pub const fn new(at: Instant) -> Self {
        Self(Mutex::new(at))
    }

    /// From now on the clock says `at`.
    pub fn set(&self, at: Instant) {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = at;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
