//! What this program was started for, read from its words.

use std::ffi::OsString;

use crate::place::Place;

/// The role this process plays.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The tray, the schedule and the notifications; opens a window as well if one is named.
    Tray {
        /// The window.
        open: Option<Place>,
        /// Started by the session, not by hand: nothing is opened unasked.
        quietly: bool,
    },
    /// The windows, in a process of their own that ends with the last of them.
    Windows {
        /// The first one.
        first: Place,
        /// Whether the tray holds the other end of standard input and sends further windows.
        attached: bool,
    },
    /// One night of a project, as a child of the tray: the words of `skillopt sleep run`.
    Night(Vec<String>),
    /// Help or version; printed, then over.
    Say(String),
    /// Words that mean nothing.
    Wrong(String),
}

const HELP: &str = "\
skillopt-desktop: nights while you sleep, one click in the morning

  skillopt-desktop                   start the tray, or show the window of the one that runs
  skillopt-desktop --open WINDOW     the same, with a window: overview, review, review/PROPOSAL,
                                     project/ID, settings, night/ID, handoff/ID, pause, first-run
  skillopt-desktop --quiet           start the tray and open nothing
  skillopt-desktop window WINDOW     one window without the tray
  skillopt-desktop --version

Everything else is done with `skillopt`.";

/// Reads the words after the program's name.
pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Start {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place = |text: &str| {
        text.parse::<Place>()
            .map_err(|_| Start::Wrong(format!("There is no window \"{}\".", text.escape_debug())))
    };
    match words.as_slice() {
        [] => Start::Tray {
            open: None,
            quietly: false,
        },
        ["--quiet"] => Start::Tray {
            open: None,
            quietly: true,
        },
        ["--open", text] => match place(text) {
            Ok(place) => Start::Tray {
                open: Some(place),
                quietly: false,
            },
            Err(wrong) => wrong,
        },
        ["window", text, rest @ ..] if matches!(rest, [] | ["--attached"]) => match place(text) {
            Ok(first) => Start::Windows {
                first,
                attached: !rest.is_empty(),
            },
            Err(wrong) => wrong,
        },
        ["night", words @ ..] => Start::Night(words.iter().map(|&word| word.to_owned()).collect()),
        ["--help" | "-h" | "help"] => Start::Say(HELP.to_owned()),
        ["--version" | "-V"] => {
            Start::Say(format!("skillopt-desktop {}", env!("CARGO_PKG_VERSION")))
        }
        [word, ..] => Start::Wrong(format!("\"{}\" means nothing here.", word.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(words: &[&str]) -> Start {
        read(words.iter().map(OsString::from))
    }

    #[test]
    fn the_words_name_the_role() {
        assert_eq!(
            reading(&[]),
            Start::Tray {
                open: None,
                quietly: false
            }
        );
        assert_eq!(
            reading(&["--quiet"]),
            Start::Tray {
                open: None,
                quietly: true
            }
        );
        assert_eq!(
            reading(&["--open", "review/p1"]),
            Start::Tray {
                open: Some(Place::Review(Some("p1".into()))),
                quietly: false
            }
        );
        assert_eq!(
            reading(&["window", "settings", "--attached"]),
            Start::Windows {
                first: Place::Settings,
                attached: true
            }
        );
        assert_eq!(
            reading(&["night", "--project", "/p"]),
            Start::Night(vec!["--project".into(), "/p".into()])
        );
        for wrong in [
            &["--open", "nowhere"][..],
            &["window", "settings", "else"],
            &["tray"],
        ] {
            assert!(matches!(reading(wrong), Start::Wrong(_)), "{wrong:?}");
        }
    }
}
