//! What is known of the computer: power, network, whether somebody uses it. What cannot be found out is
//! unknown, which never holds a night back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_core::Instant;
use skillopt_core::schedule::Surroundings;
use skillopt_transcripts::{Power, power};

/// The variable that says where sysfs is, as libsysfs has it.
const SYSFS_VARIABLE: &str = "SYSFS_PATH";

/// Looks at power, network and idleness.
pub(super) async fn read(environment: &BTreeMap<String, String>, now: Instant) -> Surroundings {
    let Power { on_power, charge } = power(&supplies(environment));
    let around = Surroundings {
        on_power,
        battery: charge,
        ..Surroundings::default()
    };
    by_the_bus(around, environment, now).await
}

#[cfg(target_os = "linux")]
async fn by_the_bus(
    around: Surroundings,
    environment: &BTreeMap<String, String>,
    now: Instant,
) -> Surroundings {
    let Ok(bus) = super::bus::Bus::system(environment).await else {
        return around;
    };
    Surroundings {
        metered: bus.metered().await,
        idle: bus.idle(now).await,
        ..around
    }
}

/// macOS and Windows are not asked in this version: both stay unknown there.
#[cfg(not(target_os = "linux"))]
async fn by_the_bus(
    around: Surroundings,
    _environment: &BTreeMap<String, String>,
    _now: Instant,
) -> Surroundings {
    around
}

fn supplies(environment: &BTreeMap<String, String>) -> PathBuf {
    environment
        .get(SYSFS_VARIABLE)
        .filter(|path| !path.is_empty())
        .map_or_else(|| Path::new("/sys").to_owned(), PathBuf::from)
        .join("class/power_supply")
}
