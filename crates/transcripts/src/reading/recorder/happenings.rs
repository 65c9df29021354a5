//! What a person did about an answer.

use skillopt_core::feedback::Happened;

use super::Recorder;
use crate::reason::Reason;

impl Recorder<'_> {
    /// The person interrupted the agent.
    pub(crate) fn interrupted(&mut self) {
        self.skip(Reason::Interruption);
        if let Some(exchange) = self.open_exchange() {
            exchange.mark(Happened::Interrupted);
        }
    }

    /// The person refused to let the agent call a tool.
    pub(crate) fn tool_rejected(&mut self) {
        if let Some(exchange) = self.open_exchange() {
            exchange.mark(Happened::ToolRejected);
        }
    }

    /// The person took back the last turns that still stand.
    pub(crate) fn taken_back(&mut self, turns: usize) {
        self.close();
        self.reading
            .exchanges
            .iter_mut()
            .rev()
            .filter(|exchange| exchange.stands())
            .take(turns)
            .for_each(|exchange| exchange.mark(Happened::Undone));
    }

    /// The prompt at `first` was edited and sent again; what stands behind it is gone with it.
    pub(super) fn replaced(&mut self, first: usize) {
        let (edited, gone) = self.reading.exchanges[first..]
            .split_first_mut()
            .map_or((None, &mut [][..]), |(edited, gone)| (Some(edited), gone));
        if let Some(edited) = edited {
            edited.mark(Happened::Resent);
        }
        for exchange in gone.iter_mut().filter(|exchange| exchange.stands()) {
            exchange.mark(Happened::Undone);
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
