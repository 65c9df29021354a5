//! What every program of ours begins and ends with.

use std::collections::BTreeMap;

use skillopt_core::{Problem, Retry};

pub use skillopt_models::process::system_program;

/// The environment of this process; what is not text is left out.
#[must_use]
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Threads to wait on.
///
/// Error: `runtime_failed`.
pub fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Problem::temporary(
                "runtime_failed",
                format!("No threads could be started: {error}."),
                "Try again.",
            )
        })
}

/// The exit code of a command that failed, as the README lists them.
#[must_use]
pub fn exit_code(problem: &Problem) -> u8 {
    match (problem.code.as_ref(), problem.retry) {
        ("waiting_for_answers", _) => 3,
        ("cancelled", _) => 130,
        (_, Retry::Temporary) => 75,
        (_, Retry::Permanent) if problem.refused => 2,
        (_, Retry::Permanent) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_the_readme_says() {
        for (problem, code) in [
            (Problem::permanent("disk_full", "", ""), 1),
            (Problem::refused("proposal_decided", "", ""), 2),
            (Problem::temporary("project_busy", "", ""), 75),
            (Problem::temporary("waiting_for_answers", "", ""), 3),
            (Problem::temporary("cancelled", "", ""), 130),
        ] {
            assert_eq!(exit_code(&problem), code, "{}", problem.code);
        }
    }
}
