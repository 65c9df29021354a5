//! The system's D-Bus: NetworkManager says whether the network is metered; logind says how long nobody has
//! used the computer and when it wakes up, and keeps it awake when asked to.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use skillopt_core::Instant;
use tokio::time::timeout;
use zbus::export::futures_core::Stream;
use zbus::zvariant::OwnedFd;
use zbus::{Connection, Proxy};

/// Names the system bus, for everybody who uses D-Bus.
const ADDRESS_VARIABLE: &str = "DBUS_SYSTEM_BUS_ADDRESS";
const USUAL_ADDRESS: &str = "unix:path=/run/dbus/system_bus_socket";
/// How long one question to the bus may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// A connection to the system bus.
pub(super) struct Bus(Connection);

impl Bus {
    /// Connects to the system bus of this environment.
    pub(super) async fn system(environment: &BTreeMap<String, String>) -> zbus::Result<Self> {
        let address = environment
            .get(ADDRESS_VARIABLE)
            .filter(|address| !address.is_empty())
            .map_or(USUAL_ADDRESS, String::as_str);
        let connecting = async { zbus::connection::Builder::address(address)?.build().await };
        in_time(connecting).await.map(Self)
    }

    /// Whether the network is metered; `None` when NetworkManager does not know or is not there.
    pub(super) async fn metered(&self) -> Option<bool> {
        let manager = self.network_manager().await.ok()?;
        let word: u32 = in_time(manager.get_property("Metered")).await.ok()?;
        // NMMetered: unknown, yes, no, guessed yes, guessed no.
        match word {
            1 | 3 => Some(true),
            2 | 4 => Some(false),
            _ => None,
        }
    }

    /// How long nobody has used the computer, by logind.
    pub(super) async fn idle(&self, now: Instant) -> Option<Duration> {
        let manager = self.logind().await.ok()?;
        let idle: bool = in_time(manager.get_property("IdleHint")).await.ok()?;
        if !idle {
            return Some(Duration::ZERO);
        }
        // Microseconds since 1970.
        let since: u64 = in_time(manager.get_property("IdleSinceHint")).await.ok()?;
        let since = Instant::from_microsecond(i64::try_from(since).ok()?).ok()?;
        Some(Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO))
    }

    /// Keeps the computer from falling asleep for as long as what is given back lives. Where sleep cannot
    /// be held off, falling asleep for want of use is.
    pub(super) async fn inhibit(&self, why: &str) -> zbus::Result<OwnedFd> {
        let manager = self.logind().await?;
        let ask = async |what: &str| -> zbus::Result<OwnedFd> {
            let words = (what, "SkillOpt", why, "block");
            in_time(manager.call("Inhibit", &words)).await
        };
        match ask("sleep:idle").await {
            Ok(held) => Ok(held),
            Err(_) => ask("idle").await,
        }
    }

    /// Calls `awake` whenever the computer has woken up; ends when the bus does.
    pub(super) async fn wakings(&self, awake: impl Fn()) -> zbus::Result<()> {
        let manager = self.logind().await?;
        let mut signals = pin!(manager.receive_signal("PrepareForSleep").await?);
        while let Some(signal) = std::future::poll_fn(|cx| signals.as_mut().poll_next(cx)).await {
            let (falls_asleep,): (bool,) = signal.body().deserialize()?;
            if !falls_asleep {
                awake();
            }
        }
        Ok(())
    }

    async fn logind(&self) -> zbus::Result<Proxy<'_>> {
        let proxy = Proxy::new(
            &self.0,
            "org.freedesktop.login1",
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager",
        );
        in_time(proxy).await
    }

    async fn network_manager(&self) -> zbus::Result<Proxy<'_>> {
        let proxy = Proxy::new(
            &self.0,
            "org.freedesktop.NetworkManager",
            "/org/freedesktop/NetworkManager",
            "org.freedesktop.NetworkManager",
        );
        in_time(proxy).await
    }
}

async fn in_time<T>(asking: impl Future<Output = zbus::Result<T>>) -> zbus::Result<T> {
    timeout(PATIENCE, asking)
        .await
        .unwrap_or_else(|_| Err(zbus::Error::Failure("nobody answered in time".to_owned())))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::fd::OwnedFd as StandardFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use zbus::fdo;
    use zbus::object_server::SignalEmitter;

    use super::*;

    /// A bus of its own for one test, with whoever answers on it.
    struct PrivateBus {
        daemon: Child,
        environment: BTreeMap<String, String>,
    }

    impl Drop for PrivateBus {
        fn drop(&mut self) {
            let _ = self.daemon.kill();
            let _ = self.daemon.wait();
        }
    }

    impl PrivateBus {
        fn start() -> Self {
            let mut daemon = Command::new("dbus-daemon")
                .args(["--session", "--nofork", "--print-address"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("dbus-daemon can be started (Debian's package dbus-daemon)");
            let mut address = String::new();
            BufReader::new(daemon.stdout.take().unwrap())
                .read_line(&mut address)
                .unwrap();
            let variable = (ADDRESS_VARIABLE.to_owned(), address.trim().to_owned());
            Self {
                daemon,
                environment: BTreeMap::from([variable]),
            }
        }

        async fn serve(&self, login: Login, network: Network) -> Connection {
            zbus::connection::Builder::address(self.environment[ADDRESS_VARIABLE].as_str())
                .unwrap()
                .name("org.freedesktop.login1")
                .unwrap()
                .name("org.freedesktop.NetworkManager")
                .unwrap()
                .serve_at("/org/freedesktop/login1", login)
                .unwrap()
                .serve_at("/org/freedesktop/NetworkManager", network)
                .unwrap()
                .build()
                .await
                .unwrap()
        }

        async fn bus(&self) -> Bus {
            Bus::system(&self.environment).await.unwrap()
        }
    }

    #[derive(Default)]
    struct Login {
        idle_since: Option<u64>,
        only_idle: bool,
        /// What is held off, with the other end of what was given for it.
        held: Arc<Mutex<Vec<(String, UnixStream)>>>,
    }

    #[zbus::interface(name = "org.freedesktop.login1.Manager")]
    impl Login {
        #[zbus(property)]
        fn idle_hint(&self) -> bool {
            self.idle_since.is_some()
        }

        #[zbus(property)]
        fn idle_since_hint(&self) -> u64 {
            self.idle_since.unwrap_or_default()
        }

        fn inhibit(&self, what: &str, who: &str, why: &str, mode: &str) -> fdo::Result<OwnedFd> {
            assert_eq!((who, mode), ("SkillOpt", "block"));
            assert_eq!(why, "a reason");
            if self.only_idle && what.contains("sleep") {
                return Err(fdo::Error::AccessDenied("not you".to_owned()));
            }
            let (ours, theirs) = UnixStream::pair().unwrap();
            self.held.lock().unwrap().push((what.to_owned(), ours));
            Ok(StandardFd::from(theirs).into())
        }

        #[zbus(signal)]
        async fn prepare_for_sleep(emitter: &SignalEmitter<'_>, start: bool) -> zbus::Result<()>;
    }

    struct Network(u32);

    #[zbus::interface(name = "org.freedesktop.NetworkManager")]
    impl Network {
        #[zbus(property)]
        fn metered(&self) -> u32 {
            self.0
        }
    }

    #[tokio::test]
    async fn the_network_is_metered_as_network_manager_says_or_guesses() {
        for (word, expected) in [
            (0, None),
            (1, Some(true)),
            (2, Some(false)),
            (3, Some(true)),
            (4, Some(false)),
            (9, None),
        ] {
            let private = PrivateBus::start();
            let _server = private.serve(Login::default(), Network(word)).await;
            assert_eq!(private.bus().await.metered().await, expected, "{word}");
        }
    }

    #[tokio::test]
    async fn without_anybody_on_the_bus_everything_is_unknown() {
        let private = PrivateBus::start();
        let bus = private.bus().await;
        assert_eq!(bus.metered().await, None);
        assert_eq!(bus.idle(Instant::UNIX_EPOCH).await, None);
        assert!(bus.inhibit("a reason").await.is_err());
        let nowhere = BTreeMap::from([(
            ADDRESS_VARIABLE.to_owned(),
            "unix:path=/nowhere/bus".to_owned(),
        )]);
        assert!(Bus::system(&nowhere).await.is_err());
    }

    #[tokio::test]
    async fn idleness_is_counted_from_the_moment_logind_names() {
        let now: Instant = "2026-06-10T03:00:00Z".parse().unwrap();
        let since = u64::try_from(now.as_microsecond()).unwrap() - 600_000_000;
        for (idle_since, expected) in [(None, 0), (Some(since), 600)] {
            let private = PrivateBus::start();
            let login = Login {
                idle_since,
                ..Login::default()
            };
            let _server = private.serve(login, Network(0)).await;
            let idle = private.bus().await.idle(now).await;
            assert_eq!(idle, Some(Duration::from_secs(expected)));
        }
    }

    #[tokio::test]
    async fn sleep_is_held_off_as_long_as_the_hold_lives() {
        for (only_idle, expected) in [(false, "sleep:idle"), (true, "idle")] {
            let private = PrivateBus::start();
            let held = Arc::new(Mutex::new(Vec::new()));
            let login = Login {
                only_idle,
                held: Arc::clone(&held),
                ..Login::default()
            };
            let _server = private.serve(login, Network(0)).await;
            let hold = private.bus().await.inhibit("a reason").await.unwrap();
            let (what, mut end) = held.lock().unwrap().pop().unwrap();
            assert_eq!(what, expected);
            end.set_nonblocking(true).unwrap();
            let mut byte = [0];
            let read = |end: &mut UnixStream, byte: &mut [u8]| std::io::Read::read(end, byte);
            let waiting = read(&mut end, &mut byte).unwrap_err();
            assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
            drop(hold);
            // The message that carried it may hold a copy for a moment.
            while read(&mut end, &mut byte).is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    #[tokio::test]
    async fn waking_up_is_told_and_falling_asleep_is_not() {
        let private = PrivateBus::start();
        let server = private.serve(Login::default(), Network(0)).await;
        let bus = private.bus().await;
        let awoken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&awoken);
        let listening = tokio::spawn(async move {
            bus.wakings(|| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .await
        });
        let login = server
            .object_server()
            .interface::<_, Login>("/org/freedesktop/login1")
            .await
            .unwrap();
        // Whoever listens may not listen yet.
        while awoken.load(Ordering::SeqCst) == 0 {
            Login::prepare_for_sleep(login.signal_emitter(), true)
                .await
                .unwrap();
            Login::prepare_for_sleep(login.signal_emitter(), false)
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let before = awoken.load(Ordering::SeqCst);
        for _ in 0..5 {
            Login::prepare_for_sleep(login.signal_emitter(), true)
                .await
                .unwrap();
        }
        Login::prepare_for_sleep(login.signal_emitter(), false)
            .await
            .unwrap();
        while awoken.load(Ordering::SeqCst) == before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(awoken.load(Ordering::SeqCst), before + 1);
        listening.abort();
    }
}
