//! Where installers put the programs of agents, by system.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A system that we run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    MacOs,
    Windows,
}

impl System {
    pub(super) const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// Where a program may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In this folder.
    Folder(PathBuf),
    /// In a folder below each one of this, which are named by versions.
    Versions(PathBuf, &'static str),
}

/// Where installers put programs on `system`, for a user with this environment, the most usual first.
/// Looks at no disk.
pub(super) fn known_places(system: System, environment: &BTreeMap<String, String>) -> Vec<Place> {
    let mut places = Vec::new();
    let mut below = |variable: &str, rest: &[&str]| {
        if let Some(folder) = named(system, environment, variable) {
            places.extend(rest.iter().map(|rest| Place::Folder(folder.join(rest))));
        }
    };
    // What the user has told these where to be.
    below("PNPM_HOME", &[""]);
    below("VOLTA_HOME", &["bin"]);
    below("BUN_INSTALL", &["bin"]);
    if system == System::Windows {
        below("APPDATA", &["npm"]);
        below(
            "LOCALAPPDATA",
            &[
                "Programs/claude",
                "cursor-agent",
                "Volta/bin",
                "pnpm",
                "Microsoft/WinGet/Links",
                "Microsoft/WindowsApps",
            ],
        );
        below("SCOOP", &["shims"]);
        below("SCOOP_GLOBAL", &["shims"]);
        below("ProgramData", &["scoop/shims", "chocolatey/bin"]);
        below("ProgramFiles", &["WinGet/Links", "nodejs"]);
        // The link to the version of Node that nvm-windows uses.
        below("NVM_SYMLINK", &[""]);
    }
    let Some(home) = ["HOME", "USERPROFILE"]
        .iter()
        .find_map(|name| named(system, environment, name))
    else {
        return with_those_of_all(system, places);
    };
    let folders: &[&str] = &[
        ".local/bin",
        ".claude/local",
        ".claude/local/node_modules/.bin",
        ".opencode/bin",
        ".npm-global/bin",
        ".bun/bin",
    ];
    let more: &[&str] = match system {
        System::Windows => &["scoop/shims"],
        System::MacOs => &[
            "Library/pnpm",
            ".volta/bin",
            ".asdf/shims",
            ".local/share/mise/shims",
        ],
        System::Linux => &[
            ".local/share/pnpm",
            ".volta/bin",
            ".asdf/shims",
            ".local/share/mise/shims",
        ],
    };
    let of_home = folders.iter().chain(more);
    places.extend(of_home.map(|rest| Place::Folder(home.join(rest))));
    let versions = |parent: PathBuf, rest| Place::Versions(parent, rest);
    match system {
        System::Windows => {
            let roaming = named(system, environment, "APPDATA");
            let fnm = roaming.map(|folder| folder.join("fnm/node-versions"));
            places.extend(fnm.map(|parent| versions(parent, "installation")));
        }
        System::MacOs => {
            places.push(versions(home.join(".nvm/versions/node"), "bin"));
            for fnm in ["Library/Application Support/fnm", ".local/share/fnm"] {
                let parent = home.join(fnm).join("node-versions");
                places.push(versions(parent, "installation/bin"));
            }
        }
        System::Linux => {
            places.push(versions(home.join(".nvm/versions/node"), "bin"));
            let parent = home.join(".local/share/fnm/node-versions");
            places.push(versions(parent, "installation/bin"));
        }
    }
    with_those_of_all(system, places)
}

/// The folder in a variable. A relative one would depend on where we stand.
fn named(
    system: System,
    environment: &BTreeMap<String, String>,
    variable: &str,
) -> Option<PathBuf> {
    let folder = environment.get(variable)?;
    // By hand: the table of every system is tested on each of them.
    let bytes = folder.as_bytes();
    let absolute = match system {
        System::Windows => {
            let slash = |at: usize| matches!(bytes.get(at), Some(b'/' | b'\\'));
            (bytes.get(1) == Some(&b':') && slash(2)) || (slash(0) && slash(1))
        }
        System::Linux | System::MacOs => folder.starts_with('/'),
    };
    absolute.then(|| PathBuf::from(folder))
}

/// With the places of everybody on the computer behind them.
fn with_those_of_all(system: System, mut places: Vec<Place>) -> Vec<Place> {
    let folders: &[&str] = match system {
        System::Windows => &[],
        System::MacOs => &[
            "/usr/local/bin",
            "/opt/homebrew/bin",
            "/opt/local/bin",
            "/usr/bin",
        ],
        System::Linux => &[
            "/usr/local/bin",
            "/home/linuxbrew/.linuxbrew/bin",
            "/usr/bin",
            "/snap/bin",
        ],
    };
    places.extend(folders.iter().map(|folder| Place::Folder(folder.into())));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(system: System, variables: &[(&str, &str)]) -> Vec<String> {
        let environment = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        known_places(system, &environment)
            .into_iter()
            .map(|place| match place {
                Place::Folder(folder) => folder.display().to_string(),
                Place::Versions(parent, rest) => format!("{}/*/{rest}", parent.display()),
            })
            .map(|place| place.replace('\\', "/").trim_end_matches('/').to_owned())
            .collect()
    }

    #[test]
    fn each_system_has_the_places_of_its_installers() {
        let windows = [
            ("USERPROFILE", "C:/Users/me"),
            ("APPDATA", "C:/Users/me/AppData/Roaming"),
            ("LOCALAPPDATA", "C:/Users/me/AppData/Local"),
            ("ProgramData", "C:/ProgramData"),
            ("ProgramFiles", "C:/Program Files"),
            ("NVM_SYMLINK", "C:/nvm4w/nodejs"),
            ("SCOOP", "D:/scoop"),
        ];
        let of_windows = places(System::Windows, &windows);
        for place in [
            "C:/Users/me/AppData/Roaming/npm",
            "C:/Users/me/AppData/Local/Volta/bin",
            "C:/Users/me/AppData/Local/pnpm",
            "C:/Users/me/AppData/Local/Microsoft/WinGet/Links",
            "C:/Users/me/scoop/shims",
            "D:/scoop/shims",
            "C:/ProgramData/scoop/shims",
            "C:/Program Files/WinGet/Links",
            "C:/nvm4w/nodejs",
            "C:/Users/me/AppData/Roaming/fnm/node-versions/*/installation",
            "C:/Users/me/.local/bin",
        ] {
            assert!(of_windows.iter().any(|known| known == place), "{place}");
        }
        assert!(!of_windows.iter().any(|known| known.starts_with("/usr")));
        let of_macos = places(System::MacOs, &[("HOME", "/Users/me")]);
        for place in [
            "/Users/me/Library/pnpm",
            "/Users/me/Library/Application Support/fnm/node-versions/*/installation/bin",
            "/Users/me/.nvm/versions/node/*/bin",
            "/Users/me/.volta/bin",
            "/opt/homebrew/bin",
            "/opt/local/bin",
        ] {
            assert!(of_macos.iter().any(|known| known == place), "{place}");
        }
        let of_linux = places(System::Linux, &[("HOME", "/home/me")]);
        for place in [
            "/home/me/.local/share/pnpm",
            "/home/me/.local/share/fnm/node-versions/*/installation/bin",
            "/home/linuxbrew/.linuxbrew/bin",
            "/snap/bin",
        ] {
            assert!(of_linux.iter().any(|known| known == place), "{place}");
        }
    }

    #[test]
    fn what_a_variable_names_comes_first_and_only_when_it_is_absolute() {
        let home = ("HOME", "/home/me");
        let own = places(System::Linux, &[home, ("PNPM_HOME", "/opt/pnpm")]);
        assert_eq!(own[0], "/opt/pnpm");
        for relative in ["pnpm", "C:/pnpm", "C:\\pnpm", ""] {
            let places_there = places(System::Linux, &[home, ("PNPM_HOME", relative)]);
            assert_eq!(places_there, places(System::Linux, &[home]), "{relative}");
        }
        let home = ("USERPROFILE", "C:/Users/me");
        for absolute in ["D:/pnpm", "D:\\pnpm", "\\\\server\\pnpm"] {
            let own = places(System::Windows, &[home, ("PNPM_HOME", absolute)]);
            assert_eq!(own[0], absolute.replace('\\', "/"));
        }
        // The current folder of a drive, and whatever drive is the current one.
        for relative in ["pnpm", "D:pnpm", "D:", "/pnpm"] {
            let places_there = places(System::Windows, &[home, ("PNPM_HOME", relative)]);
            assert_eq!(places_there, places(System::Windows, &[home]), "{relative}");
        }
        // Without a home there is what all share.
        assert_eq!(places(System::Linux, &[])[0], "/usr/local/bin");
    }
}
