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
mod linux {
    use std::collections::BTreeMap;
    use std::fs;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use skillopt_tests::desktop::{TrayHost, until};
    use skillopt_tests::processes;
    use skillopt_tests::session::{Screen, Session};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-desktop");
    /// How long is watched.
    const WATCHED: Duration = Duration::from_secs(60);
    const WINDOWS: usize = 10;

    pub(super) fn measure() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::start(folder.path());
        let screen = Screen::start();
        let tray = TrayHost::serve(session.address());
        let mut app = Command::new(PROGRAM)
            .arg("--quiet")
            .env_clear()
            .envs(session.variables())
            .env("HOME", folder.path())
            .env("PATH", "/usr/bin:/bin")
            .env("DISPLAY", screen.display())
            .env("NO_AT_BRIDGE", "1")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let _ = tray.title();
        println!(
            "| tray icon after the start | {} ms |",
            start.elapsed().as_millis()
        );
        std::thread::sleep(Duration::from_secs(5));
        let (switches, ticks) = (wakeups(app.id()), ticks(app.id()));
        std::thread::sleep(WATCHED);
        let seconds = WATCHED.as_secs_f64();
        // Threads that ended meanwhile take their number with them.
        let woken: u64 = wakeups(app.id())
            .iter()
            .map(|(thread, now)| now - switches.get(thread).unwrap_or(&0))
            .sum();
        let woken = woken as f64 / seconds;
        println!("| wake-ups a second over a minute, idle | {woken:.1} |");
        println!(
            "| processor time over that minute | {} ms |",
            (self::ticks(app.id()) - ticks) * 10
        );
        let before = memory(app.id());
        show("idle, before any window", &before);
        for round in 0..WINDOWS {
            tray.click(&["Open SkillOpt"]);
            let opened = Instant::now();
            screen.wait_for_window("SkillOpt");
            let shown = opened.elapsed();
            let with = until("a page", || {
                let memory = memory(app.id());
                memory
                    .keys()
                    .any(|name| name.starts_with("WebKitWeb"))
                    .then_some(memory)
            });
            if round == 0 {
                println!(
                    "| window on the screen after the click | {} ms |",
                    shown.as_millis()
                );
                std::thread::sleep(Duration::from_secs(2));
                show("with a window", &with);
            }
            screen.close_window("SkillOpt");
            // The next round would take the last picture of this window for its own.
            until("the end of the windows", || {
                (memory(app.id()).len() == 1 && !screen.shows("SkillOpt")).then_some(())
            });
        }
        let after = memory(app.id());
        show(
            &format!("after {WINDOWS} windows were opened and closed"),
            &after,
        );
        end(&mut app);
    }

    fn end(app: &mut Child) {
        let _ = Command::new("kill")
            .args(["-TERM", &app.id().to_string()])
            .status();
        let _ = app.wait();
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
