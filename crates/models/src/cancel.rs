//! Stopping work that is under way.

use std::sync::Arc;

use tokio::sync::watch;

/// A flag that is raised once and that everybody holding a clone can see or wait for.
#[derive(Debug, Clone)]
pub struct CancelToken {
    raised: Arc<watch::Sender<bool>>,
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl CancelToken {
    /// A token that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self {
            raised: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Raises the flag for every clone. Raising it again changes nothing.
    pub fn cancel(&self) {
        self.raised.send_replace(true);
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.raised.borrow()
    }

    /// Ends when the flag is raised, at once when it already is. Safe to drop at any point.
    pub async fn cancelled(&self) {
        let mut watcher = self.raised.subscribe();
        // The sender lives in `self`, so waiting cannot end for want of one.
        let _ = watcher.wait_for(|raised| *raised).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_clone_sees_the_flag_and_waiting_ends() {
        let token = CancelToken::new();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        let waiting = tokio::spawn({
            let token = token.clone();
            async move { token.cancelled().await }
        });
        clone.cancel();
        waiting.await.unwrap();
        assert!(token.is_cancelled());
        token.cancelled().await;
    }
}
