//! Linux: sysfs, NetworkManager, logind.

use std::collections::BTreeMap;

use skillopt_core::Instant;
use skillopt_core::schedule::Surroundings;
use skillopt_transcripts::{Power, power, power_supplies};

use super::super::bus::Bus;

/// Looks at power, network and idleness.
pub(in super::super) async fn read(
    environment: &BTreeMap<String, String>,
    now: Instant,
) -> Surroundings {
    let Power { on_power, charge } = power(&power_supplies(environment));
    let around = Surroundings {
        on_power,
        battery: charge,
        ..Surroundings::default()
    };
    let Ok(bus) = Bus::system(environment).await else {
        return around;
    };
    Surroundings {
        metered: bus.metered().await,
        idle: bus.idle(now).await,
        ..around
    }
}
