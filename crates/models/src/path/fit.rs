//! Making prompts fit the model's window before they are asked.
//!
//! One rule: of the texts that may be cut, the longest are cut in their middle to one common length.
//! What may be cut is what only shows: transcripts, replies, examples. Documents, requests, rubrics and
//! contracts are whole or the call fails as too long; and attempts are never cut, since both sides of a
//! comparison must see the same.

use skillopt_core::call::{Message, Subject};

use crate::path::account::PER_MESSAGE;

/// Bytes of a prompt per token at least: an estimate that is rather too high.
const BYTES_PER_TOKEN: u64 = 3;
/// No text is cut to less.
const SHORTEST: usize = 150;
/// What stands in the place of what was cut.
const MARK: &str = "\n[… cut to fit the model …]\n";

/// How many bytes the messages of a call may have, when the model reads and writes `window` tokens at
/// most, `reply` of them for the reply and `overhead` for what else is sent.
pub(super) fn room(window: u64, reply: u64, overhead: u64) -> u64 {
    window
        .saturating_sub(reply)
        .saturating_sub(overhead)
        .saturating_mul(BYTES_PER_TOKEN)
}

/// Bytes of the messages as [`room`] counts them.
pub(super) fn size(messages: &[Message]) -> u64 {
    messages
        .iter()
        .map(|message| message.text.len() as u64 + PER_MESSAGE * BYTES_PER_TOKEN)
        .sum()
}

/// Takes at least `excess` bytes out of what may be cut of `subject`, as far as there is so much. Gives
/// how many bytes went.
pub(super) fn cut(subject: &mut Subject, excess: u64) -> u64 {
    let mut texts = may_be_cut(subject);
    let excess = usize::try_from(excess).unwrap_or(usize::MAX);
    let Some(length) = common_length(&texts, excess) else {
        return 0;
    };
    let mut gone = 0;
    for text in &mut texts {
        let before = text.len();
        shorten(text, length);
        gone += (before - text.len()) as u64;
    }
    gone
}

fn may_be_cut(subject: &mut Subject) -> Vec<&mut String> {
    match subject {
        // Turns are named by their place, so each stays, however short.
        Subject::Mine {
            prompts,
            last_reply,
            ..
        } => prompts.iter_mut().chain([last_reply]).collect(),
        Subject::Attempt { .. } => Vec::new(),
        Subject::Judge { response, .. } => vec![response],
        Subject::Reflect {
            failures,
            contrasts,
            other_document,
            ..
        } => {
            let failures = failures.iter_mut().map(|failure| &mut failure.response);
            let contrasts = contrasts
                .iter_mut()
                .flat_map(|pair| [&mut pair.better, &mut pair.worse]);
            failures.chain(contrasts).chain([other_document]).collect()
        }
    }
}

/// The greatest length that, as a limit for each text, takes `excess` bytes out of them together;
/// [`SHORTEST`] when even that does not; `None` when no text is longer than that.
fn common_length(texts: &[&mut String], excess: usize) -> Option<usize> {
    let mut lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    if lengths.first().is_none_or(|longest| *longest <= SHORTEST) {
        return None;
    }
    let mut sum = 0_usize;
    for (place, length) in lengths.iter().enumerate() {
        sum += length;
        let (many, next) = (place + 1, lengths.get(place + 1).copied().unwrap_or(0));
        // With the first `many` cut to `next`, so much would be gone.
        if sum - many * next >= excess {
            let limit = (sum - excess.min(sum)) / many;
            return Some(limit.max(SHORTEST));
        }
    }
    Some(SHORTEST)
}

/// Cuts `text` in its middle so that it is not longer than `length` bytes.
fn shorten(text: &mut String, length: usize) {
    if text.len() <= length {
        return;
    }
    let half = length.saturating_sub(MARK.len()) / 2;
    let head = floor(text, half);
    let tail = ceil(text, text.len() - half);
    *text = format!("{}{MARK}{}", &text[..head], &text[tail..]);
}

fn floor(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn ceil(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mine(prompts: &[&str], last_reply: &str) -> Subject {
        Subject::Mine {
            project: "/w".into(),
            session: "s".into(),
            prompts: prompts.iter().map(|&text| text.to_owned()).collect(),
            last_reply: last_reply.into(),
            feedback: Vec::new(),
        }
    }

    #[test]
    fn the_longest_are_cut_to_one_length_and_the_rest_is_left() {
        let (long, longer) = ("a".repeat(2_000), "b".repeat(5_000));
        let mut subject = mine(&["short", &long], &longer);
        let gone = cut(&mut subject, 4_000);
        let Subject::Mine {
            prompts,
            last_reply,
            ..
        } = subject
        else {
            panic!("it was one");
        };
        assert_eq!(prompts.len(), 2, "turns keep their places");
        assert_eq!(prompts[0], "short");
        // 7,000 - 4,000 = 3,000 bytes are left for two texts.
        assert!(prompts[1].len() <= 1_500 && last_reply.len() <= 1_500);
        assert!(prompts[1].len() > 1_490, "{}", prompts[1].len());
        assert!(prompts[1].starts_with("aaa") && prompts[1].ends_with("aaa"));
        assert!(prompts[1].contains("cut to fit the model"));
        assert!(gone >= 4_000);
    }

    #[test]
    fn what_must_be_whole_is_not_cut() {
        let document = "d".repeat(10_000);
        let mut subject = Subject::Attempt {
            task: Box::new(skillopt_core::task::Task::new("t", "/w", document.clone())),
            skill: document.clone(),
            memory: document.clone(),
        };
        let before = subject.clone();
        assert_eq!(cut(&mut subject, 5_000), 0);
        assert_eq!(subject, before);
        let mut subject = Subject::Judge {
            intent: document.clone(),
            rubric: document.clone(),
            response: document.clone(),
        };
        assert!(cut(&mut subject, 50_000) >= 9_000);
        let Subject::Judge { intent, rubric, .. } = subject else {
            panic!("it was one");
        };
        assert_eq!((intent.len(), rubric.len()), (10_000, 10_000));
    }

    #[test]
    fn a_window_has_room_for_what_it_leaves() {
        // 4,096 - 1,200 - 96 tokens of three bytes.
        assert_eq!(room(4_096, 1_200, 96), 8_400);
        assert_eq!(room(100, 1_200, 0), 0);
    }

    proptest! {
        #[test]
        fn so_much_goes_as_there_is(
            texts in proptest::collection::vec("[aé✓]{0,900}", 0..6), excess in 0_u64..4_000,
        ) {
            let prompts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut subject = mine(&prompts, "");
            let spare: usize = texts.iter().map(|text| text.len().saturating_sub(SHORTEST)).sum();
            let gone = cut(&mut subject, excess);
            prop_assert!(gone >= excess.min(spare as u64), "{gone} of {excess}, {spare} to spare");
            let Subject::Mine { prompts, .. } = subject else { unreachable!() };
            for (old, new) in texts.iter().zip(prompts) {
                prop_assert!(new.len() <= old.len());
            }
        }
    }
}
