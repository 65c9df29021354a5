//! The line in the user's crontab, with a crontab that is a file.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const BEGIN: &str = "# >>> skillopt (managed) >>>";
const END: &str = "# <<< skillopt (managed) <<<";

/// A home whose `crontab` keeps its text in the file that is given.
fn with_cron() -> (Home, PathBuf) {
    let mut home = Home::with_sample(PROGRAM);
    let programs = home.path().join("programs");
    let file = home.path().join("crontab.txt");
    fs::create_dir_all(&programs).expect("a file");
    let program = programs.join("crontab");
    fs::write(
        &program,
        format!(
            "#!/bin/sh\ncase \"$1\" in\n-l) if [ -f '{0}' ]; then cat '{0}'; else echo 'no crontab for me' >&2; exit 1; fi;;\n\
             -) cat > '{0}';;\nesac\n",
            file.display()
        ),
    )
    .expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a file");
    home.set("PATH", &format!("{}:/usr/bin:/bin", programs.display()));
    (home, file)
}

#[test]
fn lines_of_the_user_survive_broken_markers() {
    let (home, file) = with_cron();
    let mine = "0 1 * * * backup\n";
    for broken in [
        format!("{BEGIN}\n17 3 * * *  x\n{mine}"),
        format!("{BEGIN}\na\n{END}\n{mine}{BEGIN}\nb\n{END}\n"),
        format!("{mine}{END}\n"),
    ] {
        fs::write(&file, &broken).unwrap();
        for words in [
            &["sleep", "unschedule", "--all", "--json"][..],
            &["sleep", "schedule", "--json"],
        ] {
            let ran = home.run(words);
            assert_eq!(
                ran.json()["error"],
                "crontab_markers_broken",
                "{words:?} {}",
                ran.out
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
        // The plan has a line for another scheduler, and says what is wrong with this one.
        let plan = home.run(&["sleep", "schedule", "--plan", "--json"]).json();
        assert!(
            plan["warnings"].to_string().contains("do not match"),
            "{plan}"
        );
    }
    fs::write(&file, mine).unwrap();
    assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
    assert!(fs::read_to_string(&file).unwrap().starts_with(mine));
    assert_eq!(home.run(&["sleep", "unschedule"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), mine);
}

#[test]
fn no_program_is_taken_from_the_folder_one_stands_in() {
    let (mut home, file) = with_cron();
    let project = home.project();
    let bad = home.path().join("bad");
    fs::create_dir(project.join(".git")).unwrap();
    for name in ["crontab", "git"] {
        let program = project.join(name);
        fs::write(
            &program,
            format!("#!/bin/sh\necho {name} >> '{}'\n", bad.display()),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let programs = home.path().join("programs");
    for path in [".:{}", ":{}", "../customer-letters:{}"] {
        let path = path.replace("{}", &format!("{}:/usr/bin:/bin", programs.display()));
        home.set("PATH", &path);
        for words in [
            &["sleep", "schedule"][..],
            &["sleep", "dry-run"],
            &["sleep", "unschedule"],
        ] {
            let ran = home.run(words);
            assert_eq!(ran.code, 0, "{words:?} {}", ran.err);
            assert!(!bad.exists(), "{path} {words:?}: {:?}", fs::read(&bad));
        }
    }
    assert!(file.exists(), "the crontab of the system was asked");
    // Without any other there is none.
    home.set("PATH", ".");
    let ran = home.run(&["sleep", "schedule", "--json"]);
    assert_eq!(ran.json()["error"], "cron_unavailable", "{}", ran.out);
    assert!(!bad.exists());
}

#[test]
fn the_line_names_the_folders_this_shell_uses() {
    let (mut home, file) = with_cron();
    let line = |home: &Home| {
        let ran = home.run(&["sleep", "schedule", "--json"]);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        ran.json()["line"].as_str().unwrap().to_owned()
    };
    // Named by our own variables.
    let first = line(&home);
    let config = home.home().join("skillopt-config");
    assert!(
        first.contains(&format!("SKILLOPT_CONFIG_DIR={} ", config.display())),
        "{first}"
    );
    assert!(
        first.contains(&format!("SKILLOPT_DATA_DIR={} ", home.data().display())),
        "{first}"
    );
    // At their usual places, moved by XDG variables, which cron does not have.
    home.set("SKILLOPT_DATA_DIR", "");
    home.set("SKILLOPT_CONFIG_DIR", "");
    let xdg = home.path().join("x d g");
    home.set("XDG_CONFIG_HOME", xdg.to_str().unwrap());
    let second = line(&home);
    assert!(
        second.contains(&format!(
            "SKILLOPT_CONFIG_DIR='{}/skillopt' ",
            xdg.display()
        )),
        "{second}"
    );
    assert!(
        !second.contains("SKILLOPT_DATA_DIR"),
        "`data move` goes on to take effect: {second}"
    );
    home.set("XDG_DATA_HOME", xdg.to_str().unwrap());
    let stale = home.run(&["doctor", "--as-scheduled", "--json"]).json();
    assert_eq!(stale["findings"][0]["subject"], "scheduled run");
    assert_eq!(stale["findings"][0]["health"], "bad", "{stale}");
    let third = line(&home);
    assert!(
        third.contains(&format!("SKILLOPT_DATA_DIR='{}/skillopt' ", xdg.display())),
        "{third}"
    );
    let good = home.run(&["doctor", "--as-scheduled", "--json"]).json();
    assert_eq!(good["findings"][0]["health"], "good", "{good}");
    // What cron would start works on the folders of this shell.
    let command = third
        .splitn(7, ' ')
        .nth(6)
        .unwrap()
        .replace("sleep run --scheduled", "sleep status --json")
        .replace("\\%", "%");
    let command = command.split(" >> ").next().unwrap();
    let started = std::process::Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .env("HOME", home.home())
        .current_dir(home.home())
        .output()
        .unwrap();
    let status: serde_json::Value = serde_json::from_slice(&started.stdout)
        .unwrap_or_else(|error| panic!("{error}: {command} {started:?}"));
    assert_eq!(
        status["state_path"],
        xdg.join("skillopt/skillopt.db").to_str().unwrap()
    );
    assert!(fs::read_to_string(&file).unwrap().contains(&third));
}

#[test]
fn the_schedule_follows_a_project_and_leaves_with_it() {
    let (home, file) = with_cron();
    assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
    let moved = home.home().join("work/moved here");
    fs::rename(home.project(), &moved).unwrap();
    let old = home.project();
    let run = |words: &[&str]| {
        let named = ["--project", moved.to_str().unwrap(), "--json"];
        home.run_in(&moved, &[words, &named].concat())
    };
    let told = home.run_in(
        &moved,
        &[
            "project",
            "move",
            old.to_str().unwrap(),
            moved.to_str().unwrap(),
            "--json",
        ],
    );
    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    assert!(
        told.json()["notes"][0]
            .as_str()
            .unwrap()
            .contains("new folder"),
        "{}",
        told.out
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(&format!("--project '{}'", moved.display())),
        "{text}"
    );
    assert!(!text.contains(old.to_str().unwrap()), "{text}");

    let removed = run(&["project", "remove"]).json();
    assert!(
        removed["notes"][0].as_str().unwrap().contains("taken out"),
        "{removed}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    // A night that is started all the same does not bring it back; the user does.
    let night = run(&["sleep", "run"]);
    assert_eq!(
        (night.code, night.json()["error"].as_str()),
        (2, Some("project_removed")),
        "{}",
        night.out
    );
    assert_eq!(run(&["project", "list"]).json(), serde_json::json!([]));
    assert_eq!(run(&["project", "add"]).code, 0);
    assert_eq!(run(&["sleep", "run"]).code, 0);
}

/// Starts the one line of ours as cron would; the shell's own complaint when it could not.
fn as_cron(home: &Home, file: &Path) -> std::process::Output {
    let crontab = fs::read_to_string(file).expect("the crontab");
    let line = crontab
        .lines()
        .find(|line| line.contains("--scheduled"))
        .unwrap_or_else(|| panic!("{crontab}"));
    let command = line
        .splitn(7, ' ')
        .nth(6)
        .expect("a command")
        .replace("\\%", "%");
    std::process::Command::new("/bin/sh")
        .args(["-c", &command])
        .env_clear()
        .env("HOME", home.home())
        .current_dir(home.home())
        .output()
        .expect("a shell")
}

#[test]
fn the_line_follows_the_data() {
    let (mut home, file) = with_cron();
    // A data folder that only the line names, and the log in it.
    home.set("SKILLOPT_DATA_DIR", "");
    let xdg = home.path().join("x d g");
    home.set("XDG_DATA_HOME", xdg.to_str().unwrap());
    assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
    let to = home.path().join("new 50% place");
    let moved = home.run(&["data", "move", to.to_str().unwrap()]);
    assert_eq!(moved.code, 0, "{} {}", moved.out, moved.err);
    assert!(
        moved.out.contains("Your crontab names the new folder."),
        "{}",
        moved.out
    );
    let removed = home.run(&["data", "move", "--remove-old"]);
    assert_eq!(removed.code, 0, "{} {}", removed.out, removed.err);
    assert!(!xdg.join("skillopt").exists());
    let ran = as_cron(&home, &file);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(
        home.run(&["night", "list", "--json"]).json()[0]["outcome"],
        "proposed"
    );
    assert!(to.join("cron.log").is_file());
}

#[test]
fn doctor_knows_a_line_that_cannot_run() {
    let (home, file) = with_cron();
    assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
    let found = |home: &Home| {
        let doctor = home.run(&["doctor", "--json"]).json();
        doctor["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["subject"] == "scheduled run")
            .map(|finding| finding["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(found(&home), None);
    let good = fs::read_to_string(&file).unwrap();
    let log = home.data().join("cron.log");
    for (old, new, told) in [
        (log.to_str().unwrap(), "/no such/cron.log", "/no"),
        (PROGRAM, "/gone/skillopt", "/gone/skillopt"),
    ] {
        fs::write(&file, good.replace(old, &format!("'{new}'"))).unwrap();
        let message = found(&home).expect("a finding");
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn what_is_deleted_is_not_run_by_cron_any_more() {
    let (home, file) = with_cron();
    let project = home.project();
    for words in [
        &["data", "purge", "--everything"][..],
        &["data", "purge", "--project", project.to_str().unwrap()],
    ] {
        assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
        let shown = home.run(words);
        assert!(
            shown.out.contains("in your crontab goes as well"),
            "{}",
            shown.out
        );
        assert!(fs::read_to_string(&file).unwrap().contains("--scheduled"));
        let done = home.run(&[words, &["--yes"]].concat());
        assert_eq!(done.code, 0, "{} {}", done.out, done.err);
        assert_eq!(fs::read_to_string(&file).unwrap(), "", "{words:?}");
    }
    // What was only to be read again is still scheduled.
    assert_eq!(home.run(&["sleep", "schedule"]).code, 0);
    assert_eq!(home.run(&["data", "purge", "--evidence", "--yes"]).code, 0);
    assert!(fs::read_to_string(&file).unwrap().contains("--scheduled"));
}
