//! A backend that does what a test tells it, and a store with a night to use it in.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skillopt_core::Instant;
use skillopt_core::call::{BackendId, Call, Subject};
use skillopt_core::task::Task;
use skillopt_store::{Clock, FixedClock, Paths, Store, nights, projects};

use crate::path::{Ask, CallEvent, CallPath, PathOptions, Roles};
use crate::templates::Templates;
use crate::{Asking, Backend, CallError, CancelToken, RawReply, Usage};

/// What a try does.
pub(super) struct Step {
    delay: Duration,
    result: Result<RawReply, CallError>,
}

impl From<Result<RawReply, CallError>> for Step {
    fn from(result: Result<RawReply, CallError>) -> Self {
        Self {
            delay: Duration::ZERO,
            result,
        }
    }
}

type Script = dyn Fn(&Call, usize) -> Step + Send + Sync;

pub(super) struct Scripted {
    /// Sees the call and how many tries were made before, over all calls.
    script: Box<Script>,
    model: String,
    provider: String,
    paid: bool,
    local: bool,
    instant: bool,
    answers_tools: bool,
    renews: Option<String>,
    billed_failing: u64,
    window: Option<u64>,
    asked: Mutex<Vec<Call>>,
    in_flight: AtomicUsize,
    most: AtomicUsize,
}

impl Scripted {
    pub(super) fn new(script: impl Fn(&Call, usize) -> Step + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self::bare(script))
    }

    fn bare(script: impl Fn(&Call, usize) -> Step + Send + Sync + 'static) -> Self {
        Self {
            script: Box::new(script),
            model: "m".into(),
            provider: "p".into(),
            paid: true,
            local: false,
            instant: false,
            answers_tools: false,
            renews: None,
            billed_failing: 0,
            window: None,
            asked: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }

    pub(super) fn replies(text: &'static str) -> Arc<Self> {
        Self::new(move |_, _| Self::say(text))
    }

    pub(super) fn say(text: &str) -> Step {
        Ok(RawReply::text(text)).into()
    }

    pub(super) fn used(text: &str, input: u64, output: u64) -> Step {
        let usage = Usage {
            input_tokens: Some(input),
            cached_tokens: None,
            output_tokens: Some(output),
        };
        Ok(RawReply {
            usage,
            ..RawReply::text(text)
        })
        .into()
    }

    pub(super) fn fail(error: CallError) -> Step {
        Err(error).into()
    }

    /// The same, some time later.
    pub(super) fn later(milliseconds: u64, step: Step) -> Step {
        Step {
            delay: Duration::from_millis(milliseconds),
            ..step
        }
    }

    pub(super) fn after(milliseconds: u64, text: impl Into<String>) -> Step {
        Step {
            delay: Duration::from_millis(milliseconds),
            result: Ok(RawReply::text(text)),
        }
    }

    pub(super) fn of_model(self: Arc<Self>, model: &str) -> Arc<Self> {
        self.with(|scripted| scripted.model = model.into())
    }

    pub(super) fn of_provider(self: Arc<Self>, provider: &str) -> Arc<Self> {
        self.with(|scripted| scripted.provider = provider.into())
    }

    pub(super) fn renewing(self: Arc<Self>, sign_in: &str) -> Arc<Self> {
        self.with(|scripted| scripted.renews = Some(sign_in.into()))
    }

    pub(super) fn billing_failures(self: Arc<Self>, thousandths: u64) -> Arc<Self> {
        self.with(|scripted| scripted.billed_failing = thousandths)
    }

    pub(super) fn of_window(self: Arc<Self>, tokens: u64) -> Arc<Self> {
        self.with(|scripted| scripted.window = Some(tokens))
    }

    pub(super) fn unpaid(self: Arc<Self>) -> Arc<Self> {
        self.with(|scripted| scripted.paid = false)
    }

    pub(super) fn local(self: Arc<Self>) -> Arc<Self> {
        self.with(|scripted| scripted.local = true)
    }

    pub(super) fn instant(self: Arc<Self>) -> Arc<Self> {
        self.with(|scripted| (scripted.paid, scripted.instant) = (false, true))
    }

    pub(super) fn answering_tools(self: Arc<Self>) -> Arc<Self> {
        self.with(|scripted| scripted.answers_tools = true)
    }

    fn with(self: Arc<Self>, change: impl FnOnce(&mut Self)) -> Arc<Self> {
        let mut scripted = Arc::into_inner(self).expect("nobody else has it yet");
        change(&mut scripted);
        Arc::new(scripted)
    }

    pub(super) fn asked(&self) -> Vec<Call> {
        self.asked.lock().unwrap().clone()
    }

    pub(super) fn tries_by_key(&self) -> HashMap<String, usize> {
        let mut tries = HashMap::new();
        for call in self.asked() {
            *tries.entry(call.key()).or_default() += 1;
        }
        tries
    }

    pub(super) fn most_in_flight(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

struct InFlight<'a>(&'a AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Backend for Scripted {
    fn id(&self) -> BackendId {
        BackendId {
            kind: "scripted".into(),
            address: "here".into(),
            model: self.model.clone(),
            version: String::new(),
            system_mode: "system_role".into(),
        }
    }

    fn paid(&self) -> bool {
        self.paid
    }

    fn provider(&self) -> String {
        self.provider.clone()
    }

    fn instant(&self) -> bool {
        self.instant
    }

    fn local(&self) -> bool {
        self.local
    }

    fn renews(&self) -> Option<String> {
        self.renews.clone()
    }

    fn billed_failing(&self, _key: &str) -> u64 {
        self.billed_failing
    }

    fn window<'a>(&'a self, _cancel: &'a CancelToken) -> crate::backend::TellingWindow<'a> {
        Box::pin(async { self.window })
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn answers_tools(&self) -> bool {
        self.answers_tools
    }

    fn ask<'a>(&'a self, call: &'a Call, cancel: &'a CancelToken) -> Asking<'a> {
        Box::pin(async move {
            let made = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(call.clone());
                asked.len() - 1
            };
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            let _leaving = InFlight(&self.in_flight);
            self.most.fetch_max(now, Ordering::SeqCst);
            let step = (self.script)(call, made);
            if step.delay.is_zero() {
                return step.result;
            }
            tokio::select! {
                () = tokio::time::sleep(step.delay) => step.result,
                () = cancel.dropped() => Err(CallError::Cancelled),
            }
        })
    }
}

/// A store with a project and a night that has begun.
pub(super) struct Stage {
    pub(super) store: Arc<Store>,
    pub(super) clock: Arc<FixedClock>,
    pub(super) night: i64,
    pub(super) cancel: CancelToken,
    pub(super) events: Arc<Mutex<Vec<CallEvent>>>,
    project: String,
    root: tempfile::TempDir,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::over(|_, clock| Store::in_memory(clock).unwrap())
    }

    pub(super) fn on_disk() -> Self {
        Self::over(|root, clock| Store::open(&Paths::at(root), clock).unwrap())
    }

    fn over(open: impl FnOnce(&Path, Arc<dyn Clock>) -> Store) -> Self {
        let root = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::new("2026-11-30T03:00:00Z".parse().unwrap()));
        let store = Arc::new(open(root.path(), Arc::clone(&clock) as _));
        let project = store
            .commit("register", |tx| projects::find_or_register(tx, root.path()))
            .unwrap()
            .id;
        let mut stage = Self {
            store,
            clock,
            night: 0,
            cancel: CancelToken::new(),
            events: Arc::default(),
            project,
            root,
        };
        stage.night = stage.begin();
        stage
    }

    /// The database on the disk as another process has it.
    pub(super) fn of_another_process(&self) -> Store {
        Store::open(&Paths::at(self.root.path()), Arc::clone(&self.clock) as _).unwrap()
    }

    pub(super) fn begin(&self) -> i64 {
        self.store
            .commit("begin", |tx| {
                nights::begin(tx, &self.project, nights::Kind::Run, &serde_json::json!({}))
            })
            .unwrap()
    }

    pub(super) fn next_night(&self) -> i64 {
        self.end_open(nights::Outcome::NotImproved);
        self.begin()
    }

    /// Ends the night that has not ended.
    pub(super) fn end_open(&self, outcome: nights::Outcome) {
        self.store
            .commit("end", |tx| {
                let open = nights::open(tx, &self.project, nights::Kind::Run)?.unwrap();
                nights::end(tx, open.id, outcome, "", &serde_json::json!({}))
            })
            .unwrap();
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// A path whose two sides are `backend`.
    pub(super) fn path(&self, backend: &Arc<Scripted>) -> CallPath {
        self.path_with(backend, |_| {})
    }

    pub(super) fn path_with(
        &self,
        backend: &Arc<Scripted>,
        change: impl FnOnce(&mut PathOptions),
    ) -> CallPath {
        let mut options = PathOptions::default();
        options.retry.first_wait = Duration::from_millis(1);
        options.retry.seed = 1;
        change(&mut options);
        self.path_of(backend, backend, Templates::default(), options)
    }

    pub(super) fn path_of(
        &self,
        target: &Arc<Scripted>,
        optimizer: &Arc<Scripted>,
        templates: Templates,
        options: PathOptions,
    ) -> CallPath {
        let roles = Roles::new(Arc::clone(target) as _, Arc::clone(optimizer) as _);
        self.path_for(roles, templates, options)
    }

    pub(super) fn path_for(
        &self,
        roles: Roles,
        templates: Templates,
        options: PathOptions,
    ) -> CallPath {
        let events = Arc::clone(&self.events);
        CallPath::new(
            Arc::clone(&self.store),
            roles,
            templates,
            options,
            self.cancel.clone(),
            Arc::new(move |event| events.lock().unwrap().push(event.clone())),
        )
    }
}

/// A question for a judge; `n` makes it distinct.
pub(super) fn judge(n: u32) -> Ask {
    Ask {
        subject: Subject::Judge {
            intent: "greet".into(),
            rubric: "is polite".into(),
            response: n.to_string(),
        },
        sample: 0,
    }
}

/// What [`judge`] was given.
pub(super) fn score_of(call: &Call) -> u32 {
    match &call.subject {
        Subject::Judge { response, .. } => response.parse().unwrap(),
        _ => panic!("not a judge"),
    }
}

/// A question for the target; `n` makes it distinct.
pub(super) fn attempt(n: u32) -> Ask {
    let task = Task::new(format!("t{n}"), "/w/app", format!("Say hello {n}"));
    Ask {
        subject: Subject::Attempt {
            task: Box::new(task),
            skill: "Be brief.".into(),
            memory: String::new(),
        },
        sample: 0,
    }
}
