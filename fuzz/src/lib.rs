//! What must hold for any bytes at all. Each function is a fuzz target, and an ordinary test runs
//! the same functions over the seeds and over simple mutations of them.

use skillopt_core::task::Task;

/// A function that must return for any input.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder in `seeds/`.
pub const TARGETS: &[(&str, Target)] = &[("tasks", tasks)];

/// A task that can be read can be written, and reads the same again.
pub fn tasks(data: &[u8]) {
    if let Ok(task) = serde_json::from_slice::<Task>(data) {
        let text = serde_json::to_string(&task).expect("what was read can be written");
        assert_eq!(serde_json::from_str::<Task>(&text).expect("what was written can be read"), task);
    }
}
