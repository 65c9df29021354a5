//! A temporary home, so that neither tests nor the demo ever see the real one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Stop;

/// A directory that is removed when this is dropped.
pub(crate) struct PrivateHome(PathBuf);

impl PrivateHome {
    pub(crate) fn new() -> Result<Self, Stop> {
        let path = std::env::temp_dir().join(format!("skillopt-{}", std::process::id()));
        // Never a directory that somebody else prepared: creating it must be what made it.
        std::fs::create_dir(&path)
            .map_err(|error| Stop::Because(format!("cannot create {}: {error}", path.display())))?;
        let home = Self(path);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&home.0, std::fs::Permissions::from_mode(0o700))?;
        }
        Ok(home)
    }

    /// Points everything a program can find a user's files by at this home, and hides the user's
    /// keys, agent homes and settings. The tool chain stays where it is.
    pub(crate) fn apply(&self, command: &mut Command) {
        let real = std::env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            match (std::env::var_os(name), &real) {
                (Some(value), _) => command.env(name, value),
                (None, Some(home)) => command.env(name, Path::new(home).join(folder)),
                (None, None) => command,
            };
        }
        for (name, _) in std::env::vars_os() {
            if is_personal(&name.to_string_lossy()) {
                command.env_remove(&name);
            }
        }
        // With every override gone, all places follow from the home, also for a test that sets a
        // home of its own.
        command.env("HOME", &self.0);
        if cfg!(windows) {
            // Windows answers "where is the user's data" without looking at the environment.
            command.env("USERPROFILE", &self.0);
            command.env("SKILLOPT_DATA_DIR", self.0.join("data"));
            command.env("SKILLOPT_CONFIG_DIR", self.0.join("config"));
        }
    }
}

impl Drop for PrivateHome {
    fn drop(&mut self) {
        // A leftover in the temporary directory is not worth failing for.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Variables that may lead to a user's files or accounts: all but what builds and tests need, since every
/// agent and provider has names of its own.
fn is_personal(name: &str) -> bool {
    const PREFIXES: [&str; 10] = [
        "CARGO",
        "RUST",
        "NEXTEST",
        "INSTA_",
        "PROPTEST_",
        "CRITERION_",
        "LC_",
        "SKILLOPT_BENCH_",
        "SKILLOPT_TEST_",
        "SKILLOPT_WRITE_",
    ];
    const NAMES: [&str; 35] = [
        "PATH",
        "PATHEXT",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLORTERM",
        "NO_COLOR",
        "SHELL",
        "USER",
        "LOGNAME",
        "USERNAME",
        "TMPDIR",
        "TEMP",
        "TMP",
        "CI",
        "CC",
        "CXX",
        "AR",
        "CFLAGS",
        "CXXFLAGS",
        "PKG_CONFIG_PATH",
        "LD_LIBRARY_PATH",
        "PYENV_ROOT",
        "NVM_DIR",
        "VOLTA_HOME",
        "ASDF_DATA_DIR",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PROGRAMFILES",
        "PROGRAMDATA",
        "NUMBER_OF_PROCESSORS",
        "PROCESSOR_ARCHITECTURE",
    ];
    // Windows does not look at the case of a name.
    let name = name.to_uppercase();
    // How builds reach the network through a proxy or a certificate of a company.
    let of_the_network = ["_PROXY", "CERT", "CA_BUNDLE", "CAINFO"]
        .iter()
        .any(|part| name.contains(part));
    !(of_the_network
        || NAMES.contains(&name.as_str())
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        // What cargo may be told for a registry is a secret.
        || (name.starts_with("CARGO_REGISTR") && name.ends_with("TOKEN"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_command_gets_the_private_home_and_the_real_tool_chain() {
        let home = PrivateHome::new()
            .ok()
            .expect("a temporary directory can be made");
        let mut command = Command::new("true");
        home.apply(&mut command);
        let value = |name: &str| {
            command
                .get_envs()
                .find(|(key, _)| *key == OsStr::new(name))
                .and_then(|(_, value)| value)
        };
        assert_eq!(value("HOME"), Some(home.0.as_os_str()));
        let cargo_home = value("CARGO_HOME").expect("cargo's home stays known");
        assert!(!Path::new(cargo_home).starts_with(&home.0));

        let path = home.0.clone();
        drop(home);
        assert!(!path.exists());
    }

    #[test]
    fn keys_and_agent_homes_are_hidden_and_the_rest_is_kept() {
        for name in [
            "XDG_DATA_HOME",
            "SKILLOPT_BACKEND",
            "CLAUDE_CONFIG_DIR",
            "COPILOT_HOME",
            "VSCODE_PORTABLE",
            "PI_CODING_AGENT_DIR",
            "GH_TOKEN",
            "AWS_PROFILE",
            "DEEPSEEK_API_KEY",
            "CARGO_REGISTRY_TOKEN",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            assert!(is_personal(name), "{name}");
        }
        for name in ["Path", "CARGO_HOME", "CI", "TMPDIR", "LANG", "https_proxy"] {
            assert!(!is_personal(name), "{name}");
        }
    }
}
