//! What is known of the computer: power, network, whether somebody uses it. What cannot be found out is
//! unknown, which never holds a night back.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::read;
#[cfg(target_os = "linux")]
pub(super) use linux::read;

/// Systems that are asked through their own functions: these may take their time, and know no clock but
/// their own.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use skillopt_core::Instant;
    use skillopt_core::schedule::Surroundings;

    #[cfg(target_os = "macos")]
    use super::macos::{metered, power};
    #[cfg(windows)]
    use super::windows::{metered, power};

    /// How long an answer is waited for.
    const PATIENCE: Duration = Duration::from_secs(3);

    /// Looks at power, network and idleness.
    pub(in super::super) async fn read(
        _environment: &BTreeMap<String, String>,
        _now: Instant,
    ) -> Surroundings {
        let asked = tokio::task::spawn_blocking(|| {
            let power = power();
            Surroundings {
                on_power: power.on_power,
                battery: power.charge,
                metered: metered(),
                idle: system_idle_time::get_idle_time().ok(),
                ..Surroundings::default()
            }
        });
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(known)) => known,
            Ok(Err(_)) | Err(_) => Surroundings::default(),
        }
    }
}
