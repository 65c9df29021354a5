//! When a try that failed is made again, and when it is not.
//!
//! The crate `backon` is not used: its loop sleeps by itself, while ours makes everybody who asks the
//! provider wait, and before every try looks at the order to stop, at the pause of the provider and at the
//! budget, each of which can end it. What it would replace is the twenty lines of [`Retry::wait`], and its
//! jitter goes beyond the longest wait, is the same for calls that failed together under a fixed seed, and
//! its limit in time leaves out how long the tries took.

use std::time::Duration;

use skillopt_core::hash::sha256_parts;

use crate::error::CallError;

/// How often and how long a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries of one call, the first one included.
    pub tries: u32,
    /// The wait before the second try; it doubles with every further one.
    pub first_wait: Duration,
    /// The longest wait, also when a provider asks for more: then the provider is paused.
    pub longest_wait: Duration,
    /// Time for all tries of one call, waits included.
    pub deadline: Duration,
    /// Spreads the waits of different nights; fixed in tests.
    pub seed: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
            deadline: Duration::from_secs(900),
            seed: u64::from(std::process::id()),
        }
    }
}

impl Retry {
    /// How long to wait before try `made + 1` of the call with this key, after `made` tries and
    /// `elapsed` since the first; `None` when there is no further try.
    ///
    /// Only what can pass by itself is tried again. A wait a provider asks for is kept in full; others
    /// are spread over their second half, so that calls that failed together do not come back together.
    #[must_use]
    pub fn wait(
        &self,
        error: &CallError,
        key: &str,
        made: u32,
        elapsed: Duration,
    ) -> Option<Duration> {
        if !error.worth_another_try() || made >= self.tries {
            return None;
        }
        let usual = self
            .first_wait
            .saturating_mul(1 << made.saturating_sub(1).min(16))
            .min(self.longest_wait);
        let share = self.share(key, made);
        let wait = match error {
            CallError::RateLimited {
                retry_after: Some(asked),
                ..
            } => {
                // A little more than asked for, never less.
                let wait = asked.saturating_add(self.first_wait.mul_f64(share / 2.0));
                (wait <= self.longest_wait).then_some(wait)?
            }
            _ => usual.mul_f64(0.5 + share / 2.0),
        };
        (elapsed.saturating_add(wait) < self.deadline).then_some(wait)
    }

    /// A number in [0, 1) that depends on seed, call and try only.
    fn share(&self, key: &str, made: u32) -> f64 {
        let hash = sha256_parts(&[
            &self.seed.to_le_bytes(),
            key.as_bytes(),
            &made.to_le_bytes(),
        ]);
        let bits = u32::from_str_radix(&hash[..8], 16).unwrap_or(0);
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate_limited(seconds: Option<u64>) -> CallError {
        CallError::RateLimited {
            provider: "p".into(),
            retry_after: seconds.map(Duration::from_secs),
            detail: String::new(),
        }
    }

    fn fixed() -> Retry {
        Retry {
            seed: 7,
            ..Retry::default()
        }
    }

    #[test]
    fn permanent_errors_are_not_tried_again() {
        // §14 #67.
        let error = CallError::Misconfigured {
            provider: "p".into(),
            detail: String::new(),
            guidance: String::new(),
        };
        assert_eq!(fixed().wait(&error, "k", 1, Duration::ZERO), None);
        assert_eq!(
            fixed().wait(&CallError::Cancelled, "k", 1, Duration::ZERO),
            None
        );
    }

    #[test]
    fn a_wait_that_is_asked_for_is_kept_or_refused() {
        let wait = fixed()
            .wait(&rate_limited(Some(20)), "k", 1, Duration::ZERO)
            .unwrap();
        assert!(wait >= Duration::from_secs(20) && wait <= Duration::from_secs(21));
        assert_eq!(
            fixed().wait(&rate_limited(Some(3600)), "k", 1, Duration::ZERO),
            None
        );
    }

    #[test]
    fn tries_and_time_are_bounded() {
        assert!(
            fixed()
                .wait(&rate_limited(None), "k", 2, Duration::ZERO)
                .is_some()
        );
        assert_eq!(
            fixed().wait(&rate_limited(None), "k", 3, Duration::ZERO),
            None
        );
        assert_eq!(
            fixed().wait(&rate_limited(None), "k", 1, Duration::from_secs(900)),
            None
        );
    }

    proptest! {
        #[test]
        fn waits_grow_are_spread_and_repeat(key in "[a-f0-9]{8}", made in 1_u32..3, seed in any::<u64>()) {
            let retry = Retry { seed, ..Retry::default() };
            let wait = retry.wait(&rate_limited(None), &key, made, Duration::ZERO).unwrap();
            let usual = Duration::from_secs(1 << (made - 1));
            prop_assert!(wait >= usual / 2 && wait < usual);
            prop_assert_eq!(retry.wait(&rate_limited(None), &key, made, Duration::ZERO), Some(wait));
        }
    }
}
