//! Names, ids and moments as transcripts have them.

use skillopt_core::Instant;

/// Most bytes of one name, id, folder or branch.
const LONGEST_NAME: usize = 4096;

/// A moment as transcripts write it: ISO 8601 with any offset.
pub(crate) fn instant(text: &str) -> Option<Instant> {
    text.trim().parse().ok()
}

/// A name that is shown: at most 60 printable characters.
pub(crate) fn clean(name: &str) -> String {
    name.chars()
        .take(60)
        .map(|c| if c.is_ascii_graphic() { c } else { '_' })
        .collect()
}

/// A tool's name with runs of other characters as `_`, at most 80 (§3.3).
pub(crate) fn tool_name(name: &str) -> String {
    let mut clean = String::new();
    for c in name.trim().chars().take(80) {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-') {
            clean.push(c);
        } else if !clean.ends_with('_') {
            clean.push('_');
        }
    }
    clean
}

/// At most the first 4096 bytes.
pub(crate) fn short(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_NAME);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a path as a transcript has it begins at a root of any system.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..2) == Some(":")
}

/// FNV-1a over the parts with their lengths, mixed: stored, so it must never change.
pub(crate) fn hash(parts: &[&[u8]]) -> u64 {
    let mut state = 0xCBF2_9CE4_8422_2325_u64;
    let mut eat = |byte: u8| state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    for part in parts {
        part.iter().copied().for_each(&mut eat);
        (part.len() as u64)
            .to_le_bytes()
            .into_iter()
            .for_each(&mut eat);
    }
    state ^= state >> 32;
    state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_cleaned() {
        assert_eq!(tool_name(" mcp  read/file!ü "), "mcp_read_file_");
        assert_eq!(tool_name(&"a".repeat(100)).len(), 80);
        assert_eq!(clean("a b\u{7}ü"), "a_b__");
        assert_eq!(short(&"ü".repeat(3000)).len(), 4096);
        assert!(is_absolute("/w") && is_absolute("C:\\w") && !is_absolute("w/a"));
        assert_eq!(
            instant(" 2026-01-05T10:00:00+01:00 ").unwrap().to_string(),
            "2026-01-05T09:00:00Z"
        );
        assert_eq!(instant("yesterday"), None);
    }

    #[test]
    fn stored_hashes_never_change() {
        assert_eq!(hash(&[b"claude", b"id"]), 0x14B3_B08C_BFA4_B754);
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
