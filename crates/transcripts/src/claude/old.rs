//! Prompts of versions that do not say who gave them (before 2.1), told by their shape.
//!
//! This is the meta filter of §3.1 and §3.2 of the reference: the fallback for records without
//! `promptSource`, and for nothing else.

use crate::reason::Reason;

/// Why a text is no prompt of a person, by its shape; `None` when it may be one.
pub(super) fn not_a_prompt(text: &str) -> Option<Reason> {
    let text = text.trim();
    // The summary of a compaction, before there was a flag for it. It may quote a command.
    if text.starts_with("This session is being continued from a previous conversation") {
        return Some(Reason::Compaction);
    }
    let beginning = skillopt_core::text::head(text, 200);
    if beginning.contains("<command-message>") || beginning.contains("<command-name>") {
        return Some(Reason::SlashCommand);
    }
    // A span marked as private is the person's own mark, not output in tags.
    if text.starts_with('<') && text.ends_with('>') && !text.starts_with("<private>") {
        return Some(Reason::LocalCommand);
    }
    if text.starts_with('/') && text.split_whitespace().count() <= 3 {
        return Some(Reason::SlashCommand);
    }
    if text.starts_with("[Pasted text") || text.starts_with("Caveat:") || text.starts_with("# /") {
        return Some(Reason::Meta);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_the_reference() {
        for (text, expected) in [
            (
                "<command-message>x</command-message> more",
                Some(Reason::SlashCommand),
            ),
            (
                " <local-command-stdout></local-command-stdout> ",
                Some(Reason::LocalCommand),
            ),
            ("/compact keep names", Some(Reason::SlashCommand)),
            ("/home/dana is full, what can I delete there?", None),
            ("Caveat: The messages below", Some(Reason::Meta)),
            ("[Pasted text #1 +3 lines]", Some(Reason::Meta)),
            ("# /review", Some(Reason::Meta)),
            ("Rename the flag <b>", None),
            (
                "This session is being continued from a previous conversation: <command-name>/x",
                Some(Reason::Compaction),
            ),
        ] {
            assert_eq!(not_a_prompt(text), expected, "{text}");
        }
    }
}
