//! The backend without a model: questions and answers are files (§1.16, §9.4).
//!
//! ```text
//! <folder>/pending.json     {format, answers_dir, pending: [{id, answer_file, max_tokens, prompt}]}
//! <folder>/PROMPTS.md       the same for a person to read
//! <folder>/answers/<id>.md  one answer, as it is
//! ```
//!
//! `id` is the first 16 hexadecimal digits of the call's key, so that samples of one question are
//! different questions. An answer that is taken is kept in the store; its file is not read again
//! except to say that it has changed since.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use skillopt_core::call::{BackendId, Call, Role};
use skillopt_core::{Instant, Problem};
use skillopt_store::files;

use crate::backend::{Asking, Backend, RawReply};
use crate::cancel::CancelToken;
use crate::error::CallError;

/// `kind` of the backend.
pub const KIND: &str = "handoff";
/// Format of `pending.json`, as in the reference.
pub const FORMAT: &str = "skillopt_sleep.handoff.v1";
/// Largest answer that is taken, in bytes.
pub const LARGEST_ANSWER: usize = 1 << 20;

/// Texts people and programs leave in a file they mean to fill in later.
const PLACEHOLDERS: [&str; 11] = [
    "todo",
    "tbd",
    "fixme",
    "...",
    "…",
    "placeholder",
    "answer",
    "answer here",
    "your answer",
    "your answer here",
    "write your answer here",
];
/// What the reference puts in the place of an answer that is missing.
const SENTINEL: &str = "[[SKILLOPT-SLEEP-PENDING:";

/// The folder of questions and answers of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    folder: PathBuf,
}

/// What is in an answer file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There is no file.
    Missing,
    /// There is one, and it cannot be an answer for this reason.
    Refused(String),
    /// The answer, trimmed.
    Given(String),
}

/// Where the open questions were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// `pending.json`.
    pub pending: PathBuf,
    /// `PROMPTS.md`.
    pub prompts: PathBuf,
    /// Where answers belong.
    pub answers: PathBuf,
    /// How many questions are open.
    pub open: usize,
}

/// An open question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The call that waits.
    pub call: Call,
    /// Why a file that is there was not taken.
    pub refused: Option<String>,
}

/// The id of the question behind a call: the first 16 hexadecimal digits of its key.
#[must_use]
pub fn id(key: &str) -> &str {
    key.get(..16).unwrap_or(key)
}

/// The messages of a call as one text, as a person reads it.
#[must_use]
pub fn prompt(call: &Call) -> String {
    let mut text = String::new();
    for message in &call.messages {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if message.role == Role::Assistant {
            text.push_str("(Earlier answer:)\n");
        }
        text.push_str(message.text.trim());
    }
    text
}

impl Handoff {
    /// Questions and answers in `folder`. Nothing is made until a question is open.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file an answer belongs in.
    #[must_use]
    pub fn answer_file(&self, id: &str) -> PathBuf {
        self.folder.join("answers").join(format!("{id}.md"))
    }

    /// What is in the answer file of `call`.
    #[must_use]
    pub fn answer(&self, call: &Call, key: &str) -> Answer {
        let pinned = match files::read_pinned(&self.answer_file(id(key))) {
            Ok(None) => return Answer::Missing,
            Ok(Some(pinned)) => pinned,
            Err(problem) => return Answer::Refused(problem.message),
        };
        if pinned.bytes.len() > LARGEST_ANSWER {
            return Answer::Refused("the file is larger than 1 MiB".to_owned());
        }
        let Ok(text) = String::from_utf8(pinned.bytes) else {
            return Answer::Refused("the file is not UTF-8".to_owned());
        };
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if text.is_empty() {
            return Answer::Refused("the file is blank".to_owned());
        }
        let bare = text.trim_matches(|c: char| {
            matches!(
                c,
                '<' | '>' | '[' | ']' | '(' | ')' | '*' | '_' | '`' | '-' | ' '
            )
        });
        if PLACEHOLDERS.contains(&bare.to_lowercase().as_str()) || text.contains(SENTINEL) {
            return Answer::Refused("the file still holds a placeholder".to_owned());
        }
        if text == prompt(call) || text.contains(&begin(id(key))) {
            return Answer::Refused("the file holds the question".to_owned());
        }
        Answer::Given(text.to_owned())
    }

    /// Writes the open questions; `pending.json` last, so that whoever waits for it finds the rest.
    /// Without open questions files from before are brought up to date, and none is made.
    pub fn publish(&self, questions: &[Question]) -> Result<Published, Problem> {
        let published = Published {
            pending: self.folder.join("pending.json"),
            prompts: self.folder.join("PROMPTS.md"),
            answers: self.folder.join("answers"),
            open: questions.len(),
        };
        if questions.is_empty() && !published.pending.exists() {
            return Ok(published);
        }
        files::create_private_dir(&published.answers)?;
        files::sweep(&self.folder);
        let keyed: Vec<(String, &Question)> = questions
            .iter()
            .map(|question| (question.call.key(), question))
            .collect();
        files::write_private(&published.prompts, self.prompts_md(&keyed).as_bytes())?;
        let pending: Vec<_> = keyed
            .iter()
            .map(|(key, question)| {
                json!({
                    "id": id(key),
                    "answer_file": self.answer_file(id(key)),
                    "max_tokens": question.call.params.max_tokens,
                    "prompt": prompt(&question.call),
                    "kind": question.call.subject.kind(),
                    "sample": question.call.sample,
                    "refused": question.refused,
                })
            })
            .collect();
        let body = json!({"format": FORMAT, "answers_dir": published.answers, "pending": pending});
        files::write_private(&published.pending, format!("{body:#}\n").as_bytes())?;
        Ok(published)
    }

    fn prompts_md(&self, questions: &[(String, &Question)]) -> String {
        let mut text = format!(
            "# {} open questions\n\n\
             Answer each question as if it were the only one, from its own text alone, without files or tools.\n\
             Write the answer, and nothing else, into the file named with it (UTF-8). Then run the night again.\n\
             Questions that look alike are independent samples: answer each afresh.\n",
            questions.len()
        );
        for (number, (key, question)) in questions.iter().enumerate() {
            let id = id(key);
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n---\n\n## Prompt {} of {}\n\n- id: {id}\n- answer file: {}\n- suggested max tokens: {}\n",
                number + 1,
                questions.len(),
                self.answer_file(id).display(),
                question.call.params.max_tokens
            );
            if let Some(refused) = &question.refused {
                let _ = writeln!(text, "- the answer that is there was not taken: {refused}");
            }
            let _ = write!(
                text,
                "\n{}\n{}\n{}\n",
                begin(id),
                prompt(&question.call),
                end(id)
            );
        }
        text
    }

    /// Puts the folder aside under `<folder>.night<number>.done` when its night is complete, with
    /// `.<seconds since 1970>` appended if that exists. Gives the new place; `None` without a folder.
    ///
    /// Error: `handoff_not_archived`; then the folder is where it was, and the night must not be
    /// reported as complete.
    pub fn archive(&self, number: u64, now: Instant) -> Result<Option<PathBuf>, Problem> {
        if !self.folder.exists() {
            return Ok(None);
        }
        let failed = |why: std::io::Error| {
            Problem::temporary(
                "handoff_not_archived",
                format!(
                    "The answered questions in {} could not be put aside: {why}.",
                    self.folder.display()
                ),
                "Make the folder above it writable, then run the night again; no question is asked twice.",
            )
        };
        let name = self
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut place = self
            .folder
            .with_file_name(format!("{name}.night{number}.done"));
        if place.exists() {
            place = self
                .folder
                .with_file_name(format!("{name}.night{number}.done.{}", now.as_second()));
        }
        if place.exists() {
            return Err(failed(std::io::Error::other(format!(
                "{} is already there",
                place.display()
            ))));
        }
        std::fs::rename(&self.folder, &place).map_err(failed)?;
        #[cfg(unix)]
        if let Some(parent) = self.folder.parent() {
            std::fs::File::open(parent)
                .and_then(|parent| parent.sync_all())
                .map_err(failed)?;
        }
        Ok(Some(place))
    }
}

fn begin(id: &str) -> String {
    format!("----- BEGIN PROMPT {id} -----")
}

fn end(id: &str) -> String {
    format!("----- END PROMPT {id} -----")
}

impl Backend for Handoff {
    fn id(&self) -> BackendId {
        BackendId {
            kind: KIND.to_owned(),
            // Where the files are does not change an answer.
            address: String::new(),
            model: String::new(),
            version: String::new(),
            system_mode: "one_prompt".to_owned(),
        }
    }

    fn paid(&self) -> bool {
        false
    }

    fn provider(&self) -> String {
        KIND.to_owned()
    }

    fn handoff(&self) -> Option<&Handoff> {
        Some(self)
    }

    fn ask<'a>(&'a self, call: &'a Call, _cancel: &'a CancelToken) -> Asking<'a> {
        let key = call.key();
        let answer = match self.answer(call, &key) {
            Answer::Given(text) => Ok(RawReply::text(text)),
            Answer::Missing => Err(CallError::WaitingForAnswer {
                id: id(&key).to_owned(),
                refused: None,
            }),
            Answer::Refused(why) => Err(CallError::WaitingForAnswer {
                id: id(&key).to_owned(),
                refused: Some(why),
            }),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "answers of a test are written by nobody else"
)]
mod tests {
    use super::*;
    use skillopt_core::call::{Message, Params, Subject};

    fn call(sample: u32) -> Call {
        Call {
            backend: Handoff::new(PathBuf::new()).id(),
            subject: Subject::Judge {
                intent: "i".into(),
                rubric: "r".into(),
                response: "x".into(),
            },
            messages: vec![
                Message {
                    role: Role::System,
                    text: "Be fair.".into(),
                },
                Message {
                    role: Role::User,
                    text: "Grade it.".into(),
                },
            ],
            params: Params {
                max_tokens: 200,
                temperature: None,
                schema: None,
            },
            sample,
            ask: 0,
            rounds: Vec::new(),
        }
    }

    fn question(sample: u32) -> Question {
        Question {
            call: call(sample),
            refused: None,
        }
    }

    #[test]
    fn files_have_the_shape_of_the_reference() {
        // §1.16.
        let folder = tempfile::tempdir().unwrap();
        let handoff = Handoff::new(folder.path().join("h"));
        let published = handoff.publish(&[question(0), question(1)]).unwrap();
        let text = std::fs::read_to_string(&published.pending).unwrap();
        assert!(text.ends_with("}\n"));
        let pending: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(pending["format"], "skillopt_sleep.handoff.v1");
        assert_eq!(pending["answers_dir"], json!(published.answers));
        let first = &pending["pending"][0];
        let id = first["id"].as_str().unwrap();
        assert_eq!((id.len(), &call(0).key()[..16]), (16, id));
        assert_eq!(first["answer_file"], json!(handoff.answer_file(id)));
        assert_eq!(first["max_tokens"], 200);
        assert_eq!(first["prompt"], "Be fair.\n\nGrade it.");
        assert_ne!(
            first["id"], pending["pending"][1]["id"],
            "samples are different questions"
        );
        let prompts = std::fs::read_to_string(&published.prompts).unwrap();
        assert!(prompts.contains(&format!(
            "\n---\n\n## Prompt 1 of 2\n\n- id: {id}\n- answer file: {}\n- suggested max tokens: 200\n",
            handoff.answer_file(id).display()
        )));
        assert!(prompts.contains(&format!(
            "----- BEGIN PROMPT {id} -----\nBe fair.\n\nGrade it.\n----- END PROMPT {id} -----\n"
        )));
    }

    #[test]
    fn only_what_can_be_an_answer_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let handoff = Handoff::new(folder.path().to_owned());
        let (call, key) = (call(0), call(0).key());
        assert_eq!(handoff.answer(&call, &key), Answer::Missing);
        handoff.publish(&[question(0)]).unwrap();
        let file = handoff.answer_file(id(&key));
        for refused in [
            b"".to_vec(),
            b" \n\xef\xbb\xbf".to_vec(),
            b"\xff\xfe".to_vec(),
            b"<your answer here>".to_vec(),
            b"TODO\n".to_vec(),
            b"x [[SKILLOPT-SLEEP-PENDING:abc]]".to_vec(),
            b"Be fair.\n\nGrade it.".to_vec(),
            format!("----- BEGIN PROMPT {} -----", id(&key)).into_bytes(),
            vec![b'a'; LARGEST_ANSWER + 1],
        ] {
            std::fs::write(&file, &refused).unwrap();
            assert!(
                matches!(handoff.answer(&call, &key), Answer::Refused(_)),
                "{}",
                String::from_utf8_lossy(&refused)
            );
        }
        std::fs::write(&file, "\u{feff} {\"score\": 1}\n").unwrap();
        assert_eq!(
            handoff.answer(&call, &key),
            Answer::Given("{\"score\": 1}".into())
        );
        #[cfg(unix)]
        {
            let elsewhere = folder.path().join("elsewhere");
            std::fs::rename(&file, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
            assert!(
                matches!(handoff.answer(&call, &key), Answer::Refused(_)),
                "a link may lead anywhere"
            );
        }
    }

    #[test]
    fn nothing_is_made_without_a_question_and_old_questions_disappear() {
        let folder = tempfile::tempdir().unwrap();
        let handoff = Handoff::new(folder.path().join("h"));
        handoff.publish(&[]).unwrap();
        assert!(!handoff.folder().exists());
        handoff.publish(&[question(0)]).unwrap();
        let published = handoff.publish(&[]).unwrap();
        assert!(
            std::fs::read_to_string(&published.pending)
                .unwrap()
                .contains("\"pending\": []")
        );
    }

    #[test]
    fn a_complete_night_is_put_aside_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let handoff = Handoff::new(folder.path().join("h"));
        let now: Instant = "2026-11-30T03:00:00Z".parse().unwrap();
        assert_eq!(handoff.archive(3, now).unwrap(), None);
        handoff.publish(&[question(0)]).unwrap();
        assert_eq!(
            handoff.archive(3, now).unwrap(),
            Some(folder.path().join("h.night3.done"))
        );
        assert!(!handoff.folder().exists());
        handoff.publish(&[question(0)]).unwrap();
        assert_eq!(
            handoff.archive(3, now).unwrap(),
            Some(
                folder
                    .path()
                    .join(format!("h.night3.done.{}", now.as_second()))
            )
        );
        handoff.publish(&[question(0)]).unwrap();
        assert_eq!(
            handoff.archive(3, now).unwrap_err().code,
            "handoff_not_archived"
        );
        assert!(handoff.folder().exists());
    }
}
