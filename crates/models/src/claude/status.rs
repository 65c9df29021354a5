//! Whether Claude Code is signed in, as seen from where we run: schedulers often cannot reach what
//! a terminal can.

use std::time::Duration;

use serde_json::Value;

use super::{Claude, Launch, SignIn};
use crate::cancel::CancelToken;
use crate::process::{Limits, Program, Scratch, Sign, run};

const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(30),
    whole: Duration::from_secs(30),
    output: 256 * 1024,
};

impl Claude {
    /// Asks the program whether somebody is signed in. Free: it asks no model. `None` when it cannot
    /// tell: older versions do not know the question, and a key shows its worth only in a call.
    pub async fn signed_in(&self, cancel: &CancelToken) -> Option<bool> {
        if matches!(self.options.sign_in, SignIn::Key(_)) {
            return None;
        }
        let (work, aside) = (Scratch::new().ok()?, Scratch::new().ok()?);
        let launch = Launch {
            path: &self.path,
            options: &self.options,
        };
        let program = Program {
            path: self.path.clone(),
            arguments: ["auth", "status"].map(Into::into).to_vec(),
            environment: launch.environment(&aside),
            limits: LIMITS,
            sign: Sign::Byte,
        };
        // It exits with 1 when nobody is signed in, so the exit code is no sign of failure.
        let run = run(&program, &work, b"", cancel).await.ok()?;
        let printed: Value = serde_json::from_slice(&run.output).ok()?;
        printed.get("loggedIn")?.as_bool()
    }
}
