//! The text that an agent is given.

use skillopt_core::call::{Message, Role};
use skillopt_core::own_call;

/// The messages of a call as texts for a command line, such that its program takes nothing in them
/// for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    system: String,
    rest: String,
}

impl Prompt {
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut prompt = Self {
            system: String::new(),
            rest: String::new(),
        };
        for message in messages {
            let text = message.text.trim_end();
            match message.role {
                Role::System => push_paragraph(&mut prompt.system, text),
                Role::User => push_paragraph(&mut prompt.rest, text),
                Role::Assistant => push_paragraph(
                    &mut prompt.rest,
                    &format!("Your earlier reply:\n<earlier_reply>\n{text}\n</earlier_reply>"),
                ),
            }
        }
        prompt
    }

    /// The system text, for agents that take it apart. It may be empty: then it keeps the agent's
    /// own instructions out.
    pub(crate) fn system(&self) -> String {
        inert(&self.system)
    }

    /// Everything else, for agents that take the system text apart.
    pub(crate) fn dialogue(&self) -> String {
        marked(&inert(&self.rest))
    }

    /// Everything in one text.
    pub(crate) fn whole(&self) -> String {
        let mut text = self.system.clone();
        push_paragraph(&mut text, &self.rest);
        marked(&inert(&text))
    }
}

/// The text with the mark by which readers of sessions know it as ours.
fn marked(text: &str) -> String {
    format!("{}\n{text}", own_call::MARKER)
}

fn push_paragraph(text: &mut String, paragraph: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

/// The text such that a program takes none of it for itself: at its beginning `/` would name a
/// command, and after a space `@` a file to attach, tools or no tools.
fn inert(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    if text.starts_with('/') {
        safe.push('\n');
    }
    let mut before = ' ';
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        safe.push(character);
        let names_a_file =
            character == '@' && before.is_whitespace() && begins_a_path(characters.as_str());
        if names_a_file {
            safe.push(' ');
        }
        before = character;
    }
    safe
}

/// Whether a text begins as a path outside the working directory does, or a quoted one.
fn begins_a_path(text: &str) -> bool {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some('/' | '\\' | '~' | '.' | '"' | '\''), _) => true,
        (Some(drive), Some(':')) => drive.is_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message {
            role,
            text: text.into(),
        }
    }

    #[test]
    fn a_text_names_no_file_and_no_command() {
        for (text, safe) in [
            ("/compact now", "\n/compact now"),
            ("say /compact", "say /compact"),
            (
                "see @/etc/passwd and @~/.ssh/id",
                "see @ /etc/passwd and @ ~/.ssh/id",
            ),
            ("@../x\n@./y\t@\"a b\"", "@ ../x\n@ ./y\t@ \"a b\""),
            ("@C:\\x", "@ C:\\x"),
            (
                "me@example.com, @decorator, @: x",
                "me@example.com, @decorator, @: x",
            ),
            ("(@/a) x@/b", "(@/a) x@/b"),
            ("", ""),
        ] {
            assert_eq!(inert(text), safe);
        }
    }

    #[test]
    fn system_text_goes_apart_or_in_front() {
        let messages = [
            message(Role::System, "Be brief.\n"),
            message(Role::User, "Question"),
            message(Role::Assistant, "Prose"),
            message(Role::User, "JSON, please"),
        ];
        let dialogue = "Question\n\nYour earlier reply:\n<earlier_reply>\nProse\n</earlier_reply>\n\nJSON, please";
        let prompt = Prompt::of(&messages);
        assert_eq!(prompt.system(), "Be brief.");
        assert_eq!(prompt.dialogue(), format!("[skillopt call]\n{dialogue}"));
        assert_eq!(
            prompt.whole(),
            format!("[skillopt call]\nBe brief.\n\n{dialogue}")
        );
        let alone = Prompt::of(&messages[1..2]);
        assert_eq!(alone.system(), "");
        assert_eq!(alone.whole(), "[skillopt call]\nQuestion");
    }
}
