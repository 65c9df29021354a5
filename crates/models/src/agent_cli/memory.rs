//! What programs have said about themselves, kept for processes to come.
//!
//! One file for each program and question, so that a newer version takes the place of the older one.
//! What cannot be read or written costs no more than asking again.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::hash::sha256_parts;
use skillopt_store::files;

use super::probe::{Printed, Question};

/// Two outputs of the greatest length that is read from a program, as JSON.
const LARGEST: u64 = 32 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Kept {
    question: Question,
    printed: Printed,
}

/// What the same file answered to the same question.
pub(super) fn recall(folder: Option<&Path>, question: &Question) -> Option<Printed> {
    let mut text = String::new();
    File::open(file(folder?, question))
        .ok()?
        .take(LARGEST)
        .read_to_string(&mut text)
        .ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    (kept.question == *question).then_some(kept.printed)
}

/// Keeps an answer.
pub(super) fn keep(folder: Option<&Path>, question: &Question, printed: &Printed) {
    let Some(folder) = folder else { return };
    let kept = Kept {
        question: question.clone(),
        printed: printed.clone(),
    };
    if let Ok(text) = serde_json::to_vec(&kept) {
        // It is asked again when there is none.
        let _ = files::write_private(&file(folder, question), &text);
    }
}

fn file(folder: &Path, question: &Question) -> PathBuf {
    let path = question.path.to_string_lossy();
    let mut parts = vec![path.as_bytes()];
    parts.extend(question.arguments.iter().map(String::as_bytes));
    folder.join(format!("{}.json", sha256_parts(&parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(size: u64) -> Question {
        Question {
            path: "/opt/agent".into(),
            changed: Some(std::time::SystemTime::UNIX_EPOCH),
            created: None,
            size,
            search_path: "/usr/bin".into(),
            arguments: vec!["--version".to_owned()],
        }
    }

    #[test]
    fn an_answer_is_kept_until_the_file_is_another() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("agents");
        let printed = Printed {
            output: "1.2.3\n".to_owned(),
            complaint: String::new(),
        };
        assert_eq!(recall(Some(&folder), &question(1)), None);
        keep(Some(&folder), &question(1), &printed);
        assert_eq!(recall(Some(&folder), &question(1)), Some(printed.clone()));
        assert_eq!(recall(Some(&folder), &question(2)), None);
        assert_eq!(recall(None, &question(1)), None);
        // The newer takes the place of the older.
        keep(Some(&folder), &question(2), &printed);
        assert_eq!(recall(Some(&folder), &question(1)), None);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        files::write_private(&file(&folder, &question(2)), b"{\"question\": 1").unwrap();
        assert_eq!(recall(Some(&folder), &question(2)), None);
    }
}
