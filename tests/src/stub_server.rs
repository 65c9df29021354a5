//! A local model server that can answer, delay, fail, limit and lie, by script.
//!
//! It speaks Chat Completions, Responses and Messages over HTTP/1.1 on 127.0.0.1, streamed or not,
//! and remembers what it was asked. Requests for a reply take the next [`Behaviour`] of the script,
//! and the standing one when the script is used up; `/v1/models` lists what it was given.
//!
//! ```no_run
//! use skillopt_tests::stub_server::{Behaviour, StubServer};
//! let server = StubServer::start();
//! server.script([Behaviour::rate_limited(Some("1")), Behaviour::Answer]);
//! server.brain(|request| format!("{} messages", request["messages"].as_array().unwrap().len()));
//! // … point a backend at server.url() …
//! assert_eq!(server.asked().len(), 2);
//! ```

mod behaviour;
mod calls;
mod connection;
mod shapes;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;
use tokio::sync::oneshot;

pub use behaviour::{Behaviour, Decision};
pub use shapes::Ending;
use shapes::Shape;

/// What answers: the text for the body of a request.
pub type Brain = Arc<dyn Fn(&Value) -> String + Send + Sync>;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body; `Null` when there was none or it was not JSON.
    pub body: Value,
    /// The model that is said to answer it.
    pub answered_by: String,
}

impl Request {
    /// The first header of this name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// All message texts, one after the other, in whichever protocol.
    #[must_use]
    pub fn prompt(&self) -> String {
        let standing = ["instructions", "system"]
            .into_iter()
            .filter_map(|name| self.body[name].as_str());
        let messages = ["messages", "input"]
            .into_iter()
            .filter_map(|name| self.body[name].as_array())
            .flatten()
            .filter_map(|message| message["content"].as_str());
        standing.chain(messages).collect::<Vec<_>>().join("\n\n")
    }
}

struct State {
    script: VecDeque<Behaviour>,
    standing: Behaviour,
    brain: Brain,
    models: Vec<String>,
    answered_by: String,
    key: Option<String>,
    headers: Vec<(&'static str, String)>,
    says: BTreeMap<&'static str, VecDeque<Value>>,
    requests: Vec<Request>,
}

struct Shared {
    state: Mutex<State>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running server. It stops when it is dropped.
pub struct StubServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StubServer {
    /// Starts a server in a thread of its own; it can be used from synchronous and asynchronous
    /// tests. Until told otherwise it answers "OK." and lists the model `stub-model`.
    ///
    /// # Panics
    /// When no port on 127.0.0.1 can be had.
    #[must_use]
    pub fn start() -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                script: VecDeque::new(),
                standing: Behaviour::Answer,
                brain: Arc::new(|_| "OK.".to_owned()),
                models: vec!["stub-model".to_owned()],
                answered_by: "stub-model-2026".to_owned(),
                key: None,
                headers: Vec::new(),
                says: BTreeMap::new(),
                requests: Vec::new(),
            }),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port on 127.0.0.1");
        listener
            .set_nonblocking(true)
            .expect("a socket that does not block");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener =
                    tokio::net::TcpListener::from_std(listener).expect("a listening socket");
                tokio::select! {
                    () = connection::serve(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `http://127.0.0.1:PORT/v1`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// `127.0.0.1:PORT`
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Appends to the script.
    pub fn script(&self, behaviours: impl IntoIterator<Item = Behaviour>) -> &Self {
        self.shared.state().script.extend(behaviours);
        self
    }

    /// What is done when the script is used up.
    pub fn standing(&self, behaviour: Behaviour) -> &Self {
        self.shared.state().standing = behaviour;
        self
    }

    /// What answers from now on.
    pub fn brain(&self, brain: impl Fn(&Value) -> String + Send + Sync + 'static) -> &Self {
        self.shared.state().brain = Arc::new(brain);
        self
    }

    /// The models that are listed; none means that there is no list (404).
    pub fn models(&self, models: &[&str]) -> &Self {
        self.shared.state().models = models.iter().map(|&model| model.to_owned()).collect();
        self
    }

    /// The model that replies say they come from.
    pub fn answered_by(&self, model: &str) -> &Self {
        model.clone_into(&mut self.shared.state().answered_by);
        self
    }

    /// The key that requests must carry; without it they get 401.
    pub fn require_key(&self, key: &str) -> &Self {
        self.shared.state().key = Some(key.to_owned());
        self
    }

    /// Headers of every streamed reply from now on, besides those that it needs.
    pub fn headers(&self, headers: &[(&'static str, &str)]) -> &Self {
        self.shared.state().headers = headers
            .iter()
            .map(|&(name, value)| (name, value.to_owned()))
            .collect();
        self
    }

    /// What is answered at `path` from now on, one after the other; the last of them stays.
    pub fn says(&self, path: &'static str, answers: impl IntoIterator<Item = Value>) -> &Self {
        let answers = answers.into_iter().collect();
        self.shared.state().says.insert(path, answers);
        self
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// The requests for a reply so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| Shape::of(request).is_some());
        requests
    }

    /// The most requests that were being answered at one time.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        self.shared.most_in_flight.load(Ordering::SeqCst)
    }
}

impl Drop for StubServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
