//! How settings of the schedule are seen to matter.

use serde_json::json;
use skillopt_settings::ROWS;
use skillopt_tests::home::Home;

/// Variables of a computer without a bus whose battery is at 60 %.
fn on_battery(home: &Home) -> [(&'static str, String); 2] {
    let battery = home.home().join("sys/class/power_supply/BAT0");
    std::fs::create_dir_all(&battery).expect("a folder");
    for (file, text) in [
        ("type", "Battery"),
        ("status", "Discharging"),
        ("capacity", "60"),
    ] {
        std::fs::write(battery.join(file), text).expect("a file");
    }
    [
        ("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere".to_owned()),
        (
            "SYSFS_PATH",
            home.home().join("sys").to_string_lossy().into_owned(),
        ),
    ]
}

/// Where the project stands, on that computer.
fn stands(home: &Home, words: &[&str]) -> serde_json::Value {
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let variables = on_battery(home);
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let command = ["sleep", "status", "--json"];
    home.run_with(&[&command, words].concat(), &variables)
        .json()
}

/// When the next nights are.
pub(super) fn upcoming(home: &Home, words: &[&str]) -> String {
    stands(home, &[&["--random-delay-minutes=0"], words].concat())["upcoming"].to_string()
}

/// What a night would wait for now.
pub(super) fn waits(home: &Home, words: &[&str]) -> String {
    let status = stands(home, words);
    format!("{} {}", status["waits"], status["unknown"])
}

/// What the daemon does now. Settings reach it by their variables.
fn daemon(home: &Home, words: &[&str], more: &[(&str, &str)]) -> serde_json::Value {
    let mut variables: Vec<(String, String)> = on_battery(home)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    variables.extend(
        more.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    for word in words {
        let (flag, value) = word
            .trim_start_matches("--")
            .split_once('=')
            .expect("a setting");
        let row = ROWS.iter().find(|row| row.flag == flag).expect("a setting");
        variables.push((row.variable(), value.to_owned()));
    }
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    home.run_with(&["daemon", "--once", "--json"], &variables)
        .json()
}

/// Whether a night that was missed three hours ago is caught up.
pub(super) fn missed(home: &Home, words: &[&str]) -> String {
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let hour = jiff::tz::TimeZone::UTC
        .to_datetime(jiff::Timestamp::now())
        .hour();
    let hour = ((hour + 21) % 24).to_string();
    let schedule = [
        ("SKILLOPT_HOUR", hour.as_str()),
        ("SKILLOPT_MINUTE", "0"),
        ("SKILLOPT_RANDOM_DELAY_MINUTES", "0"),
        ("SKILLOPT_TIME_ZONE", "UTC"),
    ];
    // A schedule that was just made has missed nothing.
    let first = daemon(home, words, &schedule);
    assert_eq!(first["projects"][0]["last"], json!(null), "{first:#}");
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).expect("a database");
    let changed = database
        .execute("UPDATE schedule_rule SET since = 0", [])
        .expect("a rule");
    assert_eq!(changed, 1);
    drop(database);
    let after = daemon(home, words, &schedule);
    after["projects"][0]["last"]["outcome"].to_string()
}

/// What the daemon says about keeping the computer awake, where that cannot be done.
pub(super) fn kept_awake(home: &Home, words: &[&str]) -> String {
    assert_eq!(home.run(&["project", "add"]).code, 0);
    assert_eq!(home.run(&["night", "start"]).code, 0);
    let run = daemon(home, words, &[]);
    assert!(run["projects"][0]["last"]["outcome"].is_string(), "{run:#}");
    run["trouble"].to_string()
}
