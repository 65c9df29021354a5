//! Which commands change what others see.

use super::Command;

impl Command {
    /// Whether carrying it out may change the store, the settings or the keyring: then whoever
    /// supervises has to look again, and windows show something old. Files that the user asked for are
    /// not meant, nor that a proposal was looked at.
    #[must_use]
    pub const fn writes(&self) -> bool {
        match self {
            Self::ProposalAdopt(input) => !input.plan_only,
            Self::Rollback(input) => !input.plan_only,
            Self::SleepSchedule(input) => !input.plan_only,
            Self::DataPurge(input) => input.apply,
            Self::DataRestore(input) => input.apply,
            Self::Import(input) => input.apply,
            Self::SleepRun(_)
            | Self::SleepUnschedule(_)
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::ProjectAdd(_)
            | Self::ProjectRemove(_)
            | Self::ProjectMove(_)
            | Self::ProposalReject(_)
            | Self::ProposalReopen(_)
            | Self::NightCancel(_)
            | Self::NightPause(_)
            | Self::NightStart(_)
            | Self::BackendAccept(_)
            | Self::BackendUse(_)
            | Self::KeySet(_)
            | Self::KeyRemove(_)
            | Self::HandoffAnswer(_)
            | Self::ConfigSet(_)
            | Self::DataMove(_)
            | Self::DataCopy(_)
            | Self::DataRemoveOld(_) => true,
            Self::SleepDryRun(_)
            | Self::SleepStatus(_)
            | Self::SleepHarvest(_)
            | Self::Status(_)
            | Self::ProjectList(_)
            | Self::ProjectFind(_)
            | Self::ProposalList(_)
            | Self::ProposalShow(_)
            | Self::NightList(_)
            | Self::NightShow(_)
            | Self::NightRecord(_)
            | Self::BackendList(_)
            | Self::BackendTest(_)
            | Self::BackendServers(_)
            | Self::Spend(_)
            | Self::KeyList(_)
            | Self::Handoff(_)
            | Self::ConfigShow(_)
            | Self::ConfigExplain(_)
            | Self::ConfigPrompts(_)
            | Self::Doctor(_)
            | Self::Log(_)
            | Self::ReportShow(_)
            | Self::ReportExport(_)
            | Self::Demo(_)
            | Self::Experiment(_)
            | Self::DataSize(_)
            | Self::DataExport(_) => false,
        }
    }

    /// Whether it may end what kept a night from getting through and only a person can end: a setting, a key,
    /// a consent. (That a backend answers shows that it has ended, and `backend test` writes that down itself.)
    #[must_use]
    pub const fn mends(&self) -> bool {
        match self {
            Self::Import(input) => input.apply,
            other => matches!(
                other,
                Self::ConfigSet(_)
                    | Self::BackendAccept(_)
                    | Self::BackendUse(_)
                    | Self::KeySet(_)
                    | Self::KeyRemove(_)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ImportInput;

    #[test]
    fn settings_that_are_taken_over_may_mend_and_those_that_are_only_shown_may_not() {
        for apply in [true, false] {
            let command = Command::Import(ImportInput { from: None, apply });
            assert_eq!((command.mends(), command.writes()), (apply, apply));
        }
    }
}
