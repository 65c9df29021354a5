//! The morning: review, adopt, reject, take back, on the sample of the demonstration.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;

use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

#[test]
fn a_new_user_gets_from_the_demonstration_to_a_first_proposal() {
    let home = Home::after_demo(PROGRAM);
    let list = home.run(&["proposal", "list", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let shown = home.run(&["proposal", "show", "--json"]).json();
    let document = &shown["documents"][0];
    assert_eq!(document["target"], "claude:skill");
    assert!(document["after"].as_f64() > document["before"].as_f64());
    let rules = document["rules"].as_array().unwrap();
    assert!(!rules.is_empty());
    for rule in rules {
        assert!(
            !rule["turns"].as_array().unwrap().is_empty(),
            "every rule names the turns it came from"
        );
        assert!(
            !rule["tasks"].as_array().unwrap().is_empty(),
            "and the tasks"
        );
    }
    let diff = home.run(&["proposal", "diff"]);
    assert!(
        diff.out
            .contains("+- Give the reply a section called \"Risks\"."),
        "{}",
        diff.out
    );
}

#[test]
fn the_demonstration_makes_a_folder_of_its_own() {
    // Sessions in a temporary folder that looks like one of our own calls are left out.
    let home = Home::empty(PROGRAM);
    let ran = home.run_with(
        &["demo", "--json"],
        &[("TMPDIR", home.path().to_str().unwrap())],
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.json()["report"]["outcome"], "proposed");
}

#[test]
fn adopting_and_rolling_back_gives_the_bytes_back() {
    let home = Home::after_demo(PROGRAM);
    // The skill exists by now, with text of the user around it and Windows line endings.
    let before = b"---\r\nname: skillopt-sleep-learned\r\ndescription: mine\r\n---\r\n\r\n\r\n# Mine\r\n\r\n\r\nlast line without end";
    fs::create_dir_all(home.skill().parent().unwrap()).unwrap();
    fs::write(home.skill(), before).unwrap();
    let stale = home.run(&["proposal", "adopt", "--json"]);
    assert_eq!(stale.json()["error"], "document_changed");
    assert_eq!(stale.code, 2);

    fs::remove_dir_all(home.data()).unwrap();
    assert_eq!(home.run(&["sleep", "run"]).code, 0);
    let adopted = home.run(&["proposal", "adopt", "--json"]);
    assert_eq!(adopted.code, 0, "{}", adopted.err);
    assert_eq!(adopted.json()["ok"], true);
    let now = fs::read(home.skill()).unwrap();
    assert!(
        now.starts_with(before),
        "the user's text comes first, byte for byte"
    );
    assert!(
        String::from_utf8(now)
            .unwrap()
            .contains("called \"Risks\".")
    );

    let back = home.run(&["rollback"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(fs::read(home.skill()).unwrap(), before);
    let again = home.run(&["rollback", "--json"]);
    assert_eq!(
        (again.code, again.json()["error"].as_str()),
        (2, Some("nothing_to_roll_back"))
    );
}

#[test]
fn a_file_that_was_changed_since_is_said_to_be_out_of_date_in_the_list() {
    let home = Home::after_demo(PROGRAM);
    let stale =
        || home.run(&["proposal", "list", "--json"]).json()[0]["targets"][0]["stale"].clone();
    assert_eq!(stale(), false);
    fs::create_dir_all(home.skill().parent().unwrap()).unwrap();
    fs::write(home.skill(), "---\nname: x\ndescription: mine\n---\n").unwrap();
    assert_eq!(stale(), true);
    let list = home.run(&["proposal", "list"]).out;
    assert!(list.contains("its file was changed since"), "{list}");
    fs::remove_file(home.skill()).unwrap();
    assert_eq!(stale(), false);
    // What was decided waits for nothing, whatever is in its file now.
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    let all = home.run(&["proposal", "list", "--all", "--json"]).json();
    assert_eq!(all[0]["targets"][0]["stale"], false, "{all}");
}

#[test]
fn a_file_of_a_repository_is_said_to_be_everyones() {
    for versioned in [true, false] {
        let home = Home::with_sample(PROGRAM);
        let root = home.project();
        if versioned {
            fs::create_dir(root.join(".git")).unwrap();
        }
        let skill = root.join("docs/letters/SKILL.md");
        fs::create_dir_all(skill.parent().unwrap()).unwrap();
        fs::write(
            &skill,
            "---\nname: letters\ndescription: mine\n---\n\nMine.\n",
        )
        .unwrap();
        let path = skill.to_str().unwrap();
        let ran = home.run(&["sleep", "run", "--target-skill-path", path, "--json"]);
        assert_eq!(ran.json()["outcome"], "proposed", "{}", ran.out);
        let document = &home.run(&["proposal", "show", "--json"]).json()["documents"][0];
        assert_eq!(document["path"], path);
        assert_eq!(document["under_version_control"], versioned);
        let plan = home.run(&["proposal", "adopt", "--plan", "--json"]).json();
        assert_eq!(plan["documents"][0]["under_version_control"], versioned);
        for words in [&["proposal", "show"][..], &["proposal", "adopt", "--plan"]] {
            let said = home.run(words).out.contains("Nothing is committed for you");
            assert_eq!(said, versioned, "{words:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_document_is_changed_and_stays_read_only_and_the_plan_says_so() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::with_sample(PROGRAM);
    let skill = home.skill();
    let before = "---\nname: skillopt-sleep-learned\ndescription: mine\n---\n\nMine.\n";
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(&skill, before).unwrap();
    fs::set_permissions(&skill, fs::Permissions::from_mode(0o444)).unwrap();
    let mode = || fs::metadata(&skill).unwrap().permissions().mode() & 0o777;
    assert_eq!(home.run(&["sleep", "run"]).code, 0);

    let plan = home.run(&["proposal", "adopt", "--plan", "--json"]).json();
    assert_eq!(plan["documents"][0]["read_only"], true, "{plan}");
    assert!(
        plan["notes"].to_string().contains("stays read-only"),
        "{plan}"
    );
    assert_eq!(fs::read_to_string(&skill).unwrap(), before);
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    assert_ne!(fs::read_to_string(&skill).unwrap(), before);
    assert_eq!(mode(), 0o444);
    assert_eq!(home.run(&["rollback"]).code, 0);
    assert_eq!(fs::read_to_string(&skill).unwrap(), before);
    assert_eq!(mode(), 0o444);
}

#[test]
fn a_new_file_and_its_folders_go_away_when_taken_back() {
    let home = Home::after_demo(PROGRAM);
    assert!(!home.skill().exists());
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    assert!(home.skill().exists());
    assert_eq!(home.run(&["rollback"]).code, 0);
    assert!(!home.skill().exists());
    assert!(!home.home().join(".claude/skills").exists());
}

#[test]
fn a_file_edited_after_adoption_is_not_overwritten_by_a_rollback() {
    let home = Home::after_demo(PROGRAM);
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    let mut text = fs::read_to_string(home.skill()).unwrap();
    text.push_str("my own line\n");
    fs::write(home.skill(), &text).unwrap();
    let refused = home.run(&["rollback", "--json"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert_eq!(refused.json()["error"], "file_changed");
    assert_eq!(fs::read_to_string(home.skill()).unwrap(), text);
}

#[test]
fn a_subset_says_that_it_is_untested_and_can_be_tested_first() {
    let home = Home::after_demo(PROGRAM);
    let plan = home
        .run(&["proposal", "adopt", "--rule", "1", "--plan", "--json"])
        .json();
    assert_eq!(plan["adopted"], false);
    assert_eq!(plan["documents"][0]["subset"], true);
    assert!(
        plan["notes"][0].as_str().unwrap().contains("has not seen"),
        "{plan}"
    );
    // A plan asks nothing, not even with --validate.
    let words = ["proposal", "adopt", "--rule", "1", "--validate", "--json"];
    let nights = || home.run(&["night", "list", "--json"]).json();
    let before = nights();
    let planned = home.run(&[&words[..], &["--plan"]].concat()).json();
    assert_eq!(planned["validated"], serde_json::Value::Null);
    assert_eq!(nights(), before);
    let ran = home.run(&words);
    let tested = ran.json();
    let decision = &tested["validated"][0][1];
    assert!(
        decision["deltas"].as_array().unwrap().len() >= 3,
        "{tested}"
    );
    // The verdict decides: written only when the rule alone is better.
    assert_eq!(tested["adopted"], decision["accepted"]);
    assert_eq!(home.skill().exists(), decision["accepted"] == true);
    assert_eq!(tested["ok"], decision["accepted"]);
    assert_eq!(ran.code, if decision["accepted"] == true { 0 } else { 2 });
    // It stands among the nights with what its verdict rests on.
    let shown = home.run(&["night", "show", "--json"]).json();
    assert_eq!(shown["kind"], "revalidation");
    assert_eq!(shown["report"]["decisions"], tested["validated"]);
    let evidence = &shown["evidence"][0];
    assert_eq!(evidence["target"], "claude");
    for delta in decision["deltas"].as_array().unwrap() {
        let task = delta["task"].as_str().unwrap();
        assert!(evidence["requests"][task].is_string(), "{shown}");
        for side in ["before", "after"] {
            let reply = &evidence["replies"][task][side]["text"];
            assert_ne!(reply.as_str().unwrap_or_default(), "", "{side}: {shown}");
        }
    }
}

#[test]
fn a_rejected_rule_is_remembered_with_its_reason() {
    let home = Home::after_demo(PROGRAM);
    let rejected = home
        .run(&["proposal", "reject", "--reason", "too formal", "--json"])
        .json();
    assert_eq!(rejected["targets"][0], "claude:skill");
    let none = home.run(&["proposal", "adopt", "--json"]);
    assert_eq!(
        (none.code, none.json()["error"].as_str()),
        (1, Some("no_staging"))
    );
    let all = home.run(&["proposal", "list", "--all", "--json"]).json();
    assert_eq!(all[0]["state"], "rejected");
    let decided = home.run(&[
        "proposal",
        "adopt",
        all[0]["id"].as_str().unwrap(),
        "--json",
    ]);
    assert_eq!(
        (decided.code, decided.json()["error"].as_str()),
        (2, Some("proposal_decided"))
    );
}

#[test]
fn a_tampered_bundle_is_refused_and_nothing_is_written() {
    for tamper in ["manifest", "text"] {
        let home = Home::after_demo(PROGRAM);
        let list = home.run(&["proposal", "list", "--json"]).json();
        let folder = std::path::PathBuf::from(list[0]["dir"].as_str().unwrap());
        if tamper == "manifest" {
            let path = folder.join("manifest.json");
            let text = fs::read_to_string(&path)
                .unwrap()
                .replace("skillopt-sleep-learned", "elsewhere");
            fs::write(&path, text).unwrap();
        } else {
            fs::write(
                folder.join("proposed_SKILL.md"),
                "---\nname: x\n---\nevil\n",
            )
            .unwrap();
        }
        let refused = home.run(&["proposal", "adopt", "--json"]);
        assert_eq!(
            (refused.code, refused.json()["error"].as_str()),
            (2, Some("proposal_tampered")),
            "{tamper}"
        );
        assert!(!home.skill().exists());
    }
}

#[cfg(unix)]
#[test]
fn a_target_that_leads_outside_is_refused_before_anything_is_spent() {
    let home = Home::with_sample(PROGRAM);
    let outside = home.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("notes.md"), "private\n").unwrap();
    fs::remove_file(home.project().join("CLAUDE.md")).unwrap();
    std::os::unix::fs::symlink(outside.join("notes.md"), home.project().join("CLAUDE.md")).unwrap();
    let ran = home.run(&["sleep", "run", "--skill=false", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    let json = ran.json();
    assert_eq!(json["outcome"], "failed");
    assert_eq!(json["problem"]["code"], "target_outside_roots");
    assert_eq!(json["spend"]["calls"], 0);
    assert_eq!(
        fs::read_to_string(outside.join("notes.md")).unwrap(),
        "private\n"
    );

    // The other documents are improved nevertheless, and nothing is said of one that may not change.
    let quiet = home
        .run(&["sleep", "dry-run", "--memory=false", "--json"])
        .json();
    assert!(!quiet["notes"].to_string().contains("notes.md"), "{quiet}");
    let json = home.run(&["sleep", "run", "--json"]).json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    assert!(json["notes"].to_string().contains("Left out: "), "{json}");
    let adopted = home.run(&["proposal", "adopt", "--confirm-flags"]);
    assert_eq!(adopted.code, 0, "{}", adopted.err);
    fs::write(home.project().join(".skillopt.toml"), "[[[").unwrap();
    let back = home.run(&["rollback"]);
    assert_eq!(
        back.code, 0,
        "a broken file of the repository is no hindrance: {}",
        back.err
    );
    assert_eq!(
        fs::read_to_string(outside.join("notes.md")).unwrap(),
        "private\n"
    );
}

#[cfg(unix)]
#[test]
fn a_link_of_the_repository_does_not_say_which_skill_of_the_user_is_changed() {
    let home = Home::with_sample(PROGRAM);
    let skill = home.home().join(".claude/skills/mine/SKILL.md");
    let text = "---\nname: mine\ndescription: mine\n---\nPrivate.\n";
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(&skill, text).unwrap();
    let memory = home.project().join("CLAUDE.md");
    fs::remove_file(&memory).unwrap();
    std::os::unix::fs::symlink(&skill, &memory).unwrap();
    let says_so = |told: &str| {
        let skill = skill.canonicalize().unwrap().display().to_string();
        assert!(told.contains("a link may lead neither out"), "{told}");
        assert!(told.contains(&skill), "{told}");
    };
    says_so(&home.run(&["sleep", "dry-run", "--json"]).out);
    says_so(&home.run(&["doctor", "--json"]).out);
    let json = home.run(&["sleep", "run", "--json"]).json();
    says_so(&json["notes"].to_string());
    let shown = home.run(&["proposal", "show", "--json"]);
    assert!(!shown.out.contains("skills/mine"), "{}", shown.out);
    let adopted = home.run(&["proposal", "adopt", "--confirm-flags"]);
    assert_eq!(adopted.code, 0, "{}", adopted.err);
    assert_eq!(fs::read_to_string(&skill).unwrap(), text);

    // The user may say that it is meant.
    let folder = format!("--skill-root={}", skill.parent().unwrap().display());
    let meant = home.run(&["sleep", "dry-run", &folder, "--json"]).json();
    assert!(
        meant["targets"].to_string().contains("skills/mine"),
        "{meant}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_is_changed_after_the_night_is_not_followed() {
    let home = Home::with_sample(PROGRAM);
    let json = home
        .run(&["sleep", "run", "--skill=false", "--json"])
        .json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    let memory = home.project().join("CLAUDE.md");
    let elsewhere = home.path().join("notes.md");
    fs::rename(&memory, &elsewhere).unwrap();
    let before = fs::read_to_string(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &memory).unwrap();
    for words in [
        &["proposal", "adopt", "--plan", "--confirm-flags", "--json"][..],
        &["proposal", "adopt", "--confirm-flags", "--json"],
    ] {
        let refused = home.run(words);
        assert_eq!(
            (refused.code, refused.json()["error"].as_str()),
            (2, Some("target_outside_roots")),
            "{}",
            refused.out
        );
    }
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_claude_md_that_links_to_agents_md_is_one_document() {
    let home = Home::with_sample(PROGRAM);
    fs::rename(
        home.project().join("CLAUDE.md"),
        home.project().join("AGENTS.md"),
    )
    .unwrap();
    std::os::unix::fs::symlink("AGENTS.md", home.project().join("CLAUDE.md")).unwrap();
    let ran = home.run(&["sleep", "run", "--skill=false", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.run(&["proposal", "adopt", "--json"]).code, 0);
    assert!(
        fs::symlink_metadata(home.project().join("CLAUDE.md"))
            .unwrap()
            .is_symlink()
    );
    let text = fs::read_to_string(home.project().join("AGENTS.md")).unwrap();
    assert!(text.contains("called \"Risks\"."), "{text}");
}

#[test]
fn a_second_night_has_nothing_to_do_and_says_so() {
    let home = Home::after_demo(PROGRAM);
    let ran = home.run(&["sleep", "run", "--json"]);
    assert_eq!(
        (ran.code, ran.json()["outcome"].as_str()),
        (0, Some("nothing_to_do"))
    );
    // The earlier proposal still waits (weakness 22: a newer night must not hide it).
    assert_eq!(
        home.run(&["proposal", "list", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn auto_adopt_leaves_what_a_simulation_proposed() {
    let home = Home::with_sample(PROGRAM);
    let ran = home.run(&["sleep", "run", "--auto-adopt", "--json"]).json();
    assert_eq!(ran["outcome"], "proposed");
    assert_eq!(ran["adopted"].as_array().unwrap().len(), 0);
    assert!(
        ran["notes"].to_string().contains("simulation"),
        "{}",
        ran["notes"]
    );
    assert!(!home.skill().exists());
}

#[test]
fn called_by_the_references_name_it_is_the_same() {
    let home = Home::after_demo(PROGRAM);
    let alias = home.path().join("skillopt-sleep");
    fs::copy(PROGRAM, &alias).unwrap();
    let output = std::process::Command::new(&alias)
        .args(["status", "--json"])
        .current_dir(home.project())
        .env_clear()
        .env("HOME", home.home())
        .env("SKILLOPT_DATA_DIR", home.data())
        .env("SKILLOPT_CONFIG_DIR", home.home().join("skillopt-config"))
        .output()
        .unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // §9.5: the reference's keys.
    for key in [
        "night",
        "state_path",
        "project",
        "history_tail",
        "latest_staging",
        "slow_memory_chars",
        "staged_skills",
        "adopted_skills",
        "has_managed_proposal",
    ] {
        assert!(status.get(key).is_some(), "{key}");
    }
    assert_eq!(status["night"], 1);
}

#[test]
fn a_rejected_rule_is_left_out_of_a_later_adoption() {
    let home = Home::after_demo(PROGRAM);
    let shown = home.run(&["proposal", "show", "--json"]).json();
    let rules = shown["documents"][0]["rules"].as_array().unwrap().clone();
    assert!(rules.len() >= 2, "{shown}");
    let text = |rule: usize| rules[rule]["content"].as_str().unwrap().to_owned();
    let rejected = home.run(&["proposal", "reject", "--rule", "2"]);
    assert!(
        rejected.out.contains("rule 2 of claude:skill"),
        "{}",
        rejected.out
    );
    let shown = home.run(&["proposal", "show", "--json"]).json();
    assert_eq!(shown["documents"][0]["state"], "pending");
    assert_eq!(shown["documents"][0]["rules"][0]["rejected"], false);
    assert_eq!(shown["documents"][0]["rules"][1]["rejected"], true);
    let adopted = home.run(&["proposal", "adopt", "--json"]);
    assert_eq!(adopted.code, 0, "{}", adopted.out);
    assert!(
        adopted.json()["notes"].to_string().contains("rule 2"),
        "{}",
        adopted.out
    );
    let now = fs::read_to_string(home.skill()).unwrap();
    assert!(now.contains(&text(0)), "{now}");
    assert!(!now.contains(&text(1)), "{now}");
}

#[test]
fn a_proposal_of_which_every_rule_was_rejected_is_closed() {
    let home = Home::after_demo(PROGRAM);
    let shown = home.run(&["proposal", "show", "--json"]).json();
    let total = shown["documents"][0]["rules"].as_array().unwrap().len();
    for number in 1..=total {
        let ran = home.run(&[
            "proposal",
            "reject",
            "--rule",
            &number.to_string(),
            "--json",
        ]);
        assert_eq!(
            ran.json()["documents"][0]["closed"],
            number == total,
            "{}",
            ran.out
        );
    }
    let all = home.run(&["proposal", "list", "--all", "--json"]).json();
    assert_eq!(all[0]["state"], "rejected");
}

#[test]
fn the_references_ways_to_choose_mean_what_they_say() {
    let home = Home::after_demo(PROGRAM);
    let chosen = |words: &[&str]| {
        let ran = home.run(&[&["sleep", "adopt", "--plan", "--json"], words].concat());
        let json = ran.json();
        match json["documents"].as_array() {
            Some(documents) => documents
                .iter()
                .map(|document| document["target"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>(),
            None => vec![json["error"].as_str().unwrap().to_owned()],
        }
    };
    assert_eq!(
        chosen(&["--skill", "skillopt-sleep-learned"]),
        ["claude:skill"]
    );
    assert_eq!(chosen(&["--skill", "claude:skill"]), ["claude:skill"]);
    assert_eq!(chosen(&["--skill", "other"]), ["selection_unknown"]);
    assert_eq!(chosen(&["--all-skills"]), ["claude:skill"]);
    assert_eq!(chosen(&["--legacy"]), ["claude:skill"]);
    // A memory document is no skill.
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "run", "--skill=false"]).code, 0);
    let none = home.run(&["sleep", "adopt", "--all-skills", "--json"]);
    assert_eq!(
        (none.code, none.json()["error"].as_str()),
        (2, Some("selection_empty")),
        "{}",
        none.out
    );
    let all = home.run(&["sleep", "adopt", "--legacy", "--plan", "--json"]);
    assert_eq!(all.json()["documents"][0]["target"], "claude:memory");
}

#[test]
fn what_was_adopted_is_still_shown_as_the_change_it_was() {
    let home = Home::after_demo(PROGRAM);
    fs::create_dir_all(home.skill().parent().unwrap()).unwrap();
    fs::write(
        home.skill(),
        "---\nname: skillopt-sleep-learned\ndescription: mine\n---\n",
    )
    .unwrap();
    fs::remove_dir_all(home.data()).unwrap();
    assert_eq!(home.run(&["sleep", "run"]).code, 0);
    let before = home.run(&["proposal", "diff"]).out;
    let id = home.run(&["proposal", "list", "--json"]).json()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    assert_eq!(home.run(&["proposal", "diff", &id]).out, before);
    let shown = home.run(&["proposal", "show", &id]).out;
    assert!(!shown.contains("was changed since"), "{shown}");
    // The night shows the scores behind it, task by task.
    let night = home.run(&["night", "show"]).out;
    let json = home.run(&["night", "show", "--json"]).json();
    let deltas = &json["report"]["targets"][0]["decision"]["deltas"];
    assert!(!deltas.as_array().unwrap().is_empty(), "{json}");
    for delta in deltas.as_array().unwrap() {
        assert!(night.contains(delta["task"].as_str().unwrap()), "{night}");
    }
}

#[test]
fn times_on_screen_are_those_of_the_users_clock() {
    let home = Home::after_demo(PROGRAM);
    let at = |zone: &str| {
        let list = home.run_with(&["night", "list"], &[("TZ", zone)]);
        let shown = home.run_with(&["proposal", "list"], &[("TZ", zone)]);
        (list.out, shown.out)
    };
    let (utc, east) = (at("UTC0"), at("EST-14"));
    assert_ne!(utc.0, east.0);
    assert_ne!(utc.1, east.1);
}

#[test]
fn a_bundle_that_could_not_be_published_leaves_nothing_behind() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "status"]).code, 0);
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
    database
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE UPDATE ON night WHEN NEW.outcome = 'proposed'
             BEGIN SELECT RAISE(ABORT, 'refused'); END;",
        )
        .unwrap();
    let ran = home.run(&["sleep", "run", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    let drafts: i64 = database
        .query_row("SELECT count(*) FROM proposal", [], |row| row.get(0))
        .unwrap();
    assert_eq!(drafts, 0);
    let staging = home.data().join("staging");
    let bundles = fs::read_dir(staging).map_or(0, Iterator::count);
    assert_eq!(bundles, 0);
}
