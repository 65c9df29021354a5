//! What a person did about an answer.

use skillopt_core::agent::Agent;
use skillopt_core::feedback::{Happened, says_again};

use super::Recorder;
use crate::names::short;
use crate::reading::Exchange;
use crate::reason::Reason;

/// Most turns before a prompt that it is compared with.
const AGAIN_LIMIT: usize = 20;

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

    /// The turn at hand was taken back.
    pub(crate) fn undone(&mut self) {
        if let Some(exchange) = self.open_exchange() {
            exchange.mark(Happened::Undone);
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

    /// The prompt at hand may be one that was sent before: a turn right before it, which the person
    /// stopped, refused or took back, says the same.
    pub(super) fn perhaps_again(&mut self) {
        let ended = match self.agent {
            // Their records say what was sent again in its own place, and what was not.
            Agent::Claude | Agent::Vscode | Agent::Pi | Agent::OpenClaw | Agent::Devin => {
                Exchange::was_stopped
            }
            Agent::Codex | Agent::Copilot | Agent::Cursor | Agent::OpenCode => Exchange::was_ended,
        };
        let Some((now, before)) = self.reading.exchanges.split_last_mut() else {
            return;
        };
        let Some(again) = &now.prompt else { return };
        before
            .iter_mut()
            .rev()
            .filter(|exchange| exchange.prompt.is_some())
            .take_while(|exchange| ended(exchange))
            .take(AGAIN_LIMIT)
            .filter(|exchange| {
                let prompt = exchange.prompt.as_ref();
                prompt.is_some_and(|prompt| says_again(&again.text, &prompt.text))
            })
            .for_each(|exchange| exchange.mark(Happened::Resent));
    }
}
