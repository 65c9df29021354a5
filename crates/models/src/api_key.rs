//! A key of a model provider.

use std::collections::BTreeMap;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use skillopt_core::Problem;

use crate::keyring::Keyring;

/// What stands in a reply in the place of the key, as redaction marks it.
const MARK: &str = "[REDACTED_API_KEY]";
/// No provider gives out keys shorter than this, in bytes.
const SHORTEST_SECRET: usize = 16;

/// A key taken from an environment variable. Never shown: not by `Debug`, not in an error.
#[derive(Clone)]
pub struct ApiKey {
    value: SecretString,
    bearer: HeaderValue,
    plain: HeaderValue,
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl ApiKey {
    /// The key called `name`: the variable of this name, else the entry of the keyring. An empty name
    /// means that no key is used.
    ///
    /// # Errors
    /// `api_key_missing` when there is neither, `api_key_unusable` when its value cannot be a key or
    /// when the setting does not hold a name, and those of [`Keyring::find`].
    pub fn named(
        name: &str,
        environment: &BTreeMap<String, String>,
        keyring: &Keyring,
    ) -> Result<Option<Self>, Problem> {
        Self::from_setting("models.api_key_env", name, environment, keyring)
    }

    /// The same for a name that another setting, or the backend itself, gives.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn from_setting(
        setting: &str,
        variable: &str,
        environment: &BTreeMap<String, String>,
        keyring: &Keyring,
    ) -> Result<Option<Self>, Problem> {
        let variable = variable.trim();
        if variable.is_empty() {
            return Ok(None);
        }
        // Some people put the key itself there; whatever does not look like the usual name of a
        // variable is therefore not repeated.
        let is_name = |name: &str| {
            name.len() <= 64
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        };
        let shown = if is_name(variable) {
            format!("The variable {variable}, named by {setting},")
        } else {
            format!("The variable named by {setting}")
        };
        let value = match environment.get(variable).map(|value| value.trim()) {
            Some(value) if !value.is_empty() => Some(SecretString::from(value.to_owned())),
            _ if is_name(variable) => keyring.find(variable)?,
            _ => None,
        };
        let value = value.as_ref().map_or("", |value| value.expose_secret());
        if value.is_empty() {
            return Err(Problem::permanent(
                "api_key_missing",
                format!("{shown} is not set, and the keyring has no key of this name."),
                "Keep the key in the keyring with `skillopt key set NAME`, or set the variable where the night runs; the setting takes the name, never the key.",
            ));
        }
        Self::new(value).map(Some).ok_or_else(|| {
            Problem::permanent(
                "api_key_unusable",
                format!("{shown} holds characters that cannot be part of a key."),
                "Set it to the key alone, without line breaks.",
            )
        })
    }

    /// A key or token from elsewhere; `None` when it cannot be part of a header.
    pub(crate) fn new(value: &str) -> Option<Self> {
        let sensitive = |text: &str| {
            let mut header = HeaderValue::from_str(text).ok()?;
            header.set_sensitive(true);
            Some(header)
        };
        Some(Self {
            bearer: sensitive(&format!("Bearer {value}"))?,
            plain: sensitive(value)?,
            value: SecretString::from(value.to_owned()),
        })
    }

    /// The value of an `Authorization` header, marked as sensitive.
    pub(crate) fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }

    /// The value of a header that holds the key alone, marked as sensitive.
    pub(crate) fn plain(&self) -> HeaderValue {
        self.plain.clone()
    }

    /// The key itself, for the environment of a program that needs it.
    pub(crate) fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// A reply without the key, should a server or a program have repeated it. What is too short to be a
    /// secret stays: servers of one's own want just any word.
    pub(crate) fn taken_out_of(&self, reply: String) -> String {
        let key = self.value.expose_secret();
        if key.len() < SHORTEST_SECRET || !reply.contains(key) {
            return reply;
        }
        reply.replace(key, MARK)
    }

    /// `text` without the key, should somebody have repeated it.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(self.value.expose_secret(), "[key]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, value: Option<&str>) -> Result<Option<ApiKey>, Problem> {
        let environment = value.map(|value| (name.to_owned(), value.to_owned()));
        ApiKey::named(
            name,
            &environment.into_iter().collect(),
            &Keyring::nowhere(),
        )
    }

    #[test]
    fn a_key_is_never_shown() {
        let canary = "sk-canary-0123456789";
        let key = named("OPENAI_API_KEY", Some(&format!(" {canary}\n")))
            .unwrap()
            .unwrap();
        assert!(!format!("{key:?} {:?}", key.bearer()).contains("canary"));
        assert_eq!(key.hide(&format!("bad key {canary}!")), "bad key [key]!");
        assert_eq!(key.bearer().to_str().unwrap(), format!("Bearer {canary}"));
    }

    #[test]
    fn a_reply_that_repeats_the_key_is_kept_without_it_and_one_with_a_word_is_kept() {
        let key = ApiKey::new("canary.0123456789").unwrap();
        let said = |text: &str| key.taken_out_of(text.to_owned());
        assert_eq!(
            said("you sent Bearer canary.0123456789."),
            "you sent Bearer [REDACTED_API_KEY]."
        );
        assert!(skillopt_core::redact::contains_mark(&said(
            "canary.0123456789"
        )));
        let word = ApiKey::new("ollama").unwrap();
        assert_eq!(word.taken_out_of("ollama runs".to_owned()), "ollama runs");
    }

    #[test]
    fn a_missing_key_names_the_variable_but_never_a_pasted_key() {
        assert!(named(" ", None).unwrap().is_none());
        let problem = named("OPENAI_API_KEY", None).unwrap_err();
        assert_eq!(problem.code, "api_key_missing");
        assert!(problem.message.contains("OPENAI_API_KEY"));
        let pasted = named("gsk_canary0123456789", None).unwrap_err();
        assert!(!pasted.message.contains("canary"), "{pasted}");
        let broken = named("KEY", Some("a\nb")).unwrap_err();
        assert_eq!(broken.code, "api_key_unusable");
    }
}
