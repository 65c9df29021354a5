//! End-to-end tests of SkillOpt, their fixtures and the stub model server.
