//! Codex as a model: `codex exec` with JSON events.
//!
//! It always gets a configuration directory of ours, since nothing else keeps the user's own
//! AGENTS.md out of a call: neither an option nor a setting does. With the user's sign-in, that
//! directory has a link to the user's `auth.json`, so that a renewed token arrives where it belongs;
//! and of the user's `config.toml` it has the model, the provider and their addresses, nothing else.

mod allowance;
mod config;
mod output;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillopt_core::Problem;

use crate::agent_cli::{
    About, Agent, AgentCli, Arranged, Asked, Environment, Launch, Options, Place, Prompt, SignIn,
    too_old,
};
use crate::allowance::Allowance;
use crate::backend::RawReply;
use crate::cancel::CancelToken;
use crate::error::CallError;
use crate::process::{Line, Reading, Run};
use crate::terms::Known;

/// The `kind` of this backend and its provider: one sign-in, one limit.
pub const KIND: &str = "codex";

/// Variables that usually hold a key for it.
pub const USUAL_KEYS: &[&str] = &["CODEX_API_KEY"];

pub(crate) static ABOUT: About = About {
    kind: KIND,
    title: "Codex",
    programs: &["codex"],
    path_setting: "models.codex_path",
    update: "Update it with `codex update` or `npm install -g @openai/codex`.",
    terms: Known {
        about: "Nights start Codex by themselves and use up the limits of your plan, or your key; OpenAI's terms for the account it is signed in with say what is allowed.",
        address: "https://openai.com/policies/",
    },
    addresses: &["OPENAI_BASE_URL"],
    renewed_in: &["CODEX_HOME", "HOME", "USERPROFILE"],
    prepare,
    meet: |launch, cancel| Box::pin(meet(launch, cancel)),
};

/// Options without which it would ask for approval, run commands, or print for people.
const NEEDED: &[&str] = &["--json", "--skip-git-repo-check", "--sandbox", "--config"];

/// What takes the place of system messages when there are none: an empty file is refused.
const NO_SYSTEM: &str = "Answer the message.";

/// Codex on this computer. Asks no model.
///
/// # Errors
/// `agent_not_found`, `agent_not_runnable`, `agent_too_old`, `agent_not_alone`, or
/// `endpoint_invalid` and `endpoint_insecure` for an `OPENAI_BASE_URL` that a key must not be sent
/// to.
pub async fn open(options: Options, cancel: &CancelToken) -> Result<AgentCli, Problem> {
    AgentCli::open(&ABOUT, options, cancel).await
}

/// Makes the configuration directory in `aside`.
fn prepare(options: &Options, aside: &Path, environment: &mut Environment<'_>) -> io::Result<()> {
    let home = aside.join("codex");
    std::fs::create_dir(&home)?;
    environment.set("CODEX_HOME", &home);
    let config = match &options.sign_in {
        SignIn::Key { key, .. } => {
            environment.set("CODEX_API_KEY", key.expose());
            config::with_key(environment.own("OPENAI_BASE_URL"))
        }
        SignIn::Subscription => {
            let users = users_directory(environment);
            let theirs = users
                .as_deref()
                .map(|folder| std::fs::read_to_string(folder.join("config.toml")))
                .and_then(Result::ok)
                .unwrap_or_default();
            if let Some(sign_in) = users.map(|folder| folder.join("auth.json"))
                && sign_in.is_file()
            {
                link(&sign_in, &home.join("auth.json"))?;
            }
            let (config, variables) = config::with_sign_in(&theirs, &options.model);
            let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
            environment.pass(&variables);
            config
        }
    };
    crate::agent_cli::write_new(&home.join("config.toml"), &config)
}

fn users_directory(environment: &Environment<'_>) -> Option<PathBuf> {
    match environment.own("CODEX_HOME") {
        Some(folder) => Some(PathBuf::from(folder)),
        None => environment.home().map(|home| home.join(".codex")),
    }
}

#[cfg(unix)]
fn link(file: &Path, name: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, name)
}

/// Making symbolic links needs a privilege that few users have.
#[cfg(windows)]
fn link(file: &Path, name: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(file, name).or_else(|_| std::fs::hard_link(file, name))
}

struct Codex {
    version: String,
    known: BTreeSet<String>,
    /// What it knows of models, with their tools taken away; `None` when it does not tell.
    models: Option<String>,
}

async fn meet(launch: &Launch<'_>, cancel: &CancelToken) -> Result<Box<dyn Agent>, Problem> {
    let version = launch.version(cancel).await?;
    let known = launch.help(&["exec", "--help"], cancel).await?;
    too_old(launch, &version, &known, NEEDED)?;
    // Only a company's own configuration can still add servers.
    let servers = launch.ask(&["mcp", "list", "--json"], &[], cancel).await?;
    let names = server_names(&servers.output)
        .ok_or_else(|| launch.not_runnable("it does not say which tool servers it would start"))?;
    if !names.is_empty() {
        return Err(launch.not_alone(
            &format!("the tool servers {}", names.join(", ")),
            "They come from a configuration for the whole computer; remove them there, or use another backend.".to_owned(),
        ));
    }
    // Older versions have no such list, and no tools that depend on the model.
    let models = launch
        .ask_once(&["debug", "models", "--bundled"], cancel)
        .await
        .ok()
        .and_then(|printed| without_tools(&printed.output));
    Ok(Box::new(Codex {
        version,
        known,
        models,
    }))
}

/// The names in the output of `codex mcp list --json` that are switched on.
fn server_names(printed: &str) -> Option<Vec<String>> {
    let Ok(Value::Array(servers)) = serde_json::from_str(printed) else {
        return None;
    };
    Some(
        servers
            .iter()
            .filter(|server| server.get("enabled").and_then(Value::as_bool) != Some(false))
            .map(|server| {
                let name = server.get("name").and_then(Value::as_str);
                name.unwrap_or("without a name").to_owned()
            })
            .collect(),
    )
}

/// The catalogue of models without the tools and the team of agents that newer models come with.
fn without_tools(catalogue: &str) -> Option<String> {
    let mut catalogue: Value = serde_json::from_str(catalogue).ok()?;
    for model in catalogue.get_mut("models")?.as_array_mut()? {
        let model = model.as_object_mut()?;
        for (field, value) in [
            ("tool_mode", Value::Null),
            ("multi_agent_version", Value::Null),
            ("apply_patch_tool_type", Value::Null),
            ("experimental_supported_tools", json!([])),
            ("shell_type", json!("disabled")),
            ("supports_search_tool", json!(false)),
        ] {
            if model.contains_key(field) {
                model.insert(field.to_owned(), value);
            }
        }
    }
    Some(catalogue.to_string())
}

impl Agent for Codex {
    fn version(&self) -> &str {
        &self.version
    }

    fn system_mode(&self) -> &'static str {
        "system_file"
    }

    fn overhead_tokens(&self) -> u64 {
        // Measured with 0.171.0: one tool that cannot be switched off, for questions to the user.
        600
    }

    fn arrange(&self, place: &Place<'_>, prompt: &Prompt) -> io::Result<Arranged> {
        let system = match prompt.system() {
            empty if empty.trim().is_empty() => NO_SYSTEM.to_owned(),
            system => system,
        };
        let system = place.write_new("system.txt", &system)?;
        let mut arguments: Vec<OsString> = [
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
        ]
        .map(OsString::from)
        .to_vec();
        for option in ["--ephemeral", "--ignore-rules"] {
            if self.known.contains(option) {
                arguments.push(option.into());
            }
        }
        let mut set = |key: &str, value: &str| {
            arguments.push("--config".into());
            arguments.push(format!("{key}={}", config::quoted(value)).into());
        };
        set("model_instructions_file", &system.to_string_lossy());
        if !place.effort.is_empty() {
            set("model_reasoning_effort", place.effort);
        }
        if let Some(models) = &self.models {
            let file = place.write_new("models.json", models)?;
            set("model_catalog_json", &file.to_string_lossy());
        }
        if !place.model.is_empty() {
            // In one word, so that a model's name cannot be taken for an option.
            arguments.push(format!("--model={}", place.model).into());
        }
        arguments.push("-".into());
        Ok(Arranged {
            arguments,
            environment: Vec::new(),
            input: prompt.dialogue(),
            reading: Reading::Lines(|_| Line::Before),
            streams: false,
        })
    }

    fn read(&self, run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        output::read(run, asked)
    }

    fn takes_effort(&self) -> bool {
        true
    }

    fn tells_allowance(&self) -> bool {
        true
    }

    fn allowance_of_sessions(&self, options: &Options) -> Option<Allowance> {
        let own = |name: &str| options.environment.get(name).map(PathBuf::from);
        let home = own("CODEX_HOME").or_else(|| {
            let home = own("HOME").or_else(|| own("USERPROFILE"))?;
            Some(home.join(".codex"))
        })?;
        allowance::of_sessions(&home, options.clock.now())
    }

    fn sign_in_question(&self, sign_in: &SignIn) -> Option<&'static [&'static str]> {
        matches!(sign_in, SignIn::Subscription).then_some(&["login", "status"])
    }

    fn signed_in(&self, run: &Run) -> Option<bool> {
        let said = String::from_utf8_lossy(&run.diagnostics);
        match run.code {
            Some(0) => Some(true),
            Some(_) if said.contains("Not logged in") => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_and_those_that_are_off_do_not_count() {
        assert_eq!(server_names("[]"), Some(vec![]));
        assert_eq!(
            server_names(r#"[{"name":"a","enabled":true},{"name":"b","enabled":false},{}]"#),
            Some(vec!["a".to_owned(), "without a name".to_owned()])
        );
        assert_eq!(server_names("No MCP servers configured yet."), None);
    }

    #[test]
    fn models_lose_their_tools_and_nothing_else() {
        let printed = json!({"models": [{
            "slug": "gpt-6", "tool_mode": "code_mode_only", "multi_agent_version": "v2",
            "shell_type": "unified_exec", "context_window": 500_000,
        }]});
        let changed: Value =
            serde_json::from_str(&without_tools(&printed.to_string()).unwrap()).unwrap();
        assert_eq!(
            changed,
            json!({"models": [{
                "slug": "gpt-6", "tool_mode": null, "multi_agent_version": null,
                "shell_type": "disabled", "context_window": 500_000,
            }]})
        );
        assert_eq!(without_tools("error"), None);
    }
}
