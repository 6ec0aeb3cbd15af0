//! A real MySQL on a Debian whose apt has none: the server of the system that [`mysql_system`] names, run by `chroot`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::database::Settings;
use super::{Service, ServiceSet};
use crate::command::run_logged;
use crate::packages::mysql_system;
use crate::workspace::Workspace;

const DEADLINE_S: u64 = 90;

pub(super) struct MySqlFolder {
    /// The whole Debian system, shared by all sets.
    system: PathBuf,
    /// Where this set's data is, as the server in the folder sees it.
    home: PathBuf,
    settings: Settings,
}

impl MySqlFolder {
    pub(super) fn new(workspace: &Workspace, set: &ServiceSet, settings: Settings) -> Self {
        let name = set.folder.file_name().unwrap_or_default();
        Self {
            system: mysql_system(workspace),
            home: Path::new("/seatflow").join(name),
            settings,
        }
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn statements(&self) -> PathBuf {
        self.home.join("start.sql")
    }

    /// A path of the folder's system, as this machine sees it.
    fn outside(&self, path: &Path) -> PathBuf {
        self.system.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn chroot(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.system).arg(program).env("LC_ALL", "C");
        command
    }
}

impl Service for MySqlFolder {
    fn name(&self) -> String {
        "MySQL".to_owned()
    }

    fn id(&self) -> &'static str {
        "mysql"
    }

    fn marker(&self) -> &'static str {
        "mysqld"
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.settings.port)
    }

    /// The data is always new: this server is for tests alone.
    fn prepare(&self, logs: &Path) -> Result<()> {
        let folder = self.outside(&self.home);
        if folder.exists() {
            fs::remove_dir_all(&folder).context("could not remove the data of the run before")?;
        }
        fs::create_dir_all(&folder).context("could not create MySQL's folder")?;
        self.settings.write_statements()?;
        fs::copy(
            self.settings.statements_file(),
            self.outside(&self.statements()),
        )
        .context("could not copy the first statements")?;
        let mut command = self.chroot("mysqld");
        command.args(["--no-defaults", "--initialize-insecure", "--user=root"]);
        command.arg(format!("--datadir={}", self.data().display()));
        run_logged(&mut command, &logs.join("mysql-initialise.log"))
    }

    fn command(&self) -> Result<Command> {
        let mut command = self.chroot("mysqld");
        command
            .arg("--no-defaults")
            .args(self.settings.options(&self.data(), &self.statements()))
            .args([
                "--secure-file-priv=",
                "--mysqlx=OFF",
                "--performance-schema=OFF",
            ]);
        Ok(command)
    }

    fn is_ready(&self, _log: &Path) -> bool {
        self.settings.greets()
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(DEADLINE_S)
    }
}
