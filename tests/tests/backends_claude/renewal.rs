//! A sign-in that may have to be renewed.

use std::sync::Mutex;

use skillopt_core::call::Subject;
use skillopt_core::task::Task;
use skillopt_models::retry::Retry;
use skillopt_models::{Ask, CallEvent, CallPath, Limits, PathOptions, Roles, Templates};
use skillopt_store::{Store, SystemClock, nights, projects};

use super::*;

fn question(number: usize) -> Ask {
    let task = Task::new(format!("t{number}"), "/", format!("What is 2 + {number}?"));
    Ask {
        subject: Subject::Attempt {
            task: Box::new(task),
            skill: String::new(),
            memory: String::new(),
        },
        sample: 0,
    }
}

/// How many tries were begun before one failed, and in all, when `claude` is asked three questions that
/// may all be under way at once.
async fn tries_of_three_questions(claude: AgentCli) -> (usize, usize) {
    let store = Arc::new(Store::in_memory(Arc::new(SystemClock)).unwrap());
    let night = store
        .commit("begin", |tx| {
            let project = projects::find_or_register(tx, Path::new("/"))?;
            nights::begin(tx, &project.id, nights::Kind::Run, &json!({}))
        })
        .unwrap();
    let claude: Arc<dyn Backend> = Arc::new(claude);
    let seen = Arc::new(Mutex::new((None, 0)));
    let seeing = Arc::clone(&seen);
    let path = CallPath::new(
        store,
        Roles::new(Arc::clone(&claude), claude),
        Templates::default(),
        PathOptions {
            limits: Limits::new(3),
            retry: Retry {
                first_wait: Duration::from_millis(1),
                ..Retry::default()
            },
            ..PathOptions::default()
        },
        CancelToken::new(),
        Arc::new(move |event| {
            let (before, all) = &mut *seeing.lock().unwrap();
            match event {
                CallEvent::Sent { .. } => *all += 1,
                CallEvent::Again { .. } => *before = before.or(Some(*all)),
                _ => {}
            }
        }),
    );
    path.plan(night, "s", (0..3).map(question).collect())
        .unwrap();
    for result in path.answer(night, "s").await.unwrap() {
        assert_eq!(result.unwrap().text, "OK.");
    }
    let (before, all) = *seen.lock().unwrap();
    (before.unwrap(), all)
}

#[tokio::test]
async fn one_call_renews_the_sign_in_before_others_start() {
    let keyed = SignIn::configured(
        "K",
        &[],
        &[("K".to_owned(), KEY.to_owned())].into(),
        &Keyring::nowhere(),
    )
    .unwrap();
    // A key is not renewed.
    for (sign_in, side_by_side) in [(SignIn::Subscription, 1), (keyed, 3)] {
        let stub = install([Mode::HangAfterStart, Mode::reply("OK.")]);
        let mut options = options(&stub);
        options
            .environment
            .insert("CLAUDE_CONFIG_DIR".into(), "/home/renewing".into());
        options.first_byte = Duration::from_secs(3);
        options.sign_in = sign_in;
        let (before, all) = tries_of_three_questions(backend(options).await).await;
        assert_eq!(before, side_by_side, "begun before the first one failed");
        assert_eq!(stub.asked().len(), all, "every try is a process");
    }
}

#[tokio::test]
async fn sign_ins_in_other_directories_are_others() {
    let stub = install([Mode::reply("OK.")]);
    let mut renewed = Vec::new();
    for (name, directory) in [
        ("CLAUDE_CONFIG_DIR", "/home/a/.claude-work"),
        ("CLAUDE_CONFIG_DIR", "/home/b/.claude-work"),
        ("HOME", "/home/a"),
        ("HOME", "/home/b"),
    ] {
        let named = || {
            let mut options = options(&stub);
            options.environment.remove("CLAUDE_CONFIG_DIR");
            options.environment.insert(name.into(), directory.into());
            options
        };
        let sign_in = backend(named()).await.renews().unwrap();
        let same = backend(named()).await.renews().unwrap();
        assert_eq!(sign_in, same, "one for all that use it");
        assert!(!renewed.contains(&sign_in), "{sign_in}");
        renewed.push(sign_in);
    }
}
