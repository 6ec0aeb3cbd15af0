//! Kafka's jars, resolved by Maven from `xtask/kafka/pom.xml`; and the marks that say what was installed from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::bundle::content_hash;
use crate::command::run_logged;
use crate::step::Progress;
use crate::workspace::Workspace;

/// The folder of the jars, shared by all sets of services.
pub fn kafka_jars(workspace: &Workspace) -> PathBuf {
    workspace.state().join("kafka/libs")
}

/// Copies the jars when the pom has changed since they were copied.
///
/// # Errors
/// When Maven fails.
pub fn ensure(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let pom = workspace.path("xtask/kafka/pom.xml");
    let jars = kafka_jars(workspace);
    let mark = jars.join(".installed");
    if is_stamped(&mark, &pom) {
        return Ok(());
    }
    progress.run("Kafka's jars", || {
        if jars.exists() {
            // Jars of another version must not stay on the class path.
            fs::remove_dir_all(&jars).context("could not remove the old jars")?;
        }
        let mut command = Command::new("mvn");
        command
            .args(["-q", "-B", "-f"])
            .arg(&pom)
            .args(["dependency:copy-dependencies", "-DincludeScope=runtime"])
            .arg(format!("-DoutputDirectory={}", jars.display()));
        run_logged(&mut command, &workspace.logs().join("maven.log"))?;
        stamp(&mark, &pom)?;
        let count = fs::read_dir(&jars).context("Maven copied nothing")?.count();
        Ok(((), format!("{count} files")))
    })
}

/// Whether `mark` says that the installation was made from `source` as it is now.
pub fn is_stamped(mark: &Path, source: &Path) -> bool {
    match (fs::read_to_string(mark), fs::read(source)) {
        (Ok(mark), Ok(source)) => mark == content_hash(&source),
        _ => false,
    }
}

/// Notes in `mark` what the installation was made from.
///
/// # Errors
/// When `source` cannot be read or `mark` cannot be written.
pub fn stamp(mark: &Path, source: &Path) -> Result<()> {
    let bytes = fs::read(source).with_context(|| format!("could not read {}", source.display()))?;
    fs::write(mark, content_hash(&bytes))
        .with_context(|| format!("could not write {}", mark.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_source_is_no_longer_the_stamped_one() {
        let folder = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (mark, source) = (folder.join("mark"), folder.join("source"));
        fs::write(&source, "one").unwrap();
        assert!(!is_stamped(&mark, &source));
        stamp(&mark, &source).unwrap();
        assert!(is_stamped(&mark, &source));
        fs::write(&source, "two").unwrap();
        assert!(!is_stamped(&mark, &source));
        fs::remove_dir_all(&folder).unwrap();
    }
}
