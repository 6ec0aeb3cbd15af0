//! `cargo xtask check`: formatting, clippy on both sides, and the house rules that no compiler knows.

use anyhow::{Result, bail};

use crate::command::run_logged;
use crate::compile::cargo;
use crate::house_rules;
use crate::interrupt::Interrupted;
use crate::packages::WASM_TARGET;
use crate::step::Progress;
use crate::workspace::Workspace;

/// Server and browser need different features of the same crates, so each is checked by itself.
const CARGO_CHECKS: [(&str, &[&str]); 5] = [
    ("format", &["fmt", "--all", "--check"]),
    (
        "clippy: server",
        &[
            "clippy",
            "-p",
            "app",
            "-p",
            "server",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "clippy: fail points",
        &[
            "clippy",
            "-p",
            "server",
            "--lib",
            "--bins",
            "--features",
            "fail-points",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "clippy: browser",
        &[
            "clippy",
            "-p",
            "frontend",
            "--lib",
            "--target",
            WASM_TARGET,
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "clippy: xtask",
        &[
            "clippy",
            "-p",
            "xtask",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
];

/// Runs all checks, and goes on after a failed one, so that one run tells everything.
///
/// # Errors
/// When a check failed: what it said is on the terminal by then, and the error has the names.
pub fn check(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let mut failed = Vec::new();
    let mut note = |name: &'static str, outcome: Result<()>| match outcome {
        Ok(()) => Ok(()),
        Err(error) if error.is::<Interrupted>() => Err(error),
        Err(error) => {
            progress.say(&format!("{error:#}\n"));
            failed.push(name);
            Ok(())
        }
    };
    for (name, arguments) in CARGO_CHECKS {
        note(name, cargo_step(workspace, progress, name, arguments))?;
    }
    let rules = progress.run("house rules", || house_rules::check(workspace, progress));
    note("house rules", rules)?;
    if !failed.is_empty() {
        bail!(
            "{} of the checks failed: {}",
            failed.len(),
            failed.join(", ")
        );
    }
    Ok(())
}

fn cargo_step(
    workspace: &Workspace,
    progress: &Progress,
    name: &str,
    arguments: &[&str],
) -> Result<()> {
    progress.run(name, || {
        let log = workspace
            .logs()
            .join(format!("check-{}.log", name.replace(": ", "-")));
        run_logged(cargo(workspace).args(arguments), &log)?;
        Ok(((), String::new()))
    })
}
