//! Tokens of the identity that a machine or an app service of Azure itself has.
//!
//! They come from a service that only answers on the machine: the one named by `IDENTITY_ENDPOINT`,
//! or the one every virtual machine has at a fixed address. No proxy is used for either.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use skillopt_core::{Instant, Problem};
use skillopt_store::Clock;

use super::RESOURCE;
use crate::api_key::ApiKey;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::http::{CloudToken, Fetching, Token, client_builder};

/// Where the service of a virtual machine is.
const OF_A_MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most that is read of its answer.
const LARGEST_ANSWER: usize = 64 * 1024;

/// The identity of this machine.
pub struct ManagedIdentity {
    service: Url,
    /// The secret by which an app service tells its own apps from others.
    header: Option<SecretString>,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl ManagedIdentity {
    /// `environment` is that of this process; `client_id` chooses one of several identities. Sends
    /// nothing.
    ///
    /// # Errors
    /// `endpoint_not_trusted` when `IDENTITY_ENDPOINT` is not on this machine, `network_unusable`.
    pub fn new(
        environment: &BTreeMap<String, String>,
        client_id: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Problem> {
        let named = environment
            .get("IDENTITY_ENDPOINT")
            .zip(environment.get("IDENTITY_HEADER"));
        let (address, version, header) = match named {
            Some((endpoint, header)) => (
                endpoint.as_str(),
                "2019-08-01",
                Some(SecretString::from(header.clone())),
            ),
            None => (OF_A_MACHINE, "2018-02-01", None),
        };
        let mut service = Url::parse(address).ok().filter(is_local).ok_or_else(|| {
            Problem::refused(
                "endpoint_not_trusted",
                "IDENTITY_ENDPOINT is not an address on this machine; nothing was sent.",
                "Take the variable out where the night runs, or set models.azure_auth to key.",
            )
        })?;
        service
            .query_pairs_mut()
            .append_pair("api-version", version)
            .append_pair("resource", RESOURCE);
        if !client_id.trim().is_empty() {
            service
                .query_pairs_mut()
                .append_pair("client_id", client_id.trim());
        }
        let client = client_builder()
            .no_proxy()
            .tls_certs_only([])
            .connect_timeout(Duration::from_secs(3))
            .timeout(PATIENCE)
            .build()
            .map_err(|_| {
                Problem::permanent(
                    "network_unusable",
                    "This computer cannot make connections.",
                    "Set models.azure_auth to key.",
                )
            })?;
        Ok(Self {
            service,
            header,
            client,
            clock,
        })
    }

    async fn token(&self, provider: &str) -> Result<Token, CallError> {
        let unavailable = |detail: &str| CallError::Unavailable {
            provider: provider.to_owned(),
            detail: format!("the identity service of this machine {detail}"),
            sent: false,
        };
        let request = self.client.get(self.service.clone());
        let request = match &self.header {
            Some(header) => request.header("x-identity-header", header.expose_secret()),
            None => request.header("metadata", "true"),
        };
        let mut response = request.send().await.map_err(|_| CallError::Misconfigured {
            provider: provider.to_owned(),
            detail: "no identity service answers on this machine".to_owned(),
            guidance: "Managed identities are for machines of Azure; elsewhere set models.azure_auth to azure_cli or key.".to_owned(),
        })?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|_| unavailable("broke off"))?
        {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(unavailable("says too much"));
            }
            body.extend_from_slice(&chunk);
        }
        if matches!(
            status,
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        ) {
            return Err(CallError::SignInNeeded {
                provider: provider.to_owned(),
                detail: format!(
                    "this machine has no identity that may ask ({}); give it one, or set models.azure_client_id",
                    status.as_u16()
                ),
            });
        }
        if !status.is_success() {
            return Err(unavailable(&format!("failed with {}", status.as_u16())));
        }
        read(&body, self.clock.now())
            .ok_or_else(|| unavailable("answered with something that is not a token"))
    }
}

/// Whether it is on this machine, or on the link that only this machine sees.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    url.scheme() == "http"
        && bare
            .parse::<IpAddr>()
            .map_or(host == "localhost", |ip| match ip.to_canonical() {
                IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
                IpAddr::V6(ip) => ip.is_loopback(),
            })
}

/// The token in an answer; its end is a number of seconds, as text or as a number.
fn read(body: &[u8], now: Instant) -> Option<Token> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let key = answer
        .get("access_token")?
        .as_str()
        .filter(|key| !key.is_empty())?;
    let seconds = |name: &str| {
        let value = answer.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let until = seconds("expires_on")
        .and_then(|end| Instant::from_second(end).ok())
        .or_else(|| {
            let life = jiff::SignedDuration::from_secs(seconds("expires_in")?);
            now.saturating_add(life).ok()
        })?;
    Some(Token {
        key: ApiKey::new(key)?,
        until,
    })
}

impl CloudToken for ManagedIdentity {
    fn fetch<'a>(&'a self, provider: &'a str, cancel: &'a CancelToken) -> Fetching<'a> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = cancel.dropped() => Err(CallError::Cancelled),
                token = self.token(provider) => token,
            }
        })
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use skillopt_store::FixedClock;

    fn identity(variables: &[(&str, &str)], client_id: &str) -> Result<ManagedIdentity, Problem> {
        let environment = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let clock = FixedClock::new("2026-11-29T18:25:00Z".parse().unwrap());
        ManagedIdentity::new(&environment, client_id, Arc::new(clock))
    }

    /// Answers one request; gives what was asked and what became of it.
    async fn asked(status: &str, body: &str) -> (String, Result<Token, CallError>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/msi/token", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let identity = identity(
            &[("IDENTITY_ENDPOINT", &endpoint), ("IDENTITY_HEADER", "h-1")],
            "c-1",
        )
        .unwrap();
        let token = identity.fetch("azure_openai:h", &CancelToken::new()).await;
        (serving.await.unwrap(), token)
    }

    #[tokio::test]
    async fn a_token_of_the_service_on_this_machine() {
        let (request, token) = asked(
            "200 OK",
            r#"{"access_token":"t-1","expires_on":"1796000000"}"#,
        )
        .await;
        let token = token.unwrap();
        assert_eq!(
            (token.key.expose(), token.until.as_second()),
            ("t-1", 1_796_000_000)
        );
        assert!(
            request.starts_with(
                "GET /msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=c-1 "
            ),
            "{request}"
        );
        assert!(request.contains("x-identity-header: h-1"), "{request}");
    }

    #[tokio::test]
    async fn failures_have_their_types() {
        for (status, body, code) in [
            ("400 Bad Request", "{}", "sign_in_needed"),
            ("500 Oops", "{}", "model_unavailable"),
            ("200 OK", "{}", "model_unavailable"),
            ("200 OK", "<html>", "model_unavailable"),
        ] {
            assert_eq!(
                asked(status, body).await.1.unwrap_err().code(),
                code,
                "{status}"
            );
        }
        let nobody = identity(
            &[
                ("IDENTITY_ENDPOINT", "http://127.0.0.1:9/t"),
                ("IDENTITY_HEADER", "h"),
            ],
            "",
        );
        let error = nobody
            .unwrap()
            .fetch("a", &CancelToken::new())
            .await
            .unwrap_err();
        assert_eq!(error.code(), "backend_misconfigured");
    }

    #[test]
    fn the_secret_of_an_app_service_does_not_leave_the_machine() {
        for endpoint in [
            "http://10.0.0.4/token",
            "https://evil.example/token",
            "http://127.0.0.1.evil.example/token",
            "not an address",
        ] {
            let problem = identity(
                &[("IDENTITY_ENDPOINT", endpoint), ("IDENTITY_HEADER", "h")],
                "",
            );
            assert_eq!(
                problem.err().unwrap().code,
                "endpoint_not_trusted",
                "{endpoint}"
            );
        }
        let machine = identity(&[], "").unwrap();
        assert_eq!(machine.service.host_str(), Some("169.254.169.254"));
    }
}
