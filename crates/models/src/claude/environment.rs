//! The environment of a `claude` process: what it needs, and nothing else of ours.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::SignIn;

/// Passed on unchanged. Everything else stays here: markers of an agent session we were started
/// from (`CLAUDECODE`, `CLAUDE_CODE_*`), other providers' keys, our own settings.
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
    // A company's own address of the service; checked before it is passed on.
    "ANTHROPIC_BASE_URL",
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

/// Passed on as well when the user's own sign-in is used: where it is, and its forms for machines
/// without a browser. The desktop variables lead to the keyring.
const PASSED_FOR_SUBSCRIPTION: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_AUTH_TOKEN",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Set for every call: no updates, no reports, no memory, no files read because a text mentions
/// them, and one repeat at most, since repeating is counted and paced by the path around us.
const SET: &[(&str, &str)] = &[
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("NO_COLOR", "1"),
];

/// The whole environment for one run of `program`, made from that of this process. `temporary` is
/// where it may put temporary files, `config` the empty configuration directory used with a key.
pub(super) fn environment(
    own: &BTreeMap<String, String>,
    program: &Path,
    sign_in: &SignIn,
    temporary: &Path,
    config: &Path,
) -> Vec<(OsString, OsString)> {
    let mut passed: Vec<&str> = PASSED.to_vec();
    let mut set: Vec<(OsString, OsString)> = SET
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    match sign_in {
        SignIn::Key(key) => {
            set.push(("ANTHROPIC_API_KEY".into(), key.expose().into()));
            set.push(("CLAUDE_CONFIG_DIR".into(), config.into()));
        }
        SignIn::Subscription => passed.extend(PASSED_FOR_SUBSCRIPTION),
    }
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set.push((name.into(), temporary.into()));
    }
    set.push(("PATH".into(), search_path(own, program)));
    let locale = |name: &str| name.starts_with("LC_");
    for (name, value) in own {
        if passed.contains(&name.as_str()) || locale(name) {
            set.push((name.into(), value.into()));
        }
    }
    set
}

/// Our `PATH` behind the folder of the program: scripts installed by npm start `node`, which lies
/// beside them and on no scheduler's path.
fn search_path(own: &BTreeMap<String, String>, program: &Path) -> OsString {
    let ours = own.get("PATH").or_else(|| own.get("Path"));
    let folders = program.parent().map(Path::to_owned).into_iter().chain(
        ours.into_iter()
            .flat_map(|path| std::env::split_paths(path))
            .filter(|folder| folder.is_absolute()),
    );
    std::env::join_paths(folders).unwrap_or_else(|_| ours.map(OsString::from).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_key::ApiKey;

    fn made(sign_in: &SignIn) -> BTreeMap<String, String> {
        let own: BTreeMap<String, String> = [
            ("HOME", "/home/me"),
            ("PATH", "relative:/usr/bin"),
            ("LC_ALL", "de_CH.UTF-8"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("CLAUDE_CONFIG_DIR", "/home/me/.claude-work"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "canary-token"),
            ("ANTHROPIC_API_KEY", "canary-inherited"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_SSE_PORT", "1234"),
            ("OPENAI_API_KEY", "canary-other"),
            ("SKILLOPT_MODEL", "x"),
            ("NODE_OPTIONS", "--require /tmp/evil.js"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("AWS_SECRET_ACCESS_KEY", "canary-aws"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        environment(
            &own,
            Path::new("/opt/node/bin/claude"),
            sign_in,
            Path::new("/tmp/t"),
            Path::new("/tmp/c"),
        )
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
    }

    #[test]
    fn a_subscription_keeps_its_own_directory_and_nothing_of_another_session() {
        let made = made(&SignIn::Subscription);
        assert_eq!(made["CLAUDE_CONFIG_DIR"], "/home/me/.claude-work");
        assert_eq!(made["CLAUDE_CODE_OAUTH_TOKEN"], "canary-token");
        assert_eq!(made["TMPDIR"], "/tmp/t");
        assert_eq!(made["CLAUDE_CODE_DISABLE_ATTACHMENTS"], "1");
        for gone in [
            "ANTHROPIC_API_KEY",
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SSE_PORT",
            "OPENAI_API_KEY",
            "SKILLOPT_MODEL",
            "NODE_OPTIONS",
            "LD_PRELOAD",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(!made.contains_key(gone), "{gone}");
        }
    }

    #[test]
    fn a_key_comes_with_an_empty_directory_and_without_any_other_sign_in() {
        let key = ApiKey::from_variable("K", |_| Some("canary-key".into()))
            .unwrap()
            .unwrap();
        let made = made(&SignIn::Key(key));
        assert_eq!(made["ANTHROPIC_API_KEY"], "canary-key");
        assert_eq!(made["CLAUDE_CONFIG_DIR"], "/tmp/c");
        assert!(!made.contains_key("CLAUDE_CODE_OAUTH_TOKEN"));
        assert_eq!(made["LC_ALL"], "de_CH.UTF-8");
        assert_eq!(made["HTTPS_PROXY"], "http://proxy:3128");
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_beside_the_program_is_found_and_nothing_relative() {
        let made = made(&SignIn::Subscription);
        assert_eq!(made["PATH"], "/opt/node/bin:/usr/bin");
    }
}
