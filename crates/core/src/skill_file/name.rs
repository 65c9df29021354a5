//! Names of skills.

use super::MAX_NAME;

/// Whether a name is one every loader takes: 1 to 64 lower-case ASCII letters, digits and single
/// hyphens, none at the ends (agentskills.io/specification).
#[must_use]
pub fn is_loadable_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The name of a skill's folder, trimmed, if it is one (§6.8, §7.1): never a path, on no system, and
/// nothing a shell or file system gives another meaning. Case and punctuation stay.
#[must_use]
pub fn safe_skill_name(name: &str) -> Option<&str> {
    let name = name.trim();
    let is_reserved = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    // A name that ends with a full stop is `.`, `..`, or one that Windows shortens.
    let is_safe = !name.is_empty()
        && !name.starts_with('~')
        && !name.ends_with('.')
        && !name.contains(is_reserved);
    is_safe.then_some(name)
}
