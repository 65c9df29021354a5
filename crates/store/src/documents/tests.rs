use super::*;

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        Self { _dir: dir, root }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        crate::files::atomic_replace(&path, text.as_bytes(), crate::files::NewFile::Document)
            .unwrap();
        path
    }

    fn resolve(&self, name: &str) -> Result<Resolved, String> {
        resolve(&self.root.join(name), std::slice::from_ref(&self.root))
            .map_err(|problem| problem.code.into_owned())
    }

    /// Real path relative to the project, and alias.
    fn leads(&self, name: &str) -> (String, Option<Alias>) {
        let found = self.resolve(name).unwrap();
        (
            found
                .real_path
                .strip_prefix(&self.root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
            found.alias,
        )
    }
}

#[test]
fn a_plain_document_is_itself() {
    let place = Place::new();
    place.put("CLAUDE.md", "# Rules\n@AGENTS.md\n");
    assert_eq!(place.leads("CLAUDE.md"), ("CLAUDE.md".into(), None));
    assert!(place.resolve("CLAUDE.md").unwrap().exists);
    let missing = place.resolve("skills/new/SKILL.md").unwrap();
    assert_eq!(
        (missing.exists, missing.real_path),
        (false, place.root.join("skills/new/SKILL.md"))
    );
}

#[test]
fn one_line_imports_and_pointers_lead_to_the_file_behind() {
    // Anchors D2: link, one-line import, text file with the name (a link checked out on Windows).
    for text in [
        "@AGENTS.md",
        "@AGENTS.md\n",
        "\u{feff}@./AGENTS.md\r\n",
        "  @AGENTS.md  \n\n",
    ] {
        let place = Place::new();
        place.put("AGENTS.md", "# Rules\n");
        place.put("CLAUDE.md", text);
        assert_eq!(
            place.leads("CLAUDE.md"),
            ("AGENTS.md".into(), Some(Alias::Import)),
            "{text:?}"
        );
    }
    for text in ["AGENTS.md", "AGENTS.md\r\n", "docs/../AGENTS.md"] {
        let place = Place::new();
        place.put("AGENTS.md", "# Rules\n");
        place.put("docs/x.md", "x");
        place.put("CLAUDE.md", text);
        assert_eq!(
            place.leads("CLAUDE.md"),
            ("AGENTS.md".into(), Some(Alias::Pointer)),
            "{text:?}"
        );
    }
}

#[test]
fn what_only_looks_like_an_alias_is_a_document() {
    for text in [
        "@AGENTS.md and more",
        "@AGENTS.md\n@OTHER.md\n",
        "@~/AGENTS.md",
        "@/etc/AGENTS.md",
        "notes.md",
        "@",
        "",
    ] {
        let place = Place::new();
        place.put("AGENTS.md", "# Rules\n");
        place.put("CLAUDE.md", text);
        assert_eq!(
            place.leads("CLAUDE.md"),
            ("CLAUDE.md".into(), None),
            "{text:?}"
        );
    }
    let place = Place::new();
    place.put("AGENTS.md", "# Rules\n");
    place.put("skills/a/SKILL.md", "@AGENTS.md");
    assert_eq!(
        place.leads("skills/a/SKILL.md"),
        ("skills/a/SKILL.md".into(), None),
        "skills import nothing"
    );
}

#[test]
fn an_import_of_nothing_is_an_error() {
    let place = Place::new();
    place.put("CLAUDE.md", "@AGENTS.md");
    assert_eq!(
        place.resolve("CLAUDE.md").unwrap_err(),
        "document_link_dangling"
    );
}

#[test]
fn imports_that_lead_in_a_circle_are_an_error() {
    let place = Place::new();
    place.put("CLAUDE.md", "@AGENTS.md");
    place.put("AGENTS.md", "@CLAUDE.md");
    assert_eq!(
        place.resolve("CLAUDE.md").unwrap_err(),
        "document_link_loop"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_roots_only() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.put("AGENTS.md", "# Rules\n");
    symlink("AGENTS.md", place.root.join("CLAUDE.md")).unwrap();
    assert_eq!(
        place.leads("CLAUDE.md"),
        ("AGENTS.md".into(), Some(Alias::Link))
    );

    let outside = place.root.parent().unwrap().join("secret.md");
    crate::files::atomic_replace(&outside, b"x", crate::files::NewFile::Document).unwrap();
    symlink(&outside, place.root.join("out.md")).unwrap();
    assert_eq!(place.resolve("out.md").unwrap_err(), "target_outside_roots");
    place.put("import.md", "@../secret.md");
    assert_eq!(
        place.resolve("import.md").unwrap_err(),
        "target_outside_roots"
    );

    symlink("gone.md", place.root.join("dangling.md")).unwrap();
    assert_eq!(
        place.resolve("dangling.md").unwrap_err(),
        "document_link_dangling"
    );
    symlink("gone", place.root.join("folder")).unwrap();
    assert_eq!(
        place.resolve("folder/new.md").unwrap_err(),
        "document_link_dangling"
    );
    symlink("loop.md", place.root.join("loop.md")).unwrap();
    assert_eq!(place.resolve("loop.md").unwrap_err(), "document_link_loop");
}

#[cfg(unix)]
#[test]
fn several_names_of_one_file_are_refused_before_anything_is_spent() {
    let place = Place::new();
    let path = place.put("AGENTS.md", "# Rules\n");
    std::fs::hard_link(path, place.root.join("other.md")).unwrap();
    assert_eq!(place.resolve("AGENTS.md").unwrap_err(), "file_has_links");
}

#[test]
fn paths_are_absolute_plain_and_name_a_file() {
    let place = Place::new();
    std::fs::create_dir(place.root.join("docs")).unwrap();
    assert_eq!(place.resolve("docs").unwrap_err(), "file_not_regular");
    assert_eq!(
        place.resolve("docs/../a.md").unwrap_err(),
        "path_not_absolute"
    );
    assert_eq!(
        resolve(Path::new("a.md"), std::slice::from_ref(&place.root))
            .unwrap_err()
            .code,
        "path_not_absolute"
    );
    assert_eq!(
        place.resolve("").unwrap_err(),
        "target_outside_roots",
        "a root is not a document"
    );
    assert_eq!(
        resolve(&place.root.join("a.md"), &[]).unwrap_err().code,
        "target_outside_roots"
    );
}
