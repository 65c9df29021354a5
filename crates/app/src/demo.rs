//! `skillopt demo`: a whole night on sample sessions in a temporary home, with the built-in simulation.

mod sample;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_sleep::NightReport;
use skillopt_store::files;

use crate::context::App;
use crate::proposal::{self, Shown};
use crate::shell;
use crate::sleep::{self, RunInput};

/// What is asked of a demonstration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct DemoInput {
    /// A new or empty folder for the sample project and its home; a temporary one when empty.
    pub folder: Option<PathBuf>,
}

/// The night of the demonstration, and what it proposes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Demonstration {
    /// The home folder with the sample sessions.
    pub home: PathBuf,
    /// The sample project.
    pub project: PathBuf,
    /// The night.
    pub report: NightReport,
    /// What it proposes.
    pub proposal: Option<Shown>,
    /// Lines for a shell of its own in which the sample is home; the commands below need them.
    pub setup: Vec<String>,
    /// Commands that go on from here.
    pub next: Vec<String>,
    /// The command that deletes the sample with everything in it.
    pub delete: String,
}

/// Runs the demonstration. The user's own folders are not touched.
pub async fn demo(app: &App, input: DemoInput) -> Result<Box<Demonstration>, Problem> {
    let home = match input.folder {
        Some(folder) => app.directory.join(folder),
        None => std::env::temp_dir().join(format!(
            "demo-home-{}",
            app.clock.now().strftime("%Y%m%d-%H%M%S%f")
        )),
    };
    let is_empty = match std::fs::read_dir(&home) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_empty {
        return Err(Problem::refused(
            "demo_folder_unusable",
            format!("{} is not a new or empty folder.", home.display()),
            "Name a new folder, or none.",
        ));
    }
    let project = sample::write(&home)?;
    let environment: BTreeMap<String, String> = [
        ("HOME", home.clone()),
        ("SKILLOPT_DATA_DIR", home.join("skillopt-data")),
        ("SKILLOPT_CONFIG_DIR", home.join("skillopt-config")),
    ]
    .into_iter()
    .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()))
    .collect();
    let mut sample = App::open(environment, project.clone(), Arc::clone(&app.clock))?;
    sample.listener = Arc::clone(&app.listener);
    sample.cancel = app.cancel.clone();
    // The sessions are from a fixed week, and nobody has to have an account. In the sample's own file, so that the commands that go on from here find them as well.
    files::create_private_dir(&sample.paths.config)?;
    let settings = format!(
        "[reads]\nlookback_hours = 0\n\n[models]\nbackend = \"mock\"\n\n[splits]\nseed = {}\n",
        sample::seed(&project)
    );
    files::write_private(&sample.config().user, settings.as_bytes())?;
    let ran = sleep::run(&sample, RunInput::default()).await?;
    let shown = match &ran.report.proposal {
        Some(id) => Some(
            *proposal::show(
                &sample,
                proposal::ShowInput {
                    id: Some(id.clone()),
                    project: None,
                },
            )
            .await?,
        ),
        None => None,
    };
    let quoted = |path: &std::path::Path| shell::word(&path.to_string_lossy());
    let setup = vec![
        format!("cd {}", quoted(&project)),
        format!(
            "export HOME={} SKILLOPT_DATA_DIR={} SKILLOPT_CONFIG_DIR={}",
            quoted(&home),
            quoted(&home.join("skillopt-data")),
            quoted(&home.join("skillopt-config")),
        ),
    ];
    let next = ["proposal show", "proposal adopt", "rollback", "night show"]
        .map(|command| format!("skillopt {command}"))
        .into();
    let delete = format!("rm -r {}", quoted(&home));
    Ok(Box::new(Demonstration {
        home,
        project,
        report: ran.report,
        proposal: shown,
        setup,
        next,
        delete,
    }))
}
