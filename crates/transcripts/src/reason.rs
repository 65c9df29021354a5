//! Why something in a transcript is not mined.

use serde::{Deserialize, Serialize};

use crate::session::Author;

/// What a [`Reason`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Whole files.
    File,
    /// Whole sessions.
    Session,
    /// Human turns.
    Turn,
    /// Lines of a file.
    Record,
}

impl Unit {
    /// What a person calls one of them.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Record => "record",
        }
    }
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident, $id:literal, $unit:ident, $sentence:literal;)+) => {
        /// Why a file, a session, a turn or a record is left out.
        ///
        /// Ids are stable: they are stored with the index and shown under `--json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Reason {
            $($(#[doc = $doc])+ #[serde(rename = $id)] $name,)+
        }

        impl Reason {
            /// Every reason, from files down to records.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable name used in rows and `--json`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What one count of it stands for.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)+ }
            }

            /// One sentence for a person.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)+ }
            }
        }
    };
}

reasons! {
    /// The file's path matches an exclude.
    ExcludedFile, "excluded_file", File, "You excluded this transcript file.";
    /// The file was gone when it was opened.
    Vanished, "vanished", File, "The file was deleted while the transcripts were being read.";
    /// The system refused to open or read it.
    Unreadable, "unreadable", File, "The file could not be opened or read.";
    /// It is a device, a pipe or a socket.
    NotAFile, "not_a_file", File, "This is not an ordinary file.";
    /// A folder was met a second time, or lies too deep.
    FolderLoop, "folder_loop", File, "The folder leads back to itself or lies too deep.";
    /// The same file was met under another name.
    SameFile, "same_file", File, "The same file was already met under another name.";
    /// A compressed file does not decompress.
    BrokenCompression, "broken_compression", File, "The compressed file is damaged; what came before the damage was read.";
    /// A compressed file grows beyond what is read of one file.
    TooMuch, "too_much", File, "The compressed file grows beyond what is read of one file; its beginning was read.";
    /// Another program holds a database, or changes it while it is read.
    BusyDatabase, "busy_database", File, "Another program is using this database; it is read next time.";
    /// A database that SQLite cannot read.
    DamagedDatabase, "damaged_database", File, "This database is damaged, or no database.";
    /// A database without the tables and columns that are read.
    UnknownSchema, "unknown_schema", File, "This database is laid out in a way this version does not know.";
    /// A session in a form that no reader here knows.
    UnreadForm, "unread_form", File, "This file holds a session in a form that is not read.";
    /// The file belongs to a sub-agent.
    SubagentFile, "subagent_file", File, "A sub-agent wrote this file; nobody typed in it.";

    /// A call of ours that the agent recorded.
    OwnCall, "own_call", Session, "This session is one of our own calls.";
    /// A call of another optimizer that the agent recorded.
    EngineCall, "engine_call", Session, "A program made this session, not a person: it asks for a graded or replayed task.";
    /// A session of a memory observer or another automatic companion.
    AgentSession, "agent_session", Session, "An automatic companion made this session, not a person.";
    /// The session belongs to a sub-agent.
    Subagent, "subagent", Session, "A sub-agent's session; nobody typed in it.";
    /// Nobody typed anything in it.
    NoHumanTurn, "no_human_turn", Session, "Nobody typed anything in this session.";
    /// None of its turns were typed in the project.
    OtherProject, "other_project", Session, "This session belongs to another project.";
    /// Its last turn lies before the asked time.
    BeforeSince, "before_since", Session, "This session ended before the time asked for.";

    /// The user removed it in the agent, which keeps it all the same.
    RemovedSession, "removed_session", Session, "You removed this session in the agent.";
    /// A store holds more sessions than are read of one store.
    TooManySessions, "too_many_sessions", Session, "The store holds more sessions than are read of one; the newest were read.";

    /// A copy of a turn that another session, or an earlier line, owns.
    Copy, "copy", Turn, "A resumed or forked copy of a turn that is counted elsewhere.";
    /// Only the agent's list of prompts still has it.
    OnlyInHistory, "only_in_history", Turn, "The session of this prompt is gone; only the agent's list of prompts still has it, without the answer.";
    /// On a branch of the session that the person left for another one.
    AbandonedBranch, "abandoned_branch", Turn, "You went back before this turn and went on another way.";
    /// Somebody else wrote it, in a chat of several people.
    OtherPerson, "other_person", Turn, "In a chat of several people, somebody else may have written this turn.";
    /// Answered by another extension than the agent's.
    OtherExtension, "other_extension", Turn, "Another extension of the editor answered this turn.";
    /// Typed in a folder outside the project.
    OtherDirectory, "other_directory", Turn, "This turn was typed in a folder outside the project.";
    /// Typed in an excluded folder.
    ExcludedDirectory, "excluded_directory", Turn, "This turn was typed in a folder you excluded.";
    /// Everything in it was marked private.
    Private, "private", Turn, "Everything in this turn was marked as private.";
    /// Nothing but an image, or nothing at all.
    Wordless, "wordless", Turn, "This turn has no words.";
    /// The session has more text than is kept of one session.
    BeyondLimit, "beyond_limit", Turn, "This session is longer than what is kept of one session.";

    /// A record of a sub-agent inside the session's file.
    Sidechain, "sidechain", Record, "A sub-agent's record inside the session.";
    /// Text the agent's program added for the model.
    Meta, "meta", Record, "Text that the program added for the model.";
    /// A copy of what went over the wire.
    RequestCopy, "request_copy", Record, "A copy of a request that went over the wire.";
    /// The summary that replaces a long conversation.
    Compaction, "compaction", Record, "The summary that replaces a long conversation.";
    /// The note that the user interrupted the agent; it marks the turn before it.
    Interruption, "interruption", Record, "The note that you interrupted the agent; it counts as a complaint about the turn before.";
    /// A slash command.
    SlashCommand, "slash_command", Record, "A slash command, not a request.";
    /// A local command or its output.
    LocalCommand, "local_command", Record, "A command that ran locally, or its output.";
    /// What a tool returned.
    ToolResult, "tool_result", Record, "What a tool returned.";
    /// Instructions and surroundings that the program put before the request.
    Context, "context", Record, "Instructions and surroundings that the program added.";
    /// A prompt that a program, not a person, gave.
    MachinePrompt, "machine_prompt", Record, "A program gave this prompt, not a person.";
    /// An error of the provider in the place of an answer.
    ApiError, "api_error", Record, "An error of the provider in the place of an answer.";
    /// Another form of a message that was counted already.
    OtherForm, "other_form", Record, "Another form of a message that was counted already.";
    /// State of the program: modes, costs, snapshots, reasoning.
    Bookkeeping, "bookkeeping", Record, "Bookkeeping of the agent's program.";
    /// A record of a type this version does not know.
    UnknownType, "unknown_type", Record, "A record of a type this version does not know.";
    /// The line is no JSON, or not of the expected shape.
    Malformed, "malformed", Record, "The line is damaged.";
    /// The line is JSON, but no object.
    NotAnObject, "not_an_object", Record, "The line is not a record.";
    /// The line is longer than what is read of one line.
    LineTooLong, "line_too_long", Record, "The line is longer than what is read of one line.";
    /// A value in a database is larger than what is read of one.
    ValueTooLong, "value_too_long", Record, "The value is larger than what is read of one value.";
    /// The last line is still being written.
    HalfWritten, "half_written", Record, "The last line is still being written; it is read next time.";
    /// Bytes that are no text were replaced; the record is used all the same.
    Repaired, "repaired", Record, "Bytes that are no text were replaced; the record is used.";
}

impl Reason {
    /// Who wrote a record that is left out for this reason, where it is a turn of somebody else than
    /// the person and the agent.
    pub(crate) const fn author(self) -> Option<Author> {
        match self {
            Self::ToolResult => Some(Author::Tool),
            Self::Context | Self::Compaction => Some(Author::System),
            Self::Meta | Self::MachinePrompt => Some(Author::Generated),
            Self::ExcludedFile
            | Self::Vanished
            | Self::Unreadable
            | Self::NotAFile
            | Self::FolderLoop
            | Self::SameFile
            | Self::BrokenCompression
            | Self::TooMuch
            | Self::BusyDatabase
            | Self::DamagedDatabase
            | Self::UnknownSchema
            | Self::UnreadForm
            | Self::SubagentFile
            | Self::OwnCall
            | Self::EngineCall
            | Self::AgentSession
            | Self::Subagent
            | Self::NoHumanTurn
            | Self::OtherProject
            | Self::BeforeSince
            | Self::RemovedSession
            | Self::TooManySessions
            | Self::Copy
            | Self::OnlyInHistory
            | Self::AbandonedBranch
            | Self::OtherPerson
            | Self::OtherExtension
            | Self::OtherDirectory
            | Self::ExcludedDirectory
            | Self::Private
            | Self::Wordless
            | Self::BeyondLimit
            | Self::Sidechain
            | Self::RequestCopy
            | Self::Interruption
            | Self::SlashCommand
            | Self::LocalCommand
            | Self::ApiError
            | Self::OtherForm
            | Self::Bookkeeping
            | Self::UnknownType
            | Self::Malformed
            | Self::NotAnObject
            | Self::LineTooLong
            | Self::ValueTooLong
            | Self::HalfWritten
            | Self::Repaired => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_every_sentence_is_one() {
        let mut ids: Vec<&str> = Reason::ALL.iter().map(|reason| reason.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Reason::ALL.len());
        for reason in Reason::ALL {
            assert!(reason.sentence().ends_with('.'), "{reason:?}");
            let json = serde_json::to_string(reason).unwrap();
            assert_eq!(json, format!("\"{}\"", reason.id()));
        }
    }
}
