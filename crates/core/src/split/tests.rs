use super::*;
use crate::personas::Persona;
use proptest::prelude::*;

fn usual() -> Fractions {
    Fractions::new(0.34, 0.0).unwrap()
}

fn validation_positions(persona: Persona) -> Vec<usize> {
    let mut tasks = persona.tasks();
    let assigned = assign(&mut tasks, &[], usual(), 42);
    assert!(assigned.excluded.is_empty());
    tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| task.split == Split::Validation)
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn splits_of_the_personas_are_the_references() {
    // §13.1: researcher val = 0,1,2,4,6,7; programmer val = 1,3,7.
    assert_eq!(
        validation_positions(Persona::Researcher),
        [0, 1, 2, 4, 6, 7]
    );
    assert_eq!(validation_positions(Persona::Programmer), [1, 3, 7]);
}

#[test]
fn one_task_stays_where_it_is_hashed_and_three_always_have_a_validation_task() {
    // §15.6: id `solo`, seed 42 → train; three tasks with fraction 0 → one promoted.
    let mut solo = vec![Task::new("solo", "p", "x")];
    assign(&mut solo, &[], usual(), 42);
    assert_eq!(solo[0].split, Split::Train);
    let mut three: Vec<Task> = ["a", "b", "c"].map(|id| Task::new(id, "p", "x")).into();
    assign(&mut three, &[], Fractions::new(0.0, 0.0).unwrap(), 42);
    assert_eq!(
        three
            .iter()
            .filter(|task| task.split == Split::Validation)
            .count(),
        1
    );
}

#[test]
fn fractions_are_checked_and_rounded_half_to_even() {
    // §4.6: each within [0, 1], sum below 1. 0.125 × 100 = 12.5 → 12, 0.135 × 100 = 13.5 → 14.
    assert_eq!(
        Fractions::new(0.125, 0.135).unwrap(),
        Fractions {
            validation: 12,
            test: 14,
            least_held_out: 1
        }
    );
    for (validation, test) in [(-0.1, 0.0), (0.5, 0.5), (1.2, 0.0), (f64::NAN, 0.0)] {
        assert_eq!(
            Fractions::new(validation, test).unwrap_err().code,
            "fractions_invalid"
        );
    }
}

#[test]
fn an_imported_held_out_task_does_not_come_back_as_training() {
    let mut archived = Task::new("task_old", "p", "x");
    archived.split = Split::Validation;
    let mut again = Task::new("t_new", "p", "x");
    again.legacy_id = "task_old".into();
    let mut tasks = vec![again, Task::new("other", "p", "y")];
    assign(
        &mut tasks,
        &[archived],
        Fractions::new(0.0, 0.0).unwrap(),
        42,
    );
    assert_eq!(tasks[0].split, Split::Validation);
}

fn task(id: &str, cluster: &str, sessions: &[&str]) -> Task {
    let mut task = Task::new(id, "p", "x");
    task.cluster = cluster.to_owned();
    task.sessions = sessions
        .iter()
        .map(|session| (*session).to_owned())
        .collect();
    task
}

/// One letter per task: T train, v validation, t test.
fn letters(tasks: &[Task]) -> String {
    let letter = |task: &Task| match task.split {
        Split::Train => 'T',
        Split::Validation => 'v',
        Split::Test => 't',
    };
    tasks.iter().map(letter).collect()
}

#[test]
fn tasks_by_themselves_are_drawn_as_in_the_reference() {
    // The formula of §4.6, computed with Python for ids task_0 to task_23.
    let table: [(u64, f64, f64, &str); 8] = [
        (42, 0.34, 0.0, "TTvTTTTTTvvTTTTTTvTvTvTT"),
        (42, 0.34, 0.2, "TTvTTTTtTvvTTTtTtvTvtvTT"),
        (7, 0.125, 0.135, "TTvTtTTTTTTTTvTTtTTTvtTv"),
        (0, 0.0, 0.0, "TTTvTTTTTTTTTTTTTTTTTTTT"),
        (1, 0.01, 0.0, "TTTTTvTTTTTTTTTTTTTTTTTT"),
        (42, 0.99, 0.0, "vTvvvvvvvvvvvvvvvvvvvvvv"),
        (3, 0.5, 0.49, "vtvvvtvttvvtttttvtTvvvtv"),
        (u64::MAX, 0.25, 0.25, "TtTvTTTvtTvtTvtvtttvvvTT"),
    ];
    for (seed, validation, test, expected) in table {
        let fractions = Fractions::new(validation, test).unwrap();
        let ids = 0..24;
        let mut tasks: Vec<Task> = ids.map(|n| task(&format!("task_{n}"), "", &[])).collect();
        let assigned = assign(&mut tasks, &[], fractions, seed);
        assert_eq!(letters(&tasks), expected, "seed {seed}");
        assert!(assigned.excluded.is_empty());
    }
    // Two tasks: both in test stay there; without a training task one is promoted.
    for (ids, seed, test, expected) in [
        (["a", "b"], 2, 0.3, "tt"),
        (["a", "b"], 10, 0.0, "vT"),
        (["x0", "x1"], 0, 0.3, "tT"),
    ] {
        let mut tasks: Vec<Task> = ids.map(|id| task(id, "", &[])).into();
        assign(&mut tasks, &[], Fractions::new(0.34, test).unwrap(), seed);
        assert_eq!(letters(&tasks), expected);
    }
}

#[test]
fn a_session_goes_as_a_whole() {
    // By themselves task_2, task_9 and task_10 are validation with seed 42 (table above).
    let mut tasks = vec![
        task("task_1", "", &["s1"]),
        task("task_2", "", &["s1"]),
        task("task_3", "c", &["s2"]),
        task("task_4", "c", &["s3"]),
        task("task_9", "", &["s4"]),
    ];
    let assigned = assign(&mut tasks, &[], usual(), 42);
    // task_1 speaks for its session, task_3 for its cluster.
    assert_eq!(letters(&tasks), "TTTTv");
    assert_eq!(assigned.moved, ["task_2"]);
    assert!(assigned.excluded.is_empty());
}

#[test]
fn a_chain_of_sessions_does_not_swallow_the_night() {
    // s1 to s3 tie all four together; then clusters are drawn alone, and what straddles goes.
    let mut tasks = vec![
        task("task_1", "", &["s1"]),
        task("task_2", "", &["s1", "s2"]),
        task("task_3", "", &["s2", "s3"]),
        task("task_4", "", &["s3"]),
    ];
    let assigned = assign(&mut tasks, &[], usual(), 42);
    assert_eq!(letters(&tasks), "vT");
    assert_eq!(assigned.excluded, ["task_1", "task_3"]);
    // Two tasks of one session cannot be told apart: they stay together, nothing is lost.
    let mut pair = vec![task("task_1", "", &["s1"]), task("task_2", "", &["s1"])];
    let assigned = assign(&mut pair, &[], usual(), 42);
    assert_eq!(
        (letters(&pair).as_str(), assigned.excluded.len()),
        ("TT", 0)
    );
}

#[test]
fn a_stored_slice_decides_for_its_group_and_conflicts_are_left_out() {
    let stored = |id: &str, cluster: &str, split| {
        let mut task = task(id, cluster, &[]);
        task.split = split;
        task
    };
    let archive = [
        stored("old_v", "c1", Split::Validation),
        stored("old_t", "c2", Split::Train),
        stored("old_x", "c3", Split::Test),
    ];
    let mut tasks = vec![
        task("n1", "c1", &[]),
        task("n2", "c2", &[]),
        task("n3", "c3", &[]),
        task("old_t", "c2", &[]),
        // Stored as training; a note that joins the clusters must not turn it into an exam.
        task("old_t", "c1", &[]),
        task("n4", "", &["s"]),
    ];
    tasks[4].legacy_id = "old_t".into();
    let assigned = assign(&mut tasks, &archive, usual(), 42);
    assert_eq!(assigned.excluded, ["old_t"]);
    assert_eq!(letters(&tasks[..4]), "vTtT");
    // A session of an archived held-out task is closed to training.
    let mut held = stored("old_v", "", Split::Validation);
    held.sessions = vec!["s".into()];
    let mut tasks = vec![
        task("task_1", "", &["s"]),
        task("task_9", "", &[]),
        task("task_4", "", &[]),
    ];
    let assigned = assign(&mut tasks, &[held], usual(), 42);
    assert_eq!(assigned.excluded, ["task_1"]);
    assert_eq!(letters(&tasks), "vT");
}

#[test]
fn dreams_are_always_training() {
    let mut tasks: Vec<Task> = (0..6)
        .map(|n| task(&format!("task_{n}"), "", &[]))
        .collect();
    for dream in &mut tasks[1..] {
        dream.origin = Origin::Dream;
        dream.split = Split::Validation;
    }
    assign(&mut tasks, &[], Fractions::new(0.99, 0.0).unwrap(), 42);
    // With dreams there is training, so the only real task keeps its own slice.
    assert_eq!(letters(&tasks), "vTTTTT");
}

#[test]
fn fractions_are_met_in_expectation() {
    // 4,000 draws of 34 and 20 %: three standard deviations are 2.3 and 1.9 points.
    let mut tasks: Vec<Task> = (0..4_000)
        .map(|n| task(&format!("t{n}"), "", &[]))
        .collect();
    assign(&mut tasks, &[], Fractions::new(0.34, 0.2).unwrap(), 42);
    let percent = |split| tasks.iter().filter(|task| task.split == split).count() / 40;
    assert!((32..=36).contains(&percent(Split::Validation)));
    assert!((18..=22).contains(&percent(Split::Test)));
}

fn arbitrary_tasks() -> impl Strategy<Value = Vec<Task>> {
    prop::collection::vec((0_u8..6, prop::collection::vec(0_u8..12, 0..3)), 0..25).prop_map(
        |rows| {
            rows.into_iter()
                .enumerate()
                .map(|(position, (cluster, sessions))| {
                    let mut task = Task::new(format!("t{position}"), "p", "x");
                    if cluster > 0 {
                        task.cluster = format!("c{cluster}");
                    }
                    task.sessions = sessions
                        .iter()
                        .map(|session| format!("s{session}"))
                        .collect();
                    task
                })
                .collect()
        },
    )
}

proptest! {
    #[test]
    fn clusters_and_sessions_never_straddle(mut tasks in arbitrary_tasks(), seed in 0_u64..1000) {
        assign(&mut tasks, &[], usual(), seed);
        for train in tasks.iter().filter(|task| task.split == Split::Train) {
            for held in tasks.iter().filter(|task| task.split != Split::Train) {
                prop_assert!(train.cluster.is_empty() || train.cluster != held.cluster);
                prop_assert!(!train.sessions.iter().any(|session| held.sessions.contains(session)));
            }
        }
    }

    #[test]
    fn tasks_are_kept_reported_or_moved_with_a_report(mut tasks in arbitrary_tasks(), seed in 0_u64..1000) {
        let before: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        let assigned = assign(&mut tasks, &[], usual(), seed);
        let mut after: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        after.extend(assigned.excluded.iter().cloned());
        after.sort();
        let mut sorted = before;
        sorted.sort();
        prop_assert_eq!(after, sorted);
        for task in &tasks {
            let mut alone = vec![task.clone()];
            assign(&mut alone, &[], usual(), seed);
            prop_assert_eq!(alone[0].split != task.split, assigned.moved.contains(&task.id));
        }
    }

    #[test]
    fn stored_slices_never_change(mut tasks in arbitrary_tasks(), more in arbitrary_tasks(), seed in 0_u64..1000) {
        assign(&mut tasks, &[], usual(), seed);
        let mut again: Vec<Task> = tasks.clone();
        again.extend(more.into_iter().map(|mut task| { task.id = format!("n{}", task.id); task }));
        for task in &mut again {
            task.split = Split::Train;
        }
        assign(&mut again, &tasks, usual(), seed);
        for stored in &tasks {
            if let Some(now) = again.iter().find(|task| task.id == stored.id) {
                prop_assert_eq!(now.split, stored.split);
            }
        }
    }
}

#[test]
fn as_many_are_held_out_as_a_verdict_needs_where_they_can_be_spared() {
    let held = |count: usize, least: u32, seed: u64| {
        let mut tasks: Vec<Task> = (0..count)
            .map(|number| Task::new(format!("t{number}"), "p", "x"))
            .collect();
        assign(&mut tasks, &[], usual().holding_out(least), seed);
        assert_eq!(tasks.len(), count);
        tasks
            .iter()
            .filter(|task| task.split == Split::Validation)
            .count()
    };
    for seed in 0..200 {
        assert!((3..10).contains(&held(10, 3, seed)), "seed {seed}");
        assert_eq!(held(4, 3, seed), 3, "seed {seed}");
        // Three tasks cannot give three held-out ones and one to learn from: as the reference.
        assert_eq!(held(3, 3, seed), held(3, 1, seed), "seed {seed}");
    }
}

#[test]
fn held_out_tasks_of_earlier_nights_count() {
    let archive: Vec<Task> = (0..3)
        .map(|number| Task {
            split: Split::Validation,
            ..Task::new(format!("old{number}"), "p", "y")
        })
        .collect();
    for seed in 0..50 {
        let fresh = || -> Vec<Task> {
            (0..6)
                .map(|number| Task::new(format!("t{number}"), "p", "x"))
                .collect()
        };
        let (mut asked, mut usually) = (fresh(), fresh());
        assign(&mut asked, &archive, usual().holding_out(3), seed);
        assign(&mut usually, &archive, usual(), seed);
        assert_eq!(asked, usually, "seed {seed}");
    }
}
