//! A home folder and a context of its own for one test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillopt_store::SystemClock;

use crate::context::App;

pub(crate) struct TestHome {
    pub(crate) app: App,
    folder: tempfile::TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let environment: BTreeMap<String, String> = [
            ("HOME", folder.path().to_owned()),
            ("SKILLOPT_DATA_DIR", folder.path().join("data")),
            ("SKILLOPT_CONFIG_DIR", folder.path().join("config")),
        ]
        .into_iter()
        .map(|(name, path)| (name.to_owned(), path.to_str().unwrap().to_owned()))
        .collect();
        let app = App::open(environment, project, Arc::new(SystemClock)).unwrap();
        Self { app, folder }
    }

    /// A path in the home folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Runs a command to its end.
pub(crate) fn block_on<T>(command: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(command)
}
