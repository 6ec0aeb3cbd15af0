//! Small state files of `NAME=value` lines: ports, secrets, the identity of a process, the browser suite's settings.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// The lines of a state file, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    entries: Vec<(String, String)>,
}

impl Settings {
    /// Reads `file`; a file that does not exist is an empty one.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn read(file: &Path) -> Result<Self> {
        match fs::read_to_string(file) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("could not read {}", file.display())),
        }
    }

    /// Lines without `=`, empty lines and those that begin with `#` say nothing.
    pub fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') {
                continue;
            }
            if let Some((name, value)) = line.split_once('=') {
                settings.set(name.trim(), value.trim());
            }
        }
        settings
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|(known, _)| known == name);
        entry.map(|(_, value)| value.as_str())
    }

    pub fn set(&mut self, name: &str, value: &str) {
        match self.entries.iter_mut().find(|(known, _)| known == name) {
            Some(entry) => value.clone_into(&mut entry.1),
            None => self.entries.push((name.to_owned(), value.to_owned())),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Writes the lines to `file`, readable by its owner alone, whole or not at all.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let mut text = String::new();
        for (name, value) in &self.entries {
            text.push_str(&format!("{name}={value}\n"));
        }
        write_private(file, &text)
    }
}

/// Writes `text` to `file`, readable by its owner alone, whole or not at all.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write_private(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not create {}", folder.display()))?;
    }
    let unfinished = file.with_extension("new");
    let writing = || -> std::io::Result<()> {
        let mut output = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        output.write_all(text.as_bytes())?;
        output.sync_all()?;
        fs::rename(&unfinished, file)
    };
    writing().with_context(|| format!("could not write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_lines_without_a_value_say_nothing() {
        let settings = Settings::parse("# A=1\n\nB = 2\nnonsense\nC=x=y\n");
        let entries: Vec<_> = settings.iter().collect();
        assert_eq!(entries, [("B", "2"), ("C", "x=y")]);
    }

    #[test]
    fn the_last_line_of_a_name_wins() {
        assert_eq!(Settings::parse("A=1\nA=2").get("A"), Some("2"));
    }

    #[test]
    fn what_is_written_is_read_again_and_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let file = std::env::temp_dir().join(format!("xtask-settings-{}.env", std::process::id()));
        let mut settings = Settings::default();
        settings.set("SECRET", "a=b");
        settings.write(&file).unwrap();
        assert_eq!(Settings::read(&file).unwrap(), settings);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_file(&file).unwrap();
    }
}
