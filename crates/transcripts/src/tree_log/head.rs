//! What an entry is, as far as its first keys tell.

use super::Dialect;
use crate::head::{Cursor, Value};
use crate::reason::Reason;

/// What to do with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// It is needed, or its beginning does not tell.
    Parse,
    /// Only its place in the tree is needed.
    Node {
        id: &'a str,
        parent: &'a str,
        kind: Kind<'a>,
    },
}

/// What an entry is whose words nobody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    Skip(Reason),
    /// The name of a type, or of a message's role, that is not known.
    Unknown(&'a str),
    UnknownRole(&'a str),
}

/// Looks at the beginning of a line, or at a whole one.
pub(super) fn head<D: Dialect>(line: &[u8]) -> Head<'_> {
    look::<D>(line).unwrap_or(Head::Parse)
}

fn look<D: Dialect>(line: &[u8]) -> Option<Head<'_>> {
    let mut cursor = Cursor::object(line)?;
    let (mut name, mut id, mut parent) = (None, None, None);
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(text)) => name = Some(plain(text)?),
            (b"id", Value::Text(text)) => id = Some(plain(text)?),
            (b"parentId", Value::Text(text)) => parent = Some(plain(text)?),
            (b"parentId", Value::Scalar(_)) => parent = Some(""),
            (b"message", Value::Object) if name? == "message" => {
                let kind = role(cursor)?;
                return Some(Head::Node {
                    id: id?,
                    parent: parent?,
                    kind,
                });
            }
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
        if let (Some(name), Some(id), Some(parent)) = (name, id, parent)
            && name != "message"
        {
            let kind = of_type::<D>(name)?;
            return Some(Head::Node { id, parent, kind });
        }
    }
}

/// What the message is whose keys begin here; `None` for one that is needed.
fn role(mut cursor: Cursor<'_>) -> Option<Kind<'_>> {
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"role", Value::Text(name)) => return of_role(plain(name)?),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// A text without escapes.
fn plain(text: &[u8]) -> Option<&str> {
    if text.contains(&b'\\') {
        return None;
    }
    std::str::from_utf8(text).ok()
}

/// What an entry of this type is; `None` for one that is needed. The names are those of Pi 0.50 to
/// 1.6.
pub(super) fn of_type<D: Dialect>(name: &str) -> Option<Kind<'_>> {
    Some(match name {
        "session" | "message" | "context_edit" => return None,
        "compaction" | "branch_summary" => Kind::Skip(Reason::Compaction),
        // What an extension put into the conversation.
        "custom_message" => Kind::Skip(Reason::Meta),
        "model_change" | "thinking_level_change" | "custom" | "label" | "session_info" => {
            Kind::Skip(Reason::Bookkeeping)
        }
        _ => D::own_type(name).unwrap_or(Kind::Unknown(name)),
    })
}

/// What a message of this role is; `None` for one that is needed.
pub(super) fn of_role(name: &str) -> Option<Kind<'_>> {
    Some(match name {
        "user" | "assistant" => return None,
        "toolResult" => Kind::Skip(Reason::ToolResult),
        "system" => Kind::Skip(Reason::Context),
        "bashExecution" => Kind::Skip(Reason::LocalCommand),
        "custom" | "hookMessage" => Kind::Skip(Reason::Meta),
        "branchSummary" | "compactionSummary" => Kind::Skip(Reason::Compaction),
        _ => Kind::UnknownRole(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree_log::Said;

    #[derive(Debug, Default)]
    struct Other;

    impl Dialect for Other {
        fn own_type(name: &str) -> Option<Kind<'_>> {
            (name == "reset").then_some(Kind::Skip(Reason::Bookkeeping))
        }

        fn said<'a>(&self, _: &[u8], text: &'a str) -> Said<'a> {
            Said::Words {
                words: text.into(),
                skill: "",
            }
        }
    }

    #[test]
    fn first_keys_decide() {
        let node = |id, parent, kind| Head::Node { id, parent, kind };
        for (line, expected) in [
            (
                r#"{"type":"message","id":"b","parentId":"a","timestamp":"x","message":{"role":"toolResult","#,
                node("b", "a", Kind::Skip(Reason::ToolResult)),
            ),
            (
                r#"{"type":"message","id":"a","parentId":null,"message":{"role":"system","content":"#,
                node("a", "", Kind::Skip(Reason::Context)),
            ),
            (
                r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","#,
                Head::Parse,
            ),
            (
                r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"x","summary":"#,
                node("c", "b", Kind::Skip(Reason::Compaction)),
            ),
            (
                r#"{"type":"reset","id":"c","parentId":"b","x":"#,
                node("c", "b", Kind::Skip(Reason::Bookkeeping)),
            ),
            (
                r#"{"type":"dream","id":"c","parentId":"b","x":"#,
                node("c", "b", Kind::Unknown("dream")),
            ),
            (
                r#"{"type":"message","id":"c","parentId":"b","message":{"role":"oracle","#,
                node("c", "b", Kind::UnknownRole("oracle")),
            ),
            // Without its place in the tree it must be parsed.
            (
                r#"{"type":"message","message":{"role":"toolResult","#,
                Head::Parse,
            ),
            (
                r#"{"type":"compaction","id":"\u0063","parentId":"b","#,
                Head::Parse,
            ),
            (r#"{"type":"session","version":3,"id":"a""#, Head::Parse),
        ] {
            assert_eq!(head::<Other>(line.as_bytes()), expected, "{line}");
        }
    }
}
