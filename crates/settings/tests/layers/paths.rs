//! Where paths begin.

use super::*;

#[test]
fn a_path_begins_at_the_file_it_stands_in_or_where_the_command_is_given() {
    let place = Place::new();
    place
        .user("models.prompts = \"mine/prompts.json\"\nmodels.claude_path = \"../bin/claude\"")
        .project("models.cassette = \"night.json\"");
    let config = place.dir.path().join("config");
    let text = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let settings = place.settings();
    assert_eq!(settings.prompts, text(config.join("mine/prompts.json")));
    assert_eq!(settings.claude_path, text(config.join("../bin/claude")));
    assert_eq!(settings.cassette, text(config.join("projects/night.json")));
    assert_eq!(settings.codex_path, "", "nothing stays nothing");
    assert!(settings.codex_home.is_empty());

    let place = Place::new()
        .env("SKILLOPT_PROMPTS", "prompts.json")
        .flag("claude-home", "./claude");
    assert_eq!(place.settings().prompts, "/here/prompts.json");
    assert_eq!(place.settings().claude_home, ["/here/./claude"]);
    let explained = place.load().unwrap().explain("models.prompts").unwrap();
    assert_eq!(explained.value, "/here/prompts.json");
}

#[test]
fn a_tilde_is_the_home_folder_wherever_a_path_stands() {
    let place = Place::new().flag("exclude", "~/clients/**");
    place
        .user(
            "models.prompts = \"~/p.json\"\nmodels.handoff_dir = \"~/questions\"\nreads.claude_home = \"~\"",
        )
        .repository("reads.exclude = [\"~/diary\"]")
        .project("changes.skill_roots = [\"~/skills\", \"own\"]");
    let settings = place.settings();
    assert_eq!(settings.prompts, "/home/dana/p.json");
    assert_eq!(settings.handoff_dir, "/home/dana/questions");
    assert_eq!(settings.claude_home, ["/home/dana"]);
    assert_eq!(settings.skill_roots, ["/home/dana/skills", "own"]);
    assert_eq!(
        settings.exclude,
        ["/home/dana/clients/**", "/home/dana/diary"]
    );
}

#[test]
fn what_is_below_the_project_stays_so() {
    let place = Place::new().flag("handoff-dir", ".questions");
    place.user("changes.target_skill_path = \"skills/x/SKILL.md\"");
    assert_eq!(place.settings().handoff_dir, ".questions");
    assert_eq!(place.settings().target_skill_path, "skills/x/SKILL.md");
}

#[test]
fn a_path_that_is_typed_is_written_whole() {
    let here = Path::new("/here");
    assert_eq!(Kind::Path.typed_in("p.json", here), "/here/p.json");
    assert_eq!(Kind::Path.typed_in("~/p.json", here), "~/p.json");
    assert_eq!(Kind::Path.typed_in("", here), "");
    assert_eq!(Kind::ProjectPath.typed_in("p", here), "p");
    assert_eq!(
        Kind::Paths.typed_in("p, ~/q ,/r", here),
        r#"["/here/p", "~/q", "/r"]"#
    );
    assert_eq!(Kind::Paths.typed_in(r#"["a,b"]"#, here), r#"["/here/a,b"]"#);
    assert_eq!(Kind::Paths.typed_in("", here), "[]");
    assert_eq!(Kind::Text.typed_in("p", here), "p");
}

/// One folder was all that older versions took; files that name one stay valid.
#[test]
fn homes_are_one_folder_or_several() {
    for (line, expected) in [
        ("reads.codex_home = \"/a\"", &["/a"][..]),
        ("reads.codex_home = \"\"", &[]),
        ("reads.codex_home = []", &[]),
        (
            "reads.codex_home = [\"/a\", \"~/b\", \"/c,d\"]",
            &["/a", "/home/dana/b", "/c,d"],
        ),
    ] {
        let place = Place::new();
        place.user(line);
        assert_eq!(place.settings().codex_home, expected, "{line}");
    }
    let place = Place::new()
        .flag("codex-home", "/a,b")
        .flag("codex-home", "c")
        .env("SKILLOPT_PI_HOME", "/x, y");
    place.user("reads.codex_home = \"/not this one\"");
    assert_eq!(place.settings().codex_home, ["/a,b", "/here/c"]);
    assert_eq!(place.settings().pi_home, ["/x", "/here/y"]);
    let place = Place::new();
    place.user("reads.codex_home = [\"/a\", \"\"]");
    let problem = place.load().unwrap_err();
    assert_eq!(problem.code, "setting_invalid");
}
