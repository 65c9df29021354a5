//! Whether an endpoint works, for `doctor`.

use std::time::{Duration, Instant};

use serde_json::Value;
use skillopt_core::call::{Call, Message, Params, Role, Subject};

use super::failure::meaning;
use super::protocol::Protocol;
use super::wire::{read_error, read_json};
use super::{Server, StatusCode, window};
use crate::backend::Backend;
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

/// A model in a server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its name.
    pub(crate) name: String,
    /// Who it says it belongs to; local servers name themselves there.
    pub(crate) owner: String,
    /// Tokens it reads and writes at most, where the list says so.
    pub(super) window: Option<u64>,
}

impl Server {
    /// Asks the server for its models and, where it has no list, one tiny question.
    ///
    /// # Errors
    /// As for a call.
    pub async fn probe(&self, cancel: &CancelToken) -> Result<Probe, CallError> {
        let started = Instant::now();
        let models = self.models(cancel).await?;
        if models.is_empty() {
            self.within(cancel.cancelled(), PROBE, self.tiny_question(cancel))
                .await?;
        }
        let model = &self.options.model;
        let tells = self.options.lists_models && !models.is_empty();
        Ok(Probe {
            has_model: tells.then(|| self.is_among(model, &models)),
            models,
            took: started.elapsed(),
        })
    }

    /// Whether `model` is one of `models`. Anthropic lists dated names and takes short ones as well.
    fn is_among(&self, model: &str, models: &[String]) -> bool {
        models.iter().any(|known| {
            known == model
                || (self.options.protocol == Protocol::Messages
                    && known
                        .strip_prefix(model)
                        .is_some_and(|date| date.starts_with('-')))
        })
    }

    /// The names that `GET models` lists, sorted; empty when the server has no such list.
    pub(super) async fn models(&self, cancel: &CancelToken) -> Result<Vec<String>, CallError> {
        let listed = self.listed(PROBE, cancel).await?;
        let mut models: Vec<String> = listed.into_iter().map(|model| model.name).collect();
        models.sort_unstable();
        models.dedup();
        Ok(models)
    }

    /// What `GET models` lists within `patience`; empty when the server has no such list.
    pub(crate) async fn listed(
        &self,
        patience: Duration,
        cancel: &CancelToken,
    ) -> Result<Vec<Listed>, CallError> {
        self.within(cancel.cancelled(), patience, async {
            let secret = self.secret(cancel).await?;
            let url = self.options.address.below("models");
            let response = self.send(url, None, secret.as_ref()).await?;
            let status = response.status();
            let asked = self.asked(secret.as_ref());
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
            let text = |row: &Value, name: &str| {
                let text = row.get(name).and_then(Value::as_str);
                text.map(|text| asked.excerpt(text))
            };
            Ok(rows
                .into_iter()
                .flatten()
                .filter_map(|row| {
                    Some(Listed {
                        name: text(row, "id")?,
                        owner: text(row, "owned_by").unwrap_or_default(),
                        window: window::of_row(row),
                    })
                })
                .take(MOST_MODELS)
                .collect())
        })
        .await
    }

    async fn tiny_question(&self, cancel: &CancelToken) -> Result<(), CallError> {
        let call = Call {
            backend: self.id(),
            subject: Subject::Judge {
                intent: String::new(),
                rubric: String::new(),
                response: String::new(),
            },
            messages: vec![Message {
                role: Role::User,
                text: "Reply with OK.".to_owned(),
            }],
            params: Params {
                max_tokens: 16,
                temperature: None,
                schema: None,
            },
            sample: 0,
            ask: 0,
            rounds: Vec::new(),
        };
        match self.converse(&call, cancel).await {
            // It answers; what it says in so few tokens does not matter.
            Ok(_) | Err(CallError::Unreadable { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
