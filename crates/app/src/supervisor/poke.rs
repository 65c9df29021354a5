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
