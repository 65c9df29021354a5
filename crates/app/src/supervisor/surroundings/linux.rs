//! Linux: sysfs, NetworkManager, logind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_core::Instant;
use skillopt_core::schedule::Surroundings;
use skillopt_transcripts::{Power, power};

use super::super::bus::Bus;

/// The variable that says where sysfs is, as libsysfs has it.
const SYSFS_VARIABLE: &str = "SYSFS_PATH";

/// Looks at power, network and idleness.
pub(in super::super) async fn read(
    environment: &BTreeMap<String, String>,
    now: Instant,
) -> Surroundings {
    let Power { on_power, charge } = power(&supplies(environment));
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

fn supplies(environment: &BTreeMap<String, String>) -> PathBuf {
    environment
        .get(SYSFS_VARIABLE)
        .filter(|path| !path.is_empty())
        .map_or_else(|| Path::new("/sys").to_owned(), PathBuf::from)
        .join("class/power_supply")
}
