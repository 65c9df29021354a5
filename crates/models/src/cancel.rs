//! Stopping work that is under way.

use std::sync::Arc;

use tokio::sync::watch;

/// How far stopping has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Nobody asked to stop.
    Running,
    /// Nothing new begins; what is under way may finish.
    Stopping,
    /// What is under way is dropped.
    Dropping,
}

/// An order to stop that everybody holding a clone can see or wait for. It comes in two steps, since
/// a reply that is under way is paid for: first nothing new begins, then what is left is dropped.
#[derive(Debug, Clone)]
pub struct CancelToken {
    stage: Arc<watch::Sender<Stage>>,
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl CancelToken {
    /// A token that nobody has raised.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stage: Arc::new(watch::Sender::new(Stage::Running)),
        }
    }

    /// The first step for every clone: nothing new begins. Asking again changes nothing.
    pub fn cancel(&self) {
        self.raise(Stage::Stopping);
    }

    /// Both steps for every clone: what is under way is dropped as well.
    pub fn drop_all(&self) {
        self.raise(Stage::Dropping);
    }

    /// Whether the first step was taken.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.stage.borrow() >= Stage::Stopping
    }

    /// Ends with the first step, at once when it was taken already. Safe to drop at any point.
    pub async fn cancelled(&self) {
        self.reached(Stage::Stopping).await;
    }

    /// Ends with the second step, at once when it was taken already. Safe to drop at any point.
    pub async fn dropped(&self) {
        self.reached(Stage::Dropping).await;
    }

    fn raise(&self, stage: Stage) {
        self.stage.send_if_modified(|now| {
            let further = *now < stage;
            if further {
                *now = stage;
            }
            further
        });
    }

    async fn reached(&self, stage: Stage) {
        let mut watcher = self.stage.subscribe();
        // The sender lives in `self`, so waiting cannot end for want of one.
        let _ = watcher.wait_for(|now| *now >= stage).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn every_clone_sees_both_steps_and_waiting_ends() {
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
        let dropped = tokio::time::timeout(Duration::from_millis(1), token.dropped());
        assert!(dropped.await.is_err(), "the first step drops nothing");
        clone.drop_all();
        token.dropped().await;
        clone.cancel();
        token.dropped().await;
    }

    #[tokio::test]
    async fn dropping_is_stopping_too() {
        let token = CancelToken::new();
        token.drop_all();
        assert!(token.is_cancelled());
        token.cancelled().await;
    }
}
