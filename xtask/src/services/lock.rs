//! One task at a time for each set of services, and a way to find the task that has it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::identity::Identity;
use crate::settings_file::Settings;

/// Held for as long as the task runs; the kernel lets go of it with the process, however that ends.
pub struct SetLock {
    _file: File,
    holder: PathBuf,
}

impl SetLock {
    /// Takes the lock of the set in `folder`. `address` is where it will be reached, for others to read.
    ///
    /// # Errors
    /// When another task has it: the message says which and how to stop it.
    pub fn take(folder: &Path, address: &str) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not create {}", folder.display()))?;
        let file = open(folder)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(refusal(folder)),
            Err(TryLockError::Error(error)) => {
                return Err(error).context("could not lock the folder of the services");
            }
        }
        let holder = holder_file(folder);
        Identity::of(std::process::id(), "xtask")?.write(&holder)?;
        let mut settings = Settings::read(&holder)?;
        settings.set("address", address);
        settings.write(&holder)?;
        Ok(Self {
            _file: file,
            holder,
        })
    }

    /// Whether some task has the lock of the set in `folder`.
    ///
    /// # Errors
    /// When the lock's file cannot be opened.
    pub fn is_taken(folder: &Path) -> Result<bool> {
        if !folder.exists() {
            return Ok(false);
        }
        Ok(matches!(
            open(folder)?.try_lock(),
            Err(TryLockError::WouldBlock)
        ))
    }

    /// The task that has the lock.
    pub fn holder(folder: &Path) -> Option<Identity> {
        Identity::read(&holder_file(folder)).filter(Identity::is_alive)
    }
}

impl Drop for SetLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.holder);
    }
}

fn open(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .with_context(|| format!("could not open {}", path.display()))
}

fn holder_file(folder: &Path) -> PathBuf {
    folder.join("task.pid")
}

fn refusal(folder: &Path) -> String {
    let settings = Settings::read(&holder_file(folder)).unwrap_or_default();
    let process = settings.get("pid").unwrap_or("unknown");
    match settings.get("address") {
        Some(address) if !address.is_empty() => format!(
            "SeatFlow already runs from this folder: {address} (process {process}). \
             Stop it with `cargo xtask down`."
        ),
        _ => format!(
            "another task (process {process}) uses the services in {}. Wait for it, or end it.",
            folder.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_second_task_is_refused_and_told_where_the_first_runs() {
        let folder = std::env::temp_dir().join(format!("xtask-lock-{}", std::process::id()));
        let first = SetLock::take(&folder, "http://localhost:3000").unwrap();
        assert!(SetLock::is_taken(&folder).unwrap());
        let refusal = SetLock::take(&folder, "").err().unwrap().to_string();
        assert!(
            refusal.contains("http://localhost:3000") && refusal.contains("down"),
            "{refusal}"
        );
        drop(first);
        // A process that another test is just starting has a copy of the lock until it runs its program.
        let begun = Instant::now();
        while SetLock::is_taken(&folder).unwrap() {
            assert!(begun.elapsed() < Duration::from_secs(10), "still taken");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(SetLock::holder(&folder).is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
