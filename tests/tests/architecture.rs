//! The rules of `docs/architecture.md` that a compiler does not keep.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use skillopt_tests::checkout::{files, members, read, root};

/// Crates of the workspace in layers, lowest first. An arrow may only point to a lower layer, so
/// crates in one layer do not know each other.
const LAYERS: &[&[&str]] = &[
    &["skillopt-core"],
    &["skillopt-settings"],
    &["skillopt-store"],
    &["skillopt-transcripts", "skillopt-models"],
    &["skillopt-sleep"],
    &["skillopt-app"],
    &["skillopt-cli", "skillopt-desktop"],
];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

fn all() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().flat_map(|layer| layer.iter().copied())
}

/// Names of everything that is built for a crate itself, with `depth` levels below it: 1 for what
/// it names, `usize::MAX` for all of it. Tests and build scripts may know more.
fn dependencies(name: &str, depth: usize) -> BTreeSet<String> {
    let depth = (depth < usize::MAX).then(|| format!("--depth={depth}"));
    let of = ["--package".to_owned(), name.to_owned()];
    tree(of.into_iter().chain(depth))
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// What is built for somebody, as `name version` lines.
fn tree(arguments: impl IntoIterator<Item = String>) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo can be run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Lines of code with their numbers, without comments and without the tests at a file's end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line))
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn every_crate_has_its_layer() {
    let found: BTreeSet<String> = members()
        .iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy();
            if path.ends_with("src-tauri") {
                return Some("skillopt-desktop".to_owned());
            }
            (path.parent()?.ends_with("crates")).then(|| format!("skillopt-{name}"))
        })
        .collect();
    let known: BTreeSet<String> = all().map(str::to_owned).collect();
    assert_eq!(found, known);
}

#[test]
fn arrows_point_one_way() {
    let mut wrong = Vec::new();
    for name in all() {
        for dependency in dependencies(name, 1) {
            if layer(&dependency).is_some_and(|below| Some(below) >= layer(name)) {
                wrong.push(format!("{name} → {dependency}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that point up or sideways: {wrong:?}"
    );
}

#[test]
fn what_a_layer_must_never_learn_is_not_built_for_it() {
    // Everything that reads a file, a clock, a network, the environment, or waits.
    let world = [
        "tokio",
        "reqwest",
        "hyper",
        "rustls",
        "rusqlite",
        "libsqlite3-sys",
        "clap",
        "directories",
        "tempfile",
        "rayon",
        "zstd",
        "process-wrap",
        "globset",
        "indicatif",
        "toml_edit",
        "rand",
        "getrandom",
    ];
    // Only the command line parses arguments and draws on a terminal.
    let terminal = [
        "clap",
        "clap_complete",
        "clap_mangen",
        "indicatif",
        "console",
    ];
    let network = ["reqwest", "hyper", "rustls"];
    let mut forbidden: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    forbidden.entry("skillopt-core").or_default().extend(world);
    for name in all().filter(|name| *name != "skillopt-cli") {
        forbidden.entry(name).or_default().extend(terminal);
    }
    for name in [
        "skillopt-settings",
        "skillopt-store",
        "skillopt-transcripts",
    ] {
        forbidden.entry(name).or_default().extend(network);
        forbidden.entry(name).or_default().push("tokio");
    }
    let mut wrong = Vec::new();
    for (name, names) in forbidden {
        let built = dependencies(name, usize::MAX);
        wrong.extend(
            names
                .into_iter()
                .filter(|other| built.contains(*other))
                .map(|other| format!("{name} → {other}")),
        );
    }
    assert!(wrong.is_empty(), "learnt what it must not know: {wrong:?}");
}

#[test]
fn core_asks_the_world_nothing() {
    let questions = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "std::time",
        "std::io",
        "Timestamp::now",
        "Zoned::now",
        "TimeZone::system",
        "SystemTime",
        "async fn",
    ];
    let mut wrong = Vec::new();
    for file in files(&root().join("crates/core/src"), "rs") {
        for (number, line) in code(&read(&file)) {
            if let Some(question) = questions.iter().find(|question| line.contains(*question)) {
                wrong.push(format!("{}:{number}: {question}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_command_line_prints() {
    // The lint says so too, but a crate could switch it off.
    let mut wrong = Vec::new();
    for member in members() {
        let programs = ["cli", "src-tauri", "xtask", "tests"];
        if programs.iter().any(|program| member.ends_with(program)) {
            continue;
        }
        for file in files(&member.join("src"), "rs") {
            for (number, line) in code(&read(&file)) {
                if ["println!(", "print!("]
                    .iter()
                    .any(|word| line.contains(word))
                {
                    wrong.push(format!("{}:{number}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_member_keeps_the_workspace_lints() {
    for member in members() {
        let manifest = read(&member.join("Cargo.toml"));
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{}",
            member.display()
        );
    }
}

#[test]
fn names_say_what_a_thing_is() {
    // docs/architecture.md, house rules.
    let empty = ["Manager", "Helper", "Util", "Utils", "Service", "Common"];
    let kinds = ["struct ", "enum ", "trait ", "mod ", "type "];
    let mut wrong = Vec::new();
    for file in members()
        .iter()
        .flat_map(|member| files(&member.join("src"), "rs"))
    {
        if file.ends_with("mod.rs") {
            wrong.push(format!(
                "{}: a module stands in a file of its own name",
                file.display()
            ));
        }
        for (number, line) in code(&read(&file)) {
            let declared = kinds.iter().find_map(|kind| {
                let (before, after) = line.split_once(kind)?;
                let starts = before.trim().is_empty() || before.trim_start().starts_with("pub");
                starts.then(|| {
                    after
                        .split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next()
                })?
            });
            let is_empty = |name: &str| {
                empty
                    .iter()
                    .any(|word| name.ends_with(word) || name == word.to_lowercase())
            };
            if declared.is_some_and(is_empty) {
                wrong.push(format!("{}:{number}: {line}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_has_one_subject() {
    // ~600 lines ask for a split; here is where asking ends. Tests at the end do not count.
    const MOST: usize = 800;
    let long: Vec<String> = members()
        .iter()
        .flat_map(|member| files(&member.join("src"), "rs"))
        .map(|file| {
            let text = read(&file);
            let lines = text
                .lines()
                .take_while(|line| !line.starts_with("#[cfg(test)]"))
                .count();
            (file, lines)
        })
        .filter(|(_, lines)| *lines > MOST)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert!(
        long.is_empty(),
        "split these by meaning:\n{}",
        long.join("\n")
    );
}

/// `(name, version, source)` of every package in the lock file.
fn locked() -> Vec<(String, String, Option<String>)> {
    let text = read(&root().join("Cargo.lock"));
    let value = |block: &str, key: &str| {
        block.lines().find_map(|line| {
            line.strip_prefix(key)?
                .strip_prefix(" = \"")?
                .strip_suffix('"')
                .map(str::to_owned)
        })
    };
    text.split("[[package]]\n")
        .skip(1)
        .map(|block| {
            let field = |key| value(block, key).expect("every package has a name and a version");
            (field("name"), field("version"), value(block, "source"))
        })
        .collect()
}

#[test]
fn packages_come_from_one_registry() {
    let other: Vec<_> = locked()
        .into_iter()
        .filter(|(_, _, source)| {
            source.as_deref().is_some_and(|source| {
                source != "registry+https://github.com/rust-lang/crates.io-index"
            })
        })
        .collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn nothing_that_takes_long_is_built_twice() {
    // Only what is built for somebody: two versions of these cost minutes and megabytes.
    let large = [
        "clap",
        "hyper",
        "jiff",
        "proptest",
        "regex",
        "regex-automata",
        "reqwest",
        "ring",
        "rusqlite",
        "rustls",
        "serde",
        "serde_json",
        "similar",
        "tokio",
        "toml_edit",
        "zstd",
    ];
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in tree(["--workspace".to_owned()]).lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions
                .entry(name.to_owned())
                .or_default()
                .insert(version.to_owned());
        }
    }
    let twice: Vec<_> = versions
        .into_iter()
        .filter(|(name, versions)| large.contains(&name.as_str()) && versions.len() > 1)
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
}
