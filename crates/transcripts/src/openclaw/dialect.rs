//! What is OpenClaw's own in the entries it writes: who sent a message, and what its gateway wrote
//! in the agent's place.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use super::envelope::{Sent, opened, tells_refusal};
use crate::lenient::{Flag, Object, Text, parse};
use crate::reason::Reason;
use crate::tree_log::{Dialect, Kind, Said};

/// How the gateway signs what it writes in the agent's place.
const GATEWAY: &str = "gateway-injected";
/// Answers that are not delivered to anybody.
const SILENT: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];

/// The format as OpenClaw writes it.
#[derive(Debug, Default)]
pub(crate) struct OpenClaw {
    /// Several people write to this session.
    pub(super) group: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry<'a> {
    #[serde(borrow)]
    message: Object<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    /// Who stands behind a message in the person's place.
    #[serde(borrow)]
    provenance: Object<Provenance<'a>>,
    #[serde(rename = "__openclaw")]
    own: Object<Own>,
    /// Of an answer.
    model: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Provenance<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Own {
    sender_is_owner: Flag,
}

impl Dialect for OpenClaw {
    fn own_type(name: &str) -> Option<Kind<'_>> {
        // A line is drawn under what was said so far; it was said all the same.
        (name == "reset").then_some(Kind::Skip(Reason::Bookkeeping))
    }

    fn said<'a>(&self, line: &[u8], text: &'a str) -> Said<'a> {
        let mut spare = Vec::new();
        let message = parse::<Entry<'_>>(line, &mut spare)
            .ok()
            .and_then(|(entry, _)| entry.message.0)
            .unwrap_or_default();
        let kind = message.provenance.0.unwrap_or_default().kind;
        if matches!(&*kind, "internal_system" | "inter_session") {
            return Said::Else(Reason::MachinePrompt);
        }
        let owner = message.own.0.is_some_and(|own| own.sender_is_owner.0);
        match opened(text) {
            Sent::Program => Said::Else(Reason::MachinePrompt),
            Sent::Words { group, .. } if (group || self.group) && !owner => {
                Said::Else(Reason::OtherPerson)
            }
            Sent::Words { words, .. } => Said::Words { words, skill: "" },
        }
    }

    fn tells_refusal(text: &str) -> bool {
        tells_refusal(text)
    }

    fn is_answer(line: &[u8]) -> bool {
        if memmem::find(line, GATEWAY.as_bytes()).is_none() {
            return true;
        }
        let mut spare = Vec::new();
        let model = parse::<Entry<'_>>(line, &mut spare)
            .ok()
            .and_then(|(entry, _)| entry.message.0)
            .map(|message| message.model.0);
        model.as_deref() != Some(GATEWAY)
    }

    fn answer(words: Cow<'_, str>) -> Cow<'_, str> {
        let rest = without_directives(&words);
        if SILENT.contains(&rest.trim()) {
            return Cow::Borrowed("");
        }
        if rest.len() == words.len() {
            return words;
        }
        Cow::Owned(rest.to_owned())
    }
}

/// The words behind directives such as `[[reply_to_current]]`, which say how they are delivered.
fn without_directives(words: &str) -> &str {
    let mut rest = words;
    while let Some((directive, behind)) = rest
        .trim_start()
        .strip_prefix("[[")
        .and_then(|text| text.split_once("]]"))
    {
        if directive.contains(char::is_whitespace) || directive.len() > 100 {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_and_silence_are_no_words() {
        for (written, expected) in [
            ("[[reply_to_current]]Hello", "Hello"),
            ("[[reply_to:7]] [[audio_as_voice]] Hello", "Hello"),
            (
                "[[1, 2], [3, 4]] is a matrix",
                "[[1, 2], [3, 4]] is a matrix",
            ),
            ("Hello [[x]]", "Hello [[x]]"),
            ("NO_REPLY", ""),
            ("[[reply_to_current]] HEARTBEAT_OK\n", ""),
            ("[[", "[["),
        ] {
            assert_eq!(OpenClaw::answer(written.into()), expected, "{written}");
        }
    }
}
