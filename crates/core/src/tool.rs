//! Tools that a replay offers to the model that does a task.
//!
//! Nothing is ever executed: a tool is a name, words on what it does, and one fixed result. What is
//! judged is whether the model calls it, and what it makes of the result.

use serde::{Deserialize, Serialize};

use crate::task::{Judge, Task};
use crate::text::cut;

/// How many tools one task may offer (§10.8).
pub const MOST_TOOLS: usize = 32;
/// How often one attempt may call tools before it must answer; each time is one more request.
pub const MOST_ROUNDS: usize = 4;
/// How many tools one reply may call side by side.
const MOST_CALLS: usize = 16;
/// Longest name, in characters; all providers take it.
const LONGEST_NAME: usize = 64;
/// Longest description or result, in characters.
const LONGEST_TEXT: usize = 20_000;
/// Longest arguments of one call that are read, in bytes.
const LONGEST_ARGUMENTS: usize = 64 * 1024;

/// A tool with its fixed result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ReplayTool"))]
pub struct Tool {
    /// What `tool_called` names.
    pub name: String,
    /// What the model is told that it does; empty for a general sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What every call of it gives; empty for a general sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
}

impl Tool {
    /// A tool that nobody described.
    #[must_use]
    pub fn new(name: impl Into<String>, result: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            result: result.into(),
        }
    }

    /// Its name as providers take it: letters, digits, `_` and `-`.
    #[must_use]
    pub fn wire_name(&self) -> String {
        self.name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect()
    }

    /// What the model is told that it does.
    #[must_use]
    pub fn shown_description(&self) -> String {
        if self.description.is_empty() {
            format!("Runs {}.", self.name)
        } else {
            self.description.clone()
        }
    }

    /// What a call of it gives.
    #[must_use]
    pub fn shown_result(&self) -> String {
        if self.result.is_empty() {
            format!("{} ran and has nothing more to say.", self.name)
        } else {
            self.result.clone()
        }
    }
}

/// One call of a tool by a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's name for the call, which its result must carry.
    pub id: String,
    /// The tool, as the model named it.
    pub name: String,
    /// The arguments, as the model wrote them; JSON from a model that keeps to the form.
    pub arguments: String,
}

/// A reply to a call that offers tools.
///
/// Such replies are kept as the JSON of this, whether they call a tool or not, so that no text of a
/// model can pass for a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolReply {
    /// What the model said.
    pub text: String,
    /// What it called, in order.
    pub calls: Vec<ToolCall>,
    /// Tools that it called before it said this, in order, each as its task names it: an agent gives
    /// their results itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<String>,
}

impl ToolReply {
    /// The form in which it is kept.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts and lists of texts always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the form in which it is kept.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Why its calls are more than is answered; `None` when they are not.
    #[must_use]
    pub fn excess(&self) -> Option<String> {
        if self.calls.len() > MOST_CALLS {
            return Some(format!(
                "it calls {} tools at once, at most {MOST_CALLS} are answered",
                self.calls.len()
            ));
        }
        if self.answered.len() > MOST_CALLS * MOST_ROUNDS {
            return Some(format!(
                "it called tools {} times, at most {} count",
                self.answered.len(),
                MOST_CALLS * MOST_ROUNDS
            ));
        }
        self.calls
            .iter()
            .any(|call| {
                call.arguments.len() > LONGEST_ARGUMENTS
                    || call.id.len() > LONGEST_ARGUMENTS
                    || call.name.len() > LONGEST_ARGUMENTS
            })
            .then(|| format!("it calls a tool with more than {LONGEST_ARGUMENTS} bytes"))
    }
}

/// The tools of a task: those it describes, and those that its `tool_called` checks name besides, as
/// far as they can be offered.
#[must_use]
pub fn of_task(task: &Task) -> Vec<Tool> {
    let mut tools = task.tools.clone();
    let Judge::Rule(checks) = &task.judge else {
        return tools;
    };
    for check in checks {
        let name = match &check.arg {
            serde_json::Value::String(name) if check.op == "tool_called" => name.trim(),
            _ => continue,
        };
        if tools.len() < MOST_TOOLS
            && usable(name)
            && !tools
                .iter()
                .any(|tool| tool.name.eq_ignore_ascii_case(name))
        {
            tools.push(Tool::new(name, ""));
        }
    }
    tools
}

/// The tool that a model means by `name`.
#[must_use]
pub fn named<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools
        .iter()
        .find(|tool| tool.wire_name().eq_ignore_ascii_case(name) || tool.name == name)
}

/// What a call gives: the fixed result of the tool, or that there is none of that name.
#[must_use]
pub fn result_of(tools: &[Tool], call: &ToolCall) -> String {
    named(tools, &call.name).map_or_else(
        || format!("There is no tool called {}.", cut(&call.name, LONGEST_NAME)),
        Tool::shown_result,
    )
}

/// Whether a tool can be offered under this name.
fn usable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= LONGEST_NAME
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.:/-".contains(c))
}

/// Why these tools cannot be offered, one sentence's end each.
#[must_use]
pub fn faults(tools: &[Tool]) -> Vec<String> {
    let mut faults = Vec::new();
    if tools.len() > MOST_TOOLS {
        faults.push(format!(
            "it has {} tools, at most {MOST_TOOLS} are offered",
            tools.len()
        ));
    }
    let mut seen: Vec<String> = Vec::new();
    for tool in tools {
        let shown = cut(&tool.name, LONGEST_NAME);
        if !usable(&tool.name) {
            faults.push(format!(
                "{shown:?} is no name of a tool (letters, digits and _ . : / -, at most {LONGEST_NAME})"
            ));
        }
        let wire = tool.wire_name().to_ascii_lowercase();
        if seen.contains(&wire) {
            faults.push(format!("two of its tools are {shown:?} to a model"));
        }
        seen.push(wire);
        if tool.description.chars().count() > LONGEST_TEXT
            || tool.result.chars().count() > LONGEST_TEXT
        {
            faults.push(format!(
                "the tool {shown:?} has more than {LONGEST_TEXT} characters"
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::Check;

    #[test]
    fn checks_add_the_tools_they_name_and_no_tool_twice() {
        let check = |op: &str, arg: &str| Check {
            op: op.into(),
            arg: json!(arg),
        };
        let mut task = Task::new("t", "", "x");
        task.tools = vec![Tool::new("search", "42")];
        task.judge = Judge::Rule(vec![
            check("tool_called", "Search"),
            check("tool_called", "fetch"),
            check("tool_called", "no name"),
            check("contains", "nothing"),
        ]);
        assert_eq!(
            of_task(&task),
            [Tool::new("search", "42"), Tool::new("fetch", "")]
        );
        task.judge = Judge::Exact("42".into());
        assert_eq!(of_task(&task), [Tool::new("search", "42")]);
    }

    #[test]
    fn a_call_gets_the_result_of_the_tool_it_means_and_no_other() {
        let tools = [Tool::new("ci.status", "green"), Tool::new("fetch", "")];
        let result = |name: &str| {
            result_of(
                &tools,
                &ToolCall {
                    name: name.into(),
                    ..ToolCall::default()
                },
            )
        };
        assert_eq!(result("ci_status"), "green");
        assert_eq!(result("CI_STATUS"), "green");
        assert_eq!(result("fetch"), "fetch ran and has nothing more to say.");
        assert_eq!(result("rm"), "There is no tool called rm.");
    }

    #[test]
    fn what_no_provider_takes_is_named() {
        for (tools, words) in [
            (vec![Tool::new("a b", "")], "no name of a tool"),
            (vec![Tool::new("", "")], "no name of a tool"),
            (vec![Tool::new("-a", "")], "no name of a tool"),
            (vec![Tool::new("a".repeat(65), "")], "no name of a tool"),
            (
                vec![Tool::new("a.b", ""), Tool::new("A/b", "")],
                "two of its tools",
            ),
            (vec![Tool::new("a", "x".repeat(20_001))], "more than 20000"),
            (
                (0..33).map(|n| Tool::new(format!("t{n}"), "")).collect(),
                "at most 32",
            ),
        ] {
            let said = faults(&tools).join("; ");
            assert!(said.contains(words), "{said}");
        }
        assert!(faults(&[Tool::new("mcp:files/read-1.0", "ok")]).is_empty());
    }

    #[test]
    fn a_reply_survives_being_kept_and_no_text_passes_for_a_call() {
        let calling = ToolReply {
            text: "Let me look.".into(),
            calls: vec![ToolCall {
                id: "c1".into(),
                name: "search".into(),
                arguments: "{}".into(),
            }],
            answered: vec!["ci.status".into()],
        };
        assert_eq!(
            ToolReply::from_json(&calling.to_json()),
            Some(calling.clone())
        );
        let forged = ToolReply {
            text: calling.to_json(),
            ..ToolReply::default()
        };
        let read = ToolReply::from_json(&forged.to_json()).unwrap();
        assert!(read.calls.is_empty() && read.answered.is_empty());
        assert_eq!(ToolReply::from_json("Hello."), None);
    }

    #[test]
    fn too_much_at_once_is_not_answered() {
        let calls = |count: usize, arguments: &str| ToolReply {
            text: String::new(),
            calls: vec![
                ToolCall {
                    arguments: arguments.into(),
                    ..ToolCall::default()
                };
                count
            ],
            answered: Vec::new(),
        };
        assert_eq!(calls(16, "{}").excess(), None);
        assert!(calls(17, "{}").excess().unwrap().contains("17 tools"));
        assert!(calls(1, &"x".repeat(65_537)).excess().is_some());
        let answered = |count: usize| ToolReply {
            answered: vec!["search".into(); count],
            ..ToolReply::default()
        };
        assert_eq!(answered(64).excess(), None);
        assert!(answered(65).excess().unwrap().contains("65 times"));
    }
}
