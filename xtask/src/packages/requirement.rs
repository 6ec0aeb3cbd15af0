//! The programs that the tasks call, how each is found, and the packages that bring it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::apt;
use crate::command::{find_program, output_of};
use crate::services::Flavour;
use crate::workspace::Workspace;

const JAVA_MAJOR_MIN: u32 = 17;

/// What a task is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Compile the server and the browser's bundle.
    Build,
    Database,
    /// Unpack a MySQL into a folder, where this machine has none.
    DatabaseInFolder,
    Redis,
    Kafka,
    /// Drive a browser.
    Browser,
}

struct Requirement {
    need: Need,
    title: &'static str,
    is_there: fn() -> bool,
    /// The first that apt offers is installed.
    packages: &'static [&'static str],
}

const REQUIREMENTS: [Requirement; 12] = [
    Requirement {
        need: Need::Build,
        title: "a C compiler",
        is_there: || find_program("cc").is_some(),
        packages: &["build-essential"],
    },
    Requirement {
        need: Need::Build,
        title: "a C++ compiler and make (Kafka's client library)",
        is_there: || find_program("make").is_some() && find_program("g++").is_some(),
        packages: &["build-essential"],
    },
    Requirement {
        need: Need::Build,
        title: "Node.js",
        is_there: || find_program("node").is_some(),
        packages: &["nodejs"],
    },
    Requirement {
        need: Need::Build,
        title: "npm",
        is_there: || find_program("npm").is_some(),
        packages: &["npm"],
    },
    Requirement {
        need: Need::Database,
        title: "a MySQL or MariaDB server",
        is_there: || Flavour::installed().is_some(),
        packages: &["mysql-server", "mariadb-server"],
    },
    Requirement {
        need: Need::DatabaseInFolder,
        title: "debootstrap (a real MySQL in a folder)",
        is_there: || find_program("debootstrap").is_some(),
        packages: &["debootstrap"],
    },
    Requirement {
        need: Need::Redis,
        title: "Redis",
        is_there: || find_program("redis-server").is_some(),
        packages: &["redis-server"],
    },
    Requirement {
        need: Need::Kafka,
        title: "a Java runtime, 17 or newer",
        is_there: || java_major().is_some_and(|major| major >= JAVA_MAJOR_MIN),
        packages: &[
            "openjdk-21-jre-headless",
            "openjdk-17-jre-headless",
            "default-jre-headless",
        ],
    },
    Requirement {
        need: Need::Kafka,
        title: "Maven",
        is_there: || find_program("mvn").is_some(),
        packages: &["maven"],
    },
    Requirement {
        need: Need::Browser,
        title: "Chromium",
        is_there: || chromium().is_some(),
        packages: &["chromium", "chromium-browser"],
    },
    Requirement {
        need: Need::Browser,
        title: "Chinese fonts",
        is_there: has_chinese_font,
        packages: &["fonts-noto-cjk"],
    },
    Requirement {
        need: Need::Browser,
        title: "npm",
        is_there: || find_program("npm").is_some(),
        packages: &["npm"],
    },
];

/// Installs the packages of what is missing, and returns their names.
///
/// # Errors
/// When something is missing and this is not root, with the command to type; or when apt cannot bring it.
pub fn ensure_all(workspace: &Workspace, needs: &[Need]) -> Result<Vec<&'static str>> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let titles: Vec<_> = missing
        .iter()
        .map(|requirement| requirement.title)
        .collect();
    if !apt::is_root() {
        let packages = packages_of(&missing).unwrap_or_else(|_| first_choices(&missing));
        bail!(
            "missing: {}. Install what is missing, then try again:\n\n    sudo apt-get update && sudo apt-get install -y {}\n",
            titles.join(", "),
            packages.join(" ")
        );
    }
    let logs = workspace.logs();
    apt::update(&logs.join("apt-update.log"))?;
    let packages = packages_of(&missing)?;
    apt::install(&packages, &logs.join("apt-install.log"))?;
    let still = self::missing(needs);
    if let Some(requirement) = still.first() {
        bail!(
            "{} is still missing after the installation of {}",
            requirement.title,
            packages.join(" ")
        );
    }
    Ok(packages)
}

fn missing(needs: &[Need]) -> Vec<&'static Requirement> {
    static KNOWN: [Requirement; REQUIREMENTS.len()] = REQUIREMENTS;
    KNOWN
        .iter()
        .filter(|requirement| needs.contains(&requirement.need) && !(requirement.is_there)())
        .collect()
}

fn packages_of(missing: &[&Requirement]) -> Result<Vec<&'static str>> {
    let mut packages = Vec::new();
    for requirement in missing {
        let package = apt::first_offered(requirement.packages).with_context(|| {
            format!(
                "apt offers none of {} for {}",
                requirement.packages.join(", "),
                requirement.title
            )
        })?;
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    Ok(packages)
}

/// Where apt's lists are empty, what they would most likely offer.
fn first_choices(missing: &[&Requirement]) -> Vec<&'static str> {
    missing
        .iter()
        .filter_map(|requirement| requirement.packages.last().copied())
        .collect()
}

/// The browser that the journeys are run in: `CHROMIUM_PATH`, or the one that is installed.
pub fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM_PATH") {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    [
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
    ]
    .into_iter()
    .find_map(find_program)
}

fn has_chinese_font() -> bool {
    output_of("fc-list", &[":lang=zh", "family"])
        .is_some_and(|families| !families.trim().is_empty())
}

fn java_major() -> Option<u32> {
    parse_java_major(&output_of("java", &["-version"])?)
}

/// The major version out of `openjdk version "17.0.15" 2025-04-15`.
fn parse_java_major(text: &str) -> Option<u32> {
    let (_, version) = text.split_once("version \"")?;
    let number: String = version.chars().take_while(char::is_ascii_digit).collect();
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_java_is_read() {
        assert_eq!(
            parse_java_major("openjdk version \"17.0.15\" 2025-04-15"),
            Some(17)
        );
        assert_eq!(
            parse_java_major("openjdk version \"21\" 2023-09-19"),
            Some(21)
        );
        // Java 8 called itself 1.8, which is older than any that is wanted.
        assert_eq!(parse_java_major("java version \"1.8.0_292\""), Some(1));
        assert_eq!(parse_java_major("command not found"), None);
    }
}
