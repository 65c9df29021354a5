//! Recall: archived training tasks that resemble tonight's (§4.7).

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::task::{Origin, Split, Task};

/// The `k` archived tasks most similar to tonight's training tasks, as training tasks.
///
/// Similarity is the largest Jaccard index over tonight's training tasks, of lower-case `[a-z0-9]+`
/// words longer than two characters. Never recalled: what was held out (now or ever, by id, by the
/// reference's id or by cluster), tonight's own tasks and what they derive from, and tasks with no
/// words in common.
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
}

impl<'a> Barred<'a> {
    fn of(tonight: &'a [Task], archive: &'a [Task]) -> Self {
        let mut ids = HashSet::new();
        let mut clusters = HashSet::new();
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
        }
        ids.remove("");
        clusters.remove("");
        Self { ids, clusters }
    }

    fn bars(&self, task: &Task) -> bool {
        task.split != Split::Train
            || self.ids.contains(task.id.as_str())
            || self.ids.contains(task.legacy_id.as_str())
            || self.clusters.contains(task.cluster.as_str())
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()))
        .filter(|word| word.len() > 2)
        .map(str::to_owned)
        .collect()
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
}
