//! The tools of a replay as files in OpenCode's configuration folder.
//!
//! OpenCode offers every file in `tool/` as a tool and runs it itself. Each of ours does nothing but
//! return its fixed result. What a task says of a tool comes from strangers: it is in these files as
//! literals only.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};
use skillopt_core::text::cut;
use skillopt_core::tool::Tool;

use crate::agent_cli::{events, write_new};

/// Longest name that providers take.
const LONGEST_NAME: usize = 64;
/// Longest result, in characters and lines. What has more than 50 KB or 2,000 lines OpenCode keeps in a
/// file among its user's data.
const LONGEST_RESULT: usize = 12_000;
const MOST_LINES: usize = 1_500;

/// What a tool is called there. No tool of the program's own begins like this, so that none of them
/// is ever allowed by a task that names it.
fn offered_name(position: usize, tool: &Tool) -> String {
    let mut name = format!("tool{}_{}", position + 1, tool.wire_name());
    name.truncate(LONGEST_NAME);
    name
}

/// The tool that is offered under `name`.
pub(super) fn offered<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    let mut places = tools.iter().enumerate();
    places
        .find(|(position, tool)| offered_name(*position, tool) == name)
        .map(|(_, tool)| tool)
}

/// What may be called: these tools and nothing else.
pub(super) fn permission(tools: &[Tool]) -> Value {
    let mut permission = Map::new();
    permission.insert("*".to_owned(), json!("deny"));
    if !tools.is_empty() {
        // It asks about calls that are the same again; how many there may be is for us to say.
        permission.insert("doom_loop".to_owned(), json!("allow"));
    }
    for (position, tool) in tools.iter().enumerate() {
        permission.insert(offered_name(position, tool), json!("allow"));
    }
    Value::Object(permission)
}

/// Writes the files for OpenCode `version` into `home`, a configuration folder that must not exist.
///
/// It would fetch the package that tools may use; none of ours does, so it finds one that is empty.
pub(super) fn write(home: &Path, version: &str, tools: &[Tool]) -> io::Result<()> {
    const PACKAGE: &str = "@opencode-ai/plugin";
    let folder = home.join("opencode");
    let package = folder.join("node_modules").join(PACKAGE);
    std::fs::create_dir_all(&package)?;
    let needs = json!({ "dependencies": { PACKAGE: version } });
    let lock = json!({
        "lockfileVersion": 3,
        "packages": {
            "": needs,
            format!("node_modules/{PACKAGE}"): { "version": version },
        },
    });
    write_new(&folder.join("package.json"), &needs.to_string())?;
    write_new(&folder.join("package-lock.json"), &lock.to_string())?;
    let empty = json!({ "name": PACKAGE, "version": version });
    write_new(&package.join("package.json"), &empty.to_string())?;
    let files = folder.join("tool");
    std::fs::create_dir(&files)?;
    for (position, tool) in tools.iter().enumerate() {
        let file = files.join(format!("{}.js", offered_name(position, tool)));
        write_new(&file, &script(tool))?;
    }
    Ok(())
}

fn script(tool: &Tool) -> String {
    // Its name there is not quite the one that instructions call it by.
    let description = format!("{}: {}", tool.name, tool.shown_description());
    format!(
        "export default {{\n  description: {},\n  args: {{}},\n  async execute() {{ return {}; }},\n}};\n",
        literal(&description),
        literal(&bounded(&tool.shown_result())),
    )
}

/// A text as a JavaScript literal on one line.
fn literal(text: &str) -> String {
    Value::from(text)
        .to_string()
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn bounded(result: &str) -> String {
    let lines: Vec<&str> = result.split('\n').take(MOST_LINES).collect();
    cut(&lines.join("\n"), LONGEST_RESULT)
}

/// Whether an event ends a request whose reply called tools.
pub(super) fn were_called(event: &Map<String, Value>) -> bool {
    events::text(event, &["type"]) == "step_finish"
        && events::text(event, &["part", "reason"]) == "tool-calls"
}

/// Whether a line of its output is such an event.
pub(super) fn ends_a_round(line: &[u8]) -> bool {
    serde_json::from_slice(line).is_ok_and(|event| were_called(&event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_of_the_programs_own_is_allowed_by_a_task_that_names_it() {
        let long = "a".repeat(64);
        let tools = [
            Tool::new("bash", ""),
            Tool::new("ci.status", ""),
            Tool::new(&long, ""),
        ];
        let permission = permission(&tools);
        let allowed: Vec<&str> = permission
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, may)| *may == "allow")
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(permission["*"], "deny");
        assert_eq!(allowed.len(), 4, "{allowed:?}");
        assert!(!allowed.contains(&"bash"));
        for (position, meant) in tools.iter().enumerate() {
            let name = offered_name(position, meant);
            assert!(name.len() <= 64 && allowed.contains(&name.as_str()));
            assert_eq!(offered(&tools, &name), Some(meant));
        }
        assert_eq!(offered(&tools, "bash"), None);
        assert_eq!(super::permission(&[]), json!({"*": "deny"}));
    }

    #[test]
    fn what_a_task_says_is_never_code() {
        let text = "\"; require('fs'); \\\" ${x} ` </script> \u{2028}\u{2029}\u{0}\n*/ }";
        let mut hostile = Tool::new("x", text);
        hostile.description = text.into();
        let script = script(&hostile);
        assert_eq!(script.lines().count(), 5, "{script}");
        assert!(!script.contains(['\u{2028}', '\u{2029}', '\u{0}']));
        let line = script.lines().nth(3).unwrap();
        let said = line
            .strip_prefix("  async execute() { return ")
            .and_then(|rest| rest.strip_suffix("; },"))
            .unwrap();
        assert_eq!(serde_json::from_str::<String>(said).unwrap(), text);
        let long = bounded(&"é\n".repeat(20_000));
        assert!(long.len() < 50_000 && long.lines().count() <= MOST_LINES);
        assert!(bounded(&"😀".repeat(20_000)).len() < 50_000);
    }

    #[test]
    fn only_the_end_of_a_request_that_called_tools_is_a_round() {
        for (line, ends) in [
            (
                r#"{"type":"step_finish","part":{"reason":"tool-calls"}}"#,
                true,
            ),
            (r#"{"type":"step_finish","part":{"reason":"stop"}}"#, false),
            (r#"{"type":"text","part":{"reason":"tool-calls"}}"#, false),
            ("step_finish tool-calls", false),
        ] {
            assert_eq!(ends_a_round(line.as_bytes()), ends, "{line}");
        }
    }
}
