//! What the tools of coding agents do, by the names their sessions have.

/// What a tool of a coding agent does, as far as it tells whether an answer depended on more than the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTool {
    /// Reads, writes or runs something in the project.
    Files,
    /// Loads instructions, keeps a list or says what is to come; the answer does not depend on it.
    Harmless,
    /// Anything else, for example the web, another agent, a question.
    Other,
}

/// Those that work on files or run commands, written as [`AgentTool::named`] compares them. Where agents use
/// the same words for the same thing they are here once.
const FILES: &[&str] = &[
    // Claude Code, and the command lines of Cursor and Devin, which write some of them in lower case.
    "bash",
    "bashoutput",
    "edit",
    "editnotebook",
    "glob",
    "grep",
    "killbash",
    "killshell",
    "ls",
    "multiedit",
    "notebookedit",
    "notebookread",
    "read",
    "readlints",
    "semanticsearch",
    "shell",
    "strreplace",
    "write",
    "delete",
    // Codex.
    "applypatch",
    "execcommand",
    "localshell",
    "shellcommand",
    "viewimage",
    "writestdin",
    // GitHub Copilot CLI.
    "create",
    "listbash",
    "powershell",
    "readbash",
    "rg",
    "stopbash",
    "strreplaceeditor",
    "view",
    "writebash",
    // Copilot Chat in VS Code: the extension's own (`copilot_…`) and the editor's.
    "awaitterminal",
    "createandruntask",
    "createdirectory",
    "createfile",
    "createnewjupyternotebook",
    "createnewworkspace",
    "editfiles",
    "findfiles",
    "findtestfiles",
    "findtextinfiles",
    "getchangedfiles",
    "geterrors",
    "getnotebooksummary",
    "getprojectsetupinfo",
    "getsearchresults",
    "gettaskoutput",
    "getterminaloutput",
    "insertedit",
    "killterminal",
    "listcodeusages",
    "listdirectory",
    "multireplacestring",
    "readfile",
    "readnotebookcelloutput",
    "readprojectstructure",
    "renamesymbol",
    "replacestring",
    "runinterminal",
    "runnotebookcell",
    "runtask",
    "runtests",
    "runtests1",
    "searchcodebase",
    "searchworkspacesymbols",
    "sendtoterminal",
    "terminallastcommand",
    "terminalselection",
    "testfailure",
    // Cursor's editor.
    "codebasesearch",
    "deletefile",
    "editfile",
    "filesearch",
    "fixlints",
    "globfilesearch",
    "gotodefinition",
    "grepsearch",
    "listdir",
    "readsemsearchfiles",
    "reapply",
    "ripgreprawsearch",
    "ripgrepsearch",
    "runterminalcmd",
    "runterminalcommand",
    "searchreplace",
    "searchsymbols",
    "semanticsearchfull",
    "writeshellstdin",
    // Devin, beside names of others.
    "findfilebyname",
    "getoutput",
    "writetoprocess",
    // Pi, OpenCode, OpenClaw, Devin.
    "exec",
    "find",
    "list",
    "lsp",
    "patch",
    "process",
];

/// Those on which no answer depends, in the same writing.
const HARMLESS: &[&str] = &[
    "createplan",
    "enterplanmode",
    "exitplanmode",
    "managetodolist",
    "planenter",
    "planexit",
    "reportintent",
    "skill",
    "switchmode",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskupdate",
    "think",
    "todoread",
    "todowrite",
    "updateplan",
    "updatetodo",
    "writeplan",
];

impl AgentTool {
    /// What the tool of this name does. Agents write the same name in several ways: `TodoWrite`,
    /// `todo_write`, `todowrite`, `copilot_readFile`, `vscode_listCodeUsages`, `read_file_v2`.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let name = name
            .strip_prefix("copilot_")
            .or_else(|| name.strip_prefix("vscode_"))
            .unwrap_or(name);
        let name = name.strip_suffix("_v2").unwrap_or(name);
        let plain: String = name
            .chars()
            .filter(|c| !matches!(c, '_' | '-'))
            .map(|c| c.to_ascii_lowercase())
            .collect();
        if FILES.contains(&plain.as_str()) {
            Self::Files
        } else if HARMLESS.contains(&plain.as_str()) {
            Self::Harmless
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agents_way_to_write_a_name_is_known() {
        for name in [
            "Read",
            "Bash",
            "NotebookEdit",
            "exec_command",
            "apply_patch",
            "view",
            "str_replace_editor",
            "copilot_readFile",
            "run_in_terminal",
            "read_file_v2",
            "run_terminal_command_v2",
            "StrReplace",
            "Shell",
            "search_replace",
            "find",
            "exec",
            "str_replace",
            "copilot_editNotebook",
            "copilot_runTests1",
            "vscode_listCodeUsages",
            "send_to_terminal",
            "create_and_run_task",
            "write_shell_stdin",
            "go_to_definition",
            "find_file_by_name",
            "write_to_process",
        ] {
            assert_eq!(AgentTool::named(name), AgentTool::Files, "{name}");
        }
        for name in [
            "Skill",
            "skill",
            "TodoWrite",
            "todo_write",
            "todowrite",
            "manage_todo_list",
            "update_plan",
            "report_intent",
            "switch_mode",
            "create_plan",
            "write_plan",
        ] {
            assert_eq!(AgentTool::named(name), AgentTool::Harmless, "{name}");
        }
        for name in [
            "",
            "WebFetch",
            "webfetch",
            "Task",
            "task",
            "AskUserQuestion",
            "mcp__mail__read",
            "github-mcp-server",
            "copilot_fetchWebPage",
            "vscode_askQuestions",
            "runSubagent",
            "run_subagent",
        ] {
            assert_eq!(AgentTool::named(name), AgentTool::Other, "{name}");
        }
    }

    #[test]
    fn the_names_are_written_as_they_are_compared() {
        for name in FILES.iter().chain(HARMLESS) {
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
                "{name}"
            );
            let times = FILES.iter().chain(HARMLESS).filter(|other| *other == name);
            assert_eq!(times.count(), 1, "{name}");
        }
    }
}
