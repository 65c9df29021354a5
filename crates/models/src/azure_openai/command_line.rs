//! Tokens from the Azure command line, `az`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use skillopt_core::Instant;
use skillopt_core::text::{cut, one_line};
use skillopt_store::Clock;

use super::RESOURCE;
use crate::api_key::ApiKey;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::http::{CloudToken, Fetching, Token};
use crate::process::{Limits, Program, Reading, RunFault, Scratch, absolute_folders, run};

/// How long it may take; it starts Python.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most it may print.
const LARGEST_OUTPUT: usize = 256 * 1024;
/// How long a token is good when nothing says so.
const USUAL_LIFE: jiff::SignedDuration = jiff::SignedDuration::from_secs(3_000);

/// What it needs of our environment: where its sign-in is, and the way out of this network.
const PASSED: [&str; 24] = [
    "HOME",
    "USER",
    "LANG",
    "PATH",
    "AZURE_CONFIG_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "SYSTEMROOT",
    "SystemRoot",
    "WINDIR",
    "COMSPEC",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
];

/// The account that `az` is signed in to.
pub struct CommandLine {
    environment: Arc<BTreeMap<String, String>>,
    clock: Arc<dyn Clock>,
}

impl CommandLine {
    /// `environment` is that of this process. Starts nothing.
    #[must_use]
    pub fn new(environment: BTreeMap<String, String>, clock: Arc<dyn Clock>) -> Self {
        Self {
            environment: Arc::new(environment),
            clock,
        }
    }

    async fn token(&self, provider: &str, cancel: &CancelToken) -> Result<Token, CallError> {
        let tried = candidates(&self.environment);
        let Some(path) = tried.iter().find(|path| path.is_file()).cloned() else {
            let tried: Vec<String> = tried
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(CallError::Misconfigured {
                provider: provider.to_owned(),
                detail: format!(
                    "the Azure command line az was not found; tried: {}",
                    tried.join(", ")
                ),
                guidance: "Install it, or set models.azure_auth to key or managed_identity."
                    .to_owned(),
            });
        };
        let unavailable = |detail: String| CallError::Unavailable {
            provider: provider.to_owned(),
            detail,
            sent: false,
        };
        let scratch = Scratch::new().map_err(|error| {
            unavailable(format!("no temporary directory can be made ({error})"))
        })?;
        let arguments = [
            "account",
            "get-access-token",
            "--resource",
            RESOURCE,
            "--output",
            "json",
        ];
        let program = Program {
            path,
            arguments: arguments.map(OsString::from).to_vec(),
            environment: self
                .environment
                .iter()
                .filter(|(name, _)| PASSED.contains(&name.as_str()))
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            limits: Limits {
                first_byte: PATIENCE,
                whole: PATIENCE,
                output: LARGEST_OUTPUT,
            },
            reading: Reading::Bytes,
        };
        let run = run(&program, &scratch, b"", cancel.dropped())
            .await
            .map_err(|fault| match fault {
                RunFault::Cancelled => CallError::Cancelled,
                RunFault::TimedOut { .. } => {
                    unavailable(format!("az gave no token within {} s", PATIENCE.as_secs()))
                }
                RunFault::TooMuchOutput | RunFault::TooManyRounds => {
                    unavailable("az printed too much".to_owned())
                }
                RunFault::NotStarted(error)
                | RunFault::NoScratch(error)
                | RunFault::Lost(error) => unavailable(format!("az could not be run ({error})")),
            })?;
        if run.code != Some(0) {
            return Err(CallError::SignInNeeded {
                provider: provider.to_owned(),
                detail: excerpt(&run.diagnostics),
            });
        }
        read(&run.output, self.clock.now())
            .ok_or_else(|| unavailable("az printed something that is not a token".to_owned()))
    }
}

impl CloudToken for CommandLine {
    fn fetch<'a>(&'a self, provider: &'a str, cancel: &'a CancelToken) -> Fetching<'a> {
        Box::pin(self.token(provider, cancel))
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// What it said on standard error, in one line: what is wrong comes last there.
fn excerpt(diagnostics: &[u8]) -> String {
    let text = String::from_utf8_lossy(diagnostics);
    let visible: String = one_line(&text)
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    let said = visible
        .rsplit_once("ERROR: ")
        .map_or(visible.as_str(), |(_, said)| said);
    format!("az: {}", cut(said, 200))
}

/// The token in what it printed. Its `expiresOn` is in local time and not read.
fn read(output: &[u8], now: Instant) -> Option<Token> {
    let printed: Value = serde_json::from_slice(output).ok()?;
    let key = printed
        .get("accessToken")?
        .as_str()
        .filter(|key| !key.is_empty())?;
    let until = printed
        .get("expires_on")
        .and_then(Value::as_i64)
        .and_then(|seconds| Instant::from_second(seconds).ok())
        .or_else(|| now.saturating_add(USUAL_LIFE).ok())?;
    Some(Token {
        key: ApiKey::new(key)?,
        until,
    })
}

/// Where it may be: along `PATH`, and where its installers put it.
fn candidates(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let path = environment.get("PATH").or_else(|| environment.get("Path"));
    let mut folders: Vec<PathBuf> = path.into_iter().flat_map(absolute_folders).collect();
    if cfg!(windows) {
        for variable in ["ProgramFiles", "ProgramFiles(x86)"] {
            if let Some(folder) = environment.get(variable) {
                folders.push(Path::new(folder).join("Microsoft SDKs/Azure/CLI2/wbin"));
            }
        }
    } else {
        folders.extend(["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"].map(PathBuf::from));
        if let Some(home) = environment.get("HOME") {
            folders.push(Path::new(home).join(".local/bin"));
        }
    }
    let name = if cfg!(windows) { "az.cmd" } else { "az" };
    let mut seen = std::collections::BTreeSet::new();
    folders
        .into_iter()
        .map(|folder| folder.join(name))
        .filter(|path| seen.insert(path.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use skillopt_store::FixedClock;

    use super::*;

    fn now() -> Instant {
        "2026-11-29T18:25:00Z".parse().unwrap()
    }

    #[test]
    fn a_token_with_and_without_its_end() {
        let token = read(
            br#"{"accessToken":"t-1","expires_on":1796000000,"expiresOn":"x"}"#,
            now(),
        );
        assert_eq!(token.unwrap().until.as_second(), 1_796_000_000);
        let token = read(br#"{"accessToken":"t-1"}"#, now()).unwrap();
        assert_eq!(token.until.as_second() - now().as_second(), 3_000);
        for no_token in [
            &b"{}"[..],
            br#"{"accessToken":""}"#,
            b"Please sign in",
            br#"{"accessToken":"a\nb"}"#,
        ] {
            assert!(read(no_token, now()).is_none());
        }
    }

    #[cfg(unix)]
    fn stub(folder: &Path, script: &str) -> CommandLine {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.join("az");
        skillopt_store::files::write_private(&path, format!("#!/bin/sh\n{script}\n").as_bytes())
            .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let environment = [
            ("PATH", folder.display().to_string()),
            ("AWS_SECRET", "s".to_owned()),
        ];
        CommandLine::new(
            environment
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            Arc::new(FixedClock::new(now())),
        )
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_program_is_asked_with_little_of_our_environment() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let az = stub(
            folder.path(),
            &format!(
                "echo \"$* [$AWS_SECRET]\" > {}\necho '{{\"accessToken\":\"t-1\",\"expires_on\":1796000000}}'",
                log.display()
            ),
        );
        let token = az
            .fetch("azure_openai:h", &CancelToken::new())
            .await
            .unwrap();
        assert_eq!(token.key.expose(), "t-1");
        let asked = std::fs::read_to_string(log).unwrap();
        assert_eq!(
            asked.trim(),
            "account get-access-token --resource https://cognitiveservices.azure.com --output json []"
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_sign_in_that_is_missing_says_what_az_says() {
        let folder = tempfile::tempdir().unwrap();
        let az = stub(
            folder.path(),
            "echo \"ERROR: Please run 'az login' to setup account.\" >&2; exit 1",
        );
        let error = az
            .fetch("azure_openai:h", &CancelToken::new())
            .await
            .unwrap_err();
        assert_eq!(error.code(), "sign_in_needed");
        assert!(
            error.to_string().contains("Please run 'az login'"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn what_was_tried_is_listed_when_it_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let environment = [("PATH".to_owned(), folder.path().display().to_string())];
        let az = CommandLine::new(environment.into(), Arc::new(FixedClock::new(now())));
        // A machine with the real one in /usr/bin would sign in; then there is nothing to see here.
        if candidates(&az.environment)
            .iter()
            .any(|path| path.is_file())
        {
            return;
        }
        let error = az
            .fetch("azure_openai:h", &CancelToken::new())
            .await
            .unwrap_err();
        assert_eq!(error.code(), "backend_misconfigured");
        assert!(
            error
                .to_string()
                .contains(&folder.path().display().to_string())
        );
    }
}
