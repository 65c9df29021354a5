//! Dreams: variants of training tasks (§4.7). They are only ever trained on.

use crate::task::{Origin, Split, Task};

/// Ways to put the same request; `{}` is the request.
const WRAPPINGS: [&str; 3] = [
    "A small thing before lunch: {}",
    "When you have a moment, and with the usual care: {}",
    "For today's summary: {}",
];

/// `factor` variants of every real training task. Judge and framing are the parent's.
#[must_use]
pub fn variants(tasks: &[Task], factor: u32) -> Vec<Task> {
    tasks
        .iter()
        .filter(|task| task.split == Split::Train && task.origin == Origin::Real)
        .flat_map(|task| (0..factor).map(move |number| variant(task, number)))
        .collect()
}

fn variant(task: &Task, number: u32) -> Task {
    let mut dream = task.clone();
    dream.id = format!("{}_dream{number}", task.id);
    dream.legacy_id = String::new();
    dream.intent = WRAPPINGS[number as usize % WRAPPINGS.len()].replacen("{}", &task.intent, 1);
    dream.tags.push("dream".to_owned());
    dream.origin = Origin::Dream;
    dream.split = Split::Train;
    dream.derived_from.clone_from(&task.id);
    dream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_training_tasks_dream_and_dreams_keep_the_judge() {
        // §4.7: id `<id>_dream<k>`, split train, origin dream, same judge.
        let mut train = Task::new("a", "p", "Say {} hello");
        train.judge = crate::task::Judge::Exact("hello".into());
        let mut held = Task::new("b", "p", "Say bye");
        held.split = Split::Validation;
        let dreams = variants(&[train.clone(), held], 2);
        assert_eq!(
            dreams
                .iter()
                .map(|task| task.id.as_str())
                .collect::<Vec<_>>(),
            ["a_dream0", "a_dream1"]
        );
        for dream in &dreams {
            assert_eq!((dream.origin, dream.split), (Origin::Dream, Split::Train));
            assert_eq!(dream.judge, train.judge);
            assert!(dream.intent.ends_with("Say {} hello"), "{}", dream.intent);
            assert_eq!(dream.derived_from, "a");
        }
        assert!(variants(&dreams, 1).is_empty(), "dreams do not dream");
    }
}
