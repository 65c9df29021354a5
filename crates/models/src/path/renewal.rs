//! Who may make a try that may have to renew the user's sign-in.
//!
//! The token of a subscription lives for hours. Processes that find it expired at the same moment
//! renew it at the same moment, and all but one are signed out, together with the user's terminal.
//! So one call goes alone until it has been answered; while its sign-in is fresh, others go together.
//! Within this process a queue sees to that, and a lock of the system among processes that share a data
//! folder: two lines of a crontab, a terminal beside the daemon.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Duration;

use skillopt_store::locks::{self, SignIn};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep};

/// How long an answered call shows that the sign-in needs no renewal. Agents renew a token minutes
/// before it expires.
const FRESH: Duration = Duration::from_secs(15 * 60);
/// How often it is looked whether another process has given back the right.
const LOOK: Duration = Duration::from_millis(250);

type Turns = Arc<Mutex<Option<Instant>>>;

/// One queue for each sign-in on this computer.
static QUEUES: LazyLock<std::sync::Mutex<HashMap<String, Turns>>> = LazyLock::new(Default::default);

/// The right to make a try. A call that goes alone keeps it until it is dropped.
pub(super) struct Turn {
    /// Within this process.
    here: Option<OwnedMutexGuard<Option<Instant>>>,
    /// Among all.
    everywhere: Option<SignIn>,
}

impl Turn {
    /// With others.
    const TOGETHER: Self = Self {
        here: None,
        everywhere: None,
    };

    /// Waits for one for `sign_in` ([`Backend::renews`](crate::Backend::renews)), of which processes with
    /// the same folder of `locks` know. Safe to drop at any point.
    pub(super) async fn wait(sign_in: String, locks: Option<PathBuf>) -> Self {
        let queue = Arc::clone(
            QUEUES
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(sign_in.clone())
                .or_default(),
        );
        let mut here = queue.lock_owned().await;
        if here.is_some_and(|answered| answered.elapsed() < FRESH) {
            return Self::TOGETHER;
        }
        let everywhere = match locks {
            Some(locks) => of_all(&locks, &sign_in).await,
            None => None,
        };
        // Another process has had an answer meanwhile.
        let ago = everywhere.as_ref().and_then(SignIn::answered_ago);
        if let Some(ago) = ago.filter(|ago| *ago < FRESH) {
            *here = Instant::now().checked_sub(ago);
            return Self::TOGETHER;
        }
        Self {
            here: Some(here),
            everywhere,
        }
    }

    /// The call was answered: the sign-in is fresh.
    pub(super) fn answered(mut self) {
        if let Some(here) = &mut self.here {
            **here = Some(Instant::now());
        }
        if let Some(everywhere) = &self.everywhere {
            everywhere.answered();
        }
    }
}

/// The right among all processes; `None` where the system locks no files, so that each is on its own.
async fn of_all(locks: &Path, sign_in: &str) -> Option<SignIn> {
    loop {
        match locks::sign_in(locks, sign_in) {
            Ok(None) => sleep(LOOK).await,
            Ok(right) => return right,
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_goes_alone_until_it_is_answered_and_again_after_a_while() {
        let soon = Duration::from_secs(5);
        let wait = || tokio::time::timeout(soon, Turn::wait("claude:/home/turns".to_owned(), None));
        let other = Turn::wait("claude:/home/other".to_owned(), None);

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

    #[tokio::test]
    async fn another_process_has_its_turn_and_what_it_was_answered_counts_here() {
        let folder = tempfile::tempdir().unwrap();
        let name = "claude:/home/processes";
        let wait = || Turn::wait(name.to_owned(), Some(folder.path().to_owned()));
        let soon = |turn| tokio::time::timeout(Duration::from_secs(1), turn);
        // A lock is of an open file, so this is as good as another process.
        let other = locks::sign_in(folder.path(), name).unwrap().unwrap();
        assert!(soon(wait()).await.is_err(), "another process has its turn");
        drop(other);
        // It was not answered, so ours goes alone.
        let ours = wait().await;
        assert!(locks::sign_in(folder.path(), name).unwrap().is_none());
        drop(ours);
        let other = locks::sign_in(folder.path(), name).unwrap().unwrap();
        other.answered();
        drop(other);
        let (one, two) = (wait().await, wait().await);
        assert!(one.here.is_none() && two.everywhere.is_none());
    }
}
