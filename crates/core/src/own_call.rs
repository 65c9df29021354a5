//! How a call of ours is recognised when an agent's command line records it as a session.
//!
//! Whoever starts an agent for a call marks the call in all three ways; whoever reads transcripts
//! leaves out a session that carries one of them. Recording is switched off as well where the agent
//! offers it, but that has failed for others before.

/// Every empty folder an agent is started in for a call has a name that begins like this, inside a
/// temporary folder. Lower case.
pub const SCRATCH_PREFIX: &str = "skillopt-call-";

/// Given to agents that take the name of the program that starts them (`CLAUDE_CODE_ENTRYPOINT`).
pub const ENTRYPOINT: &str = "skillopt";

/// Stands somewhere in every prompt given to an agent's command line.
pub const MARKER: &str = "[skillopt call]";
