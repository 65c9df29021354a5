//! How hard a harvest may work: on battery one thread, which steps back for everything else.

use std::fs;
use std::path::Path;

/// Most reader threads when the request leaves it open.
const THREADS: usize = 4;

/// Where Linux tells about batteries and mains.
pub const POWER_SUPPLIES: &str = "/sys/class/power_supply";

/// Whether the machine runs on battery, as a folder like [`POWER_SUPPLIES`] tells: a battery of the
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

/// Lets every other program go first, for the rest of this thread's life. On Linux the niceness of a
/// thread also decides how its reads are queued (ioprio(7)); elsewhere nothing is changed.
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
            niceness()
        });
        assert_eq!(stepped_back.join().unwrap(), 19);
        assert_eq!(niceness(), before);
    }
}
