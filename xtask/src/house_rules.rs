//! The rules of this repository that neither rustc nor clippy knows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::step::Progress;
use crate::workspace::Workspace;

/// Where hand-written source is.
const FOLDERS: [&str; 7] = [
    "app", "server", "frontend", "xtask", "lua", "style", "end2end",
];
const SOURCES: [&str; 4] = ["rs", "lua", "css", "ts"];
/// A name that says nothing about what is inside.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "misc"];
const LINES_MAX: usize = 500;

struct Pattern {
    text: &'static str,
    extension: &'static str,
    /// Folders in which it may stand.
    allowed_in: &'static [&'static str],
    instead: &'static str,
}

/// The texts are split, so that this file does not break its own rules.
const PATTERNS: [Pattern; 8] = [
    Pattern {
        text: concat!("#[", "ignore"),
        extension: "rs",
        allowed_in: &[],
        instead: "nothing is skipped: make the test pass, or take it out",
    },
    Pattern {
        text: concat!("sqlx::", "query"),
        extension: "rs",
        allowed_in: &["server/src/mysql/", "server/src/gateway/", "server/tests/"],
        instead: "SQL lives in server/src/mysql/",
    },
    Pattern {
        text: concat!("UPDATE ", "ledger_"),
        extension: "rs",
        allowed_in: &["server/tests/"],
        instead: "a posting is never changed: post what puts it right",
    },
    Pattern {
        text: concat!("DELETE FROM ", "ledger_"),
        extension: "rs",
        allowed_in: &["server/tests/"],
        instead: "a posting is never deleted: post what puts it right",
    },
    Pattern {
        text: concat!("TO", "DO"),
        extension: "rs",
        allowed_in: &[],
        instead: "open an issue instead",
    },
    Pattern {
        text: concat!("FIX", "ME"),
        extension: "rs",
        allowed_in: &[],
        instead: "open an issue instead",
    },
    Pattern {
        text: concat!("test.", "only("),
        extension: "ts",
        allowed_in: &[],
        instead: "the whole suite must run",
    },
    Pattern {
        text: concat!("test.", "skip("),
        extension: "ts",
        allowed_in: &[],
        instead: "nothing is skipped: make the test pass, or take it out",
    },
];

/// Looks through all source files. Long files are told, not refused.
///
/// # Errors
/// All broken rules, a line each, with file and line.
pub fn check(workspace: &Workspace, progress: &Progress) -> Result<((), String)> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&workspace.path(folder), &mut files);
    }
    files.sort();
    let mut faults = Vec::new();
    for file in &files {
        let shown = workspace.shown(file);
        let text = fs::read_to_string(file).unwrap_or_default();
        faults.extend(faults_of(&shown, &text));
        let lines = text.lines().count();
        if lines > LINES_MAX {
            progress.say(&format!(
                "  ! {shown} has {lines} lines: split it by meaning"
            ));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(((), format!("{} files", files.len())))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "node_modules" && name != "target" {
                collect(&path, files);
            }
        } else if extension(&path).is_some_and(|extension| SOURCES.contains(&extension)) {
            files.push(path);
        }
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

fn faults_of(shown: &str, text: &str) -> Vec<String> {
    let path = Path::new(shown);
    let mut faults = Vec::new();
    let names = path.with_extension("");
    if names
        .iter()
        .any(|part| EMPTY_NAMES.iter().any(|name| part == *name))
    {
        faults.push(format!(
            "{shown}: the name says nothing; name it after what is inside"
        ));
    }
    for pattern in PATTERNS
        .iter()
        .filter(|pattern| extension(path) == Some(pattern.extension))
    {
        if pattern
            .allowed_in
            .iter()
            .any(|folder| shown.starts_with(folder))
        {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if line.contains(pattern.text) {
                faults.push(format!(
                    "{shown}:{}: `{}`: {}",
                    index + 1,
                    pattern.text,
                    pattern.instead
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_rule_is_told_with_its_line() {
        let text = format!("fn a() {{}}\n{}]\n", concat!("#[", "ignore"));
        let faults = faults_of("server/src/a.rs", &text);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("server/src/a.rs:2:"), "{}", faults[0]);
    }

    #[test]
    fn sql_may_stand_in_its_own_folder_only() {
        let text = format!("{}(\"SELECT 1\")", concat!("sqlx::", "query"));
        assert!(faults_of("server/src/mysql/order.rs", &text).is_empty());
        assert_eq!(faults_of("server/src/ticketing/order.rs", &text).len(), 1);
    }

    #[test]
    fn postings_of_the_ledger_are_never_changed() {
        let text = concat!("UPDATE ", "ledger_posting SET sales = 0");
        assert_eq!(faults_of("server/src/mysql/money/ledger.rs", text).len(), 1);
        let text = concat!("DELETE FROM ", "ledger_posting");
        assert_eq!(faults_of("server/src/mysql/repairs.rs", text).len(), 1);
    }

    #[test]
    fn a_name_that_says_nothing_is_refused_for_files_and_folders() {
        assert_eq!(faults_of("app/src/utils.rs", "").len(), 1);
        assert_eq!(faults_of("app/src/helpers/seat.rs", "").len(), 1);
        assert!(faults_of("app/src/seat.rs", "").is_empty());
    }
}
