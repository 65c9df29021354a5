//! Every setting once, with its type, default and text, and the layers it can come from.
//!
//! [`ROWS`] is the one table: [`Settings`], the names in files, the environment variables, the flags,
//! the help and the commented defaults ([`DEFAULTS`]) follow from it. [`Layers::load`] resolves the
//! layers, [`Resolved::explain`] tells where a value came from, [`set`] changes a file and keeps its
//! comments, [`import`](import::read) takes over a configuration of the reference.
//!
//! Layers, each above the one before: defaults, the user's file, the project's file in the user's own
//! configuration folder, `.skillopt.toml` in the repository (which can only restrict), the environment,
//! flags. A file that cannot be read as a whole is never half used.

mod choice;
mod edit;
mod file;
pub mod import;
mod kind;
mod layers;
mod problems;
mod resolved;
mod suggest;
mod table;
mod value;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use skillopt_core::split::Fractions;

pub use choice::{
    Api, AzureAuth, BACKENDS, Choices, GateMode, Language, LegacyThinking, Metric, Notifications,
    Region, Scope, Source, Staging, Theme, Thinking, TrayIcon,
};
pub use edit::{set, unset};
pub use kind::{Form, Kind};
pub use layers::{ConfigPaths, Invocation, Layers, ProjectRef, REPOSITORY_FILE};
pub use problems::{Replaced, of_the_reference};
pub use resolved::{Explanation, Given, Layer, Resolved, Warning};
pub use table::{GROUPS, ROWS, Restriction, Row, Settings, row};

/// The defaults as a commented settings file. A test holds it equal to [`Settings::default`].
pub const DEFAULTS: &str = include_str!("../../../configs/settings.toml");

impl Settings {
    /// The shares of validation and test. Settings that were loaded always have valid ones; made-up
    /// ones that leave nothing to train on get the defaults.
    #[must_use]
    pub fn fractions(&self) -> Fractions {
        let usual = Self::default();
        Fractions::new(self.validation_fraction, self.test_fraction)
            .or_else(|_| Fractions::new(usual.validation_fraction, usual.test_fraction))
            .expect("the defaults leave something to train on")
            .holding_out(self.min_validation_tasks)
    }

    /// What a night is pinned to: the settings that decide what is asked, compared or written, as one
    /// object of dotted names.
    #[must_use]
    pub fn pinned(&self) -> Value {
        let rows = ROWS.iter().filter(|row| row.pinned);
        Value::Object(
            rows.map(|row| (row.key.to_owned(), self.get(row)))
                .collect::<Map<_, _>>(),
        )
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(ROWS.len()))?;
        for row in ROWS {
            map.serialize_entry(row.key, &self.get(row))?;
        }
        map.end()
    }
}
