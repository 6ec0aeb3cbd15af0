//! The files of `public/`, served as they are.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Files;

/// Every file below `folder`, by its path there. A folder that does not exist has none.
///
/// # Errors
/// When a file or folder cannot be read.
pub fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    if folder.exists() {
        collect(folder, "", &mut files)?;
    }
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries {
        let path = entry
            .with_context(|| format!("could not read {}", folder.display()))?
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let below = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{below}/"), files)?;
        } else {
            let content =
                fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
            files.insert(below, content);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_folders_and_hidden_ones_are_left_out() {
        let root = std::env::temp_dir().join(format!("xtask-static-{}", std::process::id()));
        fs::create_dir_all(root.join("posters")).unwrap();
        for file in ["favicon.svg", "posters/one.svg", ".hidden"] {
            fs::write(root.join(file), file).unwrap();
        }
        let files = read(&root).unwrap();
        let names: Vec<_> = files.keys().collect();
        assert_eq!(names, ["favicon.svg", "posters/one.svg"]);
        fs::remove_dir_all(&root).unwrap();
        assert!(read(&root).unwrap().is_empty());
    }
}
