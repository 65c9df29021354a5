//! Who may make a try that may have to renew the user's sign-in.
//!
//! The token of a subscription lives for hours. Processes that find it expired at the same moment
//! renew it at the same moment, and all but one are signed out, together with the user's terminal.
//! So one call goes alone until it has been answered; while its sign-in is fresh, others go together.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

/// How long an answered call shows that the sign-in needs no renewal. Agents renew a token minutes
/// before it expires.
const FRESH: Duration = Duration::from_secs(15 * 60);

type Turns = Arc<Mutex<Option<Instant>>>;

/// One queue for each sign-in on this computer.
static QUEUES: LazyLock<std::sync::Mutex<HashMap<String, Turns>>> = LazyLock::new(Default::default);

/// The right to make a try. A call that goes alone keeps it until it is dropped.
pub(super) struct Turn(Option<OwnedMutexGuard<Option<Instant>>>);

impl Turn {
    /// Waits for one for `sign_in` ([`Backend::renews`](crate::Backend::renews)). Safe to drop at any
    /// point.
    pub(super) async fn wait(sign_in: String) -> Self {
        let queue = Arc::clone(
            QUEUES
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(sign_in)
                .or_default(),
        );
        let turn = queue.lock_owned().await;
        let fresh = turn.is_some_and(|answered| answered.elapsed() < FRESH);
        Self((!fresh).then_some(turn))
    }

    /// The call was answered: the sign-in is fresh.
    pub(super) fn answered(mut self) {
        if let Some(turn) = &mut self.0 {
            **turn = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_goes_alone_until_it_is_answered_and_again_after_a_while() {
        let soon = Duration::from_secs(5);
        let wait = || tokio::time::timeout(soon, Turn::wait("claude:/home/turns".to_owned()));
        let other = Turn::wait("claude:/home/other".to_owned());

        let first = wait().await.unwrap();
        assert!(
            wait().await.is_err(),
            "a second one started beside the first"
        );
        assert!(tokio::time::timeout(soon, other).await.is_ok());
        drop(first);
        let second = wait().await.unwrap();
        assert!(
            wait().await.is_err(),
            "the first was not answered, so the second goes alone too"
        );
        second.answered();
        let (third, fourth) = (wait().await.unwrap(), wait().await.unwrap());
        third.answered();
        fourth.answered();
        tokio::time::advance(FRESH).await;
        let _later = wait().await.unwrap();
        assert!(wait().await.is_err(), "the sign-in may have expired");
    }
}
