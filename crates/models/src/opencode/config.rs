//! The configuration that OpenCode gets from us, and what it makes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};
use skillopt_core::text::{cut, one_line};
use skillopt_core::tool::{MOST_ROUNDS, Tool};

use super::tools;

/// The name of our agent: the one that answers.
pub(super) const AGENT: &str = "skillopt";

/// A larger file is no configuration.
const LARGEST: u64 = 1024 * 1024;

/// What of the user's configuration says which model answers, and where it is.
const TAKEN: &[&str] = &[
    "provider",
    "model",
    "enabled_providers",
    "disabled_providers",
];

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}").expect("a fixed pattern"));

/// What is taken over from the user's own configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Users {
    taken: Map<String, Value>,
    /// Environment variables that it mentions.
    pub(super) variables: Vec<String>,
}

/// Reads the user's own configuration; what cannot be read is as if it were not there.
pub(super) fn of_user(environment: &BTreeMap<String, String>) -> Users {
    let mut users = Users::default();
    for file in files(environment) {
        let small = file.metadata().is_ok_and(|data| data.len() <= LARGEST);
        if let Some(text) = small.then(|| std::fs::read_to_string(&file).ok()).flatten() {
            users.take(&text);
        }
    }
    users
}

/// Where it is, the weakest first.
fn files(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let own = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let folder = own("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| {
        let home = own("HOME").or_else(|| own("USERPROFILE"))?;
        Some(Path::new(home).join(".config"))
    });
    let names = ["config.json", "opencode.json", "opencode.jsonc"];
    folder
        .iter()
        .flat_map(|folder| names.map(|name| folder.join("opencode").join(name)))
        .chain(own("OPENCODE_CONFIG").map(PathBuf::from))
        .collect()
}

impl Users {
    fn take(&mut self, text: &str) {
        let options = jsonc_parser::ParseOptions::default();
        // The first refuses what is nested too deep for the second.
        if jsonc_parser::parse_to_value(text, &options).is_err() {
            return;
        }
        let Ok(Value::Object(config)) = jsonc_parser::parse_to_serde_value(text, &options) else {
            return;
        };
        for (key, value) in config {
            if !TAKEN.contains(&key.as_str()) {
                continue;
            }
            for found in VARIABLE.captures_iter(&value.to_string()) {
                self.variables.push(found[1].to_owned());
            }
            match (self.taken.get_mut(&key), value) {
                (Some(Value::Object(before)), Value::Object(more)) => before.extend(more),
                (_, value) => {
                    self.taken.insert(key, value);
                }
            }
        }
    }

    /// The whole configuration: one agent with no tools but these, whose instructions are in the file
    /// `system`.
    pub(super) fn with_ours(
        self,
        system: Option<&Path>,
        temperature: Option<f64>,
        offered: &[Tool],
    ) -> Value {
        let mut config = self.taken;
        let mut agent = json!({"mode": "primary", "permission": tools::permission(offered)});
        if !offered.is_empty() {
            // In its last request the model is told to answer now.
            agent["steps"] = json!(1 + MOST_ROUNDS);
        }
        if let Some(system) = system {
            agent["prompt"] = json!(format!("{{file:{}}}", system.display()));
        }
        if let Some(temperature) = temperature {
            agent["temperature"] = json!(temperature);
        }
        config.insert("agent".to_owned(), json!({ AGENT: agent }));
        for (key, value) in [
            ("autoupdate", json!(false)),
            ("compaction", json!({"auto": false})),
            ("instructions", json!([])),
            ("share", json!("disabled")),
            ("snapshot", json!(false)),
        ] {
            config.insert(key.to_owned(), value);
        }
        Value::Object(config)
    }
}

/// What would take part in a call, in the configuration that `opencode debug config` prints.
pub(super) fn kept(resolved: &Value) -> Option<String> {
    let servers = resolved.get("mcp").and_then(Value::as_object);
    let on = servers
        .into_iter()
        .flatten()
        .find(|(_, server)| server.get("enabled").and_then(Value::as_bool) != Some(false));
    if let Some((name, _)) = on {
        return Some(format!("the tool server {}", cut(&one_line(name), 40)));
    }
    for (key, what) in [
        ("plugin", "the plugin"),
        ("instructions", "the instructions"),
    ] {
        let first = resolved
            .get(key)
            .and_then(Value::as_array)
            .and_then(|list| list.first());
        if let Some(first) = first {
            let name = first
                .as_str()
                .map_or_else(|| first.to_string(), str::to_owned);
            return Some(format!("{what} {}", cut(&one_line(&name), 80)));
        }
    }
    if resolved.get("snapshot") != Some(&json!(false)) {
        return Some("its snapshots".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        use std::io::Write as _;
        std::fs::create_dir_all(folder).unwrap();
        std::fs::File::create(folder.join(name))
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    #[test]
    fn of_the_users_file_only_providers_and_model_are_taken() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".config/opencode");
        write(
            &folder,
            "opencode.json",
            r#"{
              // A comment, and a comma too many.
              "model": "work/m", "instructions": ["CANARY"], "plugin": ["CANARY"],
              "mcp": {"CANARY": {"type": "local", "command": ["CANARY"]}},
              "agent": {"skillopt": {"prompt": "CANARY"}},
              "provider": {"work": {"options": {"apiKey": "{env:WORK_KEY}"}}},
            }"#,
        );
        write(
            &folder,
            "opencode.jsonc",
            r#"{"provider": {"more": {"options": {"baseURL": "http://127.0.0.1:1"}}}}"#,
        );
        write(&folder, "config.json", &"{\"a\":".repeat(100_000));
        let environment = [("HOME".to_owned(), home.path().display().to_string())].into();
        let users = of_user(&environment);
        assert_eq!(users.variables, ["WORK_KEY"]);
        let config = users.with_ours(Some(Path::new("/tmp/s.txt")), None, &[]);
        assert!(!config.to_string().contains("CANARY"), "{config}");
        assert_eq!(config["model"], "work/m");
        assert_eq!(config["provider"].as_object().unwrap().len(), 2);
        assert_eq!(config["agent"][AGENT]["prompt"], "{file:/tmp/s.txt}");
        assert_eq!(config["agent"][AGENT]["permission"], json!({"*": "deny"}));
    }

    #[test]
    fn whatever_would_take_part_is_seen() {
        let clean = json!({"agent": {}, "plugin": [], "instructions": [], "snapshot": false});
        assert_eq!(kept(&clean), None);
        for (key, value, words) in [
            (
                "mcp",
                json!({"off": {"enabled": false}, "own": {"type": "local"}}),
                "the tool server own",
            ),
            ("plugin", json!(["x@1"]), "the plugin x@1"),
            (
                "instructions",
                json!(["/etc/x.md"]),
                "the instructions /etc/x.md",
            ),
            ("snapshot", json!(true), "its snapshots"),
        ] {
            let mut resolved = clean.clone();
            resolved[key] = value;
            assert_eq!(kept(&resolved).as_deref(), Some(words));
        }
        let mut off = clean;
        off["mcp"] = json!({"own": {"enabled": false}});
        assert_eq!(kept(&off), None);
    }
}
