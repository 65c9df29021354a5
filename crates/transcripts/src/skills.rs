//! Skills that agents use by reading them.

/// The skills whose `<skill>/SKILL.md` is named in a command or a path.
pub(crate) fn read_by(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("SKILL.md").filter_map(|(at, _)| {
        let before = text[..at].strip_suffix(['/', '\\'])?;
        let above = before
            .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        Some(&before[above.len()..]).filter(|name| !name.is_empty() && !name.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_names_the_skill() {
        for (text, expected) in [
            (
                "cat .claude/skills/release-notes/SKILL.md 2>/dev/null || cat a/b_2/SKILL.md",
                &["release-notes", "b_2"][..],
            ),
            ("/SKILL.md", &[]),
            ("../SKILL.md", &[]),
            ("skills/a b/SKILL.md", &["b"]),
            ("SKILL.md", &[]),
            (
                r"type C:\work\skills\release-notes\SKILL.md",
                &["release-notes"],
            ),
            (r"..\SKILL.md a\MYSKILL.md", &[]),
            (
                "cat ä/SKILL.md “release/SKILL.md” li\u{fffd}nt/SKILL.md",
                &["release", "nt"],
            ),
        ] {
            let found: Vec<&str> = read_by(text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
