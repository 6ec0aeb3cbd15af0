//! A private MySQL or MariaDB server.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::mysql_folder::MySqlFolder;
use super::{Purpose, Service, ServiceSet};
use crate::command::{find_program, output_of, run_logged};
use crate::packages::is_root;
use crate::secrets::Secrets;
use crate::settings_file::write_private;
use crate::workspace::Workspace;

const DEADLINE_S: u64 = 60;
const ANSWER_MS: u64 = 500;
const USER: &str = "seatflow";
const DATABASE: &str = "seatflow";
/// The browser suite's own database, on whichever server.
pub const BROWSER_DATABASE: &str = "seatflow_e2e";

/// Which server. Each keeps its data in a folder of its own: none opens the other's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    MariaDb,
    MySql,
    /// MySQL out of a Debian system in a folder, where this machine's apt has none.
    MySqlInFolder,
}

impl Flavour {
    /// The server that is installed: MySQL before MariaDB. `None` when neither is.
    pub fn installed() -> Option<Self> {
        if installed_mysql().is_some() {
            Some(Self::MySql)
        } else {
            find_program("mariadbd").map(|_| Self::MariaDb)
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::MariaDb => "MariaDB",
            Self::MySql | Self::MySqlInFolder => "MySQL",
        }
    }

    /// The stem of its folder, log and pid file, and the word for it in `--database`.
    pub fn id(self) -> &'static str {
        match self {
            Self::MariaDb => "mariadb",
            Self::MySql | Self::MySqlInFolder => "mysql",
        }
    }
}

/// MySQL's own `mysqld`. MariaDB installs a program of that name too.
pub(super) fn installed_mysql() -> Option<PathBuf> {
    let program = find_program("mysqld")?;
    let version = output_of(program.to_str()?, &["--version"])?;
    (!version.contains("MariaDB")).then_some(program)
}

/// The service, and the address that its user reaches the database by.
pub(super) fn private(
    workspace: &Workspace,
    set: &ServiceSet,
    secrets: &Secrets,
    port: u16,
) -> Result<(Box<dyn Service>, String)> {
    let password = secrets.database_password().to_owned();
    let url = format!("mysql://{USER}:{password}@127.0.0.1:{port}/{DATABASE}");
    let shared = Settings {
        folder: set.folder.join(set.database.id()),
        purpose: set.purpose,
        port,
        password,
    };
    let service: Box<dyn Service> = match set.database {
        Flavour::MySqlInFolder => Box::new(MySqlFolder::new(workspace, set, shared)),
        flavour => Box::new(Database {
            flavour,
            settings: shared,
        }),
    };
    Ok((service, url))
}

/// What a server is told, whichever it is.
pub(super) struct Settings {
    /// Holds `data/`, and the statements that the server runs at each start.
    pub(super) folder: PathBuf,
    purpose: Purpose,
    pub(super) port: u16,
    password: String,
}

impl Settings {
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn statements_file(&self) -> PathBuf {
        self.folder.join("start.sql")
    }

    /// Writes the statements that make the database and its user. They change nothing the second time.
    pub(super) fn write_statements(&self) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("could not create {}", self.folder.display()))?;
        write_private(
            &self.statements_file(),
            &start_statements(self.purpose, &self.password),
        )
    }

    /// Options that every server understands. `data` and `statements` are paths as the server sees them.
    pub(super) fn options(&self, data: &Path, statements: &Path) -> Vec<String> {
        let mut options = vec![
            format!("--datadir={}", data.display()),
            format!("--init-file={}", statements.display()),
            format!("--port={}", self.port),
            "--bind-address=127.0.0.1".to_owned(),
            // Relative to the data folder: the whole path may be longer than a socket's name can be.
            "--socket=server.sock".to_owned(),
            "--pid-file=server.pid".to_owned(),
            "--character-set-server=utf8mb4".to_owned(),
            "--collation-server=utf8mb4_unicode_ci".to_owned(),
            "--default-time-zone=+00:00".to_owned(),
            "--innodb-buffer-pool-size=128M".to_owned(),
            "--max-connections=400".to_owned(),
            "--skip-log-bin".to_owned(),
            "--skip-name-resolve".to_owned(),
        ];
        if self.purpose == Purpose::Test {
            options.push("--innodb-flush-log-at-trx-commit=0".to_owned());
            options.push("--innodb-doublewrite=0".to_owned());
        }
        if is_root() {
            options.push("--user=root".to_owned());
        }
        options
    }

    /// Whether a server greets on the port, as MySQL's protocol has it: a packet whose fifth byte is 10.
    pub(super) fn greets(&self) -> bool {
        let greeting = || -> std::io::Result<[u8; 5]> {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            let timeout = Duration::from_millis(ANSWER_MS);
            let mut stream = TcpStream::connect_timeout(&address, timeout)?;
            stream.set_read_timeout(Some(timeout))?;
            let mut first = [0; 5];
            stream.read_exact(&mut first)?;
            Ok(first)
        };
        greeting().is_ok_and(|first| first[4] == 10)
    }
}

/// The server installed on this machine.
struct Database {
    flavour: Flavour,
    settings: Settings,
}

impl Database {
    fn program(&self) -> Result<PathBuf> {
        let found = match self.flavour {
            Flavour::MariaDb => find_program("mariadbd"),
            Flavour::MySql | Flavour::MySqlInFolder => installed_mysql(),
        };
        let program =
            found.with_context(|| format!("{} is not installed", self.flavour.title()))?;
        if self.flavour == Flavour::MySql && is_confined(&program) {
            return unconfined_copy(&program, &self.settings.folder);
        }
        Ok(program)
    }

    /// Creates the data folder beside its place and moves it there, so that it is whole or absent.
    fn initialise(&self, logs: &Path) -> Result<()> {
        let unfinished = self.settings.folder.join("data.new");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)
                .context("could not remove an unfinished data folder")?;
        }
        let data = format!("--datadir={}", unfinished.display());
        let mut command = match self.flavour {
            Flavour::MariaDb => {
                let installer = find_program("mariadb-install-db")
                    .context("mariadb-install-db is not installed")?;
                let mut command = Command::new(installer);
                command.args([
                    "--no-defaults",
                    "--skip-test-db",
                    "--auth-root-authentication-method=normal",
                ]);
                command
            }
            Flavour::MySql | Flavour::MySqlInFolder => {
                let mut command = Command::new(self.program()?);
                command.args(["--no-defaults", "--initialize-insecure"]);
                command
            }
        };
        command.arg(data);
        if is_root() {
            command.arg("--user=root");
        }
        run_logged(
            &mut command,
            &logs.join(format!("{}-initialise.log", self.flavour.id())),
        )?;
        fs::rename(&unfinished, self.settings.data())
            .context("could not move the new data folder to its place")
    }
}

impl Service for Database {
    fn name(&self) -> String {
        self.flavour.title().to_owned()
    }

    fn id(&self) -> &'static str {
        self.flavour.id()
    }

    fn marker(&self) -> &'static str {
        match self.flavour {
            Flavour::MariaDb => "mariadbd",
            Flavour::MySql | Flavour::MySqlInFolder => "mysqld",
        }
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.settings.port)
    }

    fn prepare(&self, logs: &Path) -> Result<()> {
        self.settings.write_statements()?;
        if self.settings.data().exists() {
            return Ok(());
        }
        self.initialise(logs)
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(self.program()?);
        command.arg("--no-defaults").args(
            self.settings
                .options(&self.settings.data(), &self.settings.statements_file()),
        );
        if self.flavour == Flavour::MySql {
            command.args(["--mysqlx=OFF", "--performance-schema=OFF", "--basedir=/usr"]);
        }
        Ok(command)
    }

    fn is_ready(&self, _log: &Path) -> bool {
        self.settings.greets()
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(DEADLINE_S)
    }
}

/// Statements for `--init-file`, one a line, run before the first client is let in.
///
/// The user is made for the host names that a loopback connection may carry, since MariaDB's anonymous user at
/// `localhost` would come before `user@'%'`.
fn start_statements(purpose: Purpose, password: &str) -> String {
    let mut lines = vec![
        format!("CREATE DATABASE IF NOT EXISTS {DATABASE};"),
        format!("ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';"),
    ];
    if purpose == Purpose::Test {
        lines.push(format!("CREATE DATABASE IF NOT EXISTS {BROWSER_DATABASE};"));
    }
    for host in ["localhost", "127.0.0.1"] {
        let user = format!("'{USER}'@'{host}'");
        lines.push(format!(
            "CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{password}';"
        ));
        lines.push(format!("ALTER USER {user} IDENTIFIED BY '{password}';"));
        lines.push(match purpose {
            Purpose::Keep => format!("GRANT ALL PRIVILEGES ON {DATABASE}.* TO {user};"),
            // Tests create databases of their own.
            Purpose::Test => format!("GRANT ALL PRIVILEGES ON *.* TO {user};"),
        });
    }
    lines.join("\n") + "\n"
}

/// Whether AppArmor, as Ubuntu sets it up, keeps `mysqld` out of every folder but the distribution's.
fn is_confined(program: &Path) -> bool {
    let profile = program
        .to_string_lossy()
        .trim_start_matches('/')
        .replace('/', ".");
    let enabled = fs::read_to_string("/sys/module/apparmor/parameters/enabled");
    enabled.is_ok_and(|text| text.starts_with('Y'))
        && Path::new("/etc/apparmor.d").join(profile).exists()
}

/// A copy of the program: AppArmor's profile is for a path, and knows nothing of this one.
fn unconfined_copy(program: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join("mysqld");
    let length = |path: &Path| fs::metadata(path).map(|metadata| metadata.len()).ok();
    if length(&copy) != length(program) {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not create {}", folder.display()))?;
        if let Err(error) = fs::copy(program, &copy) {
            bail!(
                "could not copy {} to {}: {error}",
                program.display(),
                copy.display()
            );
        }
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_exists_for_localhost_too_and_only_a_tests_user_may_create_databases() {
        let keep = start_statements(Purpose::Keep, "secret");
        assert!(
            keep.contains(
                "CREATE USER IF NOT EXISTS 'seatflow'@'localhost' IDENTIFIED BY 'secret';"
            )
        );
        assert!(keep.contains("GRANT ALL PRIVILEGES ON seatflow.* TO 'seatflow'@'127.0.0.1';"));
        assert!(!keep.contains("*.*"));
        assert!(start_statements(Purpose::Test, "secret").contains("ON *.* TO"));
        // A statement may not go on in the next line.
        assert!(keep.lines().all(|line| line.ends_with(';')));
    }
}
