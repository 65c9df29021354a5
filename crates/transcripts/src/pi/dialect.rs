//! What is Pi's own in the format of its sessions.

use crate::tree_log::{Dialect, Said};

/// The format as Pi itself writes it.
#[derive(Debug, Default)]
pub(crate) struct Pi;

impl Dialect for Pi {
    fn said<'a>(&self, _line: &[u8], text: &'a str) -> Said<'a> {
        let (skill, words) = without_skill(text);
        Said::Words {
            words: words.into(),
            skill,
        }
    }
}

/// `/skill:name words` is stored as the skill's text with the words behind it.
fn without_skill(text: &str) -> (&str, &str) {
    let parts = text.strip_prefix("<skill name=\"").and_then(|rest| {
        let (name, rest) = rest.split_once('"')?;
        let (_, words) = rest.split_once("\n</skill>")?;
        Some((name, words.trim_start()))
    });
    parts.unwrap_or(("", text))
}
