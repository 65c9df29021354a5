//! What must hold for any bytes at all. Each function is a fuzz target, and an ordinary test runs
//! the same functions over the seeds and over simple mutations of them.

use skillopt_core::python_regex::PythonRegex;
use skillopt_core::task::Task;

/// A function that must return for any input.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder in `seeds/`.
pub const TARGETS: &[(&str, Target)] = &[("python_regex", python_regex), ("tasks", tasks)];

/// The text up to the first NUL, and what stands behind it.
fn two_texts(data: &[u8]) -> (String, String) {
    let split = data
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(data.len());
    let (first, second) = data.split_at(split);
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(first), text(second.get(1..).unwrap_or_default()))
}

/// A pattern is refused or searched; both come to an end. `pattern NUL text`.
pub fn python_regex(data: &[u8]) {
    let (pattern, text) = two_texts(data);
    if let Ok(regex) = PythonRegex::new(&pattern) {
        let _ = regex.found(&text);
    }
}

/// A task that can be read can be written, and reads the same again.
pub fn tasks(data: &[u8]) {
    if let Ok(task) = serde_json::from_slice::<Task>(data) {
        let text = serde_json::to_string(&task).expect("what was read can be written");
        assert_eq!(
            serde_json::from_str::<Task>(&text).expect("what was written can be read"),
            task
        );
    }
}
