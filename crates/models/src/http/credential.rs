//! What is sent so that a server answers, and to whom it may go.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use skillopt_core::{Instant, Problem};
use tokio::sync::Mutex;

use super::address::Address;
use crate::api_key::ApiKey;
use crate::cancel::CancelToken;
use crate::error::CallError;

/// A cloud token is fetched again so long before it ends.
const RENEW_BEFORE: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// The pending token of [`CloudToken::fetch`].
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Token, CallError>> + Send + 'a>>;

/// A token and its end.
#[derive(Debug, Clone)]
pub struct Token {
    /// The token.
    pub key: ApiKey,
    /// From when on it is worth nothing.
    pub until: Instant,
}

/// Where tokens of a cloud account come from.
pub trait CloudToken: Send + Sync {
    /// Gets a new one. `provider` is who asks, for errors.
    fn fetch<'a>(&'a self, provider: &'a str, cancel: &'a CancelToken) -> Fetching<'a>;

    /// The time.
    fn now(&self) -> Instant;
}

/// An account of a cloud, with its last token.
pub struct CloudAccount {
    source: Arc<dyn CloudToken>,
    kept: Mutex<Option<Token>>,
}

/// What is sent so that a server answers.
#[derive(Clone)]
pub enum Credential {
    /// Nothing.
    None,
    /// `Authorization: Bearer …`.
    Bearer(ApiKey),
    /// The key alone, in a header of this name.
    Header(&'static str, ApiKey),
    /// A token of a cloud account, as a bearer.
    Cloud(Arc<CloudAccount>),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Bearer(_) => "Bearer(…)",
            Self::Header(..) => "Header(…)",
            Self::Cloud(..) => "Cloud(…)",
        })
    }
}

impl Credential {
    /// A bearer if there is a key.
    #[must_use]
    pub fn bearer(key: Option<ApiKey>) -> Self {
        key.map_or(Self::None, Self::Bearer)
    }

    /// Tokens of a cloud account.
    #[must_use]
    pub fn cloud(source: Arc<dyn CloudToken>) -> Self {
        Self::Cloud(Arc::new(CloudAccount {
            source,
            kept: Mutex::default(),
        }))
    }

    /// Whether it may be sent to `address`.
    pub(super) fn accept(&self, address: &Address) -> Result<(), Problem> {
        match self {
            Self::None => Ok(()),
            Self::Bearer(_) | Self::Header(..) => address.accept_credential(),
            Self::Cloud(..) => address.accept_cloud_credential(),
        }
    }

    /// The key, or a token that is good for some minutes more.
    pub(super) async fn secret(
        &self,
        provider: &str,
        cancel: &CancelToken,
    ) -> Result<Option<ApiKey>, CallError> {
        match self {
            Self::None => Ok(None),
            Self::Bearer(key) | Self::Header(_, key) => Ok(Some(key.clone())),
            Self::Cloud(account) => {
                // Held while one is fetched: calls that begin together need only one.
                let mut kept = account.kept.lock().await;
                let soon = account.source.now().saturating_add(RENEW_BEFORE);
                let good = kept
                    .as_ref()
                    .filter(|token| soon.is_ok_and(|soon| token.until > soon));
                if let Some(token) = good {
                    return Ok(Some(token.key.clone()));
                }
                let token = account.source.fetch(provider, cancel).await?;
                let key = token.key.clone();
                *kept = Some(token);
                Ok(Some(key))
            }
        }
    }

    /// The header that carries `secret`.
    pub(super) fn header(&self, secret: Option<&ApiKey>) -> Option<(HeaderName, HeaderValue)> {
        let secret = secret?;
        match self {
            Self::None => None,
            Self::Bearer(_) | Self::Cloud(..) => Some((AUTHORIZATION, secret.bearer())),
            Self::Header(name, _) => Some((HeaderName::from_static(name), secret.plain())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    struct Counted {
        made: AtomicU32,
        minutes: i64,
    }

    impl CloudToken for Counted {
        fn fetch<'a>(&'a self, _provider: &'a str, _cancel: &'a CancelToken) -> Fetching<'a> {
            Box::pin(async {
                let n = self.made.fetch_add(1, Ordering::Relaxed);
                let key = ApiKey::new(&format!("token-{n}"));
                Ok(Token {
                    key: key.unwrap(),
                    until: self
                        .now()
                        .saturating_add(jiff::SignedDuration::from_mins(self.minutes))
                        .unwrap(),
                })
            })
        }

        fn now(&self) -> Instant {
            "2026-11-29T18:25:00Z".parse().unwrap()
        }
    }

    #[tokio::test]
    async fn a_token_is_kept_until_shortly_before_its_end() {
        for (minutes, fetched) in [(60, 1), (4, 3)] {
            let source = Arc::new(Counted {
                made: AtomicU32::new(0),
                minutes,
            });
            let credential = Credential::cloud(Arc::clone(&source) as Arc<dyn CloudToken>);
            let cancel = CancelToken::new();
            for _ in 0..3 {
                let secret = credential.secret("p", &cancel).await.unwrap();
                let (name, value) = credential.header(secret.as_ref()).unwrap();
                assert_eq!(name, AUTHORIZATION);
                assert!(value.is_sensitive());
                assert!(value.to_str().unwrap().starts_with("Bearer token-"));
            }
            assert_eq!(source.made.load(Ordering::Relaxed), fetched);
        }
    }
}
