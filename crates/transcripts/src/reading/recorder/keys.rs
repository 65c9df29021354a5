//! By what copies of a turn are recognised.

use skillopt_core::Instant;
use skillopt_core::agent::Agent;

use super::Recorder;
use crate::names::hash;

impl Recorder<'_> {
    pub(super) fn key(&self, id: &str, at: Option<Instant>, words: u64) -> u64 {
        let agent = self.agent.id().as_bytes();
        match self.agent {
            Agent::Claude | Agent::Codex | Agent::Copilot | Agent::Vscode | Agent::Cursor => {
                hash(&[agent, id.as_bytes()])
            }
            // Ids are unique in their session only; copies keep the time as well.
            Agent::Pi | Agent::OpenClaw | Agent::Devin => {
                let at = at.map_or(0, Instant::as_millisecond);
                hash(&[agent, id.as_bytes(), &at.to_le_bytes()])
            }
            // Copies get new ids and keep their time and words.
            Agent::OpenCode => match at {
                Some(at) => {
                    let at = at.as_millisecond().to_le_bytes();
                    hash(&[agent, &at, &words.to_le_bytes()])
                }
                None => hash(&[agent, id.as_bytes()]),
            },
        }
    }

    pub(super) fn key_without_id(&self, at: Option<Instant>, words: u64) -> u64 {
        let at = at.map_or(0, Instant::as_millisecond);
        hash(&[
            self.agent.id().as_bytes(),
            &at.to_le_bytes(),
            &words.to_le_bytes(),
            &(self.reading.exchanges.len() as u64).to_le_bytes(),
        ])
    }
}
