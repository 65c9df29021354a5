//! Who may make a call that may have to renew the user's sign-in.

use std::fs::TryLockError;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use super::{Locked, open, unsupported};
use crate::files;

/// What the names of these locks begin with.
pub(super) const NAME: &str = "sign-in-";

/// The right to such a call; given back when it is dropped, or when the process ends however it ends.
#[derive(Debug)]
#[must_use = "the right is given back when it is dropped"]
pub struct SignIn {
    lock: Locked,
}

/// Takes that right for the sign-in called `name`, against every process with this folder of locks. `None`
/// while another has it.
///
/// Errors: `locks_unsupported`, and those of making files.
pub fn sign_in(locks: &Path, name: &str) -> Result<Option<SignIn>, Problem> {
    files::create_private_dir(locks)?;
    let path = locks.join(format!("{NAME}{}.lock", sha256_hex(name.as_bytes())));
    let lock = Locked(open(&path)?);
    match lock.0.try_lock() {
        Ok(()) => Ok(Some(SignIn { lock })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(unsupported(&path, &error)),
    }
}

impl SignIn {
    /// How long ago a call with it was answered, in whichever process; `None` when none was, or when it
    /// cannot be told.
    #[must_use]
    pub fn answered_ago(&self) -> Option<Duration> {
        let about = self.lock.0.metadata().ok()?;
        if about.len() == 0 {
            return None;
        }
        about.modified().ok()?.elapsed().ok()
    }

    /// A call was answered now: its file says so to the next one. When it cannot be written, that one goes
    /// alone as well.
    pub fn answered(&self) {
        let mut file = &self.lock.0;
        let _ = file.set_len(0).and_then(|()| file.write_all(b"answered\n"));
    }
}
