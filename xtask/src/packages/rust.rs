//! The wasm target of the Rust toolchain.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{find_program, output_of, run_logged};
use crate::step::Progress;
use crate::workspace::Workspace;

pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// # Errors
/// When the target is missing and rustup cannot add it.
pub fn ensure_wasm_target(workspace: &Workspace, progress: &Progress) -> Result<()> {
    if is_there() {
        return Ok(());
    }
    progress.run("wasm target", || {
        if find_program("rustup").is_none() {
            bail!(
                "this Rust toolchain has no {WASM_TARGET} target, and there is no rustup to add it"
            );
        }
        let mut command = Command::new("rustup");
        command
            .args(["target", "add", WASM_TARGET])
            .current_dir(workspace.root());
        run_logged(&mut command, &workspace.logs().join("rustup.log"))?;
        Ok(((), WASM_TARGET.to_owned()))
    })
}

fn is_there() -> bool {
    output_of(
        "rustc",
        &["--print", "target-libdir", "--target", WASM_TARGET],
    )
    .is_some_and(|folder| Path::new(folder.trim()).is_dir())
}
