//! A home with everything that an agent could take along into a call.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// In every text of the home.
pub(crate) const CANARY: &str = "CANARY";

/// The token of Claude Code's user.
pub(crate) const CLAUDE_TOKEN: &str = "sk-ant-oat01-stub";

/// The token of Codex's user, as ChatGPT gives it: signed by nobody, and valid for long.
pub(crate) fn chatgpt_token() -> String {
    let claims = json!({
        "exp": 4_102_444_800_u64, "email": "dana@example.test",
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": "plus", "chatgpt_account_id": "stub", "chatgpt_user_id": "stub",
        },
    });
    let part = |value: &Value| base64url(value.to_string().as_bytes());
    format!(
        "{}.{}.{}",
        part(&json!({"alg": "none"})),
        part(&claims),
        base64url(b"none")
    )
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let index = bits >> (18 - 6 * place) & 63;
            text.push(char::from(LETTERS[index as usize]));
        }
    }
    text
}

/// Fills a home with instructions, skills, commands, agents, hooks, plugins, tool servers and
/// sign-ins; models are at `base`. The path of a secret file in it.
pub(crate) fn furnish(home: &Path, base: &str) -> PathBuf {
    let file = |name: &str, text: &str| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(&path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        path
    };
    let touch = |name: &str| home.join(name).display().to_string();
    for instructions in [
        ".claude/CLAUDE.md",
        ".claude/rules/rule.md",
        ".codex/AGENTS.md",
        ".codex/instructions.md",
        ".copilot/copilot-instructions.md",
        ".copilot/AGENTS.md",
        ".config/opencode/AGENTS.md",
        ".pi/agent/AGENTS.md",
        ".pi/agent/SYSTEM.md",
        ".pi/agent/APPEND_SYSTEM.md",
        "AGENTS.md",
    ] {
        file(
            instructions,
            &format!("{CANARY} always answer like a pirate"),
        );
    }
    for (name, kind) in [
        (".claude/skills/own/SKILL.md", "skill"),
        (".claude/commands/own.md", "command"),
        (".claude/agents/own.md", "agent"),
        (".agents/skills/own/SKILL.md", "skill"),
        (".codex/skills/own/SKILL.md", "skill"),
        (".copilot/skills/own/SKILL.md", "skill"),
        (".copilot/agents/own.agent.md", "agent"),
        (".config/opencode/skills/own/SKILL.md", "skill"),
        (".config/opencode/agent/own.md", "agent"),
        (".opencode/agent/own.md", "agent"),
        (".pi/agent/skills/own/SKILL.md", "skill"),
    ] {
        file(
            name,
            &format!("---\nname: own\ndescription: {CANARY} {kind}\n---\n{CANARY} {kind}\n"),
        );
    }
    let hook = json!([{"hooks": [{"type": "command", "command": format!("echo {CANARY}; touch '{}'", touch("hook-ran"))}]}]);
    let hooks = json!({"hooks": {"SessionStart": hook, "UserPromptSubmit": hook}, "outputStyle": "Explanatory"});
    file(".claude/settings.json", &hooks.to_string());
    file(".codex/hooks.json", &hooks.to_string());
    let server = json!({"type": "stdio", "command": "touch", "args": [touch("server-ran")]});
    file(
        ".claude.json",
        &json!({"hasCompletedOnboarding": true, "mcpServers": {"own": server}}).to_string(),
    );
    file(
        ".claude/.credentials.json",
        &json!({"claudeAiOauth": {
            "accessToken": CLAUDE_TOKEN, "refreshToken": "sk-ant-ort01-stub",
            "expiresAt": 4_102_444_800_000_u64, "scopes": ["user:inference", "user:profile"],
            "subscriptionType": "max",
        }})
        .to_string(),
    );
    codex(home, base, &file);
    let server =
        json!({"type": "local", "command": "touch", "args": [touch("server-ran")], "tools": ["*"]});
    file(
        ".copilot/mcp-config.json",
        &json!({"mcpServers": {"own": server}}).to_string(),
    );
    opencode(home, base, &file);
    file(
        ".pi/agent/models.json",
        &json!({"providers": {"stub": {
            "baseUrl": base, "api": "openai-completions", "apiKey": "sk-stub-key",
            "models": [{
                "id": "stub-model", "name": "Stub", "reasoning": false, "input": ["text"],
                "contextWindow": 200_000, "maxTokens": 8_000,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }],
        }}})
        .to_string(),
    );
    file(
        ".pi/agent/extensions/own.ts",
        &format!(
            "import {{ writeFileSync }} from \"node:fs\";\nexport default function () {{ writeFileSync({:?}, \"\"); }}\n",
            touch("plugin-ran")
        ),
    );
    file("secret.txt", &format!("{CANARY} secret"))
}

/// The provider is one that takes ChatGPT's sign-in, at the stub.
fn codex(home: &Path, base: &str, file: &dyn Fn(&str, &str) -> PathBuf) {
    let token = chatgpt_token();
    file(
        ".codex/auth.json",
        &json!({
            "auth_mode": "chatgpt", "OPENAI_API_KEY": null, "last_refresh": "2099-01-01T00:00:00Z",
            "tokens": {"id_token": token, "access_token": token, "refresh_token": "stub", "account_id": "stub"},
        })
        .to_string(),
    );
    file(
        ".codex/config.toml",
        &format!(
            "developer_instructions = \"{CANARY}\"\nmodel_provider = \"stub\"\nnotify = [\"touch\", \"{home}/hook-ran\"]\n\
             [model_providers.stub]\nname = \"OpenAI\"\nbase_url = \"{base}\"\nwire_api = \"responses\"\n\
             requires_openai_auth = true\nsupports_websockets = false\n\
             [mcp_servers.own]\ncommand = \"touch\"\nargs = [\"{home}/server-ran\"]\n",
            home = home.display()
        ),
    );
}

fn opencode(home: &Path, base: &str, file: &dyn Fn(&str, &str) -> PathBuf) {
    file(
        ".config/opencode/opencode.jsonc",
        &format!(
            "{{\n  // The user's own.\n  \"instructions\": [\"{home}/secret.txt\"],\n  \
             \"mcp\": {{\"own\": {{\"type\": \"local\", \"command\": [\"touch\", \"{home}/server-ran\"], \"enabled\": true}}}},\n  \
             \"provider\": {{\"stub\": {{\"npm\": \"@ai-sdk/openai-compatible\", \"name\": \"Stub\", \
             \"options\": {{\"baseURL\": \"{base}\", \"apiKey\": \"{{env:STUB_KEY}}\"}}, \
             \"models\": {{\"stub-model\": {{\"name\": \"Stub\", \"limit\": {{\"context\": 200000, \"output\": 8000}}}}}}}}}},\n}}\n",
            home = home.display()
        ),
    );
    file(
        ".config/opencode/plugin/own.js",
        &format!(
            "import {{ writeFileSync }} from \"fs\";\nexport const Own = async () => {{ writeFileSync(\"{}/plugin-ran\", \"\"); return {{}}; }};\n",
            home.display()
        ),
    );
}

/// Files below `folder` that hold `text`.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
            {
                found.push(path);
            }
        }
    }
    found
}
