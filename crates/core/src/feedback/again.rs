//! Requests that are made a second time.

use crate::cluster::words;

/// Whether a request says again what another one said, edited or not: of all their content words, at
/// least half are in both.
#[must_use]
pub fn says_again(request: &str, other: &str) -> bool {
    if request.trim() == other.trim() {
        return true;
    }
    let (request, other) = (words(request), words(other));
    let shared = request.intersection(&other).count();
    shared > 0 && shared * 2 >= request.len() + other.len() - shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_requests_are_told_from_others() {
        for (request, other) in [
            ("Write the parser", "Write the parser"),
            ("Write the parser in Rust", "Write the parser"),
            ("write the tests, without mocks", "Write the tests"),
            ("继续写解析器", "继续写解析器吧"),
            ("...", "..."),
        ] {
            assert!(says_again(request, other), "{request} / {other}");
        }
        for (request, other) in [
            ("Write the parser", "And now the docs"),
            ("Use tabs", "Write the parser for the header of the file"),
            ("...", "!!!"),
            ("", "Write the parser"),
        ] {
            assert!(!says_again(request, other), "{request} / {other}");
        }
    }
}
