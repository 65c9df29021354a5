//! A desktop session for one test: a bus of its own, and what is started on it. Real daemons, nobody
//! else's.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a daemon may take to appear on the bus.
const PATIENCE: Duration = Duration::from_secs(60);

/// A session bus without services that start by themselves.
const BUS: &str = r#"<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>REFUSED</policy></busconfig>"#;

/// A running session. Everything it started ends with it.
#[derive(Debug)]
pub struct Session {
    address: String,
    runtime: TempDir,
    home: PathBuf,
    processes: Vec<Child>,
}

impl Session {
    /// Starts a bus for somebody whose home folder is `home`.
    ///
    /// # Panics
    /// When `dbus-daemon` is not installed.
    #[must_use]
    pub fn start(home: &Path) -> Self {
        Self::under(home, "")
    }

    /// A session whose bus lets nobody talk to whoever owns `name`.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_refusing(home: &Path, name: &str) -> Self {
        Self::under(home, &format!(r#"<deny send_destination="{name}"/>"#))
    }

    #[allow(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn under(home: &Path, refused: &str) -> Self {
        let runtime = tempfile::Builder::new()
            .prefix("s")
            .tempdir()
            .expect("a temporary folder");
        let config = runtime.path().join("bus.conf");
        std::fs::write(&config, BUS.replace("REFUSED", refused)).expect("a file");
        let mut bus = Command::new("dbus-daemon")
            .args(["--nofork", "--nosyslog", "--print-address=1"])
            .arg(format!("--config-file={}", config.display()))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon is installed");
        let mut address = String::new();
        let output = bus.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut address)
            .expect("its address");
        Self {
            address: address.trim().to_owned(),
            runtime,
            home: home.to_owned(),
            processes: vec![bus],
        }
    }

    /// Address of the bus.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The variables of a program in this session.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_str().expect("text").to_owned();
        vec![
            ("DBUS_SESSION_BUS_ADDRESS".to_owned(), self.address.clone()),
            ("XDG_RUNTIME_DIR".to_owned(), text(self.runtime.path())),
            (
                "XDG_DATA_HOME".to_owned(),
                text(&self.home.join(".local/share")),
            ),
        ]
    }

    /// Starts a program of the session, given `input`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(&mut self, program: &str, words: &[&str], input: Option<&str>) {
        let mut child = Command::new(program)
            .args(words)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.home)
            .envs(self.variables())
            .stdin(if input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            stdin.write_all(input.as_bytes()).expect("it reads");
        }
        self.processes.push(child);
    }

    /// Starts GNOME Keyring; opened with `password`, or locked as it is after signing in without one.
    ///
    /// # Panics
    /// When it does not appear on the bus.
    pub fn keyring(&mut self, password: Option<&str>) {
        let mut words = vec!["--foreground", "--components=secrets"];
        if password.is_some() {
            words.push("--unlock");
        }
        self.spawn("gnome-keyring-daemon", &words, password);
        self.wait_for("org.freedesktop.secrets");
    }

    /// Waits until somebody owns a name.
    ///
    /// # Panics
    /// When nobody does in time.
    pub fn wait_for(&self, name: &str) {
        let address = self.address.as_str().try_into();
        let bus = address
            .and_then(zbus::blocking::connection::Builder::address::<zbus::Address>)
            .and_then(zbus::blocking::connection::Builder::build)
            .expect("the bus");
        let about = zbus::blocking::fdo::DBusProxy::new(&bus).expect("the bus");
        let until = Instant::now() + PATIENCE;
        while !about
            .name_has_owner(name.try_into().expect("a name"))
            .expect("an answer")
        {
            assert!(Instant::now() < until, "{name} does not appear");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        end(&mut self.processes);
    }
}

/// A screen nobody sees, with a window manager.
#[derive(Debug)]
pub struct Screen {
    display: String,
    processes: Vec<Child>,
}

impl Screen {
    /// Starts one.
    ///
    /// # Panics
    /// When `Xvfb` is not installed.
    #[must_use]
    pub fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1400x900x24",
                "-nolisten",
                "tcp",
                // Otherwise it starts anew when its last client has gone, such as one that only looked
                // before the others came, and takes those with it that come just then.
                "-noreset",
            ])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut number = String::new();
        let output = server.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut number)
            .expect("its number");
        assert!(!number.trim().is_empty(), "Xvfb has found no display");
        let screen = Self {
            display: format!(":{}", number.trim()),
            processes: vec![server],
        };
        let mut manager = screen.command("openbox");
        let manager = manager.spawn().expect("openbox is installed");
        let mut screen = screen;
        screen.processes.push(manager);
        // A window that comes before it may never be managed.
        crate::desktop::until("a window manager", || {
            screen
                .command("wmctrl")
                .arg("-m")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("wmctrl is installed")
                .success()
                .then_some(())
        });
        screen
    }

    /// Its name, as in `DISPLAY`.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("DISPLAY", &self.display)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Waits until a window with this title is on the screen.
    pub fn wait_for_window(&self, title: &str) {
        crate::desktop::until(&format!("the window \"{title}\""), || {
            self.shows(title).then_some(())
        });
    }

    /// Whether a window with this title is on the screen.
    #[must_use]
    pub fn shows(&self, title: &str) -> bool {
        self.windows().contains(title)
    }

    /// The windows on the screen, one in a line: its number first, and its title last.
    fn windows(&self) -> String {
        self.command("wmctrl")
            .arg("-l")
            .stdout(Stdio::piped())
            .output()
            .map_or_else(
                |_| String::new(),
                |output| String::from_utf8_lossy(&output.stdout).into_owned(),
            )
    }

    /// The title of the window that has the keyboard.
    ///
    /// # Panics
    /// When `xdotool` is not installed.
    #[must_use]
    pub fn active_window(&self) -> String {
        let output = self
            .command("xdotool")
            .args(["getactivewindow", "getwindowname"])
            .stdout(Stdio::piped())
            .output()
            .expect("xdotool is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The number of the window with this title. `xdotool` finds none whose title is not ASCII.
    fn window(&self, title: &str) -> String {
        crate::desktop::until(&format!("the window \"{title}\""), || {
            let listed = self.windows();
            let line = listed.lines().find(|line| line.contains(title))?;
            line.split_whitespace().next().map(str::to_owned)
        })
    }

    /// Puts the window with this title out of sight.
    ///
    /// # Panics
    /// When `xdotool` is not installed.
    pub fn minimise_window(&self, title: &str) {
        let window = self.window(title);
        let minimised = self
            .command("xdotool")
            .args(["windowminimize", &window])
            .status()
            .expect("xdotool is installed");
        assert!(minimised.success(), "{title} is out of sight");
        crate::desktop::until("a window out of sight", || {
            (self.active_window() != title).then_some(())
        });
    }

    /// Presses a key in the window with this title.
    ///
    /// # Panics
    /// When `xdotool` is not installed.
    pub fn press(&self, title: &str, key: &str) {
        let window = self.window(title);
        let pressed = self
            .command("xdotool")
            .args(["windowactivate", "--sync", &window, "key", key])
            .status()
            .expect("xdotool is installed");
        assert!(pressed.success(), "{key} in {title}");
    }

    /// Calls the window with this title something else, until its program says its title again.
    ///
    /// # Panics
    /// When `wmctrl` is not installed.
    pub fn rename_window(&self, title: &str, to: &str) {
        let _ = self
            .command("wmctrl")
            .args(["-r", title, "-N", to])
            .status()
            .expect("wmctrl is installed");
    }

    /// Lets the screen hang: it draws nothing and answers nobody any more.
    ///
    /// # Panics
    /// When it cannot be stopped.
    pub fn hang(&self) {
        let server = self.processes.first().expect("the server").id();
        crate::processes::signal(server, "STOP");
    }

    /// Closes the window with this title, as its button does.
    ///
    /// # Panics
    /// When `wmctrl` is not installed.
    pub fn close_window(&self, title: &str) {
        let _ = self
            .command("wmctrl")
            .args(["-c", title])
            .status()
            .expect("wmctrl is installed");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        end(&mut self.processes);
    }
}

/// Ends processes, the last first.
fn end(processes: &mut [Child]) {
    for process in processes.iter_mut().rev() {
        let _ = process.kill();
        let _ = process.wait();
    }
}
