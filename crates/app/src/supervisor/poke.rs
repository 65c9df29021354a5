//! A datagram on a private socket that only says "look again". What there is to see is in the store; a
//! datagram that is lost costs no more than the time to the next look.

use std::io;
#[cfg(unix)]
use std::path::PathBuf;

use skillopt_store::Paths;

/// The address of a socket must be shorter than this on every Unix.
#[cfg(unix)]
const LONGEST: usize = 100;

/// Where whoever supervises this data folder listens; `None` where the folder's path is too long.
#[cfg(unix)]
fn address(paths: &Paths) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = paths.locks().join("supervisor.socket");
    (path.as_os_str().as_bytes().len() < LONGEST).then_some(path)
}

/// Tells whoever supervises to look again; nobody may be there.
#[cfg(unix)]
pub(super) fn send(paths: &Paths) {
    let Some(address) = address(paths) else {
        return;
    };
    if let Ok(socket) = std::os::unix::net::UnixDatagram::unbound() {
        let _ = socket.set_nonblocking(true);
        let _ = socket.send_to(b"look", address);
    }
}

/// Windows has no such sockets here: orders are seen at the next look.
#[cfg(not(unix))]
pub(super) fn send(_paths: &Paths) {}

/// Receives what [`send`] sends.
pub(super) struct Ear {
    #[cfg(unix)]
    socket: Option<(tokio::net::UnixDatagram, PathBuf)>,
}

impl Ear {
    /// An ear that hears nothing.
    pub(super) const fn deaf() -> Self {
        Self {
            #[cfg(unix)]
            socket: None,
        }
    }

    /// Listens for this data folder. Only the process that holds the supervisor's lock may: what lies at
    /// the address is replaced.
    pub(super) fn open(paths: &Paths) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(address) = address(paths) {
            match std::fs::remove_file(&address) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
            let socket = tokio::net::UnixDatagram::bind(&address)?;
            return Ok(Self {
                socket: Some((socket, address)),
            });
        }
        let _ = paths;
        Ok(Self::deaf())
    }

    /// Ends when somebody said to look again. Never, when it is deaf.
    pub(super) async fn hear(&self) {
        #[cfg(unix)]
        if let Some((socket, _)) = &self.socket {
            let mut word = [0_u8; 16];
            if socket.recv(&mut word).await.is_ok() {
                // Several at once are one.
                while socket.try_recv(&mut word).is_ok() {}
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
impl Drop for Ear {
    fn drop(&mut self) {
        if let Some((_, address)) = &self.socket {
            let _ = std::fs::remove_file(address);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;
    use crate::commands::{Command, execute};
    use crate::config::SetInput;
    use crate::project::Which;
    use crate::test_home::{TestHome, block_on};

    #[test]
    fn whoever_supervises_hears_of_every_command_that_writes_and_of_no_other() {
        let home = TestHome::new();
        let address = address(&home.app.paths).unwrap();
        std::fs::create_dir_all(address.parent().unwrap()).unwrap();
        let socket = UnixDatagram::bind(&address).unwrap();
        socket.set_nonblocking(true).unwrap();
        let heard = |command: Command| {
            // What comes of it is not the question; one that fails may have done some of it.
            let _ = block_on(execute(&home.app, command));
            let mut word = [0_u8; 16];
            let mut times = 0;
            while socket.recv(&mut word).is_ok() {
                times += 1;
            }
            times
        };
        let set = |value: &str| {
            Command::ConfigSet(SetInput {
                key: "schedule.hour".to_owned(),
                value: Some(value.to_owned()),
                for_project: false,
                project: None,
            })
        };
        assert_eq!(heard(Command::ProjectAdd(Which::default())), 1);
        assert_eq!(heard(set("4")), 1);
        assert_eq!(heard(set("no hour")), 1);
        assert_eq!(heard(Command::ConfigShow(Which::default())), 0);
        assert_eq!(heard(Command::ProjectList(crate::Nothing {})), 0);
    }
}
