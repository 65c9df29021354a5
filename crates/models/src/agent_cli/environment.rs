//! The environment of an agent's process: what it needs, and nothing else of ours.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::find::Found;
use crate::process::absolute_folders;

/// Passed on unchanged to every agent. Everything else stays here: markers of an agent session we
/// were started from, other providers' keys, our own settings.
const PASSED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    // The way out of this network.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    // Where Windows keeps its parts and the user's files.
    "SYSTEMROOT",
    "SystemRoot",
    "WINDIR",
    "COMSPEC",
    "ComSpec",
    "PATHEXT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "ProgramData",
    "PROGRAMFILES",
    "ProgramFiles",
];

/// Variables that lead to the desktop's keyring, where some agents keep the sign-in of their user.
pub(crate) const KEYRING: &[&str] = &["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/// The environment of one run, made from that of this process.
pub(crate) struct Environment<'a> {
    own: &'a BTreeMap<String, String>,
    variables: BTreeMap<OsString, OsString>,
}

impl<'a> Environment<'a> {
    /// What every agent gets. `temporary` is where it may put temporary files.
    pub(super) fn new(own: &'a BTreeMap<String, String>, found: &Found, temporary: &Path) -> Self {
        let mut environment = Self {
            own,
            variables: BTreeMap::new(),
        };
        environment.pass(PASSED);
        for (name, value) in own.iter().filter(|(name, _)| name.starts_with("LC_")) {
            environment.set(name, value);
        }
        for name in ["TMPDIR", "TMP", "TEMP"] {
            environment.set(name, temporary);
        }
        environment.set("PATH", search_path(own, found));
        environment.set("NO_COLOR", "1");
        environment
    }

    /// Passes on those of `names` that this process has.
    pub(crate) fn pass(&mut self, names: &[&str]) {
        for name in names {
            if let Some(value) = self.own.get(*name) {
                self.set(name, value);
            }
        }
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.variables
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    /// Sets variables.
    pub(crate) fn set_all(&mut self, variables: &[(&str, &str)]) {
        for (name, value) in variables {
            self.set(name, value);
        }
    }

    /// A variable of this process.
    pub(crate) fn own(&self, name: &str) -> Option<&'a str> {
        self.own
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The home directory of the user.
    pub(crate) fn home(&self) -> Option<&'a Path> {
        self.own("HOME")
            .or_else(|| self.own("USERPROFILE"))
            .map(Path::new)
    }

    pub(super) fn into_variables(self) -> Vec<(OsString, OsString)> {
        self.variables.into_iter().collect()
    }
}

/// Our `PATH` behind the folder of the program: scripts installed by npm start `node`, which lies
/// beside them or on the path of a terminal, but on no scheduler's.
pub(super) fn search_path(own: &BTreeMap<String, String>, found: &Found) -> OsString {
    let ours = own.get("PATH").or_else(|| own.get("Path"));
    let mut folders: Vec<_> = found
        .path
        .parent()
        .map(Path::to_owned)
        .into_iter()
        .collect();
    for path in ours.into_iter().chain(&found.login_path) {
        folders.extend(absolute_folders(path));
    }
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    std::env::join_paths(folders).unwrap_or_else(|_| ours.cloned().unwrap_or_default().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(
        own: &[(&str, &str)],
        program: &str,
        login_path: Option<&str>,
    ) -> BTreeMap<String, String> {
        let own: BTreeMap<String, String> = own
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let found = Found {
            path: program.into(),
            login_path: login_path.map(str::to_owned),
        };
        Environment::new(&own, &found, Path::new("/tmp/t"))
            .into_variables()
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    #[test]
    fn what_is_not_on_the_list_stays_here() {
        let own = [
            ("HOME", "/home/me"),
            ("LC_ALL", "de_CH.UTF-8"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("TMPDIR", "/home/me/tmp"),
            ("ANTHROPIC_API_KEY", "canary"),
            ("OPENAI_API_KEY", "canary"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("SKILLOPT_MODEL", "m"),
            ("NODE_OPTIONS", "--require /evil.js"),
            ("LD_PRELOAD", "/evil.so"),
            ("AWS_SECRET_ACCESS_KEY", "canary"),
            ("PATH", "/usr/bin:relative:/opt/node/bin"),
        ];
        let made = made(&own, "/opt/node/bin/claude", None);
        let names: Vec<&str> = made.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "HOME",
                "HTTPS_PROXY",
                "LC_ALL",
                "NO_COLOR",
                "PATH",
                "TEMP",
                "TMP",
                "TMPDIR"
            ]
        );
        assert_eq!(made["TMPDIR"], "/tmp/t");
        assert_eq!(made["HTTPS_PROXY"], "http://proxy:3128");
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_beside_the_program_is_found_and_nothing_relative() {
        let own = [("PATH", "/usr/bin:relative:/opt/node/bin")];
        assert_eq!(
            made(&own, "/opt/node/bin/claude", None)["PATH"],
            "/opt/node/bin:/usr/bin"
        );
        assert_eq!(
            made(
                &own,
                "/opt/x/codex",
                Some("/home/me/node/bin:/usr/bin:here")
            )["PATH"],
            "/opt/x:/usr/bin:/opt/node/bin:/home/me/node/bin"
        );
    }
}
