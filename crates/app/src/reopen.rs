//! Taking a no back.

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_sleep::reopen;

use crate::context::App;
use crate::proposal::project_of;

/// Which proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReopenInput {
    /// Its id.
    pub id: String,
}

/// What waits again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Reopened {
    /// Id of the proposal.
    pub proposal: String,
    /// Ids of the documents that wait now.
    pub targets: Vec<String>,
}

/// Lets what was rejected of a proposal wait again.
pub async fn run(app: &App, input: ReopenInput) -> Result<Reopened, Problem> {
    let context = app.night(project_of(app, &input.id)?)?;
    Ok(Reopened {
        targets: reopen::reopen(&context, &input.id)?,
        proposal: input.id,
    })
}
