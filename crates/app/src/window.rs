//! What a page asks of the shell around it beside commands, and what the shell tells it: the one list from
//! which both sides have their types.

use serde::{Deserialize, Serialize};

macro_rules! shell_calls {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal : $input:ty => $output:ty;)+) => {
        /// A call of the shell with its input.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "call", content = "input")]
        pub enum ShellCall {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant($input),)+
        }

        /// What a call gives. Serialises as the output alone.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum ShellOutput {
            $($(#[doc = $doc])+ $variant($output),)+
        }

        /// Tells the types of every call, and of what the shell tells by itself.
        #[cfg(feature = "typescript")]
        pub(crate) fn describe(interface: &mut crate::typescript::Interface) {
            $(interface.shell_call::<$input, $output>($name, concat!($($doc),+).trim());)+
            interface.take::<BackendEvent>();
        }
    };
}

shell_calls! {
    /// Opens a window, or brings it to the front.
    OpenWindow "open_window": OpenWindow => ();
    /// Shows one of the app's own folders in the file manager.
    OpenFolder "open_folder": OpenFolder => ();
    /// Says whether the app starts with the session.
    Autostart "autostart": Autostart => bool;
}

/// A window, at what it is to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct OpenWindow {
    /// Which.
    pub window: WindowName,
    /// Id of the project that `project` and `handoff` are about.
    pub project: Option<String>,
    /// Id of the proposal that `review` shows first.
    pub proposal: Option<String>,
    /// The night that `night` shows.
    pub night: Option<i64>,
}

/// The windows there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum WindowName {
    /// All projects and what waits for a decision.
    Overview,
    /// The proposals.
    Review,
    /// Settings of one project.
    Project,
    /// One night, live or past.
    Night,
    /// Open questions of a project.
    Handoff,
    /// Settings of the app.
    Settings,
    /// What a new user sees.
    FirstRun,
}

/// One of the app's own folders; the page says which, never where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpenFolder {
    /// Which.
    pub folder: Folder,
}

/// A folder of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Folder {
    /// The database, what nights left, and the log.
    Data,
    /// The settings.
    Settings,
}

/// Whether the app starts with the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct Autostart {
    /// Changes it first, if given.
    pub on: Option<bool>,
}

/// What the shell tells its pages. Nothing is decided from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BackendEvent {
    /// Something may have changed.
    Changed {
        /// What it may be.
        what: Changed,
    },
    /// Files of another program are held over this window, or no longer.
    FilesOver {
        /// Whether they are.
        over: bool,
    },
    /// Files of another program were let go over this window.
    FilesDropped {
        /// Their paths, in the order of that program.
        files: Vec<String>,
    },
}

/// What may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// Store, settings and keyring: somebody has done something.
    Everything,
    /// The store alone: most often a night that works.
    Store,
}
