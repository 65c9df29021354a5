//! Menus and tooltips that the system draws (macOS, Windows): how entries are named and written there, and
//! which order a click means.

use crate::menu::{Entry, Order};

/// What the system calls the entry of an order.
pub(super) fn name(order: &Order) -> String {
    format!("{order:?}")
}

/// The order that a click means, unless the menu no longer has it.
pub(super) fn order_named(name: &str, menu: &[Entry]) -> Option<Order> {
    menu.iter().find_map(|entry| match entry {
        Entry::Act(_, order) => (self::name(order) == name).then(|| order.clone()),
        Entry::Sub(_, entries) => order_named(name, entries),
        Entry::Line(_) | Entry::Rule => None,
    })
}

/// Text in which nothing is a key: in these menus, `&` marks one.
pub(super) fn label(text: &str) -> String {
    text.replace('&', "&&")
}

/// A tooltip that Windows can show: it has room for so many units of UTF-16.
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

    #[test]
    fn a_click_on_what_the_menu_no_longer_has_means_nothing() {
        let menu = |nonce: &str| {
            let adopt = Entry::Act("Adopt".into(), Order::Adopt(nonce.into()));
            vec![
                Entry::Sub("deploy".into(), vec![Entry::Rule, adopt]),
                Entry::Act("Quit".into(), Order::Quit),
            ]
        };
        let adopt = Order::Adopt("1".into());
        let name = name(&adopt);
        assert_eq!(order_named(&name, &menu("1")), Some(adopt));
        assert_eq!(order_named(&name, &menu("2")), None);
        assert_eq!(order_named("Quit", &menu("2")), Some(Order::Quit));
        assert_eq!(order_named("", &menu("2")), None);
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
