//! The page of a window, whose process can end or hang on its own.

use std::time::{Duration, Instant};

use skillopt_tests::desktop::{Notifications, TrayHost, until};
use skillopt_tests::processes::{below, has_ended, name, signal};
use skillopt_tests::session::{Screen, Session};

use crate::person::Person;
use crate::windows::{wait_for_end_of, windows_of};

/// The processes of pages that run below this one.
fn pages(process: u32) -> Vec<u32> {
    below(process)
        .into_iter()
        .filter(|&page| name(page).is_some_and(|name| name == "WebKitWebProces"))
        .filter(|&page| !has_ended(page))
        .collect()
}

fn the_page(process: u32) -> u32 {
    until("the process of a page", || pages(process).first().copied())
}

/// Ends the process of a page that is there, and takes its title from its window: only a page that is loaded
/// gives it back.
fn end_page(screen: &Screen, title: &str, process: u32) -> u32 {
    until("another name", || {
        screen.rename_window(title, "a dead page");
        screen.shows("a dead page").then_some(())
    });
    let page = the_page(process);
    signal(page, "KILL");
    page
}

#[test]
fn a_page_whose_process_ends_comes_back_where_it_was() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    // Not by a driver: it lets go of a page that dies.
    let mut app = person.start_on(&session, &screen, &["--open", "review"]);
    screen.wait_for_window("Review – SkillOpt");
    screen.press("Review – SkillOpt", "Escape");
    screen.wait_for_window("Overview – SkillOpt");
    let before = end_page(&screen, "Overview – SkillOpt", app.0.id());
    screen.wait_for_window("Overview – SkillOpt");
    assert_ne!(the_page(app.0.id()), before);
    assert_eq!(app.end(), 0);
}

#[test]
fn a_page_that_ends_again_and_again_is_given_up_and_told() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start_on(&session, &screen, &["--open", "settings"]);
    screen.wait_for_window("Settings – SkillOpt");
    let windows = windows_of(app.0.id());
    for _ in 0..4 {
        screen.wait_for_window("Settings – SkillOpt");
        let _ = end_page(&screen, "Settings – SkillOpt", windows);
    }
    wait_for_end_of(windows);
    let card = notifications.wait_for("That did not work");
    assert!(card.body.contains("four times in a row"), "{card:?}");
    assert!(person.said().contains("(page_lost)"), "{}", person.said());
    // It can be opened again.
    tray.click(&["Settings"]);
    screen.wait_for_window("Settings – SkillOpt");
    assert_eq!(app.end(), 0);
}

#[test]
fn a_page_that_hangs_before_it_is_there_is_loaded_in_another_process() {
    let person = Person::new();
    let session = Session::start(&person.home());
    // A page that was quicker than this test is closed, and another one tried.
    for _ in 0..9 {
        let screen = Screen::start();
        let mut app = person.start_on(&session, &screen, &["--open", "settings"]);
        let end = Instant::now() + Duration::from_secs(90);
        // Without a pause: it is stopped before it is there.
        let hangs = loop {
            if let Some(&page) = pages(app.0.id()).first() {
                break page;
            }
            assert!(Instant::now() < end, "no page was begun");
        };
        signal(hangs, "STOP");
        let is_too_late = || screen.shows("Settings – SkillOpt").then_some(true);
        let is_another = || {
            let another = pages(app.0.id()).iter().any(|&page| page != hangs);
            another.then_some(false)
        };
        let too_late = until("another process", || is_too_late().or_else(is_another));
        if !too_late {
            screen.wait_for_window("Settings – SkillOpt");
        }
        // Its view ends only one that had told it that it runs.
        if !has_ended(hangs) {
            signal(hangs, "KILL");
        }
        assert_eq!(app.end(), 0);
        if !too_late {
            return;
        }
    }
    panic!("no page could be stopped before it was there");
}
