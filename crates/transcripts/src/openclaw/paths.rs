//! Where OpenClaw keeps its sessions.

use std::path::{Path, PathBuf};

use super::database;
use crate::collection::Place;
use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::Surroundings;

/// The folders of its earlier names, which it still reads.
const EARLIER: [&str; 2] = [".clawdbot", ".moltbot"];
/// The file of sessions below the folder of an agent.
const DATABASE: &str = "agent/openclaw-agent.sqlite";

/// `$OPENCLAW_STATE_DIR`, which had the earlier names as well, or `~/.openclaw` and the folders of its
/// earlier names, on every system. `$OPENCLAW_HOME` stands in the place of the user's home.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let named = [
        "OPENCLAW_STATE_DIR",
        "MOLTBOT_STATE_DIR",
        "CLAWDBOT_STATE_DIR",
    ]
    .into_iter()
    .find_map(|variable| at.variable(variable));
    match named {
        Some(folder) => vec![at.path(folder)],
        None => {
            let home = at.path_or("OPENCLAW_HOME", "");
            [".openclaw"]
                .into_iter()
                .chain(EARLIER)
                .map(|name| home.join(name))
                .collect()
        }
    }
}

/// `<home>/agents/<agent>/sessions/<session>.jsonl`.
pub(crate) const STORES: &[Store] = &[Store {
    folder: "agents",
    deepest: 2,
}];

/// Whether a file is a session. `/new` leaves the one before as `<session>.jsonl.reset.<time>`; one
/// that was deleted is kept for a while as `<session>.jsonl.deleted.<time>`.
pub(crate) fn takes(path: &Path) -> Taken {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    if folder == "agents" {
        return Taken::No;
    }
    if folder != "sessions" {
        // An agent's own files, its sign-ins among them, and whatever lies below `sessions`.
        return if name == "sessions" {
            Taken::No
        } else {
            Taken::Closed
        };
    }
    match name.split_once(".jsonl") {
        Some((session, ""))
            if !session.ends_with(".trajectory") && !session.contains(".checkpoint.") =>
        {
            Taken::Yes
        }
        Some((_, archived)) if archived.starts_with(".reset.") => Taken::Yes,
        Some((_, archived)) if archived.starts_with(".deleted.") => {
            Taken::Skipped(Reason::RemovedSession)
        }
        _ => Taken::Closed,
    }
}

/// The session a file holds, by its name.
pub(crate) fn session_id(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once(".jsonl")
        .map_or(&*name, |(session, _)| session)
        .to_owned()
}

/// The databases below a home: one of each agent.
pub(crate) fn places(home: &Path) -> Vec<Place> {
    let mut databases: Vec<PathBuf> = std::fs::read_dir(home.join("agents"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|agent| agent.path().join(DATABASE))
        // One that leads to itself is there, and is said to be unreadable.
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
    databases.sort_unstable();
    databases
        .into_iter()
        .map(|path| Place {
            path,
            open: database::open,
            database: true,
            by_project: false,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn homes_of_every_system() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(
                with(platform, &[], homes),
                [".openclaw", ".clawdbot", ".moltbot"]
                    .map(|name| Path::new("/home/dana").join(name))
            );
            let moved = [("OPENCLAW_STATE_DIR", "~/claw")];
            assert_eq!(
                with(platform, &moved, homes),
                [Path::new("/home/dana/claw")]
            );
        }
    }

    #[test]
    fn sessions_are_known_by_folder_and_name() {
        let below = |name: &str| PathBuf::from("/h/agents/main").join(name);
        for (name, expected) in [
            ("sessions", Taken::No),
            ("sessions/5ae3.jsonl", Taken::Yes),
            ("sessions/5ae3-topic-7.jsonl", Taken::Yes),
            (
                "sessions/5ae3.jsonl.reset.2026-01-05T10-00-00.000Z",
                Taken::Yes,
            ),
            (
                "sessions/5ae3.jsonl.reset.2026-01-05T10-00-00.000Z.zst",
                Taken::Yes,
            ),
            (
                "sessions/5ae3.jsonl.deleted.2026-01-05T10-00-00.000Z",
                Taken::Skipped(Reason::RemovedSession),
            ),
            (
                "sessions/5ae3.jsonl.bak.2026-01-05T10-00-00.000Z",
                Taken::Closed,
            ),
            ("sessions/5ae3.trajectory.jsonl", Taken::Closed),
            ("sessions/5ae3.checkpoint.0b.jsonl", Taken::Closed),
            ("sessions/sessions.json", Taken::Closed),
            ("sessions/cold", Taken::Closed),
            ("agent", Taken::Closed),
            ("agent/auth-profiles.json", Taken::Closed),
        ] {
            assert_eq!(takes(&below(name)), expected, "{name}");
        }
        assert_eq!(takes(Path::new("/h/agents/main")), Taken::No);
        let archived = below("sessions/5ae3.jsonl.reset.2026-01-05T10-00-00.000Z");
        assert_eq!(session_id(&archived), "5ae3");
        assert_eq!(session_id(&below("sessions/5ae3.jsonl")), "5ae3");
    }
}
