//! Attempts that offer tools: round by round, each a row, within every limit.

use std::time::Duration;

use skillopt_core::tool::{MOST_ROUNDS, Tool, ToolCall, ToolReply};
use skillopt_store::{attempts, nights};

use super::scripted::{Scripted, Stage, Step, attempt};
use super::*;

/// An attempt at a task that has the tools `search` and `ci.status`.
fn with_tools(n: u32) -> Ask {
    let mut ask = attempt(n);
    if let Subject::Attempt { task, .. } = &mut ask.subject {
        task.tools = ["search", "ci.status"]
            .map(|name| Tool::new(name, format!("Result of {name}.")))
            .to_vec();
    }
    ask
}

fn says(text: &str) -> String {
    let text = text.to_owned();
    ToolReply {
        text,
        ..ToolReply::default()
    }
    .to_json()
}

fn calls(names: &[&str], arguments: &str) -> String {
    let calls = names
        .iter()
        .map(|name| ToolCall {
            id: format!("id-{name}"),
            name: (*name).into(),
            arguments: arguments.into(),
        })
        .collect();
    ToolReply {
        calls,
        ..ToolReply::default()
    }
    .to_json()
}

/// Calls one tool after the other, then answers.
fn one_by_one(call: &Call) -> Step {
    Scripted::say(&match call.rounds.len() {
        0 => calls(
            &["search"],
            r#"{"input": "key sk-proj-abcdefghijklmnopqrstuvwxyz012345"}"#,
        ),
        1 => calls(&["ci_status", "rm"], "{}"),
        _ => says("It is green."),
    })
}

fn offering(options: &mut PathOptions) {
    options.tools = true;
}

#[tokio::test]
async fn what_is_called_gets_its_result_and_is_told_with_the_answer() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| one_by_one(call));
    let path = stage.path_with(&backend, offering);
    path.plan(stage.night, "s", vec![with_tools(0)]).unwrap();
    let replies = path.answer(stage.night, "s").await.unwrap();
    let reply = replies.into_iter().next().unwrap().unwrap();
    assert_eq!(reply.text, "It is green.");
    assert_eq!(
        reply.called.unwrap(),
        ["search", "ci.status"],
        "by the task's names; what was not offered is none"
    );
    let asked = backend.asked();
    assert_eq!(
        asked
            .iter()
            .map(|call| (call.ask, call.rounds.len()))
            .collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 2)]
    );
    assert!(asked[0].messages[0].text.contains("tools that are offered"));
    let told = &asked[1].rounds[0].calls[0];
    assert_eq!(told.id, "id-search");
    assert!(!told.arguments.contains("sk-proj-abc"), "{told:?}");
    // Every round is a paid call of its own, with a row and a key of its own.
    assert_eq!(path.spent(stage.night).unwrap().calls, 3);
    assert_eq!(backend.tries_by_key().len(), 3);
    // Looked up, nothing is asked, and the same is said.
    let again = stage.path_with(&backend, offering);
    let again = again.answer(stage.night, "s").await.unwrap();
    let again = again.into_iter().next().unwrap().unwrap();
    assert_eq!(
        (again.text.as_str(), again.called.unwrap().len()),
        ("It is green.", 2)
    );
    assert_eq!(backend.asked().len(), 3);
}

#[tokio::test]
async fn a_model_that_only_calls_tools_comes_to_an_end_without_a_score() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::say(&calls(&["search"], "{}")));
    let path = stage.path_with(&backend, offering);
    path.plan(stage.night, "s", vec![with_tools(0)]).unwrap();
    let replies = path.answer(stage.night, "s").await.unwrap();
    let error = replies[0].as_ref().unwrap_err();
    assert_eq!(error.code(), "reply_unreadable");
    assert!(error.to_string().contains("goes on calling tools"));
    assert_eq!(backend.asked().len(), 1 + MOST_ROUNDS);
    let asked = [path.measure(with_tools(0))];
    assert_eq!(
        path.estimate(&asked).calls,
        1 + MOST_ROUNDS as u64,
        "an estimate knows of all of them"
    );
}

/// The most that a question with tools costs when each of its requests holds what came before it: told
/// request by request.
fn request_by_request(once: u64, reply: u64, results: u64) -> (u64, u64) {
    let (mut input, mut output, mut before) = (0, 0, 0);
    for _ in 0..=MOST_ROUNDS {
        input += once + before;
        output += reply;
        before += reply + results;
    }
    (input, output)
}

#[test]
fn an_estimate_counts_what_a_backend_counts_and_every_request() {
    let stage = Stage::new();
    let asked = Asked {
        questions: 3,
        ..stage
            .path_with(&Scripted::replies("x"), offering)
            .measure(with_tools(0))
    };
    assert_eq!(
        asked.result_bytes,
        "Result of search.Result of ci.status.".len() as u64
    );
    for (backend, calls) in [
        (Scripted::replies("x"), 3 * (1 + MOST_ROUNDS as u64)),
        (Scripted::replies("x").answering_tools(), 3),
    ] {
        let path = stage.path_with(&backend, |options| {
            options.tools = true;
            options.sides.target.lengths.attempt = 100;
            options.prices.given = crate::price::Price::given(1.0, 2.0);
        });
        let estimate = path.estimate(&[asked]);
        assert_eq!(estimate.calls, calls);
        let (input, output) =
            request_by_request(asked.prompt_bytes / 3, 100, asked.result_bytes / 3);
        assert_eq!(estimate.tokens_high, 3 * (input + output));
        assert_eq!(estimate.cost_micros_high, Some(3 * (input + 2 * output)));
        // Nobody has to call a tool.
        assert_eq!(estimate.tokens_low, 3 * (asked.prompt_bytes / 5 + 10));
    }
}

#[tokio::test]
async fn a_try_that_makes_its_rounds_itself_reserves_every_request() {
    // A token for each byte: of the messages, of what is said of the tools, of what they give; and what a
    // server writes around each.
    let tools = ["search", "Runs search.", "ci.status", "Runs ci.status."].concat();
    let results = "Result of search.Result of ci.status.".len() as u64;
    // How much less there is than the worst case, and how often it is asked.
    for (less, asked) in [(None, 1), (Some(0), 1), (Some(1), 0)] {
        let stage = Stage::new();
        let backend = Scripted::new(|_, _| Scripted::say(&says("It is green."))).answering_tools();
        let call = stage.path_with(&backend, offering).render(with_tools(0));
        let messages: usize = call.messages.iter().map(|said| said.text.len() + 16).sum();
        let once = (messages + tools.len() + 2 * 128) as u64;
        let (input, output) = request_by_request(once, u64::from(call.params.max_tokens), results);
        let path = stage.path_with(&backend, |options| {
            options.tools = true;
            options.caps.tokens = less.map(|less| input + output - less);
            options.prices.given = crate::price::Price::given(1.0, 2.0);
        });
        path.plan(stage.night, "s", vec![with_tools(0)]).unwrap();
        let replies = path.answer(stage.night, "s").await.unwrap();
        assert_eq!(replies[0].is_ok(), asked == 1, "{replies:?}");
        assert_eq!(backend.asked().len(), asked);
        let tries = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        assert_eq!(tries.len(), asked);
        for tried in tries {
            assert_eq!(tried.reserved.tokens, input + output);
            assert_eq!(tried.reserved.micros, input + 2 * output);
        }
    }
}

#[tokio::test]
async fn nothing_is_offered_unless_asked_for_and_no_text_is_a_call() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| {
        assert!(call.tools().is_empty());
        Scripted::say(&calls(&["search"], "{}"))
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![with_tools(0)]).unwrap();
    let replies = path.answer(stage.night, "s").await.unwrap();
    let reply = replies.into_iter().next().unwrap().unwrap();
    assert_eq!((reply.called, backend.asked().len()), (None, 1));
    assert!(
        backend.asked()[0].messages[0]
            .text
            .contains("no tools to call")
    );
    // What is offered is part of the question.
    let offered = stage.path_with(&backend, offering);
    let keys = [&path, &offered].map(|path| path.render(with_tools(0)).key());
    assert_ne!(keys[0], keys[1]);
}

#[tokio::test]
async fn limits_hold_between_rounds() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| one_by_one(call));
    let limited = |options: &mut PathOptions| {
        options.tools = true;
        options.caps.calls = Some(2);
    };
    let path = stage.path_with(&backend, limited);
    path.plan(stage.night, "s", vec![with_tools(0)]).unwrap();
    let replies = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(replies[0].as_ref().unwrap_err().code(), "budget_exhausted");
    assert_eq!(backend.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_night_that_dies_between_rounds_pays_for_none_twice() {
    for moment in (0..60).step_by(5) {
        let stage = Stage::new();
        let backend = Scripted::new(|call, _| Scripted::later(10, one_by_one(call)));
        let path = stage.path_with(&backend, offering);
        path.plan(stage.night, "s", vec![with_tools(0), with_tools(1)])
            .unwrap();
        let _ = tokio::time::timeout(Duration::from_millis(moment), path.answer(stage.night, "s"))
            .await;
        drop(path);
        let before = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        stage
            .store
            .commit("resume", |tx| nights::resume(tx, stage.night))
            .unwrap();
        let path = stage.path_with(&backend, offering);
        let replies = path.answer(stage.night, "s").await.unwrap();
        for reply in replies {
            assert_eq!(reply.unwrap().called.unwrap(), ["search", "ci.status"]);
        }
        let tries = backend.tries_by_key();
        assert_eq!(tries.len(), 6);
        for attempt in before {
            if attempt.state == attempts::State::Answered {
                assert_eq!(tries[&attempt.key], 1, "at {moment}");
            }
        }
    }
}
