//! Sessions that no person made (§3.1 of the reference, field notes 13, 15 and 42).
//!
//! An optimizer that asks its questions through an agent's command line leaves sessions behind. If
//! those were mined, the optimizer would learn from itself. Folder, entry point and texts of our own
//! calls are defined in one place; the calls of the reference are known by the shapes of its prompts.

use skillopt_core::own_call;

use crate::reason::Reason;

/// How the reference names the agent of its calls through OpenCode, before 32 hexadecimal digits
/// (§3.7).
const ENGINE_AGENT: &str = "skillopt-sleep-";

/// Whether a session's agent is one the reference made for a call.
pub(crate) fn is_engine_agent(agent: &str) -> bool {
    agent.strip_prefix(ENGINE_AGENT).is_some_and(|digits| {
        digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// What is known of a session when it is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// Folders of its human turns.
    pub(crate) directories: &'a [&'a str],
    /// How the agent was started, in the agent's own word.
    pub(crate) entrypoint: &'a str,
    /// The agent was started without a terminal.
    pub(crate) headless: bool,
    /// The first prompt.
    pub(crate) prompt: &'a str,
    /// How many human turns there are.
    pub(crate) human_turns: usize,
    /// Seconds from the first to the last record, where they have different times.
    pub(crate) seconds: Option<i64>,
}

/// Texts that only a grader or an optimizer writes (§3.1).
const ENGINE: [&str; 8] = [
    "## CURRENT SKILL",
    "## FAILED TASKS",
    "## SUCCESSFUL TASKS",
    "You are a strict grader",
    "Score the response 0.0-1.0",
    "You are SkillOpt-Sleep",
    "You are an expert success-pattern analyst",
    "You are an expert failure-pattern analyst",
];
/// Headings of engine prompts that a person may write as well (§3.1): they need a second sign.
const VAGUE: [&str; 4] = ["## OUTPUT FORMAT", "## TASK\n", "## SKILL\n", "## Skill\n"];
/// The parts of the reference's attempt prompts, in this order, each a heading of its own (§5.2).
const ATTEMPT: [&str; 3] = ["\n# Skill\n", "\n# Memory\n", "\n# Task\n"];
/// Openings of automatic companions (§3.1).
const COMPANIONS: [&str; 3] = [
    "You are a Claude-Mem",
    "Hello memory agent",
    "You are driving **SkillOpt-Sleep**",
];
/// How the reference names the empty folders of its calls.
const ENGINE_FOLDER: &str = "skillopt_sleep_";
/// Folders in which the system keeps what nobody means to keep.
const TEMPORARY: [&str; 5] = [
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/private/var/folders/",
    "/var/folders/",
];

/// Why the session is no person's, if it is not.
pub(crate) fn verdict(evidence: Evidence<'_>, agent_markers: &[String]) -> Option<Reason> {
    let ours = evidence.entrypoint.starts_with(own_call::ENTRYPOINT)
        || evidence.prompt.contains(own_call::MARKER)
        || evidence
            .directories
            .iter()
            .any(|directory| scratch(directory) == Some(Scratch::Ours));
    if ours {
        return Some(Reason::OwnCall);
    }
    let has = |texts: &[&str]| texts.iter().any(|text| evidence.prompt.contains(text));
    if has(&COMPANIONS)
        || agent_markers
            .iter()
            .any(|marker| evidence.prompt.contains(marker.as_str()))
    {
        return Some(Reason::AgentSession);
    }
    if evidence
        .directories
        .iter()
        .any(|directory| scratch(directory) == Some(Scratch::Engine))
    {
        return Some(Reason::EngineCall);
    }
    if evidence.human_turns > 1 {
        return None;
    }
    let quick = evidence.seconds.is_some_and(|seconds| seconds < 3);
    let engine = has(&ENGINE)
        || is_attempt(evidence.prompt)
        || (has(&VAGUE) && (evidence.headless || quick));
    engine.then_some(Reason::EngineCall)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scratch {
    Ours,
    Engine,
}

/// Whose scratch folder this is. Names that are not distinctive count only in a temporary place: a
/// project may well be called `skillopt-desktop`.
fn scratch(directory: &str) -> Option<Scratch> {
    let path = directory.replace('\\', "/").to_ascii_lowercase();
    let temporary = TEMPORARY.iter().any(|place| path.starts_with(place))
        || path.contains("/appdata/local/temp/");
    let mut found = None;
    for name in path.split('/') {
        if name.starts_with(own_call::SCRATCH_PREFIX) {
            return Some(Scratch::Ours);
        }
        let engine = name.starts_with(ENGINE_FOLDER)
            || (temporary && (name.starts_with("skillopt_") || name.starts_with("skillopt-")));
        if engine {
            found = Some(Scratch::Engine);
        }
    }
    found
}

/// Whether the prompt is made of a skill, a memory and a task, in the reference's way.
fn is_attempt(prompt: &str) -> bool {
    let mut rest = prompt;
    ATTEMPT.iter().all(|part| match rest.find(part) {
        Some(at) => {
            // The line end that closes a heading may open the next one.
            rest = &rest[at + part.len() - 1..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(prompt: &str) -> Evidence<'_> {
        Evidence {
            directories: &["/home/dana/work/acme-api"],
            entrypoint: "cli",
            headless: false,
            prompt,
            human_turns: 1,
            seconds: Some(60),
        }
    }

    #[test]
    fn a_persons_session_passes() {
        for prompt in [
            "Fix the flag, it says ## OUTPUT FORMAT twice",
            "Write a # Skill\n section",
            "What does skillopt do?",
        ] {
            assert_eq!(verdict(evidence(prompt), &[]), None, "{prompt}");
        }
        // Quick and short alone is a real question (field note 15).
        let quick = Evidence {
            seconds: Some(1),
            headless: true,
            ..evidence("Capital of France?")
        };
        assert_eq!(verdict(quick, &[]), None);
        let project = Evidence {
            directories: &["/home/dana/skillopt-desktop", "/home/dana/tmp/skillopt_x"],
            ..evidence("hello")
        };
        assert_eq!(verdict(project, &[]), None);
    }

    #[test]
    fn our_own_calls_are_known_by_folder_entry_point_and_marker() {
        let marked = format!("hello {}", own_call::MARKER);
        let folder = format!("/var/tmp/{}x1/y", own_call::SCRATCH_PREFIX);
        let cases = [
            Evidence {
                directories: &[&folder],
                ..evidence("a")
            },
            Evidence {
                entrypoint: own_call::ENTRYPOINT,
                ..evidence("a")
            },
            Evidence {
                human_turns: 3,
                ..evidence(&marked)
            },
        ];
        for case in cases {
            assert_eq!(verdict(case, &[]), Some(Reason::OwnCall), "{case:?}");
        }
    }

    #[test]
    fn calls_of_the_reference_are_known_by_their_prompts() {
        let attempt =
            "Complete it.\n\n# Skill\nx\n\n# Memory\n# Project rules\n\n# Task\nFrance?\n";
        for prompt in [
            attempt,
            "You are a strict grader. Score the response 0.0-1.0.",
        ] {
            assert_eq!(verdict(evidence(prompt), &[]), Some(Reason::EngineCall));
            // A person goes on talking.
            let talk = Evidence {
                human_turns: 2,
                ..evidence(prompt)
            };
            assert_eq!(verdict(talk, &[]), None);
        }
        let folder = Evidence {
            directories: &["C:\\Users\\dana\\AppData\\Local\\Temp\\skillopt_sleep_x"],
            human_turns: 2,
            ..evidence("a")
        };
        assert_eq!(verdict(folder, &[]), Some(Reason::EngineCall));
    }

    #[test]
    fn vague_headings_need_a_second_sign() {
        let vague = evidence("## TASK\nrename the flag");
        assert_eq!(verdict(vague, &[]), None);
        for second in [
            Evidence {
                headless: true,
                ..vague
            },
            Evidence {
                seconds: Some(2),
                ..vague
            },
        ] {
            assert_eq!(verdict(second, &[]), Some(Reason::EngineCall));
        }
    }

    #[test]
    fn companions_are_known_whatever_they_say_later() {
        let observer = Evidence {
            human_turns: 9,
            ..evidence("Hello memory agent, watch this")
        };
        assert_eq!(verdict(observer, &[]), Some(Reason::AgentSession));
        let own = Evidence {
            human_turns: 9,
            ..evidence("[observer] look")
        };
        assert_eq!(
            verdict(own, &["[observer]".to_owned()]),
            Some(Reason::AgentSession)
        );
    }
}
