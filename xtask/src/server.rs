//! The `seatflow` program, called by the tasks: its environment, its short commands, and serving.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::command::run_logged;
use crate::compile::Profile;
use crate::health;
use crate::secrets::Secrets;
use crate::services::{Endpoints, Running, ServiceSet};
use crate::settings_file::Settings;
use crate::step::Progress;
use crate::workspace::Workspace;

const READY_DEADLINE_S: u64 = 60;

/// One server: which program, with which environment.
#[derive(Clone)]
pub struct Server {
    program: PathBuf,
    root: PathBuf,
    environment: Vec<(String, String)>,
    port: u16,
    logs: PathBuf,
    pid_file: PathBuf,
}

impl Server {
    pub fn new(
        workspace: &Workspace,
        set: &ServiceSet,
        endpoints: &Endpoints,
        secrets: &Secrets,
        port: u16,
    ) -> Self {
        let mut server = Self {
            program: Profile::Dev.server(workspace),
            root: workspace.root().to_path_buf(),
            environment: Vec::new(),
            port,
            logs: set.logs(),
            pid_file: set.pid_files().join("seatflow.pid"),
        };
        for (name, value) in endpoints.as_environment() {
            server.set(name, value);
        }
        for (name, value) in secrets.for_server() {
            server.set(name, value);
        }
        server.set("SEATFLOW_LISTEN", &format!("127.0.0.1:{port}"));
        server.set("SEATFLOW_PUBLIC_URL", &server.address());
        let site = Profile::Dev.site(workspace);
        server.set("SEATFLOW_SITE_ROOT", &site.display().to_string());
        server
    }

    /// Adds what a file says, such as shorter times for the browser suite. No file, nothing to add.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn add_settings(&mut self, file: &Path) -> Result<()> {
        for (name, value) in Settings::read(file)?.iter() {
            self.set(name, value);
        }
        Ok(())
    }

    /// The same server as one of several: another program, and a name for its logs and its pid file.
    #[must_use]
    pub fn named(mut self, name: &str, program: &Path) -> Self {
        self.program = program.to_path_buf();
        self.pid_file.set_file_name(format!("{name}.pid"));
        self.logs = self.logs.join(name);
        self
    }

    /// Sets a variable of its environment, over whatever was set before.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// What a program needs that calls the server's commands itself: which program, and with which environment.
    pub fn for_callers(&self) -> impl Iterator<Item = (String, String)> {
        let program = self.program.display().to_string();
        let named = ("SEATFLOW_PROGRAM".to_owned(), program);
        self.environment.iter().cloned().chain([named])
    }

    /// What people type into the browser.
    pub fn address(&self) -> String {
        address(self.port)
    }

    /// Runs a short command, such as `migrate`, as one step.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub fn run(&self, arguments: &[&str], progress: &Progress) -> Result<()> {
        let word = arguments.first().copied().unwrap_or_default();
        progress.run(word, || {
            let mut command = self.command(arguments);
            let log = self.logs.join(format!("{word}.log"));
            run_logged(&mut command, &log)?;
            let last = crate::command::tail(&log, 1);
            Ok(((), last.trim().to_owned()))
        })
    }

    /// Starts to serve and waits until the server says that all it needs is there.
    ///
    /// # Errors
    /// When it ends, or isn't ready in time.
    pub fn serve(&self, progress: &Progress) -> Result<Running> {
        progress.run("start server", || {
            let mut running = self.spawn("seatflow")?;
            self.await_ready(&mut running)?;
            Ok((running, self.address()))
        })
    }

    /// Starts to serve, with a log of this name, without waiting.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn spawn(&self, log: &str) -> Result<Running> {
        Running::spawn(
            "SeatFlow",
            "seatflow",
            &self.command(&["serve"]),
            &self.logs.join(format!("{log}.log")),
            &self.pid_file,
        )
    }

    /// Waits until the server says that all it needs is there.
    ///
    /// # Errors
    /// When it ends, or isn't ready in time.
    pub fn await_ready(&self, running: &mut Running) -> Result<()> {
        running.await_ready(Duration::from_secs(READY_DEADLINE_S), || {
            health::is_ready(self.port)
        })
    }

    /// The program with its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// What people type into the browser to reach a server on `port`.
pub fn address(port: u16) -> String {
    format!("http://localhost:{port}")
}
