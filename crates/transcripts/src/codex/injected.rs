//! Text that the program puts into a person's messages, told by its shape (§3.3 of the reference).
//!
//! Today's versions mark each part of a message with its kind; this is for those that do not.

use crate::meta::is_meta;

/// How parts begin that the program put in.
const OPENINGS: [&str; 10] = [
    "<environment_context",
    "<codex_internal_context",
    "<user_instructions",
    "<permissions",
    "<turn_aborted",
    "<user_shell_command",
    "<user_action",
    "<subagent_notification",
    "<skill",
    "<collaboration_mode",
];
/// What an editor puts before the words, and the heading under which the words stand.
const EDITOR: &str = "# Context from my IDE setup:";
const REQUEST: &str = "## My request for Codex:";

/// The person's words in one part of a message; `None` when there are none.
pub(super) fn words(part: &str) -> Option<&str> {
    let mut text = part.trim();
    if text.starts_with("# AGENTS.md instructions") || text.contains("--- project-doc ---") {
        let tail = ["</environment_context>", "</INSTRUCTIONS>"]
            .iter()
            .find_map(|end| text.rsplit_once(end));
        text = tail.map(|(_, tail)| tail.trim())?;
        if text.starts_with('<') {
            return None;
        }
    }
    if text.starts_with(EDITOR) {
        text = text
            .split_once(REQUEST)
            .map(|(_, request)| request.trim())?;
    }
    let injected = OPENINGS.iter().any(|opening| text.starts_with(opening));
    (!injected && !text.is_empty() && !is_meta(text)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_persons_words_stay() {
        for (part, expected) in [
            ("fix it", Some("fix it")),
            (
                "<environment_context>\n <cwd>/w</cwd></environment_context>",
                None,
            ),
            (
                "# AGENTS.md instructions for /w\n<INSTRUCTIONS>x</INSTRUCTIONS>",
                None,
            ),
            (
                "# AGENTS.md instructions for /w\n<INSTRUCTIONS>x</INSTRUCTIONS>\n\nfix it",
                Some("fix it"),
            ),
            ("a --- project-doc --- b", None),
            (
                "# Context from my IDE setup:\n## Open tabs:\n- a\n\n## My request for Codex:\nfix it\n",
                Some("fix it"),
            ),
            ("<turn_aborted>\n</turn_aborted>", None),
            ("/compact", None),
            ("a < b > c", Some("a < b > c")),
            (" ", None),
        ] {
            assert_eq!(words(part), expected, "{part}");
        }
    }
}
