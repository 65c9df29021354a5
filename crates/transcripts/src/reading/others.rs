//! How much others than the person and the agent wrote.

use serde::{Deserialize, Serialize};

use crate::session::Author;

/// Turns of those whose words are not kept. A number each, whatever the files hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u32)", into = "(u32, u32, u32)")]
pub(crate) struct Others {
    tool: u32,
    system: u32,
    generated: u32,
}

impl From<(u32, u32, u32)> for Others {
    fn from((tool, system, generated): (u32, u32, u32)) -> Self {
        Self {
            tool,
            system,
            generated,
        }
    }
}

impl From<Others> for (u32, u32, u32) {
    fn from(others: Others) -> Self {
        (others.tool, others.system, others.generated)
    }
}

impl Others {
    /// Counts one turn. Those of the person and the agent are kept, and counted where they are.
    pub(crate) fn add(&mut self, author: Author) {
        let count = match author {
            Author::Human | Author::Assistant => return,
            Author::Tool => &mut self.tool,
            Author::System => &mut self.system,
            Author::Generated => &mut self.generated,
        };
        *count = count.saturating_add(1);
    }

    pub(crate) fn join(&mut self, more: Self) {
        self.tool = self.tool.saturating_add(more.tool);
        self.system = self.system.saturating_add(more.system);
        self.generated = self.generated.saturating_add(more.generated);
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The authors with the number of their turns.
    pub(crate) fn counts(self) -> [(Author, u32); 3] {
        [
            (Author::Tool, self.tool),
            (Author::System, self.system),
            (Author::Generated, self.generated),
        ]
    }
}
