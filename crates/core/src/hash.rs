//! SHA-256 as lowercase hex, the only hash that is stored or compared.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes` as 64 lowercase hex characters.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    sha256_parts(&[bytes])
}

/// SHA-256 of the concatenation of `parts` as 64 lowercase hex characters.
#[must_use]
pub fn sha256_parts(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_fips_180_4() {
        // FIPS 180-4 example: SHA-256("abc").
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex(b"abc"), expected);
        assert_eq!(sha256_parts(&[b"a", b"", b"bc"]), expected);
    }
}
