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
use crate::error::CallError;
use crate::limits::Place;

/// A limit that is whole again so soon is waited for; it is one per minute, not that of a plan.
const SOON: Duration = Duration::from_secs(120);
/// What the reason of such a pause begins with; how much was left stands behind it.
const REASON: &str = "quota_reserved ";

/// How much was left when a provider was paused for this reason; `None` for another reason.
pub(super) fn left(reason: &str) -> Option<u8> {
    reason.strip_prefix(REASON)?.parse().ok()
}

impl Run {
    /// Leaves `provider` alone when less than the reserve is left.
    pub(super) fn keep_reserve(
        &self,
        provider: &str,
        place: &Place,
        allowance: Allowance,
    ) -> Result<(), Problem> {
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
}
