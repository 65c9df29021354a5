//! Windows: its own summary of batteries, and the cost of the network in use.

use skillopt_transcripts::Power;
use windows::Networking::Connectivity::{NetworkCostType, NetworkInformation};
use windows::System::Power::{BatteryStatus, PowerManager, PowerSupplyStatus};

/// What runs the computer. One without a battery is on power.
pub(super) fn power() -> Power {
    let has_battery =
        PowerManager::BatteryStatus().map(|status| status != BatteryStatus::NotPresent);
    let supply = PowerManager::PowerSupplyStatus();
    Power {
        on_power: match (&has_battery, supply) {
            (Ok(false), _) => Some(true),
            (_, Ok(supply)) => Some(supply != PowerSupplyStatus::NotPresent),
            (_, Err(_)) => None,
        },
        charge: match has_battery {
            Ok(true) => PowerManager::RemainingChargePercent()
                .ok()
                .and_then(|charge| u8::try_from(charge).ok()),
            Ok(false) | Err(_) => None,
        },
    }
}

/// Whether what is sent now costs or counts.
pub(super) fn metered() -> Option<bool> {
    let cost = NetworkInformation::GetInternetConnectionProfile()
        .and_then(|profile| profile.GetConnectionCost())
        .ok()?;
    if cost.Roaming().ok()? {
        return Some(true);
    }
    match cost.NetworkCostType().ok()? {
        NetworkCostType::Unrestricted => Some(false),
        NetworkCostType::Fixed | NetworkCostType::Variable => Some(true),
        _ => None,
    }
}
