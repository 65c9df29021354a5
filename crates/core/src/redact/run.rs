//! Secrets without a telling prefix, known by the shape of a long run: JSON web tokens, Discord bot
//! tokens, Twilio keys.

use memchr::{memchr, memmem};

use super::class::{ALNUM, DIGIT, DOT, UNDERSCORE, WORD, begins_word, is, run_end};
use super::mark;

/// A secret and what stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) mark: &'static str,
}

/// What a run is made of.
const RUN: u8 = WORD | DOT;
/// The shortest secret here is a web token of three segments of eight bytes (§7.10).
const SHORTEST: usize = 3 * JWT_SEGMENT + 2;
/// Every segment of a JSON web token has at least this many bytes (§7.10).
const JWT_SEGMENT: usize = 8;

/// Finds such secrets one after the other.
///
/// Only every 26th byte is looked at as long as no run can have begun there, so prose is cheap; a run is
/// walked through a constant number of times, however often the search is taken up inside it.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The end of the run that was found last.
    end: usize,
}

impl Runs {
    /// The first secret at or after `from`, which never moves back; `work` grows by the bytes looked at.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize, work: &mut usize) -> Option<Span> {
        let mut begin = from;
        loop {
            if begin >= self.end {
                let probe = begin + SHORTEST - 1;
                if probe >= bytes.len() {
                    return None;
                }
                let gap = bytes[begin..=probe]
                    .iter()
                    .rposition(|&byte| !is(byte, RUN));
                *work += SHORTEST - gap.unwrap_or(0);
                if let Some(gap) = gap {
                    begin += gap + 1;
                    continue;
                }
                self.end = run_end(bytes, probe, RUN);
                *work += self.end - probe;
            }
            if self.end - begin >= SHORTEST
                && let Some(span) = secret_in(bytes, from, begin, self.end, work)
            {
                return Some(span);
            }
            begin = self.end;
        }
    }
}

/// The mark of the secret that is all of `text`, if it is one.
pub(super) fn mark_of(text: &[u8], work: &mut usize) -> Option<&'static str> {
    let span = Runs::default().next(text, 0, work)?;
    (span.start == 0 && span.end == text.len()).then_some(span.mark)
}

/// Where the text of a run begins: after the letters of an escape before it.
fn after_escape(bytes: &[u8], from: usize, begin: usize, end: usize) -> usize {
    if begin > from && bytes[begin - 1] == b'\\' && matches!(bytes[begin], b'n' | b'r' | b't') {
        return begin + 1;
    }
    let letter = run_end(&bytes[..end], begin, DIGIT);
    if letter < end && bytes[letter] == b'm' && begins_word(bytes, from, letter + 1) {
        return letter + 1;
    }
    begin
}

fn secret_in(
    bytes: &[u8],
    from: usize,
    begin: usize,
    end: usize,
    work: &mut usize,
) -> Option<Span> {
    let mut segment = after_escape(bytes, from, begin, end);
    let whole = &bytes[segment..end];
    if let Some(key) = twilio_key(whole) {
        return Some(Span {
            start: segment,
            end: segment + key,
            mark: mark::PROVIDER_KEY,
        });
    }
    let segment_end =
        |start: usize| memchr(b'.', &bytes[start..end]).map_or(end, |length| start + length);
    while segment < end {
        let first = segment_end(segment);
        // A segment is looked at as the first, the second and the third of three.
        *work += 4 * (first - segment + 1);
        if first == end {
            return None;
        }
        if first - segment >= JWT_SEGMENT {
            let second = segment_end(first + 1);
            if second == end {
                return None;
            }
            if begins_discord(&bytes[segment..first], second - first - 1) {
                let third = segment_end(second + 1);
                if (27..=45).contains(&(third - second - 1)) {
                    return Some(Span {
                        start: segment,
                        end: third,
                        mark: mark::BOT_TOKEN,
                    });
                }
            }
            if second - first > JWT_SEGMENT
                && let Some(start) = jwt_start(bytes, from, segment, first)
            {
                let third = segment_end(second + 1);
                if third - second > JWT_SEGMENT {
                    return Some(Span {
                        start,
                        end: encrypted_end(bytes, third, end),
                        mark: mark::JWT,
                    });
                }
            }
        }
        segment = first + 1;
    }
    None
}

/// Where the first segment of a web token begins in `segment..end`.
fn jwt_start(bytes: &[u8], from: usize, segment: usize, end: usize) -> Option<usize> {
    memmem::find_iter(&bytes[segment..end], b"eyJ")
        .map(|at| segment + at)
        .take_while(|&at| end - at >= JWT_SEGMENT)
        .find(|&at| begins_word(bytes, from, at))
}

/// An encrypted token has five segments; the last two are taken too when both are there.
fn encrypted_end(bytes: &[u8], third: usize, end: usize) -> usize {
    let after = |start: usize| {
        let stop = run_end(&bytes[..end], start, WORD);
        (stop > start + JWT_SEGMENT).then_some(stop)
    };
    if third >= end {
        return third;
    }
    let Some(fourth) = after(third + 1) else {
        return third;
    };
    if fourth >= end {
        return third;
    }
    after(fourth + 1).unwrap_or(third)
}

/// The first part of a Discord token is a user id, 17 to 20 decimal digits, in base64; the second has
/// six or seven bytes.
fn begins_discord(first: &[u8], second: usize) -> bool {
    (23..=28).contains(&first.len())
        && (6..=7).contains(&second)
        && matches!(first[0], b'M' | b'N' | b'O')
        && matches!(first[1], b'D' | b'T' | b'j' | b'z')
        && first.iter().all(|&byte| is(byte, ALNUM))
}

/// `SK` or `AC` and 32 hexadecimal digits, and no further letter or digit.
fn twilio_key(run: &[u8]) -> Option<usize> {
    const LENGTH: usize = 34;
    let (key, rest) = run.split_at_checked(LENGTH)?;
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = rest
        .first()
        .is_none_or(|&next| !is(next, ALNUM | UNDERSCORE))
        && (key.starts_with(b"SK") || key.starts_with(b"AC"))
        && key[2..].iter().all(hex);
    fits.then_some(LENGTH)
}
