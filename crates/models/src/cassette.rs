//! A night's replies in one file, and a backend that answers from it: a night can be gone through again
//! without a network, with the same report.
//!
//! A cassette holds replies and the keys of the calls they answer. Prompts are not in it: the same
//! inputs make the same prompts, and so the same keys; where they do not, the backend says so instead
//! of answering something else. Replies are redacted once more when they are written.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::{BackendId, Call, Side};
use skillopt_core::redact::Redactor;
use skillopt_store::attempts::{self, Attempt};
use skillopt_store::{Store, calls, events, files};

use crate::backend::{Asking, Backend, RawReply, TellingWindow, Usage};
use crate::cancel::CancelToken;
use crate::error::{CallError, Scope};
use crate::path::{Roles, WINDOWS};
use crate::retry::Retry;
use crate::roles::is_simulation;

/// The `kind` of this backend.
pub const KIND: &str = "cassette";

/// What the file says it is.
const FORMAT: &str = "skillopt.cassette.v2";
/// More than this is no cassette.
const LARGEST_FILE: u64 = 256 * 1024 * 1024;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct File {
    format: String,
    target: Recorded,
    optimizer: Recorded,
    /// `None` when it was the optimizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judge: Option<Recorded>,
    /// What was said of the choice of the judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judge_note: Option<String>,
    replies: Vec<Row>,
}

/// A backend as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recorded {
    id: BackendId,
    /// Whose limits applied.
    provider: String,
    paid: bool,
    /// Whether its tokens cost no money.
    local: bool,
    overhead_tokens: u64,
    /// Whether questions could offer it tools.
    #[serde(default)]
    takes_tools: bool,
    /// Whether it gave their results itself.
    #[serde(default)]
    answers_tools: bool,
    /// The model that said it answered; empty when it was the one that was asked.
    #[serde(default)]
    answered_by: String,
    /// What it said of the window of its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    /// Settings that it could not be told of.
    #[serde(default)]
    unheard: Vec<String>,
    #[serde(default)]
    recording: Recording,
}

/// What is known of a recorded night besides its replies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// What was heard of the provider's plan: bodies of `models/allowance`.
    pub plans: Vec<Value>,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    /// Key of the call.
    key: String,
    /// `mine`, `attempt`, `judge` or `reflect`; for people.
    kind: String,
    /// Its tries, in order; at least one.
    tries: Vec<Try>,
}

/// What came of one try: a reply or an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Try {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    #[serde(default)]
    usage: Usage,
    /// Thousandths of requests that the provider billed.
    #[serde(default)]
    request_thousandths: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<CallError>,
}

impl Try {
    /// What a try was; `None` for one that ended for a reason of its night (it was stopped, it died),
    /// which is no answer of the backend.
    fn of(
        attempt: &Attempt,
        reply: Option<&str>,
        request_thousandths: u64,
        redactor: &Redactor,
    ) -> Option<Self> {
        let redacted = |text: &str| redactor.redact(text).text.into_owned();
        let error = attempt
            .error
            .as_ref()
            .and_then(|error| CallError::deserialize(error.get("error")?).ok())
            .filter(|error| error.scope() != Scope::Night)
            .map(|error| error.map_detail(redacted));
        if reply.is_none() && error.is_none() {
            return None;
        }
        Some(Self {
            reply: reply.map(redacted),
            usage: Usage {
                input_tokens: attempt.usage.input_tokens,
                cached_tokens: attempt.usage.cached_tokens,
                output_tokens: attempt.usage.output_tokens,
            },
            request_thousandths,
            error,
        })
    }
}

impl Recorded {
    fn of(backend: &dyn Backend) -> Self {
        Self {
            id: backend.id(),
            paid: backend.paid(),
            local: backend.local(),
            overhead_tokens: backend.overhead_tokens(),
            takes_tools: backend.takes_tools(),
            answers_tools: backend.answers_tools(),
            answered_by: String::new(),
            window: None,
            provider: backend.provider(),
            unheard: backend.unheard(),
            recording: Recording::default(),
        }
    }
}

/// The event with the backends of a night, each side as it was when the night began: an agent that
/// updates itself the next day is another one.
const BACKENDS: &str = "models/backends";

/// The sides of a night.
#[derive(Serialize, Deserialize)]
struct Sides {
    target: Recorded,
    optimizer: Recorded,
    judge: Recorded,
    judged_apart: bool,
    judge_note: Option<String>,
}

/// Writes down what a cassette of the night has to know of its backends, once.
pub fn note_backends(store: &Store, night: i64, roles: &Roles) -> Result<(), Problem> {
    if store
        .read(|db| events::first(db, night, BACKENDS))?
        .is_some()
    {
        return Ok(());
    }
    let recorded = |side| Recorded::of(roles.of(side).as_ref());
    let sides = Sides {
        target: recorded(Side::Target),
        optimizer: recorded(Side::Optimizer),
        judge: recorded(Side::Judge),
        judged_apart: !Arc::ptr_eq(&roles.judge, &roles.optimizer),
        judge_note: roles.judge_note.clone(),
    };
    store.commit("note backends", |tx| {
        events::append(tx, night, BACKENDS, &serde_json::json!(sides)).map(|_| ())
    })
}

/// Writes the replies of a night into `file`. Gives how many there are. Its backends are those it had;
/// nothing is asked, nor looked for.
///
/// # Errors
/// `night_not_recordable` for a night that asked no model, `cassette_expired` when bodies of the night or what
/// is known of its backends have been deleted since or never were kept, and those of writing.
pub fn save(store: &Store, night: i64, redactor: &Redactor, file: &Path) -> Result<usize, Problem> {
    let (noted, asked) = store.read(|db| {
        let noted = events::first(db, night, BACKENDS)?;
        Ok((noted, !attempts::of_night(db, night)?.is_empty()))
    })?;
    let sides = match noted.and_then(|event| Sides::deserialize(event.body).ok()) {
        Some(sides) => sides,
        None if asked => return Err(expired(night)),
        None => return Err(not_recordable(night)),
    };
    let all = [&sides.target, &sides.optimizer, &sides.judge];
    if all.iter().all(|side| is_simulation(&side.id.kind)) {
        return Err(not_recordable(night));
    }
    let mut recorded = [
        (Side::Target, sides.target),
        (Side::Optimizer, sides.optimizer),
        (Side::Judge, sides.judge),
    ];
    let most_tries = usize::try_from(Retry::default().tries).unwrap_or(usize::MAX);
    let rows = store.read(|db| {
        for event in events::list(db, night)? {
            for (side, recorded) in &mut recorded {
                let word = |name: &str| event.body[name].as_str().unwrap_or_default();
                match event.kind.as_str() {
                    WINDOWS => recorded.window = event.body[side.id()].as_u64(),
                    "models/answered_by"
                        if word("side") == side.id() && word("asked") == recorded.id.model =>
                    {
                        word("answered").clone_into(&mut recorded.answered_by);
                    }
                    "models/allowance" if word("provider") == recorded.provider => {
                        recorded.recording.plans.push(event.body.clone());
                    }
                    _ => {}
                }
            }
        }
        let billed = attempts::requests_of_tries(db, night)?;
        let mut made: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
        for attempt in attempts::of_night(db, night)? {
            made.entry(attempt.key.clone()).or_default().push(attempt);
        }
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for at in calls::rows_of_night(db, night)? {
            let mut found = made.remove(&at.key).unwrap_or_default();
            // What was answered in another night was not asked in this one.
            if found.is_empty()
                && !rows.contains_key(&at.key)
                && let Some(attempt) = at.attempt
            {
                found.extend(attempts::get(db, attempt)?);
            }
            // More are of an earlier pass: after them the night was put off.
            found.drain(..found.len().saturating_sub(most_tries));
            let mut tries = Vec::new();
            for attempt in &found {
                let reply = attempts::reply(db, attempt.id)?;
                if attempt.reply.is_some() && reply.is_none() {
                    return Err(expired(night).into());
                }
                let billed = billed.get(&attempt.id).copied().unwrap_or(0);
                tries.extend(Try::of(attempt, reply.as_deref(), billed, redactor));
            }
            if tries.is_empty() {
                continue;
            }
            let Some(call) = calls::get(db, &at.key)? else {
                return Err(expired(night).into());
            };
            let row = Row {
                key: at.key.clone(),
                kind: call.subject.kind().to_owned(),
                tries,
            };
            rows.insert(at.key, row);
        }
        Ok(rows.into_values().collect::<Vec<_>>())
    })?;
    let count = rows.len();
    let [target, optimizer, judge] = recorded.map(|(_, recorded)| recorded);
    let whole = File {
        format: FORMAT.to_owned(),
        target,
        optimizer,
        judge: sides.judged_apart.then_some(judge),
        judge_note: sides.judge_note,
        replies: rows,
    };
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    files::atomic_replace(file, text.as_bytes(), files::NewFile::Private)?;
    Ok(count)
}

/// Every side of the night a cassette was made of.
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
            asked: Mutex::default(),
            billed: Mutex::default(),
        })
    };
    let mut roles = Roles::new(of(file.target), of(file.optimizer));
    if let Some(judge) = file.judge {
        roles.judge = of(judge);
    }
    roles.judge_note = file.judge_note;
    Ok(roles)
}

fn unusable(why: &str) -> Problem {
    Problem::permanent(
        "cassette_unusable",
        format!("The cassette cannot be used: {why}."),
        "Set models.cassette to a file that `skillopt night record` has written.",
    )
}

fn not_recordable(night: i64) -> Problem {
    Problem::refused(
        "night_not_recordable",
        format!("Night {night} asked no model, so there is nothing to record."),
        "Record a night that a model, an agent or a person answered.",
    )
}

fn expired(night: i64) -> Problem {
    Problem::permanent(
        "cassette_expired",
        format!(
            "What night {night} was asked and answered, and by whom, has been deleted since or was not kept by the version that ran it."
        ),
        "Record a night soon after it ran; privacy.evidence_days says how long bodies are kept.",
    )
}

/// One side of a recorded night.
struct Cassette {
    recorded: Recorded,
    rows: Arc<BTreeMap<String, Row>>,
    /// How often each call was asked.
    asked: Mutex<HashMap<String, usize>>,
    /// What failed tries were billed and nobody has counted yet.
    billed: Mutex<HashMap<String, u64>>,
}

impl Cassette {
    fn billed(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.billed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, call: &Call) -> Result<RawReply, CallError> {
        let key = call.key();
        let Some(made) = self.next(&key) else {
            return Err(CallError::Misconfigured {
                provider: KIND.to_owned(),
                detail: format!("the cassette has no reply to this question ({})", call.subject.kind()),
                guidance: "Settings, sessions or documents are not those of the recorded night; go back to them, or ask a model.".to_owned(),
            });
        };
        match (&made.reply, &made.error) {
            (Some(text), _) => Ok(RawReply {
                usage: made.usage,
                request_thousandths: made.request_thousandths,
                model: self.recorded.answered_by.clone(),
                ..RawReply::text(text.clone())
            }),
            (None, Some(error)) => {
                if made.request_thousandths > 0 {
                    self.billed().insert(key, made.request_thousandths);
                }
                Err(error.clone())
            }
            (None, None) => Err(CallError::Misconfigured {
                provider: KIND.to_owned(),
                detail: "a try on the cassette has neither reply nor error".to_owned(),
                guidance: "Record the night again.".to_owned(),
            }),
        }
    }

    /// The next try of a call; after the last one it begins again with the first.
    fn next(&self, key: &str) -> Option<&Try> {
        let tries = &self.rows.get(key)?.tries;
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let place = asked.entry(key.to_owned()).or_insert(0);
        let made = tries.get(*place % tries.len().max(1));
        *place += 1;
        made
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

    fn window<'a>(&'a self, _cancel: &'a CancelToken) -> TellingWindow<'a> {
        Box::pin(async { self.recorded.window })
    }

    fn takes_tools(&self) -> bool {
        self.recorded.takes_tools
    }

    fn answers_tools(&self) -> bool {
        self.recorded.answers_tools
    }

    fn provider(&self) -> String {
        self.recorded.provider.clone()
    }

    fn unheard(&self) -> Vec<String> {
        self.recorded.unheard.clone()
    }

    fn billed_failing(&self, key: &str) -> u64 {
        self.billed().remove(key).unwrap_or(0)
    }

    fn recording(&self) -> Option<&Recording> {
        Some(&self.recorded.recording)
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
