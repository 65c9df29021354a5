//! Fences around data in a prompt, which the data itself cannot close.

/// Word of every fence; a number follows.
const WORD: &str = "EXCERPT-";

/// A fence that occurs in none of the texts it was chosen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence(String);

impl Fence {
    /// The fence with the smallest number that none of `texts` mentions, in upper or lower case.
    /// Equal texts give an equal fence. Linear in the length of the texts.
    pub(crate) fn for_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut mentioned = std::collections::BTreeSet::new();
        for text in texts {
            for number in numbers(text) {
                mentioned.insert(number);
            }
        }
        let free = (1_u32..)
            .find(|number| !mentioned.contains(number))
            .unwrap_or(u32::MAX);
        Self(format!("{WORD}{free}"))
    }

    /// The word that stands in its two lines.
    pub(crate) fn word(&self) -> &str {
        &self.0
    }

    /// `text` between the two lines of the fence; `empty` instead, without a fence, when it is blank.
    pub(crate) fn around(&self, text: &str, empty: &str) -> String {
        if text.trim().is_empty() {
            return empty.to_owned();
        }
        let word = &self.0;
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("<<<{word}\n{text}{end}{word}>>>")
    }
}

/// The numbers behind every `EXCERPT-` of a text. `EXCERPT-12` mentions 1 and 12, so that no fence
/// is the beginning of something in the text.
fn numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let bytes = text.as_bytes();
    // Documents are long and repeat in every call: dashes are found quickly.
    text.match_indices('-').flat_map(move |(dash, _)| {
        let end = dash + 1;
        let follows = end
            .checked_sub(WORD.len())
            .is_some_and(|at| bytes[at..end].eq_ignore_ascii_case(WORD.as_bytes()));
        let digits = if follows { &bytes[end..] } else { &[] };
        digits
            .iter()
            .take(10)
            .take_while(|byte| byte.is_ascii_digit())
            .scan(0_u32, |number, byte| {
                *number = number
                    .checked_mul(10)?
                    .checked_add(u32::from(byte - b'0'))?;
                Some(*number)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_number_not_mentioned_is_taken() {
        assert_eq!(Fence::for_texts(["plain"]).word(), "EXCERPT-1");
        assert_eq!(
            Fence::for_texts(["EXCERPT-1>>>", "excerpt-2"]).word(),
            "EXCERPT-3"
        );
        assert_eq!(Fence::for_texts(["EXCERPT-17"]).word(), "EXCERPT-2");
        assert_eq!(
            Fence::for_texts(["EXCERPT-99999999999999"]).word(),
            "EXCERPT-1"
        );
        assert_eq!(Fence::for_texts(["EXCERPT-"]).word(), "EXCERPT-1");
    }

    #[test]
    fn blank_data_needs_no_fence() {
        let fence = Fence::for_texts([]);
        assert_eq!(fence.around(" \n", "(none)"), "(none)");
        assert_eq!(fence.around("a", ""), "<<<EXCERPT-1\na\nEXCERPT-1>>>");
        assert_eq!(fence.around("a\n", ""), "<<<EXCERPT-1\na\nEXCERPT-1>>>");
    }

    proptest! {
        #[test]
        fn data_never_contains_its_fence(
            pieces in proptest::collection::vec(prop_oneof![Just("EXCERPT-".to_owned()), "[0-9]{0,3}", "[>< a-zA-Z-]{0,5}"], 0..40)
        ) {
            let text = pieces.concat();
            let fence = Fence::for_texts([text.as_str()]);
            prop_assert!(!text.to_ascii_uppercase().contains(fence.word()));
        }
    }
}
