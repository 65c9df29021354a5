//! What the tray asks of its user, and everything that ends it.

use serde_json::{Value, json};
use skillopt_app::commands::{self, Command};
use skillopt_app::supervisor::{self, Overall};
use skillopt_store::nights::Outcome;
use skillopt_store::scheduled::{self, Refusal};
use skillopt_tests::brain::honest;
use skillopt_tests::home::Ran;
use skillopt_tests::session::Session;
use skillopt_tests::stub_server::{Behaviour, StubServer};

use super::place::Place;

/// A place whose nights ask this server, with a keyring that is open.
struct Asking {
    place: Place,
    project: String,
    server: StubServer,
    _session: Session,
}

impl Asking {
    fn new() -> Self {
        let mut place = Place::new();
        let mut session = Session::start(&place.home.home());
        session.keyring(Some("opens it"));
        let server = StubServer::start();
        server.brain(honest);
        for (name, value) in session.variables() {
            place.home.set(&name, &value);
        }
        place.set("TIME_ZONE", "UTC");
        place.set("BACKEND", "openai_compatible");
        place.set("MODEL", "stub");
        place.set("MODEL_MINER", "false");
        place.set("ENDPOINT", &server.url());
        for (name, value) in place.settings.clone() {
            place.home.set(&name, &value);
        }
        let project = place.register();
        Self {
            place,
            project,
            server,
            _session: session,
        }
    }

    /// A night could not begin for want of something that only a person can give.
    fn refuse(&self, needs: &str) {
        let refusal = Refusal {
            outcome: Outcome::Deferred,
            reason: "Something is missing.".to_owned(),
            needs: Some(needs.to_owned()),
            at: self.place.app().clock.now(),
        };
        let refuse = self.place.app().store.commit("refuse", |tx| {
            scheduled::refuse(tx, &self.project, &refusal)
        });
        refuse.expect("a refusal");
    }

    fn wants_attention(&self) -> bool {
        let state = block_on(supervisor::look(&self.place.app()));
        state.expect("a look").overall == Overall::Attention
    }

    /// Gives a command to the program, as in a terminal of the project.
    fn run(&self, words: &[&str]) -> Ran {
        self.place.home.run_given(words, "made-up-by-a-test\n")
    }

    /// Gives one that can be carried out.
    fn done(&self, words: &[&str]) {
        let ran = self.run(words);
        assert_eq!(ran.code, 0, "{words:?}: {} {}", ran.out, ran.err);
    }
}

/// Everything that ends a need, and what does not: the words of a command, and whether they do.
const WAYS: &[(&[&str], bool)] = &[
    (&["config", "set", "models.temperature", "0.5"], true),
    (&["key", "set", "WORK_KEY"], true),
    (&["key", "remove", "WORK_KEY"], true),
    (&["backend", "use", "mock"], true),
    (&["backend", "accept", "anthropic:api.anthropic.com"], true),
    (&["backend", "test"], true),
    (&["backend", "test", "openai_compatible"], true),
    (&["sleep", "run"], true),
    // Somebody looks, or asks a backend that no night asks, or in a way that no night does.
    (&["status"], false),
    (&["sleep", "status"], false),
    (&["config", "show"], false),
    (&["key", "list"], false),
    (&["backend", "list"], false),
    (&["backend", "test", "mock"], false),
    (&["backend", "test", "--temperature=0.7"], false),
    (&["sleep", "dry-run"], false),
    (&["pause", "1h"], false),
    (&["resume"], false),
];

#[test]
fn attention_ends_with_what_may_have_ended_its_reason_and_with_nothing_else() {
    let asking = Asking::new();
    assert!(!asking.wants_attention());
    for (words, ends) in WAYS {
        asking.refuse("sign_in_needed");
        assert!(asking.wants_attention(), "before {words:?}");
        asking.done(words);
        assert_eq!(asking.wants_attention(), !ends, "after {words:?}");
    }
    // A backend that does not answer has shown nothing.
    asking.refuse("sign_in_needed");
    asking.server.standing(Behaviour::unauthorized());
    assert_ne!(asking.run(&["backend", "test"]).code, 0);
    assert!(asking.wants_attention());
    // One that answers has not been agreed to by that.
    asking.server.standing(Behaviour::Answer);
    asking.refuse("terms_not_accepted");
    asking.done(&["backend", "test"]);
    assert!(asking.wants_attention());
    // A project that is no longer there asks for nothing.
    asking.done(&["project", "remove"]);
    assert!(!asking.wants_attention());
}

#[test]
fn a_project_of_its_own_settings_is_not_mended_by_a_test_of_others() {
    let asking = Asking::new();
    let set = json!({"command": "config set", "input": {
        "key": "models.reply_tokens", "value": "900", "for_project": true,
        "project": asking.place.home.project(),
    }});
    execute(&asking, set);
    asking.refuse("sign_in_needed");
    // As from the window of the settings, which is about no project.
    let outside = json!({"command": "backend test", "input": {"project": asking.place.home.home().join("work")}});
    execute(&asking, outside);
    assert!(asking.wants_attention());
    let inside =
        json!({"command": "backend test", "input": {"project": asking.place.home.project()}});
    execute(&asking, inside);
    assert!(!asking.wants_attention());
}

fn execute(asking: &Asking, command: Value) {
    let command: Command = serde_json::from_value(command).expect("a command");
    block_on(commands::execute(&asking.place.app(), command)).expect("it is carried out");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new()
        .expect("a runtime")
        .block_on(future)
}
