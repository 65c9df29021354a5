//! Menus whose entries are kept and changed in place: what can be kept.

use crate::menu::Entry;

/// Whether a menu can become the other by changing words alone. An entry that is kept goes on meaning what
/// it meant when the menu was opened, so that no click hits what has moved under it.
pub(super) fn only_words_differ(old: &[Entry], new: &[Entry]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|pair| match pair {
            (Entry::Line(_), Entry::Line(_)) | (Entry::Rule, Entry::Rule) => true,
            (Entry::Act(_, old), Entry::Act(_, new)) => old == new,
            (Entry::Sub(_, old), Entry::Sub(_, new)) => only_words_differ(old, new),
            (Entry::Line(_) | Entry::Act(..) | Entry::Sub(..) | Entry::Rule, _) => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::menu::Order;
    use crate::place::Place;

    fn menu(line: &str, nonce: &str) -> Vec<Entry> {
        vec![
            Entry::Line(line.into()),
            Entry::Rule,
            Entry::Sub(
                "deploy".into(),
                vec![
                    Entry::Act("Review".into(), Order::Open(Place::Review(None))),
                    Entry::Act("Adopt".into(), Order::Adopt(nonce.into())),
                ],
            ),
            Entry::Act("Quit".into(), Order::Quit),
        ]
    }

    #[test]
    fn entries_are_kept_while_they_mean_the_same() {
        assert!(only_words_differ(&menu("a", "1"), &menu("b", "1")));
        assert!(!only_words_differ(&menu("a", "1"), &menu("a", "2")));
        let mut shorter = menu("a", "1");
        shorter.pop();
        assert!(!only_words_differ(&menu("a", "1"), &shorter));
        shorter.push(Entry::Rule);
        assert!(!only_words_differ(&menu("a", "1"), &shorter));
    }
}
