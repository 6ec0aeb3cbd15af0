//! A real MySQL for a Debian whose apt has none: the server out of Debian's next release, with the system that it
//! needs, in a folder. The folder is kept, so that only the first time takes long.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::apt;
use crate::command::run_logged;
use crate::step::Progress;
use crate::workspace::Workspace;

const RELEASE: &str = "sid";

/// The root of the system in a folder, shared by all sets of services.
pub fn mysql_system(workspace: &Workspace) -> PathBuf {
    workspace.state().join("mysql-root")
}

/// Unpacks the system beside its place and moves it there, so that it is whole or absent.
///
/// # Errors
/// When this is not root, or Debian's packages cannot be had.
pub fn ensure(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let system = mysql_system(workspace);
    if system.exists() {
        return Ok(());
    }
    if !apt::is_root() {
        bail!(
            "a MySQL in a folder needs root, for debootstrap and chroot. \
             Install a MySQL server, or run this as root"
        );
    }
    let unfinished = system.with_extension("new");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).context("could not remove an unfinished system")?;
    }
    progress.run("MySQL: system", || {
        unpack(&unfinished, &workspace.logs())?;
        Ok(((), format!("Debian {RELEASE}, for its server alone")))
    })?;
    progress.run("MySQL: server", || {
        install(&unfinished, &workspace.logs())?;
        fs::rename(&unfinished, &system).context("could not move the new system to its place")?;
        Ok(((), workspace.shown(&system)))
    })
}

fn unpack(folder: &Path, logs: &Path) -> Result<()> {
    let mut command = Command::new("debootstrap");
    command
        .args(["--variant=minbase", RELEASE])
        .arg(folder)
        .arg(apt::mirror()?);
    run_logged(&mut command, &logs.join("mysql-debootstrap.log"))
}

fn install(folder: &Path, logs: &Path) -> Result<()> {
    let mut command = Command::new("chroot");
    command
        .arg(folder)
        // The lists of a frozen mirror are past their date.
        .args([
            "apt-get",
            "-y",
            "-q",
            "-o",
            "Acquire::Check-Valid-Until=false",
        ])
        .args(["install", "--no-install-recommends"])
        .args(["mysql-server-core", "mysql-client-core"])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C");
    run_logged(&mut command, &logs.join("mysql-install.log"))
}
