//! The `config.toml` that Codex gets from us.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

/// The provider we define, so that a try is one request: repeating is counted and paced by the path
/// around us.
const PROVIDER: &str = "skillopt";

/// Parts of Codex that bring tools, instructions or texts of their own. Names that a version does
/// not know are passed over by it.
const OFF: &[&str] = &[
    "apps",
    "browser_use",
    "browser_use_external",
    "computer_use",
    "enable_request_compression",
    "goals",
    "hooks",
    "image_generation",
    "in_app_browser",
    "memories",
    "multi_agent",
    "multi_agent_v2",
    "plugins",
    "remote_plugin",
    "shell_snapshot",
    "shell_tool",
    "skill_mcp_dependency_install",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    "unbounded_connection_retries",
    "unified_exec",
    "view_image",
    "workspace_dependencies",
];

/// What of a user's provider is taken over: where it is and how it is spoken to. A token or a header
/// that is written there would have to be copied, so it is not.
const OF_A_PROVIDER: &[&str] = &[
    "name",
    "base_url",
    "env_key",
    "wire_api",
    "query_params",
    "env_http_headers",
    "requires_openai_auth",
    "supports_websockets",
];

/// With a key: OpenAI's provider, or the one at `address`.
pub(super) fn with_key(address: Option<&str>) -> String {
    let mut config = ours();
    let mut provider = openai();
    if let Some(address) = address {
        provider.insert("base_url", address.into());
    }
    add_provider(&mut config, provider);
    config.to_string()
}

/// With the user's sign-in: the model, the provider and their addresses as `theirs`, the text of the
/// user's own file, says; and the environment variables that this provider takes its key and headers
/// from. How hard their model thinks holds for it only, so not when another one, `model`, is asked.
pub(super) fn with_sign_in(theirs: &str, model: &str) -> (String, Vec<String>) {
    let theirs: DocumentMut = theirs.parse().unwrap_or_default();
    let mut config = ours();
    for key in ["model", "model_reasoning_effort", "chatgpt_base_url"] {
        if key == "model_reasoning_effort" && !model.trim().is_empty() {
            continue;
        }
        if let Some(text) = theirs.get(key).and_then(Item::as_str) {
            config[key] = value(text);
        }
    }
    let named = theirs
        .get("model_provider")
        .and_then(Item::as_str)
        .and_then(|name| theirs.get("model_providers")?.get(name)?.as_table_like());
    let Some(named) = named else {
        add_provider(&mut config, openai());
        return (config.to_string(), Vec::new());
    };
    let mut provider = InlineTable::new();
    for key in OF_A_PROVIDER {
        if let Some(taken) = named.get(key).and_then(Item::as_value) {
            provider.insert(*key, taken.clone().decorated(" ", ""));
        }
    }
    let key = named.get("env_key").and_then(Item::as_str);
    let headers = named
        .get("env_http_headers")
        .and_then(Item::as_table_like)
        .map(|headers| {
            headers
                .iter()
                .filter_map(|(_, variable)| variable.as_str())
                .collect::<Vec<_>>()
        });
    let variables = key
        .into_iter()
        .chain(headers.into_iter().flatten())
        .map(str::to_owned)
        .collect();
    add_provider(&mut config, provider);
    (config.to_string(), variables)
}

/// What is the same for both.
fn ours() -> DocumentMut {
    let mut config = DocumentMut::new();
    config["approval_policy"] = value("never");
    config["check_for_update_on_startup"] = value(false);
    config["cli_auth_credentials_store"] = value("file");
    config["include_apps_instructions"] = value(false);
    config["include_collaboration_mode_instructions"] = value(false);
    config["include_environment_context"] = value(false);
    config["include_permissions_instructions"] = value(false);
    config["model_provider"] = value(PROVIDER);
    config["project_doc_max_bytes"] = value(0);
    config["web_search"] = value("disabled");
    let mut table = |name: &str, key: &str| {
        let mut table = Table::new();
        table[key] = value(false);
        config[name] = Item::Table(table);
    };
    table("agents", "enabled");
    table("analytics", "enabled");
    table("feedback", "enabled");
    table("skills", "include_instructions");
    let mut bundled = Table::new();
    bundled["enabled"] = value(false);
    config["skills"]["bundled"] = Item::Table(bundled);
    let mut features = Table::new();
    for name in OFF {
        features[*name] = value(false);
    }
    config["features"] = Item::Table(features);
    config
}

/// OpenAI, or ChatGPT: whatever the sign-in is for.
fn openai() -> InlineTable {
    let mut provider = InlineTable::new();
    provider.insert("name", "OpenAI".into());
    provider.insert("wire_api", "responses".into());
    provider.insert("requires_openai_auth", true.into());
    provider.insert("supports_websockets", false.into());
    provider
}

fn add_provider(config: &mut DocumentMut, mut provider: InlineTable) {
    provider.insert("request_max_retries", 1.into());
    provider.insert("stream_max_retries", 0.into());
    let mut providers = Table::new();
    providers[PROVIDER] = value(provider);
    config["model_providers"] = Item::Table(providers);
}

/// A text as TOML.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DocumentMut {
        text.parse().unwrap()
    }

    #[test]
    fn of_the_users_file_only_model_and_provider_are_taken() {
        let theirs = r#"
            model = "gpt-6"
            model_reasoning_effort = "xhigh"
            model_provider = "work"
            developer_instructions = "CANARY"
            notify = ["CANARY"]
            [model_providers.work]
            name = "Work"
            base_url = "https://gateway.example.com/v1"
            env_key = "WORK_KEY"
            experimental_bearer_token = "CANARY"
            http_headers = { x = "CANARY" }
            env_http_headers = { x = "WORK_TEAM" }
            [model_providers.other]
            base_url = "https://CANARY.example.com"
            [mcp_servers.own]
            command = "CANARY"
        "#;
        let (config, variables) = with_sign_in(theirs, "");
        assert!(!config.contains("CANARY"), "{config}");
        assert_eq!(variables, ["WORK_KEY", "WORK_TEAM"]);
        let config = read(&config);
        assert_eq!(config["model"].as_str(), Some("gpt-6"));
        assert_eq!(config["model_reasoning_effort"].as_str(), Some("xhigh"));
        assert!(!with_sign_in(theirs, "gpt-6-mini").0.contains("xhigh"));
        let provider = &config["model_providers"][PROVIDER];
        assert_eq!(
            provider["base_url"].as_str(),
            Some("https://gateway.example.com/v1")
        );
        assert_eq!(provider["stream_max_retries"].as_integer(), Some(0));
        assert_eq!(config["features"]["shell_tool"].as_bool(), Some(false));
    }

    #[test]
    fn without_a_provider_it_is_openai() {
        for theirs in ["", "not = = toml", "model_provider = \"gone\""] {
            let (config, variables) = with_sign_in(theirs, "");
            assert!(variables.is_empty());
            let config = read(&config);
            let provider = &config["model_providers"][PROVIDER];
            assert_eq!(provider["requires_openai_auth"].as_bool(), Some(true));
            assert!(provider.get("base_url").is_none());
        }
        let config = read(&with_key(Some("http://127.0.0.1:1/v1")));
        assert_eq!(
            config["model_providers"][PROVIDER]["base_url"].as_str(),
            Some("http://127.0.0.1:1/v1")
        );
    }

    #[test]
    fn a_text_is_quoted() {
        assert_eq!(quoted("/tmp/a b/c"), "\"/tmp/a b/c\"");
        let odd = quoted("C:\\x\\\"y\"");
        assert_eq!(
            read(&format!("a = {odd}"))["a"].as_str(),
            Some("C:\\x\\\"y\"")
        );
    }
}
