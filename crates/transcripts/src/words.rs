//! Words that stand in several parts.

use std::borrow::Cow;

use crate::lenient::Content;

/// The texts of a message's content, with line ends between them. `text` says what of a part is
/// text.
pub(crate) fn of_content<'a, B>(
    content: &'a Content<'a, B>,
    text: impl Fn(&'a B) -> Option<&'a str>,
) -> Cow<'a, str> {
    let parts = match content {
        Content::Text(text) => return Cow::Borrowed(text),
        Content::Blocks(parts) => parts,
    };
    let mut texts = parts
        .iter()
        .filter_map(text)
        .filter(|text| !text.is_empty());
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |mut joined, text| {
        let owned = joined.to_mut();
        owned.push('\n');
        owned.push_str(text);
        joined
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lenient::Text;

    #[test]
    fn texts_are_joined_and_the_rest_is_left_out() {
        let parts = Content::Blocks(vec![Some("a"), None, Some(""), Some("b\n"), Some("c")]);
        assert_eq!(of_content(&parts, |part| *part), "a\nb\n\nc");
        let none: Content<'_, Option<&str>> = Content::Blocks(Vec::new());
        assert_eq!(of_content(&none, |part| *part), "");
        let alone: Content<'_, Option<&str>> = Content::Text(Text(Cow::Borrowed("alone")));
        assert_eq!(of_content(&alone, |part| *part), "alone");
    }
}
