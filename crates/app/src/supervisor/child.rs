//! The process that runs one night.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use serde::Deserialize;
use serde_json::Value;
use skillopt_core::Retry;
use skillopt_models::CancelToken;
use skillopt_store::nights::Outcome;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::Launch;
use crate::sleep::RunInput;

/// How much of what a night prints is kept to read its problem from.
const KEPT: usize = 1 << 20;
/// How long the output may go on after the process has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a night's process ended.
#[derive(Debug)]
pub(super) struct Exit {
    /// Id of the project.
    pub(super) project: String,
    /// What the system says.
    pub(super) status: io::Result<ExitStatus>,
    /// The problem it printed, if it printed one.
    pub(super) said: Option<Said>,
}

/// What a night's process says of why it did not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// In a sentence.
    pub(super) message: String,
    /// The code of the problem that only a person can end, when that is why.
    pub(super) needs: Option<String>,
}

impl Exit {
    /// Whether the program ended by itself to be tried later: nothing went wrong.
    pub(super) fn is_orderly(&self) -> bool {
        const LATER: i32 = 75;
        let code = self.status.as_ref().ok().and_then(ExitStatus::code);
        matches!(code, Some(0 | LATER))
    }

    /// What that is for a night that wrote nothing down.
    pub(super) fn outcome(&self) -> Outcome {
        if self.is_orderly() {
            Outcome::Deferred
        } else {
            Outcome::Failed
        }
    }

    /// The code of the problem that only a person can end, when that is why it ended.
    pub(super) fn needs(&self) -> Option<String> {
        self.said.as_ref()?.needs.clone()
    }

    /// Why it ended, in a sentence.
    pub(super) fn reason(&self) -> String {
        match (&self.said, &self.status) {
            (Some(said), _) => said.message.clone(),
            (None, Ok(status)) => format!("The night's process ended unexpectedly ({status})."),
            (None, Err(error)) => format!("The night's process could not be run: {error}."),
        }
    }
}

/// A night's process that was started.
pub(super) struct Child {
    process: Box<dyn ChildWrapper>,
}

/// Starts a night. What it says besides its report goes to `log`.
pub(super) fn start(
    launch: &Launch,
    request: &RunInput,
    folder: &Path,
    environment: &BTreeMap<String, String>,
    log: Stdio,
) -> io::Result<Child> {
    let mut arguments: Vec<OsString> = launch.arguments.clone();
    arguments.push(serde_json::to_string(request)?.into());
    let mut command = CommandWrap::with_new(&launch.program, |command| {
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
    });
    // The flags have to be known before the job object adds its own.
    #[cfg(windows)]
    command
        .wrap(process_wrap::tokio::CreationFlags(
            windows::Win32::System::Threading::CREATE_NO_WINDOW,
        ))
        .wrap(process_wrap::tokio::JobObject);
    // A group of its own: a signal to the host's group is not one to the night, which the host ends itself.
    // Nothing kills it when the host crashes: it goes on to its end, and is found by the next one.
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    Ok(Child {
        process: command.spawn()?,
    })
}

impl Child {
    /// Waits for the end. Once `stop` is raised the whole group is asked to end, and killed after `grace`, or
    /// when `stop` drops everything.
    pub(super) async fn end(mut self, project: String, stop: CancelToken, grace: Duration) -> Exit {
        let output = self.process.stdout().take();
        let reading = tokio::spawn(async move {
            match output {
                Some(output) => read(output).await,
                None => Vec::new(),
            }
        });
        let ended = tokio::select! {
            status = self.process.inner_mut().wait() => Some(status),
            () = stop.cancelled() => None,
        };
        let status = match ended {
            Some(status) => status,
            None => self.stopped(&stop, grace).await,
        };
        let output = timeout(LAST_WORDS, reading).await;
        let output = output.ok().and_then(Result::ok).unwrap_or_default();
        Exit {
            project,
            status,
            said: said(&output),
        }
    }

    async fn stopped(&mut self, stop: &CancelToken, grace: Duration) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        {
            const SIGTERM: i32 = 15;
            if self.process.signal(SIGTERM).is_ok() {
                let ended = tokio::select! {
                    ended = timeout(grace, self.process.inner_mut().wait()) => ended.ok(),
                    () = stop.dropped() => None,
                };
                if let Some(status) = ended {
                    // What it started and left behind ends with it.
                    let _ = self.process.start_kill();
                    return status;
                }
            }
        }
        #[cfg(not(unix))]
        let _ = (stop, grace);
        self.process.start_kill()?;
        self.process.inner_mut().wait().await
    }
}

/// The first [`KEPT`] bytes; the rest is read and dropped, so that the process never waits for us.
async fn read(mut output: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut chunk = vec![0_u8; 16 * 1024];
    while let Ok(length @ 1..) = output.read(&mut chunk).await {
        let room = KEPT.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..length.min(room)]);
    }
    kept
}

/// A problem as a command that fails prints it, or as it stands in the report of a night.
#[derive(Deserialize)]
struct Printed {
    #[serde(alias = "error")]
    code: Option<String>,
    message: String,
    retry: Option<Retry>,
}

/// The problem that was printed as JSON, by itself or in a report.
fn said(output: &[u8]) -> Option<Said> {
    let value: Value = serde_json::from_slice(output).ok()?;
    let failed = value.get("ok") == Some(&Value::Bool(false));
    let problem = value.get("problem").or(failed.then_some(&value))?;
    let printed = Printed::deserialize(problem).ok()?;
    Some(Said {
        message: printed.message,
        needs: printed
            .code
            .filter(|_| printed.retry == Some(Retry::Permanent)),
    })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn started(script: &str) -> Child {
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: ["-c", script].map(Into::into).to_vec(),
        };
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        start(
            &launch,
            &RunInput::default(),
            Path::new("/"),
            &environment,
            Stdio::null(),
        )
        .unwrap()
    }

    async fn end(child: Child, stop: &CancelToken, grace: Duration) -> Exit {
        child.end("p".to_owned(), stop.clone(), grace).await
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_request_is_the_last_argument_and_a_problem_is_read_from_what_is_printed() {
        // The shell calls its first argument after the script $0.
        let child = started(
            r#"case "$0" in '{"project":null'*) echo '{"ok": false, "message": "No."}';; esac; exit 4"#,
        );
        let exit = end(child, &CancelToken::new(), LONG).await;
        assert_eq!(exit.reason(), "No.");
        assert_eq!(exit.status.unwrap().code(), Some(4));
    }

    #[test]
    fn what_only_a_person_can_end_is_read_from_a_problem_and_from_a_report() {
        let needs = |value: Value| said(value.to_string().as_bytes()).map(|said| said.needs);
        let problem =
            json!({"ok": false, "error": "usage", "message": "No.", "retry": "permanent"});
        assert_eq!(needs(problem), Some(Some("usage".to_owned())));
        let busy = json!({"ok": false, "error": "busy", "message": "No.", "retry": "temporary"});
        assert_eq!(needs(busy), Some(None));
        let report = json!({"outcome": "deferred", "reason": "No.",
            "problem": {"code": "terms", "message": "No.", "guidance": "", "retry": "permanent"}});
        assert_eq!(needs(report), Some(Some("terms".to_owned())));
        assert_eq!(needs(json!({"outcome": "proposed", "problem": null})), None);
    }

    #[tokio::test]
    async fn more_than_is_kept_is_read_and_dropped() {
        let child = started("head -c 9000000 /dev/zero; exit 3");
        let exit = end(child, &CancelToken::new(), LONG).await;
        assert_eq!(exit.status.as_ref().unwrap().code(), Some(3));
        assert!(exit.reason().contains("unexpectedly"), "{}", exit.reason());
    }

    #[tokio::test]
    async fn a_process_that_ends_when_asked_to_is_not_killed() {
        let stop = CancelToken::new();
        let child = started("trap 'exit 7' TERM; while :; do sleep 0.05; done");
        // The shell needs a moment to set its trap.
        tokio::time::sleep(Duration::from_millis(500)).await;
        stop.cancel();
        let exit = end(child, &stop, LONG).await;
        assert_eq!(exit.status.unwrap().code(), Some(7));
    }

    #[tokio::test]
    async fn one_that_does_not_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!(
            "trap '' TERM; sleep 1000 & echo $! > '{}'; wait; wait",
            file.display()
        );
        let child = started(&script);
        while std::fs::read_to_string(&file)
            .unwrap_or_default()
            .trim()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let stop = CancelToken::new();
        stop.cancel();
        let exit = end(child, &stop, Duration::from_millis(300)).await;
        assert_eq!(exit.status.unwrap().code(), None);
        let pid = std::fs::read_to_string(&file).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        // Killed, it is gone or waits to be reaped by whoever inherited it.
        loop {
            match std::fs::read_to_string(&stat) {
                Ok(text) if !text.contains(") Z ") => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Ok(_) | Err(_) => break,
            }
        }
    }
}
