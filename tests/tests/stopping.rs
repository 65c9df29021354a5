//! A night that is told to stop takes the replies that are under way, and pays for none of them twice.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test starts programs")]

use std::process::{Child, Command};
use std::time::Duration;

use skillopt_tests::brain::honest;
use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const SLOW: Duration = Duration::from_millis(1500);

/// A night against the server, two calls at a time, that has asked its first questions.
fn begun(home: &Home, server: &StubServer) -> Child {
    let words = Home::words_against(server, &["--concurrency", "2"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut child = home.start(&words);
    while server.asked().len() < 2 {
        let ended = child.try_wait().expect("the state of the program");
        assert!(ended.is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status()
        .expect("a signal");
    assert!(sent.success());
}

fn ended(child: Child) -> Ran {
    child.wait_with_output().expect("its output").into()
}

/// How many questions a night has that nothing disturbs.
fn whole_night() -> usize {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let ran = home.night_against(&server, &[]);
    assert_eq!(ran.json()["outcome"], "proposed", "{}", ran.out);
    server.asked().len()
}

#[test]
fn replies_under_way_are_kept_when_a_signal_stops_the_night() {
    let whole = whole_night();
    for name in ["TERM", "HUP", "INT"] {
        let home = Home::with_sample(PROGRAM);
        let server = StubServer::start();
        server.brain(honest).standing(Behaviour::Answer.after(SLOW));
        let child = begun(&home, &server);
        signal(&child, name);
        let ran = ended(child);
        let json = ran.json();
        assert_eq!(
            (ran.code, json["outcome"].as_str()),
            (130, Some("interrupted")),
            "{name}: {json}"
        );
        let asked = server.asked().len();
        assert_eq!(asked, 2, "{name}: nothing new began");
        server.standing(Behaviour::Answer);
        let resumed = home.night_against(&server, &[]).json();
        assert_eq!(
            (resumed["outcome"].as_str(), resumed["resumed"].as_bool()),
            (Some("proposed"), Some(true)),
            "{name}: {resumed}"
        );
        assert_eq!(
            server.asked().len(),
            whole,
            "{name}: what was answered is not asked again"
        );
    }
}

#[test]
fn a_cancelled_night_takes_the_replies_under_way_too() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest).standing(Behaviour::Answer.after(SLOW));
    let child = begun(&home, &server);
    let told = home.run(&["night", "cancel", "--json"]).json();
    assert_eq!(told["told"], true, "{told}");
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{}", ran.out);
    assert_eq!(server.asked().len(), 2, "nothing new began");
    let night = home.run(&["night", "show", "--json"]).json();
    assert_eq!(
        (&night["spend"]["calls"], &night["spend"]["unknown"]),
        (&2.into(), &0.into()),
        "{night}"
    );
}

#[test]
fn a_second_signal_waits_for_nothing() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Silence(Duration::from_secs(600)));
    let child = begun(&home, &server);
    signal(&child, "TERM");
    // Later than what counts as the same order.
    std::thread::sleep(Duration::from_millis(800));
    signal(&child, "TERM");
    let ran = ended(child);
    assert_eq!(
        (ran.code, ran.json()["outcome"].as_str()),
        (130, Some("interrupted")),
        "{}",
        ran.out
    );
    let night = home.run(&["night", "show", "--json"]).json();
    assert_eq!(night["state"], "stopped", "it can be resumed: {night}");
}
