//! The tools of a task with OpenCode: what is offered, what counts as a call, when it ends.

use std::path::PathBuf;

use serde_json::{Value, json};
use skillopt_core::call::{Call, Subject};
use skillopt_core::task::Task;
use skillopt_core::tool::{Tool, ToolReply};
use skillopt_models::{Backend as _, CancelToken};
use skillopt_tests::stub_cli::{Dialect, Mode};

use super::agents::options;
use super::question::call;
use super::{install, open};

/// A question that offers these tools.
fn with_tools(names: &[&str]) -> Call {
    let mut task = Task::new("t", "", "Is main fine?");
    task.tools = names
        .iter()
        .map(|name| Tool {
            name: (*name).to_owned(),
            description: "Asks; \"for\" real.".into(),
            result: format!("Result \u{2028} of \"{name}\"; }},\n}};"),
        })
        .collect();
    Call {
        subject: Subject::Attempt {
            task: Box::new(task),
            skill: String::new(),
            memory: String::new(),
        },
        ..call("Is main fine?")
    }
}

#[tokio::test]
async fn opencode_is_offered_the_tools_of_a_task_and_no_others() {
    const LAST: &str = "tool2_bash";
    let modes = [
        Mode::calls(&["bash", "tool1_ci_status", "rm", "tool1_ci_status"]),
        Mode::calls(&[]),
        Mode::calls(&[LAST; 5]),
    ];
    let stub = install(Dialect::OpenCode, modes);
    let backend = open(Dialect::OpenCode, options(stub.path())).await.unwrap();
    assert!(backend.takes_tools() && backend.answers_tools());
    let ask = async |call: &Call| backend.ask(call, &CancelToken::new()).await;
    let reply = ask(&with_tools(&["ci.status", "bash"])).await.unwrap();
    let said = ToolReply::from_json(&reply.text).unwrap();
    assert_eq!(said.answered, ["ci.status", "ci.status"]);
    let seen: Value = serde_json::from_str(&said.text).unwrap();
    assert_eq!(seen["offered"], json!(["tool1_ci_status", LAST]));
    let result = "Result \u{2028} of \"ci.status\"; },\n};";
    assert_eq!(seen["given"], json!([null, result, null, result]));
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (Some(75), Some(15)),
        "of all five requests"
    );
    // A question without tools offers none, whatever came before it.
    let plain: Value = serde_json::from_str(&ask(&call("x")).await.unwrap().text).unwrap();
    assert_eq!(plain["offered"], json!([]));
    let endless = ask(&with_tools(&["ci.status", "bash"])).await.unwrap_err();
    assert!(endless.to_string().contains("after 4 rounds"), "{endless}");
    let asked = stub.asked();
    assert_eq!(asked.len(), 3, "one run for each question");
    for called in asked {
        let home = PathBuf::from(&called.environment["XDG_CONFIG_HOME"]);
        assert!(!home.exists(), "its tools go with the call");
    }
}
