//! What the app costs while nobody looks, and what a window leaves behind: memory, wake-ups, processor
//! time. Prints rows for docs/performance.md; asserts nothing about time.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement for a terminal"
)]

fn main() {
    #[cfg(target_os = "linux")]
    linux::measure();
    #[cfg(not(target_os = "linux"))]
    println!("memory and wake-ups are read from /proc, which this system does not have");
}

#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/tray/person.rs"]
mod person;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs;
    use std::time::{Duration, Instant};

    use skillopt_tests::desktop::{TrayHost, until};
    use skillopt_tests::processes;
    use skillopt_tests::session::{Screen, Session};

    use super::person::{PROJECT, Person};

    /// How long is watched.
    const WATCHED: Duration = Duration::from_secs(60);
    const WINDOWS: usize = 10;

    pub(super) fn measure() {
        let person = Person::new();
        person.run_a_night();
        let session = Session::start(&person.home());
        let screen = Screen::start();
        let tray = TrayHost::serve(session.address());
        let variables = [("DISPLAY", screen.display()), ("NO_AT_BRIDGE", "1")];
        let mut app = person.start_with(&session, &["--quiet"], &variables);
        let id = app.0.id();
        let start = Instant::now();
        let _ = tray.title();
        println!(
            "| tray icon after the start | {} ms |",
            start.elapsed().as_millis()
        );
        std::thread::sleep(Duration::from_secs(5));
        let (switches, ticks) = (wakeups(id), ticks(id));
        std::thread::sleep(WATCHED);
        let seconds = WATCHED.as_secs_f64();
        // Threads that ended meanwhile take their number with them.
        let woken: u64 = wakeups(id)
            .iter()
            .map(|(thread, now)| now - switches.get(thread).unwrap_or(&0))
            .sum();
        let woken = woken as f64 / seconds;
        println!("| wake-ups a second over a minute, idle | {woken:.1} |");
        println!(
            "| processor time over that minute | {} ms |",
            (self::ticks(id) - ticks) * 10
        );
        let before = memory(id);
        show("idle, before any window", &before);
        let mut on_screen = Vec::new();
        let mut shown = Vec::new();
        for round in 0..WINDOWS {
            tray.click(&["skillopt-sleep-learned", "Review"]);
            let clicked = Instant::now();
            screen.wait_for_window("SkillOpt");
            on_screen.push(clicked.elapsed());
            // The page names the project when the proposal is drawn, with what decides it.
            screen.wait_for_window(&format!("Review of {PROJECT}"));
            shown.push(clicked.elapsed());
            if round == 0 {
                std::thread::sleep(Duration::from_secs(2));
                show("with a window", &memory(id));
            }
            screen.close_window("SkillOpt");
            until("the end of the windows", || {
                (memory(id).len() == 1).then_some(())
            });
        }
        println!(
            "| window on the screen after the click on Review | {} |",
            range(&on_screen)
        );
        println!(
            "| the proposal in it after that click | {} |",
            range(&shown)
        );
        let after = memory(id);
        show(
            &format!("after {WINDOWS} windows were opened and closed"),
            &after,
        );
        app.end();
    }

    /// The least, the middle and the most of some times, in milliseconds.
    fn range(times: &[Duration]) -> String {
        let mut times: Vec<u128> = times.iter().map(Duration::as_millis).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        format!(
            "{} to {} ms, {middle} in the middle ({} times)",
            times[0],
            times[times.len() - 1],
            times.len()
        )
    }

    /// Pss and anonymous Pss in KiB by the name of the process, of a process and everything below it.
    fn memory(root: u32) -> BTreeMap<String, (u64, u64)> {
        let mut found = BTreeMap::new();
        for id in std::iter::once(root).chain(processes::below(root)) {
            let Some(name) = processes::name(id) else {
                continue;
            };
            let Ok(rollup) = fs::read_to_string(format!("/proc/{id}/smaps_rollup")) else {
                continue;
            };
            let field = |wanted: &str| {
                rollup
                    .lines()
                    .find_map(|line| {
                        line.strip_prefix(wanted)?
                            .split_whitespace()
                            .next()?
                            .parse()
                            .ok()
                    })
                    .unwrap_or(0)
            };
            found.insert(format!("{name} {id}"), (field("Pss:"), field("Pss_Anon:")));
        }
        found
    }

    /// Hundredths of a second of processor time.
    fn ticks(id: u32) -> u64 {
        let fields = processes::fields(id).unwrap();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// How often each of its threads went to sleep by itself, and so was woken.
    fn wakeups(id: u32) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for thread in fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten() {
            let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            let switches = status.lines().find_map(|line| {
                line.strip_prefix("voluntary_ctxt_switches:")?
                    .trim()
                    .parse()
                    .ok()
            });
            if let Some(switches) = switches {
                found.insert(thread.file_name().to_string_lossy().into_owned(), switches);
            }
        }
        found
    }

    fn show(when: &str, memory: &BTreeMap<String, (u64, u64)>) {
        let (pss, anonymous) = memory
            .values()
            .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        let names: Vec<&str> = memory
            .keys()
            .map(|name| {
                name.rsplit_once(' ')
                    .map_or(name.as_str(), |(name, _)| name)
            })
            .collect();
        println!(
            "| {when} | {:.1} MiB, {:.1} MiB of it anonymous ({}) |",
            pss as f64 / 1024.0,
            anonymous as f64 / 1024.0,
            names.join(", ")
        );
    }
}
