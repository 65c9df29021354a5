//! Pages of `docs/` that must say what the code says. `cargo xtask docs` writes the generated ones.

use std::collections::BTreeSet;

use skillopt_core::agent::Agent;
use skillopt_core::feedback::Happened;
use skillopt_settings::{GROUPS, ROWS, Restriction, Settings};
use skillopt_tests::checkout::{files, members, read, root};
use skillopt_transcripts::{ProjectScope, Request, Scope, Session, Told, harvest, told};

/// The string literal that `text` starts with, if it is a code: `snake_case`, at least two letters.
fn code_at(text: &str) -> Option<&str> {
    let inner = text.trim_start().strip_prefix('"')?;
    let code = &inner[..inner.find('"')?];
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (code.len() > 1 && code.chars().all(letters)).then_some(code)
}

/// Codes of public errors in a source file: the first argument of `permanent(`, `refused(` and `temporary(`,
/// and what stands on the right of the arms of a function called `code`.
fn codes(text: &str, found: &mut BTreeSet<String>) {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for word in ["permanent(", "refused(", "temporary("] {
        for (position, _) in text.match_indices(word) {
            found.extend(code_at(&text[position + word.len()..]).map(str::to_owned));
        }
    }
    for (position, _) in text.match_indices("fn code(") {
        let body = &text[position..];
        let body = &body[..body.find("\n    }\n").unwrap_or(body.len())];
        for (arm, _) in body.match_indices("=> ") {
            found.extend(code_at(&body[arm + 3..]).map(str::to_owned));
        }
    }
}

#[test]
fn every_error_code_is_on_the_page_of_errors() {
    let mut in_code = BTreeSet::new();
    for file in members()
        .iter()
        .flat_map(|member| files(&member.join("src"), "rs"))
    {
        codes(&read(&file), &mut in_code);
    }
    let on_page: BTreeSet<String> = read(&root().join("docs/errors.md"))
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .collect();
    let missing: Vec<_> = in_code.difference(&on_page).collect();
    let stale: Vec<_> = on_page.difference(&in_code).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "missing: {missing:?}\nno longer there: {stale:?}"
    );
}

/// The page of settings, from the table they are defined in.
fn settings_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Each setting has a default and can be set, from weakest to strongest, in: your settings file \
         (`settings.toml` in the settings directory), the project's file in the same directory, the \
         repository's `.skillopt.toml`, an environment variable, a flag. `skillopt config explain KEY` \
         says which of them holds, `skillopt config set KEY VALUE` writes your settings file and keeps \
         its comments.\n\n\
         Paths: `~/` is your home directory. A relative path begins at the directory of the file it stands \
         in; on the command line and in a variable, where the command is given (`config set` writes it \
         whole). The few that are relative to the project say so.\n\n\
         A repository is not trusted: it may only do what the last column says, and every other key in \
         its file is reported and ignored.\n\n\
         This page is written by `cargo xtask docs`.\n",
    );
    let defaults = Settings::default();
    for (group, about) in GROUPS {
        page.push_str(&format!(
            "\n## {group}\n\n{about}\n\n| Key | Takes | Default | Meaning | Flag | Variable | Repository |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n"
        ));
        for row in ROWS.iter().filter(|row| row.group() == *group) {
            page.push_str(&format!(
                "| `{}` | {} | `{}` | {} | `--{}` | `{}` | {} |\n",
                row.key,
                row.kind.allowed().replace('|', "\\|"),
                defaults.get(row),
                row.text.trim().replace('|', "\\|"),
                row.flag,
                row.variable(),
                repository(row.repository),
            ));
        }
    }
    page
}

fn repository(may: Option<Restriction>) -> &'static str {
    match may {
        None => "",
        Some(Restriction::Add) => "may add",
        Some(Restriction::TurnOff) => "may switch off",
        Some(Restriction::Lower) => "may lower",
    }
}

#[test]
fn the_page_of_settings_is_the_table() {
    is_written("docs/settings.md", &settings_page());
}

/// What happened to answers in the real sessions among the fixtures.
fn in_real_sessions() -> Vec<(Agent, Happened)> {
    let sessions = root().join("tests/fixtures/transcripts");
    // Of the other agents nobody had a session.
    let agents = [
        Agent::Claude,
        Agent::Codex,
        Agent::Copilot,
        Agent::Pi,
        Agent::OpenCode,
    ];
    let request = Request {
        homes: agents
            .into_iter()
            .map(|agent| (agent, vec![sessions.join(agent.id())]))
            .collect(),
        agents: agents.to_vec(),
        project: ProjectScope {
            roots: Vec::new(),
            scope: Scope::All,
        },
        ..Request::default()
    };
    let found = harvest(&request, None, &|| false).expect("nothing in a session is an error");
    let signals = |session: &Session| -> Vec<(Agent, Happened)> {
        let signals = session.human_turns().flat_map(|turn| &turn.feedback);
        signals
            .filter_map(|signal| Some((session.agent, Happened::of(signal)?)))
            .collect()
    };
    found.sessions.iter().flat_map(signals).collect()
}

/// The page of what happens to answers, from the table of which agent tells what.
fn signals_page() -> String {
    let real = in_real_sessions();
    let mut page = String::from(
        "# What happened to an answer\n\n\
         Besides its words, what a person did about an answer tells how good it was. These signals are \
         hints at success or failure; a check is only ever made from words that say what is wanted. \
         Below stands for each signal from which records of each agent it is read, or why the agent's \
         files do not tell it; and whether a session of the agent's own program has it, or only ones \
         written by hand after descriptions of it, which may be wrong. \
         [Reading transcripts](transcripts.md) says where the files are.\n\n\
         This page is written by `cargo xtask docs`.\n",
    );
    for happened in Happened::ALL {
        let about = match happened {
            Happened::Interrupted => "The person stopped the agent while it worked on the turn.",
            Happened::ToolRejected => "The person refused to let the agent call a tool.",
            Happened::Resent => {
                "The person sent the request again, edited or not. For every agent that is also read \
                 from the words: much the same right after a turn that was stopped, refused or taken \
                 back."
            }
            Happened::Undone => "The person took the turn and what it did back.",
            Happened::Abandoned => "The session ends with the turn, and without a result.",
            Happened::Committed => {
                "What the turn did was committed with git: it is the last turn before a commit that \
                 changed files and was not taken back."
            }
        };
        page.push_str(&format!(
            "\n## `{}`\n\n{about}\n\n| Agent | Read from | Seen in |\n| --- | --- | --- |\n",
            happened.signal()
        ));
        for agent in Agent::ALL {
            let (from, seen) = match (told(agent, happened), agent, happened) {
                (Told::Untold(why), ..) => (format!("*not told*: {why}"), ""),
                (Told::Read(from), ..) if real.contains(&(agent, happened)) => {
                    (from.to_owned(), "a real session")
                }
                (Told::Read(from), Agent::Codex, Happened::Interrupted) => {
                    (from.to_owned(), "a real session of a sub-agent")
                }
                (Told::Read(from), ..) => (from.to_owned(), "by hand"),
            };
            page.push_str(&format!("| {} | {from} | {seen} |\n", agent.title()));
        }
    }
    page
}

#[test]
fn the_page_of_signals_is_the_table() {
    is_written("docs/signals.md", &signals_page());
}

/// That a generated file holds `text`; it is written first when `cargo xtask docs` asks for it.
fn is_written(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        std::fs::create_dir_all(path.parent().expect("it lies in a folder"))
            .expect("the folder can be made");
        let mut file = std::fs::File::create(&path).expect("the file can be written");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("the file can be written");
    }
    assert_eq!(read(&path), text, "run `cargo xtask docs`");
}

#[test]
fn the_types_of_the_window_are_those_of_the_commands() {
    is_written(
        "ui/src/backend/generated.ts",
        &skillopt_app::typescript::interface(),
    );
}

#[test]
fn codes_are_found_where_they_are_given() {
    let text = "Problem::permanent(\n    \"a_code\", format!(\"x\"))\nProblem::refused(\"refused_one\", \"\")\nself.temporary(\"other\", \"\")\n\
                fn code(&self) -> &'static str {\n match self {\n Self::A => \"third\",\n }\n    }\n\
                x => \"not_one\"\n#[cfg(test)]\nmod tests { Problem::permanent(\"only_a_test\") }";
    let mut found = BTreeSet::new();
    codes(text, &mut found);
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["a_code", "other", "refused_one", "third"]
    );
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    pages.extend(files(&root().join("docs"), "md"));
    let mut dead = Vec::new();
    for page in pages {
        let text = read(&page);
        for (position, _) in text.match_indices("](") {
            let target = text[position + 2..]
                .split([')', '#', ' '])
                .next()
                .unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !page.with_file_name(target).exists() {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}
