//! Where Pi keeps its sessions.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::surroundings::Surroundings;

/// `$PI_CODING_AGENT_DIR` or `~/.pi/agent`, on every system.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    vec![at.path_or("PI_CODING_AGENT_DIR", ".pi/agent")]
}

/// `<home>/sessions/--<folder with dashes>--/<time>_<session id>.jsonl`. The folder's name says
/// nothing for certain, so it is never decoded.
pub(crate) const STORES: &[Store] = &[Store {
    folder: "sessions",
    deepest: 4,
}];

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
