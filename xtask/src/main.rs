//! The tasks of this repository: `cargo xtask <task>`.

mod bundle;
mod chaos;
mod check;
mod command;
mod compile;
mod health;
mod house_rules;
mod interrupt;
mod packages;
mod ports;
mod secrets;
mod server;
mod services;
mod settings_file;
mod step;
mod suite;
mod up;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use compile::Profile;
use packages::Need;
use step::Progress;
use suite::{Database, Part, Suite};
use workspace::Workspace;

/// As a shell has it for a program that Ctrl-C has ended.
const EXIT_INTERRUPTED: u8 = 130;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "The tasks of this repository",
    disable_version_flag = true
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing, start the services, build, and serve SeatFlow until Ctrl-C
    Up {
        /// The port of the web pages
        #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u16).range(1..))]
        port: u16,
    },
    /// Stop what `up` has started in this folder
    Down,
    /// Build the server and the browser's bundle
    Build {
        /// Optimised, as it is deployed
        #[arg(long)]
        release: bool,
    },
    /// Formatting, clippy and the house rules
    Check,
    /// Everything: check, unit, script and integration tests, browser journeys
    Test {
        /// The database server to test on; without it, the one that is installed
        #[arg(long, value_enum)]
        database: Option<Database>,
        /// One part alone
        #[arg(long, value_enum)]
        only: Option<Part>,
        /// Random sequences and races in the thousands, instead of some hundreds
        #[arg(long)]
        thorough: bool,
        /// Handed on to `cargo test`, or to Playwright with `--only e2e`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Kill servers and services while customers buy, and audit what became of every order
    Chaos(chaos::Options),
    /// The browser journeys alone
    E2e {
        /// Handed on to Playwright
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (progress, live_line) = Progress::start();
    let outcome = interrupt::listen().and_then(|()| run(arguments.task, &progress));
    drop(live_line);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<interrupt::Interrupted>() => {
            eprintln!("\ninterrupted: what was started is stopped");
            ExitCode::from(EXIT_INTERRUPTED)
        }
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task, progress: &Progress) -> Result<()> {
    let workspace = &Workspace::current();
    let suite = |database, arguments| Suite {
        workspace,
        progress,
        database,
        thorough: false,
        arguments,
    };
    match task {
        Task::Up { port } => up::up(workspace, port, progress),
        Task::Down => up::down(workspace, progress),
        Task::Build { release } => build(workspace, release, progress),
        Task::Check => {
            packages::ensure(workspace, &[Need::Build], progress)?;
            check::check(workspace, progress)
        }
        Task::Test {
            database,
            only,
            thorough,
            arguments,
        } => Suite {
            thorough,
            ..suite(database, arguments)
        }
        .run(only),
        Task::Chaos(options) => chaos::chaos(workspace, &options, progress),
        Task::E2e { arguments } => suite(None, arguments).run(Some(Part::E2e)),
    }
}

fn build(workspace: &Workspace, release: bool, progress: &Progress) -> Result<()> {
    let profile = if release {
        Profile::Release
    } else {
        Profile::Dev
    };
    packages::ensure(workspace, &[Need::Build], progress)?;
    compile::all(workspace, profile, progress)?;
    progress.say(&format!(
        "\nThe program: {}\nIts site:    {}",
        workspace.shown(&profile.server(workspace)),
        workspace.shown(&profile.site(workspace))
    ));
    Ok(())
}
