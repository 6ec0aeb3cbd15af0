//! `cargo xtask test` and `e2e`: everything that shows whether the product works, on real services.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::check;
use crate::command::{find_program, run_visible, shown};
use crate::compile::{self, Profile, cargo};
use crate::packages::{self, Need, chromium, path_with_node};
use crate::ports;
use crate::secrets::Secrets;
use crate::server::Server;
use crate::services::{BROWSER_DATABASE, Flavour, Purpose, ServiceSet, Services, SetLock};
use crate::step::{Progress, line_of};
use crate::up;
use crate::workspace::Workspace;

/// Which database server the tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Database {
    Mariadb,
    Mysql,
}

/// A part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Domain, scripts, integration: everything that cargo tests.
    Unit,
    /// The browser journeys.
    E2e,
}

/// How often the tests that draw and race do so on request.
const THOROUGHLY: [(&str, &str); 3] = [
    ("SEATFLOW_PROPERTY_CASES", "10000"),
    ("SEATFLOW_RACE_ROUNDS", "10000"),
    ("SEATFLOW_GATEWAY_CASES", "2000"),
];

/// What to run, and on what.
pub struct Suite<'a> {
    pub workspace: &'a Workspace,
    pub progress: &'a Progress,
    pub database: Option<Database>,
    /// Random sequences and races are repeated as [`THOROUGHLY`] says.
    pub thorough: bool,
    /// Handed on to cargo test, or to Playwright.
    pub arguments: Vec<String>,
}

impl Suite<'_> {
    /// Everything, or one part of it, with a table of the steps at the end.
    ///
    /// # Errors
    /// The first step that failed; nothing after it is run.
    pub fn run(&self, only: Option<Part>) -> Result<()> {
        let begun = Instant::now();
        let outcome = self.steps(only);
        self.progress.say(&self.table(begun));
        outcome
    }

    fn steps(&self, only: Option<Part>) -> Result<()> {
        let flavour = self.prepare(only != Some(Part::Unit))?;
        if only.is_none() {
            check::check(self.workspace, self.progress)?;
        }
        if only != Some(Part::E2e) {
            self.unit(flavour)?;
        }
        if only != Some(Part::Unit) {
            self.browser(flavour)?;
        }
        Ok(())
    }

    fn prepare(&self, with_browser: bool) -> Result<Flavour> {
        let mut needs = up::needs();
        if with_browser {
            needs.push(Need::Browser);
        }
        if self.database == Some(Database::Mysql) && Flavour::installed() != Some(Flavour::MySql) {
            needs.retain(|need| *need != Need::Database);
            needs.push(Need::DatabaseInFolder);
        }
        packages::ensure(self.workspace, &needs, self.progress)?;
        match self.database {
            None => packages::database_flavour(),
            Some(Database::Mariadb) if find_program("mariadbd").is_none() => {
                bail!("MariaDB is not installed: apt-get install mariadb-server");
            }
            Some(Database::Mariadb) => Ok(Flavour::MariaDb),
            Some(Database::Mysql) => Ok(match Flavour::installed() {
                Some(Flavour::MySql) => Flavour::MySql,
                _ => Flavour::MySqlInFolder,
            }),
        }
    }

    /// Each part has services of its own, empty at its start, so that none finds what the other has left.
    fn services(
        &self,
        part: &str,
        flavour: Flavour,
    ) -> Result<(SetLock, ServiceSet, Secrets, Services)> {
        let name = format!("{part}-{}", flavour.id());
        let set = ServiceSet::new(self.workspace, &name, Purpose::Test, flavour);
        let lock = SetLock::take(&set.folder, "")?;
        let secrets = Secrets::load(self.workspace)?;
        let services = Services::start(self.workspace, &set, &secrets, self.progress)?;
        Ok((lock, set, secrets, services))
    }

    fn unit(&self, flavour: Flavour) -> Result<()> {
        let (_lock, _set, _secrets, services) = self.services("test", flavour)?;
        // xtask apart: together their dependencies' features would differ from those of a build, and all
        // would be compiled a second time.
        for (name, packages) in [
            ("test: xtask", vec!["xtask"]),
            ("test: server", vec!["app", "server"]),
        ] {
            let mut command = cargo(self.workspace);
            command
                .arg("test")
                .args(packages.iter().flat_map(|package| ["--package", package]));
            command
                .args(&self.arguments)
                .envs(services.endpoints.as_environment());
            if self.thorough {
                command.envs(THOROUGHLY);
            }
            self.visible(name, &mut command)?;
        }
        services.stop(self.progress);
        Ok(())
    }

    fn browser(&self, flavour: Flavour) -> Result<()> {
        let folder = self.workspace.end2end();
        let browser =
            chromium().context("no Chromium: install it, or say where one is by CHROMIUM_PATH")?;
        compile::all(self.workspace, Profile::Dev, self.progress)?;
        let (_lock, set, secrets, services) = self.services("e2e", flavour)?;

        let endpoints = services.endpoints.with_database(BROWSER_DATABASE);
        let mut server = Server::new(
            self.workspace,
            &set,
            &endpoints,
            &secrets,
            ports::any_free()?,
        );
        server.add_settings(&folder.join("server.env"))?;
        server.run(&["migrate"], self.progress)?;
        server.run(
            &["seed", "--catalogue", "end2end/catalogue.json"],
            self.progress,
        )?;
        let running = server.serve(self.progress)?;

        let mut command = Command::new(folder.join("node_modules/.bin/playwright"));
        command
            .arg("test")
            .args(&self.arguments)
            .current_dir(&folder)
            .env("PATH", path_with_node(self.workspace))
            .env("BASE_URL", server.address())
            .env("CHROMIUM_PATH", browser)
            .env("SEATFLOW_DEMO_PASSWORD", secrets.demo_password())
            .envs(server.for_callers());
        let outcome = self.visible("test: browser", &mut command);
        let outcome =
            outcome.map_err(|error| error.context(running.complaint("served the browser suite")));
        drop(running);
        services.stop(self.progress);
        outcome
    }

    /// Runs a program that tells its own progress on the terminal.
    fn visible(&self, name: &str, command: &mut Command) -> Result<()> {
        self.progress.run(name, || {
            self.progress
                .say(&format!("\n  $ {}\n", without_folder(command)));
            self.progress.silently(|| run_visible(command))?;
            Ok(((), String::new()))
        })
    }

    fn table(&self, begun: Instant) -> String {
        let mut table = "\nSteps\n".to_owned();
        for record in self.progress.finished() {
            let _ = writeln!(table, "{}", line_of(&record));
        }
        let _ = write!(
            table,
            "  all together {:.1} s",
            begun.elapsed().as_secs_f64()
        );
        table
    }
}

/// The command with its program's name alone.
fn without_folder(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program
        .file_name()
        .unwrap_or(OsStr::new(""))
        .to_string_lossy();
    shown(command).replacen(&*program.to_string_lossy(), &name, 1)
}
