//! The display a window appears on. Somebody can be signed in at two at once, and the tray runs in one of
//! them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The variables that name one. Nothing else of another process's environment is taken over.
const NAMES: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"];

/// A display, as a program finds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Display(BTreeMap<String, String>);

impl Display {
    /// The one this process was started on.
    pub(crate) fn here() -> Self {
        let found = NAMES.iter().filter_map(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
            Some(((*name).to_owned(), value))
        });
        Self(found.collect())
    }

    /// Whether windows can be opened on it. Only Linux has sessions without a display.
    pub(crate) fn is_there(&self) -> bool {
        cfg!(not(target_os = "linux"))
            || self.0.contains_key("DISPLAY")
            || self.0.contains_key("WAYLAND_DISPLAY")
    }

    /// This one, or where it is none, as after a start by ssh, the one of this process.
    pub(crate) fn or_here(self) -> Self {
        if self.is_there() { self } else { Self::here() }
    }

    /// Each variable, and its value where it has one.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        NAMES
            .iter()
            .map(|name| (*name, self.0.get(*name).map(String::as_str)))
    }
}
