//! Which records of each agent tell what happened to an answer.

use skillopt_core::agent::Agent;
use skillopt_core::feedback::Happened;

/// Whether the files of an agent tell that something happened to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It is read from these records.
    Read(&'static str),
    /// It is not known from the files, for this reason.
    Untold(&'static str),
}

/// How it is known from the sessions of an agent that something happened to an answer.
#[must_use]
pub const fn told(agent: Agent, happened: Happened) -> Told {
    match happened {
        Happened::Interrupted => interrupted(agent),
        Happened::ToolRejected => tool_rejected(agent),
        Happened::Resent => resent(agent),
        Happened::Undone => undone(agent),
        Happened::Abandoned => abandoned(agent),
        Happened::Committed => committed(agent),
    }
}

const fn interrupted(agent: Agent) -> Told {
    match agent {
        Agent::Claude => Told::Read(
            "a `user` record with `interruptedMessageId` or the words `[Request interrupted by user`",
        ),
        Agent::Codex => Told::Read("`turn_aborted` with the reason `interrupted`, or without one"),
        Agent::Copilot => Told::Read(
            "`abort` with the reason `user_initiated` or `user_abort`, or without one; \
             not told in the database of sessions without a log",
        ),
        Agent::Vscode => Told::Read("`isCanceled` of a request, or its `modelState.value` 2"),
        Agent::Cursor => Told::Read(
            "`turn_ended` with the status `aborted`; in the editor's database the status `aborted` \
             of a chat, which is that of its last answer",
        ),
        Agent::Pi | Agent::OpenClaw => Told::Read("`stopReason` `aborted` of an answer"),
        Agent::OpenCode => Told::Read("the error `MessageAbortedError` of an answer"),
        Agent::Devin => Told::Untold("no record of an interruption is known"),
    }
}

const fn tool_rejected(agent: Agent) -> Told {
    match agent {
        Agent::Claude => Told::Read(
            "a failed `tool_result` that begins as refusals do, or has `toolDenialKind` \
             `user-rejected`; the words of a person in it are a turn",
        ),
        Agent::Codex => Told::Read(
            "the status `declined` of a command or a patch, or an output that ends in \
             `rejected by user`",
        ),
        Agent::Copilot => Told::Read(
            "`tool.execution_complete` with the error code `rejected`, or `permission.completed` \
             with `denied-interactively-by-user`; not told in the database",
        ),
        Agent::Vscode => Told::Read(
            "`isConfirmed` of a tool call: `false`, or a reason of type 0 (refused) or 5 (left out)",
        ),
        Agent::Cursor => Told::Read(
            "in the editor's database `userDecision`, the status, `additionalData.status`, the \
             result or the error of a tool call; agent transcripts have no results",
        ),
        Agent::Pi => Told::Untold("Pi asks nobody before it calls a tool"),
        Agent::OpenCode => Told::Read(
            "the error of a tool call that says so, except in `opencode run`, where nobody is asked",
        ),
        Agent::OpenClaw => {
            Told::Read("what the program tells the agent next: `Exec denied (…, user-denied)`")
        }
        Agent::Devin => Told::Read("the result of a call with `failure_reason` `Rejected`"),
    }
}

const fn resent(agent: Agent) -> Told {
    match agent {
        Agent::Claude => Told::Read("a prompt with the `parentUuid` of an earlier one"),
        Agent::Codex | Agent::Copilot | Agent::Cursor | Agent::OpenCode => Told::Read(
            "much the same words right after a turn that was stopped, refused or taken back",
        ),
        Agent::Vscode => Told::Read(
            "in the log of changes, a request in the place of another; it is lost when the editor \
             writes the whole session anew",
        ),
        Agent::Pi | Agent::OpenClaw => {
            Told::Read("a prompt that follows the same entry as an earlier one beside it")
        }
        Agent::Devin => Told::Read("a prompt that follows the same node as an earlier one"),
    }
}

const fn undone(agent: Agent) -> Told {
    match agent {
        Agent::Claude => Told::Read("turns behind a prompt that was sent again in its own place"),
        Agent::Codex => Told::Read("`thread_rolled_back`, or `undo_completed` with `success`"),
        Agent::Copilot => Told::Read("`session.snapshot_rewind`; not told in the database"),
        Agent::Vscode => Told::Read(
            "`shouldBeRemovedOnSend` of a request, and requests that the log of changes takes away",
        ),
        Agent::Cursor => Told::Read(
            "in the editor's database `currentBubbleId` of a chat, until the chat goes on and the \
             editor deletes what was taken back",
        ),
        Agent::Pi | Agent::OpenClaw => {
            Told::Read("turns behind a prompt that was sent again, on the way that was left")
        }
        Agent::OpenCode => Told::Read(
            "`revert` of a session, until the session goes on and OpenCode deletes what was taken \
             back",
        ),
        Agent::Devin => Told::Read(
            "turns behind a prompt that was sent again, on the branch that was left, the last try \
             of each",
        ),
    }
}

const fn abandoned(agent: Agent) -> Told {
    match agent {
        Agent::Claude
        | Agent::Codex
        | Agent::Copilot
        | Agent::Vscode
        | Agent::Cursor
        | Agent::Pi
        | Agent::OpenCode
        | Agent::OpenClaw
        | Agent::Devin => Told::Read(
            "the session ends with a turn that was stopped or refused, or with tool calls and no \
             words after them",
        ),
    }
}

const fn committed(agent: Agent) -> Told {
    match agent {
        Agent::Claude => Told::Read("a `Bash` call of `git commit` whose result is no error"),
        Agent::Codex => Told::Read(
            "a call of `git commit` whose output, or the record of the command, has the exit code 0",
        ),
        Agent::Copilot => Told::Read(
            "a call of `git commit` whose `tool.execution_complete` is a success with the exit code \
             0; not told in the database",
        ),
        Agent::Vscode => Told::Read(
            "a terminal tool call of `git commit` with `terminalCommandState.exitCode` 0",
        ),
        Agent::Cursor => Told::Read(
            "in the editor's database a completed terminal call of `git commit` without another \
             exit code than 0; in agent transcripts, which have no results, the call alone",
        ),
        Agent::Pi => Told::Read("a `bash` call of `git commit` whose result is no error"),
        Agent::OpenCode => Told::Read("a `bash` call of `git commit` with `metadata.exit` 0"),
        Agent::OpenClaw => Told::Read(
            "an `exec` call of `git commit` whose result is no error and has no other exit code \
             than 0",
        ),
        Agent::Devin => Told::Read(
            "an `exec` call of `git commit` whose result is a success with no other exit code than \
             0",
        ),
    }
}
