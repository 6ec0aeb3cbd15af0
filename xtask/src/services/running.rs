//! A server process that a task has started: watched, and stopped when the task ends in whatever way.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::identity::Identity;
use crate::command::{create_log, find_program, shown, tail};
use crate::interrupt;

const POLL_MS: u64 = 25;
/// What a service gets to write its data down before it is killed.
const GRACE_S: u64 = 30;
const TAIL_LINES: usize = 15;

/// A started process. Dropping it stops it.
pub struct Running {
    name: String,
    child: Child,
    identity: Identity,
    pid_file: PathBuf,
    log: PathBuf,
}

impl Running {
    /// Starts `command` with its output in `log` and its identity in `pid_file`.
    ///
    /// It ends with the thread that calls this, even when that thread gets no chance to stop it (SIGKILL), so
    /// call it from one that lives as long as the service shall.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(
        name: &str,
        marker: &str,
        command: &Command,
        log: &Path,
        pid_file: &Path,
    ) -> Result<Self> {
        let output = create_log(log)?;
        let errors = output.try_clone().context("could not open the log twice")?;
        let child = ending_with_its_parent(command)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // Out of the terminal's group: Ctrl-C must reach the task, which stops the services in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("could not start {name}: `{}`", shown(command)))?;
        let mut running = Self {
            name: name.to_owned(),
            identity: Identity::of(child.id(), marker)?,
            child,
            pid_file: pid_file.to_path_buf(),
            log: log.to_path_buf(),
        };
        if let Err(error) = running.identity.write(pid_file) {
            running.stop_now();
            return Err(error);
        }
        Ok(running)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits until `is_ready`.
    ///
    /// # Errors
    /// When the process ends, `deadline` passes or the task is interrupted; the message has the log's last lines.
    pub fn await_ready(&mut self, deadline: Duration, is_ready: impl Fn() -> bool) -> Result<()> {
        let begun = Instant::now();
        loop {
            interrupt::check()?;
            if let Some(status) = self.ended() {
                bail!(self.complaint(&format!("ended by itself ({status})")));
            }
            if is_ready() {
                return Ok(());
            }
            if begun.elapsed() > deadline {
                bail!(self.complaint(&format!("was not ready within {} s", deadline.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(POLL_MS));
        }
    }

    /// What went wrong, with the end of its log and where the rest is.
    pub fn complaint(&self, what: &str) -> String {
        format!(
            "{} {what}. The end of its log:\n{}\n  whole log: {}",
            self.name,
            tail(&self.log, TAIL_LINES),
            self.log.display()
        )
    }

    /// Asks it to end, without waiting, so that several can end at the same time.
    pub fn ask_to_end(&self) {
        self.identity.signal(Signal::TERM);
    }

    /// Ends it as a crash does, and waits until it is gone.
    pub fn kill(&mut self) {
        self.identity.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    fn stop_now(&mut self) {
        self.ask_to_end();
        let deadline = Instant::now() + Duration::from_secs(GRACE_S);
        while self.ended().is_none() {
            if Instant::now() > deadline {
                // Fails only when it has ended just now.
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(POLL_MS));
        }
        let _ = fs::remove_file(&self.pid_file);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_now();
    }
}

/// The same command, told by `setpriv` (util-linux) to end when the starting thread does. Where there is no
/// `setpriv`, the pid file is what `down` and the next start go by.
fn ending_with_its_parent(command: &Command) -> Command {
    let mut wrapped = match find_program("setpriv") {
        Some(setpriv) => {
            let mut wrapped = Command::new(setpriv);
            wrapped
                .args(["--pdeathsig", "TERM", "--"])
                .arg(command.get_program());
            wrapped
        }
        None => Command::new(command.get_program()),
    };
    wrapped.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    wrapped
}

/// Stops what an earlier task left running, by the identities in `pid_folder`. Returns the names of what it stopped.
///
/// # Errors
/// When one doesn't end.
pub fn stop_left_over(pid_folder: &Path) -> Result<Vec<String>> {
    let mut stopped = Vec::new();
    let Ok(entries) = fs::read_dir(pid_folder) else {
        return Ok(stopped);
    };
    for file in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(identity) = Identity::read(&file).filter(Identity::is_alive) {
            end(&identity, &name)?;
            stopped.push(name);
        }
        let _ = fs::remove_file(&file);
    }
    Ok(stopped)
}

fn end(identity: &Identity, name: &str) -> Result<()> {
    for (signal, seconds) in [(Signal::TERM, GRACE_S), (Signal::KILL, 5)] {
        identity.signal(signal);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < deadline {
            if !identity.is_alive() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(POLL_MS));
        }
    }
    bail!("{name} (process {}) does not end", identity.pid());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings_file::Settings;

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("xtask-running-{name}-{}", std::process::id()))
    }

    fn sleeper(folder: &Path) -> Running {
        let mut command = Command::new("sleep");
        command.arg("300");
        let mut running = Running::spawn(
            "sleeper",
            "sleep",
            &command,
            &folder.join("log"),
            &folder.join("pids/sleeper.pid"),
        )
        .unwrap();
        // Until the program that starts it has made way, it may have no command line to be known by.
        let command_line = format!("/proc/{}/cmdline", running.child.id());
        let is_asleep = || fs::read(&command_line).is_ok_and(|line| line == b"sleep\x00300\x00");
        running
            .await_ready(Duration::from_secs(10), is_asleep)
            .unwrap();
        running
    }

    #[test]
    fn dropping_a_running_process_stops_it_and_removes_its_pid_file() {
        let folder = folder("drop");
        let running = sleeper(&folder);
        let identity = running.identity.clone();
        assert!(identity.is_alive() && Identity::read(&running.pid_file).is_some());
        drop(running);
        assert!(!identity.is_alive());
        assert!(!folder.join("pids/sleeper.pid").exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_an_earlier_task_left_is_stopped_and_a_strangers_process_is_not() {
        let folder = folder("left");
        let running = sleeper(&folder);
        let mut stranger = Command::new("sleep").arg("300").spawn().unwrap();
        let mut forged = Settings::read(&folder.join("pids/sleeper.pid")).unwrap();
        forged.set("pid", &stranger.id().to_string());
        forged.set("start_ticks", "1");
        forged.write(&folder.join("pids/stranger.pid")).unwrap();

        let identity = running.identity.clone();
        let stopped = stop_left_over(&folder.join("pids")).unwrap();
        assert_eq!(stopped, ["sleeper"]);
        assert!(!identity.is_alive());
        assert!(stranger.try_wait().unwrap().is_none());
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        drop(running);
        fs::remove_dir_all(&folder).unwrap();
    }
}
