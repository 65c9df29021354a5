//! Recall: archived training tasks that resemble tonight's (§4.7).

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::script::is_unspaced;
use crate::task::{Origin, Split, Task};

/// The `k` archived tasks most similar to tonight's training tasks, as training tasks.
///
/// Similarity is the largest Jaccard index over tonight's training tasks, of lower-case words longer
/// than two characters (in scripts without spaces, of pairs of letters). Never recalled: what was held
/// out (now or ever, by id, by the reference's id or by cluster), what shares a session with that,
/// tonight's own tasks and what they derive from, and tasks with no words in common.
#[must_use]
pub fn recall(tonight: &[Task], archive: &[Task], k: usize) -> Vec<Task> {
    if k == 0 {
        return Vec::new();
    }
    let train: Vec<BTreeSet<String>> = tonight
        .iter()
        .filter(|task| task.split == Split::Train)
        .map(|task| words(&task.intent))
        .collect();
    let barred = Barred::of(tonight, archive);
    let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, set) in train.iter().enumerate() {
        for word in set {
            index.entry(word).or_default().push(position);
        }
    }
    let mut scored: Vec<(f64, &Task)> = archive
        .iter()
        .filter(|task| !barred.bars(task))
        .filter_map(|task| {
            let set = words(&task.intent);
            let mut shared: HashMap<usize, usize> = HashMap::new();
            for position in set
                .iter()
                .filter_map(|word| index.get(word.as_str()))
                .flatten()
            {
                *shared.entry(*position).or_default() += 1;
            }
            let best = shared
                .into_iter()
                .map(|(position, shared)| {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "the number of words of a request is small"
                    )]
                    let index = shared as f64 / (set.len() + train[position].len() - shared) as f64;
                    index
                })
                .max_by(f64::total_cmp)?;
            Some((best, task))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    scored
        .into_iter()
        .take(k)
        .map(|(_, task)| recalled(task))
        .collect()
}

fn recalled(task: &Task) -> Task {
    let mut copy = task.clone();
    copy.id = format!("recall:{}", task.id);
    copy.legacy_id = String::new();
    copy.split = Split::Train;
    copy.origin = Origin::Real;
    copy.tags.push("recall".to_owned());
    copy.derived_from.clone_from(&task.id);
    copy
}

/// What may not be recalled.
struct Barred<'a> {
    ids: HashSet<&'a str>,
    clusters: HashSet<&'a str>,
    sessions: HashSet<&'a str>,
}

impl<'a> Barred<'a> {
    fn of(tonight: &'a [Task], archive: &'a [Task]) -> Self {
        let mut ids = HashSet::new();
        let mut clusters = HashSet::new();
        let mut sessions = HashSet::new();
        for task in tonight {
            ids.extend([
                task.id.as_str(),
                task.legacy_id.as_str(),
                task.derived_from.as_str(),
            ]);
        }
        for task in tonight
            .iter()
            .chain(archive)
            .filter(|task| task.split != Split::Train)
        {
            ids.extend([task.id.as_str(), task.legacy_id.as_str()]);
            clusters.insert(task.cluster.as_str());
            sessions.extend(task.sessions.iter().map(String::as_str));
        }
        ids.remove("");
        clusters.remove("");
        Self {
            ids,
            clusters,
            sessions,
        }
    }

    fn bars(&self, task: &Task) -> bool {
        task.split != Split::Train
            || self.ids.contains(task.id.as_str())
            || self.ids.contains(task.legacy_id.as_str())
            || self.clusters.contains(task.cluster.as_str())
            || task
                .sessions
                .iter()
                .any(|session| self.sessions.contains(session.as_str()))
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        let letters: Vec<char> = word.chars().collect();
        if letters.iter().any(|c| is_unspaced(*c)) {
            words.extend(
                letters
                    .windows(2)
                    .map(|pair| pair.iter().collect::<String>()),
            );
        } else if letters.len() > 2 {
            words.insert(word.to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, intent: &str, split: Split) -> Task {
        let mut task = Task::new(id, "p", intent);
        task.split = split;
        task
    }

    #[test]
    fn recalls_the_most_similar_and_nothing_that_was_held_out() {
        let tonight = [task(
            "t",
            "write release notes for the parser",
            Split::Train,
        )];
        let mut same_cluster = task("d", "write release notes for the lexer", Split::Train);
        same_cluster.cluster = "c".into();
        let mut held = task(
            "b",
            "write release notes for the parser today",
            Split::Validation,
        );
        held.cluster = "c".into();
        let archive = [
            task("a", "write notes", Split::Train),
            held,
            task("c", "write release notes for the printer", Split::Train),
            same_cluster,
            task("e", "cook soup", Split::Train),
        ];
        let found = recall(&tonight, &archive, 9);
        let ids: Vec<&str> = found.iter().map(|task| task.id.as_str()).collect();
        // §4.7: similarity descending; zero similarity gives nothing; held-out never.
        assert_eq!(ids, ["recall:c", "recall:a"]);
        assert!(
            found
                .iter()
                .all(|task| task.split == Split::Train && task.tags.contains(&"recall".to_owned()))
        );
        assert_eq!(found[0].derived_from, "c");
        assert!(recall(&tonight, &archive, 0).is_empty());
    }

    #[test]
    fn an_imported_held_out_task_is_recognised_by_the_reference_id() {
        let mut tonight = task("t_1", "write release notes", Split::Validation);
        tonight.legacy_id = "task_abc".into();
        let train = task("t_2", "write release notes now", Split::Train);
        let archive = [task("task_abc", "write release notes", Split::Train)];
        assert!(recall(&[tonight, train], &archive, 5).is_empty());
    }

    #[test]
    fn a_session_with_a_held_out_task_is_not_recalled() {
        let mut held = task("v", "draft a newsletter", Split::Validation);
        held.sessions = vec!["s1".into()];
        let tonight = [task("t", "write release notes", Split::Train), held];
        let mut archived = task("a", "write release notes today", Split::Train);
        archived.sessions = vec!["s0".into(), "s1".into()];
        assert!(recall(&tonight, &[archived.clone()], 5).is_empty());
        archived.sessions.truncate(1);
        assert_eq!(recall(&tonight, &[archived], 5).len(), 1);
    }

    #[test]
    fn similarity_decides_then_the_id() {
        // §4.7: Jaccard over words longer than two characters. With {write, release, notes}:
        // b and a 3/4, c 3/6, d 1/6; "to" and "it" do not count.
        let tonight = [task("t", "write it to release notes", Split::Train)];
        let archive = [
            task("d", "write a poem about rain", Split::Train),
            task("c", "write the release notes now please", Split::Train),
            task("b", "write release notes quickly", Split::Train),
            task("a", "Write RELEASE-notes, quickly!", Split::Train),
        ];
        let ids = |k| -> Vec<String> {
            recall(&tonight, &archive, k)
                .into_iter()
                .map(|task| task.derived_from)
                .collect()
        };
        assert_eq!(ids(9), ["a", "b", "c", "d"]);
        assert_eq!(ids(2), ["a", "b"]);
    }

    #[test]
    fn other_scripts_are_compared_too() {
        let tonight = [task("t", "请翻译这封邮件", Split::Train)];
        let archive = [
            task("a", "翻译邮件", Split::Train),
            task("b", "今天天气", Split::Train),
        ];
        let found = recall(&tonight, &archive, 5);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].derived_from, "a");
    }
}
