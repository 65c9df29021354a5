//! Equal questions are asked once: the second waits for the first and then finds its answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

#[derive(Default)]
pub(super) struct Turns {
    keys: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

impl Turns {
    /// Waits until nobody else asks the question with this key.
    pub(super) async fn take(&self, key: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(turn) = keys.get(key).and_then(Weak::upgrade) {
                turn
            } else {
                let turn = Arc::default();
                keys.insert(key.to_owned(), Arc::downgrade(&turn));
                turn
            }
        };
        turn.lock_owned().await
    }

    /// Forgets the keys nobody asks for any more.
    pub(super) fn tidy(&self) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, turn| turn.strong_count() > 0);
    }
}
