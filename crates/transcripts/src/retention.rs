//! How long an agent keeps its sessions before it deletes them itself.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use skillopt_core::agent::Agent;

/// Largest settings file of an agent that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Days Claude Code keeps a session when its settings do not say.
const CLAUDE_DAYS: u64 = 30;

/// What an agent does with old sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "policy", rename_all = "snake_case")]
pub enum Retention {
    /// It deletes a session so many days after it was last used.
    Deletes {
        /// Days a session is kept.
        days: u64,
        /// The agent's settings file that says so; `None` when it is the agent's default.
        setting: Option<PathBuf>,
    },
    /// Its settings say to keep sessions for no day.
    KeepsNone {
        /// The agent's settings file that says so.
        setting: PathBuf,
    },
    /// It never deletes sessions by itself.
    Keeps,
    /// Nothing is known about it.
    Unknown,
}

impl Retention {
    /// What the agent does with old sessions, where `homes` are its folders. Of several folders the
    /// one that deletes first counts.
    #[must_use]
    pub fn of(agent: Agent, homes: &[PathBuf]) -> Self {
        match agent {
            Agent::Claude => claude(homes),
            // Archiving and compressing are all Codex does (codex issue 28187). OpenCode cleans
            // nothing up (opencode issue 4980). Copilot CLI deletes sessions only when told to with
            // `/session delete` or `/session prune`; what it prunes at its start are its own logs
            // (copilot-cli issue 2019). VS Code drops the oldest chats from the list it shows, and
            // leaves their files (`ChatSessionStore.trimEntries`). Pi has no code that deletes any.
            Agent::Codex | Agent::OpenCode | Agent::Copilot | Agent::Vscode | Agent::Pi => {
                Self::Keeps
            }
            // Of Cursor and Devin nothing is published, and their programs cannot be read. OpenClaw
            // deletes by age, by number or by room, as its version and its settings say.
            Agent::Cursor | Agent::Devin | Agent::OpenClaw => Self::Unknown,
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Deletes { days: 1, .. } => "It deletes sessions after a day.".to_owned(),
            Self::Deletes { days, .. } => format!("It deletes sessions after {days} days."),
            Self::KeepsNone { .. } => {
                "Its settings say to keep sessions for 0 days: older versions save none then, newer \
                 ones refuse that number."
                    .to_owned()
            }
            Self::Keeps => "It keeps sessions until you delete them.".to_owned(),
            Self::Unknown => "How long it keeps sessions is not known.".to_owned(),
        }
    }
}

/// `cleanupPeriodDays` in `<home>/settings.json`.
fn claude(homes: &[PathBuf]) -> Retention {
    homes
        .iter()
        .map(|home| {
            let file = home.join("settings.json");
            match cleanup_period(&file) {
                Some(days) => (days, Some(file)),
                None => (CLAUDE_DAYS, None),
            }
        })
        .min()
        .map_or(Retention::Unknown, |found| match found {
            (0, Some(setting)) => Retention::KeepsNone { setting },
            (days, setting) => Retention::Deletes { days, setting },
        })
}

fn cleanup_period(file: &Path) -> Option<u64> {
    let mut text = String::new();
    let file = File::open(file).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    let settings: Value = serde_json::from_str(&text).ok()?;
    settings.get("cleanupPeriodDays")?.as_u64()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(file: &Path, text: &str) {
        File::create(file)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    #[test]
    fn only_where_it_is_known_it_is_said() {
        for agent in Agent::ALL {
            let sentence = Retention::of(agent, &[PathBuf::from("/nowhere")]).sentence();
            let expected = match agent {
                Agent::Claude => "It deletes sessions after 30 days.",
                Agent::Cursor | Agent::Devin | Agent::OpenClaw => {
                    "How long it keeps sessions is not known."
                }
                Agent::Codex | Agent::Copilot | Agent::Vscode | Agent::Pi | Agent::OpenCode => {
                    "It keeps sessions until you delete them."
                }
            };
            assert_eq!(sentence, expected, "{agent}");
        }
    }

    #[test]
    fn the_agents_own_settings_say_how_long_sessions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        let file = home.join("settings.json");
        let of = || Retention::of(Agent::Claude, std::slice::from_ref(&home));
        let default = Retention::Deletes {
            days: 30,
            setting: None,
        };
        assert_eq!(of(), default);
        for broken in ["", "{", "[]", r#"{"cleanupPeriodDays":"9"}"#] {
            write(&file, broken);
            assert_eq!(of(), default, "{broken}");
        }
        write(&file, r#"{"cleanupPeriodDays":365,"model":"m"}"#);
        let set = Retention::Deletes {
            days: 365,
            setting: Some(file.clone()),
        };
        assert_eq!(of(), set);
        assert_eq!(set.sentence(), "It deletes sessions after 365 days.");
        // Of two homes the one that deletes first counts.
        let two = [home.clone(), home.join("other")];
        assert_eq!(Retention::of(Agent::Claude, &two), default);
        assert_eq!(Retention::of(Agent::Claude, &[]), Retention::Unknown);
        // No session is deleted after no day: there never is one, or the setting does not hold.
        write(&file, r#"{"cleanupPeriodDays":0}"#);
        assert_eq!(of(), Retention::KeepsNone { setting: file });
        let sentence = of().sentence();
        assert!(sentence.contains("older versions save none"), "{sentence}");
    }
}
