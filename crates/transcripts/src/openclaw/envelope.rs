//! What stands in a person's place, taken out of what the gateway puts around it.
//!
//! A message comes through a chat channel, and the gateway tells the model where from: in a bracket
//! before the words, in blocks of JSON under a heading, in lines about what happened meanwhile. It
//! also writes to the agent itself, in the same place, and begins such a message in one of a few ways.

use std::borrow::Cow;

/// What was sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent<'a> {
    /// A person's words; in a chat of several people, any of theirs.
    Words { words: Cow<'a, str>, group: bool },
    /// The program's own.
    Program,
}

/// How messages of the program begin.
const PROGRAM: [&str; 16] = [
    "[cron:",
    "[Subagent Context]",
    "[Subagent Task]",
    "[Inter-session message]",
    "[OpenClaw heartbeat poll]",
    "[System]",
    "[System Message]",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    "Read HEARTBEAT.md if it exists",
    "A new session was started via /new or /reset",
    "Continue the OpenClaw runtime event.",
    "Continue where you left off. The previous model attempt failed",
    "Pre-compaction memory flush",
    "An async command you ran earlier has completed",
    DENIED,
    "An async command the user already approved has completed",
];
/// How the headings of blocks about a message end. The last is that of today's.
const HEADINGS: [&str; 3] = [
    "(untrusted metadata):",
    "(untrusted, for context):",
    "\u{27e6}openclaw:ctx\u{27e7}",
];
/// How paragraphs about what happened meanwhile begin.
const EVENTS: [&str; 3] = ["System: [", "System (untrusted): [", "[Bootstrap "];
/// How lines about an attachment begin.
const ATTACHED: &str = "[media attached";
const ATTACHED_HINT: &str = "To send an image back,";
/// What messages are put together under that came while the agent was busy.
const QUEUED: &str = "[Queued messages while agent was busy]";

/// How a message of the program begins that tells the agent of a command that was not run.
const DENIED: &str = "An async command did not run";

/// Whether the program tells that the person did not let a command be run: in a message of its own,
/// or in a line about what happened meanwhile.
pub(super) fn tells_refusal(text: &str) -> bool {
    let own = without_stamp(text.trim_start()).starts_with(DENIED);
    text.lines().map(str::trim).any(|line| {
        let told = own || EVENTS.iter().any(|event| line.starts_with(event));
        let denied = line.split_once("Exec denied (");
        told && denied.is_some_and(|(_, why)| {
            why.split(')')
                .next()
                .is_some_and(|why| why.contains("user-denied"))
        })
    })
}

/// Takes a message out of its envelope.
pub(super) fn opened(text: &str) -> Sent<'_> {
    let mut words: Vec<&str> = Vec::new();
    let (mut group, mut queued, mut attached, mut wrapped) = (false, false, false, false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let shown = line.trim();
        if HEADINGS.iter().any(|heading| shown.ends_with(heading)) {
            group |= skip_block(&mut lines);
        } else if EVENTS.iter().any(|event| shown.starts_with(event)) {
            skip_paragraph(&mut lines);
        } else if shown == QUEUED {
            queued = true;
        } else if shown.starts_with(ATTACHED) {
            attached = true;
        } else if !(queued && (shown == "---" || shown.starts_with("Queued #"))
            || attached && shown.starts_with(ATTACHED_HINT)
            || shown.starts_with("[message_id:") && shown.ends_with(']'))
        {
            words.push(line);
            continue;
        }
        wrapped = true;
    }
    let words = if wrapped {
        Cow::Owned(words.join("\n").trim().to_owned())
    } else {
        Cow::Borrowed(text)
    };
    if PROGRAM
        .iter()
        .any(|mark| words.trim_start().starts_with(mark))
    {
        return Sent::Program;
    }
    let words = match words {
        Cow::Borrowed(words) => Cow::Borrowed(without_stamp(words)),
        Cow::Owned(words) => Cow::Owned(without_stamp(&words).to_owned()),
    };
    // What the program adds below a message of its own stands after the stamp of one.
    if PROGRAM.iter().any(|mark| words.starts_with(mark)) {
        return Sent::Program;
    }
    Sent::Words { words, group }
}

/// Passes over what stands under a heading: a block of JSON, or a paragraph. Whether it says that
/// several people write here.
fn skip_block(lines: &mut std::str::Lines<'_>) -> bool {
    let mut group = false;
    match lines.next().map(str::trim) {
        Some("```json") => {
            for line in lines.by_ref() {
                match line.trim().trim_end_matches(',') {
                    "```" => break,
                    r#""is_group_chat": true"# => group = true,
                    _ => {}
                }
            }
        }
        None | Some("") => {}
        Some(_) => skip_paragraph(lines),
    }
    group
}

/// Passes over the rest of a paragraph.
fn skip_paragraph(lines: &mut std::str::Lines<'_>) {
    for line in lines.by_ref() {
        if line.trim().is_empty() {
            break;
        }
    }
}

/// The words behind a bracket with a channel, a sender and a time.
fn without_stamp(text: &str) -> &str {
    let bracket = text
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    match bracket {
        Some((stamp, words)) if has_time(stamp) => words.trim_start(),
        _ => text,
    }
}

/// Whether there is `2026-01-05 10:00` or `2026-01-05T10:00` in it, and no line end.
fn has_time(stamp: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00 00:00";
    !stamp.contains('\n')
        && stamp.as_bytes().windows(SHAPE.len()).any(|window| {
            window.iter().zip(SHAPE).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                b' ' => matches!(byte, b' ' | b'T'),
                other => byte == other,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        match opened(text) {
            Sent::Words { words, .. } => Some(words.into_owned()),
            Sent::Program => None,
        }
    }

    #[test]
    fn words_are_taken_out_of_what_is_put_around_them() {
        let info =
            "Conversation info (untrusted metadata):\n```json\n{\n  \"sender\": \"Dana\"\n}\n```\n";
        let today = "Conversation info: \u{27e6}openclaw:ctx\u{27e7}\n```json\n{}\n```\n\nFix it";
        for (text, expected) in [
            ("Fix it", "Fix it"),
            ("  - keep\n    this", "  - keep\n    this"),
            ("[Mon 2026-01-05 10:00 GMT+1] Fix it", "Fix it"),
            (
                "[Telegram Dana id:7 +2m 2026-01-05T10:00Z] Fix it\n[message_id: 41]",
                "Fix it",
            ),
            ("[1] is the first entry", "[1] is the first entry"),
            (
                &format!("{info}\nSender (untrusted metadata):\n```json\n{{}}\n```\n\nFix it"),
                "Fix it",
            ),
            (today, "Fix it"),
            (
                &format!(
                    "System: [2026-01-05 10:00:00 UTC] Exec completed (kind-bre, code 0)\n:: done\n\n{info}\nFix it"
                ),
                "Fix it",
            ),
            (
                &format!(
                    "[Queued messages while agent was busy]\n\n---\nQueued #1 (from Dana)\n{info}\nFix it\n\n---\nQueued #2 (from Dana)\n{info}\nand test it"
                ),
                "Fix it\n\n\nand test it",
            ),
            (
                "[media attached: /h/a.png (image/png) | /h/a.png]\nTo send an image back, prefer the message tool.\nWhat is this?",
                "What is this?",
            ),
            // A block that is never closed hides what follows, and nothing before it.
            ("Fix it\nSender (untrusted metadata):\n```json\n{", "Fix it"),
            ("", ""),
        ] {
            assert_eq!(words(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn messages_of_the_program_are_known_by_how_they_begin() {
        for text in [
            "[cron:670c0bc5 mentions] Look for mentions",
            "[Mon 2026-01-05 10:00 UTC] [Subagent Context] You are a subagent",
            "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.",
            "System: [2026-01-05 10:00:00 UTC] Exec completed\n\nAn async command you ran earlier has completed. Relay it.",
            "[Inter-session message] sourceSession=agent:forge:main",
        ] {
            assert_eq!(words(text), None, "{text}");
        }
    }

    #[test]
    fn a_chat_of_several_people_is_known() {
        let group = "Conversation info (untrusted metadata):\n```json\n{\n  \"is_group_chat\": true,\n  \"sender\": \"Kim\"\n}\n```\n\nFix it";
        assert_eq!(
            opened(group),
            Sent::Words {
                words: "Fix it".into(),
                group: true
            }
        );
        // Words that only look like it are a person's own.
        let own = "Set this:\n\"is_group_chat\": true";
        assert!(matches!(opened(own), Sent::Words { group: false, .. }));
    }
}
