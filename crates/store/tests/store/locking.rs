//! Exclusion between processes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use skillopt_store::{Paths, locks};

use crate::sample::{Home, at};

/// Not a test of its own: the other process. Takes a lock, says so, and waits to be told to go on.
#[test]
#[ignore = "started by other tests"]
fn other_process() {
    let Ok(root) = std::env::var("TEST_ROOT") else {
        return;
    };
    let paths = Paths::at(root.as_ref());
    let now = at("2026-11-29T03:15:00Z");
    let guard = match std::env::var("TEST_LOCK").unwrap().as_str() {
        "project" => locks::project(&paths, "p1", "sleep run", now),
        "document" => locks::document(
            &paths,
            "/home/u/CLAUDE.md".as_ref(),
            "adopting a proposal",
            now,
        ),
        _ => locks::whole(&paths),
    };
    let _guard = guard.unwrap();
    println!("locked");
    std::io::stdout().flush().unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

fn holding(home: &Home, lock: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "locking::other_process",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env("TEST_ROOT", &home.root)
        .env("TEST_LOCK", lock)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("locked")));
    child
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn another_process_is_named_in_words_and_its_death_releases_the_lock() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    let child = holding(&home, "project");
    let problem = locks::project(&home.paths, "p1", "sleep run", now).unwrap_err();
    assert_eq!(problem.code, "project_busy");
    for words in [
        child.id().to_string().as_str(),
        "2026-11-29T03:15:00Z",
        "sleep run",
    ] {
        assert!(
            problem.message.contains(words),
            "{words}: {}",
            problem.message
        );
    }
    let is_held_by = |process: u32| {
        matches!(
            locks::project_holder(&home.paths, "p1"),
            Some(locks::Holder::Known { pid, .. }) if pid == process
        )
    };
    assert!(is_held_by(child.id()));
    let _other = locks::project(&home.paths, "p2", "sleep run", now).unwrap();

    end(child); // SIGKILL: nothing of it can clean up.
    assert_eq!(locks::project_holder(&home.paths, "p1"), None);
    let _mine = locks::project(&home.paths, "p1", "sleep run", now).unwrap();
    assert!(is_held_by(std::process::id()));
    // Without its note it is held all the same.
    std::fs::remove_file(home.paths.locks().join("project-p1.json")).unwrap();
    assert_eq!(
        locks::project_holder(&home.paths, "p1"),
        Some(locks::Holder::Unknown)
    );
}

#[test]
fn a_lock_is_held_once_also_within_a_process() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    let guard = locks::document(&home.paths, "/a/CLAUDE.md".as_ref(), "one", now).unwrap();
    let again = || locks::document(&home.paths, "/a/CLAUDE.md".as_ref(), "two", now);
    assert_eq!(again().unwrap_err().code, "document_busy");
    drop(guard);
    let _ = again().unwrap();
}

#[test]
fn several_documents_are_locked_all_or_none() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    let files = |names: &[&str]| {
        names
            .iter()
            .map(std::path::PathBuf::from)
            .collect::<Vec<_>>()
    };
    let child = holding(&home, "document");
    let problem = locks::documents(
        &home.paths,
        &files(&["/home/u/A.md", "/home/u/CLAUDE.md"]),
        "x",
        now,
    )
    .unwrap_err();
    assert_eq!(problem.code, "document_busy");
    assert!(problem.message.contains("/home/u/CLAUDE.md"));
    let one = locks::documents(
        &home.paths,
        &files(&["/home/u/A.md", "/home/u/A.md"]),
        "x",
        now,
    )
    .unwrap();
    assert_eq!(one.len(), 1);
    end(child);
}

#[test]
fn the_whole_folder_waits_for_what_runs_and_keeps_new_work_out() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    let child = holding(&home, "project");
    let problem = locks::whole(&home.paths).unwrap_err();
    assert_eq!(problem.code, "data_dir_busy");
    assert!(problem.message.contains("sleep run"), "{}", problem.message);
    end(child);

    let child = holding(&home, "whole");
    assert_eq!(
        locks::project(&home.paths, "p1", "sleep run", now)
            .unwrap_err()
            .code,
        "data_dir_busy"
    );
    end(child);
    let _guard = locks::project(&home.paths, "p1", "sleep run", now).unwrap();
}

#[test]
fn odd_ids_cannot_leave_the_folder_of_locks() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    for id in ["../../x", "", "a/b", "ü"] {
        drop(locks::project(&home.paths, id, "x", now).unwrap());
    }
    let names: Vec<_> = std::fs::read_dir(home.paths.locks()).unwrap().collect();
    assert_eq!(names.len(), 5, "four projects and the data folder");
    assert!(!home.root.join("x.lock").exists());
}

#[cfg(unix)]
#[test]
fn a_program_that_is_being_started_does_not_keep_a_released_lock() {
    let home = Home::new();
    let now = at("2026-11-29T04:00:00Z");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                Command::new("true").status().unwrap();
            }
        });
        for _ in 0..300 {
            drop(locks::project(&home.paths, "p1", "sleep run", now).unwrap());
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    });
}
