//! The packages for Linux: made, installed into a folder of their own by `dpkg` and `rpm`, and used.

use std::path::{Path, PathBuf};
use std::process::Command;

use skillopt_tests::desktop::{Notifications, TrayHost};
use skillopt_tests::session::Session;

use crate::person::{PROGRAM, PROJECT, Person};

/// What people and their desktops look for.
const INSTALLED: [&str; 8] = [
    "usr/bin/skillopt",
    "usr/bin/skillopt-desktop",
    "usr/bin/skillopt-sleep",
    "usr/lib/systemd/user/skillopt.service",
    "usr/share/applications/skillopt-desktop.desktop",
    "usr/share/bash-completion/completions/skillopt",
    "usr/share/fish/vendor_completions.d/skillopt.fish",
    "usr/share/icons/hicolor/128x128/apps/skillopt-desktop.png",
];

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{wrong}");
    said
}

/// A package of the programs that the tests are about, `deb` or `rpm`. Theirs stay as they are: the maker of packages
/// writes into the one it packs.
fn made_in(folder: &Path, kind: &str) -> PathBuf {
    let built = folder.join("debug");
    std::fs::create_dir_all(&built).unwrap();
    let programs = Path::new(PROGRAM).parent().unwrap();
    std::fs::copy(PROGRAM, built.join("skillopt-desktop")).unwrap();
    let command_line = built.join("skillopt");
    std::fs::copy(programs.join("skillopt-test"), &command_line).unwrap();
    let page = |name: &str, words: &[&str]| {
        let text = run(Command::new(&command_line).args(words).env("HOME", folder));
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let zsh = match kind {
        "deb" => "/usr/share/zsh/vendor-completions/_skillopt",
        _ => "/usr/share/zsh/site-functions/_skillopt",
    };
    let files = serde_json::json!({
        "/usr/bin/skillopt": command_line,
        "/usr/bin/skillopt-sleep": programs.join("skillopt-sleep"),
        "/usr/share/man/man1/skillopt.1": page("skillopt.1", &["man"]),
        "/usr/share/bash-completion/completions/skillopt": page("bash", &["completions", "bash"]),
        zsh: page("zsh", &["completions", "zsh"]),
        "/usr/share/fish/vendor_completions.d/skillopt.fish": page("fish", &["completions", "fish"]),
    });
    let other = serde_json::json!({"bundle": {"linux": {kind: {"files": files}}}});
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    run(Command::new(top.join("ui/node_modules/.bin/tauri"))
        .args(["bundle", "--debug", "--bundles", kind, "--config"])
        .arg(other.to_string())
        .env("CARGO_TARGET_DIR", folder)
        .current_dir(top));
    let packages = std::fs::read_dir(built.join("bundle").join(kind)).unwrap();
    packages
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == kind))
        .unwrap()
}

/// Installs it with the program of its system, into `root` in the place of `/`. What it depends on is on
/// the machine, but not in this folder.
fn install(package: &Path, root: &Path, program: &str, words: &[&str]) {
    let is_root = run(Command::new("id").arg("-u")).trim() == "0";
    let mut command = if is_root {
        Command::new(program)
    } else {
        // Its files belong to root, who it is in a name space of its own.
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", program]);
        command
    };
    run(command
        .arg(format!("--root={}", root.display()))
        .args(words)
        .arg(package));
}

fn has(root: &Path, zsh: &str) {
    for file in INSTALLED.iter().chain([&zsh]) {
        assert!(root.join(file).is_file(), "{file}");
    }
    let alias = run(Command::new(root.join("usr/bin/skillopt-sleep"))
        .arg("--version")
        .env_clear());
    assert!(alias.starts_with("skillopt-sleep "), "{alias}");
}

#[test]
fn the_package_for_rpm_has_the_same_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let package = made_in(&folder.path().join("target"), "rpm");
    let needed = run(Command::new("rpm")
        .args(["-qp", "--requires"])
        .arg(&package));
    assert!(needed.contains("libwebkit2gtk-4.1.so.0"), "{needed}");
    let root = folder.path().join("root");
    std::fs::create_dir_all(&root).unwrap();
    install(&package, &root, "rpm", &["--nodeps", "--install"]);
    has(&root, "usr/share/zsh/site-functions/_skillopt");
}

/// `SKILLOPT_TEST_PACKAGE` names a package that was made before, for example by `cargo xtask package`.
#[test]
fn the_package_is_installed_started_and_runs_a_night() {
    let folder = tempfile::tempdir().unwrap();
    let package = std::env::var_os("SKILLOPT_TEST_PACKAGE").map_or_else(
        || made_in(&folder.path().join("target"), "deb"),
        PathBuf::from,
    );
    let about = run(Command::new("dpkg-deb").arg("--field").arg(&package));
    assert!(about.contains("Package: skillopt-desktop\n"), "{about}");
    let needed = about.lines().find(|line| line.starts_with("Depends: "));
    for library in ["libwebkit2gtk-4.1-0", "libgtk-3-0"] {
        assert!(needed.is_some_and(|line| line.contains(library)), "{about}");
    }
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("var/lib/dpkg")).unwrap();
    let words = ["--force-depends", "--force-script-chrootless", "--install"];
    install(&package, &root, "dpkg", &words);
    has(&root, "usr/share/zsh/vendor-completions/_skillopt");
    let entry = root.join("usr/share/applications/skillopt-desktop.desktop");
    let entry = std::fs::read_to_string(entry).unwrap();
    for line in [
        "Name=SkillOpt\n",
        "Exec=skillopt-desktop\n",
        "Icon=skillopt-desktop\n",
        "Exec=skillopt-desktop --open review\n",
        "Exec=skillopt-desktop --open pause\n",
        "Exec=skillopt-desktop --open settings\n",
    ] {
        assert!(entry.contains(line), "{entry}");
    }

    let mut person = Person::new();
    person.program = root.join("usr/bin/skillopt-desktop");
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start(&session, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    let _ = notifications.wait_for("1 proposal");
    let status = run(Command::new(root.join("usr/bin/skillopt"))
        .args(["status", "--json"])
        .env_clear()
        .envs(person.variables()));
    assert!(status.contains(PROJECT), "{status}");
    assert_eq!(app.end(), 0);
}
