//! OpenCode's tools that are files: what it makes of them, as 1.18.33 does.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

/// The events of a run that calls `names`.
pub(super) fn run(names: &[String]) -> io::Result<Vec<Value>> {
    let tools = offered()?;
    let mut events = Vec::new();
    let mut given = Vec::new();
    for name in names {
        let state = match tools.get(name) {
            Some(result) => json!({"status": "completed", "input": {}, "output": result}),
            None => json!({
                "status": "error", "input": {},
                "error": format!("Model tried to call unavailable tool '{name}'."),
            }),
        };
        given.push(state["output"].clone());
        events.push(json!({"type": "step_start", "part": {"type": "step-start"}}));
        events.push(
            json!({"type": "tool_use", "part": {"type": "tool", "tool": name, "state": state}}),
        );
        events.push(json!({"type": "text", "part": {"type": "text", "text": "Let me look."}}));
        events.push(finish("tool-calls"));
    }
    let names: Vec<&String> = tools.keys().collect();
    let text = json!({"offered": names, "given": given}).to_string();
    events.push(json!({"type": "step_start", "part": {"type": "step-start"}}));
    events.push(json!({"type": "text", "part": {"type": "text", "text": text}}));
    events.push(finish("stop"));
    Ok(events)
}

fn finish(reason: &str) -> Value {
    json!({"type": "step_finish", "part": {"type": "step-finish", "reason": reason, "cost": 0,
        "tokens": {"input": 10, "output": 3, "reasoning": 0, "cache": {"read": 5, "write": 0}}}})
}

/// The tools that there are and that may be called, with their results. One that would be fetched for
/// is none: its package must be there.
fn offered() -> io::Result<BTreeMap<String, String>> {
    let folder =
        PathBuf::from(std::env::var("XDG_CONFIG_HOME").unwrap_or_default()).join("opencode");
    let permission: Value =
        serde_json::from_str(&std::env::var("OPENCODE_PERMISSION").unwrap_or_default())?;
    let content: Value =
        serde_json::from_str(&std::env::var("OPENCODE_CONFIG_CONTENT").unwrap_or_default())?;
    let agent = &content["agent"]["skillopt"]["permission"];
    let mut tools = BTreeMap::new();
    let Ok(files) = std::fs::read_dir(folder.join("tool")) else {
        return Ok(tools);
    };
    let package = folder.join("node_modules/@opencode-ai/plugin/package.json");
    for needed in [
        package,
        folder.join("package.json"),
        folder.join("package-lock.json"),
    ] {
        serde_json::from_slice::<Value>(&std::fs::read(needed)?)?;
    }
    for file in files {
        let path = file?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let may = |rules: &Value| rules.get(&name).unwrap_or(&rules["*"]) == "allow";
        if may(&permission) && may(agent) {
            tools.insert(name, result(&std::fs::read_to_string(&path)?)?);
        }
    }
    Ok(tools)
}

/// The literal that a tool returns.
fn result(script: &str) -> io::Result<String> {
    let (_, rest) = script
        .split_once("execute() { return ")
        .ok_or_else(|| io::Error::other("no such tool"))?;
    let literal = rest.split("; },\n").next().unwrap_or_default();
    serde_json::from_str(literal).map_err(io::Error::other)
}
