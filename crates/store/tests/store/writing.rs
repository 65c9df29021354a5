//! Writing when there is no room. A limit on the size of files stands in for a full disk.

use std::process::Command;
use std::sync::Arc;

use skillopt_store::blobs::{self, Keep};
use skillopt_store::files::{NewFile, atomic_replace};
use skillopt_store::{Paths, Store, SystemClock};

use crate::sample::Home;

/// Not a test of its own: the process that has no room. Prints the codes it is given.
#[test]
#[ignore = "started by other tests"]
fn cramped_process() {
    let Some(root) = std::env::var_os("TEST_ROOT") else {
        return;
    };
    let paths = Paths::at(root.as_ref());
    let store = Store::open(&paths, Arc::new(SystemClock)).unwrap();
    let noise: Vec<u8> = (0..1_000_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let document = paths.data.join("CLAUDE.md");
    println!(
        "file {}",
        atomic_replace(&document, &noise, NewFile::Document)
            .unwrap_err()
            .code
    );
    println!(
        "database {}",
        store
            .commit("big", |tx| blobs::put(tx, &noise, Keep::ForGood))
            .unwrap_err()
            .code
    );
}

#[test]
fn without_room_the_old_file_stays_and_no_leftover() {
    let home = Home::new();
    let store = home.store();
    let small = store
        .commit("small", |tx| blobs::put(tx, b"small", Keep::ForGood))
        .unwrap();
    atomic_replace(
        &home.paths.data.join("CLAUDE.md"),
        b"old",
        NewFile::Document,
    )
    .unwrap();
    let program = std::env::current_exe().unwrap();
    // 2 MiB in blocks of 512 bytes, as `sh` counts; the signal is ignored so that the write fails.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\""])
        .arg(program)
        .args([
            "writing::cramped_process",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env("TEST_ROOT", &home.root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("file disk_full"), "{said}");
    // For the database the limit is an I/O error and not a full disk; see `opening` for that one.
    assert!(said.contains("database database_io"), "{said}");
    assert_eq!(
        std::fs::read(home.paths.data.join("CLAUDE.md")).unwrap(),
        b"old"
    );
    assert_eq!(
        store.read(|db| blobs::get(db, &small)).unwrap(),
        Some(b"small".to_vec())
    );
    assert!(skillopt_store::repair::check(&store).unwrap().is_empty());
    let leftovers = std::fs::read_dir(&home.paths.data)
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with(".skillopt-")
        })
        .count();
    assert_eq!(leftovers, 0);
}

#[test]
fn nothing_counts_as_kept_in_a_database_that_is_gone_or_another() {
    let home = Home::new();
    let store = home.store();
    let keep = |store: &Store, bytes: &[u8]| {
        store.commit("kept", |tx| blobs::put(tx, bytes, Keep::ForGood))
    };
    keep(&store, b"one").unwrap();
    let aside = home.root.join("aside");
    std::fs::rename(&home.paths.data, &aside).unwrap();
    let gone = keep(&store, b"two").unwrap_err();
    assert_eq!(gone.code, "data_dir_gone");
    assert!(gone.message.contains("was removed"), "{}", gone.message);

    // Another one takes its place, with what it has not yet moved out of its log.
    let other = home.store();
    let three = keep(&other, b"three").unwrap();
    let replaced = keep(&store, b"four").unwrap_err();
    assert_eq!(replaced.code, "data_dir_gone");
    assert!(
        replaced.message.contains("was replaced"),
        "{}",
        replaced.message
    );
    let log = home.paths.data.join("skillopt.db-wal");
    assert!(log.exists());
    drop(store);
    assert!(log.exists(), "the log belongs to the other database");
    assert_eq!(
        other.read(|db| blobs::get(db, &three)).unwrap(),
        Some(b"three".to_vec())
    );
    drop(other);

    // Back in its place, it is as it was.
    std::fs::rename(&home.paths.data, home.root.join("other")).unwrap();
    std::fs::rename(&aside, &home.paths.data).unwrap();
    keep(&home.store(), b"five").unwrap();
}
