//! The browser's bundle: script, wasm, styles and static files, named after their content, compressed ahead of time,
//! and put where the server looks for them.

mod browser;
mod compressed;
mod hashes;
mod never_run;
mod static_files;
mod styles;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

pub use compressed::Sizes;

use crate::compile::Profile;
use crate::step::Progress;
use crate::workspace::Workspace;
use compressed::Compressor;
use hashes::{Hashes, OUTPUT_NAME, PACKAGE_FOLDER};

const HASH_BYTES: usize = 8;

/// 16 hexadecimal digits that stand for `content`: half of them collide once in 4 billion files.
pub fn content_hash(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest
        .iter()
        .take(HASH_BYTES)
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The files of a site by their path below its root.
type Files = BTreeMap<String, Vec<u8>>;

/// Builds the bundle from a wasm module that cargo has compiled. Steps whose inputs did not change are left out.
///
/// # Errors
/// When the module, the styles or the static files cannot be read, wasm-opt fails, or the site cannot be written.
pub fn build(workspace: &Workspace, profile: Profile, progress: &Progress) -> Result<()> {
    let work = workspace.target().join("bundle").join(profile.id());
    let browser = browser::build(workspace, &work, &profile.wasm_module(workspace), progress)?;
    let css = styles::bundle(&workspace.path("style/main.css"))?;
    let hashes = Hashes {
        js: content_hash(browser.script.as_bytes()),
        wasm: content_hash(&browser.wasm),
        css: content_hash(css.as_bytes()),
    };

    let mut files = Files::new();
    let mut add = |extension: &str, hash: &str, content: Vec<u8>| {
        files.insert(
            format!("{PACKAGE_FOLDER}/{OUTPUT_NAME}.{hash}.{extension}"),
            content,
        );
    };
    add("js", &hashes.js, browser.script.into_bytes());
    add("wasm", &hashes.wasm, browser.wasm);
    add("css", &hashes.css, css.into_bytes());
    for (path, content) in browser.snippets {
        files.insert(format!("{PACKAGE_FOLDER}/{path}"), content);
    }
    files.extend(static_files::read(&workspace.path("public"))?);

    progress.run("site", || {
        write_site(workspace, profile, &work, &files, &hashes)
    })
}

fn write_site(
    workspace: &Workspace,
    profile: Profile,
    work: &Path,
    files: &Files,
    hashes: &Hashes,
) -> Result<((), String)> {
    let site = profile.site(workspace);
    let mark = work.join("site.mark");
    let fingerprint = fingerprint(files);
    let written = fs::read_to_string(&mark).is_ok_and(|mark| mark == fingerprint);
    if written && Hashes::read(&site).as_ref() == Some(hashes) {
        return Ok(((), "unchanged".to_owned()));
    }
    let compressor = Compressor::new(workspace.target().join("bundle/compressed"));
    let unfinished = site.with_extension("new");
    remove_folder(&unfinished)?;
    let mut total = Sizes::default();
    for (path, content) in files {
        let sizes = compressor.write(&unfinished.join(path), content)?;
        if path.starts_with(&format!("{PACKAGE_FOLDER}/")) {
            total += sizes;
        }
    }
    hashes.write(&unfinished)?;
    replace_folder(&site, &unfinished)?;
    fs::write(&mark, fingerprint).context("could not note which site was written")?;
    compressor.forget_unused();
    Ok(((), total.to_string()))
}

/// Stands for all names and contents.
fn fingerprint(files: &Files) -> String {
    let mut all = String::new();
    for (path, content) in files {
        let _ = writeln!(all, "{path} {}", content_hash(content));
    }
    content_hash(all.as_bytes())
}

fn replace_folder(place: &Path, with: &Path) -> Result<()> {
    let old = place.with_extension("old");
    remove_folder(&old)?;
    if place.exists() {
        fs::rename(place, &old).with_context(|| format!("could not move {}", place.display()))?;
    }
    fs::rename(with, place).with_context(|| format!("could not write {}", place.display()))?;
    remove_folder(&old)
}

fn remove_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("could not remove {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stands_for_its_content() {
        assert_eq!(content_hash(b""), "e3b0c44298fc1c14");
        assert_ne!(content_hash(b"a"), content_hash(b"b"));
    }

    #[test]
    fn a_fingerprint_changes_with_a_name_and_with_a_content() {
        let files = |name: &str, content: &str| {
            Files::from([(name.to_owned(), content.as_bytes().to_vec())])
        };
        let one = fingerprint(&files("a", "x"));
        assert_ne!(one, fingerprint(&files("b", "x")));
        assert_ne!(one, fingerprint(&files("a", "y")));
        assert_eq!(one, fingerprint(&files("a", "x")));
    }

    #[test]
    fn a_folder_is_replaced_whole() {
        let root = std::env::temp_dir().join(format!("xtask-replace-{}", std::process::id()));
        let (place, with) = (root.join("site"), root.join("site.new"));
        for (folder, file) in [(&place, "old"), (&with, "new")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        replace_folder(&place, &with).unwrap();
        assert!(place.join("new").exists() && !place.join("old").exists());
        assert!(!with.exists() && !root.join("site.old").exists());
        fs::remove_dir_all(&root).unwrap();
    }
}
