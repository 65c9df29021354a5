//! How hard a harvest may work: on battery one thread, which steps back for everything else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Most reader threads when the request leaves it open.
const THREADS: usize = 4;

/// The variable that says where sysfs is, as libsysfs has it.
const SYSFS_VARIABLE: &str = "SYSFS_PATH";

/// Where Linux tells about batteries and mains.
#[must_use]
pub fn power_supplies(environment: &BTreeMap<String, String>) -> PathBuf {
    environment
        .get(SYSFS_VARIABLE)
        .filter(|path| !path.is_empty())
        .map_or_else(|| Path::new("/sys").to_owned(), PathBuf::from)
        .join("class/power_supply")
}

/// Whether the machine runs on battery, as a folder like that of [`power_supplies`] tells: a battery of the
/// machine itself is being discharged, and no mains are connected. Where there is no such folder (on
/// macOS, Windows and most servers) the answer is no.
#[must_use]
pub fn on_battery(supplies: &Path) -> bool {
    let Ok(entries) = fs::read_dir(supplies) else {
        return false;
    };
    let supplies: Vec<Supply> = entries
        .flatten()
        .map(|entry| Supply::at(&entry.path()))
        .collect();
    supplies.contains(&Supply::Discharging) && !supplies.contains(&Supply::Mains)
}

/// What runs the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Power {
    /// It gets its power from outside; `None` when that is not known.
    pub on_power: Option<bool>,
    /// Charge of its batteries in percent, their mean when there are several.
    pub charge: Option<u8>,
}

/// What a folder like that of [`power_supplies`] tells. A machine without a battery is on power.
#[must_use]
pub fn power(supplies: &Path) -> Power {
    let Ok(entries) = fs::read_dir(supplies) else {
        return Power::default();
    };
    let folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let kinds: Vec<Supply> = folders.iter().map(|folder| Supply::at(folder)).collect();
    let charges: Vec<u32> = folders.iter().filter_map(|folder| charge(folder)).collect();
    let on_power = if kinds.contains(&Supply::Mains) || charges.is_empty() {
        Some(true)
    } else if kinds.contains(&Supply::Discharging) {
        Some(false)
    } else {
        // Full or held at its charge, and no supply says that it is connected.
        None
    };
    let mean = charges
        .iter()
        .sum::<u32>()
        .checked_div(u32::try_from(charges.len()).unwrap_or(0));
    Power {
        on_power,
        charge: mean.and_then(|charge| u8::try_from(charge).ok()),
    }
}

/// Charge of a battery of the machine itself, in percent.
fn charge(folder: &Path) -> Option<u32> {
    let says = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    if says("scope").trim() == "Device" || says("type").trim() != "Battery" {
        return None;
    }
    // One that does not tell counts as empty rather than as none.
    Some(says("capacity").trim().parse().unwrap_or(0).min(100))
}

/// What one supply says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Supply {
    /// Power comes in from outside.
    Mains,
    /// A battery of the machine is being discharged.
    Discharging,
    /// Anything else: a full battery, that of a mouse, a plug without power.
    Silent,
}

impl Supply {
    fn at(folder: &Path) -> Self {
        let says = |file: &str| {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            text.trim().to_owned()
        };
        if says("scope") == "Device" {
            return Self::Silent;
        }
        match says("type").as_str() {
            "Battery" if says("status") == "Discharging" => Self::Discharging,
            "Mains" | "USB" | "Wireless" if says("online") == "1" => Self::Mains,
            _ => Self::Silent,
        }
    }
}

/// How many reader threads there are: as many as were asked for (0 leaves it open), on battery one,
/// else one per core up to four.
pub(crate) fn threads(asked: usize, on_battery: bool, cores: usize) -> usize {
    match asked {
        0 if on_battery => 1,
        0 => cores.clamp(1, THREADS),
        asked => asked,
    }
}

/// Lets every other program go first, for the rest of this thread's life and of those it starts. On
/// Linux the niceness of a thread also decides how its reads are queued (ioprio(7)); elsewhere nothing
/// is changed.
pub(crate) fn step_back() {
    #[cfg(target_os = "linux")]
    {
        const NICEST: i32 = 19;
        // A system that refuses leaves the thread as it is, which is only less polite.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICEST);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn supplies(supplies: &[&[(&str, &str)]]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        for (number, files) in supplies.iter().enumerate() {
            let supply = folder.path().join(number.to_string());
            fs::create_dir(&supply).unwrap();
            for (name, text) in *files {
                let mut file = fs::File::create(supply.join(name)).unwrap();
                writeln!(file, "{text}").unwrap();
            }
        }
        on_battery(folder.path())
    }

    #[test]
    fn only_a_battery_that_is_discharged_and_no_mains_count() {
        let battery: &[_] = &[("type", "Battery"), ("status", "Discharging")];
        let full: &[_] = &[("type", "Battery"), ("status", "Full")];
        let mouse: &[_] = &[
            ("type", "Battery"),
            ("status", "Discharging"),
            ("scope", "Device"),
        ];
        let plugged: &[_] = &[("type", "Mains"), ("online", "1")];
        let unplugged: &[_] = &[("type", "Mains"), ("online", "0")];
        for (list, expected) in [
            (&[][..], false),
            (&[battery], true),
            (&[battery, unplugged], true),
            // A weak charger: the battery gives the rest.
            (&[battery, plugged], false),
            (&[full, plugged], false),
            (&[full], false),
            (&[mouse], false),
            (&[&[]], false),
        ] {
            assert_eq!(supplies(list), expected, "{list:?}");
        }
        assert!(!on_battery(Path::new("/nowhere/at/all")));
    }

    #[test]
    fn a_machine_without_a_battery_is_on_power_and_charges_are_averaged() {
        let folder = tempfile::tempdir().unwrap();
        let says = |supply: &str, files: &[(&str, &str)]| {
            let supply = folder.path().join(supply);
            fs::create_dir_all(&supply).unwrap();
            for (name, text) in files {
                let mut file = fs::File::create(supply.join(name)).unwrap();
                writeln!(file, "{text}").unwrap();
            }
        };
        let told = || {
            let Power { on_power, charge } = power(folder.path());
            (on_power, charge)
        };
        assert_eq!(told(), (Some(true), None));
        says(
            "mouse",
            &[("type", "Battery"), ("scope", "Device"), ("capacity", "3")],
        );
        assert_eq!(told(), (Some(true), None));
        says(
            "BAT0",
            &[
                ("type", "Battery"),
                ("status", "Discharging"),
                ("capacity", "80"),
            ],
        );
        assert_eq!(told(), (Some(false), Some(80)));
        says(
            "BAT1",
            &[
                ("type", "Battery"),
                ("status", "Not charging"),
                ("capacity", "40"),
            ],
        );
        assert_eq!(told(), (Some(false), Some(60)));
        says("AC", &[("type", "Mains"), ("online", "1")]);
        assert_eq!(told(), (Some(true), Some(60)));
        says("AC", &[("online", "0")]);
        says("BAT0", &[("status", "Full")]);
        assert_eq!(told(), (None, Some(60)));
        assert_eq!(power(Path::new("/nowhere/at/all")), Power::default());
    }

    #[test]
    fn threads_follow_the_request_then_the_power_then_the_cores() {
        for (asked, on_battery, cores, expected) in [
            (0, false, 1, 1),
            (0, false, 2, 2),
            (0, false, 64, 4),
            (0, false, 0, 1),
            (0, true, 64, 1),
            (3, true, 1, 3),
        ] {
            assert_eq!(threads(asked, on_battery, cores), expected);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_steps_back_is_the_nicest_and_the_others_stay() {
        let niceness =
            || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = niceness();
        let stepped_back = std::thread::spawn(move || {
            step_back();
            // One that it starts is no less polite.
            let reader = std::thread::spawn(niceness);
            (niceness(), reader.join().unwrap())
        });
        assert_eq!(stepped_back.join().unwrap(), (19, 19));
        assert_eq!(niceness(), before);
    }
}
