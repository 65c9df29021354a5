//! What must happen to words before they are kept: private spans go, secrets go, then the cut.

use std::borrow::Cow;
use std::sync::Arc;

use skillopt_core::hash::sha256_parts;
use skillopt_core::redact::Redactor;
use skillopt_core::text::head;
use skillopt_core::{Problem, feedback};

use crate::exclude::Exclude;
use crate::request::Request;

/// Longest text of a person, in code points.
pub(crate) const HUMAN_LIMIT: usize = 16_000;
/// Longest answer of the agent, in code points.
pub(crate) const ANSWER_LIMIT: usize = 8_000;

/// Changed whenever the same words are kept differently, so that files are read again.
const WORDS: &[u8] = b"without NUL";

/// The parts of a request that decide what is kept of a file.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) exclude: Exclude,
    pub(crate) agent_markers: Vec<String>,
    phrases: feedback::Phrases,
    redactor: Redactor,
    /// Changes whenever the rules do, so that files read under other rules are read again.
    pub(crate) fingerprint: Arc<str>,
}

/// Words as they may be kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Kept {
    Words(String),
    /// Everything was private.
    Private,
    /// There is nothing but white space.
    Wordless,
}

impl Rules {
    /// Errors: `exclude_invalid`.
    pub(crate) fn new(request: &Request) -> Result<Self, Problem> {
        let mut parts: Vec<&[u8]> = vec![WORDS];
        for list in [
            &request.exclude,
            &request.agent_markers,
            &request.negative_words,
            &request.positive_words,
            &request.false_alarms,
        ] {
            for item in list {
                parts.extend([item.as_bytes(), b"\0"]);
            }
            parts.push(b"\x01");
        }
        Ok(Self {
            exclude: Exclude::new(&request.exclude)?,
            agent_markers: request
                .agent_markers
                .iter()
                .filter(|marker| !marker.trim().is_empty())
                .cloned()
                .collect(),
            phrases: feedback::Phrases::with(&request.negative_words, &request.positive_words),
            redactor: Redactor::with_false_alarms(&request.false_alarms),
            fingerprint: sha256_parts(&parts).into(),
        })
    }

    /// Private spans and NUL characters (no program takes them as an argument) removed, then redacted,
    /// then cut to `limit` code points (never the other way
    /// round: half a secret is no longer recognised).
    pub(crate) fn keep(&self, raw: &str, limit: usize) -> Kept {
        let raw = if raw.contains('\0') {
            Cow::Owned(raw.replace('\0', ""))
        } else {
            Cow::Borrowed(raw)
        };
        if raw.trim().is_empty() {
            return Kept::Wordless;
        }
        let public = without_private(&raw);
        let public = public.trim();
        if public.is_empty() {
            return Kept::Private;
        }
        Kept::Words(
            head(&self.redactor.redact(public).text, limit)
                .trim_end()
                .to_owned(),
        )
    }

    /// The feedback signals in the words of a person.
    pub(crate) fn feedback(&self, text: &str) -> Vec<String> {
        self.phrases.signals(text)
    }
}

/// `text` without `<private>…</private>`, which may nest. A span that is never closed reaches to the
/// end; a stray closing tag is removed.
fn without_private(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut depth = 0_usize;
    // Up to where `text` has been kept or dropped.
    let mut done = 0;
    for (at, _) in text.match_indices('<') {
        if at < done {
            continue;
        }
        let (length, opens) = if starts_with(&text[at..], "<private>") {
            ("<private>".len(), true)
        } else if starts_with(&text[at..], "</private>") {
            ("</private>".len(), false)
        } else {
            continue;
        };
        if depth == 0 {
            kept.push_str(&text[done..at]);
        }
        depth = if opens {
            depth + 1
        } else {
            depth.saturating_sub(1)
        };
        done = at + length;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    if depth == 0 {
        kept.push_str(&text[done..]);
    }
    Cow::Owned(kept)
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_spans_go() {
        for (text, expected) in [
            ("plain <b>text</b>", "plain <b>text</b>"),
            ("a <private>x</private> b", "a  b"),
            ("a <PRIVATE>x <private>y</private> z</Private>b", "a b"),
            ("a <private>never closed", "a "),
            ("a </private>b", "a b"),
            ("<private>ü</private>", ""),
            ("<privat>", "<privat>"),
            ("<", "<"),
        ] {
            assert_eq!(without_private(text), expected, "{text}");
        }
    }

    #[test]
    fn secrets_are_redacted_before_the_cut() {
        // The cut would leave eight characters of the key.
        let text = format!("{} sk-proj-{}", "x".repeat(20), "A1b2C3d4".repeat(5));
        let rules = Rules::new(&Request::default()).unwrap();
        let Kept::Words(words) = rules.keep(&text, 37) else {
            panic!("words were lost")
        };
        assert!(!words.contains("sk-proj"), "{words}");
        assert!(words.starts_with("xxxx"));
        assert_eq!(rules.keep(" \n", 10), Kept::Wordless);
        assert_eq!(rules.keep("<private>a</private>", 10), Kept::Private);
        assert_eq!(rules.keep("zürich", 2), Kept::Words("zü".to_owned()));
        assert_eq!(rules.keep("a\0b\0", 9), Kept::Words("ab".to_owned()));
        assert_eq!(rules.keep("\0 \0", 9), Kept::Wordless);
        assert_eq!(rules.keep("<pri\0vate>a", 9), Kept::Private);
    }

    #[test]
    fn a_false_alarm_stays_and_makes_other_rules() {
        let known = format!("sk-proj-{}", "A1b2C3d4".repeat(5));
        let usual = Rules::new(&Request::default()).unwrap();
        let told = Rules::new(&Request {
            false_alarms: vec![known.clone()],
            ..Request::default()
        })
        .unwrap();
        assert_eq!(told.keep(&known, 100), Kept::Words(known.clone()));
        assert_ne!(usual.keep(&known, 100), Kept::Words(known));
        assert_ne!(usual.fingerprint, told.fingerprint);
    }
}
