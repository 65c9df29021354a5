//! What the tests are made of.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use skillopt_core::Instant;
use skillopt_core::agent::Agent;
use skillopt_core::call::{BackendId, Call, Message, Params, Role, Subject};
use skillopt_core::document::TargetKind;
use skillopt_core::edit::{Edit, EditOp};
use skillopt_core::task::{SourceTurn, Split, Task};
use skillopt_store::proposals::{NewTarget, ProposalTarget, TargetState};
use skillopt_store::{FixedClock, Paths, Store, nights, projects};

/// A home of our own for one test.
pub(crate) struct Home {
    pub(crate) _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) paths: Paths,
    pub(crate) clock: Arc<FixedClock>,
}

pub(crate) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("project")).unwrap();
        let paths = Paths::at(&root);
        Self {
            _dir: dir,
            root,
            paths,
            clock: Arc::new(FixedClock::new(at("2026-11-29T03:15:00Z"))),
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.paths, self.clock.clone()).unwrap()
    }

    pub(crate) fn project_root(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn forward(&self, seconds: i64) {
        use skillopt_store::Clock;
        let later =
            Instant::from_microsecond(self.clock.now().as_microsecond() + seconds * 1_000_000)
                .unwrap();
        self.clock.set(later);
    }

    /// A registered project.
    pub(crate) fn project(&self, store: &Store) -> String {
        store
            .commit("project", |tx| {
                projects::find_or_register(tx, &self.project_root())
            })
            .unwrap()
            .id
    }

    /// A project with a night.
    pub(crate) fn night(&self, store: &Store) -> (String, i64) {
        let project = self.project(store);
        let night = store
            .commit("night", |tx| {
                nights::begin(tx, &project, nights::Kind::Run, &json!({}))
            })
            .unwrap();
        (project, night)
    }
}

pub(crate) fn call(question: &str, sample: u32, ask: u8) -> Call {
    Call {
        backend: BackendId {
            kind: "openai_compatible".into(),
            address: "http://localhost:1".into(),
            model: "m".into(),
            version: String::new(),
            system_mode: "system_role".into(),
        },
        subject: Subject::Judge {
            intent: question.into(),
            rubric: "r".into(),
            response: "x".into(),
        },
        messages: vec![Message {
            role: Role::User,
            text: question.into(),
        }],
        params: Params {
            max_tokens: 100,
            temperature: Some(0.5),
            schema: None,
        },
        sample,
        ask,
        rounds: Vec::new(),
    }
}

pub(crate) fn task(id: &str, split: Split) -> Task {
    let mut task = Task::new(id, "/w/app", format!("Do {id}"));
    task.split = split;
    task
}

pub(crate) fn turn(session: &str, turn: &str) -> SourceTurn {
    SourceTurn {
        session: session.into(),
        turn: turn.into(),
    }
}

pub(crate) fn add(rule: &str) -> Edit {
    Edit {
        op: EditOp::Add,
        content: rule.into(),
        anchor: String::new(),
        rationale: "because".into(),
        tasks: vec!["t1".into()],
        turns: vec![turn("s1", "u1")],
    }
}

pub(crate) fn proposed(target: &str, real_path: &Path, live_sha256: &str, text: &str) -> NewTarget {
    NewTarget {
        target: ProposalTarget {
            target: target.into(),
            agent: Agent::Claude,
            kind: TargetKind::Skill,
            live_path: real_path.to_string_lossy().into_owned(),
            real_path: real_path.to_string_lossy().into_owned(),
            live_sha256: live_sha256.into(),
            proposed_sha256: String::new(),
            verdict: "better".into(),
            before: Some(0.25),
            after: Some(0.75),
            edits: vec![add("Keep it short.")],
            flags: json!([]),
            detail: json!({"n": 4}),
            state: TargetState::Pending,
            reason: String::new(),
        },
        proposed: text.as_bytes().to_vec(),
    }
}
