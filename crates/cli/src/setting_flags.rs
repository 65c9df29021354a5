//! Flags that are settings: built from the settings table, at the commands they can matter to.

use clap::builder::Str;
use clap::{Arg, ArgAction, ArgMatches, Command};
use skillopt_core::Problem;
use skillopt_settings::{GROUPS, Kind, ROWS, Replaced, Row};

/// Which settings a command looks at.
enum Groups {
    /// All of them.
    Every,
    /// All that a night can depend on: not how the app looks.
    Night,
    /// Those of these groups.
    Of(&'static [&'static str]),
}

impl Groups {
    fn has(&self, row: &Row) -> bool {
        match self {
            Self::Every => true,
            Self::Night => row.group() != "desktop",
            Self::Of(groups) => groups.contains(&row.group()),
        }
    }
}

/// What a test of chosen rules on held-out tasks depends on.
const VALIDATION: Groups = Groups::Of(&["replays", "models", "gate", "spends"]);

/// The commands that take settings, by their words after the program's name.
const COMMANDS: &[(&[&str], Groups)] = &[
    (&["sleep", "run"], Groups::Night),
    (&["sleep", "dry-run"], Groups::Night),
    (
        &["sleep", "harvest"],
        Groups::Of(&["reads", "mines", "splits", "replays", "changes", "privacy"]),
    ),
    (&["sleep", "status"], Groups::Of(&["schedule"])),
    (&["sleep", "schedule"], Groups::Night),
    (&["sleep", "adopt"], VALIDATION),
    (&["proposal", "adopt"], VALIDATION),
    (&["night", "resume"], Groups::Night),
    (&["night", "record"], Groups::Of(&["models"])),
    (&["backend", "list"], Groups::Of(&["models", "spends"])),
    (&["backend", "test"], Groups::Of(&["models", "spends"])),
    (&["backend", "accept"], Groups::Of(&["models"])),
    (&["backend", "servers"], Groups::Of(&["models"])),
    (&["handoff"], Groups::Of(&["models"])),
    (&["config", "show"], Groups::Every),
    (&["config", "explain"], Groups::Every),
    (&["config", "prompts"], Groups::Of(&["models"])),
    (&["doctor"], Groups::Night),
    (
        &["experiment"],
        Groups::Of(&["splits", "replays", "models", "changes", "gate", "spends"]),
    ),
];

/// Gives the commands below `command` their flags; `above` are the words that lead to it.
pub(crate) fn add_to(mut command: Command, above: &[&str]) -> Command {
    for (words, groups) in COMMANDS {
        if let Some(below) = words.strip_prefix(above) {
            command = at(command, below, groups);
        }
    }
    command
}

/// What to say of a flag of the reference for which there is another one, or none any more.
pub(crate) fn of_the_reference(flag: &str) -> Option<Problem> {
    let name = flag.strip_prefix("--")?.replace('-', "_");
    let (sentence, guidance) = match skillopt_settings::of_the_reference(&name)? {
        Replaced::Renamed(row) => (
            format!("There is no flag {flag}; the setting is now {}.", row.key),
            format!("Use --{} where a command takes it.", row.flag),
        ),
        Replaced::Retired(why) => (
            format!("There is no flag {flag}: {why}."),
            "Leave it away; `skillopt config show` lists every setting.".to_owned(),
        ),
    };
    Some(Problem::refused("usage", sentence, guidance))
}

fn at(command: Command, words: &[&str], groups: &Groups) -> Command {
    match words.split_first() {
        Some((first, rest)) => command.mut_subcommand(first, |inner| at(inner, rest, groups)),
        None => ROWS
            .iter()
            .filter(|row| groups.has(row))
            .fold(command, |command, row| command.arg(flag(row))),
    }
}

fn flag(row: &Row) -> Arg {
    let about = GROUPS
        .iter()
        .find(|(group, _)| *group == row.group())
        .map_or("", |(_, about)| about);
    let mut arg = Arg::new(row.flag)
        .long(row.flag)
        .help(row.text.trim())
        .value_name(row.value_name())
        .action(ArgAction::Append)
        .help_heading(format!("Settings, {}: {about}", row.group()))
        .hide_short_help(true);
    if matches!(row.kind, Kind::Bool) {
        // `--auto-adopt` alone means true.
        arg = arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(Str::from("true"));
    }
    if matches!(row.kind, Kind::Number { .. } | Kind::Whole { .. }) {
        arg = arg.allow_negative_numbers(true);
    }
    arg
}

/// The settings that were given, as `(flag, text)`; `above` as for [`add_to`]. A command that does not
/// take a setting may have a flag of its own by that name.
pub(crate) fn given(matches: &ArgMatches, above: &[&str]) -> Vec<(String, String)> {
    let mut leaf = matches;
    let mut words = above.to_vec();
    while let Some((name, inner)) = leaf.subcommand() {
        words.push(name);
        leaf = inner;
    }
    let Some((_, groups)) = COMMANDS.iter().find(|(command, _)| *command == words) else {
        return Vec::new();
    };
    let mut given = Vec::new();
    for row in ROWS.iter().filter(|row| groups.has(row)) {
        if let Ok(Some(values)) = leaf.try_get_many::<String>(row.flag) {
            given.extend(values.map(|value| (row.flag.to_owned(), value.clone())));
        }
    }
    given
}
