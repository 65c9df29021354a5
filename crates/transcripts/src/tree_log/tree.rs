//! The entries of a session as a tree.
//!
//! Every entry names the one it follows. A person can go back to an earlier entry and go on from
//! there; the file keeps both branches, and the last entry says which one is the session now.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use skillopt_core::Instant;

use crate::reading::Recorder;
use crate::reason::Reason;
use crate::rules::Kept;
use crate::session::Author;

/// Most entries kept of one file.
const ENTRY_LIMIT: usize = 200_000;
/// Most bytes of a person's words kept of one file, and as many of the agent's.
const TEXT_LIMIT: usize = 8 * 1024 * 1024;

/// What is kept of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Says {
    /// A person's words, and the skill whose text was put before them.
    Person {
        id: String,
        at: Option<Instant>,
        kept: Kept,
        skill: String,
        /// The program says with them that the person refused a call before.
        refused: bool,
    },
    /// Something else that the agent answers. What it then does answers no prompt.
    Aside {
        id: String,
        at: Option<Instant>,
        author: Option<Author>,
        /// The program says that the person refused a call before.
        refused: bool,
    },
    /// What the agent said and did.
    Agent {
        id: String,
        at: Option<Instant>,
        words: String,
        acts: Vec<Act>,
        interrupted: bool,
    },
    /// A call that waited for its result, which is here, ended.
    Returned { call: String, well: bool },
    /// Another entry's words are replaced by these.
    Edit { target: u32, words: String },
}

/// One thing the agent did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Act {
    Tool(String),
    Skill(String),
    File(String),
    /// The call of a commit.
    Commit(String),
}

/// The entries so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub(super) struct Tree {
    entries: Vec<Entry>,
    /// Positions by id.
    known: HashMap<String, u32>,
    person_bytes: usize,
    agent_bytes: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    id: String,
    parent: Option<u32>,
    says: Option<Box<Says>>,
    /// Whose turn it is, of those whose words are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<Author>,
}

impl From<Vec<Entry>> for Tree {
    fn from(entries: Vec<Entry>) -> Self {
        let mut tree = Self::default();
        for entry in entries {
            tree.push(entry);
        }
        tree
    }
}

impl From<Tree> for Vec<Entry> {
    fn from(tree: Tree) -> Self {
        tree.entries
    }
}

impl Tree {
    /// Adds an entry. One without an id follows the entry before it, as all did in the first
    /// version; so does one whose parent was lost.
    pub(super) fn add(
        &mut self,
        id: &str,
        parent: &str,
        says: Option<Says>,
        recorder: &mut Recorder<'_>,
    ) {
        self.add_entry(id, parent, says, None, recorder);
    }

    /// Adds an entry of which nothing is kept but its place, and who wrote it.
    pub(super) fn beside(
        &mut self,
        id: &str,
        parent: &str,
        author: Option<Author>,
        recorder: &mut Recorder<'_>,
    ) {
        self.add_entry(id, parent, None, author, recorder);
    }

    fn add_entry(
        &mut self,
        id: &str,
        parent: &str,
        says: Option<Says>,
        beside: Option<Author>,
        recorder: &mut Recorder<'_>,
    ) {
        let person = matches!(says, Some(Says::Person { .. }));
        if !id.is_empty() && self.known.contains_key(id) {
            if person {
                recorder.skip(Reason::Copy);
            }
            return;
        }
        if self.entries.len() >= ENTRY_LIMIT {
            if person {
                recorder.skip(Reason::BeyondLimit);
            }
            return;
        }
        let before = self
            .entries
            .len()
            .checked_sub(1)
            .and_then(|at| u32::try_from(at).ok());
        let parent = match (id, parent) {
            ("", _) => before,
            (_, "") => None,
            (_, parent) => self.known.get(parent).copied().or(before),
        };
        let fits = says.as_ref().is_none_or(|says| self.fits(says));
        if !fits {
            recorder.skip(Reason::BeyondLimit);
        }
        self.push(Entry {
            id: id.to_owned(),
            parent,
            says: says.filter(|_| fits).map(Box::new),
            beside,
        });
    }

    /// The position of an entry.
    pub(super) fn position(&self, id: &str) -> Option<u32> {
        self.known.get(id).copied()
    }

    fn fits(&self, says: &Says) -> bool {
        let (person, agent) = bytes(says);
        self.person_bytes + person <= TEXT_LIMIT && self.agent_bytes + agent <= TEXT_LIMIT
    }

    fn push(&mut self, entry: Entry) {
        if let (false, Ok(at)) = (entry.id.is_empty(), u32::try_from(self.entries.len())) {
            self.known.insert(entry.id.clone(), at);
        }
        if let Some(says) = &entry.says {
            let (person, agent) = bytes(says);
            self.person_bytes += person;
            self.agent_bytes += agent;
        }
        self.entries.push(entry);
    }

    /// Tells the recorder what stands on the branch of the last entry, and lets go of everything. A
    /// prompt beside it that was edited and sent again is told as well, with what came of it.
    pub(super) fn tell(&mut self, recorder: &mut Recorder<'_>) {
        let sides = self.sides();
        let entries = std::mem::take(&mut self.entries);
        let mut edits: HashMap<u32, String> = HashMap::new();
        let mut said = Vec::new();
        for ((position, entry), side) in entries.into_iter().enumerate().zip(sides) {
            match (side, entry.says.map(|says| *says), entry.beside) {
                (Side::Branch, Some(Says::Edit { target, words }), _) => {
                    edits.insert(target, words);
                }
                (Side::Left, Some(Says::Person { .. }), _) => {
                    recorder.skip(Reason::AbandonedBranch);
                }
                (Side::Left, _, _) | (Side::Resent | Side::Undone, Some(Says::Edit { .. }), _) => {}
                (Side::Branch | Side::Resent | Side::Undone, Some(says), _) => {
                    said.push((position, side, Told::Says(says)));
                }
                (Side::Branch | Side::Resent | Side::Undone, None, Some(author)) => {
                    said.push((position, side, Told::Beside(author)));
                }
                (Side::Branch | Side::Resent | Side::Undone, None, None) => {}
            }
        }
        for (position, side, told) in said {
            let says = match told {
                Told::Says(says) => says,
                Told::Beside(author) => {
                    recorder.beside(author);
                    continue;
                }
            };
            let edit = u32::try_from(position)
                .ok()
                .and_then(|at| edits.remove(&at));
            let prompt = matches!(says, Says::Person { .. });
            says.tell(edit, recorder);
            match side {
                Side::Resent if prompt => recorder.resent(),
                Side::Undone if prompt => recorder.undone(),
                Side::Branch | Side::Resent | Side::Undone | Side::Left => {}
            }
        }
        *self = Self::default();
    }

    /// On which side each entry is.
    fn sides(&self) -> Vec<Side> {
        let mut sides = vec![Side::Left; self.entries.len()];
        // The last prompt of the branch that follows an entry, by that entry.
        let mut prompts: HashMap<Option<u32>, usize> = HashMap::new();
        let mut at = self.entries.len().checked_sub(1);
        while let Some(position) = at {
            let entry = &self.entries[position];
            sides[position] = Side::Branch;
            if entry.is_prompt() {
                prompts.insert(entry.parent, position);
            }
            // A parent stands before its child, so this comes to an end.
            at = entry.parent.map(|parent| parent as usize);
        }
        for (position, entry) in self.entries.iter().enumerate() {
            if sides[position] != Side::Left {
                continue;
            }
            let before = entry.parent.map(|parent| sides[parent as usize]);
            let sent_again = || prompts.get(&entry.parent).is_some_and(|&it| it > position);
            sides[position] = match (before, entry.is_prompt()) {
                // What came of a prompt is where the prompt is, and what was asked then is gone with it.
                (Some(side @ (Side::Resent | Side::Undone)), false) => side,
                (Some(Side::Resent | Side::Undone), true) => Side::Undone,
                (Some(Side::Branch) | None, true) if sent_again() => Side::Resent,
                (Some(Side::Branch | Side::Left) | None, _) => Side::Left,
            };
        }
        sides
    }
}

/// Where an entry is, seen from the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// On its branch.
    Branch,
    /// Beside it: a prompt that was edited and sent again there, or what came of it.
    Resent,
    /// Behind such a prompt: another one, or what came of that.
    Undone,
    /// On another branch.
    Left,
}

/// What an entry is told as.
enum Told {
    Says(Says),
    Beside(Author),
}

impl Entry {
    fn is_prompt(&self) -> bool {
        self.says
            .as_deref()
            .is_some_and(|says| matches!(says, Says::Person { .. }))
    }
}

impl Says {
    fn tell(self, edit: Option<String>, recorder: &mut Recorder<'_>) {
        match self {
            // What a person typed was typed, whatever the model is shown of it later.
            Self::Person {
                id,
                at,
                kept,
                skill,
                refused,
            } => {
                if refused {
                    recorder.tool_rejected();
                }
                match (&kept, skill.is_empty()) {
                    (Kept::Wordless, false) => {
                        recorder.skip(Reason::SlashCommand);
                        recorder.aside(&id, at);
                    }
                    _ => recorder.kept(&id, at, kept),
                }
                recorder.skill(&skill);
            }
            Self::Aside {
                id,
                at,
                author,
                refused,
            } => {
                if refused {
                    recorder.tool_rejected();
                }
                recorder.aside(&id, at);
                if let Some(author) = author {
                    recorder.beside(author);
                }
            }
            Self::Agent {
                id,
                at,
                words,
                acts,
                interrupted,
            } => {
                recorder.reply(&id, at, &edit.unwrap_or(words));
                for act in &acts {
                    match act {
                        Act::Tool(name) => recorder.tool(name),
                        Act::Skill(name) => recorder.skill(name),
                        Act::File(path) => recorder.file(path),
                        Act::Commit(call) => recorder.committing(call),
                    }
                }
                if interrupted {
                    recorder.interrupted();
                }
            }
            Self::Returned { call, well } => {
                recorder.beside(Author::Tool);
                recorder.returned(&call, well);
            }
            Self::Edit { .. } => {}
        }
    }
}

/// Bytes of a person's and of the agent's words.
fn bytes(says: &Says) -> (usize, usize) {
    let person = match says {
        Says::Person {
            kept: Kept::Words(words),
            ..
        } => words.len(),
        _ => 0,
    };
    let agent = match says {
        Says::Agent { words, acts, .. } => {
            let acts = acts.iter().map(|act| match act {
                Act::Tool(name) | Act::Skill(name) | Act::File(name) | Act::Commit(name) => {
                    name.len() + 32
                }
            });
            words.len() + acts.sum::<usize>()
        }
        Says::Edit { words, .. } => words.len(),
        Says::Returned { call, .. } => call.len(),
        Says::Person { .. } | Says::Aside { .. } => 0,
    };
    (person, agent)
}
