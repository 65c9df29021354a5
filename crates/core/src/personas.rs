//! The persona fixture of the reference (§13.1): two invented users whose wishes are known, so that
//! a night's lift can be predicted exactly. Wording of requests is ours; ids, tags, references and
//! order are the reference's, because splits and scores follow from them.

use crate::task::{Judge, Outcome, Task};

/// An invented user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persona {
    /// Asks for arXiv ids and wants them written one way.
    Researcher,
    /// Asks for commit messages and wants them in the imperative.
    Programmer,
}

impl Persona {
    /// The persona with this name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        match id {
            "researcher" => Some(Self::Researcher),
            "programmer" => Some(Self::Programmer),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Researcher => "researcher",
            Self::Programmer => "programmer",
        }
    }

    /// Its tasks, without splits.
    #[must_use]
    pub fn tasks(self) -> Vec<Task> {
        match self {
            Self::Researcher => fixture(
                "wrap-answer",
                &["rule:wrap-answer", "rule:arxiv-id"],
                &PAPERS,
                |paper| {
                    format!("Which arXiv paper is number {paper} on my reading list? Give its id.")
                },
            ),
            Self::Programmer => fixture(
                "commit-imperative",
                &["rule:commit-imperative"],
                &COMMITS,
                |commit| format!("Write the subject line of the commit for change {commit}."),
            ),
        }
    }
}

const PAPERS: [&str; 12] = [
    "arXiv:2605.23904",
    "arXiv:1706.03762",
    "arXiv:1406.2661",
    "arXiv:1810.04805",
    "arXiv:1512.03385",
    "arXiv:1412.6980",
    "arXiv:1207.0580",
    "arXiv:1901.02860",
    "arXiv:1301.3781",
    "arXiv:1312.6114",
    "arXiv:1502.03167",
    "arXiv:2005.14165",
];

const COMMITS: [&str; 8] = [
    "Add login form",
    "Fix null pointer in parser",
    "Update README",
    "Remove dead code",
    "Bump version to 1.2.0",
    "Refactor auth module",
    "Add unit tests for scheduler",
    "Fix CI pipeline",
];

fn fixture(
    rule: &str,
    tags: &[&str],
    references: &[&str],
    ask: impl Fn(usize) -> String,
) -> Vec<Task> {
    references
        .iter()
        .enumerate()
        .map(|(position, reference)| {
            let mut task = Task::new(
                format!("persona_{rule}_{position}"),
                "persona",
                ask(position + 1),
            );
            task.judge = Judge::Exact((*reference).to_owned());
            task.outcome = Outcome::Fail;
            task.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            task.sessions = vec![format!("persona-session-{position}")];
            task
        })
        .collect()
}
