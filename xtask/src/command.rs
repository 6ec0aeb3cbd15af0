//! Programs that a task calls and waits for: cargo, npm, apt, Maven, Playwright.
//!
//! Each runs in a process group of its own, so that giving up stops what it has started too, and so that Ctrl-C
//! reaches it once, from here.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt;

const POLL_MS: u64 = 20;
/// What a program gets to end by itself once it was asked to.
const GRACE_S: u64 = 10;
const TAIL_LINES: usize = 40;

/// What cargo says to the programs that it runs. Handed on to an inner cargo it would make build scripts believe
/// that their surroundings had changed.
const OUTER_CARGO: [&str; 4] = [
    "CARGO",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "LD_LIBRARY_PATH",
];

/// Runs `command` with its output in `log`.
///
/// # Errors
/// When it cannot be started, is interrupted, or fails: then the message ends with the log's last lines.
pub fn run_logged(command: &mut Command, log: &Path) -> Result<()> {
    let status = end_logged(command, log)?;
    if status.success() {
        return Ok(());
    }
    bail!(
        "`{}` failed ({status}):\n{}\n  whole log: {}",
        shown(command),
        tail(log, TAIL_LINES),
        log.display()
    );
}

/// Runs `command` with its output in `log`, and says how it ended.
///
/// # Errors
/// When it cannot be started or is interrupted.
pub fn end_logged(command: &mut Command, log: &Path) -> Result<ExitStatus> {
    let file = create_log(log)?;
    let again = file.try_clone().context("could not open the log twice")?;
    command.stdout(file).stderr(again);
    run(command)
}

/// Runs `command` with its output on this terminal.
///
/// # Errors
/// When it cannot be started, is interrupted, or fails.
pub fn run_visible(command: &mut Command) -> Result<()> {
    let status = run(command)?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// What a short command prints, both streams together, or `None` when it is missing or fails.
pub fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| {
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        text
    })
}

/// Whether a program of this name is to be found, `/usr/sbin` included: servers live there, and it is not on
/// everybody's path.
pub fn find_program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}

/// The last `lines` lines of a file, or as much as can be read of it.
pub fn tail(file: &Path, lines: usize) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// An empty file at `log`, with its folder; what was there before is kept as `<name>.1`.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn create_log(log: &Path) -> Result<File> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not create {}", folder.display()))?;
    }
    if log.exists() {
        let mut kept = log.as_os_str().to_owned();
        kept.push(".1");
        fs::rename(log, kept).with_context(|| format!("could not move {}", log.display()))?;
    }
    File::create(log).with_context(|| format!("could not create {}", log.display()))
}

fn run(command: &mut Command) -> Result<ExitStatus> {
    interrupt::check()?;
    for name in OUTER_CARGO {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") {
            command.env_remove(name);
        }
    }
    let mut child = command
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .with_context(|| format!("could not start `{}`", shown(command)))?;
    loop {
        if let Some(status) = child.try_wait().context("could not wait for a program")? {
            return Ok(status);
        }
        if interrupt::requested() {
            end_group(&mut child);
            bail!(interrupt::Interrupted);
        }
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
}

fn end_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(group) = group else { return };
    let deadline = Instant::now() + Duration::from_secs(GRACE_S);
    // The group may have ended on its own meanwhile: then there is nobody to signal, which is what is wanted.
    let _ = kill_process_group(group, Signal::TERM);
    while Instant::now() < deadline {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}

/// The command as it would be typed, for messages.
pub fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_names_itself_and_shows_its_last_lines() {
        let log = std::env::temp_dir().join(format!("xtask-command-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "echo first; echo last >&2; exit 3"]);
        let message = run_logged(&mut command, &log).unwrap_err().to_string();
        assert!(message.contains("sh -c"), "{message}");
        assert!(message.contains("first\nlast"), "{message}");
        fs::remove_file(&log).unwrap();
    }

    #[test]
    fn a_missing_program_is_not_found() {
        assert!(find_program("no-such-program-anywhere").is_none());
        assert!(find_program("sh").is_some());
    }
}
