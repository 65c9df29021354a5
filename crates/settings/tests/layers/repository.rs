//! What a repository may do.

use super::*;

#[test]
fn a_repository_can_only_restrict() {
    let place = Place::new();
    place.user("reads.exclude = [\"a\"]").repository(
        "[reads]\nexclude = [\"b\", \"a\"]\n[changes]\nskill = false\nmemory = false\n[mines]\nmax_tasks_per_night = 5\n",
    );
    let settings = place.settings();
    assert_eq!(settings.exclude, ["a", "b"]);
    assert!(!settings.skill && !settings.memory);
    assert_eq!(settings.max_tasks_per_night, 5);
    // What it excludes stays excluded under a flag; the rest is the user's to say.
    let place = place.flag("exclude", "c").flag("skill", "true");
    assert_eq!(place.settings().exclude, ["c", "b", "a"]);
    assert!(place.settings().skill);

    let place = Place::new();
    place
        .user("[changes]\nskill = false\nmemory = false\n")
        .repository("[changes]\nskill = true\n[mines]\nmax_tasks_per_night = 41\n");
    place.warning(
        "repository_setting_refused",
        &["changes.skill", "line 2", "only turn it off"],
    );
    place.warning(
        "repository_setting_refused",
        &["mines.max_tasks_per_night", "line 4", "only lower it"],
    );
    assert!(!place.settings().skill);
    assert_eq!(place.settings().max_tasks_per_night, 40);
}

#[test]
fn a_repository_cannot_set_anything_else() {
    let allowed = [
        "reads.exclude",
        "changes.skill",
        "changes.memory",
        "mines.max_tasks_per_night",
    ];
    for row in ROWS {
        assert_eq!(
            row.repository.is_some(),
            allowed.contains(&row.key),
            "{}",
            row.key
        );
        if row.repository.is_none() {
            let place = Place::new();
            place.repository(&format!("{} = {}\n", row.key, toml(&other(row).0)));
            place.warning(
                "repository_setting_refused",
                &[row.key, ".skillopt.toml, line 1"],
            );
            assert_eq!(place.settings(), Settings::default(), "{}", row.key);
        }
    }
    let place = Place::new();
    place.repository("[models]\ncommand = \"rm -rf /\"\n");
    place.warning("setting_unknown", &["models.command"]);
    let place = Place::new();
    place.repository("[changes]\nskill = \"false\"\n");
    place.problem("setting_invalid", &["changes.skill", ".skillopt.toml"]);
}

#[cfg(unix)]
#[test]
fn a_repository_cannot_point_elsewhere() {
    let place = Place::new();
    let repo = place.dir.path().join("repo");
    std::fs::create_dir_all(&repo).unwrap();
    let secret = place.dir.path().join("secret");
    place.write(&secret, "password = hunter2");
    std::os::unix::fs::symlink(&secret, repo.join(REPOSITORY_FILE)).unwrap();
    let problem = place.problem("config_unreadable", &["regular file"]);
    assert!(!problem.message.contains("hunter2"));
}
