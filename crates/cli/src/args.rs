//! The words of the command line, but for the flags that are settings (`setting_flags`).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Improve the skills of coding agents while you sleep.
///
/// A night reads the sessions that Claude Code, Codex, Copilot, Cursor and other agents left on your disk,
/// finds the requests that come back and what you corrected about their answers, and proposes small changes
/// to a skill or memory document, with the score before and after on tasks the changes were not made from. Nothing of yours
/// is changed before you adopt it, and an adoption can be taken back byte for byte.
#[derive(Debug, Parser)]
#[command(
    name = "skillopt",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: EveryCommand,
    #[command(subcommand)]
    pub(crate) command: Verb,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct EveryCommand {
    /// The project's folder, instead of the one you are in.
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON document, also on failure.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show progress even when this is no terminal.
    #[arg(long, global = true)]
    pub(crate) progress: bool,
}

/// The command line when it is called by the reference's name: `skillopt-sleep run`.
#[derive(Debug, Parser)]
#[command(
    name = "skillopt-sleep",
    version,
    about = "The night, by the reference's name: the commands of `skillopt sleep`.",
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct AliasCli {
    #[command(flatten)]
    pub(crate) common: EveryCommand,
    #[command(subcommand)]
    pub(crate) command: Sleep,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// The night: run it, preview it, see where it stands.
    #[command(subcommand)]
    Sleep(Sleep),
    /// Start the nights that are due, until it is stopped.
    Daemon {
        /// Run what is due now, one after the other, and end.
        #[arg(long)]
        once: bool,
    },
    /// Show what runs, what comes next, and what waits for what.
    Status,
    /// Let no night begin by itself for a while.
    Pause {
        /// 1h, 90m, tomorrow, forever, a date, or a date with a time; for ever when left out.
        until: Option<String>,
    },
    /// End the pause.
    Resume,
    /// Registered projects.
    #[command(subcommand)]
    Project(Project),
    /// What nights propose: review, adopt, reject.
    #[command(subcommand)]
    Proposal(Proposal),
    /// Take the newest adoption back, byte for byte.
    Rollback {
        /// Id of the proposal; the newest adopted one when left out.
        id: Option<String>,
        /// Only show what would be written.
        #[arg(long)]
        plan: bool,
    },
    /// Nights: list, show, resume, stop.
    #[command(subcommand)]
    Night(Night),
    /// Backends: which there are, and whether they work.
    #[command(subcommand)]
    Backend(Backend),
    /// Show what was spent, by month and project.
    Spend {
        /// Of every project.
        #[arg(long)]
        everywhere: bool,
        /// At most so many months, the newest.
        #[arg(long, default_value_t = 12, value_name = "N")]
        months: usize,
    },
    /// Keys of model providers, kept in the keyring of the system.
    #[command(subcommand)]
    Key(Key),
    /// Show the questions that wait for an answer (backend `handoff`).
    Handoff {
        /// Answer one of them.
        #[command(subcommand)]
        verb: Option<Handoff>,
    },
    /// Settings: show, change, explain.
    #[command(subcommand)]
    Config(Config),
    /// Check that everything a night needs is there.
    Doctor {
        /// Check with the bare environment a scheduled run has.
        #[arg(long)]
        as_scheduled: bool,
    },
    /// Show the end of the log: what nights printed that the app, the daemon or cron started.
    Log {
        /// At most so many lines.
        #[arg(long, default_value_t = 100, value_name = "N")]
        lines: usize,
    },
    /// What helps others to help: versions, checks, settings, nights and the log, without secrets.
    #[command(subcommand)]
    Report(Report),
    /// Run a whole night on sample sessions in a temporary home; no account needed.
    Demo {
        /// A new folder for the sample, instead of a temporary one.
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Run an invented user through some nights.
    Experiment {
        /// Who: researcher or programmer.
        #[arg(long, default_value = "researcher")]
        persona: String,
        /// At most so many nights.
        #[arg(long, default_value_t = 4, value_name = "N")]
        nights: u32,
        /// Only the first tasks; 0 for all.
        #[arg(long, default_value_t = 0, value_name = "N")]
        limit_tasks: usize,
        /// Fail unless the score improves and the gate keeps the harmful edit out.
        #[arg(long)]
        assert_improves: bool,
    },
    /// Take over configuration and archive of ~/.skillopt-sleep.
    Import {
        /// The folder of the reference system.
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
        /// Do it; otherwise only show what would be taken over.
        #[arg(long)]
        yes: bool,
    },
    /// Our own data: size, copy, deletion, another place.
    #[command(subcommand)]
    Data(Data),
    /// Print the completions of a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a page of the manual.
    Man {
        /// The command it is about, for example `sleep run`; the whole program when left out.
        command: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Keep a key. It is read from standard input, or asked for without showing it.
    Set {
        /// Its name: what `models.api_key_env` says, for example OPENAI_API_KEY.
        name: String,
    },
    /// Show which keys are kept, by name alone.
    List,
    /// Remove a key.
    Remove {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sleep {
    /// Run a night, or go on with the one that was stopped.
    Run {
        #[command(flatten)]
        night: NightFlags,
        /// Only if the night of the schedule has not run yet; for cron.
        #[arg(long)]
        scheduled: bool,
        /// What the supervisor asks for, as JSON.
        #[arg(long, value_name = "JSON", hide = true, conflicts_with_all = ["scheduled", "tasks_file", "again"])]
        request: Option<String>,
    },
    /// Show what a night would do, at no cost.
    DryRun {
        /// Spend like a night and propose nothing, as the reference's dry-run does.
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        night: NightFlags,
    },
    /// Show where the project stands.
    Status,
    /// Adopt the newest proposal.
    Adopt {
        /// Folder or id of the proposal.
        #[arg(long, value_name = "PROPOSAL")]
        staging: Option<String>,
        /// Only this skill, by its name or the id of the document; may be given several times.
        // A setting has the same name, and given values are looked for by it.
        #[arg(id = "chosen_skill", long = "skill", value_name = "NAME")]
        skill: Vec<String>,
        /// All skills, and no memory document.
        #[arg(long)]
        all_skills: bool,
        /// The managed skill and memory documents; in this version there are no others.
        #[arg(long)]
        legacy: bool,
        #[command(flatten)]
        how: AdoptFlags,
    },
    /// List what a night would read.
    Harvest {
        /// Ignore the look-back.
        #[arg(long)]
        all_time: bool,
        /// Print the digest of every session as a JSON line, then what was left out; with --json all of it as one document.
        #[arg(long)]
        digests: bool,
        /// Write a tasks file for review.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Let cron run the night every day.
    Schedule {
        /// Only show the line.
        #[arg(long)]
        plan: bool,
    },
    /// Take the project off the schedule.
    Unschedule {
        /// Every project.
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct NightFlags {
    /// Use the tasks of this file instead of mined ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks_file: Option<PathBuf>,

    /// Look once more at what earlier nights have dealt with.
    #[arg(long, conflicts_with = "tasks_file")]
    pub(crate) again: bool,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AdoptFlags {
    /// Only these rules, by the numbers `proposal show` prints.
    #[arg(long = "rule", value_name = "N", value_delimiter = ',')]
    pub(crate) rules: Vec<usize>,
    /// Only show what would be written.
    #[arg(long)]
    pub(crate) plan: bool,
    /// I have read what the scan flagged and want it.
    #[arg(long)]
    pub(crate) confirm_flags: bool,
    /// Test chosen rules on the held-out tasks first.
    #[arg(long)]
    pub(crate) validate: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    /// List the registered projects.
    List,
    /// Register the project.
    Add,
    /// Find agents on this computer, and the folders they were used in.
    Find,
    /// Take the project off the list; its history stays.
    Remove,
    /// Say where a project's folder is now.
    Move {
        /// Id of the project, or the folder it was in.
        project_id: String,
        /// The folder it is in now.
        to: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Handoff {
    /// Answer an open question with the text of a file.
    Answer {
        /// Id of the question.
        id: String,
        /// The file with the answer.
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Proposal {
    /// List what waits.
    List {
        /// Also what was decided.
        #[arg(long)]
        all: bool,
        /// Of every project.
        #[arg(long)]
        everywhere: bool,
    },
    /// Show a proposal with its evidence.
    Show {
        /// Its id; the newest that waits when left out.
        id: Option<String>,
    },
    /// Show only the differences.
    Diff {
        /// Its id; the newest that waits when left out.
        id: Option<String>,
    },
    /// Adopt it, or some of its rules.
    Adopt {
        /// Its id; the newest that waits when left out.
        id: Option<String>,
        /// Only these documents.
        #[arg(long = "target", value_name = "ID")]
        targets: Vec<String>,
        #[command(flatten)]
        how: AdoptFlags,
    },
    /// Say no, with a reason the optimizer is reminded of.
    Reject {
        /// Its id; the newest that waits when left out.
        id: Option<String>,
        /// Only these documents.
        #[arg(long = "target", value_name = "ID")]
        targets: Vec<String>,
        /// Only these rules.
        #[arg(long = "rule", value_name = "N", value_delimiter = ',')]
        rules: Vec<usize>,
        /// Why.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Take a no back: it waits again.
    Reopen {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Night {
    /// List nights, newest first.
    List {
        /// Of every project.
        #[arg(long)]
        everywhere: bool,
        /// At most so many.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Show a night: stages, spend, verdicts.
    Show {
        /// Its id; the newest when left out.
        id: Option<i64>,
        /// Also its events.
        #[arg(long)]
        events: bool,
    },
    /// Ask the app or the daemon to run a night now, in the background.
    Start,
    /// Save a night's replies in a file that the backend `cassette` answers from.
    Record {
        /// Its id; the newest when left out.
        id: Option<i64>,
        /// The file.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Go on with the night that was stopped.
    Resume,
    /// Stop the running night at its next model call; `resume` or the next run goes on with it.
    Pause {
        /// Its id; the running one when left out.
        id: Option<i64>,
    },
    /// End the running night, or one that waits; it does not go on afterwards.
    Cancel {
        /// Its id; the unfinished one when left out.
        id: Option<i64>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Backend {
    /// List the backends and what is missing for each; no model is asked.
    List,
    /// Ask one tiny question: does it work, how long does it take, what does it cost.
    Test {
        /// Its name; those that a night would use when left out.
        name: Option<String>,
    },
    /// Agree, once, that nights ask a provider by themselves; says first where its terms are.
    Accept {
        /// Providers, for example claude or anthropic:api.anthropic.com; those that a night would ask
        /// when left out.
        providers: Vec<String>,
    },
    /// Let a backend answer from now on. What belonged to another one (address, model, key) is taken
    /// out of the settings.
    Use {
        /// Its name.
        name: String,
        /// Its address, for example http://localhost:8080/v1.
        #[arg(long, value_name = "ADDRESS")]
        endpoint: Option<String>,
        /// Its model.
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
        /// What its key is called, in the keyring or the environment; never the key.
        #[arg(long, value_name = "NAME")]
        api_key_env: Option<String>,
        /// For this project only.
        #[arg(long)]
        for_project: bool,
    },
    /// Find the model servers of this computer and their models.
    Servers,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Report {
    /// Print it; nothing is written or sent.
    Show,
    /// Write it into a file.
    Export {
        /// The file.
        to: PathBuf,
        /// Write over a file that is there.
        #[arg(long)]
        replace: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting and where its value comes from.
    Show,
    /// Change a setting.
    Set {
        /// Its name, for example models.backend.
        key: String,
        /// Its new value; left out, it is taken out of the file.
        value: Option<String>,
        /// Change it for this project only.
        #[arg(long)]
        for_project: bool,
    },
    /// Say what a setting does and which layer decided.
    Explain {
        /// Its name.
        key: String,
    },
    /// Show the words of every prompt, and how to use your own.
    Prompts,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// How much space is used.
    Size,
    /// Copy everything into a new folder.
    Export {
        /// The folder.
        to: PathBuf,
    },
    /// Delete data; without --yes it is only shown.
    ///
    /// What is deleted is chosen by flags: --project FOLDER (everything of one project), --evidence (of
    /// every project, or with --project of that one) or --everything.
    Purge {
        /// Prompts, replies and digests, of one project with --project; verdicts, proposals and backups stay.
        #[arg(long)]
        evidence: bool,
        /// Everything of every project.
        #[arg(long)]
        everything: bool,
        /// Do it.
        #[arg(long)]
        yes: bool,
    },
    /// Keep a copy of the database that `restore` can go on from.
    Copy,
    /// Put a damaged database aside and go on from a copy; without --yes it is only shown.
    Restore {
        /// The copy; the newest sound one when left out.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Do it.
        #[arg(long)]
        yes: bool,
    },
    /// Move everything to a new folder; the old one keeps a copy until it is removed.
    Move {
        /// The folder.
        #[arg(required_unless_present = "remove_old")]
        to: Option<PathBuf>,
        /// Delete what the last move left in its old place.
        #[arg(long, conflicts_with = "to")]
        remove_old: bool,
    },
}
