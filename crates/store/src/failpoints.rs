//! Where a test may end the process. Without the feature `failpoints` nothing here does anything.
//!
//! Two families are counted, each from 1 and per process: *commits* (every transaction, also those
//! that create or migrate a database) and *writes* (every step that changes a file outside the
//! database: temporary file complete, name changed, file removed, folder made).
//!
//! | Variable | Meaning |
//! | --- | --- |
//! | `SKILLOPT_KILL_AT_COMMIT=n[:before\|:after]` | end the process at the n-th commit; `after` when not said |
//! | `SKILLOPT_COUNT_COMMITS=path` | the number of commits so far is written there after each |
//! | `SKILLOPT_KILL_AT_WRITE=n[:before\|:after]` | the same for writes |
//! | `SKILLOPT_COUNT_WRITES=path` | the same for writes |
//! | `SKILLOPT_LOG_STEPS=path` | one line per step is appended there: family, number, name |
//! | `SKILLOPT_HOLD_AT=name:path` | before the first step of this name a file is made at `path`, and the step waits until it is gone |

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    /// Transactions.
    Commit,
    /// Steps that change files outside the database.
    Write,
}

/// Runs one step that can be the last thing this process does.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn step<R>(_family: Family, _name: &str, work: impl FnOnce() -> R) -> R {
    work()
}

/// Runs one step that can be the last thing this process does.
#[cfg(feature = "failpoints")]
pub(crate) fn step<R>(family: Family, name: &str, work: impl FnOnce() -> R) -> R {
    counting::step(family, name, work)
}

#[cfg(feature = "failpoints")]
mod counting {
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use super::Family;

    /// A test that forgot a held step does not hold it for ever.
    const LONGEST_HOLD: Duration = Duration::from_secs(120);

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Moment {
        Before,
        After,
    }

    struct Plan {
        kill: Option<(u64, Moment)>,
        count: Option<PathBuf>,
        log: Option<PathBuf>,
    }

    struct Counter {
        done: AtomicU64,
        plan: OnceLock<Plan>,
        family: &'static str,
        variables: [&'static str; 2],
    }

    static COMMITS: Counter = Counter {
        done: AtomicU64::new(0),
        plan: OnceLock::new(),
        family: "commit",
        variables: ["SKILLOPT_KILL_AT_COMMIT", "SKILLOPT_COUNT_COMMITS"],
    };
    static WRITES: Counter = Counter {
        done: AtomicU64::new(0),
        plan: OnceLock::new(),
        family: "write",
        variables: ["SKILLOPT_KILL_AT_WRITE", "SKILLOPT_COUNT_WRITES"],
    };

    pub(super) fn step<R>(family: Family, name: &str, work: impl FnOnce() -> R) -> R {
        let counter = match family {
            Family::Commit => &COMMITS,
            Family::Write => &WRITES,
        };
        let plan = counter.plan.get_or_init(|| read(counter.variables));
        let n = counter.done.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(path) = &plan.log {
            append(path, &format!("{} {n} {name}\n", counter.family));
        }
        end_if(plan, n, Moment::Before);
        hold(name);
        let result = work();
        if let Some(path) = &plan.count {
            write_count(path, n);
        }
        end_if(plan, n, Moment::After);
        result
    }

    /// Leaves a test time to do something in the middle of a step.
    fn hold(name: &str) {
        static HELD: AtomicBool = AtomicBool::new(false);
        let Ok(text) = std::env::var("SKILLOPT_HOLD_AT") else {
            return;
        };
        let (wanted, path) = text.split_once(':').expect("SKILLOPT_HOLD_AT is name:path");
        if name != wanted || HELD.swap(true, Ordering::SeqCst) {
            return;
        }
        std::fs::File::create(path).expect("the file of a test can be made");
        let end = Instant::now() + LONGEST_HOLD;
        while std::fs::exists(path).unwrap_or(false) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn end_if(plan: &Plan, n: u64, moment: Moment) {
        if plan.kill == Some((n, moment)) {
            // Like SIGKILL: no destructor runs, no buffer is flushed, SQLite is not closed.
            std::process::abort();
        }
    }

    fn read(variables: [&str; 2]) -> Plan {
        let kill = std::env::var(variables[0]).ok().map(|text| {
            parse(&text).unwrap_or_else(|| {
                panic!("{}={text}: expected n, n:before or n:after", variables[0])
            })
        });
        let path = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
        Plan {
            kill,
            count: path(variables[1]),
            log: path("SKILLOPT_LOG_STEPS"),
        }
    }

    fn parse(text: &str) -> Option<(u64, Moment)> {
        let (number, moment) = text.split_once(':').unwrap_or((text, "after"));
        let moment = match moment {
            "before" => Moment::Before,
            "after" => Moment::After,
            _ => return None,
        };
        Some((number.parse().ok()?, moment))
    }

    fn append(path: &std::path::Path, line: &str) {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the log file of a test can be written");
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test's counter, read after the process ended"
    )]
    fn write_count(path: &std::path::Path, n: u64) {
        std::fs::write(path, n.to_string()).expect("the counter file of a test can be written");
    }
}
