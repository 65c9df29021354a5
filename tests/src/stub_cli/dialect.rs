//! How each agent's program speaks. Shapes are those that real versions print; Cursor's is from its
//! documentation.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Whose program it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Claude Code 2.1.332.
    Claude,
    /// Codex 0.171.0.
    Codex,
    /// GitHub Copilot CLI 1.0.102.
    Copilot,
    /// Cursor's command line.
    Cursor,
    /// OpenCode 1.18.33.
    OpenCode,
    /// Pi 0.74.2.
    Pi,
}

/// What a program says about itself.
pub(super) struct Said {
    pub(super) output: String,
    pub(super) complaint: String,
    pub(super) code: u8,
}

/// What the script says about the program.
pub(super) struct Itself<'a> {
    pub(super) version: &'a str,
    pub(super) signed_in: bool,
    pub(super) without: &'a [String],
    pub(super) servers: &'a [String],
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::OpenCode,
        Self::Pi,
    ];

    /// The name of the program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor-agent",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// The backend that uses it.
    #[must_use]
    pub const fn backend(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            other => other.program(),
        }
    }

    pub(super) const fn usual_version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.332",
            Self::Codex => "0.171.0",
            Self::Copilot => "1.0.102",
            Self::Cursor => "2025.09.18-7ae6800",
            Self::OpenCode => "1.18.33",
            Self::Pi => "0.74.2",
        }
    }

    /// Whether a start is a question about the program itself, not for a model.
    pub(super) fn is_about_itself(arguments: &[String]) -> bool {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        words
            .iter()
            .any(|word| *word == "--version" || *word == "--help")
            || matches!(
                words.as_slice(),
                ["auth" | "login", "status"]
                    | ["mcp", "list", "--json"]
                    | ["debug", "models", "--bundled"]
                    | ["debug", "config", "--pure"]
            )
    }

    /// The answer to such a question.
    pub(super) fn about_itself(self, arguments: &[String], itself: &Itself<'_>) -> Said {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = |output: String| Said {
            output,
            complaint: String::new(),
            code: 0,
        };
        if words.contains(&"--version") {
            return self.say_version(itself.version);
        }
        if words.contains(&"--help") {
            let mut help = format!("Usage: {} [options] [prompt]\n\nOptions:\n", self.program());
            for option in self.options() {
                if !itself.without.iter().any(|gone| gone == option) {
                    help.push_str(&format!("  {option}                 What it does\n"));
                }
            }
            return said(help);
        }
        match (self, words.as_slice()) {
            (Self::Claude, ["auth", "status"]) => Said {
                code: u8::from(!itself.signed_in),
                ..said(json!({"loggedIn": itself.signed_in, "authMethod": "claude.ai"}).to_string())
            },
            (Self::Codex, ["login", "status"]) => Said {
                output: String::new(),
                complaint: if itself.signed_in {
                    "Logged in using ChatGPT\n".to_owned()
                } else {
                    "Not logged in\n".to_owned()
                },
                code: u8::from(!itself.signed_in),
            },
            (Self::Codex, ["mcp", "list", "--json"]) => {
                let servers: Vec<Value> = itself
                    .servers
                    .iter()
                    .map(|name| json!({"name": name, "enabled": true, "transport": {}}))
                    .collect();
                said(Value::Array(servers).to_string())
            }
            (Self::Codex, ["debug", "models", "--bundled"]) => said(
                json!({"models": [{"slug": "gpt-6", "tool_mode": "code_mode_only", "shell_type": "unified_exec"}]})
                    .to_string(),
            ),
            (Self::Copilot, ["mcp", "list", "--json"]) => {
                let servers: serde_json::Map<String, Value> = itself
                    .servers
                    .iter()
                    .map(|name| (name.clone(), json!({"command": "x"})))
                    .collect();
                said(json!({ "mcpServers": servers }).to_string())
            }
            (Self::OpenCode, ["debug", "config", "--pure"]) => {
                let content = std::env::var("OPENCODE_CONFIG_CONTENT").unwrap_or_default();
                let mut resolved: Value = serde_json::from_str(&content).unwrap_or_default();
                resolved["plugin"] = json!([]);
                for name in itself.servers {
                    resolved["mcp"][name] = json!({"type": "local", "command": ["x"]});
                }
                said(resolved.to_string())
            }
            _ => Said {
                output: String::new(),
                complaint: "unknown command\n".to_owned(),
                code: 2,
            },
        }
    }

    fn say_version(self, version: &str) -> Said {
        let (output, complaint) = match self {
            Self::Claude => (format!("{version} (Claude Code)\n"), String::new()),
            Self::Codex => (format!("codex-cli {version}\n"), String::new()),
            Self::Copilot => (format!("GitHub Copilot CLI {version}.\n"), String::new()),
            Self::Cursor | Self::OpenCode => (format!("{version}\n"), String::new()),
            Self::Pi => (String::new(), format!("{version}\n")),
        };
        Said {
            output,
            complaint,
            code: 0,
        }
    }

    /// The options its help lists.
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[
                "--bare",
                "--disable-slash-commands",
                "--effort",
                "--exclude-dynamic-system-prompt-sections",
                "--include-partial-messages",
                "--model",
                "--no-session-persistence",
                "--output-format",
                "--print",
                "--safe-mode",
                "--setting-sources",
                "--strict-mcp-config",
                "--system-prompt-file",
                "--tools",
                "--verbose",
                "--version",
            ],
            Self::Codex => &[
                "--config",
                "--ephemeral",
                "--ignore-rules",
                "--json",
                "--model",
                "--sandbox",
                "--skip-git-repo-check",
            ],
            Self::Copilot => &[
                "--available-tools",
                "--disable-builtin-mcps",
                "--disable-client-telemetry",
                "--disable-mcp-server",
                "--model",
                "--no-ask-user",
                "--no-custom-instructions",
                "--output-format",
                "--reasoning-effort",
            ],
            Self::Cursor => &[
                "--mode",
                "--model",
                "--output-format",
                "--print",
                "--stream-partial-output",
                "--trust",
            ],
            Self::OpenCode => &[
                "--agent",
                "--format",
                "--log-level",
                "--model",
                "--print-logs",
                "--pure",
                "--title",
                "--variant",
            ],
            Self::Pi => &[
                "--append-system-prompt",
                "--mode",
                "--model",
                "--no-context-files",
                "--no-extensions",
                "--no-prompt-templates",
                "--no-session",
                "--no-skills",
                "--no-themes",
                "--no-tools",
                "--print",
                "--system-prompt",
                "--thinking",
            ],
        }
    }

    /// What it prints when it has started.
    pub(super) fn start(self) -> Vec<Value> {
        match self {
            Self::Claude => vec![json!({
                "type": "system", "subtype": "init", "tools": [], "mcp_servers": [],
                "model": "claude-stub-5", "claude_code_version": "2.1.332",
            })],
            Self::Codex => vec![
                json!({"type": "thread.started", "thread_id": "01a22944-6b11-7f50-abfd-92753f46dfd7"}),
                json!({"type": "turn.started"}),
            ],
            Self::Copilot => vec![
                json!({"type": "session.mcp_servers_loaded", "data": {"servers": [{"name": "github-mcp-server", "status": "disabled"}]}}),
                json!({"type": "assistant.turn_start", "data": {"turnId": "0"}}),
                json!({"type": "model.call_start", "data": {"turnId": "0", "model": "stub-model"}}),
            ],
            Self::Cursor => vec![
                json!({"type": "system", "subtype": "init", "apiKeySource": "login", "model": "Auto", "permissionMode": "default"}),
                json!({"type": "user", "message": {"role": "user", "content": []}}),
            ],
            Self::OpenCode => vec![],
            Self::Pi => vec![
                json!({"type": "session", "version": 3, "id": "01a22951", "cwd": "/tmp"}),
                json!({"type": "agent_start"}),
                json!({"type": "turn_start"}),
            ],
        }
    }

    /// The first piece of a reply.
    pub(super) fn first_word(self) -> Value {
        match self {
            Self::Claude => json!({"type": "stream_event", "event": {"type": "message_start"}}),
            // It says nothing before the whole message.
            Self::Codex => json!({"type": "item.updated", "item": {"type": "reasoning"}}),
            Self::Copilot => {
                json!({"type": "assistant.message_delta", "data": {"deltaContent": "I"}})
            }
            Self::Cursor => {
                json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "I"}]}})
            }
            Self::OpenCode => json!({"type": "step_start", "part": {"type": "step-start"}}),
            Self::Pi => json!({"type": "message_update", "message": {"role": "assistant"}}),
        }
    }

    /// What it ends with when the model said `text`.
    pub(super) fn ending(self, text: &str) -> Vec<Value> {
        match self {
            Self::Claude => vec![claude_result(text)],
            Self::Codex => vec![
                json!({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}}),
                json!({"type": "turn.completed", "usage": {"input_tokens": 15, "cached_input_tokens": 5, "output_tokens": 3}}),
            ],
            Self::Copilot => vec![
                json!({"type": "assistant.message", "data": {"model": "stub-model", "content": text, "toolRequests": [], "inputTokens": 15, "outputTokens": 3}}),
                json!({"type": "assistant.turn_end", "data": {"turnId": "0"}}),
                json!({"type": "result", "sessionId": "b5c1", "exitCode": 0, "usage": {"premiumRequests": 1}}),
            ],
            Self::Cursor => vec![json!({
                "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "c6b6",
                "usage": {"inputTokens": 15, "outputTokens": 3},
            })],
            Self::OpenCode => vec![
                json!({"type": "text", "part": {"type": "text", "text": text}}),
                json!({"type": "step_finish", "part": {"type": "step-finish", "reason": "stop", "cost": 0,
                    "tokens": {"input": 10, "output": 3, "reasoning": 0, "cache": {"read": 5, "write": 0}}}}),
            ],
            Self::Pi => {
                let message = json!({
                    "role": "assistant", "content": [{"type": "text", "text": text}], "model": "stub-model", "stopReason": "stop",
                    "usage": {"input": 10, "output": 3, "cacheRead": 5, "cacheWrite": 0},
                });
                vec![
                    json!({"type": "message_end", "message": message}),
                    json!({"type": "turn_end", "message": message, "toolResults": []}),
                    json!({"type": "agent_end", "messages": []}),
                ]
            }
        }
    }

    /// What it ends with when its provider answered with `status` and `said`, and its exit code.
    pub(super) fn failing(self, status: u16, said: &str) -> (Vec<Value>, u8) {
        let with_status = format!("{status} {said}");
        match self {
            Self::Claude => {
                let mut result = claude_result(said);
                result["is_error"] = json!(true);
                result["api_error_status"] = json!(status);
                (vec![result], 1)
            }
            Self::Codex => {
                let message = format!("unexpected status {with_status}");
                (
                    vec![json!({"type": "turn.failed", "error": {"message": message}})],
                    1,
                )
            }
            Self::Copilot => (
                vec![
                    json!({"type": "session.error", "data": {"errorType": "query", "message": with_status, "statusCode": status}}),
                    json!({"type": "result", "sessionId": "b5c1", "exitCode": 1, "usage": {"premiumRequests": 0}}),
                ],
                1,
            ),
            Self::Cursor => (
                vec![json!({
                    "type": "result", "subtype": "success", "is_error": true, "result": with_status, "session_id": "c6b6",
                })],
                1,
            ),
            Self::OpenCode => (
                vec![
                    json!({"type": "error", "error": {"name": "APIError", "data": {"message": said, "statusCode": status}}}),
                ],
                1,
            ),
            Self::Pi => {
                let message = json!({
                    "role": "assistant", "content": [], "stopReason": "error", "errorMessage": with_status,
                });
                // It ends well even so.
                (vec![json!({"type": "message_end", "message": message})], 0)
            }
        }
    }

    /// The file in which it was given the system text, in its arguments or its environment.
    pub(super) fn system_file(self, arguments: &[String]) -> Option<String> {
        let after = |option: &str| {
            let place = arguments.iter().position(|argument| argument == option)?;
            arguments.get(place + 1).cloned()
        };
        match self {
            Self::Claude => after("--system-prompt-file"),
            Self::Pi => after("--system-prompt"),
            Self::Codex => arguments.iter().find_map(|argument| {
                let quoted = argument.strip_prefix("model_instructions_file=")?;
                Some(quoted.trim_matches('"').to_owned())
            }),
            Self::OpenCode => {
                let content = std::env::var("OPENCODE_CONFIG_CONTENT").ok()?;
                let content: Value = serde_json::from_str(&content).ok()?;
                let prompt = content["agent"]["skillopt"]["prompt"].as_str()?;
                Some(prompt.strip_prefix("{file:")?.strip_suffix('}')?.to_owned())
            }
            Self::Copilot | Self::Cursor => None,
        }
    }

    /// The variable that names its configuration directory.
    pub(super) const fn home_variable(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE_CONFIG_DIR",
            Self::Codex => "CODEX_HOME",
            Self::Copilot => "COPILOT_HOME",
            Self::Cursor => "CURSOR_CONFIG_DIR",
            Self::OpenCode => "XDG_CONFIG_HOME",
            Self::Pi => "PI_CODING_AGENT_DIR",
        }
    }
}

/// The event with which Claude Code ends.
pub(super) fn claude_result(text: &str) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "result": text, "stop_reason": "end_turn", "api_error_status": null,
        "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 5, "output_tokens": 3,
        },
        "modelUsage": { "claude-stub-5": { "outputTokens": 3 } },
        "total_cost_usd": 0.001,
    })
}
