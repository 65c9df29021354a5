//! A model behind HTTP: what Chat Completions, OpenAI's Responses and Anthropic's Messages share.
//!
//! A key goes to one host only, and only encrypted or within this computer; redirects are not
//! followed. The proxy of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) is
//! used, never for this computer. Replies are asked for as streams, so that a server that hangs is
//! told from one that is slow; a server that does not stream is read as it answers.

mod address;
mod allowance;
mod answer;
mod chat;
mod credential;
mod dialect;
mod failure;
mod manner;
mod messages;
mod probe;
mod protocol;
mod responses;
mod said;
mod tools;
mod window;
mod wire;

use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use reqwest::header::ACCEPT;
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::{BackendId, Call};
use skillopt_store::Clock;
use tokio::time::{Instant, timeout, timeout_at};

use crate::api_key::ApiKey;
use crate::backend::{Asking, Backend, Checking, RawReply, TellingWindow};
use crate::cancel::CancelToken;
use crate::error::{CallError, Wait};
use crate::terms::Terms;

pub use address::Address;
pub use credential::{CloudToken, Credential, Fetching, Token};
pub use manner::{Manner, Thinking};
pub use probe::Probe;
pub use protocol::Protocol;

use dialect::Dialect;
use failure::{Asked, known, not_taken, transport};
use wire::{Patience, read_error, read_reply};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How often one question may be put anew because the server refused a field of it.
const ADAPTATIONS: usize = 8;

/// What a server is made from.
pub struct Options {
    /// The backend's name in settings and rows.
    pub kind: &'static str,
    /// Where it is.
    pub address: Address,
    /// What is sent so that it answers.
    pub credential: Credential,
    /// What it speaks.
    pub protocol: Protocol,
    /// How the model is to think.
    pub manner: Manner,
    /// The model asked for; may be empty until [`Server::with_served_model`].
    pub model: String,
    /// Whether `GET models` lists what can be asked for.
    pub lists_models: bool,
    /// Until the first piece of a reply.
    pub first_byte: Duration,
    /// Until the whole reply.
    pub whole: Duration,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone of times of day in limit messages.
    pub zone: TimeZone,
}

/// A model behind an endpoint.
pub struct Server {
    options: Options,
    provider: String,
    client: Client,
    dialect: Mutex<Dialect>,
    /// What the server says of the model's window, once it was asked.
    window: tokio::sync::OnceCell<Option<u64>>,
}

impl Server {
    /// Makes the backend. Sends nothing.
    ///
    /// # Errors
    /// `endpoint_insecure` when a key would travel unencrypted to another computer,
    /// `endpoint_not_trusted` when a cloud credential would leave for a host that is not its
    /// provider's; `network_unusable` when this computer cannot make encrypted connections at all.
    pub fn new(options: Options) -> Result<Self, Problem> {
        options.credential.accept(&options.address)?;
        let client = client(&options.address).map_err(|_| network_unusable())?;
        Ok(Self {
            provider: provider(options.kind, &options.address),
            options,
            client,
            dialect: Mutex::default(),
            window: tokio::sync::OnceCell::new(),
        })
    }

    /// The same backend with a model: when none is configured, the only one that the server has.
    ///
    /// # Errors
    /// As for a call, and [`CallError::Misconfigured`] when the server has several or none.
    pub async fn with_served_model(mut self, cancel: &CancelToken) -> Result<Self, CallError> {
        if !self.options.model.is_empty() {
            return Ok(self);
        }
        let models = self.models(cancel).await?;
        let guidance = "Set models.model to the name of the model to use.";
        let asked = self.asked(None);
        match models.as_slice() {
            [only] => {
                let only = only.clone();
                self.options.model = only;
            }
            [] => {
                return Err(asked.misconfigured("no model is chosen and it lists none", guidance));
            }
            several => {
                let listed = asked.excerpt(&several.join(", "));
                return Err(asked.misconfigured(
                    format!("no model is chosen and it has several: {listed}"),
                    guidance,
                ));
            }
        }
        Ok(self)
    }

    fn asked<'a>(&'a self, secret: Option<&'a ApiKey>) -> Asked<'a> {
        Asked {
            provider: &self.provider,
            address: self.options.address.as_str(),
            protocol: self.options.protocol,
            model: &self.options.model,
            key: secret,
            now: self.options.clock.now(),
            zone: &self.options.zone,
        }
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }

    async fn secret(&self, cancel: &CancelToken) -> Result<Option<ApiKey>, CallError> {
        self.options.credential.secret(&self.provider, cancel).await
    }

    async fn send(
        &self,
        url: Url,
        body: Option<&Value>,
        secret: Option<&ApiKey>,
    ) -> Result<Response, CallError> {
        let mut request = match body {
            Some(body) => self.client.post(url).json(body),
            None => self.client.get(url),
        };
        if let Some((name, value)) = self.options.credential.header(secret) {
            request = request.header(name, value);
        }
        if let Some((name, value)) = self.options.protocol.version_header() {
            request = request.header(name, value);
        }
        request
            .header(ACCEPT, "application/json, text/event-stream")
            .send()
            .await
            .map_err(|error| transport(&error, &self.asked(secret)))
    }

    /// Puts the question, again while the server names a field that can be left out.
    async fn converse(&self, call: &Call, cancel: &CancelToken) -> Result<RawReply, CallError> {
        let secret = self.secret(cancel).await?;
        let secret = secret.as_ref();
        let Options {
            protocol, manner, ..
        } = &self.options;
        let mut dialect = self.dialect();
        for _ in 0..ADAPTATIONS {
            let patience = dialect.streams().then(|| Patience {
                until: Instant::now() + self.options.first_byte,
                length: self.options.first_byte,
            });
            let url = self.options.address.below(protocol.path());
            let body = protocol.request(call, &dialect, manner);
            let sending = self.send(url, Some(&body), secret);
            let response = match patience {
                Some(patience) => timeout_at(patience.until, sending)
                    .await
                    .map_err(|_| patience.ended())??,
                None => sending.await?,
            };
            let status = response.status();
            let asked = self.asked(secret);
            if status.is_success() {
                // A server that answers a request for a stream in one piece keeps silent until it
                // has all of it; from now on only the whole wait counts.
                if dialect.streams() && !wire::is_stream(&response) {
                    self.learn(dialect.without_stream());
                }
                let allowance = allowance::read(response.headers(), asked.now);
                let offered = !call.tools().is_empty();
                let reply = read_reply(response, patience, offered, &asked).await?;
                let text = match secret {
                    Some(key) => key.taken_out_of(reply.text),
                    None => reply.text,
                };
                return Ok(RawReply {
                    allowance,
                    text,
                    ..reply
                });
            }
            let headers = response.headers().clone();
            let said = read_error(response, &asked).await;
            if let Some(error) = known(status, &headers, &said, &asked) {
                return Err(error);
            }
            let refuses_a_field = matches!(
                status,
                StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY
            );
            if !refuses_a_field {
                return Err(not_taken(status, &said, &asked));
            }
            match dialect.without_what_it_named(call, &said) {
                Some(next) => {
                    dialect = next;
                    self.learn(next);
                }
                // What the user asked for is not left out behind their back.
                None => {
                    let refused = manner.refused(&said, &asked);
                    let refused = refused.or_else(|| tools::refused(call, &said, &asked));
                    return Err(refused.unwrap_or_else(|| not_taken(status, &said, &asked)));
                }
            }
        }
        Err(self.asked(secret).misconfigured(
            "it does not take the request in any form",
            "Use another model or another server; `skillopt backend test` shows whether it answers.",
        ))
    }

    /// `work`, unless `stop` ends before it or it takes too long.
    async fn within<T>(
        &self,
        stop: impl Future<Output = ()>,
        whole: Duration,
        work: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        tokio::select! {
            biased;
            () = stop => Err(CallError::Cancelled),
            done = timeout(whole, work) => done.unwrap_or(Err(CallError::TimedOut {
                wait: Wait::Whole,
                after: whole,
            })),
        }
    }
}

impl Backend for Server {
    fn id(&self) -> BackendId {
        BackendId {
            kind: self.options.kind.to_owned(),
            address: self.options.address.as_str().to_owned(),
            model: self.options.model.clone(),
            version: self.options.manner.words(self.options.protocol),
            system_mode: "system_role".to_owned(),
        }
    }

    fn paid(&self) -> bool {
        true
    }

    fn terms(&self) -> Option<Terms> {
        terms(self.options.kind, &self.options.address)
    }

    fn tells_allowance(&self) -> bool {
        matches!(
            self.options.address.host().as_str(),
            "api.anthropic.com" | "api.openai.com"
        )
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn local(&self) -> bool {
        self.options.address.is_loopback()
    }

    fn provider(&self) -> String {
        self.provider.clone()
    }

    fn window<'a>(&'a self, cancel: &'a CancelToken) -> TellingWindow<'a> {
        Box::pin(self.told_window(cancel))
    }

    fn check<'a>(&'a self, cancel: &'a CancelToken) -> Checking<'a> {
        Box::pin(async move {
            let probe = self.probe(cancel).await?;
            if probe.has_model == Some(false) {
                return Err(CallError::Misconfigured {
                    provider: self.provider.clone(),
                    detail: format!("it does not have the model {}", self.options.model),
                    guidance: format!("Set models.model to one of: {}.", probe.models.join(", ")),
                });
            }
            Ok(())
        })
    }

    fn ask<'a>(&'a self, call: &'a Call, cancel: &'a CancelToken) -> Asking<'a> {
        let work = self.converse(call, cancel);
        Box::pin(self.within(cancel.dropped(), self.options.whole, work))
    }
}

fn network_unusable() -> Problem {
    Problem::permanent(
        "network_unusable",
        "This computer cannot make encrypted connections: its list of trusted certificates cannot be read.",
        "Install the system's certificates (on Debian and Ubuntu: ca-certificates), or use a server on this computer.",
    )
}

/// Who is asked at an address.
fn provider(kind: &str, address: &Address) -> String {
    format!("{kind}:{}", address.host())
}

/// What has to be agreed to before nights ask at an address; `None` for this computer.
pub(crate) fn terms(kind: &str, address: &Address) -> Option<Terms> {
    (!address.is_loopback())
        .then(|| crate::terms::of_host(provider(kind, address), &address.host()))
}

/// A client for one address: it follows nothing, and sends nothing of this computer to a proxy.
fn client(address: &Address) -> reqwest::Result<Client> {
    let mut builder = client_builder();
    if address.is_loopback() {
        builder = builder.no_proxy();
    }
    if address.is_encrypted() {
        builder = builder.https_only(true);
    } else {
        // Spares reading the system's certificates, which no plain connection needs.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// What all clients have in common.
pub(crate) fn client_builder() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that somebody else in this process has installed one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .user_agent(concat!("skillopt/", env!("CARGO_PKG_VERSION")))
}
