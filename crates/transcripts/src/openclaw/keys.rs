//! Whose session it is, as its key says.
//!
//! A key is `agent:<agent>:<rest>`. The rest says what began the conversation: a person's own chat
//! (`main`, `<channel>:direct:<id>`), a chat of several people, or a program.

use crate::reason::Reason;

/// Who writes to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// One person.
    Person,
    /// Several people.
    Group,
    /// None, for this reason.
    Nobody(Reason),
}

/// Who writes to the session with this key.
pub(super) fn writes(key: &str) -> Writes {
    let rest = match key.strip_prefix("agent:") {
        Some(rest) => rest.split_once(':').map_or(rest, |(_, rest)| rest),
        None => key,
    };
    let mut parts = rest.split(':');
    match (parts.next(), parts.next()) {
        (Some("subagent" | "acp"), _) => Writes::Nobody(Reason::Subagent),
        (Some("cron" | "hook"), _) => Writes::Nobody(Reason::AgentSession),
        (Some("explicit"), Some(name)) if name.starts_with("model-run-") => {
            Writes::Nobody(Reason::AgentSession)
        }
        (Some(_), Some("group" | "channel" | "room")) => Writes::Group,
        _ => Writes::Person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_say_who_writes() {
        for (key, expected) in [
            ("agent:main:main", Writes::Person),
            ("agent:main:telegram:direct:7", Writes::Person),
            ("agent:main:discord:group:7", Writes::Group),
            ("agent:main:slack:channel:c1:thread:2", Writes::Group),
            ("agent:main:subagent:0b", Writes::Nobody(Reason::Subagent)),
            ("cron:job", Writes::Nobody(Reason::AgentSession)),
            (
                "agent:main:cron:job:run:1",
                Writes::Nobody(Reason::AgentSession),
            ),
            ("hook:0b", Writes::Nobody(Reason::AgentSession)),
            (
                "agent:main:explicit:model-run-0b",
                Writes::Nobody(Reason::AgentSession),
            ),
            ("agent:main", Writes::Person),
            ("", Writes::Person),
        ] {
            assert_eq!(writes(key), expected, "{key}");
        }
    }
}
