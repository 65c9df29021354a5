//! WebKit's own driver, spoken to in its protocol (W3C WebDriver): what a person does in a window.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::processes::below;

/// A window that is driven.
#[derive(Debug)]
pub struct WebDriver {
    driver: Child,
    port: u16,
    /// Nobody else takes the port while this is held.
    _lock: File,
    session: String,
}

impl WebDriver {
    /// Starts `program words…` with these variables, and takes hold of its first window.
    ///
    /// # Panics
    /// When `WebKitWebDriver` is not installed, or the window does not open.
    #[must_use]
    pub fn open(program: &str, words: &[&str], variables: &[(String, String)]) -> Self {
        let (port, lock) = free_port();
        let driver = Command::new("WebKitWebDriver")
            .arg(format!("--port={port}"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("NO_AT_BRIDGE", "1")
            .env("TAURI_AUTOMATION", "true")
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("WebKitWebDriver is installed");
        let mut window = Self {
            driver,
            port,
            _lock: lock,
            session: String::new(),
        };
        super::until("the driver", || {
            let ended = window.driver.try_wait().expect("the driver");
            assert!(ended.is_none(), "WebKitWebDriver has ended: {ended:?}");
            TcpStream::connect(("127.0.0.1", port)).ok().map(drop)
        });
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "webkitgtk:browserOptions": {"binary": program, "args": words}
        }}});
        let answer = window.post("/session", &wanted);
        window.session = answer["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("no window: {answer}"))
            .to_owned();
        window
    }

    /// What `script`, the body of a function, gives.
    #[must_use]
    pub fn run(&self, script: &str) -> Value {
        let path = format!("/session/{}/execute/sync", self.session);
        self.post(&path, &json!({"script": script, "args": []}))
    }

    /// Waits until the page shows these words.
    pub fn wait_for(&self, words: &str) {
        super::until(&format!("the words \"{words}\""), || {
            self.text().contains(words).then_some(())
        });
    }

    /// All words on the page.
    #[must_use]
    pub fn text(&self) -> String {
        self.run("return document.body ? document.body.innerText : ''")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Presses the button with this label, once it is there and can be pressed.
    pub fn press(&self, label: &str) {
        let script = format!(
            "const button = [...document.querySelectorAll('button')].find(b => b.innerText.trim() === {} && !b.disabled);
             if (!button) return false;
             button.click();
             return true;",
            json!(label)
        );
        super::until(&format!("the button \"{label}\""), || {
            (self.run(&script) == json!(true)).then_some(())
        });
    }

    /// The process of the program that was started.
    ///
    /// # Panics
    /// When it has ended.
    #[must_use]
    pub fn program(&self) -> u32 {
        *below(self.driver.id()).first().expect("the program runs")
    }

    /// One request; its `value`.
    fn post(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver");
        // One that hangs, as before a window that does not come, would say nothing until the test is ended.
        stream
            .set_read_timeout(Some(super::PATIENCE))
            .expect("a limit");
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("the driver reads");
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).expect("an answer");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).expect("an answer");
        let mut answer: Value = serde_json::from_slice(&bytes).expect("an answer in JSON");
        answer["value"].take()
    }
}

/// A port for a driver, which takes none by itself. It is not one that the system gives to whoever asks for any,
/// and is held against the other tests by a lock: a test that came to the driver of another would drive its window.
fn free_port() -> (u16, File) {
    (21_000..22_000)
        .find_map(|port| {
            let path = std::env::temp_dir().join(format!("skillopt-test-port-{port}"));
            let lock = File::create(path).ok()?;
            lock.try_lock().ok()?;
            TcpListener::bind(("127.0.0.1", port)).ok()?;
            Some((port, lock))
        })
        .expect("a port")
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        // Nobody would know them for ours once the driver has gone. A tray goes on when its window is closed.
        let started = below(self.driver.id());
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        for process in started {
            // Some have ended with it.
            let _ = Command::new("kill")
                .args(["-KILL", &process.to_string()])
                .stderr(Stdio::null())
                .status();
        }
    }
}
