//! Putting values into a template, once.

/// The names of the placeholders in `template`, in order, with repetitions.
pub(super) fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let (_, name, after) = next(rest)?;
        rest = after;
        Some(name)
    })
}

/// `template` with every placeholder replaced by its value. Values are not looked at again.
///
/// A placeholder alone on its line whose value is empty takes its line, and one blank line after
/// it, along. A placeholder without a value stays as it is.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(
        template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>(),
    );
    let mut rest = template;
    while let Some((before, name, after)) = next(rest) {
        filled.push_str(before);
        rest = after;
        match values.iter().find(|(known, _)| *known == name) {
            None => {
                filled.push_str("__");
                filled.push_str(name);
                filled.push_str("__");
            }
            Some((_, "")) if filled.is_empty() || filled.ends_with('\n') => {
                rest = after
                    .strip_prefix('\n')
                    .map_or(after, |next| next.strip_prefix('\n').unwrap_or(next));
            }
            Some((_, value)) => filled.push_str(value),
        }
    }
    filled.push_str(rest);
    filled
}

/// The text before the first placeholder, its name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find("__")?;
        let name = &text[open + 2..];
        let length = name
            .bytes()
            .position(|byte| !(byte.is_ascii_uppercase() || byte == b'_'))
            .unwrap_or(name.len());
        // Inside a name underscores are single; the first double one closes it.
        match name[..length].find("__") {
            Some(close) if close > 0 && !name.starts_with('_') => {
                return Some((&text[..open], &name[..close], &name[close + 2..]));
            }
            _ => from = open + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_not_looked_at_again() {
        // §14 #50: a document that contains __INTENT__ was rewritten.
        let filled = fill(
            "skill: __SKILL__, intent: __INTENT__",
            &[("SKILL", "use __INTENT__"), ("INTENT", "x")],
        );
        assert_eq!(filled, "skill: use __INTENT__, intent: x");
    }

    #[test]
    fn names_have_single_underscores_only() {
        assert_eq!(
            placeholders("__CUR_DOC____A__ __init__ ____ __B_ _C__ __D__").collect::<Vec<_>>(),
            ["CUR_DOC", "A", "D"]
        );
    }

    #[test]
    fn an_empty_section_leaves_no_gap() {
        let template = "a\n\n__X__\n\nb\n__Y__\n";
        assert_eq!(fill(template, &[("X", ""), ("Y", "y")]), "a\n\nb\ny\n");
        assert_eq!(fill("in __X__ line", &[("X", "")]), "in  line");
    }

    proptest! {
        #[test]
        fn never_fails_and_keeps_text_without_placeholders(text in "[A-Z_ab\n]{0,60}") {
            let filled = fill(&text, &[]);
            prop_assert_eq!(filled, text);
        }
    }
}
