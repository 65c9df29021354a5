//! Where our readers differ from the reference on purpose: each with its reason.

/// Whose rules are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Those of the page, as it states them.
    Reference,
    /// Those of the page, with every difference.
    Ours,
    /// The same without one of them.
    OursBut(Difference),
}

impl Rules {
    /// Whether these differ from the page in this.
    pub(crate) fn differ(self, difference: Difference) -> bool {
        match self {
            Self::Reference => false,
            Self::Ours => true,
            Self::OursBut(but) => difference != but,
        }
    }
}

/// What is written of a difference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Whose rule, and where it stands.
    pub(crate) rule: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) ours: &'static str,
    pub(crate) why: &'static str,
}

macro_rules! differences {
    ($($name:ident: $rule:literal, $reference:literal, $ours:literal, $why:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Difference {
            $($name,)*
        }

        impl Difference {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            pub(crate) const fn row(self) -> Row {
                match self {
                    $(Self::$name => Row {
                        rule: $rule,
                        reference: $reference,
                        ours: $ours,
                        why: $why,
                    },)*
                }
            }
        }
    };
}

differences! {
    WholeWords:
        "every agent, §3.1 feedback phrases",
        "a phrase counts wherever its letters stand",
        "a phrase counts as whole words, praise behind a negation is none, and there are Chinese ones",
        "\"piano,\" and \"undocumented\" are no complaints, \"not correct\" is no praise (§14.2, 38)";
    OneAnswer:
        "every agent, §1.1 `assistant_finals`, `n_assistant_turns`",
        "every text of the agent is an answer, and every record of it a turn",
        "the last message before the next prompt is the answer; its blocks are one message",
        "what the agent says between two calls answers nothing, and one message may be many records";
    Unasked:
        "every agent, §3.2, §3.3",
        "what the agent says counts, whoever made it",
        "what it does before a person said anything answers nobody; neither does what a command or a program set off, of which only tools, skills and files count",
        "such words are the last answer of another turn to whoever mines them";
    TimesOfTurns:
        "every agent, §1.1 `started_at`, `ended_at`",
        "the texts of the first and the last time in the file",
        "the moments of the first and the last turn, in UTC; one moment alone tells no length",
        "texts with offsets do not compare (§14.1, 2), and bookkeeping is written when nobody is there";
    WhereTyped:
        "every agent, §1.1 `project`, §3.1 project match",
        "the first folder in the file, or a later one that is the project's (Codex), and with it every turn",
        "the folder the agent was in when the first turn was typed; every turn has its own, and is in the project or is not",
        "sessions move between projects and worktrees";
    Redacted:
        "Claude Code, §3.2",
        "words are kept as they stand",
        "secrets are redacted, as for every other agent",
        "they were printed and stored (§14.1, 7 and 8)";
    NulCharacters:
        "Claude Code, §3.2",
        "NUL characters are kept",
        "they are removed, as for every other agent",
        "no program takes them as an argument";
    PrivateSpans:
        "every agent, §3.1",
        "`<private>` is a word like others, and text in tags no prompt",
        "what stands in it is dropped, and the rest of the prompt kept",
        "it is the person's own mark";
    Quick:
        "§3.1 headless replay filter",
        "a session of one short prompt that ended within three seconds is dropped",
        "it is kept",
        "quick answers to short questions of people were dropped";
    VagueHeadings:
        "§3.1 headless replay filter",
        "a session of one prompt with the heading `## TASK`, `## SKILL` or `## OUTPUT FORMAT` is dropped",
        "only with a second sign: it ended within three seconds, or no terminal was there",
        "people write such headings";
    OwnSessions:
        "Codex, §3.3; Cursor, §3.6; Pi, §3.8",
        "the headless filter is not applied to Codex and Cursor, that of agents' sessions to none of them",
        "both are, to every agent",
        "the optimizer's own calls are mined (§14.3, 54)";
    BrokenLine:
        "Claude Code, Codex, §3.1 JSONL",
        "a line of JSON that is no object, or one wrong byte, ends the whole harvest",
        "it costs its own line and is counted",
        "one bad file ended the night (§14.3, 51)";
    Copies:
        "every agent",
        "a message counts in every file that holds it",
        "it counts once, in the session that began first",
        "forks and resumed sessions hold all messages of their parent";
    CopiesOfRequests:
        "Claude Code, §3.2",
        "any record with a `message` is a turn",
        "only records of the types `user` and `assistant` are",
        "`api-request-blob` holds what went over the wire: every prompt again, behind the program's words";
    Sidechains:
        "Claude Code, §3.2",
        "`isSidechain` is not looked at",
        "such records are a sub-agent's",
        "its prompts were written by the agent";
    MetaFlag:
        "Claude Code, §3.2",
        "`isMeta` is not looked at",
        "such records are the program's",
        "texts of skills and notices became prompts";
    Summaries:
        "Claude Code, §3.2",
        "`isCompactSummary` is not looked at",
        "such records are left out, and so are those that begin like a summary in versions without the flag",
        "thirty kilobytes of the agent's words became a prompt";
    Interruptions:
        "Claude Code, §3.2",
        "`[Request interrupted by user]` is a prompt",
        "it marks the turn before it",
        "the program wrote it";
    ToolResults:
        "Claude Code, §3.2",
        "text beside a tool's result is a prompt",
        "a message with results is none",
        "the program wrote it";
    Refusals:
        "Claude Code, §3.2; OpenCode, §3.7",
        "what a person says when refusing a call is lost",
        "it is a prompt",
        "it stands in the call's result, and is the clearest correction there is";
    Reminders:
        "Claude Code, §3.2",
        "every text block is a person's",
        "blocks of the program (`<system-reminder>`) and the editor (`<ide_…>`) are not",
        "they stand beside the words in one message";
    SaysWho:
        "Claude Code, OpenCode, §3.1 meta prompt filter",
        "the shape of a text decides",
        "where records say who gave a prompt (`promptSource`; `synthetic`), that decides; the shape only where none does",
        "people type tags and paths, and programs write plain sentences";
    Queued:
        "Claude Code, §3.2",
        "`attachment` records are not looked at",
        "a `queued_command` of a person is a prompt",
        "what is typed while the agent works is written there alone";
    ApiErrors:
        "Claude Code, §3.2; Pi, §3.8",
        "`isApiErrorMessage`, and `stopReason` `error`, are not looked at",
        "such records are no answer",
        "\"API Error: 500\" was mined as what the agent said";
    ExpandedSkills:
        "Claude Code, §1.1 `skills_used`",
        "only the tool `Skill` names a skill",
        "so does the text of a skill that a slash command put in",
        "skills called by their users were not seen";
    ServerTools:
        "Claude Code, §3.2",
        "blocks of the type `tool_use` are calls",
        "so are `server_tool_use` and `mcp_tool_use`",
        "they are calls";
    TouchedFiles:
        "Claude Code, §3.2 `file-history-snapshot`",
        "the keys of `snapshot` are files",
        "those of `snapshot.trackedFileBackups` are, what `file-history-delta` names, and what the tools wrote that write files",
        "`messageId` is no file";
    HeadIsNoBranch:
        "Claude Code, §1.1 `git_branch`",
        "`HEAD` is a branch",
        "it is none",
        "Claude Code writes it for branches whose name it cannot show";
    LiveSessions:
        "Codex, §3.3",
        "only `archived_sessions` is read",
        "so is `sessions`",
        "of thirteen sessions one was found (§14.3, 54)";
    ThreadId:
        "Codex, §1.1 `session_id`",
        "the name of the file",
        "the id of the thread",
        "archiving moves the file, and forks name the thread";
    BranchKnown:
        "Codex, §3.3",
        "there is no branch",
        "that of `session_meta`",
        "it stands there";
    Forms:
        "Codex, §3.3",
        "every form of a message is a turn",
        "the best form counts: item, event, response item",
        "one message was two prompts (§14.3, 54)";
    MarkedParts:
        "Codex, §3.3",
        "the shape of a text decides",
        "where parts are marked (`content_item_kinds`), the mark decides; completed items are read",
        "today's versions say what a person typed";
    InjectedParts:
        "Codex, §3.3",
        "a message is sanitised as one text, by two openings",
        "each of its parts is, by those of all versions, and what an editor puts before the words is taken off",
        "the program puts more in than the page knows";
    BareRecords:
        "Codex, §3.3",
        "records have a `payload`",
        "before September 2025 they were one themselves",
        "older sessions were empty";
    CallNames:
        "Codex, §3.3",
        "whatever has a `name` is a tool, and so are items that end in `_tool_call`",
        "calls have one, and so are all items that end in `_call`",
        "`local_shell_call` was no tool, and a name alone makes none";
    SkillsAndFiles:
        "Codex, Copilot Chat, Cursor, OpenCode, Pi, §1.1 `skills_used`, `files_touched`",
        "there are none",
        "files are those of patches and of calls that write; a skill is used by reading its `SKILL.md`",
        "they stand there";
    HiddenSummary:
        "Codex, §3.3; OpenCode, §3.7",
        "the summary of a compaction is an answer",
        "it is none",
        "the agent wrote it for itself and showed it to nobody";
    Subagents:
        "Codex, §3.3",
        "threads of sub-agents are sessions",
        "they are left out",
        "their prompts were written by the agent";
    EveryTurn:
        "Copilot CLI, §3.5; OpenCode, §3.7; Pi, §3.8",
        "each signal counts once in a session",
        "once in each turn",
        "they say something of the answer before them";
    OneBadLine:
        "OpenCode, §3.7; Pi, §3.8",
        "a line, a message or a part that is no JSON object drops the session",
        "it costs itself",
        "the last line of a live session is half written";
    FileName:
        "Pi, §1.1 `session_id`",
        "the id in the header",
        "the name of the file",
        "forks name the file they come from";
    SentAgain:
        "Pi, §3.8 active branch",
        "only the branch of the last entry counts",
        "so does a prompt that was edited and sent again there, with what came of it",
        "what was wrong with the answer is why it was sent again";
    NoExtension:
        "Copilot Chat in VS Code, §3.4",
        "a request that names no extension is another one's",
        "it is Copilot's",
        "older versions name none";
    TakenAway:
        "Copilot Chat in VS Code, §3.4",
        "what the log takes away is gone",
        "a request that was taken away was a turn",
        "that it was taken away says what its answer was worth";
    TurnErrors:
        "Cursor, §3.6; OpenCode, §3.7",
        "`turn_ended` with the status `error`, and an answer with an `error`, are complaints",
        "they are none",
        "no person made it";
    ResultNames:
        "Pi, §3.8",
        "`toolName` of a result is a tool, too",
        "calls name tools",
        "a result belongs to a call";
    ShellQuotes:
        "OpenCode, §3.7",
        "the quotes around a prompt of `opencode run` are words",
        "they are taken off",
        "the shell took them from what was typed, and the program put them back";
    Cut:
        "Copilot CLI, §3.5",
        "4,000 characters of a text are kept, and forty prompts of a session",
        "16,000 of a person's and 8,000 of the agent's, and every prompt",
        "long requests are requests, and the last of many says how it ended";
    OtherWords:
        "Copilot CLI, §3.5",
        "the words of slash commands are praise and complaint, though no prompts",
        "they are not",
        "nobody says them of an answer";
    InOrder:
        "Copilot CLI, §3.5",
        "signals, tools and files are sorted",
        "they stand in the order in which they came",
        "it tells what was done first";
    AboveProject:
        "every agent but Cursor, §3.1 project match",
        "sessions in a folder above the project's belong to it",
        "only with the scope `parents`",
        "they belong to every project below (§14.3, 55)";
    Links:
        "every agent but Cursor, §3.1 project match",
        "folders are compared as they are written",
        "links are followed, too",
        "one folder has many paths (§14.3, 55)";
    NoFolder:
        "§3.1 project match; Copilot Chat, §3.4; Copilot CLI, §3.5; OpenCode, §3.7",
        "a session that names no folder is where the reference runs, and none at all of these agents",
        "it is in no project, and is found where every project is asked for",
        "nobody knows where it was (§14.3, 55)";
    NearestWorkspace:
        "Cursor, §3.6",
        "the workspace nearest above the project is read, one that does not say where it is by its name, and none below",
        "workspaces in the project are read, by what they say",
        "as for every agent; the same name fits many folders";
    Since:
        "Claude Code, Codex, Pi, §3.2; Copilot CLI, §3.5",
        "when a session ended, in UTC, and since when sessions are read, on the wall, are compared as texts, or their days are",
        "they are compared as moments",
        "east of Greenwich sessions were never read, west of it many times (§14.1, 2; §14.3, 57)";
    AtTheMoment:
        "Cursor, §3.6; OpenCode, §3.7",
        "a session that ended at the very moment since which sessions are read is too old",
        "it is read",
        "what is read twice is told apart turn by turn; what is left out is lost";
}
