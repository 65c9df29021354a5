//! How many tokens the model of a server reads and writes at most, as the server says.
//!
//! What a model was made for is less telling than what the server gives it: llama.cpp, Ollama and LM
//! Studio load a model with far less, and Ollama cuts a prompt that is longer without a word.

use std::time::Duration;

use serde_json::{Value, json};

use super::Server;
use super::probe::Listed;
use super::wire::read_json;
use crate::cancel::CancelToken;

/// How long a server may take to say it. A night does not wait longer for something it can do without.
const PATIENCE: Duration = Duration::from_secs(5);

/// The window that a row of a list of models tells: vLLM; OpenRouter, Together and others; Groq;
/// Mistral; llama.cpp.
pub(super) fn of_row(row: &Value) -> Option<u64> {
    [
        "/max_model_len",
        "/context_length",
        "/top_provider/context_length",
        "/context_window",
        "/max_context_length",
        "/meta/n_ctx",
    ]
    .iter()
    .filter_map(|place| tokens(row, place))
    .min()
}

fn tokens(value: &Value, place: &str) -> Option<u64> {
    let tokens = value.pointer(place)?.as_u64()?;
    (tokens > 0).then_some(tokens)
}

impl Server {
    /// Tokens that the model reads and writes at most, as the server says; `None` when it does not say
    /// so. It is asked once.
    pub(super) async fn told_window(&self, cancel: &CancelToken) -> Option<u64> {
        *self
            .window
            .get_or_init(|| async { self.ask_window(cancel).await })
            .await
    }

    async fn ask_window(&self, cancel: &CancelToken) -> Option<u64> {
        if !self.options.lists_models {
            return None;
        }
        let listed = self.listed(PATIENCE, cancel).await.ok()?;
        let model = self.row_of_model(&listed);
        if let Some(window) = model.and_then(|model| model.window) {
            return Some(window);
        }
        // What only servers of one's own have. They have no certificate as a rule, and a company has.
        if self.options.address.is_encrypted() {
            return None;
        }
        let name = model.map_or(self.options.model.as_str(), |model| &model.name);
        // LM Studio says of every path that there is something, and that is an error.
        let props = self.beside("props", None, PATIENCE, cancel).await;
        let window = props.and_then(|said| tokens(&said, "/default_generation_settings/n_ctx"));
        if window.is_some() {
            return window;
        }
        let running = self.beside("api/ps", None, PATIENCE, cancel).await;
        if let Some(running) = running.filter(|said| said.get("models").is_some()) {
            return self.of_ollama(&running, name, cancel).await;
        }
        let models = self.beside("api/v0/models", None, PATIENCE, cancel).await?;
        let model = row_named(models.get("data")?, "id", name)?;
        tokens(model, "/loaded_context_length").or_else(|| tokens(model, "/max_context_length"))
    }

    /// The row of the model that is asked: by its name, with the tag that Ollama adds, or the only one.
    fn row_of_model<'a>(&self, listed: &'a [Listed]) -> Option<&'a Listed> {
        let model = &self.options.model;
        let latest = format!("{model}:latest");
        let named = |name: &str| listed.iter().find(|row| row.name == name);
        named(model).or_else(|| named(&latest)).or(match listed {
            [only] => Some(only),
            _ => None,
        })
    }

    /// Ollama says it of a model that is loaded. The night is going to ask this one, so it is loaded now.
    async fn of_ollama(&self, running: &Value, name: &str, cancel: &CancelToken) -> Option<u64> {
        let of = |running: &Value| {
            let row = row_named(running.get("models")?, "name", name)?;
            tokens(row, "/context_length")
        };
        if let Some(window) = of(running) {
            return Some(window);
        }
        let load = json!({ "model": name, "stream": false });
        let patience = self.options.first_byte;
        self.beside("api/generate", Some(&load), patience, cancel)
            .await?;
        of(&self.beside("api/ps", None, PATIENCE, cancel).await?)
    }

    /// What the server says at `path`, which is not below its `v1` but beside it.
    async fn beside(
        &self,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
        cancel: &CancelToken,
    ) -> Option<Value> {
        let asking = async {
            let secret = self.secret(cancel).await?;
            let url = self.options.address.below(&format!("../{path}"));
            let response = self.send(url, body, secret.as_ref()).await?;
            let asked = self.asked(secret.as_ref());
            if !response.status().is_success() {
                return Err(asked.unavailable("it has nothing there", false));
            }
            read_json(response, &asked).await
        };
        self.within(cancel.cancelled(), patience, asking).await.ok()
    }
}

fn row_named<'a>(rows: &'a Value, field: &str, name: &str) -> Option<&'a Value> {
    let mut rows = rows.as_array()?.iter();
    rows.find(|row| row.get(field).and_then(Value::as_str) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_models_tells_the_window_in_the_words_of_the_usual_servers() {
        for (row, window) in [
            // vLLM.
            (
                json!({"id": "m", "owned_by": "vllm", "max_model_len": 8192}),
                Some(8192),
            ),
            // OpenRouter: what the model was made for, and what whoever serves it gives.
            (
                json!({"id": "m", "context_length": 131_072, "top_provider": {"context_length": 32_768}}),
                Some(32_768),
            ),
            // Groq.
            (json!({"id": "m", "context_window": 16_384}), Some(16_384)),
            // llama.cpp says what the model was trained with, which is not what it was loaded with.
            (json!({"id": "m", "meta": {"n_ctx_train": 131_072}}), None),
            (
                json!({"id": "m", "max_model_len": null, "context_length": 0}),
                None,
            ),
        ] {
            assert_eq!(of_row(&row), window, "{row}");
        }
    }
}
