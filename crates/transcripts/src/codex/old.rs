//! Files of versions before September 2025: one line about the session, then the items that
//! went to the model and came from it, each without type or time around it.
//!
//! ```text
//! {"id":"…","timestamp":"…","instructions":null,"git":{"branch":"main"}}
//! {"record_type":"state"}
//! {"type":"message","role":"user","content":[{"type":"input_text","text":"…"}]}
//! {"type":"function_call","name":"shell","arguments":"{…}","call_id":"…"}
//! ```

use std::borrow::Cow;

use serde::Deserialize;

use super::record::{Payload, Record};
use crate::lenient::{Content, Text};

/// Whether a record without a payload is itself one.
pub(super) fn is_bare(record: &Record<'_>) -> bool {
    match &*record.r#type {
        "" => {
            !record.record_type.is_empty() || !(record.id.is_empty() || record.timestamp.is_empty())
        }
        "message" => true,
        kind => kind.ends_with("_call"),
    }
}

/// The folder of the session, if an item names it: what the program put before the first request, or
/// where a command was run.
pub(super) fn directory<'a>(item: &'a Payload<'a>) -> Option<Cow<'a, str>> {
    if &*item.r#type == "message" {
        let Content::Blocks(parts) = &item.content else {
            return None;
        };
        return parts
            .iter()
            .find_map(|part| in_context(&part.text))
            .map(Cow::Borrowed);
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Arguments<'a> {
        #[serde(borrow)]
        workdir: Text<'a>,
    }
    let arguments: Arguments<'_> = serde_json::from_str(&item.arguments).ok()?;
    (!arguments.workdir.is_empty()).then_some(arguments.workdir.0)
}

/// The folder in `<environment_context>`, in either of its forms.
fn in_context(text: &str) -> Option<&str> {
    let context = text.trim_start().strip_prefix("<environment_context>")?;
    let folder = match context.split_once("<cwd>") {
        Some((_, rest)) => rest.split_once("</cwd>")?.0,
        None => context
            .split_once("Current working directory: ")?
            .1
            .lines()
            .next()?,
    };
    Some(folder.trim()).filter(|folder| !folder.is_empty())
}
