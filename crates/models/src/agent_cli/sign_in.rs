//! How an agent's program signs in.

use std::collections::BTreeMap;

use skillopt_core::Problem;

use crate::api_key::ApiKey;
use crate::keyring::Keyring;

/// How a program signs in.
#[derive(Debug, Clone)]
pub enum SignIn {
    /// With an API key.
    Key {
        /// The environment variable that it was taken from.
        variable: String,
        /// The key.
        key: ApiKey,
    },
    /// As the user of this computer has signed in.
    Subscription,
}

impl SignIn {
    /// The way that is configured: the variable named by `models.api_key_env` if it is set, else the
    /// first of `usual` that the environment has, else the user's own sign-in.
    ///
    /// # Errors
    /// As [`ApiKey::named`].
    pub fn configured(
        api_key_env: &str,
        usual: &[&str],
        environment: &BTreeMap<String, String>,
        keyring: &Keyring,
    ) -> Result<Self, Problem> {
        let has = |name: &&&str| {
            environment
                .get(**name)
                .is_some_and(|key| !key.trim().is_empty())
        };
        let variable = match api_key_env.trim() {
            "" => usual.iter().find(has).copied().unwrap_or_default(),
            named => named,
        };
        let key = ApiKey::named(variable, environment, keyring)?;
        Ok(key.map_or(Self::Subscription, |key| Self::Key {
            variable: variable.to_owned(),
            key,
        }))
    }

    /// A reply without the key, should the program have repeated it.
    pub(crate) fn taken_out_of(&self, reply: String) -> String {
        match self {
            Self::Key { key, .. } => key.taken_out_of(reply),
            Self::Subscription => reply,
        }
    }

    /// `text` without the key, should the program have repeated it.
    pub(crate) fn hide(&self, text: &str) -> String {
        match self {
            Self::Key { key, .. } => key.hide(text),
            Self::Subscription => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn the_way_of_signing_in_follows_what_is_configured() {
        const USUAL: &[&str] = &["CODEX_API_KEY", "OPENAI_API_KEY"];
        let configured = |name: &str, pairs: &[(&str, &str)]| {
            SignIn::configured(name, USUAL, &environment(pairs), &Keyring::nowhere()).map(|way| {
                match way {
                    SignIn::Key { variable, key } => Some((variable, key.expose().to_owned())),
                    SignIn::Subscription => None,
                }
            })
        };
        let taken = |variable: &str, key: &str| Ok(Some((variable.to_owned(), key.to_owned())));
        assert_eq!(configured("", &[]), Ok(None));
        assert_eq!(configured("", &[("OPENAI_API_KEY", " ")]), Ok(None));
        assert_eq!(
            configured("", &[("OPENAI_API_KEY", "a")]),
            taken("OPENAI_API_KEY", "a")
        );
        assert_eq!(
            configured("", &[("OPENAI_API_KEY", "a"), ("CODEX_API_KEY", "c")]),
            taken("CODEX_API_KEY", "c")
        );
        assert_eq!(
            configured("WORK_KEY", &[("OPENAI_API_KEY", "a"), ("WORK_KEY", "b")]),
            taken("WORK_KEY", "b")
        );
        assert_eq!(
            configured("WORK_KEY", &[("OPENAI_API_KEY", "a")])
                .unwrap_err()
                .code,
            "api_key_missing"
        );
    }
}
