//! Keeping the computer awake while a night runs, and only then.

use std::collections::BTreeMap;

/// What the system shows as the reason.
const WHY: &str = "A night of SkillOpt is running";

/// While it lives, the computer does not fall asleep by itself.
pub(super) struct Awake {
    #[cfg(target_os = "linux")]
    _held: zbus::zvariant::OwnedFd,
    /// The thread that holds it ends with this.
    #[cfg(not(target_os = "linux"))]
    _held: std::sync::mpsc::Sender<()>,
}

impl Awake {
    /// Asks the system. Error: why it could not be done, in words.
    #[cfg(target_os = "linux")]
    pub(super) async fn hold(environment: &BTreeMap<String, String>) -> Result<Self, String> {
        use super::bus::Bus;
        let held = async { Bus::system(environment).await?.inhibit(WHY).await };
        let held = held.await.map_err(|error| error.to_string())?;
        Ok(Self { _held: held })
    }

    /// Asks the system. Error: why it could not be done, in words.
    #[cfg(not(target_os = "linux"))]
    pub(super) async fn hold(_environment: &BTreeMap<String, String>) -> Result<Self, String> {
        // Windows keeps this by thread, so that one thread asks, waits and lets go.
        let (sender, let_go) = std::sync::mpsc::channel::<()>();
        let (told, answer) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let held = keepawake::Builder::default()
                .idle(true)
                .reason(WHY)
                .app_name("SkillOpt")
                .create();
            let failed = held.as_ref().err().map(ToString::to_string);
            let _ = told.send(failed);
            if held.is_ok() {
                // Ends when the sender is dropped.
                let _ = let_go.recv();
            }
        });
        match answer.await {
            Ok(None) => Ok(Self { _held: sender }),
            Ok(Some(why)) => Err(why),
            Err(_) => Err("the thread that asks for it ended".to_owned()),
        }
    }
}
