//! The process of the windows beside that of the tray: how it ends, and where its windows go.

use std::time::Duration;

use serde_json::json;
use skillopt_app::Nothing;
use skillopt_app::commands::{self, Command as Asked};
use skillopt_app::data::ToInput;
use skillopt_app::project::Which;
use skillopt_tests::desktop::{TrayHost, WebDriver, until};
use skillopt_tests::processes::{below, has_ended, signal};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROGRAM, Person, block_on};

/// The process of the windows whose tray is this one.
pub(crate) fn windows_of(tray: u32) -> u32 {
    until("the process of the windows", || {
        let words = |process: &u32| std::fs::read_to_string(format!("/proc/{process}/cmdline"));
        below(tray)
            .into_iter()
            .find(|process| words(process).is_ok_and(|words| words.contains("--attached")))
    })
}

/// Waits until a process is gone.
pub(crate) fn wait_for_end_of(process: u32) {
    until("the end of a process", || has_ended(process).then_some(()));
}

#[test]
fn windows_end_with_a_tray_that_is_killed() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let words = ["--open", "settings"];
    let mut app = person.start_on(&session, &screen, &words);
    screen.wait_for_window("Settings – SkillOpt");
    let windows = windows_of(app.0.id());
    app.signal("KILL");
    app.wait();
    wait_for_end_of(windows);
    until("a screen without windows", || {
        (!screen.shows("SkillOpt")).then_some(())
    });
    // The next one starts as if nothing had been.
    let mut next = person.start_on(&session, &screen, &words);
    screen.wait_for_window("Settings – SkillOpt");
    let _ = tray.title();
    assert_eq!(next.end(), 0);
}

#[test]
fn windows_that_open_while_the_tray_is_killed_end_as_well() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let words = ["--open", "settings"];
    let mut app = person.start_on(&session, &screen, &words);
    let windows = windows_of(app.0.id());
    app.signal("KILL");
    app.wait();
    wait_for_end_of(windows);
}

#[test]
fn windows_end_with_a_tray_that_is_killed_though_their_screen_hangs() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let words = ["--open", "settings"];
    let mut app = person.start_on(&session, &screen, &words);
    screen.wait_for_window("Settings – SkillOpt");
    let windows = windows_of(app.0.id());
    screen.hang();
    // To open another one they wait for the screen, and hear nothing any more.
    let mut second = person.start_on(&session, &screen, &["--open", "overview"]);
    assert_eq!(second.wait(), 0);
    std::thread::sleep(Duration::from_secs(1));
    app.signal("KILL");
    app.wait();
    wait_for_end_of(windows);
}

#[test]
fn windows_end_with_a_tray_that_is_killed_though_a_page_hangs() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let window = person.drive(&session, &screen, &["--open", "settings"]);
    screen.wait_for_window("Settings – SkillOpt");
    let tray = window.program();
    let windows = windows_of(tray);
    let _ = window.run("setTimeout(() => { for (;;) {} }, 100);");
    // It hangs for ever after that.
    std::thread::sleep(Duration::from_secs(1));
    signal(tray, "KILL");
    wait_for_end_of(windows);
}

#[test]
fn a_second_start_brings_a_window_to_the_front_and_where_it_was_told() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let window = person.drive(&session, &screen, &["--open", "overview"]);
    screen.wait_for_window("Overview – SkillOpt");
    let place = || window.run("return location.hash");
    let again = |words: &[&str]| {
        let mut second = person.start_on(&session, &screen, words);
        assert_eq!(second.wait(), 0);
    };

    // Somebody goes elsewhere in it, and puts it away.
    let _ = window.run("location.hash = '#/settings'");
    screen.wait_for_window("Settings – SkillOpt");
    screen.minimise_window("Settings – SkillOpt");
    again(&[]);
    until("the overview", || {
        (place() == json!("#/overview")).then_some(())
    });
    until("the window in front", || {
        (screen.active_window() == "Overview – SkillOpt").then_some(())
    });

    // Another place is another window, which comes to the front; so does this one again.
    again(&["--open", "review"]);
    until("the review in front", || {
        (screen.active_window() == "Review of customer-letters – SkillOpt").then_some(())
    });
    assert!(screen.shows("Overview – SkillOpt"));
    let _ = window.run("location.hash = '#/night'");
    tray.click(&["Open SkillOpt"]);
    until("the overview in front", || {
        (screen.active_window() == "Overview – SkillOpt").then_some(())
    });
    assert_eq!(place(), json!("#/overview"));

    // Whoever is there already stays as it is: nothing is loaded again.
    let _ = window.run("window.kept = 'yes'");
    again(&["--open", "overview"]);
    again(&["--open", "review"]);
    until("the review in front again", || {
        (screen.active_window() == "Review of customer-letters – SkillOpt").then_some(())
    });
    assert_eq!(window.run("return window.kept"), json!("yes"));
    tray.click(&["Quit"]);
}

#[test]
fn a_window_that_was_just_closed_can_be_opened_again_at_once() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let mut app = person.start_on(&session, &screen, &["--quiet"]);
    for _ in 0..5 {
        tray.click(&["Open SkillOpt"]);
        screen.wait_for_window("Overview – SkillOpt");
        screen.close_window("Overview – SkillOpt");
        // Its process may still be there.
        until("a screen without it", || {
            (!screen.shows("SkillOpt")).then_some(())
        });
    }
    tray.click(&["Open SkillOpt"]);
    screen.wait_for_window("Overview – SkillOpt");
    assert_eq!(app.end(), 0);
    assert!(
        !person.said().contains("window_failed"),
        "{}",
        person.said()
    );
}

#[test]
fn a_window_speaks_the_language_of_its_session() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let mut variables = person.variables_on(&session, &screen);
    // Web views ask the C library, which need not know the language.
    variables.push(("LC_ALL".to_owned(), "zh_CN.UTF-8".to_owned()));
    let window = WebDriver::open(PROGRAM, &["--open", "overview"], &variables);
    window.wait_for("概览");
    assert_eq!(
        window.run("return document.documentElement.lang"),
        json!("zh-Hans")
    );
    // So does what the engine finds. Names, commands and keys are called the same everywhere.
    let _ = window.run("location.hash = '#/settings'");
    window.press("检查这台电脑");
    window.wait_for("由内置模拟作答。");
    let english = window.run(
        "return [...document.querySelectorAll('.finding, [role=status]')]
           .map((said) => {
             const copy = said.cloneNode(true);
             for (const code of copy.querySelectorAll('code')) code.remove();
             return copy.textContent.replace(/[\\w.:/-]*[./_:][\\w./-]*/g, '');
           })
           .filter((said) => /\\b[a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(said));",
    );
    assert_eq!(english, json!([]));
}

#[test]
fn a_window_goes_on_where_the_data_was_moved_to() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    // A folder that the variable names cannot be moved.
    let mut variables = person.variables_on(&session, &screen);
    variables.retain(|(name, _)| name != "SKILLOPT_DATA_DIR");
    let open = || person.app_with(&variables);
    let add = |name: &str| {
        let folder = person.home().join("work").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let project = Some(folder);
        block_on(commands::execute(
            &open(),
            Asked::ProjectAdd(Which { project }),
        ))
        .unwrap();
    };
    add("before-it-moved");
    let window = WebDriver::open(PROGRAM, &["window", "overview"], &variables);
    window.wait_for("before-it-moved");
    let to = person.home().join("elsewhere");
    let input = ToInput { to: to.clone() };
    block_on(commands::execute(&open(), Asked::DataMove(input))).unwrap();
    let remove = Asked::DataRemoveOld(Nothing {});
    block_on(commands::execute(&open(), remove)).unwrap();
    // Only the data in its new place has it; the window sees it without being asked.
    add("after-it-moved");
    window.wait_for("after-it-moved");
    // What it writes is written there.
    let _ = window.run(
        "window.__TAURI_INTERNALS__.invoke('execute', {command: {command: 'pause', input: {until: '1h'}}})
           .then(() => { window.answered = 'done'; }, (problem) => { window.answered = problem.code; });",
    );
    until("an answer", || {
        (window.run("return window.answered ?? null") == json!("done")).then_some(())
    });
    let state = block_on(skillopt_app::supervisor::look(&open())).unwrap();
    assert!(state.pause.is_some());
}
