//! `cargo xtask check`: formatting, clippy on both sides, and the house rules that no compiler knows.

use anyhow::Result;

use crate::command::run_logged;
use crate::compile::cargo;
use crate::house_rules;
use crate::packages::WASM_TARGET;
use crate::step::Progress;
use crate::workspace::Workspace;

/// Runs all checks, and goes on after a failed one, so that one run tells everything.
///
/// # Errors
/// The first check that failed.
pub fn check(workspace: &Workspace, progress: &Progress) -> Result<()> {
    // Server and browser need different features of the same crates, so each is checked by itself.
    let runs: [(&str, &[&str]); 4] = [
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
    let mut outcome = Ok(());
    for (name, arguments) in runs {
        let run = cargo_step(workspace, progress, name, arguments);
        outcome = outcome.and(run);
    }
    let rules = progress.run("house rules", || house_rules::check(workspace, progress));
    outcome.and(rules)
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
