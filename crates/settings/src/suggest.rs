//! What somebody meant who wrote a name that does not exist.

/// The candidate closest to `word`, when it is close enough to be a slip.
pub(crate) fn closest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    /// Longer words are nobody's slip.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let near = candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate));
    let (distance, candidate) = near.min_by_key(|(distance, _)| *distance)?;
    let bound = (candidate.chars().count() / 3).clamp(1, 4);
    (distance <= bound).then_some(candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment).
fn distance(first: &str, second: &str) -> usize {
    let (first, second): (Vec<char>, Vec<char>) =
        (first.chars().collect(), second.chars().collect());
    let mut before_last = vec![0; second.len() + 1];
    let mut last: Vec<usize> = (0..=second.len()).collect();
    for (row, a) in first.iter().enumerate() {
        let mut next = vec![row + 1; second.len() + 1];
        for (column, b) in second.iter().enumerate() {
            let cost = usize::from(a != b);
            let mut best = (last[column] + cost)
                .min(last[column + 1] + 1)
                .min(next[column] + 1);
            if row > 0 && column > 0 && *a == second[column - 1] && first[row - 1] == *b {
                best = best.min(before_last[column - 1] + 1);
            }
            next[column + 1] = best;
        }
        before_last = std::mem::replace(&mut last, next);
    }
    last[second.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("cluade", "claude"), 1);
        assert_eq!(closest("cluade", ["mock", "claude"]), Some("claude"));
        assert_eq!(closest("zebra", ["mock", "claude"]), None);
        assert_eq!(closest("", ["mock"]), None);
    }
}
