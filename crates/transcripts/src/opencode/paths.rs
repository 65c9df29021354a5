//! Where OpenCode keeps its sessions.

use std::path::{Path, PathBuf};

use super::{database, storage};
use crate::collection::Place;
use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::{Platform, Surroundings};

/// All folders that OpenCode may use: `$XDG_DATA_HOME/opencode`, on Windows those of the user's
/// applications, and `~/.local/share/opencode`. `$OPENCODE_DB` names one more database.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let data = |variable| {
        at.variable(variable)
            .map(|folder| at.path(folder).join("opencode"))
    };
    let mut homes: Vec<PathBuf> = data("XDG_DATA_HOME").into_iter().collect();
    match at.platform {
        Platform::Windows => homes.extend(["LOCALAPPDATA", "APPDATA"].into_iter().filter_map(data)),
        Platform::Linux | Platform::MacOs => {}
    }
    homes.push(at.home.join(".local").join("share").join("opencode"));
    let named = at
        .variable("OPENCODE_DB")
        .filter(|&name| name != ":memory:");
    if let Some(name) = named {
        // A relative one is below the folder of the data.
        homes.push(homes[0].join(name));
    }
    homes.dedup();
    homes
}

/// The stores of a home: its databases, one for each channel the user ever had, and the files that
/// versions before 1.2 wrote. A home may also be one database.
pub(crate) fn places(home: &Path) -> Vec<Place> {
    if home.is_file() {
        return vec![database_at(home)];
    }
    let mut places = vec![database_at(&home.join(USUAL))];
    let mut channels: Vec<String> = std::fs::read_dir(home)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_channel(name))
        .collect();
    channels.sort_unstable();
    places.extend(
        channels
            .iter()
            .map(|channel| database_at(&home.join(channel))),
    );
    places.push(Place {
        path: home.join("storage"),
        open: storage::open,
        database: false,
        by_project: false,
    });
    places
}

/// `<home>/project/<project>/storage/session/info/<session>.json`, as versions before 0.6 wrote them:
/// they are only counted. The next version copied them to `storage/` and noted that it did; then there
/// is nothing in them that is not read.
pub(crate) fn stores(home: &Path) -> &'static [Store] {
    const STORES: &[Store] = &[Store {
        folder: PROJECTS,
        deepest: 4,
    }];
    if home.join(PROJECTS).is_dir() && !home.join("storage").join("migration").exists() {
        STORES
    } else {
        &[]
    }
}

/// The folder of the projects of those versions.
const PROJECTS: &str = "project";

/// Whether a path is a session of those versions.
pub(crate) fn takes(path: &Path) -> Taken {
    let names: Vec<&str> = path
        .ancestors()
        .take(6)
        .filter_map(|folder| folder.file_name()?.to_str())
        .collect();
    match names.as_slice() {
        [_, PROJECTS, ..]
        | ["storage", _, PROJECTS, ..]
        | ["session", "storage", _, PROJECTS, ..]
        | ["info", "session", "storage", _, PROJECTS, ..] => Taken::No,
        [file, "info", "session", "storage", _, PROJECTS] if file.ends_with(".json") => {
            Taken::Skipped(Reason::UnreadForm)
        }
        _ => Taken::Closed,
    }
}

/// The database of the released channels.
const USUAL: &str = "opencode.db";

/// Every other channel has its name in that of its database.
fn is_channel(name: &str) -> bool {
    name.strip_prefix("opencode-")
        .and_then(|rest| rest.strip_suffix(".db"))
        .is_some_and(|channel| !channel.is_empty())
}

fn database_at(path: &Path) -> Place {
    Place {
        path: path.to_owned(),
        open: database::open,
        database: true,
        by_project: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::tests::with;

    #[test]
    fn sessions_of_the_first_versions_are_only_counted() {
        for (path, expected) in [
            ("project/w-app", Taken::No),
            ("project/w-app/storage", Taken::No),
            ("project/w-app/storage/session", Taken::No),
            ("project/w-app/storage/session/info", Taken::No),
            (
                "project/w-app/storage/session/info/ses_1.json",
                Taken::Skipped(Reason::UnreadForm),
            ),
            ("project/w-app/storage/session/message", Taken::Closed),
            ("project/w-app/snapshots", Taken::Closed),
        ] {
            assert_eq!(takes(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn homes_of_every_system() {
        let homes = |platform, variables: &[(&str, &str)]| with(platform, variables, homes);
        let usual = PathBuf::from("/home/dana/.local/share/opencode");
        for platform in [Platform::Linux, Platform::MacOs] {
            assert_eq!(homes(platform, &[]), std::slice::from_ref(&usual));
            assert_eq!(
                homes(platform, &[("OPENCODE_DB", ":memory:")]),
                std::slice::from_ref(&usual)
            );
        }
        let elsewhere = [("XDG_DATA_HOME", "/data"), ("OPENCODE_DB", "mine.db")];
        assert_eq!(
            homes(Platform::Linux, &elsewhere),
            [
                PathBuf::from("/data/opencode"),
                usual.clone(),
                PathBuf::from("/data/opencode/mine.db")
            ]
        );
        assert_eq!(
            homes(Platform::Linux, &[("OPENCODE_DB", "/x/y.db")]),
            [usual.clone(), PathBuf::from("/x/y.db")]
        );
        let windows = [("LocalAppData", "/local"), ("AppData", "/roaming")];
        assert_eq!(
            homes(Platform::Windows, &windows),
            [
                PathBuf::from("/local/opencode"),
                PathBuf::from("/roaming/opencode"),
                usual
            ]
        );
    }
}
