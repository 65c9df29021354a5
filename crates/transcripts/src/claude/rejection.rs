//! Tool calls that the person refused.
//!
//! Their results look like any other result of a tool, except for what stands in them. Nothing of
//! this kind is among the real files that were seen; the shapes are those that others describe for
//! versions 1.0 to 2.1.205.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::record::{Message, Record};
use crate::lenient::Content;

/// How the result of a refused call begins.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";
/// Behind it the person's own words may stand, and behind them a note to the model.
const SAID: &str = "the user said:";
const NOTE: &str = "\n\nNote: The user's next message";
/// What the program says in the person's name.
const BY_THE_PROGRAM: &str = "The user wants to clarify these questions";
/// Longest line that is looked at, in bytes: longer ones return something.
const LONGEST: usize = 64 * 1024;

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(REFUSED));

/// Whether a result of a tool may be a refusal, without parsing it.
pub(super) fn may_be_one(line: &[u8]) -> bool {
    line.len() <= LONGEST && FINDER.find(line).is_some()
}

/// What the person said when refusing a call, possibly nothing; `None` when it is no refusal.
pub(super) fn words<'a>(record: &'a Record<'a>, message: &'a Message<'a>) -> Option<&'a str> {
    if !matches!(&*record.tool_denial_kind, "" | "user-rejected") {
        return None;
    }
    let Content::Blocks(blocks) = &message.content else {
        return None;
    };
    let refusal = blocks
        .iter()
        .filter(|block| &*block.r#type == "tool_result" && block.is_error.0)
        .find_map(|block| match &block.content {
            Content::Text(text) => Some(&**text),
            Content::Blocks(parts) => parts.first().map(|part| &*part.text),
        })
        .filter(|text| text.starts_with(REFUSED))?;
    let said = refusal
        .split_once(SAID)
        .map_or("", |(_, said)| said.split(NOTE).next().unwrap_or(said))
        .trim();
    Some(if said.starts_with(BY_THE_PROGRAM) {
        ""
    } else {
        said
    })
}
