//! Hand-off: the questions that wait for a person or another program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skillopt_core::Problem;
use skillopt_models::{Handoff, handoff};
use skillopt_sleep::Context;
use skillopt_store::files;
use skillopt_store::nights::{self, Kind};
use skillopt_store::projects::Project;
use skillopt_store::{events, locks};

use crate::context::App;
use crate::project::Which;

/// The longest list of questions that is read, in bytes: a night of many long ones has some megabytes.
const LARGEST_LIST: usize = 64 << 20;

/// The open questions of a project.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Questions {
    /// The folder they lie in.
    pub folder: PathBuf,
    /// Where answers go: one file per question, named by its id.
    pub answers: PathBuf,
    /// The questions as in `pending.json`, each with whether its answer file is there and why it is
    /// no answer.
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "Array<{ id: string, answer_file: string, max_tokens: number, prompt: string, kind: string, sample: number, refused: string | null, answered: boolean }>"
        )
    )]
    pub pending: Vec<Value>,
    /// The same for a person to read.
    pub prompts: PathBuf,
}

/// Shows the open questions.
pub async fn questions(app: &App, which: Which) -> Result<Questions, Problem> {
    let project = app.registered(which.project.as_deref())?;
    of(app, &app.night(project)?)
}

/// An answer that is there and was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RefusedAnswer {
    /// Id of its question.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// The event with what was last seen of the answers to a night that waits.
const SEEN: &str = "handoff/answers";

/// What was last seen of them, for who answers and who looks on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    answered: usize,
    refused: Vec<RefusedAnswer>,
}

/// What was found when the answers to a night were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looked {
    /// Every open question has an answer that could be one; there is a question.
    pub(crate) answered: bool,
    /// Something else than last time.
    pub(crate) news: bool,
}

/// Looks at the answers to a night that waits. An answer that cannot be taken is told with the reason in the
/// files of the questions, where whoever answers reads it; that and a new answer are written into the
/// store, where whoever looks on sees it.
pub(crate) fn look(app: &App, project: Project) -> Result<Looked, Problem> {
    let id = project.id.clone();
    // What looks every few seconds does not tell the warnings about settings each time.
    let questions = of(app, &app.untold_night(project)?)?;
    let pending = &questions.pending;
    let answered = pending.iter().filter(|one| one["answered"] == true).count();
    let refused = pending.iter().filter_map(|question| {
        Some(RefusedAnswer {
            id: question["id"].as_str()?.to_owned(),
            reason: question["refused"].as_str()?.to_owned(),
        })
    });
    let seen = Seen {
        answered,
        refused: refused.collect(),
    };
    Ok(Looked {
        answered: !pending.is_empty() && answered == pending.len(),
        news: note(app, &id, &questions.folder, &seen)?,
    })
}

/// Writes down what was seen, if it is new. While somebody works on the project, they write the questions.
fn note(app: &App, project: &str, folder: &Path, seen: &Seen) -> Result<bool, Problem> {
    let Some(night) = app
        .store
        .read(|db| nights::open(db, project, Kind::Run))?
        .map(|night| night.id)
    else {
        return Ok(false);
    };
    let before = last_seen(app, night)?;
    if before == *seen {
        return Ok(false);
    }
    let now = app.clock.now();
    let Ok(_lock) = locks::project(&app.paths, project, "looking at answers", now) else {
        return Ok(false);
    };
    if before.refused != seen.refused {
        let handoff = Handoff::new(folder.to_owned());
        let open = skillopt_models::open_questions(&app.store, night, &handoff)?;
        handoff.publish(&open)?;
    }
    app.store.commit("answers seen", |tx| {
        events::append(tx, night, SEEN, &json!(seen)).map(|_| ())
    })?;
    Ok(true)
}

fn last_seen(app: &App, night: i64) -> Result<Seen, Problem> {
    let event = app.store.read(|db| events::last(db, night, SEEN))?;
    // Of another version, it is as if nothing had been seen.
    let seen = event.and_then(|event| Seen::deserialize(event.body).ok());
    Ok(seen.unwrap_or_default())
}

/// The first answer to a night that was not taken when they were last looked at.
pub(crate) fn refused_answer(app: &App, night: i64) -> Result<Option<RefusedAnswer>, Problem> {
    Ok(last_seen(app, night)?.refused.into_iter().next())
}

fn of(app: &App, context: &Context) -> Result<Questions, Problem> {
    let folder = skillopt_models::handoff_folder(
        &context.settings,
        &context.paths,
        &context.project.id,
        Path::new(&context.project.root),
    );
    let file = folder.join("pending.json");
    let mut pending = match at_most(&file, LARGEST_LIST) {
        Ok(bytes) if bytes.len() > LARGEST_LIST => {
            return Err(broken(&file, "it has more than 64 MiB"));
        }
        Ok(bytes) => open_questions(&bytes)
            .ok_or_else(|| broken(&file, "it is not a list of questions as a night writes it"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(broken(&file, &error.to_string())),
    };
    let answers = folder.join("answers");
    let refused = refused(app, &context.project.id, &folder)?;
    for question in &mut pending {
        let id = question
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let plain = is_id(id);
        let why = refused.get(id).cloned();
        let answered = plain && why.is_none() && answers.join(format!("{id}.md")).is_file();
        question.insert("refused".to_owned(), why.map_or(Value::Null, Value::String));
        question.insert("answered".to_owned(), Value::Bool(answered));
    }
    Ok(Questions {
        prompts: folder.join("PROMPTS.md"),
        answers,
        folder,
        pending: pending.into_iter().map(Value::Object).collect(),
    })
}

/// An answer to an open question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(optional_fields = nullable)
)]
pub struct AnswerInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Id of the question.
    pub id: String,
    /// The answer, or else it is in `file`.
    pub answer: Option<String>,
    /// A file with the answer.
    pub file: Option<PathBuf>,
}

/// Writes an answer where the night looks for it, in the place of an earlier one, and gives all open
/// questions. Whether it is one is said there and by the next run.
///
/// Errors: `handoff_unknown`, `handoff_answer_unusable`, those of [`questions`] and of writing.
pub async fn answer(app: &App, input: AnswerInput) -> Result<Questions, Problem> {
    let which = Which {
        project: input.project,
    };
    let open = questions(app, which.clone()).await?;
    let asked = open
        .pending
        .iter()
        .any(|question| question["id"] == *input.id);
    // The id becomes the name of a file: only one that we gave is used.
    if !asked || !is_id(&input.id) {
        return Err(Problem::refused(
            "handoff_unknown",
            format!(
                "No open question is called \"{}\".",
                input.id.escape_debug()
            ),
            "`skillopt handoff` lists the open ones.",
        ));
    }
    let text = match (input.answer, input.file) {
        (Some(answer), None) => answer.into_bytes(),
        (None, Some(file)) => read(&app.directory.join(file))?,
        (None, None) | (Some(_), Some(_)) => {
            return Err(unusable("Give the answer or a file with it, one of them."));
        }
    };
    if text.len() > handoff::LARGEST_ANSWER {
        return Err(too_long());
    }
    if std::str::from_utf8(&text).is_err() {
        return Err(unusable("The file is not text in UTF-8."));
    }
    files::write_private(&open.answers.join(format!("{}.md", input.id)), &text)?;
    questions(app, which).await
}

/// What is in a file that somebody named. A link is not followed and a pipe not waited for: what is dropped on a
/// window may come from anywhere.
///
/// Errors: `handoff_answer_unusable`, and those of [`files::read_pinned`].
fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let about = std::fs::symlink_metadata(file)
        .map_err(|error| unusable(format!("{} cannot be read: {error}.", file.display())))?;
    let kind = about.file_type();
    if kind.is_symlink() {
        return Err(unusable(format!(
            "{} is a link; name the file it points to.",
            file.display()
        )));
    }
    if kind.is_dir() {
        return Err(unusable(format!(
            "{} is a folder; an answer is one file.",
            file.display()
        )));
    }
    if !kind.is_file() {
        return Err(unusable(format!(
            "{} is a pipe or a device; an answer is a file.",
            file.display()
        )));
    }
    if about.len() > handoff::LARGEST_ANSWER as u64 {
        return Err(too_long());
    }
    // It may be something else by now.
    let read = files::read_pinned(file)?.map(|pinned| pinned.bytes);
    read.ok_or_else(|| unusable(format!("{} is no longer there.", file.display())))
}

/// What is in a file, but no more than shows that it has more than `most` bytes.
fn at_most(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = File::open(file)?;
    opened.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn too_long() -> Problem {
    unusable("An answer has at most 1 MiB.")
}

fn unusable(why: impl Into<String>) -> Problem {
    Problem::refused(
        "handoff_answer_unusable",
        why,
        "Nothing was written; give it again.",
    )
}

/// Whether a text has the form of a question's id.
fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The questions of `pending.json`; `None` when it is something else.
fn open_questions(bytes: &[u8]) -> Option<Vec<Map<String, Value>>> {
    let file: Value = serde_json::from_slice(bytes).ok()?;
    let questions = file.get("pending")?.as_array()?;
    questions
        .iter()
        .map(|question| question.as_object().cloned())
        .collect()
}

fn broken(file: &Path, why: &str) -> Problem {
    Problem::permanent(
        "handoff_broken",
        format!("{} cannot be read: {why}.", file.display()),
        "Remove it; the next `skillopt sleep run` writes it anew, and answers that are there stay.",
    )
}

/// Answers that are there and are none, by the question's id: what the next run would say of them.
fn refused(app: &App, project: &str, folder: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let handoff = Handoff::new(folder.to_owned());
    let mut refused = BTreeMap::new();
    for kind in [Kind::Run, Kind::DryRun] {
        let Some(night) = app.store.read(|db| nights::open(db, project, kind))? else {
            continue;
        };
        for question in skillopt_models::open_questions(&app.store, night.id, &handoff)? {
            if let Some(why) = question.refused {
                refused.insert(handoff::id(&question.call.key()).to_owned(), why);
            }
        }
    }
    Ok(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};
    use skillopt_store::files;

    #[test]
    fn an_odd_file_of_questions_is_a_problem() {
        let home = TestHome::new();
        let project = home.app.project(None).unwrap();
        let file = home.app.paths.handoff(&project.id).join("pending.json");
        let ask = || block_on(questions(&home.app, Which::default()));
        assert_eq!(ask().unwrap().pending, [] as [Value; 0]);
        for odd in [
            "{",
            "[]",
            r#"{"pending": {}}"#,
            r#"{"pending": ["x"]}"#,
            r#"{"pending": [[]]}"#,
        ] {
            files::write_private(&file, odd.as_bytes()).unwrap();
            assert_eq!(ask().unwrap_err().code, "handoff_broken", "{odd}");
        }
        let long = File::options().write(true).open(&file).unwrap();
        long.set_len(LARGEST_LIST as u64 + 1).unwrap();
        let problem = ask().unwrap_err();
        assert_eq!(problem.code, "handoff_broken");
        assert!(problem.message.contains("64 MiB"), "{}", problem.message);
        let good = r#"{"pending": [{"id": "0123456789abcdef"}, {}]}"#;
        files::write_private(&file, good.as_bytes()).unwrap();
        let found = ask().unwrap().pending;
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|question| question["answered"] == false));
    }

    #[test]
    fn only_who_asks_for_the_questions_is_told_warnings_about_settings() {
        let mut home = TestHome::new();
        let project = home.app.project(None).unwrap();
        let settings = home.app.config().user;
        files::write_private(&settings, b"[unheard_of]\nx = 1\n").unwrap();
        let told = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&told);
        home.app.listener = std::sync::Arc::new(move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        });
        look(&home.app, project).unwrap();
        let told = || told.load(std::sync::atomic::Ordering::SeqCst);
        assert_eq!(told(), 0);
        block_on(questions(&home.app, Which::default())).unwrap();
        assert_eq!(told(), 1);
    }

    #[test]
    fn an_answer_is_written_only_for_an_open_question() {
        let home = TestHome::new();
        let project = home.app.project(None).unwrap();
        let folder = home.app.paths.handoff(&project.id);
        let pending = r#"{"pending": [{"id": "0123456789abcdef"}, {"id": "../../escape.me."}]}"#;
        files::write_private(&folder.join("pending.json"), pending.as_bytes()).unwrap();
        let give = |id: &str, answer: Option<&str>, file: Option<PathBuf>| {
            let input = AnswerInput {
                project: None,
                id: id.to_owned(),
                answer: answer.map(str::to_owned),
                file,
            };
            block_on(super::answer(&home.app, input)).map_err(|problem| problem.code)
        };
        assert_eq!(
            give("../../escape.me.", Some("x"), None).unwrap_err(),
            "handoff_unknown"
        );
        assert_eq!(
            give("fedcba9876543210", Some("x"), None).unwrap_err(),
            "handoff_unknown"
        );
        let id = "0123456789abcdef";
        let long = "x".repeat(handoff::LARGEST_ANSWER + 1);
        let from = home.path("answer.txt");
        files::write_private(&from, b"From a file.").unwrap();
        for (answer, file) in [
            (None, None),
            (Some("x"), Some(from.clone())),
            (Some(long.as_str()), None),
            (None, Some(home.path("gone.txt"))),
        ] {
            assert_eq!(
                give(id, answer, file).unwrap_err(),
                "handoff_answer_unusable"
            );
        }
        let written = || std::fs::read_to_string(folder.join(format!("answers/{id}.md"))).unwrap();
        let open = give(id, Some("Yes."), None).unwrap();
        assert_eq!(
            (written().as_str(), &open.pending[0]["answered"]),
            ("Yes.", &Value::Bool(true))
        );
        give(id, None, Some(from)).unwrap();
        assert_eq!(written(), "From a file.");
    }

    #[cfg(unix)]
    #[test]
    fn whatever_is_no_file_with_text_is_refused_with_a_sentence_at_once() {
        let home = TestHome::new();
        let project = home.app.project(None).unwrap();
        let folder = home.app.paths.handoff(&project.id);
        let pending = r#"{"pending": [{"id": "0123456789abcdef"}]}"#;
        files::write_private(&folder.join("pending.json"), pending.as_bytes()).unwrap();
        let place = |name: &str| home.path(name);
        std::fs::create_dir_all(place("folder")).unwrap();
        files::write_private(&place("text"), b"Yes.").unwrap();
        std::os::unix::fs::symlink(place("text"), place("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", place("endless")).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(place("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(place("socket")).unwrap();
        files::write_private(&place("latin"), b"Gr\xfc\xdfe").unwrap();
        files::write_private(&place("huge"), b"").unwrap();
        let huge = std::fs::File::options().write(true).open(place("huge"));
        huge.unwrap().set_len(2 << 30).unwrap();
        for (name, sentence) in [
            ("folder", "is a folder"),
            ("link", "is a link"),
            ("endless", "is a link"),
            ("pipe", "is a pipe"),
            ("socket", "is a pipe or a device"),
            ("latin", "not text in UTF-8"),
            ("huge", "at most 1 MiB"),
            ("gone", "cannot be read"),
        ] {
            let input = AnswerInput {
                project: None,
                id: "0123456789abcdef".to_owned(),
                answer: None,
                file: Some(place(name)),
            };
            let problem = block_on(super::answer(&home.app, input)).unwrap_err();
            assert_eq!(problem.code, "handoff_answer_unusable", "{name}");
            assert!(problem.message.contains(sentence), "{name}: {problem:?}");
        }
        assert!(!folder.join("answers").exists());
    }
}
