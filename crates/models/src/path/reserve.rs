//! Keeping a part of a plan for the user.
//!
//! A provider that says with its replies how much is left is asked no more once that is less than the
//! user wants to keep: for the minute that a limit per minute takes, or until the plan is whole again.

use std::time::Duration;

use serde_json::json;
use skillopt_core::Problem;
use skillopt_store::{events, pauses};

use super::CallEvent;
use super::run::Run;
use super::send::{LONGEST_PAUSE, UNKNOWN_RESET};
use crate::allowance::Allowance;
use crate::backend::Backend;
use crate::error::CallError;
use crate::limits::Place;

/// A limit that is whole again so soon is waited for; it is one per minute, not that of a plan.
const SOON: Duration = Duration::from_secs(120);
/// What the reason of such a pause begins with; how much was left stands behind it.
const REASON: &str = "quota_reserved ";
/// A reading that is older than this does not tell whether enough is left.
const TOO_OLD: Duration = Duration::from_secs(12 * 3600);

/// How much was left when a provider was paused for this reason; `None` for another reason.
pub(super) fn left(reason: &str) -> Option<u8> {
    reason.strip_prefix(REASON)?.parse().ok()
}

impl Run {
    /// Leaves the provider of `backend` alone when less than the reserve is left. Where that cannot be
    /// told it may be asked, and the report says so.
    ///
    /// A reading from before the reply counts whatever its age when too little was left: a limit that is
    /// not over has no more by now. That enough was left is only believed for a while.
    pub(super) fn keep_reserve(
        &self,
        backend: &dyn Backend,
        provider: &str,
        place: &Place,
        allowance: Option<Allowance>,
    ) -> Result<(), Problem> {
        // A recorded night has its own notes on this.
        if self.path.options.reserve_percent == 0 || backend.recording().is_some() {
            return Ok(());
        }
        // What runs on this computer has no plan to tell of, but a proxy passes on what is said of one.
        if allowance.is_none() && (!backend.paid() || backend.local()) {
            return Ok(());
        }
        self.note_reading(provider, allowance)?;
        let Some(allowance) = allowance else {
            return Ok(());
        };
        let left_percent = allowance.left_percent;
        if left_percent >= self.path.options.reserve_percent {
            return Ok(());
        }
        let now = self.path.store.clock().now();
        let wait = allowance.until.map_or(UNKNOWN_RESET, |until| {
            Duration::try_from(until.duration_since(now)).unwrap_or_default()
        });
        if wait <= SOON {
            place.slow_down(wait);
            return Ok(());
        }
        let until = now.saturating_add(wait.min(LONGEST_PAUSE)).unwrap_or(now);
        self.path.store.commit("keep reserve", |tx| {
            pauses::set(tx, provider, until, &format!("{REASON}{left_percent}"))?;
            let body = json!({"provider": provider, "left_percent": left_percent, "until": until});
            events::append(tx, self.night, "models/reserve", &body).map(|_| ())
        })?;
        self.path.tell(&CallEvent::Paused {
            provider: provider.to_owned(),
            until,
        });
        self.stop_provider(
            provider,
            CallError::QuotaReserved {
                provider: provider.to_owned(),
                left_percent,
                until: Some(until),
            },
        );
        Ok(())
    }

    /// Writes down, once in a stage for each, what is known of a plan from before the reply, and that
    /// nothing is.
    fn note_reading(&self, provider: &str, allowance: Option<Allowance>) -> Result<(), Problem> {
        let as_of = allowance.map(|allowance| allowance.as_of);
        if !self.first_reading(provider, as_of) {
            return Ok(());
        }
        let now = self.path.store.clock().now();
        let body = match allowance {
            Some(Allowance {
                left_percent,
                as_of: Some(as_of),
                ..
            }) => {
                let age = Duration::try_from(now.duration_since(as_of)).unwrap_or_default();
                json!({
                    "provider": provider, "left_percent": left_percent, "as_of": as_of,
                    "age_minutes": age.as_secs() / 60, "too_old": age > TOO_OLD,
                })
            }
            Some(Allowance { as_of: None, .. }) => json!({"provider": provider, "now": true}),
            None => json!({"provider": provider}),
        };
        self.path.store.commit("note reading", |tx| {
            events::append(tx, self.night, "models/allowance", &body).map(|_| ())
        })
    }
}
