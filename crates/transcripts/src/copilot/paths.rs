//! Where Copilot CLI keeps its event logs.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::surroundings::Surroundings;

/// The folder of the store, by which sessions are told from what lies in them.
const SESSIONS: &str = "session-state";
/// The event log in a session's folder.
const LOG: &str = "events.jsonl";

/// `$COPILOT_HOME` or `~/.copilot`, on every system, and `$XDG_STATE_HOME/.copilot`, which older
/// versions used, if it is there.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let usual = at.path_or("COPILOT_HOME", ".copilot");
    let older = at
        .variable("XDG_STATE_HOME")
        .filter(|_| at.variable("COPILOT_HOME").is_none())
        .map(|folder| at.path(folder).join(".copilot"))
        .filter(|folder| folder.is_dir());
    [usual].into_iter().chain(older).collect()
}

/// `<home>/session-state/<session id>/events.jsonl`; the first versions wrote
/// `<home>/session-state/<session id>.jsonl`.
pub(crate) const STORES: &[Store] = &[Store {
    folder: SESSIONS,
    deepest: 1,
}];

/// Whether a path is an event log. A session's folder also holds checkpoints, copies of the user's
/// files and whatever the agent put there: none of it is looked into.
pub(crate) fn takes(path: &Path) -> Taken {
    let named = |path: Option<&Path>, name: &str| {
        path.and_then(Path::file_name)
            .is_some_and(|found| found == name)
    };
    let folder = path.parent();
    if named(folder, SESSIONS) {
        return match path.extension() {
            Some(extension) if extension == "jsonl" => Taken::Yes,
            _ => Taken::No,
        };
    }
    if named(Some(path), LOG) {
        Taken::Yes
    } else {
        Taken::Closed
    }
}

/// The session is named by its folder, or by its file where it has none.
pub(crate) fn session_id(path: &Path) -> String {
    let name = if path.file_name().is_some_and(|name| name == LOG) {
        path.parent().and_then(Path::file_name)
    } else {
        path.file_stem()
    };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn the_home_may_be_moved() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(
                with(platform, &[], homes),
                [Path::new("/home/dana/.copilot")]
            );
            let moved = [("COPILOT_HOME", "/srv/copilot")];
            assert_eq!(with(platform, &moved, homes), [Path::new("/srv/copilot")]);
        }
    }

    #[test]
    fn only_event_logs_are_taken() {
        for (path, expected) in [
            ("h/session-state/13e3/events.jsonl", Taken::Yes),
            ("h/session-state/13e3.jsonl", Taken::Yes),
            ("h/session-state/13e3", Taken::No),
            ("h/session-state/13e3/checkpoints", Taken::Closed),
            ("h/session-state/13e3/files", Taken::Closed),
            ("h/session-state/13e3/workspace.yaml", Taken::Closed),
        ] {
            assert_eq!(takes(Path::new(path)), expected, "{path}");
        }
        for path in [
            "h/session-state/13e3/events.jsonl",
            "h/session-state/13e3.jsonl",
        ] {
            assert_eq!(session_id(Path::new(path)), "13e3");
        }
    }
}
