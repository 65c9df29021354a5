//! One tiny question to a backend, by the path every call takes: whether it works, how long it takes,
//! what it costs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use skillopt_core::Problem;
use skillopt_core::call::Subject;
use skillopt_core::task::Task;
use skillopt_store::{Clock, Store, attempts, events, nights, projects};

use crate::backend::{Backend, Usage};
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::path::{Ask, CallPath, PathOptions, Roles};
use crate::retry::Retry;
use crate::templates::Templates;

/// The stage of the question.
const STAGE: &str = "trial";
/// How much of the reply is shown, in code points.
const SHOWN: usize = 80;

/// What came of the question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Trial {
    /// The beginning of the reply.
    pub reply: String,
    /// The model that says it answered.
    pub model: String,
    /// From the question to the reply.
    #[serde(serialize_with = "millis", rename = "took_ms")]
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub took: Duration,
    /// Tokens as the provider counted them.
    #[serde(flatten)]
    pub usage: Usage,
    /// Nobody is paid for its replies.
    pub free: bool,
    /// Millionths of the currency; `None` when no price is known.
    pub cost_micros: Option<u64>,
    /// Thousandths of requests that the provider bills apart from tokens.
    pub request_thousandths: u64,
}

fn millis<S: serde::Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

/// Asks `backend` to say one word, once, within `options`. Nothing of it is kept: it has a database in
/// memory.
///
/// `Ok(Err(…))` is an answer of the backend that is none; `Err` is for the store alone.
pub async fn ask(
    backend: Arc<dyn Backend>,
    options: PathOptions,
    clock: Arc<dyn Clock>,
    cancel: &CancelToken,
) -> Result<Result<Trial, CallError>, Problem> {
    let store = Arc::new(Store::in_memory(clock)?);
    let night = store.commit("begin trial", |tx| {
        let project = projects::find_or_register(tx, Path::new("/"))?;
        nights::begin(
            tx,
            &project.id,
            nights::Kind::Experiment,
            &serde_json::json!({}),
        )
    })?;
    let price = options.prices.of(backend.as_ref());
    let path = CallPath::new(
        Arc::clone(&store),
        Roles::new(Arc::clone(&backend), Arc::clone(&backend)),
        Templates::default(),
        PathOptions {
            // Whoever asks wants to see what is wrong, not whether it passes by itself.
            retry: Retry {
                tries: 1,
                ..options.retry
            },
            ..options
        },
        cancel.clone(),
        Arc::new(|_| {}),
    );
    let mut task = Task::new("trial", "/", "Reply with the single word: ready");
    "You are asked whether you can be reached.".clone_into(&mut task.system);
    let ask = Ask {
        subject: Subject::Attempt {
            task: Box::new(task),
            skill: String::new(),
            memory: String::new(),
        },
        sample: 0,
    };
    path.plan(night, STAGE, vec![ask])?;
    let began = std::time::Instant::now();
    let reply = match path.answer(night, STAGE).await?.pop() {
        Some(Ok(reply)) => reply,
        Some(Err(error)) => return Ok(Err(error)),
        None => return Ok(Err(CallError::Cancelled)),
    };
    let took = began.elapsed();
    let (spend, events) =
        store.read(|db| Ok((attempts::spend(db, night)?, events::list(db, night)?)))?;
    let answered_by = events
        .into_iter()
        .find(|event| event.kind == "models/answered_by")
        .and_then(|event| event.body["answered"].as_str().map(str::to_owned));
    Ok(Ok(Trial {
        reply: skillopt_core::text::cut(&skillopt_core::text::one_line(&reply.text), SHOWN),
        model: answered_by.unwrap_or_else(|| backend.id().model),
        took,
        usage: reply.usage,
        free: !backend.paid(),
        cost_micros: price.filter(|_| backend.paid()).map(|_| spend.cost_micros),
        request_thousandths: spend.request_thousandths,
    }))
}
