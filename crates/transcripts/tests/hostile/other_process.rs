//! The program whose store it is, as a process of its own: this very test program, started again.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rusqlite::Connection;

use crate::stores::{Form, Record, STORES, Store, put_part};

/// Sessions that are written meanwhile stay this short.
const MOST: usize = 400;

/// What it does until it is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Holds all locks of a database with a log, in the middle of a transaction.
    Locks,
    /// Has changed a database without a log, and not yet committed.
    RollsBack,
    /// Adds one record after the other.
    Writes,
}

impl Doing {
    const ALL: [Self; 3] = [Self::Locks, Self::RollsBack, Self::Writes];
}

/// A running process.
pub(crate) struct Other {
    child: Child,
    orders: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub(crate) fn start(store: &Store, home: &Path, doing: Doing) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_other_process", "--nocapture"])
            .env("SKILLOPT_TEST_STORE", store.name)
            .env("SKILLOPT_TEST_HOME", home)
            .env("SKILLOPT_TEST_DOING", format!("{doing:?}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            orders: child.stdin.take().unwrap(),
            says: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    /// Waits until it is at it.
    pub(crate) fn wait(&mut self) {
        self.heard("ready");
    }

    /// Ends it; returns how many records it wrote.
    pub(crate) fn end(mut self) -> usize {
        drop(self.orders);
        let mut written = None;
        for line in self.says.by_ref() {
            if let Some((_, number)) = line.unwrap().split_once("wrote ") {
                written = Some(number.parse().unwrap());
            }
        }
        assert!(self.child.wait().unwrap().success());
        written.expect("it says so at its end")
    }

    fn heard(&mut self, word: &str) {
        let found = self.says.by_ref().any(|line| line.unwrap().ends_with(word));
        assert!(found, "it ended before it was {word}");
    }
}

fn say(words: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{words}").unwrap();
    out.flush().unwrap();
}

/// What the other process does. Nothing, where it was not started as one.
pub(crate) fn be() {
    let Ok(name) = std::env::var("SKILLOPT_TEST_STORE") else {
        return;
    };
    let store = STORES.iter().find(|store| store.name == name).unwrap();
    let home = PathBuf::from(std::env::var_os("SKILLOPT_TEST_HOME").unwrap());
    let doing = std::env::var("SKILLOPT_TEST_DOING").unwrap();
    let doing = Doing::ALL
        .into_iter()
        .find(|one| format!("{one:?}") == doing);
    let written = match doing.unwrap() {
        Doing::Locks => locks(store, &home),
        Doing::RollsBack => rolls_back(store, &home),
        Doing::Writes => writes(store, &home),
    };
    say(&format!("wrote {written}"));
}

/// Until nobody listens any more.
fn until_told() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn locks(store: &Store, home: &Path) -> usize {
    let Form::Rows(rows) = &store.form else {
        unreachable!("only databases are locked");
    };
    let db = Connection::open(home.join(rows.path)).unwrap();
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE").unwrap();
    rows.add(&db, "bad", 4, &store.typed(4, "committed"));
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    rows.add(&db, "bad", 5, &store.typed(5, "not yet"));
    say("ready");
    until_told();
    1
}

fn rolls_back(store: &Store, home: &Path) -> usize {
    let Form::Rows(rows) = &store.form else {
        unreachable!("only databases are locked");
    };
    let db = Connection::open(home.join(rows.path)).unwrap();
    // More than fits into its memory, so that the file is changed before the end.
    db.execute_batch("PRAGMA cache_size = 1; BEGIN EXCLUSIVE")
        .unwrap();
    let words = "not yet ".repeat(1000);
    for number in 4..60 {
        rows.add(&db, "bad", i64::from(number), &store.typed(number, &words));
    }
    say("ready");
    until_told();
    0
}

fn writes(store: &Store, home: &Path) -> usize {
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    let listening = std::thread::spawn(move || {
        until_told();
        told.store(true, Relaxed);
    });
    let mut records: Vec<Record> = Vec::new();
    while !over.load(Relaxed) && records.len() < MOST {
        let number = records.len();
        // Names that no other session uses.
        let name = 1000 + u32::try_from(number).unwrap();
        records.push(store.typed_as(name, 1, &number.to_string()));
        match &store.form {
            Form::Rows(rows) => {
                // A program keeps its database open; who opens it again and again is worse.
                let db = rows.open(home);
                if number == 0 {
                    rows.add_session(&db, "bad");
                }
                let place = i64::try_from(number + 1).unwrap();
                rows.add(&db, "bad", place, &records[number]);
            }
            // In two halves, as a slow disk has it.
            Form::Lines { .. } if number > 0 => {
                let path = store.session(home, "bad");
                let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
                let line = [&records[number].bytes[..], b"\n"].concat();
                let (first, second) = line.split_at(line.len() / 2);
                file.write_all(first).unwrap();
                file.write_all(second).unwrap();
            }
            Form::Folder if number > 0 => put_part(home, "bad", number, &records[number]),
            Form::Lines { .. } | Form::Document { .. } | Form::Folder => {
                store.put(home, "bad", &records);
            }
        }
        if number == 0 {
            say("ready");
        }
    }
    listening.join().unwrap();
    records.len()
}
