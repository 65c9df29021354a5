//! The computer is kept awake as long as a night runs, and no longer, however the night ends.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skillopt_app::supervisor::{Handle, Supervisor, order};
use skillopt_tests::brain::honest;
use skillopt_tests::session::Session;
use skillopt_tests::stub_server::{Behaviour, StubServer};
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::zvariant::OwnedFd;

use super::counted;
use super::place::{Place, has_ended, is_here, only, until};

/// What holds off sleep, as systemd's login service sees it: the other end of what it gave for it.
type Holds = Arc<Mutex<Vec<UnixStream>>>;

struct Login(Holds);

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl Login {
    fn inhibit(&self, what: &str, who: &str, why: &str, mode: &str) -> OwnedFd {
        assert_eq!((what, who, mode), ("sleep:idle", "SkillOpt", "block"));
        assert!(why.contains("night"), "{why}");
        let (ours, theirs) = UnixStream::pair().expect("a socket");
        ours.set_nonblocking(true).expect("a socket");
        self.0.lock().expect("nobody panicked").push(ours);
        std::os::fd::OwnedFd::from(theirs).into()
    }
}

/// A system with a login service.
struct System {
    session: Session,
    holds: Holds,
    _login: Connection,
}

impl System {
    fn start(place: &mut Place) -> Self {
        let session = Session::start(&place.home.home());
        let holds = Holds::default();
        let login = Login(Arc::clone(&holds));
        let address = session.address().to_owned();
        // It brings a runtime of its own.
        let serving = std::thread::spawn(move || {
            Builder::address(address.as_str())
                .and_then(|bus| bus.serve_at("/org/freedesktop/login1", login))
                .and_then(|bus| bus.name("org.freedesktop.login1"))
                .and_then(Builder::build)
                .expect("the bus")
        });
        place.set("KEEP_AWAKE", "true");
        place.settings.push((
            "DBUS_SYSTEM_BUS_ADDRESS".to_owned(),
            session.address().to_owned(),
        ));
        Self {
            session,
            holds,
            _login: serving.join().expect("the bus"),
        }
    }

    /// How often sleep was held off, and whether it is now.
    fn holds(&self) -> (usize, bool) {
        let holds = self.holds.lock().expect("nobody panicked");
        let is_held = |mut hold: &UnixStream| {
            let waits = hold.read(&mut [0]).err();
            waits.is_some_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        (holds.len(), holds.iter().any(is_held))
    }

    async fn wait_for(&self, times: usize, held: bool) {
        let waiting = async {
            while self.holds() != (times, held) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(super::PATIENCE, waiting)
            .await
            .is_err()
        {
            panic!("wanted {:?}, found {:?}", (times, held), self.holds());
        }
    }
}

/// Waits until the night's process has said its number, which is then in this file.
async fn process(file: &PathBuf) -> String {
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            std::fs::remove_file(file).expect("a file");
            return text.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn kill(process: &str) {
    let killed = Command::new("kill").args(["-KILL", process]).status();
    assert!(killed.expect("kill").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn sleep_is_held_off_exactly_while_a_night_runs() {
    let mut place = Place::new();
    place.set("BACKEND", "handoff");
    let system = System::start(&mut place);
    let project = place.register();
    let (hold, pid) = (
        place.home.home().join("hold"),
        place.home.home().join("pid"),
    );
    let wait = format!(
        "echo $$ > '{}'; while [ -e '{}' ]; do sleep 0.05; done;",
        pid.display(),
        hold.display()
    );
    let (launch, _) = counted(&place, &wait);
    let supervisor: Handle = Supervisor::start(place.app(), launch);
    until(&supervisor, is_here).await;
    assert_eq!(system.holds(), (0, false), "no night runs");

    // One that ends by itself.
    std::fs::write(&hold, "").expect("a file");
    order::run_now(&place.app(), &project).expect("a request");
    process(&pid).await;
    system.wait_for(1, true).await;
    std::fs::remove_file(&hold).expect("a file");
    until(&supervisor, has_ended).await;
    system.wait_for(1, false).await;

    // One that the user ends.
    std::fs::write(&hold, "").expect("a file");
    order::run_now(&place.app(), &project).expect("a request");
    process(&pid).await;
    system.wait_for(2, true).await;
    supervisor.cancel(&place.app(), &project).expect("an order");
    system.wait_for(2, false).await;
    until(&supervisor, |state| only(state).running.is_none()).await;

    // One whose process dies.
    order::run_now(&place.app(), &project).expect("a request");
    let night = process(&pid).await;
    system.wait_for(3, true).await;
    kill(&night);
    system.wait_for(3, false).await;

    // One that ends with its host.
    order::run_now(&place.app(), &project).expect("a request");
    process(&pid).await;
    system.wait_for(4, true).await;
    supervisor.shutdown().await;
    drop(supervisor);
    system.wait_for(4, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_holds_off_no_sleep() {
    let mut place = Place::new();
    let system = System::start(&mut place);
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_secs(600)));
    let (bus, url) = (system.session.address().to_owned(), server.url());
    for (name, value) in [
        ("DBUS_SYSTEM_BUS_ADDRESS", bus.as_str()),
        ("SKILLOPT_KEEP_AWAKE", "true"),
        ("SKILLOPT_BACKEND", "openai_compatible"),
        ("SKILLOPT_MODEL", "stub"),
        ("SKILLOPT_ENDPOINT", url.as_str()),
        ("SKILLOPT_MODEL_MINER", "false"),
    ] {
        place.home.set(name, value);
    }
    assert_eq!(place.home.run(&["project", "add"]).code, 0);
    let mut daemon = place.home.start(&["daemon"]);
    assert_eq!(place.home.run(&["night", "start"]).code, 0);
    system.wait_for(1, true).await;
    while server.asked().is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    daemon.kill().expect("it runs");
    daemon.wait().expect("it ends");
    system.wait_for(1, false).await;
    // Its night goes on without it, and is ended by its user.
    assert_eq!(place.home.run(&["night", "cancel"]).code, 0);
    skillopt_tests::desktop::until("the end of the night", || {
        let state = place.home.run(&["status", "--json"]).json();
        state["projects"][0]["running"].is_null().then_some(())
    });
}
