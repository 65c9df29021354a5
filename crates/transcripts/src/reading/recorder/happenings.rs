//! What a person did about an answer.

use skillopt_core::feedback::Happened;

use super::Recorder;
use crate::names::short;
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

    /// The prompt at hand was edited and sent again, in another place of the file.
    pub(crate) fn resent(&mut self) {
        if let Some(exchange) = self.open_exchange() {
            exchange.mark(Happened::Resent);
        }
    }

    /// The person took back the last turns that still stand.
    pub(crate) fn taken_back(&mut self, turns: usize) {
        self.between_turns();
        self.reading
            .exchanges
            .iter_mut()
            .rev()
            .filter(|exchange| exchange.stands())
            .take(turns)
            .for_each(|exchange| exchange.mark(Happened::Undone));
    }

    /// The person took back the turn with this id and all that came after it. Nothing happens when
    /// there is no such turn: the agent has removed it already.
    pub(crate) fn taken_back_from(&mut self, id: &str) {
        self.between_turns();
        let id = short(id);
        let exchanges = &mut self.reading.exchanges;
        let first = exchanges
            .iter()
            .rposition(|exchange| !id.is_empty() && exchange.id == id)
            .unwrap_or(exchanges.len());
        for exchange in exchanges[first..]
            .iter_mut()
            .filter(|exchange| exchange.stands())
        {
            exchange.mark(Happened::Undone);
        }
    }

    /// The turn at hand is over, and none was lost after it.
    fn between_turns(&mut self) {
        self.close();
        self.reading.lost = false;
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
