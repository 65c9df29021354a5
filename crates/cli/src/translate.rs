//! From words to commands of the app.

use std::path::PathBuf;

use skillopt_app::commands::Command;
use skillopt_app::scheduled::Scheduled;
use skillopt_app::supervisor::commands::PauseInput;
use skillopt_app::{
    Nothing, backend, config, data, demo, doctor, experiment, handoff, import, key, log, night,
    project, proposal, reopen, report, schedule, sleep, spend,
};
use skillopt_core::document::TargetKind;

use crate::args::{
    Backend, Config, Data, EveryCommand, Handoff, Key, Night, Project, Proposal, Report, Sleep,
    Verb,
};

/// What the words ask for.
pub(crate) enum Asked {
    /// A command of the app.
    Command(Command, View),
    /// Start nights until it is stopped, or those that are due.
    Daemon {
        /// Only those that are due.
        once: bool,
    },
    /// A key to keep under this name; the key itself is never a word.
    KeyToKeep(String),
    /// Completions of a shell.
    Completions(clap_complete::Shell),
    /// The page of the manual of the command these words lead to.
    Man(Vec<String>),
    /// Words that contradict each other.
    Wrong(&'static str),
}

/// How an output is shown, beyond what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// As usual.
    Usual,
    /// Only the differences of a proposal.
    Diff,
    /// Digests as JSON lines.
    Digests,
    /// Fail unless the experiment improves.
    AssertImproves,
    /// Of everything, also what was decided.
    All,
}

pub(crate) fn translate(verb: Verb, common: &EveryCommand) -> Asked {
    let project = common.project.clone();
    let which = || project::Which {
        project: project.clone(),
    };
    let usual = |command| Asked::Command(command, View::Usual);
    match verb {
        Verb::Sleep(verb) => sleep_command(verb, project),
        Verb::Daemon { once } => Asked::Daemon { once },
        Verb::Status => usual(Command::Status(Nothing {})),
        Verb::Pause { until } => usual(Command::Pause(PauseInput { until })),
        Verb::Resume => usual(Command::Resume(Nothing {})),
        Verb::Project(verb) => usual(match verb {
            Project::List => Command::ProjectList(Nothing {}),
            Project::Add => Command::ProjectAdd(which()),
            Project::Find => Command::ProjectFind(Nothing {}),
            Project::Remove => Command::ProjectRemove(which()),
            Project::Move { project_id, to } => Command::ProjectMove(project::MoveInput {
                project: project_id,
                to,
            }),
        }),
        Verb::Proposal(verb) => proposal_command(verb, project),
        Verb::Rollback { id, plan } => usual(Command::Rollback(proposal::RollbackInput {
            id,
            project,
            plan_only: plan,
        })),
        Verb::Night(verb) => usual(match verb {
            Night::List { everywhere, limit } => Command::NightList(night::ListInput {
                project,
                everywhere,
                limit,
            }),
            Night::Show { id, events } => Command::NightShow(night::ShowInput {
                id,
                project,
                events,
            }),
            Night::Start => Command::NightStart(which()),
            Night::Record { id, to } => {
                Command::NightRecord(night::RecordInput { id, project, to })
            }
            Night::Resume => Command::SleepRun(sleep::RunInput {
                project,
                resume: true,
                ..sleep::RunInput::default()
            }),
            Night::Pause { id } => Command::NightPause(night::CancelInput { id, project }),
            Night::Cancel { id } => Command::NightCancel(night::CancelInput { id, project }),
        }),
        Verb::Backend(verb) => usual(match verb {
            Backend::List => Command::BackendList(backend::ListInput { project }),
            Backend::Test { name } => Command::BackendTest(backend::TestInput {
                project,
                backend: name,
            }),
            Backend::Accept { providers } => {
                Command::BackendAccept(backend::AcceptInput { project, providers })
            }
            Backend::Use {
                name,
                endpoint,
                model,
                api_key_env,
                for_project,
            } => Command::BackendUse(backend::UseInput {
                backend: name,
                endpoint,
                model,
                api_key_env,
                for_project,
                project,
            }),
            Backend::Servers => Command::BackendServers(backend::ListInput { project }),
        }),
        Verb::Log { lines } => usual(Command::Log(log::LogInput { lines })),
        Verb::Report(Report::Show) => usual(Command::ReportShow(Nothing {})),
        Verb::Report(Report::Export { to, replace }) => {
            usual(Command::ReportExport(report::ExportInput { to, replace }))
        }
        Verb::Spend { everywhere, months } => usual(Command::Spend(spend::SpendInput {
            project,
            everywhere,
            months,
        })),
        Verb::Key(Key::Set { name }) => Asked::KeyToKeep(name),
        Verb::Key(Key::List) => usual(Command::KeyList(Nothing {})),
        Verb::Key(Key::Remove { name }) => usual(Command::KeyRemove(key::RemoveInput { name })),
        Verb::Handoff { verb: None } => usual(Command::Handoff(which())),
        Verb::Handoff {
            verb: Some(Handoff::Answer { id, file }),
        } => usual(Command::HandoffAnswer(handoff::AnswerInput {
            project,
            id,
            answer: None,
            file: Some(file),
        })),
        Verb::Config(verb) => usual(match verb {
            Config::Show => Command::ConfigShow(which()),
            Config::Set {
                key,
                value,
                for_project,
            } => Command::ConfigSet(config::SetInput {
                key,
                value,
                for_project,
                project,
            }),
            Config::Prompts => Command::ConfigPrompts(which()),
            Config::Explain { key } => {
                Command::ConfigExplain(config::ExplainInput { key, project })
            }
        }),
        Verb::Doctor { as_scheduled } => usual(Command::Doctor(doctor::DoctorInput {
            project,
            as_scheduled,
        })),
        Verb::Demo { folder } => usual(Command::Demo(demo::DemoInput { folder })),
        Verb::Experiment {
            persona,
            nights,
            limit_tasks,
            assert_improves,
        } => {
            let input = experiment::ExperimentInput {
                persona,
                nights,
                limit_tasks,
            };
            let view = if assert_improves {
                View::AssertImproves
            } else {
                View::Usual
            };
            Asked::Command(Command::Experiment(input), view)
        }
        Verb::Import { from, yes } => {
            usual(Command::Import(import::ImportInput { from, apply: yes }))
        }
        Verb::Data(verb) => usual(match verb {
            Data::Size => Command::DataSize(Nothing {}),
            Data::Export { to } => Command::DataExport(data::ToInput { to }),
            Data::Purge {
                evidence,
                everything,
                yes,
            } => Command::DataPurge(data::PurgeInput {
                project,
                evidence,
                everything,
                apply: yes,
            }),
            Data::Copy => Command::DataCopy(Nothing {}),
            Data::Restore { from, yes } => {
                Command::DataRestore(data::RestoreInput { from, apply: yes })
            }
            Data::Move { to: Some(to), .. } => Command::DataMove(data::ToInput { to }),
            Data::Move { to: None, .. } => Command::DataRemoveOld(Nothing {}),
        }),
        Verb::Completions { shell } => Asked::Completions(shell),
        Verb::Man { command } => Asked::Man(command),
    }
}

fn sleep_command(verb: Sleep, project: Option<PathBuf>) -> Asked {
    let usual = |command| Asked::Command(command, View::Usual);
    match verb {
        Sleep::Run {
            request: Some(request),
            ..
        } => match serde_json::from_str(&request) {
            Ok(input) => usual(Command::SleepRun(input)),
            Err(_) => Asked::Wrong("The request is not one of the supervisor's."),
        },
        Sleep::Run {
            night, scheduled, ..
        } => usual(Command::SleepRun(sleep::RunInput {
            project,
            tasks_file: night.tasks_file,
            again: night.again,
            scheduled: scheduled.then(Scheduled::default),
            ..sleep::RunInput::default()
        })),
        Sleep::DryRun { full: true, night } => usual(Command::SleepRun(sleep::RunInput {
            project,
            tasks_file: night.tasks_file,
            rehearsal: true,
            again: night.again,
            ..sleep::RunInput::default()
        })),
        Sleep::DryRun { full: false, night } => usual(Command::SleepDryRun(sleep::DryRunInput {
            project,
            tasks_file: night.tasks_file,
            again: night.again,
        })),
        Sleep::Status => usual(Command::SleepStatus(project::Which { project })),
        Sleep::Adopt {
            staging,
            skill,
            all_skills,
            legacy,
            how,
        } => {
            let modes =
                usize::from(!skill.is_empty()) + usize::from(all_skills) + usize::from(legacy);
            if modes > 1 {
                return Asked::Wrong("Choose one of --skill, --all-skills and --legacy.");
            }
            if skill.iter().any(|name| name.trim().is_empty()) {
                return Asked::Wrong("A name given with --skill is blank.");
            }
            // The reference names a folder; its last part is the proposal's id.
            let id = staging.map(|staging| {
                staging
                    .trim_end_matches(['/', '\\'])
                    .rsplit(['/', '\\'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            });
            usual(Command::ProposalAdopt(proposal::AdoptInput {
                id,
                project,
                targets: skill
                    .into_iter()
                    .map(|name| name.trim().to_owned())
                    .collect(),
                kind: all_skills.then_some(TargetKind::Skill),
                rules: how.rules,
                plan_only: how.plan,
                confirm_flags: how.confirm_flags,
                validate: how.validate,
            }))
        }
        Sleep::Harvest {
            all_time,
            digests,
            output,
        } => Asked::Command(
            Command::SleepHarvest(sleep::HarvestInput {
                project,
                all_time,
                digests,
                output,
            }),
            if digests { View::Digests } else { View::Usual },
        ),
        Sleep::Schedule { plan } => match std::env::current_exe() {
            Ok(program) => usual(Command::SleepSchedule(schedule::ScheduleInput {
                project,
                plan_only: plan,
                program,
            })),
            Err(_) => {
                Asked::Wrong("The path of this program is not known, so it cannot be scheduled.")
            }
        },
        Sleep::Unschedule { all } => usual(Command::SleepUnschedule(schedule::UnscheduleInput {
            project,
            all,
        })),
    }
}

fn proposal_command(verb: Proposal, project: Option<PathBuf>) -> Asked {
    let show = |id, project| Command::ProposalShow(proposal::ShowInput { id, project });
    match verb {
        Proposal::List { all, everywhere } => Asked::Command(
            Command::ProposalList(proposal::ListInput {
                project,
                all,
                everywhere,
            }),
            if all { View::All } else { View::Usual },
        ),
        Proposal::Show { id } => Asked::Command(show(id, project), View::Usual),
        Proposal::Diff { id } => Asked::Command(show(id, project), View::Diff),
        Proposal::Adopt { id, targets, how } => Asked::Command(
            Command::ProposalAdopt(proposal::AdoptInput {
                id,
                project,
                targets,
                kind: None,
                rules: how.rules,
                plan_only: how.plan,
                confirm_flags: how.confirm_flags,
                validate: how.validate,
            }),
            View::Usual,
        ),
        Proposal::Reopen { id } => Asked::Command(
            Command::ProposalReopen(reopen::ReopenInput { id }),
            View::Usual,
        ),
        Proposal::Reject {
            id,
            targets,
            rules,
            reason,
        } => Asked::Command(
            Command::ProposalReject(proposal::RejectInput {
                id,
                project,
                targets,
                rules,
                reason,
            }),
            View::Usual,
        ),
    }
}
