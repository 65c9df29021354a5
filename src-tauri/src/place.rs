//! The windows there are, as words on a command line and as addresses of the front end.

use std::fmt;
use std::str::FromStr;

use skillopt_app::window::{OpenWindow, WindowName};

/// One window. Ids name rows of the store; nothing else is let in, since they become part of an
/// address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// All projects and what waits for a decision.
    Overview,
    /// The overview, where it is chosen how long nights are paused.
    Pause,
    /// The proposals, at one of them if it is named.
    Review(Option<String>),
    /// Settings of one project.
    Project(String),
    /// Settings of the app.
    Settings,
    /// One night, live or past.
    Night(String),
    /// Open questions of a project, to be answered by hand.
    Handoff(String),
    /// What a new user sees.
    FirstRun,
}

/// Not the name of a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoSuchPlace;

impl FromStr for Place {
    type Err = NoSuchPlace;

    fn from_str(text: &str) -> Result<Self, NoSuchPlace> {
        let (name, id) = match text.split_once('/') {
            Some((name, id)) => (name, Some(id)),
            None => (text, None),
        };
        let named = |id: Option<&str>| {
            id.filter(|id| is_id(id))
                .map(str::to_owned)
                .ok_or(NoSuchPlace)
        };
        match (name, id) {
            ("overview", None) => Ok(Self::Overview),
            ("pause", None) => Ok(Self::Pause),
            ("review", None) => Ok(Self::Review(None)),
            ("review", id) => named(id).map(|id| Self::Review(Some(id))),
            ("project", id) => named(id).map(Self::Project),
            ("settings", None) => Ok(Self::Settings),
            ("night", id) => named(id).map(Self::Night),
            ("handoff", id) => named(id).map(Self::Handoff),
            ("first-run", None) => Ok(Self::FirstRun),
            _ => Err(NoSuchPlace),
        }
    }
}

impl Place {
    /// The place a page asks for. What a window does not need is not looked at.
    pub(crate) fn asked_for(asked: OpenWindow) -> Result<Self, NoSuchPlace> {
        let named = |id: Option<String>| id.filter(|id| is_id(id)).ok_or(NoSuchPlace);
        match asked.window {
            WindowName::Overview => Ok(Self::Overview),
            WindowName::Review => match asked.proposal {
                None => Ok(Self::Review(None)),
                id => named(id).map(|id| Self::Review(Some(id))),
            },
            WindowName::Project => named(asked.project).map(Self::Project),
            WindowName::Night => named(asked.night.map(|night| night.to_string())).map(Self::Night),
            WindowName::Handoff => named(asked.project).map(Self::Handoff),
            WindowName::Settings => Ok(Self::Settings),
            WindowName::FirstRun => Ok(Self::FirstRun),
        }
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overview => f.write_str("overview"),
            Self::Pause => f.write_str("pause"),
            Self::Review(None) => f.write_str("review"),
            Self::Review(Some(id)) => write!(f, "review/{id}"),
            Self::Project(id) => write!(f, "project/{id}"),
            Self::Settings => f.write_str("settings"),
            Self::Night(id) => write!(f, "night/{id}"),
            Self::Handoff(id) => write!(f, "handoff/{id}"),
            Self::FirstRun => f.write_str("first-run"),
        }
    }
}

impl Place {
    /// The name of its window: there is one review window, and one for each project, night and
    /// hand-off.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Review(_) => "review".to_owned(),
            Self::Pause => Self::Overview.label(),
            other => other.to_string().replace('/', "-"),
        }
    }

    /// Its part of the front end's address.
    pub(crate) fn hash(&self) -> String {
        match self {
            Self::Pause => "#/overview/pause".to_owned(),
            other => format!("#/{other}"),
        }
    }

    /// A script that brings the page of its window there, wherever it has gone meanwhile. A review that is
    /// open stays where it is when none is named.
    pub(crate) fn going_there(&self) -> String {
        // A place holds nothing but letters, digits, `-`, `_` and `/`.
        let hash = self.hash();
        let is_there = match self {
            Self::Review(None) => format!("location.hash.startsWith('{hash}')"),
            Self::Overview
            | Self::Pause
            | Self::Review(Some(_))
            | Self::Project(_)
            | Self::Settings
            | Self::Night(_)
            | Self::Handoff(_)
            | Self::FirstRun => format!("location.hash === '{hash}'"),
        };
        format!("if (!({is_there})) location.hash = '{hash}';")
    }

    /// Width and height when it opens, in logical pixels.
    pub(crate) fn size(&self) -> (f64, f64) {
        match self {
            Self::Overview | Self::Pause | Self::Handoff(_) => (980.0, 700.0),
            Self::Review(_) => (1180.0, 780.0),
            Self::Project(_) | Self::Settings => (820.0, 740.0),
            Self::Night(_) => (1080.0, 740.0),
            Self::FirstRun => (780.0, 680.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_read_as_it_is_written() {
        for place in [
            Place::Overview,
            Place::Pause,
            Place::Review(None),
            Place::Review(Some("2026-11-30-a1".into())),
            Place::Project("p_1".into()),
            Place::Settings,
            Place::Night("12".into()),
            Place::Handoff("p_1".into()),
            Place::FirstRun,
        ] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
    }

    #[test]
    fn a_page_gets_the_window_it_asks_for() {
        let asked = |json: &str| Place::asked_for(serde_json::from_str(json).unwrap());
        for (json, place) in [
            (r#"{"window": "overview"}"#, Place::Overview),
            (
                r#"{"window": "review", "proposal": null}"#,
                Place::Review(None),
            ),
            (
                r#"{"window": "review", "proposal": "p1"}"#,
                Place::Review(Some("p1".into())),
            ),
            (
                r#"{"window": "night", "night": 12}"#,
                Place::Night("12".into()),
            ),
            (
                r#"{"window": "handoff", "project": "p_1"}"#,
                Place::Handoff("p_1".into()),
            ),
            (r#"{"window": "first-run"}"#, Place::FirstRun),
        ] {
            assert_eq!(asked(json), Ok(place), "{json}");
        }
        for json in [
            r#"{"window": "project"}"#,
            r#"{"window": "project", "project": "../x"}"#,
            r#"{"window": "review", "proposal": "'+alert(1)+'"}"#,
        ] {
            assert_eq!(asked(json), Err(NoSuchPlace), "{json}");
        }
    }

    #[test]
    fn nothing_gets_into_an_address_that_is_not_an_id() {
        for text in [
            "",
            "review/",
            "night",
            "night/1'+alert(1)+'",
            "project/../x",
            "overview/1",
            "else",
            "review/a/b",
        ] {
            assert_eq!(text.parse::<Place>(), Err(NoSuchPlace), "{text}");
        }
        assert_eq!(
            format!("night/{}", "1".repeat(101)).parse::<Place>(),
            Err(NoSuchPlace)
        );
    }
}
