//! The command line of SkillOpt.
