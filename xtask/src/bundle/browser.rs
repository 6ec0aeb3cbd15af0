//! From cargo's wasm module to what the browser loads: the JavaScript glue and an optimised module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use walrus::Module;
use wasm_bindgen_cli_support::Bindgen;

use super::hashes::OUTPUT_NAME;
use super::{Files, content_hash, never_run, remove_folder, static_files};
use crate::command::run_logged;
use crate::packages::path_with_node;
use crate::step::Progress;
use crate::workspace::Workspace;

/// What rustc's wasm32 target uses, all of it in every browser since 2022. The module itself doesn't say, since
/// its custom sections are stripped.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];
/// Functions that were made from the same source lie side by side then, and compress better.
const OPTIMISATIONS: [&str; 4] = [
    "-Oz",
    "--reorder-functions-by-name",
    "--strip-debug",
    "--strip-producers",
];

/// What the browser loads.
pub struct Browser {
    pub script: String,
    pub wasm: Vec<u8>,
    /// Modules that the script imports, by their path beside it.
    pub snippets: Files,
}

/// Writes the glue and optimises the module, unless that was done for this very module before.
///
/// # Errors
/// When the module cannot be read or understood, or wasm-opt fails.
pub fn build(
    workspace: &Workspace,
    work: &Path,
    module: &Path,
    progress: &Progress,
) -> Result<Browser> {
    let bytes = fs::read(module).with_context(|| format!("could not read {}", module.display()))?;
    let lock_file = fs::read(workspace.end2end().join("package-lock.json")).unwrap_or_default();
    // The tools' versions count too: wasm-bindgen's is in the module, binaryen's in the lock file.
    let key = format!(
        "{} {} {} {}",
        content_hash(&bytes),
        content_hash(&lock_file),
        OPTIMISATIONS.join(" "),
        never_run::names()
    );
    let output = work.join("browser");
    if !fs::read_to_string(output.join("key")).is_ok_and(|known| known == key) {
        let unfinished = work.join("browser.new");
        remove_folder(&unfinished)?;
        progress.run("wasm-bindgen", || {
            let (module, left_out) = never_run::leave_out(&bytes)?;
            write_glue(module, &unfinished)?;
            Ok(((), format!("{left_out} functions left out")))
        })?;
        progress.run("wasm-opt", || {
            let before = size_kb(&unfinished.join(module_name()))?;
            optimise(workspace, &unfinished)?;
            let after = size_kb(&unfinished.join("optimised.wasm"))?;
            Ok(((), format!("{before} kB → {after} kB")))
        })?;
        fs::write(unfinished.join("key"), key).context("could not note what was bundled")?;
        super::replace_folder(&output, &unfinished)?;
    }
    read(&output)
}

fn module_name() -> String {
    format!("{OUTPUT_NAME}_bg.wasm")
}

fn write_glue(module: Module, folder: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_module(OUTPUT_NAME, module)
        .web(true)?
        .typescript(false)
        // The page says where the module is, under its hashed name; the glue must not guess.
        .omit_default_module_path(true)
        .generate(folder)
        .context("wasm-bindgen could not write the JavaScript glue")
}

fn optimise(workspace: &Workspace, folder: &Path) -> Result<()> {
    let mut command = Command::new(wasm_opt(workspace));
    command
        .args(OPTIMISATIONS)
        .args(WASM_FEATURES)
        .arg(folder.join(module_name()))
        .arg("-o")
        .arg(folder.join("optimised.wasm"))
        .env("PATH", path_with_node(workspace));
    run_logged(&mut command, &workspace.logs().join("wasm-opt.log"))
}

fn wasm_opt(workspace: &Workspace) -> PathBuf {
    workspace.end2end().join("node_modules/.bin/wasm-opt")
}

fn read(folder: &Path) -> Result<Browser> {
    let at = |name: &str| folder.join(name);
    Ok(Browser {
        script: fs::read_to_string(at(&format!("{OUTPUT_NAME}.js")))
            .context("could not read the glue")?,
        wasm: fs::read(at("optimised.wasm")).context("could not read the optimised module")?,
        snippets: static_files::read(&at("snippets"))?
            .into_iter()
            .map(|(path, content)| (format!("snippets/{path}"), content))
            .collect(),
    })
}

fn size_kb(file: &Path) -> Result<u64> {
    let metadata =
        fs::metadata(file).with_context(|| format!("could not read {}", file.display()))?;
    Ok(metadata.len().div_ceil(1000))
}
