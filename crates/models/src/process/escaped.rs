//! What a program has started in a session or group of its own: ending the program's group does not reach
//! it, but it still has the variable that everything of one run has.

use std::path::Path;

/// The variable; its value is the directory of the run.
pub(super) const MARK: &str = "RUN_OF_SKILLOPT";

/// Kills every process of the run in `scratch`. One that gave itself another environment is not found.
#[cfg(target_os = "linux")]
pub(super) fn kill(scratch: &Path) {
    use std::os::unix::ffi::OsStrExt as _;

    /// What is killed may have started something just before.
    const ROUNDS: u8 = 3;
    let mark = [MARK.as_bytes(), b"=", scratch.as_os_str().as_bytes()].concat();
    for _ in 0..ROUNDS {
        if !kill_once(&mark) {
            return;
        }
    }
}

/// Whether any was there.
#[cfg(target_os = "linux")]
fn kill_once(mark: &[u8]) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let mut found = false;
    for entry in processes.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(id) = number.and_then(Pid::from_raw) else {
            continue;
        };
        // Those of other users cannot be read, and those that ended have none.
        let is_ours = || {
            std::fs::read(entry.path().join("environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark)
            })
        };
        if !is_ours() {
            continue;
        }
        // Looked at again while it is held: its number may have become somebody else's.
        if let Ok(process) = pidfd_open(id, PidfdFlags::empty())
            && is_ours()
        {
            found |= pidfd_send_signal(&process, Signal::KILL).is_ok();
        }
    }
    found
}

/// Only Linux tells what variables a process has; on Windows a job has them all.
#[cfg(not(target_os = "linux"))]
pub(super) const fn kill(_: &Path) {}
