//! A program together with everything it starts.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::escaped;

/// Makes the program the head of its own tree: it gets no terminal and no console window, and can
/// be ended together with what it starts.
pub(super) fn own(command: &mut CommandWrap) {
    // The flags have to be known before the job object adds its own.
    #[cfg(windows)]
    command
        .wrap(process_wrap::tokio::CreationFlags(
            windows::Win32::System::Threading::CREATE_NO_WINDOW,
        ))
        .wrap(process_wrap::tokio::JobObject);
    // A session, not only a group: a program that wants to ask something at the terminal finds
    // none and says so, instead of waiting there for ever.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    command.wrap(KillOnDrop);
}

/// The three pipes of a program.
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) diagnostics: ChildStderr,
}

/// A running program and its descendants. Dropping it kills them all.
pub(super) struct Tree {
    child: Box<dyn ChildWrapper>,
    /// The directory of the run.
    scratch: PathBuf,
    killed: bool,
}

impl Tree {
    pub(super) fn new(child: Box<dyn ChildWrapper>, scratch: &Path) -> Self {
        Self {
            child,
            scratch: scratch.to_owned(),
            killed: false,
        }
    }

    /// The pipes; once.
    pub(super) fn pipes(&mut self) -> io::Result<Pipes> {
        let gone = || io::Error::other("a pipe of the program is missing");
        Ok(Pipes {
            input: self.child.stdin().take().ok_or_else(gone)?,
            output: self.child.stdout().take().ok_or_else(gone)?,
            diagnostics: self.child.stderr().take().ok_or_else(gone)?,
        })
    }

    /// Waits for the program itself, not for what it started.
    pub(super) async fn leader(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    /// Kills whatever is left of the tree. Once only: afterwards its number may be somebody else's.
    pub(super) fn kill(&mut self) {
        if !self.killed {
            self.killed = true;
            // An empty tree is the usual reason for an error here.
            let _ = self.child.start_kill();
            escaped::kill(&self.scratch);
        }
    }

    /// Asks the tree to end, waits up to `patience` for the program itself, and kills what is left.
    pub(super) async fn end(mut self, patience: Duration) {
        #[cfg(unix)]
        {
            const SIGTERM: i32 = 15;
            if self.child.signal(SIGTERM).is_ok() {
                let _ = timeout(patience, self.leader()).await;
            }
        }
        self.kill();
        // Reaps it. A program that survives this long hangs in the kernel; it is left to it.
        let _ = timeout(patience, self.leader()).await;
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}
