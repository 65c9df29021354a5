//! Keys of model providers in the keyring of the system.

use std::time::{Duration, Instant};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use skillopt_core::Problem;
use skillopt_models::keyring;
use skillopt_store::locks;

use crate::Nothing;
use crate::context::App;

pub use skillopt_models::keyring::State as KeyringState;

/// How long another process may take to change a key; it may be asking its user.
const PATIENCE: Duration = Duration::from_secs(100);

/// A key on its way into the keyring. It is read, and never written or shown.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "String"))]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a key.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(SecretString::from(text))
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("…")
    }
}

/// A key to keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "KeySetInput"))]
pub struct SetInput {
    /// What `models.api_key_env` calls it.
    pub name: String,
    /// The key.
    pub secret: Secret,
}

/// A key to remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "KeyRemoveInput")
)]
pub struct RemoveInput {
    /// Its name.
    pub name: String,
}

/// What the keyring holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "KeysKept"))]
pub struct Kept {
    /// Whether it can be used now.
    pub state: KeyringState,
    /// The names of the keys in it; empty while they cannot be read.
    pub names: Vec<String>,
}

/// Says what the keyring holds. A locked or missing one is no error here.
pub async fn list(_: &App, _: Nothing) -> Result<Kept, Problem> {
    aside(|| {
        let state = keyring::state();
        let names = match state {
            KeyringState::Ready => keyring::names()?,
            KeyringState::Locked | KeyringState::Missing | KeyringState::Denied => Vec::new(),
        };
        Ok(Kept { state, names })
    })
    .await
}

/// Keeps a key. Errors: `keyring_busy`, and those of [`keyring::set`].
pub async fn set(app: &App, input: SetInput) -> Result<Kept, Problem> {
    let app = app.clone();
    aside(move || {
        let _lock = alone(&app)?;
        keyring::set(&input.name, &input.secret.0)?;
        now()
    })
    .await
}

/// Removes a key. Errors: `key_unknown`, `keyring_busy`, and those of [`keyring::remove`].
pub async fn remove(app: &App, input: RemoveInput) -> Result<Kept, Problem> {
    let app = app.clone();
    aside(move || {
        let _lock = alone(&app)?;
        if !keyring::remove(&input.name)? {
            return Err(Problem::refused(
                "key_unknown",
                "The keyring has no key of this name.",
                "`skillopt key list` shows the names.",
            ));
        }
        now()
    })
    .await
}

/// Waits until nobody else changes the keys: they are one item, read and written back.
fn alone(app: &App) -> Result<locks::Guard, Problem> {
    let begun = Instant::now();
    loop {
        match locks::keyring(&app.paths, "changing keys", app.clock.now()) {
            Err(problem) if problem.code == "keyring_busy" && begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

fn now() -> Result<Kept, Problem> {
    Ok(Kept {
        state: KeyringState::Ready,
        names: keyring::names()?,
    })
}

/// Keyrings answer slowly, and some ask their user first.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::temporary(
            "keyring_failed",
            format!("Your keyring did not do what was asked: {error}."),
            "Try again.",
        )
    })?
}
