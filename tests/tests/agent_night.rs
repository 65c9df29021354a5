//! Whole nights with each command-line agent, its program being one that answers honestly, or does
//! not answer at all.
#![cfg(unix)]

use std::path::Path;

use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn install(dialect: Dialect, modes: impl IntoIterator<Item = Mode>) -> StubCli {
    StubCli::install(dialect, Path::new(env!("CARGO_BIN_EXE_stub-agent")), modes)
}

fn night(home: &Home, dialect: Dialect, stub: &StubCli) -> Ran {
    let path = stub.path().display().to_string();
    home.run(&[
        "sleep",
        "run",
        "--backend",
        dialect.backend(),
        &format!("--{}-path", dialect.backend()),
        &path,
        "--model-miner=false",
        "--concurrency",
        "3",
        "--json",
    ])
}

#[test]
fn a_night_with_each_agent_gives_a_proposal() {
    for dialect in Dialect::ALL {
        let home = Home::with_sample(PROGRAM);
        let stub = install(dialect, [Mode::Honest]);
        let ran = night(&home, dialect, &stub);
        assert_eq!(ran.code, 0, "{dialect:?}: {} {}", ran.out, ran.err);
        let json = ran.json();
        assert_eq!(json["outcome"], "proposed", "{dialect:?}: {json}");
        assert_eq!(json["simulated"], false, "{dialect:?}");
        assert_eq!(
            json["spend"]["calls"].as_u64(),
            Some(stub.asked().len() as u64),
            "{dialect:?}: every start is a row"
        );
        assert!(json["spend"]["tokens"].as_u64() > Some(0), "{dialect:?}");
        // Every run of the stub reads five tokens from a cache, where its format can say so.
        let cached = match dialect {
            Dialect::Copilot | Dialect::Cursor => 0,
            Dialect::Claude | Dialect::Codex | Dialect::OpenCode | Dialect::Pi => 5,
        };
        let calls = json["spend"]["calls"].as_u64().unwrap();
        assert_eq!(
            json["spend"]["cached_tokens"].as_u64(),
            Some(cached * calls),
            "{dialect:?}"
        );
        // Copilot bills requests.
        let billed = if dialect == Dialect::Copilot {
            calls
        } else {
            0
        };
        let spent = home.run(&["spend", "--json"]).json();
        let shown = home.run(&["night", "show", "--json"]).json();
        for spend in [&json["spend"], &spent["total"], &shown["spend"]] {
            assert_eq!(
                spend["request_thousandths"].as_u64(),
                Some(1_000 * billed),
                "{dialect:?}: {spend}"
            );
        }
        let words = format!("{billed} requests of the plan");
        for command in ["night show", "spend"] {
            let words_of: Vec<&str> = command.split(' ').collect();
            let text = home.run(&words_of).out;
            assert_eq!(
                text.contains(&words),
                billed > 0,
                "{dialect:?} {command}: {text}"
            );
        }
    }
}

#[test]
fn an_agent_that_does_not_answer_defers_the_night_and_loses_nothing() {
    let limit = "You've hit your weekly limit · resets 11pm";
    for dialect in Dialect::ALL {
        for (mode, code) in [
            (Mode::print(limit, "", 1), "quota_exhausted"),
            (Mode::reply(limit), "quota_exhausted"),
            (Mode::print("Not logged in\n", "", 0), "sign_in_needed"),
        ] {
            let home = Home::with_sample(PROGRAM);
            let stub = install(dialect, [mode.clone()]);
            let ran = night(&home, dialect, &stub);
            let json = ran.json();
            assert_eq!(
                (json["outcome"].as_str(), ran.code),
                (Some("deferred"), 75),
                "{dialect:?} {mode:?}: {json}"
            );
            assert_eq!(json["problem"]["code"], code, "{dialect:?} {mode:?}");
            assert!(
                stub.asked().len() <= 3,
                "{dialect:?}: {} starts",
                stub.asked().len()
            );
            assert!(!home.skill().exists(), "{dialect:?}");
            let next = home.run(&["sleep", "run", "--json"]).json();
            assert_eq!(
                next["outcome"], "proposed",
                "{dialect:?}: nothing was lost: {next}"
            );
        }
    }
}
