//! Keys in the keyring of the system: Secret Service on Linux, Keychain, Credential Manager.
//!
//! All keys are one item, so that one unlocking is enough, and a process reads it once. A key is found
//! by the name that `models.api_key_env` gives: the environment variable of this name comes first, then
//! the keyring. Nothing of it reaches a file, a command line or a log.
//!
//! A locked keyring answers a request for a secret with a dialog, and nobody is there at night to
//! answer that: whether it is locked is therefore asked before ([`State`]), and every request has a
//! time limit, on a thread of its own.

#[cfg(target_os = "linux")]
mod secret_service;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use keyring::Entry;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use skillopt_core::Problem;

const SERVICE: &str = "skillopt";
const ITEM: &str = "keys";
/// What the self-test writes and removes again.
const TEST_ITEM: &str = "self-test";
/// How long a keyring may take where nobody is asked anything.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long somebody may take to answer its dialog.
const PATIENCE_OF_A_PERSON: Duration = Duration::from_secs(90);

/// The state of the keyring, read without asking for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "KeyringState"))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It can be read.
    Ready,
    /// It is there and locked.
    Locked,
    /// There is none in this session.
    Missing,
    /// It is there, and does not let this program in.
    Denied,
}

/// Where a key may be found besides the environment.
#[derive(Clone)]
pub struct Keyring(Source);

#[derive(Clone)]
enum Source {
    Nowhere,
    System(Arc<OnceLock<Result<Keys, Problem>>>),
}

type Keys = BTreeMap<String, SecretString>;

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Source::Nowhere => "Keyring(nowhere)",
            Source::System(_) => "Keyring(system)",
        })
    }
}

impl Keyring {
    /// No keyring: keys come from the environment alone.
    #[must_use]
    pub fn nowhere() -> Self {
        Self(Source::Nowhere)
    }

    /// The keyring of the session this process runs in.
    #[must_use]
    pub fn of_the_system() -> Self {
        Self(Source::System(Arc::default()))
    }

    /// The key of this name, if there is one. The keyring is read at the first question, and never
    /// again by this value.
    ///
    /// # Errors
    /// `keyring_locked`, `keyring_denied`, `keyring_failed`, `keyring_unreadable`. No keyring at all is
    /// no error: then there is no key.
    pub fn find(&self, name: &str) -> Result<Option<SecretString>, Problem> {
        match &self.0 {
            Source::Nowhere => Ok(None),
            Source::System(read) => match read.get_or_init(read_unasked) {
                Ok(keys) => Ok(keys.get(name).cloned()),
                Err(problem) => Err(problem.clone()),
            },
        }
    }
}

/// Reads the keys without a dialog. A keyring that is missing holds none.
fn read_unasked() -> Result<Keys, Problem> {
    match state() {
        State::Missing => Ok(Keys::new()),
        State::Locked => Err(locked()),
        State::Denied => Err(denied()),
        State::Ready => read(Asked::Nobody),
    }
}

/// Whether the keyring can be read now. Asks for no secret and raises no dialog.
#[must_use]
pub fn state() -> State {
    #[cfg(target_os = "linux")]
    {
        // One that does not answer may be waiting for its user.
        within(PATIENCE, secret_service::state).unwrap_or(State::Locked)
    }
    // The others are opened with the session.
    #[cfg(not(target_os = "linux"))]
    {
        State::Ready
    }
}

/// The names of the keys that are kept, in order.
///
/// # Errors
/// As [`Keyring::find`], and `keyring_missing`.
pub fn names() -> Result<Vec<String>, Problem> {
    match state() {
        State::Missing => Err(missing()),
        State::Locked => Err(locked()),
        State::Denied => Err(denied()),
        State::Ready => Ok(read(Asked::Nobody)?.into_keys().collect()),
    }
}

/// Keeps `secret` under `name`. Somebody is there: the keyring may ask to be unlocked. The first time,
/// something is written, read back and removed before a secret is given away.
///
/// # Errors
/// `key_name_unusable`, `key_empty`, `keyring_missing`, `keyring_denied`, `keyring_locked`,
/// `keyring_failed`, `keyring_full`, `keyring_forgets`, `keyring_unreadable`.
///
/// All keys are one item, which is read and written back: two processes must not do so at once.
pub fn set(name: &str, secret: &SecretString) -> Result<(), Problem> {
    check_name(name)?;
    if secret.expose_secret().trim().is_empty() {
        return Err(Problem::refused(
            "key_empty",
            "No key was given.",
            "Give the key on standard input, or paste it where you are asked.",
        ));
    }
    is_let_in()?;
    let mut keys = read(Asked::Somebody)?;
    if keys.is_empty() && !ask(Asked::Somebody, round_trip)? {
        return Err(Problem::permanent(
            "keyring_forgets",
            "Your keyring does not give back what is kept in it; the key was not given to it.",
            "Look whether your keyring program works, or keep the key in an environment variable.",
        ));
    }
    let secret = SecretString::from(secret.expose_secret().trim().to_owned());
    keys.insert(name.to_owned(), secret);
    write(keys)
}

/// Removes the key of this name; whether there was one. As for [`set`], one process at a time.
///
/// # Errors
/// `keyring_missing`, `keyring_denied`, `keyring_locked`, `keyring_failed`, `keyring_unreadable`.
pub fn remove(name: &str) -> Result<bool, Problem> {
    is_let_in()?;
    let mut keys = read(Asked::Somebody)?;
    let was_there = keys.remove(name).is_some();
    if was_there {
        write(keys)?;
    }
    Ok(was_there)
}

/// One that is locked may be unlocked by its user.
fn is_let_in() -> Result<(), Problem> {
    match state() {
        State::Missing => Err(missing()),
        State::Denied => Err(denied()),
        State::Ready | State::Locked => Ok(()),
    }
}

/// A name that can also be that of an environment variable.
fn check_name(name: &str) -> Result<(), Problem> {
    let usable = !name.is_empty()
        && name.len() <= 64
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if usable {
        return Ok(());
    }
    // It may be the key itself, so it is not repeated.
    Err(Problem::refused(
        "key_name_unusable",
        "A key is kept under a name of capital letters, digits and underscores.",
        "Use the name that models.api_key_env gives, for example OPENAI_API_KEY.",
    ))
}

fn read(who: Asked) -> Result<Keys, Problem> {
    let text = ask(who, || match entry(ITEM)?.get_password() {
        Ok(text) => Ok(Some(SecretString::from(text))),
        Err(keyring::Error::NoEntry) => Ok(None),
        Err(error) => Err(error),
    })?;
    let Some(text) = text else {
        return Ok(Keys::new());
    };
    let read: BTreeMap<String, String> = serde_json::from_str(text.expose_secret()).map_err(|_| {
        Problem::permanent(
            "keyring_unreadable",
            "The item \"skillopt\" of your keyring was not written by this program.",
            "Look at it in your keyring program; when it is deleted, keys can be set again with `skillopt key set`.",
        )
    })?;
    Ok(read
        .into_iter()
        .map(|(name, key)| (name, SecretString::from(key)))
        .collect())
}

fn write(keys: Keys) -> Result<(), Problem> {
    ask(Asked::Somebody, move || {
        let entry = entry(ITEM)?;
        if keys.is_empty() {
            return match entry.delete_credential() {
                Err(keyring::Error::NoEntry) => Ok(()),
                other => other,
            };
        }
        let plain: BTreeMap<&str, &str> = keys
            .iter()
            .map(|(name, key)| (name.as_str(), key.expose_secret()))
            .collect();
        let text = SecretString::from(serde_json::json!(plain).to_string());
        entry.set_password(text.expose_secret())
    })
}

/// Whether what is written can be read: some keyrings accept a secret and forget it, or give back another.
fn round_trip() -> keyring::Result<bool> {
    const WORD: &str = "can be read back";
    let entry = entry(TEST_ITEM)?;
    entry.set_password(WORD)?;
    let came_back = entry.get_password();
    match entry.delete_credential() {
        Ok(()) | Err(keyring::Error::NoEntry) => {}
        Err(error) => return Err(error),
    }
    match came_back {
        Ok(text) => Ok(text == WORD),
        Err(keyring::Error::NoEntry | keyring::Error::BadEncoding(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn entry(item: &str) -> keyring::Result<Entry> {
    Entry::new(SERVICE, item)
}

/// Whom the keyring can ask to unlock it, or to let this program in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// It is night.
    Nobody,
    /// Whoever gave the command.
    Somebody,
}

impl Asked {
    const fn patience(self) -> Duration {
        match self {
            Self::Nobody => PATIENCE,
            Self::Somebody => PATIENCE_OF_A_PERSON,
        }
    }
}

/// Asks the keyring, for as long as whoever it can ask may take.
fn ask<T: Send + 'static>(
    who: Asked,
    question: impl FnOnce() -> keyring::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    // What does not answer waits for somebody.
    within(who.patience(), question)
        .ok_or_else(locked)?
        .map_err(|error| refused(&error, who, state()))
}

/// What an error means. The library has one kind for a keyring that is locked, for a dialog that was
/// closed and for a program that is not let in, and none for a collection that is locked when something
/// new is written: the state afterwards tells them apart.
fn refused(error: &keyring::Error, who: Asked, state: State) -> Problem {
    match (state, error, who) {
        (State::Missing, _, _) | (_, keyring::Error::NoDefaultStore, _) => missing(),
        (State::Locked, _, Asked::Nobody) => locked(),
        // It was asked for, and is locked still.
        (State::Locked, _, Asked::Somebody)
        | (State::Denied, _, _)
        | (State::Ready, keyring::Error::NoStorageAccess(_), _) => denied(),
        // Windows takes 2,560 bytes, and all keys are one item.
        (State::Ready, keyring::Error::TooLong(..), _) => Problem::permanent(
            "keyring_full",
            "Your keyring does not take that much: all keys together are too long for it.",
            "Remove a key you no longer use, or keep this one in an environment variable.",
        ),
        (State::Ready, other, _) => Problem::temporary(
            "keyring_failed",
            // Errors of this library name what went wrong, never the secret.
            format!("Your keyring did not do what was asked: {other}."),
            "Look whether your keyring program works, or keep the key in an environment variable.",
        ),
    }
}

/// What `question` gives, on a thread of its own; nothing when it takes too long. The thread then goes
/// on waiting for an answer that nobody wants any more.
fn within<T: Send + 'static>(
    patience: Duration,
    question: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = answer.send(question());
    });
    answered.recv_timeout(patience).ok()
}

fn locked() -> Problem {
    Problem::temporary(
        "keyring_locked",
        "Your keyring is locked, and the key is not in the environment.",
        "Unlock it (signing in to your session does), or set the variable where the night runs; the night then goes on.",
    )
}

fn denied() -> Problem {
    Problem::permanent(
        "keyring_denied",
        "Your keyring does not let this program in, or was not unlocked when it asked.",
        "Allow it in your keyring program and answer its dialog, or keep the key in an environment variable.",
    )
}

fn missing() -> Problem {
    Problem::permanent(
        "keyring_missing",
        "There is no keyring in this session.",
        "Start one (GNOME Keyring, KWallet or KeePassXC), or keep the key in an environment variable.",
    )
}

#[cfg(test)]
mod tests {
    use skillopt_core::problem::Retry;

    use super::*;

    #[test]
    fn a_name_that_could_be_a_key_is_refused_and_not_repeated() {
        for name in ["", "sk-abc123", "openai", "1KEY", &"K".repeat(65)] {
            let problem = check_name(name).unwrap_err();
            assert_eq!(problem.code, "key_name_unusable");
            assert!(name.is_empty() || !problem.message.contains(name));
        }
        check_name("OPENAI_API_KEY").unwrap();
    }

    #[test]
    fn what_does_not_answer_counts_as_locked() {
        let (_held, never) = mpsc::channel::<()>();
        let answer = within(Duration::from_millis(20), move || never.recv());
        assert!(answer.is_none());
        assert_eq!(locked().retry, Retry::Temporary);
    }

    #[test]
    fn an_error_means_what_the_state_says() {
        let no_access = || keyring::Error::NoStorageAccess("closed".into());
        let other = || keyring::Error::PlatformFailure("broken".into());
        let code = |error: keyring::Error, who, state| refused(&error, who, state).code;
        for error in [no_access, other] {
            assert_eq!(
                code(error(), Asked::Nobody, State::Locked),
                "keyring_locked"
            );
            assert_eq!(
                code(error(), Asked::Somebody, State::Locked),
                "keyring_denied"
            );
            assert_eq!(
                code(error(), Asked::Nobody, State::Denied),
                "keyring_denied"
            );
            assert_eq!(
                code(error(), Asked::Nobody, State::Missing),
                "keyring_missing"
            );
        }
        let nobody = Asked::Nobody;
        assert_eq!(code(no_access(), nobody, State::Ready), "keyring_denied");
        assert_eq!(code(other(), nobody, State::Ready), "keyring_failed");
        let too_long = keyring::Error::TooLong("password".into(), 2560);
        assert_eq!(code(too_long, nobody, State::Ready), "keyring_full");
        // A night that cannot come to its key fails and says so, and does not wait for ever.
        assert_eq!(denied().retry, Retry::Permanent);
    }

    #[test]
    fn nothing_of_it_is_shown() {
        assert_eq!(format!("{:?}", Keyring::nowhere()), "Keyring(nowhere)");
        assert!(Keyring::nowhere().find("OPENAI_API_KEY").unwrap().is_none());
    }
}
