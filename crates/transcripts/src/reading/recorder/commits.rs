//! Commits, from the call to its result.

use skillopt_core::feedback::Happened;

use super::Recorder;
use crate::names::hash;

/// Most commits that wait for their results at a time; agents run a few calls side by side.
const WAITING_LIMIT: usize = 16;

impl Recorder<'_> {
    /// The agent called `git commit`. Whether it came to that, the result of the call says.
    pub(crate) fn committing(&mut self, call: &str) {
        let waiting = &mut self.reading.committing;
        if waiting.len() >= WAITING_LIMIT {
            waiting.remove(0);
        }
        waiting.push(hash(&[call.as_bytes()]));
    }

    /// Whether the result of a commit is still to come, so that results must be looked at.
    pub(crate) fn awaits_commit(&self) -> bool {
        !self.reading.committing.is_empty()
    }

    /// A call of any tool ended.
    pub(crate) fn returned(&mut self, call: &str, succeeded: bool) {
        let call = hash(&[call.as_bytes()]);
        let waiting = &mut self.reading.committing;
        let Some(at) = waiting.iter().position(|waits| *waits == call) else {
            return;
        };
        waiting.remove(at);
        if succeeded {
            self.committed();
        }
    }

    /// The agent committed: the last turn that changed files, and still stands, is kept.
    pub(crate) fn committed(&mut self) {
        let kept = self
            .reading
            .exchanges
            .iter_mut()
            .rev()
            .filter(|exchange| exchange.stands())
            .find(|exchange| !exchange.files.is_empty());
        if let Some(exchange) = kept {
            exchange.mark(Happened::Committed);
        }
    }
}
