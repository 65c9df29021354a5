//! Stages of a night in plain words.

use skillopt_core::agent::Agent;

/// What a stage does, for a person; `None` for one that only keeps something for later.
pub(crate) fn words(name: &str) -> Option<String> {
    let of_agent = Agent::ALL
        .into_iter()
        .find_map(|agent| Some((agent, name.strip_prefix(agent.id())?.strip_prefix('/')?)));
    let (agent, rest) = match of_agent {
        Some((agent, rest)) => (format!(" ({})", agent.title()), rest),
        None => (String::new(), name),
    };
    if rest == "validation" || rest == "pinned" || rest.ends_with("/scored") {
        return None;
    }
    let (pass, grading) = match rest.strip_suffix("/judge") {
        Some(pass) => (pass, "grading: "),
        None => (rest, ""),
    };
    let does = match pass {
        "harvest" => "reading sessions",
        "mine" => "finding tasks",
        "mine/ask" => "asking the model for tasks",
        "tasks" => "choosing tonight's tasks",
        "baseline" => "held-out tasks as things are",
        "train" => "training tasks as things are",
        "train_again" => "training tasks with the new skill",
        "reflect/skill" => "proposing changes of the skill",
        "reflect/memory" => "proposing changes of the memory",
        "trial/skill" => "held-out tasks with the new skill",
        "trial/memory" => "held-out tasks with the new memory",
        "chosen" => "held-out tasks with the chosen rules",
        "test" => "test tasks as things are",
        "test/final" => "test tasks with the changes",
        other => {
            return Some(format!(
                "{grading}{}{agent}",
                other.replace(['/', '_'], " ")
            ));
        }
    };
    Some(format!("{grading}{does}{agent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_ours_reaches_a_person() {
        assert_eq!(
            words("claude/train_again").as_deref(),
            Some("training tasks with the new skill (Claude Code)")
        );
        assert_eq!(
            words("codex/baseline/judge").as_deref(),
            Some("grading: held-out tasks as things are (Codex)")
        );
        assert_eq!(
            words("mine/ask").as_deref(),
            Some("asking the model for tasks")
        );
        assert_eq!(words("claude/baseline/scored"), None);
        assert_eq!(words("claude/pinned"), None);
    }
}
