//! Where Devin keeps its sessions.

use std::path::{Path, PathBuf};

use super::database;
use crate::collection::Place;
use crate::surroundings::{Platform, Surroundings};

/// `devin/cli` in the user's data folder: `$XDG_DATA_HOME`, `~/.local/share`, on Windows
/// `%APPDATA%` and `%LOCALAPPDATA%`, on macOS `~/Library/Application Support` as well.
/// `$CHISEL_SESSION_DB` names one more database.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let below = |folder: PathBuf| folder.join("devin").join("cli");
    let named = |variable| at.variable(variable).map(|folder| below(at.path(folder)));
    let mut homes: Vec<PathBuf> = named("XDG_DATA_HOME").into_iter().collect();
    match at.platform {
        Platform::Windows => {
            homes.extend(["APPDATA", "LOCALAPPDATA"].into_iter().filter_map(named));
        }
        Platform::MacOs => {
            homes.push(below(at.home.join("Library").join("Application Support")));
        }
        Platform::Linux => {}
    }
    homes.push(below(at.home.join(".local").join("share")));
    homes.dedup();
    homes.extend(at.variable("CHISEL_SESSION_DB").map(|file| at.path(file)));
    homes
}

/// The database of a home. A home may also be the database itself.
pub(crate) fn places(home: &Path) -> Vec<Place> {
    let path = if home.is_file() {
        home.to_owned()
    } else {
        home.join("sessions.db")
    };
    vec![Place {
        path,
        open: database::open,
        database: true,
        by_project: true,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::tests::with;

    #[test]
    fn homes_of_every_system() {
        let homes = |platform, variables: &[(&str, &str)]| with(platform, variables, homes);
        let usual = PathBuf::from("/home/dana/.local/share/devin/cli");
        assert_eq!(homes(Platform::Linux, &[]), std::slice::from_ref(&usual));
        assert_eq!(
            homes(Platform::MacOs, &[]),
            [
                PathBuf::from("/home/dana/Library/Application Support/devin/cli"),
                usual.clone()
            ]
        );
        let windows = [("AppData", "/roaming"), ("LocalAppData", "/local")];
        assert_eq!(
            homes(Platform::Windows, &windows),
            [
                PathBuf::from("/roaming/devin/cli"),
                PathBuf::from("/local/devin/cli"),
                usual.clone()
            ]
        );
        let elsewhere = [("XDG_DATA_HOME", "/data"), ("CHISEL_SESSION_DB", "/x/s.db")];
        assert_eq!(
            homes(Platform::Linux, &elsewhere),
            [
                PathBuf::from("/data/devin/cli"),
                usual,
                PathBuf::from("/x/s.db")
            ]
        );
    }
}
