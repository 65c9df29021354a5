//! End-to-end tests of SkillOpt, their fixtures and the stub model server.

pub mod brain;
pub mod checkout;
pub mod desktop;
pub mod home;
pub mod processes;
pub mod session;
pub mod stub_cli;
pub mod stub_server;
