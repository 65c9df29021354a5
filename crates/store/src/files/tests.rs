//! Modes, owners and links are those of Unix; the rules for Windows are in `files/windows.rs`.
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use proptest::prelude::*;

use std::path::PathBuf;

use super::document::{exact, take_back_unless};
use super::temporary::{temporary_name, temporary_prefix};
use super::*;

fn temp() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn put(path: &Path, bytes: &[u8]) {
    atomic_replace(path, bytes, NewFile::Document).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn sha(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}

/// Names in a folder, to see that no temporary file is left.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_document_gets_the_mode_any_editor_would_give_it() {
    let (_dir, root) = temp();
    put(&root.join("ours.md"), b"x");
    std::fs::File::create(root.join("theirs.md")).unwrap();
    assert_eq!(
        mode_of(&root.join("ours.md")),
        mode_of(&root.join("theirs.md"))
    );

    write_private(&root.join("deep/er/secret.json"), b"{}").unwrap();
    assert_eq!(mode_of(&root.join("deep/er/secret.json")), 0o600);
    assert_eq!(mode_of(&root.join("deep/er")), 0o700);
    assert_eq!(mode_of(&root.join("deep")), 0o700);
}

#[test]
fn an_existing_file_keeps_its_mode_and_attributes() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    put(&path, b"old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let tagged =
        rustix::fs::setxattr(&path, "user.tag", b"mine", rustix::fs::XattrFlags::empty()).is_ok();

    replace_pinned(
        &path,
        Expected::Bytes(&sha(b"old")),
        b"new",
        NewFile::Document,
    )
    .unwrap();

    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(mode_of(&path), 0o640);
    if tagged {
        let mut value = [0_u8; 16];
        let length = rustix::fs::getxattr(&path, "user.tag", &mut value).unwrap();
        assert_eq!(&value[..length], b"mine");
    }
    assert_eq!(names(&root), ["a.md"]);
}

#[test]
fn a_file_of_ours_becomes_private_again() {
    let (_dir, root) = temp();
    let path = root.join("settings.toml");
    put(&path, b"old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    write_private(&path, b"new").unwrap();
    assert_eq!(mode_of(&path), 0o600);
}

#[test]
fn an_existing_file_keeps_its_owner_when_that_is_allowed() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    put(&path, b"old");
    if std::os::unix::fs::chown(&path, Some(12345), Some(23456)).is_err() {
        return; // Only root can set this up.
    }
    replace_pinned(
        &path,
        Expected::Bytes(&sha(b"old")),
        b"new",
        NewFile::Document,
    )
    .unwrap();
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 23456));
}

#[test]
fn what_root_makes_for_somebody_is_theirs() {
    let (_dir, root) = temp();
    let folder = root.join("theirs");
    std::fs::create_dir(&folder).unwrap();
    if std::os::unix::fs::chown(&folder, Some(12345), Some(23456)).is_err() {
        return; // Only root can set this up.
    }
    let owner = |path: &Path| {
        let metadata = std::fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid())
    };
    let document = folder.join("skills/one/SKILL.md");
    create_document_dirs(&document).unwrap();
    replace_pinned(&document, Expected::Absent, b"new", NewFile::Document).unwrap();
    let back = folder.join("back.md");
    replace_pinned(&back, Expected::Absent, b"back", NewFile::Mode(0o640)).unwrap();
    let settings = folder.join("settings.toml");
    write_private(&settings, b"ours").unwrap();
    for path in [
        &folder.join("skills"),
        &folder.join("skills/one"),
        &document,
        &back,
        &settings,
    ] {
        assert_eq!(owner(path), (12345, 23456), "{}", path.display());
    }
    assert_eq!((mode_of(&back), mode_of(&settings)), (0o640, 0o600));
}

#[test]
fn a_document_that_changed_vanished_or_appeared_is_not_touched() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    let code = |expected: Expected<'_>| {
        replace_pinned(&path, expected, b"new", NewFile::Document)
            .unwrap_err()
            .code
            .into_owned()
    };
    assert_eq!(code(Expected::Bytes(&sha(b"old"))), "file_changed");
    assert!(!path.exists());
    put(&path, b"by hand");
    assert_eq!(code(Expected::Bytes(&sha(b"old"))), "file_changed");
    assert_eq!(code(Expected::Absent), "file_changed");
    assert_eq!(
        remove_pinned(&path, &sha(b"old")).unwrap_err().code,
        "file_changed"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"by hand");
    assert_eq!(names(&root), ["a.md"]);
}

#[test]
fn links_are_refused_wherever_they_are() {
    let (_dir, root) = temp();
    put(&root.join("real.md"), b"old");
    symlink(root.join("real.md"), root.join("link.md")).unwrap();
    std::fs::create_dir(root.join("folder")).unwrap();
    put(&root.join("folder/doc.md"), b"old");
    symlink(root.join("folder"), root.join("linked")).unwrap();
    let old = sha(b"old");

    let replace = |path: &str| {
        replace_pinned(
            &root.join(path),
            Expected::Bytes(&old),
            b"new",
            NewFile::Document,
        )
        .unwrap_err()
        .code
    };
    assert_eq!(replace("link.md"), "file_is_link");
    assert_eq!(replace("linked/doc.md"), "folder_is_link");
    assert_eq!(
        read_pinned(&root.join("link.md")).unwrap_err().code,
        "file_is_link"
    );
    assert_eq!(
        atomic_replace(&root.join("link.md"), b"new", NewFile::Private)
            .unwrap_err()
            .code,
        "file_is_link"
    );
    assert_eq!(
        remove_pinned(&root.join("link.md"), &old).unwrap_err().code,
        "file_is_link"
    );
    assert_eq!(std::fs::read(root.join("real.md")).unwrap(), b"old");
    assert_eq!(std::fs::read(root.join("folder/doc.md")).unwrap(), b"old");
}

#[test]
fn a_link_that_takes_the_place_of_a_checked_file_is_refused() {
    let (_dir, root) = temp();
    let (path, elsewhere) = (root.join("a.md"), root.join("elsewhere.md"));
    put(&path, b"old");
    put(&elsewhere, b"old");
    let pinned = read_pinned(&path).unwrap().unwrap();
    std::fs::remove_file(&path).unwrap();
    symlink(&elsewhere, &path).unwrap();
    let result = replace_pinned(
        &path,
        Expected::Bytes(&pinned.sha256),
        b"new",
        NewFile::Document,
    );
    assert_eq!(result.unwrap_err().code, "file_is_link");
    assert_eq!(std::fs::read(&elsewhere).unwrap(), b"old");
}

#[test]
fn a_file_with_several_names_is_refused() {
    let (_dir, root) = temp();
    put(&root.join("a.md"), b"old");
    std::fs::hard_link(root.join("a.md"), root.join("b.md")).unwrap();
    let result = replace_pinned(
        &root.join("a.md"),
        Expected::Bytes(&sha(b"old")),
        b"new",
        NewFile::Document,
    );
    assert_eq!(result.unwrap_err().code, "file_has_links");
    assert_eq!(names(&root), ["a.md", "b.md"]);
}

#[test]
fn what_is_not_a_file_is_refused_without_waiting() {
    let (_dir, root) = temp();
    std::fs::create_dir(root.join("folder")).unwrap();
    assert_eq!(
        read_pinned(&root.join("folder")).unwrap_err().code,
        "file_not_regular"
    );
    let pipe = root.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(read_pinned(&pipe).unwrap_err().code, "file_not_regular");
    assert_eq!(read_pinned(&root.join("missing/file.md")).unwrap(), None);
    assert_eq!(
        read_pinned(Path::new("/")).unwrap_err().code,
        "file_not_regular"
    );
}

#[test]
fn an_enormous_document_is_refused_unread() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(MAX_DOCUMENT + 1)
        .unwrap();
    assert_eq!(read_pinned(&path).unwrap_err().code, "document_too_large");
}

#[test]
fn bytes_that_came_between_check_and_exchange_are_put_back() {
    // The window is too short to hit from outside, so the step after it is tested by itself: the
    // exchange has happened, and under the temporary name are not the expected bytes.
    let (_dir, root) = temp();
    let path = root.join("a.md");
    put(&path, b"written by hand a moment ago");
    let (folder, name) = exact(&path).unwrap();
    let mut temporary =
        Temporary::write(&folder, name, b"ours", NewFile::Document, None, &path).unwrap();
    assert!(folder.exchange(&temporary.name, name).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"ours");

    let result = take_back_unless(&mut temporary, name, &sha(b"old"), b"ours", &path);
    assert_eq!(result.unwrap_err().code, "file_changed");
    assert_eq!(
        std::fs::read(&path).unwrap(),
        b"written by hand a moment ago"
    );
    drop(temporary);
    assert_eq!(names(&root), ["a.md"]);
}

#[test]
fn leftovers_of_a_killed_process_are_cleared_and_nothing_else() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    let name = |n: u8| {
        format!(
            "{}{n:016x}.tmp",
            temporary_prefix(path.file_name().unwrap())
        )
    };
    let left = |n: u8, bytes: &[u8]| put(&root.join(name(n)), bytes);
    let neighbours = format!("{}{:016x}.tmp", temporary_prefix(OsStr::new("b.md")), 1);
    put(&root.join(&neighbours), b"");
    left(1, b"before");
    left(2, b"aft");
    left(3, b"somebody else's");
    put(&root.join(".skillopt-notes.md"), b"not ours");
    put(&path, b"after");
    let kept = clear_temporaries(&path, &sha(b"before"), b"after").unwrap();
    assert_eq!(kept, [root.join(name(3))]);
    let mut left_over = vec![
        ".skillopt-notes.md".to_owned(),
        name(3),
        "a.md".to_owned(),
        neighbours,
    ];
    left_over.sort();
    assert_eq!(names(&root), left_over);

    // A removal was under way: the file comes back.
    std::fs::remove_file(&path).unwrap();
    left(4, b"before");
    clear_temporaries(&path, &sha(b"before"), b"").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
}

#[test]
fn readers_never_see_a_mixture() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    let (one, two) = (vec![b'1'; 200_000], vec![b'2'; 150_000]);
    put(&path, &one);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..40 {
                put(&path, if round % 2 == 0 { &two } else { &one });
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        while !done.load(std::sync::atomic::Ordering::SeqCst) {
            let seen = std::fs::read(&path).unwrap();
            assert!(seen == one || seen == two, "{} bytes", seen.len());
        }
    });
}

#[test]
fn of_two_writers_with_the_same_expectation_one_wins() {
    let (_dir, root) = temp();
    let path = root.join("a.md");
    for round in 0..30_u32 {
        let before = round.to_string();
        atomic_replace(&path, before.as_bytes(), NewFile::Document).unwrap();
        let expected = sha(before.as_bytes());
        let results: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = ["one", "two"]
                .into_iter()
                .map(|text| {
                    let (path, expected) = (&path, &expected);
                    scope.spawn(move || {
                        replace_pinned(
                            path,
                            Expected::Bytes(expected),
                            text.as_bytes(),
                            NewFile::Document,
                        )
                        .map(|_| text)
                    })
                })
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        let winners: Vec<_> = results
            .iter()
            .filter_map(|result| result.as_ref().ok())
            .collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        assert_eq!(std::fs::read(&path).unwrap(), winners[0].as_bytes());
        assert_eq!(names(&root), ["a.md"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_come_back_as_they_were(
        before in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..2000)),
        after in proptest::collection::vec(any::<u8>(), 0..2000),
        mode in prop::sample::select(vec![0o600_u32, 0o644, 0o664, 0o755, 0o400]),
    ) {
        let (_dir, root) = temp();
        let path = root.join("doc.md");
        if let Some(before) = &before {
            put(&path, before);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let pinned = read_pinned(&path).unwrap();
        let expected = pinned.as_ref().map_or(String::new(), |pinned| pinned.sha256.clone());
        replace_pinned(&path, Expected::from_sha256(&expected), &after, NewFile::Document).unwrap();
        prop_assert_eq!(&std::fs::read(&path).unwrap(), &after);
        match &pinned {
            Some(pinned) => {
                prop_assert_eq!(mode_of(&path), mode);
                replace_pinned(&path, Expected::Bytes(&sha(&after)), &pinned.bytes, NewFile::Document).unwrap();
            }
            None => remove_pinned(&path, &sha(&after)).unwrap(),
        }
        let back = read_pinned(&path).unwrap();
        prop_assert_eq!(back.as_ref().map(|file| (&file.bytes, file.mode)), pinned.as_ref().map(|file| (&file.bytes, file.mode)));
        prop_assert_eq!(names(&root).len(), usize::from(pinned.is_some()));
    }
}

#[test]
fn a_set_is_private_and_leaves_nothing_half_done() {
    let (_dir, root) = temp();
    let folder = root.join("bundle");
    let files: [(&str, &[u8]); 3] = [("a.md", b"a"), ("b.json", b"{}"), ("manifest.json", b"[]")];
    write_private_set(&folder, &files).unwrap();
    assert_eq!(names(&folder), ["a.md", "b.json", "manifest.json"]);
    for (name, bytes) in files {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), bytes);
        assert_eq!(mode_of(&folder.join(name)), 0o600);
    }
    assert_eq!(mode_of(&folder), 0o700);

    // What cannot be written as a whole is not begun.
    let other = root.join("other");
    std::fs::create_dir_all(other.join("b.json")).unwrap();
    let error = write_private_set(&other, &files).unwrap_err();
    assert_eq!(error.code, "file_not_regular");
    assert_eq!(names(&other), ["b.json"]);
}

#[test]
fn only_temporary_files_whose_writers_are_gone_are_swept() {
    let (_dir, root) = temp();
    let left = temporary_name(OsStr::new("report.md"));
    put(&root.join(&left), b"half");
    let kept = [
        ".skillopt-0123456789ab-0123456789abcde.tmp",
        ".skillopt-0123456789ab-0123456789ABCDEF.tmp",
        ".skillopt-0123456789ab-0123456789abcdef.tmp.md",
        ".skillopt-notes.tmp",
        "report.md",
    ];
    for name in kept {
        put(&root.join(name), b"a person's");
    }
    std::fs::create_dir(root.join(".skillopt-0123456789ab-0000000000000000.tmp")).unwrap();
    symlink(
        root.join("report.md"),
        root.join(".skillopt-0123456789ab-0000000000000001.tmp"),
    )
    .unwrap();
    let folder = Folder::open(&root).unwrap();
    let name = OsStr::new("manifest.json");
    let written = Temporary::write(&folder, name, b"{", NewFile::Private, None, &root).unwrap();

    sweep(&root);
    let found = names(&root);
    assert!(!found.contains(&left), "{found:?}");
    assert!(found.contains(&written.name), "it is being written");
    assert_eq!(found.len(), kept.len() + 3, "{found:?}");
    written
        .take_name(name, &root.join("manifest.json"))
        .unwrap();
    sweep(&root.join("missing"));
}
