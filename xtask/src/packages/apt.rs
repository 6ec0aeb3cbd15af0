//! Debian's and Ubuntu's packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{find_program, output_of, run_logged};

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The first of `candidates` that apt offers.
pub fn first_offered<'a>(candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .copied()
        .find(|package| is_offered(package))
}

fn is_offered(package: &str) -> bool {
    output_of("apt-cache", &["policy", package]).is_some_and(|text| has_candidate(&text))
}

/// Whether `apt-cache policy` names a version that could be installed.
fn has_candidate(policy: &str) -> bool {
    policy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Candidate:"))
        .any(|candidate| candidate.trim() != "(none)")
}

/// Brings apt's lists up to date, so that a fresh machine knows its packages.
///
/// # Errors
/// When apt is missing or fails.
pub fn update(log: &Path) -> Result<()> {
    if find_program("apt-get").is_none() {
        bail!("there is no apt-get: this machine is neither Debian nor Ubuntu");
    }
    run_logged(Command::new("apt-get").args(["update", "-q"]), log)
        .context("apt's lists could not be updated")
}

/// Installs `packages`, and starts nothing of what they bring: the services that the tasks use are private ones.
///
/// # Errors
/// When apt fails.
pub fn install(packages: &[&str], log: &Path) -> Result<()> {
    let mut command = Command::new("apt-get");
    command
        .args([
            "install",
            "-y",
            "-q",
            "--no-install-recommends",
            "-o",
            "DPkg::Lock::Timeout=120",
        ])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive");
    run_logged(&mut command, log)
}

/// The mirror that this machine takes its Debian packages from.
///
/// # Errors
/// When apt's sources name none.
pub fn mirror() -> Result<String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let folder = fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten();
    files.extend(folder.filter_map(|entry| entry.ok().map(|entry| entry.path())));
    files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .find_map(|text| debian_mirror(&text))
        .context("apt's sources name no mirror of Debian to take MySQL from; give one by DATABASE_URL instead")
}

/// The first archive of Debian itself in a sources file of either form: its path ends with `/debian`.
fn debian_mirror(sources: &str) -> Option<String> {
    sources
        .lines()
        .filter(|line| line.starts_with("deb ") || line.starts_with("URIs:"))
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_end_matches('/'))
        .find(|word| word.contains("://") && word.ends_with("/debian"))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_found_in_both_forms_of_sources() {
        let old =
            "# deb http://x/debian\ndeb [arch=amd64] http://mirror.example/debian/ bookworm main\n";
        assert_eq!(
            debian_mirror(old).as_deref(),
            Some("http://mirror.example/debian")
        );
        let new = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n";
        assert_eq!(
            debian_mirror(new).as_deref(),
            Some("http://mirror.example/debian")
        );
        assert_eq!(
            debian_mirror("URIs: http://mirror.example/debian-security\n"),
            None
        );
    }

    #[test]
    fn a_package_without_a_candidate_is_not_offered() {
        assert!(!has_candidate(
            "mysql-server:\n  Installed: (none)\n  Candidate: (none)\n"
        ));
        assert!(has_candidate(
            "redis-server:\n  Installed: (none)\n  Candidate: 5:7.0.15\n"
        ));
        assert!(!has_candidate(""));
    }
}
