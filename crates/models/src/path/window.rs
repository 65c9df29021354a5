//! How many tokens the models of a night read and write at most.

use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::Side;
use skillopt_store::events;

use super::{CallPath, Inner, PerSide};

/// The event with what was heard of the windows of a night's models, by side. The prompts of the night
/// are cut by it, those of a resumed night as well.
pub(crate) const WINDOWS: &str = "models/windows";

impl CallPath {
    /// Asks those who serve the models for the windows that nothing else tells. Calls that are planned
    /// afterwards are cut to fit. Who cannot be asked is left out: that shows when the calls are made.
    pub async fn learn_windows(&self, night: i64) -> Result<(), Problem> {
        let inner = &self.inner;
        inner
            .windows
            .get_or_try_init(|| inner.told_windows(night))
            .await
            .map(|_| ())
    }
}

impl Inner {
    async fn told_windows(&self, night: i64) -> Result<PerSide<Option<u64>>, Problem> {
        let before = self.store.read(|db| events::first(db, night, WINDOWS))?;
        if let Some(event) = before {
            return Ok(PerSide::of(|side| event.body[side.id()].as_u64()));
        }
        let mut told = serde_json::Map::new();
        for side in Side::ALL {
            if let Some(window) = self.told_window(side).await {
                told.insert(side.id().to_owned(), window.into());
            }
        }
        if !told.is_empty() {
            let body = Value::Object(told.clone());
            self.store.commit("note windows", |tx| {
                events::append(tx, night, WINDOWS, &body).map(|_| ())
            })?;
        }
        Ok(PerSide::of(|side| told.get(side.id())?.as_u64()))
    }

    /// What whoever serves the model of a side says. A table knows the models of companies; a server on
    /// this computer has been started with a window of its own.
    async fn told_window(&self, side: Side) -> Option<u64> {
        let backend = self.roles.of(side);
        let set = self.options.sides.get(side).window.is_some();
        let listed = || {
            self.options
                .prices
                .context_of(&backend.id().model)
                .is_some()
        };
        if !backend.paid() || set || (!backend.local() && listed()) {
            return None;
        }
        backend.window(&self.cancel).await
    }

    /// How many tokens the model of a side reads and writes at most, as far as that is known.
    pub(super) fn window(&self, side: Side) -> Option<u64> {
        let backend = self.roles.of(side);
        if !backend.paid() {
            return None;
        }
        let told = || self.windows.get().and_then(|told| *told.get(side));
        let of_table = || match backend.id().model.as_str() {
            // It is the agent's own choice: any of those that are known.
            "" => self.options.prices.least_context(),
            model => self.options.prices.context_of(model),
        };
        let set = self.options.sides.get(side).window;
        set.or_else(told).or_else(of_table)
    }
}
