//! What the tasks need from outside: system packages, the wasm target, npm packages, Kafka's jars. What is
//! missing is installed through the package managers; what is there is left alone.

pub mod apt;
mod jars;
mod mysql_system;
mod node;
mod requirement;
mod rust;

use anyhow::{Result, bail};

pub use apt::is_root;
pub use jars::kafka_jars;
pub use mysql_system::mysql_system;
pub use node::path_with_node;
pub use requirement::{Need, chromium};
pub use rust::WASM_TARGET;

use crate::services::Flavour;
use crate::step::Progress;
use crate::workspace::Workspace;

/// Installs what is missing of `needs`.
///
/// # Errors
/// When something is missing and cannot be installed, with the command that would.
pub fn ensure(workspace: &Workspace, needs: &[Need], progress: &Progress) -> Result<()> {
    progress.run("system packages", || {
        let installed = requirement::ensure_all(workspace, needs)?;
        Ok((
            (),
            if installed.is_empty() {
                "all there".to_owned()
            } else {
                installed.join(" ")
            },
        ))
    })?;
    if needs.contains(&Need::Build) {
        rust::ensure_wasm_target(workspace, progress)?;
    }
    if needs.contains(&Need::Build) || needs.contains(&Need::Browser) {
        node::ensure_packages(workspace, progress)?;
    }
    if needs.contains(&Need::DatabaseInFolder) {
        mysql_system::ensure(workspace, progress)?;
    }
    if needs.contains(&Need::Kafka) {
        jars::ensure(workspace, progress)?;
    }
    Ok(())
}

/// The database server of this machine, installed by [`ensure`] where there was none. Where the environment names
/// another, there may be none, and which is said here plays no part.
///
/// # Errors
/// When there is none although it is needed.
pub fn database_flavour() -> Result<Flavour> {
    match Flavour::installed() {
        Some(flavour) => Ok(flavour),
        None if is_given("DATABASE_URL") => Ok(Flavour::MariaDb),
        None => bail!("neither MySQL nor MariaDB is installed"),
    }
}

/// Whether the environment names a service, which is then used instead of a private one.
pub fn is_given(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| !value.is_empty())
}
