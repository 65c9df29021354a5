//! The one list of commands. CLI, tray, window and MCP are derived from it; a command that is missing
//! in one of them does not compile there.

mod writes;

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_store::scheduled;

use crate::context::App;
use crate::supervisor;

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal : $input:ty => $output:ty = $run:path;)+) => {
        /// A command with its input.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "command", content = "input")]
        pub enum Command {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant($input),)+
        }

        /// What a command gives. Serialises as the output alone.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Output {
            $($(#[doc = $doc])+ $variant($output),)+
        }

        /// The name of every command.
        pub const NAMES: &[&str] = &[$($name),+];

        impl Command {
            /// The command's name, as in [`NAMES`].
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }
        }

        /// Tells the types of every command; a type that is unknown to TypeScript does not compile here.
        #[cfg(feature = "typescript")]
        pub(crate) fn describe(interface: &mut crate::typescript::Interface) {
            $(interface.command::<$input, $output>($name, concat!($($doc),+).trim());)+
        }

        /// Carries out a command; whoever supervises looks again when it may have written something.
        pub async fn execute(app: &App, command: Command) -> Result<Output, Problem> {
            let (mends, writes) = (command.mends(), command.writes());
            let output = match command {
                $(Command::$variant(input) => $run(app, input).await.map(Output::$variant),)+
            };
            if mends && output.is_ok() {
                app.store.commit("mended", |tx| scheduled::mended(tx, None, ""))?;
            }
            // Also after what failed: some of it may be done.
            if writes {
                supervisor::look_again(app);
            }
            output
        }
    };
}

commands! {
    /// Run a night, or go on with the one that was stopped.
    SleepRun "sleep run": crate::sleep::RunInput => Box<crate::sleep::RunOutput> = crate::sleep::run;
    /// Show what a night would do, at no cost.
    SleepDryRun "sleep dry-run": crate::sleep::DryRunInput => Box<crate::sleep::Preview> = crate::sleep::dry_run;
    /// Show where a project stands.
    SleepStatus "sleep status": crate::project::Which => Box<crate::sleep::Status> = crate::sleep::status;
    /// List what a night would read.
    SleepHarvest "sleep harvest": crate::sleep::HarvestInput => Box<crate::sleep::Harvested> = crate::sleep::harvest;
    /// Let the system run the night every day.
    SleepSchedule "sleep schedule": crate::schedule::ScheduleInput => crate::schedule::Scheduled = crate::schedule::schedule;
    /// Take a project off the schedule.
    SleepUnschedule "sleep unschedule": crate::schedule::UnscheduleInput => crate::schedule::Scheduled = crate::schedule::unschedule;
    /// Show what runs, what comes next, and what waits.
    Status "status": crate::Nothing => Box<crate::supervisor::SupervisorState> = crate::supervisor::commands::status;
    /// Let no night begin by itself for a while.
    Pause "pause": crate::supervisor::commands::PauseInput => crate::supervisor::commands::PauseOutput = crate::supervisor::commands::pause;
    /// End the pause.
    Resume "resume": crate::Nothing => crate::supervisor::commands::PauseOutput = crate::supervisor::commands::resume;
    /// List the registered projects.
    ProjectList "project list": crate::Nothing => Vec<crate::project::ProjectRow> = crate::project::list;
    /// Register a project.
    ProjectAdd "project add": crate::project::Which => crate::project::ProjectRow = crate::project::add;
    /// Find agents on this computer, and the folders they were used in.
    ProjectFind "project find": crate::Nothing => crate::discover::Discovered = crate::discover::find;
    /// Take a project off the list; its history stays.
    ProjectRemove "project remove": crate::project::Which => crate::project::ProjectRow = crate::project::remove;
    /// Say where a project's folder is now.
    ProjectMove "project move": crate::project::MoveInput => crate::project::ProjectRow = crate::project::relocate;
    /// List proposals.
    ProposalList "proposal list": crate::proposal::ListInput => Vec<crate::proposal::ProposalRow> = crate::proposal::list;
    /// Show a proposal with its evidence.
    ProposalShow "proposal show": crate::proposal::ShowInput => Box<crate::proposal::Shown> = crate::proposal::show;
    /// Adopt a proposal or some of its rules.
    ProposalAdopt "proposal adopt": crate::proposal::AdoptInput => Box<crate::proposal::AdoptOutput> = crate::proposal::adopt;
    /// Say no, with a reason.
    ProposalReject "proposal reject": crate::proposal::RejectInput => crate::proposal::Rejected = crate::proposal::reject;
    /// Take a no back: the proposal waits again.
    ProposalReopen "proposal reopen": crate::reopen::ReopenInput => crate::reopen::Reopened = crate::reopen::run;
    /// Take an adoption back, byte for byte.
    Rollback "rollback": crate::proposal::RollbackInput => Box<crate::proposal::RolledBack> = crate::proposal::rollback;
    /// List nights.
    NightList "night list": crate::night::ListInput => Vec<crate::night::NightRow> = crate::night::list;
    /// Show a night: stages, spend, tasks, events.
    NightShow "night show": crate::night::ShowInput => Box<crate::night::Shown> = crate::night::show;
    /// End a running night, or one that waits.
    NightCancel "night cancel": crate::night::CancelInput => crate::night::Cancelled = crate::night::cancel;
    /// Stop a running night; the next run goes on with it.
    NightPause "night pause": crate::night::CancelInput => crate::night::Paused = crate::night::pause;
    /// Ask the app or the daemon to run a night in the background.
    NightStart "night start": crate::project::Which => crate::supervisor::commands::Requested = crate::supervisor::commands::start_night;
    /// Save a night's replies, to go through it again without a network.
    NightRecord "night record": crate::night::RecordInput => crate::night::Recorded = crate::night::record;
    /// List the backends and what is missing for each.
    BackendList "backend list": crate::backend::ListInput => Vec<crate::backend::BackendRow> = crate::backend::list;
    /// Ask a backend one tiny question.
    BackendTest "backend test": crate::backend::TestInput => Box<crate::backend::TestOutput> = crate::backend::test;
    /// Agree that nights ask providers by themselves.
    BackendAccept "backend accept": crate::backend::AcceptInput => crate::backend::Accepted = crate::backend::accept;
    /// Let a backend answer from now on, with its address and model.
    BackendUse "backend use": crate::backend::UseInput => crate::backend::Chosen = crate::backend::choose;
    /// Find the model servers of this computer.
    BackendServers "backend servers": crate::backend::ListInput => Vec<skillopt_models::local::LocalServer> = crate::backend::servers;
    /// Say what was spent, by month and project.
    Spend "spend": crate::spend::SpendInput => crate::spend::Spent = crate::spend::spend;
    /// Say whether the keyring can be used, and which keys are in it.
    KeyList "key list": crate::Nothing => crate::key::Kept = crate::key::list;
    /// Keep a key in the keyring.
    KeySet "key set": crate::key::SetInput => crate::key::Kept = crate::key::set;
    /// Remove a key from the keyring.
    KeyRemove "key remove": crate::key::RemoveInput => crate::key::Kept = crate::key::remove;
    /// Show the open hand-off questions.
    Handoff "handoff": crate::project::Which => crate::handoff::Questions = crate::handoff::questions;
    /// Answer an open hand-off question.
    HandoffAnswer "handoff answer": crate::handoff::AnswerInput => crate::handoff::Questions = crate::handoff::answer;
    /// Show every setting and where its value comes from.
    ConfigShow "config show": crate::project::Which => Vec<crate::config::SettingRow> = crate::config::show;
    /// Change a setting in the user's or the project's file.
    ConfigSet "config set": crate::config::SetInput => crate::config::SettingRow = crate::config::set;
    /// Say what a setting does and which layer decided.
    ConfigExplain "config explain": crate::config::ExplainInput => Box<skillopt_settings::Explanation> = crate::config::explain;
    /// Show the words of every prompt, and how to use your own.
    ConfigPrompts "config prompts": crate::project::Which => Box<crate::config::Prompts> = crate::config::prompts;
    /// Check that everything a night needs is there.
    Doctor "doctor": crate::doctor::DoctorInput => crate::doctor::Diagnosis = crate::doctor::doctor;
    /// Show the end of the log.
    Log "log": crate::log::LogInput => crate::log::LogEnd = crate::log::show;
    /// Show what helps others to help, without secrets.
    ReportShow "report show": crate::Nothing => crate::report::Report = crate::report::show;
    /// Write that report into a file.
    ReportExport "report export": crate::report::ExportInput => crate::report::Exported = crate::report::export;
    /// Run a whole night on sample sessions in a temporary home.
    Demo "demo": crate::demo::DemoInput => Box<crate::demo::Demonstration> = crate::demo::demo;
    /// Run an invented user through some nights.
    Experiment "experiment": crate::experiment::ExperimentInput => Box<skillopt_sleep::experiment::Experiment> = crate::experiment::run;
    /// Take over configuration and state of the reference system.
    Import "import": crate::import::ImportInput => crate::import::Imported = crate::import::run;
    /// Say how much space is used.
    DataSize "data size": crate::Nothing => skillopt_store::data::Size = crate::data::size;
    /// Copy all data into a folder.
    DataExport "data export": crate::data::ToInput => crate::data::Done = crate::data::export;
    /// Delete data.
    DataPurge "data purge": crate::data::PurgeInput => crate::data::Purged = crate::data::purge;
    /// Move all data to another folder.
    DataMove "data move": crate::data::ToInput => crate::data::Done = crate::data::relocate;
    /// Keep a copy of the database to go on from.
    DataCopy "data copy": crate::Nothing => crate::data::Done = crate::data::keep_copy;
    /// Put a damaged database aside and go on from a copy.
    DataRestore "data restore": crate::data::RestoreInput => crate::data::Done = crate::data::restore;
    /// Delete what the last move left in its old place.
    DataRemoveOld "data remove-old": crate::Nothing => crate::data::Done = crate::data::remove_old;
}
