//! Every way in which a server fails.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpSocket;

use skillopt_tests::stub_server::{Behaviour, Ending, StubServer};

/// A failure: its name, what is done, and what must come of it (`answered` or a code, tries,
/// whether it counts as spent).
pub(crate) struct Row<S = Serves> {
    pub(crate) name: &'static str,
    pub(crate) serves: S,
    pub(crate) outcome: &'static str,
    pub(crate) tries: usize,
    pub(crate) counts: bool,
}

/// Who does not answer as it should.
#[derive(Clone)]
pub(crate) enum Serves {
    /// The stub server, so.
    Stub(Behaviour),
    /// A server whose certificate nobody vouches for.
    Unvouched,
    /// Nobody, at this address.
    Nobody {
        url: String,
        /// Its port, if there is one, is kept from everybody else.
        _port: Option<Arc<TcpSocket>>,
    },
}

/// A port that is taken, and on which nothing listens.
fn closed() -> Serves {
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/v1", taken.local_addr().unwrap());
    Serves::Nobody {
        url,
        _port: Some(Arc::new(taken)),
    }
}

/// A name that no host can have: a part of it is too long, so that no network has to be asked.
fn unknown() -> Serves {
    Serves::Nobody {
        url: format!("https://{}.example/v1", "a".repeat(64)),
        _port: None,
    }
}

fn row(
    name: &'static str,
    behaviour: Behaviour,
    outcome: &'static str,
    tries: usize,
    counts: bool,
) -> Row {
    Row {
        name,
        serves: Serves::Stub(behaviour),
        outcome,
        tries,
        counts,
    }
}

fn nobody(name: &'static str, serves: Serves) -> Row {
    Row {
        name,
        serves,
        outcome: "model_unavailable",
        tries: 3,
        counts: false,
    }
}

/// Every failure; a redirect leads to `elsewhere`.
pub(crate) fn rows(elsewhere: &StubServer) -> Vec<Row> {
    let long = Duration::from_secs(600);
    vec![
        row("401", Behaviour::unauthorized(), "sign_in_needed", 1, false),
        row("403", Behaviour::forbidden(), "sign_in_needed", 1, false),
        row(
            "403 for the model",
            Behaviour::forbidden_model(),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "404 for the model",
            Behaviour::no_such_model(),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "404 for the address",
            Behaviour::status(404),
            "backend_misconfigured",
            1,
            false,
        ),
        row("408", Behaviour::status(408), "model_unavailable", 3, false),
        row("413", Behaviour::too_large(), "context_overflow", 1, false),
        row(
            "400, the prompt is too long",
            Behaviour::too_long(),
            "context_overflow",
            1,
            false,
        ),
        row(
            "400, a content filter",
            Behaviour::error(
                400,
                "The prompt triggered the content management policy.",
                "content_filter",
            ),
            "reply_refused",
            1,
            true,
        ),
        row(
            "400, a field that it does not know",
            Behaviour::error(400, "Unknown parameter: metadata.", "unknown_parameter"),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "429 without Retry-After",
            Behaviour::rate_limited(None),
            "rate_limited",
            3,
            false,
        ),
        row(
            "429, Retry-After: 1",
            Behaviour::rate_limited(Some("1")),
            "rate_limited",
            3,
            false,
        ),
        row(
            "429, Retry-After: 7200",
            Behaviour::rate_limited(Some("7200")),
            "rate_limited",
            1,
            false,
        ),
        row(
            "429, the plan is used up",
            Behaviour::out_of_quota(None),
            "quota_exhausted",
            1,
            false,
        ),
        row("402", Behaviour::status(402), "quota_exhausted", 1, false),
        row("500", Behaviour::status(500), "model_unavailable", 3, true),
        row("529", Behaviour::status(529), "model_unavailable", 3, false),
        row(
            "502 with a web page",
            Behaviour::web_page(502),
            "model_unavailable",
            3,
            true,
        ),
        row(
            "200 with a web page",
            Behaviour::web_page(200),
            "model_unavailable",
            3,
            false,
        ),
        row(
            "200, not JSON",
            Behaviour::garbage("Sure! Here is"),
            "model_unavailable",
            3,
            true,
        ),
        row(
            "200, JSON of something else",
            Behaviour::garbage(r#"{"score": 7}"#),
            "model_unavailable",
            3,
            true,
        ),
        row(
            "a wrong content type",
            Behaviour::wrong_content_type("It is 4."),
            "answered",
            1,
            true,
        ),
        row(
            "silence",
            Behaviour::Silence(long),
            "model_timed_out",
            3,
            true,
        ),
        row(
            "a slow loris",
            Behaviour::SlowLoris(Duration::from_millis(50)),
            "model_timed_out",
            3,
            true,
        ),
        row(
            "a stream of signs of life without a word",
            Behaviour::Pings(Duration::from_millis(50)),
            "model_timed_out",
            3,
            true,
        ),
        row(
            "a stream that is cut",
            Behaviour::CutStream,
            "model_unavailable",
            3,
            true,
        ),
        row(
            "a connection that is closed",
            Behaviour::Close,
            "model_unavailable",
            3,
            true,
        ),
        row(
            "a gzip bomb",
            Behaviour::gzip_bomb(64),
            "reply_unreadable",
            1,
            true,
        ),
        row(
            "a reply without end",
            Behaviour::Endless,
            "reply_unreadable",
            1,
            true,
        ),
        row(
            "a redirect to another host",
            Behaviour::redirect(307, &elsewhere.url()),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "a refusal",
            Behaviour::ended("I can't help with that.", Ending::Refusal),
            "reply_refused",
            1,
            true,
        ),
        row(
            "a reply stopped by a filter",
            Behaviour::ended("Half", Ending::Filter),
            "reply_refused",
            1,
            true,
        ),
        row(
            "an empty reply",
            Behaviour::ended("", Ending::Done),
            "reply_unreadable",
            1,
            true,
        ),
        row(
            "nothing but reasoning",
            Behaviour::ended("", Ending::Reasoning),
            "reply_unreadable",
            1,
            true,
        ),
        row(
            "a usage limit as a reply",
            Behaviour::Reply("You've hit your session limit · resets 11pm (UTC)".into()),
            "quota_exhausted",
            1,
            false,
        ),
        nobody("a port on which nobody listens", closed()),
        nobody("a host that is not found", unknown()),
        Row {
            name: "a certificate that nobody vouches for",
            serves: Serves::Unvouched,
            outcome: "backend_misconfigured",
            tries: 1,
            counts: false,
        },
    ]
}
