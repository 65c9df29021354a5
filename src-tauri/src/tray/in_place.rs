//! Menus whose entries are kept and changed in place: what can be kept, and which order a click means.

use crate::menu::Entry;
#[cfg(any(test, not(target_os = "linux")))]
use crate::menu::Order;

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

/// What the system calls the entry of an order.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn name(order: &Order) -> String {
    format!("{order:?}")
}

/// The order that a click means, unless the menu no longer has it.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn order_named(name: &str, menu: &[Entry]) -> Option<Order> {
    menu.iter().find_map(|entry| match entry {
        Entry::Act(_, order) => (self::name(order) == name).then(|| order.clone()),
        Entry::Sub(_, entries) => order_named(name, entries),
        Entry::Line(_) | Entry::Rule => None,
    })
}

/// Text in which nothing is a key: in these menus, `&` marks one.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn label(text: &str) -> String {
    text.replace('&', "&&")
}

/// A tooltip that Windows can show: it has room for so many units of UTF-16.
#[cfg(any(test, not(target_os = "linux")))]
pub(super) fn tooltip(title: &str, line: &str) -> String {
    const LONGEST: usize = 127;
    let mut room = LONGEST;
    format!("SkillOpt: {title}\n{line}")
        .chars()
        .take_while(|c| {
            let fits = c.len_utf16() <= room;
            room = room.saturating_sub(c.len_utf16());
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn a_click_on_what_the_menu_no_longer_has_means_nothing() {
        let adopt = Order::Adopt("1".into());
        let name = name(&adopt);
        assert_eq!(order_named(&name, &menu("a", "1")), Some(adopt));
        assert_eq!(order_named(&name, &menu("a", "2")), None);
        assert_eq!(order_named("Quit", &menu("a", "2")), Some(Order::Quit));
        assert_eq!(order_named("", &menu("a", "2")), None);
    }

    #[test]
    fn no_character_of_a_name_is_a_key() {
        assert_eq!(label("R&D"), "R&&D");
    }

    #[test]
    fn a_tooltip_fits_and_ends_between_characters() {
        assert_eq!(
            tooltip("asleep", "Next: 03:00."),
            "SkillOpt: asleep\nNext: 03:00."
        );
        let long = tooltip("asleep", &"🌙".repeat(200));
        assert_eq!(long.encode_utf16().count(), 127);
        assert!(long.ends_with('🌙'));
    }
}
