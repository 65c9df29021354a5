//! Which tasks a user-chosen skill could help with (§4.4 of the reference).
//!
//! Used when the user points a night at one of their own skills: tasks that share no words with it
//! would be paid for and teach it nothing.

use std::collections::{BTreeMap, BTreeSet};

use skillopt_core::task::Task;

/// How many of the most common words of a skill count as weak hints (§15.2).
const WEAK_WORDS: usize = 180;

/// Words too common to tell one skill from another.
const STOP_WORDS: [&str; 84] = [
    "about", "above", "after", "again", "all", "also", "and", "any", "are", "because", "been",
    "before", "being", "below", "between", "both", "but", "can", "could", "does", "doing", "done",
    "each", "else", "every", "few", "file", "files", "for", "from", "had", "has", "have", "here",
    "how", "into", "its", "just", "like", "make", "may", "more", "most", "must", "need", "not",
    "now", "off", "once", "one", "only", "other", "our", "out", "over", "own", "please", "same",
    "should", "skill", "skills", "some", "such", "task", "tasks", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "use", "used", "using", "was", "when",
    "which", "will", "with", "you",
];

/// Words that belong to a topic although the skill does not spell them out.
const TOPICS: [(&[&str], &[&str]); 2] = [
    (
        &["mcp"],
        &[
            "configure",
            "connect",
            "enable",
            "install",
            "server",
            "настроить",
            "подключить",
            "включить",
            "установить",
            "сервер",
        ],
    ),
    (
        &["conflict", "conflicts"],
        &[
            "cherry",
            "git",
            "merge",
            "rebase",
            "unmerged",
            "слияние",
            "конфликт",
            "конфликты",
            "ребейз",
        ],
    ),
];

/// Keeps the tasks that have a strong word or two weak words in common with the skill, best first.
///
/// Strong words are those of the path and the headings (weight 3), weak ones the strong ones and the
/// most common words of the text (weight 1). When nothing is kept the list stays as it was.
pub fn related(tasks: Vec<Task>, skill_path: &str, skill: &str) -> Vec<Task> {
    let (strong, weak) = keywords(skill_path, skill);
    if strong.is_empty() && weak.is_empty() {
        return tasks;
    }
    let mut scored: Vec<(usize, usize)> = tasks
        .iter()
        .enumerate()
        .filter_map(|(position, task)| {
            let text = format!("{} {} {}", task.intent, task.context, task.tags.join(" "));
            let words: BTreeSet<String> = words(&text).collect();
            let strong_hits = words.intersection(&strong).count();
            let weak_hits = words.intersection(&weak).count();
            (strong_hits >= 1 || weak_hits >= 2).then_some((3 * strong_hits + weak_hits, position))
        })
        .collect();
    if scored.is_empty() {
        return tasks;
    }
    scored.sort_by_key(|&(score, position)| (std::cmp::Reverse(score), position));
    let mut slots: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    scored
        .iter()
        .filter_map(|&(_, position)| slots[position].take())
        .collect()
}

fn keywords(path: &str, skill: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut strong: BTreeSet<String> = words(&path.replace(['/', '\\'], " ")).collect();
    for line in skill.lines() {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        if (1..=6).contains(&level) && text.starts_with([' ', '\t']) {
            strong.extend(words(text));
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in words(skill) {
        *counts.entry(word).or_default() += 1;
    }
    let mut common: Vec<(String, usize)> = counts.into_iter().collect();
    common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut weak: BTreeSet<String> = common
        .into_iter()
        .take(WEAK_WORDS)
        .map(|(word, _)| word)
        .collect();
    for (names, related) in TOPICS {
        if names
            .iter()
            .any(|name| strong.contains(*name) || weak.contains(*name))
        {
            weak.extend(related.iter().map(|word| (*word).to_owned()));
        }
    }
    weak.extend(strong.iter().cloned());
    (strong, weak)
}

/// Lower-case words and their parts, at least three characters, not only digits, no stop words.
fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))) {
        let word = word.trim_start_matches(['.', '-']);
        found.push(word.trim_end_matches(['.', '-']).to_owned());
        found.extend(word.split(['_', '.', '-']).map(str::to_owned));
    }
    found.into_iter().filter(|word| {
        word.chars().count() >= 3
            && !word.chars().all(|c| c.is_ascii_digit())
            && !STOP_WORDS.contains(&word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, intent: &str) -> Task {
        Task::new(id, "/w/app", intent)
    }

    #[test]
    fn strong_words_come_first_and_strangers_are_left_out() {
        let tasks = vec![
            task("cook", "Suggest a soup for tonight"),
            task(
                "weak",
                "Summarise the deployment window and the rollback plan",
            ),
            task("strong", "Write the release-notes for version two"),
        ];
        let skill = "---\nname: release-notes\n---\n# Release notes\n\nMention the deployment window and the rollback plan.\n";
        let kept = related(
            tasks,
            "/home/u/.claude/skills/release-notes/SKILL.md",
            skill,
        );
        let ids: Vec<&str> = kept.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["strong", "weak"]);
    }

    #[test]
    fn nothing_related_keeps_everything() {
        let tasks = vec![task("a", "Suggest a soup"), task("b", "Name a cat")];
        let kept = related(tasks.clone(), "deploy/SKILL.md", "# Deploy\n");
        assert_eq!(kept, tasks);
    }

    #[test]
    fn a_topic_brings_its_words() {
        // §4.4: `conflict` adds cherry/git/merge/rebase words.
        let tasks = vec![
            task("a", "Explain how a rebase differs from a merge"),
            task("b", "Name a cat"),
        ];
        let kept = related(tasks, "x/SKILL.md", "# Resolve conflicts\n");
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].id, "a");
    }
}
