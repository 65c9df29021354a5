//! Where Pi keeps its sessions.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::surroundings::Surroundings;

/// `$PI_CODING_AGENT_DIR` or `~/.pi/agent`, on every system; and the folder of sessions that
/// `$PI_CODING_AGENT_SESSION_DIR` names.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let sessions = at.variable("PI_CODING_AGENT_SESSION_DIR");
    [at.path_or("PI_CODING_AGENT_DIR", ".pi/agent")]
        .into_iter()
        .chain(sessions.map(|folder| at.path(folder)))
        .collect()
}

/// `<home>/sessions/--<folder with dashes>--/<time>_<session id>.jsonl`. The folder's name says
/// nothing for certain, so it is never decoded.
const STORES: &[Store] = &[Store {
    folder: "sessions",
    deepest: 4,
}];
/// The home is itself a folder of sessions.
const SESSIONS: &[Store] = &[Store {
    folder: "",
    deepest: 4,
}];

/// The stores of a home. One without a folder called `sessions`, in which sessions lie, is the
/// folder of sessions itself.
pub(crate) fn stores(home: &Path) -> &'static [Store] {
    let is_one = || {
        std::fs::read_dir(home)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.ends_with(".jsonl") || (name.starts_with("--") && name.ends_with("--"))
            })
    };
    if !home.join("sessions").exists() && is_one() {
        SESSIONS
    } else {
        STORES
    }
}

/// Whether a file is a session.
pub(crate) fn takes(path: &Path) -> Taken {
    match path.extension() {
        Some(extension) if extension == "jsonl" => Taken::Yes,
        _ => Taken::No,
    }
}

/// The session is named by its file, as forks name the session they come from.
pub(crate) use crate::files::stem as session_id;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn the_home_is_the_agents_own_folder() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(
                with(platform, &[], homes),
                [Path::new("/home/dana/.pi/agent")]
            );
            let moved = [("PI_CODING_AGENT_DIR", "~/pi")];
            assert_eq!(with(platform, &moved, homes), [Path::new("/home/dana/pi")]);
            let both = [moved[0], ("PI_CODING_AGENT_SESSION_DIR", "/srv/sessions")];
            assert_eq!(
                with(platform, &both, homes),
                [Path::new("/home/dana/pi"), Path::new("/srv/sessions")]
            );
        }
    }

    #[test]
    fn sessions_are_named_by_their_files() {
        let name = "2026-11-29T17-13-02-618Z_01a2284b-bf99-71ea-9dae-8225dcbadc9c";
        let path = PathBuf::from(format!("--w-app--/{name}.jsonl"));
        assert_eq!(takes(&path), Taken::Yes);
        assert_eq!(session_id(&path), name);
        assert_eq!(takes(Path::new("auth.json")), Taken::No);
    }
}
