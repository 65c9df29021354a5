//! The same for the programs of agents.

use std::path::Path;

use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

use super::*;

const LIMIT: &str = "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)";

fn row(
    name: &'static str,
    mode: Mode,
    outcome: &'static str,
    tries: usize,
    counts: bool,
) -> Row<Mode> {
    Row {
        name,
        serves: mode,
        outcome,
        tries,
        counts,
    }
}

/// Every way in which a program fails, and what must come of it.
fn rows() -> Vec<Row<Mode>> {
    vec![
        row(
            "it answers, after reading its input to the end",
            Mode::reply("It is 4."),
            "answered",
            1,
            true,
        ),
        row(
            "it answers without reading its input",
            Mode::DeafToInput,
            "answered",
            1,
            true,
        ),
        row(
            "it answers with bytes that are no text",
            Mode::InvalidUtf8,
            "answered",
            1,
            true,
        ),
        row(
            "it answers and leaves a program behind that holds its pipes",
            Mode::LeaveGrandchild,
            "answered",
            1,
            true,
        ),
        row(
            "a usage limit, exit code 1",
            Mode::print(LIMIT, "", 1),
            "quota_exhausted",
            1,
            false,
        ),
        row(
            "a usage limit as a reply",
            Mode::reply(LIMIT),
            "quota_exhausted",
            1,
            false,
        ),
        row(
            "not signed in, exit code 0",
            Mode::print("Not logged in\n", "", 0),
            "sign_in_needed",
            1,
            false,
        ),
        row(
            "the sign-in has expired",
            Mode::fails(401, "The access token has expired."),
            "sign_in_needed",
            1,
            false,
        ),
        row(
            "nothing is left of what was paid for",
            Mode::fails(402, "Insufficient credits"),
            "quota_exhausted",
            1,
            false,
        ),
        row(
            "a rate limit that does not say how long",
            Mode::fails(429, "Too many requests"),
            "rate_limited",
            3,
            false,
        ),
        row(
            "a rate limit of 1 s",
            Mode::fails(429, "Rate limit reached. Please try again in 1s."),
            "rate_limited",
            3,
            false,
        ),
        row(
            "a rate limit of an hour",
            Mode::fails(429, "Rate limit reached. Please try again in 60 minutes."),
            "rate_limited",
            1,
            false,
        ),
        row(
            "a model that the account may not use",
            Mode::fails(403, "Your account does not have access to this model."),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "a model that there is not",
            Mode::fails(404, "The model does not exist."),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "the service wants a newer version of it",
            Mode::fails(400, "This model requires a newer version of the program."),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "the prompt is too long",
            Mode::fails(400, "Your input exceeds the context window of this model."),
            "context_overflow",
            1,
            false,
        ),
        row(
            "a content filter",
            Mode::fails(400, "The response was stopped by the content filter."),
            "reply_refused",
            1,
            true,
        ),
        row(
            "a refusal",
            Mode::fails(400, "This request goes against the usage policies."),
            "reply_refused",
            1,
            true,
        ),
        row(
            "the service does not take the request",
            Mode::fails(400, "Unknown parameter: metadata."),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "a busy service",
            Mode::fails(529, "Overloaded"),
            "model_unavailable",
            3,
            false,
        ),
        row(
            "a service that fails",
            Mode::fails(500, "Internal server error"),
            "model_unavailable",
            3,
            true,
        ),
        row(
            "an empty reply",
            Mode::reply(""),
            "reply_unreadable",
            1,
            true,
        ),
        row(
            "it hangs before its first word",
            Mode::HangSilent,
            "model_timed_out",
            3,
            true,
        ),
        row(
            "it hangs after its start",
            Mode::HangAfterStart,
            "model_timed_out",
            3,
            true,
        ),
        row(
            "it hangs after its first word, and so does a program that it has started",
            Mode::HangWithGrandchild,
            "model_timed_out",
            3,
            true,
        ),
        row(
            "it does not know an option",
            Mode::print("", "error: unknown option '--nothere'\n", 1),
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "it prints in another format",
            Mode::print("It is 4.", "", 0),
            "backend_misconfigured",
            1,
            false,
        ),
        row("it prints 200 MB", Mode::Flood, "reply_unreadable", 1, true),
        row(
            "it wants a terminal",
            Mode::NeedsTerminal,
            "backend_misconfigured",
            1,
            false,
        ),
        row(
            "it crashes",
            Mode::print("", "Segmentation fault\n", 139),
            "model_unavailable",
            3,
            false,
        ),
        row(
            "it ends after its first word",
            Mode::BreaksOff,
            "model_unavailable",
            3,
            true,
        ),
    ]
}

fn install(dialect: Dialect, mode: Mode) -> StubCli {
    StubCli::install(dialect, Path::new(env!("CARGO_BIN_EXE_stub-agent")), [mode])
}

fn title(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Claude => "Claude Code 2.1.332",
        Dialect::Codex => "Codex 0.171.0",
        Dialect::Copilot => "GitHub Copilot CLI 1.0.102",
        Dialect::Cursor => "Cursor CLI 2025.09.18-7ae6800",
        Dialect::OpenCode => "OpenCode 1.18.33",
        Dialect::Pi => "Pi 0.74.2",
    }
}

fn settings(dialect: Dialect, stub: &StubCli, hangs: bool) -> Settings {
    let path = stub.path().display().to_string();
    let (first_byte, whole) = if hangs { (1, 2) } else { (60, 60) };
    let mut settings = Settings {
        backend: dialect.backend().to_owned(),
        first_byte_seconds: first_byte,
        call_seconds: whole,
        ..Settings::default()
    };
    *match dialect {
        Dialect::Claude => &mut settings.claude_path,
        Dialect::Codex => &mut settings.codex_path,
        Dialect::Copilot => &mut settings.copilot_path,
        Dialect::Cursor => &mut settings.cursor_path,
        Dialect::OpenCode => &mut settings.opencode_path,
        Dialect::Pi => &mut settings.pi_path,
    } = path;
    settings
}

/// The sentence without what is each agent's own.
fn plain(text: &str, dialect: Dialect) -> String {
    let name = dialect.backend();
    let text = text
        .replace(title(dialect), "PROGRAM VERSION")
        .replace(&format!("models.{name}_path"), "models.AGENT_path")
        .replace('|', "\\|");
    match text.strip_prefix(name) {
        Some(rest) => format!("AGENT{rest}"),
        None => text,
    }
}

/// The page's part about agents, which is what happens.
pub(super) async fn table(page: &mut String) {
    page.push_str(
        "\n## Programs of agents\n\n\
         The same for `claude`, `codex`, `copilot`, `cursor`, `opencode` and `pi`. *Tries* is how often the program is \
         started for one question; a program that is given up is ended with everything it has started.\n\n\
         | Failure | Code | Tries | Counts | Later | What is told |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows() {
        // All are written before one starts: what is started holds files open that are being written.
        let installed = Dialect::ALL.map(|dialect| (dialect, install(dialect, row.serves.clone())));
        let mut asking = tokio::task::JoinSet::new();
        for (place, (dialect, stub)) in installed.into_iter().enumerate() {
            let hangs = row.outcome == "model_timed_out";
            asking.spawn(async move {
                let settings = settings(dialect, &stub, hangs);
                let seen = ask(&settings, || Some(stub.asked().len())).await;
                (place, dialect, seen)
            });
        }
        let mut all = asking.join_all().await;
        all.sort_by_key(|(place, ..)| *place);
        let mut said: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (_, dialect, seen) in &all {
            let at = format!("{}: {dialect:?}: {}", row.name, seen.told);
            assert_eq!(seen.outcome, row.outcome, "{at}");
            assert_eq!(seen.tries, row.tries, "{at}");
            seen.counted_as(&row, &at);
            let told = (plain(&seen.told, *dialect), plain(&seen.guidance, *dialect));
            let who = dialect.backend().to_owned();
            said.entry(told).or_default().push(who);
        }
        write_row(page, &row, &all[0].2, said);
    }
}

/// A whole night with each failure: nothing is scored, no session is used up, and what is counted is
/// what was started.
#[test]
fn no_failure_of_a_program_scores_anything_or_uses_up_a_session() {
    let failing = rows().into_iter().filter(|row| row.outcome != "answered");
    let mut codes = std::collections::BTreeSet::new();
    let mut nights = Vec::new();
    for (place, row) in failing.enumerate() {
        // Every failure with one agent or another, and one failure of each code with every agent.
        let agents = if codes.insert(row.outcome) {
            Dialect::ALL.to_vec()
        } else {
            vec![Dialect::ALL[place % Dialect::ALL.len()]]
        };
        let row = Arc::new(row);
        nights.extend(agents.into_iter().map(|agent| (Arc::clone(&row), agent)));
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    // Most of the time is spent waiting between tries.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((row, agent)) = nights.get(place) else {
                        break;
                    };
                    a_night(row, *agent);
                }
            });
        }
    });
}

fn a_night(row: &Row<Mode>, dialect: Dialect) {
    let name = format!("{}: {dialect:?}", row.name);
    let home = Home::with_sample(PROGRAM);
    let stub = install(dialect, row.serves.clone());
    let backend = dialect.backend();
    let words = [
        format!("--backend={backend}"),
        format!("--{backend}-path={}", stub.path().display()),
        format!("--accept-terms={backend}"),
    ];
    let mut command = vec![
        "sleep",
        "run",
        "--model-miner=false",
        "--concurrency=1",
        "--input-price=1",
        "--output-price=1",
        "--json",
    ];
    if row.outcome == "model_timed_out" {
        command.extend(["--first-byte-seconds=2", "--call-seconds=3"]);
    }
    command.extend(words.iter().map(String::as_str));
    let ran = home.run(&command);
    let json = ran.json();
    let outcome = json["outcome"].as_str().unwrap();
    assert!(["deferred", "failed"].contains(&outcome), "{name}: {json}");
    let code = if outcome == "deferred" { 75 } else { 1 };
    assert_eq!(ran.code, code, "{name}: {json}");
    for field in ["code", "message", "guidance"] {
        let said = json["problem"][field].as_str().unwrap_or_default();
        assert!(!said.is_empty(), "{name}: {field}: {json}");
    }
    let calls = stub.asked().len() as u64;
    assert!(calls > 0, "{name}: {json}");
    // What concerns the program or its service ends the night, told as what it is; what may pass by itself
    // does so only after four questions in a row.
    let most = match row.outcome {
        "quota_exhausted" | "sign_in_needed" | "backend_misconfigured" => Some(1),
        "model_unavailable" | "model_timed_out" => Some(4 * row.tries as u64),
        _ => None,
    };
    if let Some(most) = most {
        assert!(calls <= most, "{name}: {calls} starts");
        assert_eq!(json["problem"]["code"], row.outcome, "{name}: {json}");
    }
    let spent = home.run(&["spend", "--json"]).json()["total"].clone();
    assert_eq!(spent["calls"].as_u64(), Some(calls), "{name}: {spent}");
    let cost = spent["cost_micros"].as_u64();
    assert_eq!(cost > Some(0), row.counts, "{name}: {spent}");
    nothing_happened(&home, &name);
}
