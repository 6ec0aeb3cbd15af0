//! Where things are: the repository's root and the folders that the tasks write to.

use std::path::{Path, PathBuf};

/// The repository, as the tasks see it. Every path is absolute, so that a task may be called from any folder.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The repository that this program was compiled in.
    pub fn current() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self {
            root: manifest.parent().unwrap_or(manifest).to_path_buf(),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Everything that belongs to this copy of the repository alone: data, secrets, ports, logs. Not under
    /// version control, and not under `target/`, so that `cargo clean` loses no data.
    pub fn state(&self) -> PathBuf {
        self.root.join(".run")
    }

    /// Logs of builds and installations. Each set of services has a log folder of its own.
    pub fn logs(&self) -> PathBuf {
        self.state().join("logs")
    }

    pub fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// The folder of the npm packages: the browser journeys and wasm-opt.
    pub fn end2end(&self) -> PathBuf {
        self.root.join("end2end")
    }

    /// `path` as a reader at the root would type it.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}
