//! PEM private key blocks.

use memchr::memmem;

use super::class::{ALNUM, BASE64, DIGIT, run_end};

/// How far an end line is looked for, and how long an unterminated body may be. The largest RSA keys in
/// use take about 13 KiB.
const LONGEST: usize = 32 * 1024;

/// The end of the private key block whose `-----BEGIN ` ends at `label`, if it is one and has a body.
///
/// Without an end line, what looks like the body is taken. `work` grows by the bytes looked at; the
/// search stops at the next row of dashes, so no byte is searched for two blocks.
pub(super) fn block_end(bytes: &[u8], label: usize, work: &mut usize) -> Option<usize> {
    let line = &bytes[label..bytes.len().min(label + 64)];
    let dashes = memmem::find(line, b"-----")?;
    memmem::find(&line[..dashes], b"PRIVATE KEY")?;
    let body = label + dashes + 5;
    let window = &bytes[body..bytes.len().min(body + LONGEST)];
    let next = memmem::find(window, b"-----");
    *work += next.unwrap_or(window.len());
    if let Some(next) = next
        && window[next..].starts_with(b"-----END ")
    {
        let rest = &window[next + 9..window.len().min(next + 9 + 64)];
        let end = memmem::find(rest, b"-----").map_or(next + 9, |at| next + 9 + at + 5);
        return Some(body + end);
    }
    let open = &window[..next.unwrap_or(window.len())];
    body_end(open).map(|end| body + end)
}

/// Where the base64 lines of a body end; `None` when there are none.
fn body_end(text: &[u8]) -> Option<usize> {
    let mut end = None;
    let mut at = headers_end(text);
    while at < text.len() {
        match text[at] {
            b'\\' if matches!(text.get(at + 1), Some(b'n' | b'r' | b't')) => at += 2,
            byte if byte.is_ascii_whitespace() || b"\\\"'+,>|".contains(&byte) => at += 1,
            _ => {
                let word = run_end(text, at, ALNUM | BASE64);
                let length = word - at;
                if length < 20 {
                    // A short last line belongs to the body; anything else ends it.
                    return if end.is_some() && length > 0 {
                        Some(word)
                    } else {
                        end
                    };
                }
                end = Some(word);
                at = word;
            }
        }
    }
    end
}

/// The end of the base64 lines behind `Private-Lines: ` of a PuTTY key file.
pub(super) fn putty_lines(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let count = run_end(bytes, at, DIGIT);
    let window = &bytes[count..bytes.len().min(count + LONGEST)];
    let start = window.iter().position(|&byte| byte > b' ')?;
    (count > at).then_some(())?;
    body_end(window).map(|end| (count + start, count + end))
}

/// Where the headers of a body end (RFC 1421, and those of PGP): behind the first empty line.
fn headers_end(text: &[u8]) -> usize {
    const LONGEST_HEADERS: usize = 512;
    let near = &text[..text.len().min(LONGEST_HEADERS)];
    let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\\n\\n"];
    let empty = ends
        .into_iter()
        .find_map(|end| Some(memmem::find(near, end)? + end.len()));
    empty
        .filter(|&empty| memmem::find(&near[..empty], b": ").is_some())
        .unwrap_or(0)
}
