//! Model servers of this computer, for a user to choose from.

use skillopt_core::Problem;
use skillopt_models::local::{self, LocalServer};
use skillopt_settings::Settings;

use super::{ListInput, settings_of};
use crate::context::App;

/// Finds the model servers that answer on this computer, with their models. Asks no model.
///
/// Errors: those of the settings.
pub async fn servers(app: &App, input: ListInput) -> Result<Vec<LocalServer>, Problem> {
    let (_, settings) = settings_of(app, input.project.as_deref())?;
    Ok(on_this_computer(app, &settings).await)
}

/// Those on the ports of `models.local_ports`.
pub(crate) async fn on_this_computer(app: &App, settings: &Settings) -> Vec<LocalServer> {
    // What is no port was refused when the settings were read.
    let ports: Vec<u16> = settings
        .local_ports
        .iter()
        .filter_map(|text| text.trim().parse().ok())
        .collect();
    local::find(&ports, &app.clock, &app.cancel).await
}
