//! Model servers on this computer: llama.cpp, Ollama, LM Studio, vLLM.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;
use skillopt_core::Problem;
use skillopt_store::Clock;

use crate::cancel::CancelToken;
use crate::http::{Address, Credential, Manner, Options, Protocol, Server};
use crate::openai_compatible;

/// How long a server of this computer may take to list its models.
const PATIENCE: Duration = Duration::from_secs(2);

/// A model server that answers on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LocalServer {
    /// What it seems to be: by what it says, else by its port.
    pub name: &'static str,
    /// What to set as `models.endpoint`.
    pub endpoint: String,
    /// Its models, sorted; empty when none is loaded.
    pub models: Vec<String>,
}

/// Asks every one of `ports` on this computer for a list of models, all at once. What does not answer
/// soon, or answers something else, is none.
pub async fn find(ports: &[u16], clock: &Arc<dyn Clock>, cancel: &CancelToken) -> Vec<LocalServer> {
    let mut asking = tokio::task::JoinSet::new();
    for (place, port) in ports.iter().copied().enumerate() {
        let (clock, cancel) = (Arc::clone(clock), cancel.clone());
        asking.spawn(async move { Some((place, at(port, clock, &cancel).await?)) });
    }
    let mut found = Vec::new();
    while let Some(answered) = asking.join_next().await {
        found.extend(answered.ok().flatten());
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, server)| server).collect()
}

async fn at(port: u16, clock: Arc<dyn Clock>, cancel: &CancelToken) -> Option<LocalServer> {
    let address = Address::parse(&format!("http://127.0.0.1:{port}/v1")).ok()?;
    let endpoint = address.as_str().to_owned();
    let server = Server::new(Options {
        kind: openai_compatible::KIND,
        address,
        credential: Credential::None,
        protocol: Protocol::Chat,
        manner: Manner::default(),
        model: String::new(),
        lists_models: true,
        first_byte: PATIENCE,
        whole: PATIENCE,
        clock,
        zone: TimeZone::UTC,
    })
    .ok()?;
    let listed = server.listed(PATIENCE, cancel).await.ok()?;
    let owner = listed.first().map_or("", |model| model.owner.as_str());
    let name = name(owner, port);
    let mut models: Vec<String> = listed.into_iter().map(|model| model.name).collect();
    models.sort_unstable();
    models.dedup();
    Some(LocalServer {
        name,
        endpoint,
        models,
    })
}

/// Why a server cannot be asked that would be on this computer: nobody listens there. `None` when somebody
/// does, and for any other address, which is not looked at.
pub async fn silence(address: &str) -> Option<Problem> {
    let (host, port) = Address::parse(address).ok()?.on_this_computer()?;
    let listening = tokio::net::TcpStream::connect((host.as_str(), port));
    match tokio::time::timeout(PATIENCE, listening).await {
        Ok(Ok(_)) => None,
        Ok(Err(_)) | Err(_) => Some(Problem::temporary(
            "model_unavailable",
            format!("No model server answers at {address}."),
            "Start it there, or set models.endpoint to where it is.",
        )),
    }
}

fn name(owner: &str, port: u16) -> &'static str {
    match (owner, port) {
        ("llamacpp", _) => "llama.cpp",
        ("library", _) => "Ollama",
        ("organization_owner", _) => "LM Studio",
        ("vllm", _) => "vLLM",
        (_, 8080) => "llama.cpp",
        (_, 11434) => "Ollama",
        (_, 1234) => "LM Studio",
        (_, 8000) => "vLLM",
        _ => "a model server",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_on_this_computer_it_is_known_without_asking_that_nobody_listens() {
        let server = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .unwrap();
        let address = format!("http://{}/v1", server.local_addr().unwrap());
        assert_eq!(silence(&address).await, None);
        drop(server);
        let problem = silence(&address).await.unwrap();
        assert_eq!(problem.code, "model_unavailable");
        assert!(problem.message.contains(&address), "{}", problem.message);
        for elsewhere in ["https://api.example.org/v1", "/usr/bin/claude", ""] {
            assert_eq!(silence(elsewhere).await, None, "{elsewhere}");
        }
    }

    #[test]
    fn a_server_is_named_by_what_it_says_and_else_by_its_port() {
        for (owner, port, expected) in [
            ("vllm", 8080, "vLLM"),
            ("library", 9, "Ollama"),
            ("llamacpp", 1, "llama.cpp"),
            ("organization_owner", 1, "LM Studio"),
            ("", 11434, "Ollama"),
            ("me", 1234, "LM Studio"),
            ("me", 9, "a model server"),
        ] {
            assert_eq!(name(owner, port), expected, "{owner} {port}");
        }
    }
}
