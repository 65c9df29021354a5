//! Whether an endpoint works, for `doctor`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::failure::meaning;
use super::wire::{read_error, read_json};
use super::{OpenAiCompatible, StatusCode};
use crate::cancel::CancelToken;
use crate::error::CallError;

/// How long a probe may take.
const PROBE: Duration = Duration::from_secs(20);
/// How many models are kept of a list.
const MOST_MODELS: usize = 2_000;

/// What a probe has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Names of the models that the server lists, sorted; empty when it lists none.
    pub models: Vec<String>,
    /// Whether the configured model is among them; `None` when there is no list to tell by.
    pub has_model: Option<bool>,
    /// How long the answer took.
    pub took: Duration,
}

impl OpenAiCompatible {
    /// Asks the server for its models and, where it has no list, one tiny question.
    ///
    /// # Errors
    /// As for a call.
    pub async fn probe(&self, cancel: &CancelToken) -> Result<Probe, CallError> {
        let started = Instant::now();
        let models = self.models(cancel).await?;
        if models.is_empty() {
            self.within(cancel, PROBE, self.tiny_question()).await?;
        }
        let model = &self.options.model;
        Ok(Probe {
            has_model: (!models.is_empty()).then(|| models.contains(model)),
            models,
            took: started.elapsed(),
        })
    }

    /// The names that `GET models` lists, sorted; empty when the server has no such list.
    pub(super) async fn models(&self, cancel: &CancelToken) -> Result<Vec<String>, CallError> {
        self.within(cancel, PROBE, async {
            let url = self.options.address.below("models");
            let response = self.send(url, None).await?;
            let status = response.status();
            let asked = self.asked();
            if matches!(
                status,
                StatusCode::NOT_FOUND
                    | StatusCode::METHOD_NOT_ALLOWED
                    | StatusCode::NOT_IMPLEMENTED
            ) {
                return Ok(Vec::new());
            }
            if !status.is_success() {
                let headers = response.headers().clone();
                let said = read_error(response, &asked).await;
                return Err(meaning(status, &headers, &said, &asked));
            }
            let list = read_json(response, &asked).await?;
            let rows = list.get("data").unwrap_or(&list).as_array();
            let mut models: Vec<String> = rows
                .into_iter()
                .flatten()
                .filter_map(|row| row.get("id").and_then(Value::as_str))
                .take(MOST_MODELS)
                .map(|name| asked.excerpt(name))
                .collect();
            models.sort_unstable();
            models.dedup();
            Ok(models)
        })
        .await
    }

    async fn tiny_question(&self) -> Result<(), CallError> {
        let body = json!({
            "model": self.options.model,
            "messages": [{ "role": "user", "content": "Reply with OK." }],
            "max_tokens": 16,
        });
        let url = self.options.address.below("chat/completions");
        let response = self.send(url, Some(&body)).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let asked = self.asked();
        let headers = response.headers().clone();
        let said = read_error(response, &asked).await;
        Err(meaning(status, &headers, &said, &asked))
    }
}
