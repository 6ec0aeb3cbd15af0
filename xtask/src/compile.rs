//! The build: the server, and the browser's wasm module with its bundle.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::bundle;
use crate::command::run_logged;
use crate::interrupt::Interrupted;
use crate::packages::WASM_TARGET;
use crate::step::Progress;
use crate::workspace::Workspace;

/// How the server is compiled. The wasm module is always made as small as it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Compiles fast.
    Dev,
    /// Runs fast.
    Release,
}

impl Profile {
    pub fn id(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    pub fn server(self, workspace: &Workspace) -> PathBuf {
        let folder = match self {
            Self::Dev => "debug",
            Self::Release => "release",
        };
        workspace.target().join(folder).join("seatflow")
    }

    pub fn wasm_module(self, workspace: &Workspace) -> PathBuf {
        workspace
            .target()
            .join(WASM_TARGET)
            .join("wasm-release/frontend.wasm")
    }

    /// The folder of the bundle. Each profile has its own, so that what is deployed is never mixed with daily work.
    pub fn site(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Dev => workspace.target().join("site"),
            Self::Release => workspace.target().join("release/site"),
        }
    }
}

/// cargo at the root of the repository.
pub fn cargo(workspace: &Workspace) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(workspace.root());
    command
}

/// Builds the server, and beside it the wasm module with the whole bundle: they share nothing, and each has long
/// stretches on one core.
///
/// # Errors
/// When one of them cannot be built, with what the compiler said.
pub fn all(workspace: &Workspace, profile: Profile, progress: &Progress) -> Result<()> {
    std::thread::scope(|scope| {
        let browser = scope.spawn(|| {
            wasm(workspace, progress)?;
            bundle::build(workspace, profile, progress)
        });
        let server = server(workspace, profile, progress);
        let browser = match browser.join() {
            Ok(result) => result,
            Err(_) => bail!("the thread of the browser's bundle panicked; see above"),
        };
        both(server, browser)
    })
}

/// Two faults are told together: whoever mends one of them should know of the other.
fn both(server: Result<()>, browser: Result<()>) -> Result<()> {
    match (server, browser) {
        (Err(server), Err(browser)) if !server.is::<Interrupted>() => {
            bail!("{server:#}\n\n{browser:#}")
        }
        (server, browser) => server.and(browser),
    }
}

fn server(workspace: &Workspace, profile: Profile, progress: &Progress) -> Result<()> {
    progress.run("build server", || {
        let mut command = cargo(workspace);
        command.args(["build", "--package", "server", "--bin", "seatflow"]);
        if profile == Profile::Release {
            command.arg("--release");
        }
        run_logged(&mut command, &workspace.logs().join("build-server.log"))?;
        Ok(((), workspace.shown(&profile.server(workspace))))
    })
}

fn wasm(workspace: &Workspace, progress: &Progress) -> Result<()> {
    progress.run("build wasm", || {
        let mut command = cargo(workspace);
        command
            .args([
                "build",
                "--package",
                "frontend",
                "--lib",
                "--target",
                WASM_TARGET,
            ])
            .args(["--profile", "wasm-release"]);
        run_logged(&mut command, &workspace.logs().join("build-wasm.log"))?;
        Ok(((), String::new()))
    })
}
