//! `hash.txt`: which hashes the names of script, wasm and styles carry, in the form that leptos reads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The stem of the three files, `output-name` of `Leptos.toml`.
pub const OUTPUT_NAME: &str = "seatflow";
/// Their folder in the site, `site-pkg-dir` of `Leptos.toml`.
pub const PACKAGE_FOLDER: &str = "pkg";
/// `hash-file-name` of `Leptos.toml`.
const FILE: &str = "hash.txt";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    pub js: String,
    pub wasm: String,
    pub css: String,
}

impl Hashes {
    pub fn to_text(&self) -> String {
        format!("js: {}\nwasm: {}\ncss: {}\n", self.js, self.wasm, self.css)
    }

    /// `None` when one of the three is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let of = |kind: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.trim() == kind)
                .map(|(_, hash)| hash.trim().to_owned())
        };
        Some(Self {
            js: of("js")?,
            wasm: of("wasm")?,
            css: of("css")?,
        })
    }

    /// The hashes of the site in `folder`, and only if the files that they name are there.
    pub fn read(folder: &Path) -> Option<Self> {
        let hashes = Self::parse(&fs::read_to_string(folder.join(FILE)).ok()?)?;
        let is_there = |hash: &str, extension: &str| {
            folder
                .join(PACKAGE_FOLDER)
                .join(format!("{OUTPUT_NAME}.{hash}.{extension}"))
                .is_file()
        };
        let complete = is_there(&hashes.js, "js")
            && is_there(&hashes.wasm, "wasm")
            && is_there(&hashes.css, "css");
        complete.then_some(hashes)
    }

    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join(FILE), self.to_text()).context("could not write the site's hashes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "js: 0a\nwasm: 0b\ncss: 0c\n";

    #[test]
    fn what_is_written_is_read_again() {
        let hashes = Hashes::parse(TEXT).unwrap();
        assert_eq!(
            hashes,
            Hashes {
                js: "0a".into(),
                wasm: "0b".into(),
                css: "0c".into()
            }
        );
        assert_eq!(hashes.to_text(), TEXT);
    }

    #[test]
    fn a_file_without_one_of_the_three_is_none() {
        assert_eq!(Hashes::parse("js: 0a\ncss: 0c\n"), None);
    }

    #[test]
    fn leptos_is_told_the_names_that_are_written() {
        let leptos =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Leptos.toml")).unwrap();
        for line in [
            format!("output-name = \"{OUTPUT_NAME}\""),
            format!("site-pkg-dir = \"{PACKAGE_FOLDER}\""),
            format!("hash-file-name = \"{FILE}\""),
            "hash-files = true".to_owned(),
            "site-root = \"target/site\"".to_owned(),
        ] {
            assert!(
                leptos.lines().any(|known| known == line),
                "Leptos.toml lacks `{line}`"
            );
        }
    }
}
