//! What a person did about an answer, as far as it says how good the answer was.

/// Something that happened to an answer. It hints at success or failure; it never says what a better
/// answer would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Happened {
    /// The person interrupted the agent.
    Interrupted,
    /// The person refused to let the agent call a tool.
    ToolRejected,
    /// The person sent the request again, edited or not: in its own place, or after stopping, refusing
    /// or taking back what came of it.
    Resent,
    /// The person took the turn and what it did back.
    Undone,
    /// The session ends with the turn, stopped or without an answer.
    Abandoned,
    /// What the turn did was committed with git, without an error.
    Committed,
}

impl Happened {
    /// Everything there is.
    pub const ALL: [Self; 6] = [
        Self::Interrupted,
        Self::ToolRejected,
        Self::Resent,
        Self::Undone,
        Self::Abandoned,
        Self::Committed,
    ];

    /// The signal that stands for it beside those of words: `neg:…` or `pos:…`.
    #[must_use]
    pub const fn signal(self) -> &'static str {
        match self {
            Self::Interrupted => "neg:interrupted",
            Self::ToolRejected => "neg:tool_rejected",
            Self::Resent => "neg:resent",
            Self::Undone => "neg:undone",
            Self::Abandoned => "neg:abandoned",
            Self::Committed => "pos:committed",
        }
    }

    /// What a signal stands for; `None` for signals of words.
    #[must_use]
    pub fn of(signal: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|happened| happened.signal() == signal)
    }

    /// Whether it hints at a bad answer.
    #[must_use]
    pub const fn is_complaint(self) -> bool {
        match self {
            Self::Interrupted
            | Self::ToolRejected
            | Self::Resent
            | Self::Undone
            | Self::Abandoned => true,
            Self::Committed => false,
        }
    }
}

/// Options of `git` before its command that take a word of their own.
const WITH_WORD: [&str; 4] = ["-C", "-c", "--git-dir", "--work-tree"];

/// Whether a shell command, or the JSON it was sent in, commits with git.
#[must_use]
pub fn commits(command: &str) -> bool {
    command.match_indices("git").any(|(at, git)| {
        let before = command[..at].trim_end_matches([' ', '\t']);
        let begins = before
            .chars()
            .next_back()
            .is_none_or(|c| matches!(c, ';' | '&' | '|' | '(' | '\n' | '"' | '\'' | '`'))
            // Behind an escaped line end in JSON.
            || before.ends_with("\\n");
        begins && is_commit(&command[at + git.len()..])
    })
}

/// Whether what stands behind `git` is a commit.
fn is_commit(rest: &str) -> bool {
    if !rest.starts_with([' ', '\t', '"', '\'']) {
        return false;
    }
    let line = rest.split(['\n', ';', '|', '&']).next().unwrap_or(rest);
    let mut words = line
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']' | '\\'))
        .filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if WITH_WORD.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return word == "commit" && words.all(|word| word != "--dry-run");
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_from_those_of_words() {
        for happened in Happened::ALL {
            assert_eq!(Happened::of(happened.signal()), Some(happened));
            let kind = if happened.is_complaint() {
                "neg:"
            } else {
                "pos:"
            };
            assert!(happened.signal().starts_with(kind));
        }
        assert_eq!(Happened::of("neg:wrong"), None);
    }

    #[test]
    fn commits_are_seen_in_commands_and_in_their_json() {
        for command in [
            "git commit -m 'Fix the flag'",
            "cd app && git add -A && git commit -qm x",
            "git -C /w/app -c user.name=dana commit --amend",
            "(git commit -m x)",
            "make\ngit commit",
            r#"{"command":["bash","-lc","make && git commit -m \"x\""]}"#,
            r#"{"command":["git","commit","-m","x"]}"#,
            r#"{"cmd":"make\ngit commit -m x","workdir":"/w"}"#,
        ] {
            assert!(commits(command), "{command}");
        }
        for command in [
            "git log --grep commit",
            "git commit --dry-run",
            "git commit-tree abc",
            "legit commit",
            "grep -r git commit",
            "git status; echo commit",
            "git",
            "git -C commit",
            "",
        ] {
            assert!(!commits(command), "{command}");
        }
    }
}
