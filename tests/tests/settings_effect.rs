//! Every setting changes something: a harvest, a plan, a prompt, a decision or a file.
//!
//! Each row of the table is run three times: twice as it is, which must give the same view, and once
//! with the setting changed, which must give another. A view never holds the setting's own value
//! merely because it is echoed.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skillopt_app::context::App;
use skillopt_app::supervisor::{ATTENTION_AFTER, ProjectState, SupervisorState};
use skillopt_settings::{ROWS, row};
use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

#[path = "settings_effect/schedule_looks.rs"]
mod schedule_looks;
#[path = "settings_effect/server_looks.rs"]
mod server_looks;

use schedule_looks::{kept_awake, missed, upcoming, waits};
use server_looks::{
    across_midnight, after_ten_minutes, almost_used_up, asked, graded, identity, long_memory,
    side_by_side, slow_once, spoiled, with_a_tool,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// What a run is looked at for: the words hold the setting, if it is changed.
type Look = fn(&Home, &[&str]) -> String;

/// How one setting is seen to matter.
struct Effect {
    key: &'static str,
    /// A value that is not the default.
    other: &'static str,
    /// Flags of both runs.
    with: &'static [&'static str],
    look: Look,
}

const fn effect(key: &'static str, other: &'static str, look: Look) -> Effect {
    Effect {
        key,
        other,
        with: &[],
        look,
    }
}

impl Effect {
    const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }
}

const EVERYTHING: &[&str] = &["--scope=all", "--all-time"];
const ASKED: &[&str] = &["--model-miner=false"];
/// One edit, and so much held out that it matters to some of it, however the folder's name splits.
const ONE_EDIT: &[&str] = &["--edit-budget=1", "--validation-fraction=0.6"];
const QWEN: &[&str] = &["--model-miner=false", "--backend=qwen"];
const AZURE: &[&str] = &[
    "--backend=azure_openai",
    "--endpoint=https://me.openai.azure.com",
    "--model=gpt",
];

static EFFECTS: &[Effect] = &[
    effect("reads.source", "codex", tasks),
    effect("reads.claude_home", "/nowhere/at/all", tasks),
    effect("reads.codex_home", "FIXTURES/codex", sessions).with(&[
        "--source=codex",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.copilot_home", "FIXTURES/copilot", sessions).with(&[
        "--source=copilot",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.vscode_home", "FIXTURES/vscode", sessions).with(&[
        "--source=vscode",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.cursor_home", "FIXTURES/cursor", sessions).with(&[
        "--source=cursor",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.pi_home", "FIXTURES/pi", sessions).with(&[
        "--source=pi",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.opencode_home", "FIXTURES/opencode", sessions).with(&[
        "--source=opencode",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.openclaw_home", "FIXTURES/openclaw", sessions).with(&[
        "--source=openclaw",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.devin_home", "FIXTURES/devin", sessions).with(&[
        "--source=devin",
        "--scope=all",
        "--all-time",
    ]),
    effect("reads.scope", "all", sessions).with(&["--all-time", "--claude-home=FIXTURES/claude"]),
    effect("reads.lookback_hours", "1", tasks),
    effect("reads.max_sessions_per_night", "4", night),
    effect("reads.exclude", "**/.claude/**", tasks),
    effect("reads.agent_markers", "search page", tasks),
    // The thanks of each session become a complaint.
    effect("reads.negative_words", "perfect", tasks).with(EVERYTHING),
    effect("reads.positive_words", "maintenance", sessions).with(EVERYTHING),
    effect("mines.model_miner", "false", asked),
    effect("mines.max_tasks_per_night", "3", night),
    effect("mines.min_recurrence", "50", night),
    effect("mines.target_task_filter", "false", night)
        .with(&["--target-skill-path=.claude/skills/search/SKILL.md"]),
    effect("splits.validation_fraction", "0.8", night),
    effect("splits.test_fraction", "0.3", night),
    effect("splits.seed", "7", night),
    effect("replays.rollouts", "2", night),
    effect("replays.dream_factor", "1", night),
    effect("replays.recall", "3", second_nights),
    effect("replays.tools", "true", with_a_tool),
    effect("models.backend", "handoff", night),
    effect("models.model", "another", asked).with(ASKED),
    effect("models.target_backend", "mock", asked).with(ASKED),
    effect("models.target_model", "another", asked).with(ASKED),
    effect("models.optimizer_backend", "mock", asked).with(ASKED),
    effect("models.optimizer_model", "another", asked).with(ASKED),
    effect("models.judge_backend", "mock", graded),
    effect("models.judge_model", "another", graded),
    effect("models.judge_of_another_family", "false", judges),
    effect("models.endpoint", "http://127.0.0.1:9/v1", night)
        .with(&["--backend=openai_compatible", "--model=stub"]),
    effect("models.target_endpoint", "http://127.0.0.1:9/v1", asked).with(ASKED),
    effect("models.optimizer_endpoint", "http://127.0.0.1:9/v1", asked).with(ASKED),
    effect("models.judge_endpoint", "http://127.0.0.1:9/v1", graded),
    effect("models.api_key_env", "A_KEY", asked).with(ASKED),
    effect("models.target_api_key_env", "A_KEY", asked).with(ASKED),
    effect("models.optimizer_api_key_env", "A_KEY", asked).with(ASKED),
    effect("models.judge_api_key_env", "A_KEY", graded),
    effect("models.api", "responses", asked).with(ASKED),
    effect("models.target_api", "responses", asked).with(ASKED),
    effect("models.optimizer_api", "responses", asked).with(ASKED),
    effect("models.judge_api", "responses", graded),
    effect("models.reasoning_effort", "high", asked).with(ASKED),
    effect("models.target_reasoning_effort", "high", asked).with(ASKED),
    effect("models.optimizer_reasoning_effort", "high", asked).with(ASKED),
    effect("models.judge_reasoning_effort", "high", graded),
    effect("models.thinking", "disabled", asked).with(QWEN),
    effect("models.target_thinking", "disabled", asked).with(QWEN),
    effect("models.optimizer_thinking", "disabled", asked).with(QWEN),
    effect("models.judge_thinking", "disabled", graded).with(&["--backend=qwen"]),
    effect("models.enable_thinking", "true", asked).with(QWEN),
    effect("models.region", "cn_zh", backends).with(&["--backend=minimax", "--api-key-env=A_KEY"]),
    effect("models.azure_auth", "key", backends).with(AZURE),
    effect("models.azure_api_version", "2024-12-01-preview", backends).with(AZURE),
    effect("models.azure_client_id", "another", identity).with(AZURE),
    effect("models.local_ports", "10", local_servers).with(&["--local-port=9"]),
    effect("models.terms_accepted", "minimax:api.minimax.io", backends).with(&[
        "--backend=minimax",
        "--api-key-env=A_KEY",
        "--model=m",
    ]),
    effect("models.claude_path", "/nowhere/claude", night).with(&["--backend=claude"]),
    effect("models.codex_path", "/nowhere/codex", night).with(&["--backend=codex"]),
    effect("models.copilot_path", "/nowhere/copilot", night).with(&["--backend=copilot"]),
    effect("models.cursor_path", "/nowhere/cursor", night).with(&["--backend=cursor"]),
    effect("models.opencode_path", "/nowhere/opencode", night).with(&["--backend=opencode"]),
    effect("models.pi_path", "/nowhere/pi", night).with(&["--backend=pi"]),
    effect("models.concurrency", "4", side_by_side).with(ASKED),
    effect("models.first_byte_seconds", "1", slow_once).with(ASKED),
    effect("models.call_seconds", "1", slow_once).with(ASKED),
    effect("models.context_tokens", "100", long_memory),
    effect("models.optimizer_context_tokens", "100", long_memory),
    effect("models.judge_context_tokens", "100", graded),
    effect("models.reply_tokens", "77", asked).with(ASKED),
    effect("models.target_reply_tokens", "77", asked).with(ASKED),
    effect("models.optimizer_reply_tokens", "77", asked).with(ASKED),
    effect("models.judge_reply_tokens", "77", graded),
    effect("models.temperature", "0.3", asked).with(ASKED),
    effect("models.target_temperature", "0.3", asked).with(ASKED),
    effect("models.optimizer_temperature", "0.3", asked).with(ASKED),
    effect("models.judge_temperature", "0.3", graded),
    effect("models.prompts", "HOME/prompts.json", asked).with(ASKED),
    effect("models.cassette", "/nowhere/c.json", night).with(&["--backend=cassette"]),
    effect("models.handoff_dir", "questions", night).with(&["--backend=handoff"]),
    effect("changes.skill", "false", night),
    effect("changes.memory", "false", night),
    effect("changes.managed_skill_name", "another-name", night),
    effect(
        "changes.target_skill_path",
        ".claude/skills/search/SKILL.md",
        night,
    ),
    effect("changes.skill_roots", "HOME/elsewhere", night)
        .with(&["--target-skill-path=HOME/elsewhere/search/SKILL.md"]),
    effect("changes.edit_budget", "1", night),
    effect("changes.preferences", "Keep it short.", asked).with(ASKED),
    effect("changes.auto_adopt", "true", asked).with(ASKED),
    effect("changes.staging", "project", night),
    effect("gate.mode", "off", spoiled),
    effect("gate.metric", "hard", night).with(ONE_EDIT),
    effect("gate.mixed_weight", "0.1", night).with(ONE_EDIT),
    effect("gate.no_regression", "true", spoiled),
    effect("gate.min_validation_tasks", "100", night),
    effect("spends.max_calls_per_night", "2", asked).with(ASKED),
    effect("spends.max_minutes_per_night", "5", after_ten_minutes).with(ASKED),
    effect("spends.max_tokens_per_night", "1000", asked).with(ASKED),
    effect("spends.max_cost_per_night", "0.000001", asked).with(&[
        "--model-miner=false",
        "--input-price=5",
        "--output-price=5",
    ]),
    effect("spends.reserve_percent", "50", almost_used_up).with(ASKED),
    effect("spends.input_price", "3", asked).with(ASKED),
    effect("spends.output_price", "3", asked).with(ASKED),
    effect("privacy.evidence_days", "0", kept_bodies),
    effect("privacy.false_alarms", "SECRET", sessions).with(&[
        "--scope=all",
        "--all-time",
        "--claude-home=FIXTURES/claude",
    ]),
    effect("schedule.hour", "5", cron),
    effect("schedule.minute", "5", cron),
    effect("schedule.nightly", "false", upcoming),
    effect("schedule.days", "tue", upcoming),
    effect("schedule.cron", "5 4 * * *", upcoming),
    effect("schedule.time_zone", "Asia/Tokyo", upcoming).with(&["--hour=12"]),
    effect("schedule.random_delay_minutes", "700", upcoming),
    effect("schedule.finish_by", "00:00", across_midnight).with(ASKED),
    effect("schedule.catch_up_hours", "1", missed),
    effect("schedule.battery_at_least", "90", waits),
    effect("schedule.unmetered_only", "false", waits),
    effect("schedule.idle_minutes", "5", waits),
    effect("schedule.quiet_hours", "00:01-00:00", waits),
    effect("schedule.min_new_sessions", "1000", waits),
    effect("schedule.keep_awake", "false", kept_awake),
    effect("desktop.notifications", "decisions", notices),
    effect("desktop.silent_hours", "00:01-00:00", notices),
];

/// Settings that only the app's own drawing looks at: where a test shows their effect, and its name.
static SEEN_IN_THE_APP: &[(&str, &str, &str)] = &[
    (
        "desktop.language",
        "ui/browser/settings.mjs",
        "speaksTheLanguageOfTheSetting",
    ),
    (
        "desktop.theme",
        "ui/browser/settings.mjs",
        "showsTheColoursOfTheSetting",
    ),
    (
        "desktop.tray_icon",
        "src-tauri/tests/tray/panel.rs",
        "the_icon_is_drawn_for_the_panel_of_the_desktop_or_of_the_setting",
    ),
];

/// Runs the look in a fresh state of `home`, with the setting changed or not.
fn view(home: &Home, effect: &Effect, flag: Option<&str>) -> String {
    make_new(home);
    let words: Vec<String> = effect
        .with
        .iter()
        .copied()
        .chain(flag)
        .map(|word| {
            word.replace("HOME", &home.home().to_string_lossy())
                .replace("FIXTURES", &fixtures())
                .replace("SECRET", &secret())
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (effect.look)(home, &words)
}

/// A home in which no night has been.
fn make_new(home: &Home) {
    for used in ["skillopt-data", ".claude/skills", ".skillopt-sleep"] {
        let _ = std::fs::remove_dir_all(home.home().join(used));
    }
    let _ = std::fs::remove_dir_all(home.project());
    for skill in [".claude/skills/search", "elsewhere/search"] {
        let folder = home.home().join(skill);
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = "---\nname: search\ndescription: How we announce the search page.\n---\n\n# Search page\n";
        std::fs::write(folder.join("SKILL.md"), text).expect("a skill");
    }
    std::fs::create_dir_all(home.project()).expect("a folder");
    std::fs::write(home.project().join("CLAUDE.md"), "# Letters\n").expect("a memory file");
    let prompts = json!({"attempt": "Mind __SKILL__ and __MEMORY__ and do this: __INTENT__"});
    std::fs::write(home.home().join("prompts.json"), prompts.to_string()).expect("prompts");
}

fn fixtures() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/transcripts")
        .to_string_lossy()
        .into_owned()
}

/// A made-up key that somebody pasted into a session of the fixtures.
fn secret() -> String {
    let file =
        "claude/projects/-home-dana-work-web-app-ui-2/f1c988ac-edba-4cd5-b5ee-d83605902ce7.jsonl";
    let text = std::fs::read_to_string(Path::new(&fixtures()).join(file)).expect("a session");
    let (_, rest) = text.split_once("sk-proj-").expect("a key");
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
        .expect("the end of the key");
    format!("sk-proj-{}", &rest[..end])
}

fn run(home: &Home, command: &[&str], words: &[&str]) -> Ran {
    home.run_with(&[command, words].concat(), &[("A_KEY", "the-made-up-key")])
}

/// The sessions that are read, word by word.
fn sessions(home: &Home, words: &[&str]) -> String {
    run(home, &["sleep", "harvest", "--digests"], words).out
}

/// The tasks that are found in them.
fn tasks(home: &Home, words: &[&str]) -> String {
    let found = run(home, &["sleep", "harvest", "--json"], words).json();
    format!("{} {}", found["n_sessions"], found["tasks"])
}

/// A night with the simulated model.
fn night(home: &Home, words: &[&str]) -> String {
    let ran = run(home, &["sleep", "run", "--json"], words);
    decisions(home, &ran)
}

/// A second night after one that was limited to a few tasks.
fn second_night(home: &Home, words: &[&str]) -> String {
    let first = run(home, &["sleep", "run", "--json"], &["--max-tasks=4"]);
    assert_eq!(first.code, 0, "{}", first.out);
    night(home, words)
}

/// A few such pairs of nights, each with another draw: what may be recalled hangs on what is held out,
/// that on the tasks' ids, and those on the folder the test was given.
fn second_nights(home: &Home, words: &[&str]) -> String {
    ["1", "2", "3", "4"]
        .map(|seed| {
            make_new(home);
            let seed = format!("--seed={seed}");
            let first = run(home, &["sleep", "run", "--json"], &["--max-tasks=4", &seed]);
            assert_eq!(first.code, 0, "{}", first.out);
            night(home, &[words, &[&seed]].concat())
        })
        .concat()
}

/// What a night decided, did and spent, and the files it left.
fn decisions(home: &Home, ran: &Ran) -> String {
    let report = ran.json();
    let mut seen = format!("exit {}\n", ran.code);
    for field in [
        "outcome",
        "reason",
        "problem",
        "n_tasks",
        "n_sessions",
        "edits",
        "gate_trials",
        "targets",
        "adopted",
        "spend",
        "target_backend",
        "optimizer_backend",
    ] {
        let _ = writeln!(seen, "{field}: {}", report[field]);
    }
    for file in files(&home.home()) {
        let _ = writeln!(seen, "{file}");
    }
    // Names of proposals are instants.
    let proposal = report["proposal"].as_str().unwrap_or("no proposal");
    seen.replace(proposal, "PROPOSAL")
}

/// Every file below a folder except our own database, with the text of the documents.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with("SKILL.md") || name.ends_with("CLAUDE.md") {
                let text = std::fs::read_to_string(&path).expect("a document");
                found.insert(format!("{name}: {text}"));
            } else if !name.contains("skillopt-data") || name.contains("staging") {
                found.insert(name);
            }
        }
    }
    found
}

/// Who would judge what a model far away writes, where a program of another family is signed in.
fn judges(home: &Home, words: &[&str]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_stub-agent"));
    let codex = StubCli::install(Dialect::Codex, program, [Mode::Honest]);
    let path = format!("--codex-path={}", codex.path().display());
    let command = [
        "backend",
        "list",
        "--json",
        "--backend=openai_compatible",
        "--endpoint=https://models.example.org/v1",
        "--model=claude-opus-5-5",
        "--accept-terms=codex",
        &path,
    ];
    let list = run(home, &command, words).json();
    let rows = list.as_array().expect("rows").iter();
    rows.map(|row| format!("{}: {}\n", row["name"], row["sides"]))
        .collect()
}

/// How many bodies of prompts and replies of a first night a second one leaves.
fn kept_bodies(home: &Home, words: &[&str]) -> String {
    second_night(home, words);
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).expect("a database");
    let kept: i64 = database
        .query_row(
            "SELECT count(*) FROM blob WHERE keep = 'evidence' AND body IS NOT NULL",
            [],
            |row| row.get(0),
        )
        .expect("a count");
    kept.to_string()
}

/// What each backend would be, without asking it.
fn backends(home: &Home, words: &[&str]) -> String {
    run(home, &["backend", "list", "--json"], words).out
}

/// What `doctor` says about model servers on this computer.
fn local_servers(home: &Home, words: &[&str]) -> String {
    let found = run(home, &["doctor", "--json"], words).json();
    let findings = found["findings"].as_array().expect("findings").clone();
    let one = findings
        .into_iter()
        .find(|finding| finding["subject"] == "local model servers");
    one.expect("a finding")["message"].to_string()
}

/// What the app tells by itself about a project whose nights keep failing.
fn notices(home: &Home, words: &[&str]) -> String {
    let environment = [
        ("HOME", home.home()),
        ("SKILLOPT_DATA_DIR", home.data()),
        ("SKILLOPT_CONFIG_DIR", home.home().join("skillopt-config")),
    ]
    .map(|(name, folder)| (name.to_owned(), folder.to_string_lossy().into_owned()));
    let clock = Arc::new(skillopt_store::SystemClock);
    let mut app = App::open(environment.into(), home.project(), clock).expect("the store opens");
    app.flags = words
        .iter()
        .map(|word| {
            let (flag, value) = word
                .trim_start_matches("--")
                .split_once('=')
                .expect("a flag");
            (flag.to_owned(), value.to_owned())
        })
        .collect();
    let failing = ProjectState {
        missed: None,
        id: "p".into(),
        name: "letters".into(),
        root: "/letters".into(),
        nightly: true,
        next: None,
        due: false,
        catching_up: false,
        requested: false,
        waits: Vec::new(),
        unknown: Vec::new(),
        running: None,
        last: None,
        pending: 0,
        stale: 0,
        cron: None,
        failures: ATTENTION_AFTER,
        problem: None,
    };
    let state = SupervisorState {
        projects: vec![failing],
        ..SupervisorState::nothing_yet()
    };
    let now = jiff::civil::date(2026, 12, 1).at(12, 0, 0, 0);
    let unwritten = skillopt_app::notices::Told::default();
    let told = skillopt_app::notices::to_be_told(&app, &state, &[], false, &unwritten, now);
    format!("{told:?}")
}

fn cron(home: &Home, words: &[&str]) -> String {
    let plan = run(home, &["sleep", "schedule", "--plan", "--json"], words).json();
    plan["line"].to_string()
}

fn group(name: &str) {
    let home = Home::with_sample(PROGRAM);
    let mut usual: BTreeMap<(usize, &[&str]), String> = BTreeMap::new();
    for effect in EFFECTS {
        let row = row(effect.key).expect("a setting");
        if row.group() != name {
            continue;
        }
        let plain = usual
            .entry((effect.look as usize, effect.with))
            .or_insert_with(|| {
                let once = view(&home, effect, None);
                let again = view(&home, effect, None);
                let apart = once
                    .lines()
                    .zip(again.lines())
                    .find(|(one, other)| one != other);
                assert!(once == again, "{} varies by itself: {apart:?}", effect.key);
                once
            });
        let flag = format!("--{}={}", row.flag, effect.other);
        let changed = view(&home, effect, Some(&flag));
        assert!(
            *plain != changed,
            "{} = {} changes nothing:\n{changed}",
            row.key,
            effect.other
        );
    }
}

macro_rules! groups {
    ($($group:ident)+) => {
        const TESTED: &[&str] = &[$(stringify!($group)),+];
        $(
            #[test]
            fn $group() {
                group(stringify!($group));
            }
        )+
    };
}

groups! { reads mines splits replays models changes gate spends privacy schedule desktop }

#[test]
fn no_setting_is_left_out() {
    let seen = SEEN_IN_THE_APP.iter().map(|(key, _, _)| *key);
    let keys: Vec<&str> = EFFECTS
        .iter()
        .map(|effect| effect.key)
        .chain(seen)
        .collect();
    let rows: Vec<&str> = ROWS.iter().map(|row| row.key).collect();
    assert_eq!(keys, rows);
    for row in ROWS {
        assert!(TESTED.contains(&row.group()), "{}", row.group());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (key, file, test) in SEEN_IN_THE_APP {
        let text = std::fs::read_to_string(root.join(file)).expect("the file of a test");
        assert!(text.contains(test), "{key}: {file} has no {test}");
    }
}
