//! Text in a person's place that no person typed, told by its shape (§3.1 of the reference).

use skillopt_core::text::head;

use crate::reason::Reason;

/// How a private span begins.
const PRIVATE: &str = "<private>";

/// Whether a program or a command wrote this. Agents that mark such text in their records do not
/// need it.
pub(crate) fn is_meta(text: &str) -> bool {
    let text = text.trim();
    let beginning = head(text, 200);
    // A span marked as private is the person's own mark, in any case of letters.
    let private = text
        .get(..PRIVATE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(PRIVATE));
    (text.starts_with('<') && text.ends_with('>') && !private)
        || (text.starts_with('/') && text.split_whitespace().count() <= 3)
        || text.starts_with("[Pasted text")
        || text.starts_with("Caveat:")
        || text.starts_with("# /")
        || beginning.contains("<command-message>")
        || beginning.contains("<command-name>")
}

/// Why a text in a person's place is no prompt, by its shape; `None` when a person may have typed it.
pub(crate) fn no_prompt(text: &str) -> Option<Reason> {
    is_meta(text).then(|| {
        if text.trim_start().starts_with('/') {
            Reason::SlashCommand
        } else {
            Reason::Meta
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_programs_are_known() {
        for text in [
            "<note>x</note>",
            " /compact ",
            "/skill:a b c",
            "[Pasted text #1]",
            "Caveat: x",
            "# /review",
            "x <command-name>/a</command-name>",
        ] {
            assert!(is_meta(text), "{text}");
        }
        for text in [
            "",
            "fix it",
            "a < b > c",
            "/src/a.rs is broken, fix it",
            "<private>acme</private> wants a <div>",
            "<Private>x</private>",
        ] {
            assert!(!is_meta(text), "{text}");
        }
    }
}
