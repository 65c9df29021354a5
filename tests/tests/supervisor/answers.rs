//! Nights whose questions a person answers.

use std::path::PathBuf;
use std::time::Duration;

use skillopt_app::supervisor::{Overall, Supervisor, SupervisorState};
use skillopt_store::nights::Outcome;

use super::counted;
use super::place::{Place, has_ended, is_here, only, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_waited_for_answers_goes_on_when_all_of_them_are_there() {
    let mut place = Place::new();
    place.set("BACKEND", "handoff");
    let battery = place.battery();
    battery("90");
    place.set("CATCH_UP_HOURS", "6");
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, has_ended).await;
    let night = &place.nights(&project)[0];
    assert_eq!(
        night.outcome,
        Some(Outcome::WaitingForAnswers),
        "{night:#?}"
    );
    // That a later one is left out makes nobody forget it.
    battery("3");
    place.go_to(&supervisor, "2026-06-11T03:20:00Z");
    until(&supervisor, |state| !only(state).waits.is_empty()).await;
    place.go_to(&supervisor, "2026-06-11T11:00:00Z");
    let state = until(&supervisor, |state| only(state).missed.is_some()).await;
    assert_eq!(state.overall, Overall::WaitingForReview, "{state:#?}");
    assert!(only(&state).waits_for_answers(), "{state:#?}");
    let asked = place
        .home
        .run_with(&["handoff", "--json"], &[("SKILLOPT_BACKEND", "handoff")])
        .json();
    let pending = asked["pending"].as_array().expect("questions");
    assert!(pending.len() > 1, "{asked:#}");
    let answers = PathBuf::from(asked["answers"].as_str().expect("a folder"));
    std::fs::create_dir_all(&answers).expect("a folder");
    let answer = |question: &serde_json::Value| {
        let id = question["id"].as_str().expect("an id");
        std::fs::write(answers.join(format!("{id}.md")), "[]").expect("an answer");
    };
    // What is no answer is told to whoever answers and whoever looks on, without a word from anybody.
    let blank = pending[1]["id"].as_str().expect("an id");
    std::fs::write(answers.join(format!("{blank}.md")), " \n").expect("a file");
    let refused = |state: &SupervisorState| {
        let last = only(state).last.as_ref();
        last.and_then(|last| Some(last.refused_answer.as_ref()?.id.clone()))
    };
    until(&supervisor, |state| {
        refused(state).as_deref() == Some(blank)
    })
    .await;
    let folder = answers.parent().expect("a folder");
    for file in ["pending.json", "PROMPTS.md"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("a file");
        assert!(text.contains("the file is blank"), "{file}: {text}");
    }
    answer(&pending[1]);
    until(&supervisor, |state| refused(state).is_none()).await;
    answer(&pending[0]);
    supervisor.poke();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(place.nights(&project)[0].resumes, 0, "one is missing");
    pending.iter().for_each(answer);
    supervisor.poke();
    until(&supervisor, |_| place.nights(&project)[0].resumes == 1).await;
    until(&supervisor, has_ended).await;
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_has_its_answers_and_cannot_go_on_is_not_begun_without_end() {
    let mut place = Place::new();
    place.set("BACKEND", "handoff");
    let prompts = place.home.home().join("prompts.json");
    std::fs::write(&prompts, "{}").expect("prompts");
    place.set("PROMPTS", prompts.to_str().expect("text"));
    let project = place.register();
    let (launch, started) = counted(&place, "");
    let supervisor = Supervisor::start(place.app(), launch);
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, has_ended).await;
    let asked = place
        .home
        .run_with(&["handoff", "--json"], &[("SKILLOPT_BACKEND", "handoff")])
        .json();
    let answers = PathBuf::from(asked["answers"].as_str().expect("a folder"));
    std::fs::create_dir_all(&answers).expect("a folder");
    for question in asked["pending"].as_array().expect("questions") {
        let id = question["id"].as_str().expect("an id");
        std::fs::write(answers.join(format!("{id}.md")), "[]").expect("an answer");
    }
    std::fs::write(&prompts, "broken").expect("prompts");
    supervisor.poke();
    until(&supervisor, |state| {
        let last = only(state).last.as_ref();
        last.is_some_and(|last| last.outcome == Outcome::Failed)
    })
    .await;
    for _ in 0..20 {
        supervisor.poke();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(started(), 2, "the night, and one try to go on");
    // An hour later it is tried again.
    std::fs::write(&prompts, "{}").expect("prompts");
    place.go_to(&supervisor, "2026-06-10T04:18:00Z");
    until(&supervisor, |_| place.nights(&project)[0].resumes == 1).await;
    supervisor.shutdown().await;
}

/// A folder of questions may lie on a disk that does not answer. Whatever else the host does, on the one thread
/// that it has here, goes on meanwhile.
#[cfg(unix)]
#[tokio::test]
async fn a_host_goes_on_while_the_answers_are_looked_at() {
    use std::sync::mpsc;

    let mut place = Place::new();
    place.set("BACKEND", "handoff");
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    let state = until(&supervisor, has_ended).await;
    assert!(only(&state).waits_for_answers(), "{state:#?}");
    let questions = place.app().paths.handoff(&project).join("pending.json");
    let pipe = questions.with_extension("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    std::fs::rename(&pipe, &questions).expect("a pipe in its place");
    let (goes_on, going_on) = mpsc::channel();
    let (looks, mut looked) = tokio::sync::mpsc::unbounded_channel();
    let disk = std::thread::spawn(move || {
        // Opened when the supervisor has opened it as well, which reads until this one is closed.
        let writer = std::fs::File::options().write(true).open(&questions);
        looks.send(()).expect("the test is there");
        let went_on = going_on.recv_timeout(Duration::from_secs(30));
        std::fs::remove_file(&questions).expect("the pipe");
        drop(writer);
        went_on
    });
    supervisor.poke();
    looked.recv().await.expect("it is looked at");
    // Where the look holds the thread, this is not come to before the disk answers.
    let _ = goes_on.send(());
    assert_eq!(disk.join().expect("the disk"), Ok(()));
    supervisor.shutdown().await;
}
