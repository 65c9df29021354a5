//! A night's replies in one file, and a backend that answers from it: a night can be gone through again
//! without a network, with the same report.
//!
//! A cassette holds replies and the keys of the calls they answer. Prompts are not in it: the same
//! inputs make the same prompts, and so the same keys; where they do not, the backend says so instead
//! of answering something else. Replies are redacted once more when they are written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::call::{BackendId, Call, Side};
use skillopt_core::redact::Redactor;
use skillopt_store::{Store, attempts, calls, events, files};

use crate::backend::{Asking, Backend, RawReply, Usage};
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::path::Roles;

/// The `kind` of this backend.
pub const KIND: &str = "cassette";

/// What the file says it is.
const FORMAT: &str = "skillopt.cassette.v1";
/// More than this is no cassette.
const LARGEST_FILE: u64 = 256 * 1024 * 1024;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct File {
    format: String,
    target: Recorded,
    optimizer: Recorded,
    replies: Vec<Row>,
}

/// A backend as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recorded {
    id: BackendId,
    paid: bool,
    /// Whether its tokens cost no money.
    local: bool,
    overhead_tokens: u64,
    /// Whether questions could offer it tools.
    #[serde(default)]
    takes_tools: bool,
    /// The model that said it answered; empty when it was the one that was asked.
    #[serde(default)]
    answered_by: String,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    /// Key of the call.
    key: String,
    /// `mine`, `attempt`, `judge` or `reflect`; for people.
    kind: String,
    /// The reply; `None` when there was none.
    #[serde(default)]
    reply: Option<String>,
    #[serde(default)]
    usage: Usage,
    /// Thousandths of requests that the provider billed.
    #[serde(default)]
    request_thousandths: u64,
    /// Why there was none: code and words.
    #[serde(default)]
    error: Option<(String, String)>,
}

/// Writes the replies of a night into `file`. Gives how many there are.
///
/// `roles` are the backends of the night, as the settings make them. Nothing is asked.
///
/// # Errors
/// `cassette_expired` when bodies of the night have been deleted since, and those of writing.
pub fn save(
    store: &Store,
    night: i64,
    roles: &Roles,
    redactor: &Redactor,
    file: &Path,
) -> Result<usize, Problem> {
    let mut recorded = [Side::Target, Side::Optimizer].map(|side| {
        let backend = roles.of(side);
        Recorded {
            id: backend.id(),
            paid: backend.paid(),
            local: backend.local(),
            overhead_tokens: backend.overhead_tokens(),
            takes_tools: backend.takes_tools(),
            answered_by: String::new(),
        }
    });
    let rows = store.read(|db| {
        for event in events::list(db, night, 0, usize::MAX >> 1)? {
            if event.kind != "models/answered_by" {
                continue;
            }
            for side in &mut recorded {
                if event.body["asked"] == side.id.model.as_str() {
                    event.body["answered"]
                        .as_str()
                        .unwrap_or_default()
                        .clone_into(&mut side.answered_by);
                }
            }
        }
        let billed = attempts::requests_of_tries(db, night)?;
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for at in calls::rows_of_night(db, night)? {
            let Some(attempt) = at.attempt else { continue };
            let Some(found) = attempts::get(db, attempt)? else {
                continue;
            };
            let reply = attempts::reply(db, attempt)?;
            let kind = calls::get(db, &at.key)?;
            if (found.reply.is_some() && reply.is_none()) || kind.is_none() {
                return Err(expired(night).into());
            }
            rows.insert(
                at.key.clone(),
                Row {
                    key: at.key,
                    kind: kind.map_or("", |call| call.subject.kind()).to_owned(),
                    reply: reply.map(|text| redactor.redact(&text).text.into_owned()),
                    usage: Usage {
                        input_tokens: found.usage.input_tokens,
                        cached_tokens: found.usage.cached_tokens,
                        output_tokens: found.usage.output_tokens,
                    },
                    request_thousandths: billed.get(&attempt).copied().unwrap_or(0),
                    error: found.error_code.map(|code| {
                        let words = found
                            .error
                            .and_then(|error| error["message"].as_str().map(str::to_owned));
                        (code, words.unwrap_or_default())
                    }),
                },
            );
        }
        Ok(rows.into_values().collect::<Vec<_>>())
    })?;
    let count = rows.len();
    let [target, optimizer] = recorded;
    let whole = File {
        format: FORMAT.to_owned(),
        target,
        optimizer,
        replies: rows,
    };
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    files::atomic_replace(file, text.as_bytes(), files::NewFile::Private)?;
    Ok(count)
}

/// Both sides of the night a cassette was made of.
///
/// # Errors
/// `cassette_unusable` when there is no such file, or it is none.
pub fn load(file: &Path) -> Result<Roles, Problem> {
    if file.as_os_str().is_empty() {
        return Err(unusable("none is named"));
    }
    let shown = file.display();
    let size = fs::metadata(file)
        .map_err(|error| unusable(&format!("{shown} cannot be read ({error})")))?
        .len();
    if size > LARGEST_FILE {
        return Err(unusable(&format!("{shown} is too large")));
    }
    let text = fs::read_to_string(file)
        .map_err(|error| unusable(&format!("{shown} cannot be read ({error})")))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| unusable(&format!("{shown} is not one ({error})")))?;
    if file.format != FORMAT {
        return Err(unusable(&format!("{shown} is of another version")));
    }
    let rows: Arc<BTreeMap<String, Row>> = Arc::new(
        file.replies
            .into_iter()
            .map(|row| (row.key.clone(), row))
            .collect(),
    );
    let of = |recorded| -> Arc<dyn Backend> {
        Arc::new(Cassette {
            recorded,
            rows: Arc::clone(&rows),
        })
    };
    Ok(Roles {
        target: of(file.target),
        optimizer: of(file.optimizer),
    })
}

fn unusable(why: &str) -> Problem {
    Problem::permanent(
        "cassette_unusable",
        format!("The cassette cannot be used: {why}."),
        "Set models.cassette to a file that `skillopt night record` has written.",
    )
}

fn expired(night: i64) -> Problem {
    Problem::permanent(
        "cassette_expired",
        format!("Prompts and replies of night {night} have been deleted since."),
        "Record a night soon after it ran; privacy.evidence_days says how long bodies are kept.",
    )
}

/// One side of a recorded night.
struct Cassette {
    recorded: Recorded,
    rows: Arc<BTreeMap<String, Row>>,
}

impl Cassette {
    fn answer(&self, call: &Call) -> Result<RawReply, CallError> {
        let provider = self.provider();
        let Some(row) = self.rows.get(&call.key()) else {
            return Err(CallError::Misconfigured {
                provider,
                detail: format!("the cassette has no reply to this question ({})", call.subject.kind()),
                guidance: "Settings, sessions or documents are not those of the recorded night; go back to them, or ask a model.".to_owned(),
            });
        };
        if let Some(text) = &row.reply {
            return Ok(RawReply {
                usage: row.usage,
                request_thousandths: row.request_thousandths,
                model: self.recorded.answered_by.clone(),
                ..RawReply::text(text.clone())
            });
        }
        let (code, detail) = row.error.clone().unwrap_or_default();
        Err(match code.as_str() {
            "reply_refused" => CallError::Refused { detail },
            "context_overflow" => CallError::ContextOverflow { detail },
            "reply_unreadable" => CallError::Unreadable { reason: detail },
            _ => CallError::Unavailable {
                provider,
                detail,
                sent: false,
            },
        })
    }
}

impl Backend for Cassette {
    fn id(&self) -> BackendId {
        self.recorded.id.clone()
    }

    fn paid(&self) -> bool {
        self.recorded.paid
    }

    fn local(&self) -> bool {
        self.recorded.local
    }

    fn overhead_tokens(&self) -> u64 {
        self.recorded.overhead_tokens
    }

    fn takes_tools(&self) -> bool {
        self.recorded.takes_tools
    }

    fn provider(&self) -> String {
        KIND.to_owned()
    }

    fn ask<'a>(&'a self, call: &'a Call, _cancel: &'a CancelToken) -> Asking<'a> {
        Box::pin(async { self.answer(call) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cassette_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        for (text, words) in [
            (None, "cannot be read"),
            (Some("{}"), "is not one"),
            (Some("[]"), "is not one"),
        ] {
            if let Some(text) = text {
                files::write_private(&path, text.as_bytes()).unwrap();
            }
            let problem = load(&path).unwrap_err();
            assert_eq!(problem.code, "cassette_unusable");
            assert!(problem.message.contains(words), "{problem}");
        }
        assert!(
            load(Path::new(""))
                .unwrap_err()
                .message
                .contains("none is named")
        );
    }
}
