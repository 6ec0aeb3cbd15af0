//! Who a process is, so that a task of another terminal, or of a later day, stops that process and no other.
//!
//! A process id alone is given to somebody else after a while. Together with the process's start time and the
//! machine's boot it names one process for ever.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use crate::settings_file::Settings;

/// A process that was started here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pid: i32,
    /// Field 22 of `/proc/<pid>/stat`: ticks since the boot.
    start_ticks: u64,
    boot_id: String,
    /// A word of its command line.
    marker: String,
}

impl Identity {
    /// The identity of a living process, whose command line has `marker` in it, now or when it has settled.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn of(pid: u32, marker: &str) -> Result<Self> {
        let pid = i32::try_from(pid).context("a process id beyond the kernel's own limit")?;
        Ok(Self {
            pid,
            start_ticks: start_ticks(pid)
                .with_context(|| format!("process {pid} ended as soon as it was started"))?,
            boot_id: boot_id(),
            marker: marker.to_owned(),
        })
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether that very process still runs. A zombie doesn't.
    pub fn is_alive(&self) -> bool {
        self.boot_id == boot_id()
            && start_ticks(self.pid) == Some(self.start_ticks)
            && command_line(self.pid).contains(&self.marker)
    }

    /// Sends a signal, if that very process still runs.
    pub fn signal(&self, signal: Signal) {
        if let (true, Some(pid)) = (self.is_alive(), Pid::from_raw(self.pid)) {
            // It may end between the look and the signal; the number is not given away again that fast.
            let _ = kill_process(pid, signal);
        }
    }

    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let mut settings = Settings::default();
        settings.set("pid", &self.pid.to_string());
        settings.set("start_ticks", &self.start_ticks.to_string());
        settings.set("boot_id", &self.boot_id);
        settings.set("marker", &self.marker);
        settings.write(file)
    }

    /// The identity in `file`; `None` when there is no such file or it is damaged.
    pub fn read(file: &Path) -> Option<Self> {
        let settings = Settings::read(file).ok()?;
        Some(Self {
            pid: settings.get("pid")?.parse().ok()?,
            start_ticks: settings.get("start_ticks")?.parse().ok()?,
            boot_id: settings.get("boot_id")?.to_owned(),
            marker: settings.get("marker")?.to_owned(),
        })
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// `None` when there is no such process, or only its remains.
fn start_ticks(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_start_ticks(&stat)
}

fn parse_start_ticks(stat: &str) -> Option<u64> {
    // The name, field 2, stands in parentheses and may itself hold spaces and parentheses.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    // The state was field 3; field 22 is the nineteenth after it.
    fields.nth(18)?.parse().ok()
}

fn command_line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "812 (a (b) c) S 1 812 812 0 -1 4194560 2 0 0 0 1 2 3 4 20 0 1 0 987654 1000 50 1 1";

    #[test]
    fn the_start_time_is_found_behind_a_name_with_parentheses() {
        assert_eq!(parse_start_ticks(STAT), Some(987_654));
    }

    #[test]
    fn a_zombie_is_no_living_process() {
        assert_eq!(parse_start_ticks(&STAT.replace(" S ", " Z ")), None);
    }

    #[test]
    fn this_process_is_known_again_and_survives_its_file() {
        let marker = command_line(i32::try_from(std::process::id()).unwrap());
        let marker = marker.split(' ').next().unwrap();
        let identity = Identity::of(std::process::id(), marker).unwrap();
        assert!(identity.is_alive());
        let file = std::env::temp_dir().join(format!("xtask-identity-{}", std::process::id()));
        identity.write(&file).unwrap();
        assert_eq!(Identity::read(&file), Some(identity));
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_recycled_process_id_is_somebody_else() {
        let mut identity = Identity::of(std::process::id(), "").unwrap();
        identity.start_ticks += 1;
        assert!(!identity.is_alive());
        let mut other_boot = Identity::of(std::process::id(), "").unwrap();
        other_boot.boot_id = "another".to_owned();
        assert!(!other_boot.is_alive());
        let mut other_program = Identity::of(std::process::id(), "").unwrap();
        other_program.marker = "no such word".to_owned();
        assert!(!other_program.is_alive());
    }
}
