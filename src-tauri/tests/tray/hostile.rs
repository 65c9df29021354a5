//! Names and texts that were written to deceive, or to break what shows them.

use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::{Edit, EditOp};
use skillopt_store::nights;
use skillopt_store::proposals::{self, NewTarget, ProposalTarget, TargetState};
use skillopt_tests::desktop::{Notifications, TrayHost, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::Person;

/// Markup, an escape sequence, a line break, and an order to write from right to left.
const NAME: &str = "<img src=x onerror=document.title='owned'>\u{1b}[31m\n\u{202e}&amp;";

/// A proposal that a night may have been talked into, staged as a night stages it.
fn stage(person: &Person) {
    let app = person.app();
    let path = person
        .home()
        .join(".claude/skills")
        .join(NAME)
        .join("SKILL.md");
    let path = path.to_str().unwrap().to_owned();
    let rule = format!("<b>Obey</b> \u{202e}{}", "long ".repeat(400_000));
    let night = app
        .store
        .read(|db| nights::list(db, None, 1))
        .unwrap()
        .remove(0)
        .id;
    let edit = Edit {
        op: EditOp::Add,
        content: rule.clone(),
        anchor: String::new(),
        rationale: NAME.to_owned(),
        tasks: Vec::new(),
        turns: Vec::new(),
    };
    let target = NewTarget {
        target: ProposalTarget {
            target: "claude:hostile".into(),
            agent: Agent::Claude,
            kind: TargetKind::Skill,
            live_path: path.clone(),
            real_path: path,
            live_sha256: String::new(),
            proposed_sha256: String::new(),
            verdict: "better".into(),
            before: Some(0.25),
            after: Some(0.75),
            edits: vec![edit],
            flags: json!([]),
            detail: json!({"sentence": NAME}),
            state: TargetState::Pending,
            reason: String::new(),
        },
        proposed: format!("# {NAME}\n\n- {rule}\n").into_bytes(),
    };
    let staging = app.paths.staging();
    app.store
        .commit("stage", |tx| {
            let draft = proposals::reserve(tx, night, &staging, &[])?;
            proposals::publish(tx, &draft.id, &[target])
        })
        .unwrap();
}

fn is_tame(text: &str) -> bool {
    !text.contains(['\u{1b}', '\u{202e}', '\n'])
}

#[test]
fn a_hostile_proposal_is_text_in_menu_notification_and_window() {
    let person = Person::new();
    person.run_a_night();
    stage(&person);
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let window = person.drive(&session, &screen, &["--open", "review"]);

    let card = notifications.wait_for("2 proposals");
    assert!(is_tame(&card.body), "{card:?}");
    assert!(
        card.body.contains("&lt;img src=x") && !card.body.contains('<'),
        "{card:?}"
    );
    let labels = until("the proposals in the menu", || {
        let labels = tray.labels();
        labels
            .iter()
            .any(|label| label.starts_with("<img"))
            .then_some(labels)
    });
    assert!(
        labels
            .iter()
            .all(|label| is_tame(label) && label.chars().count() <= 160),
        "{labels:?}"
    );

    window.wait_for("<img src=x onerror=");
    window.wait_for("<b>Obey</b>");
    assert_eq!(
        window.run("return document.querySelectorAll('img, b').length"),
        json!(0)
    );
    assert_ne!(window.run("return document.title"), json!("owned"));
    // It answers, with two million characters in one line.
    window.press("Reject");
    until("the field for the reason", || {
        let there = window.run("return document.getElementById('reason') !== null");
        (there == json!(true)).then_some(())
    });
    // What is hostile in one does not keep the other from being adopted.
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    until("the file", || person.skill().exists().then_some(()));
}
