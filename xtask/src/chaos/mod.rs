//! `cargo xtask chaos`: servers and services die while customers buy, and what became of every order is audited.
//!
//! The services are a set of its own (`.run/chaos-<database>`), empty at each start. The program is built with fail points
//! and kept apart from the ordinary one. Nothing is believed that only the program says: what customers were told over
//! HTTP is written down and compared with what they find when all is quiet ([`audit`]).

mod audit;
mod buyer;
mod http;
mod judge;
mod kill;
mod letters;
mod outage;
mod promises;
mod random;
mod recipes;
mod report;
mod sale;
mod stack;
mod staff;
mod trouble;
mod wish;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::command::run_logged;
use crate::compile::{Profile, cargo};
use crate::interrupt::{self, Interrupted};
use crate::packages::{self, Need};
use crate::secrets::Secrets;
use crate::services::{Purpose, ServiceSet, Services, SetLock};
use crate::step::Progress;
use crate::workspace::Workspace;
use kill::{Point, Run};
use outage::{Service, Story};
use report::{Report, Row};
use stack::{Ground, Stack};

/// What dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// The server, at every fail point in turn
    Kill,
    /// The server, at the fail points of payments and refunds
    Pay,
    /// Kafka, for a minute
    Kafka,
    /// Redis, which comes back empty
    Redis,
    /// MySQL or MariaDB, which is restarted
    Mysql,
    /// The server, twice, while 650 tickets are sold
    Twice,
    /// One of two servers
    Servers,
    /// All of them, one after the other
    All,
}

/// The scenarios that are one run each.
const STORIES: [Scenario; 5] = [
    Scenario::Kafka,
    Scenario::Redis,
    Scenario::Mysql,
    Scenario::Twice,
    Scenario::Servers,
];

/// Runs of one installation.
const RUNS_A_STACK: usize = 12;

/// How often a run is tried again in which all was well, but nobody came to the point.
const MISSES_MAX: usize = 2;

/// A run that is to be done.
struct Job {
    point: String,
    number: usize,
    misses: usize,
}

impl Job {
    fn new(point: &str, number: usize) -> Self {
        Self {
            point: point.to_owned(),
            number,
            misses: 0,
        }
    }
}

/// What `cargo xtask chaos` is told.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// What dies
    #[arg(value_enum)]
    scenario: Scenario,
    /// Only these fail points, separated by commas
    #[arg(long, value_delimiter = ',')]
    points: Vec<String>,
    /// Runs of each fail point
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Installations in which runs go on side by side
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=16))]
    stacks: u64,
    /// Customers of each installation
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=64))]
    buyers: u64,
    /// Run the program that an earlier run has built
    #[arg(long)]
    no_build: bool,
    /// How long a service is away
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Option<u64>,
}

/// Runs a scenario, prints its table and writes it to `target/bench/`.
///
/// # Errors
/// When something can't be set up, or one run was not clean.
pub fn chaos(workspace: &Workspace, options: &Options, progress: &Progress) -> Result<()> {
    let needs = [Need::Build, Need::Database, Need::Redis, Need::Kafka];
    packages::ensure(workspace, &needs, progress)?;
    let flavour = packages::database_flavour()?;
    let name = format!("chaos-{}", flavour.id());
    let set = ServiceSet::new(workspace, &name, Purpose::Test, flavour).private();
    let _lock = SetLock::take(&set.folder, "")?;
    let program = workspace.state().join("chaos/seatflow");
    if !options.no_build {
        build(workspace, &program, progress)?;
    }
    let points = chosen(&kill::read_points(&list(&program)?)?, options)?;
    let secrets = Secrets::load(workspace)?;
    let mut services = Services::start(workspace, &set, &secrets, progress)?;
    let ground = Ground {
        workspace,
        set: &set,
        endpoints: services.endpoints.clone(),
        secrets: &secrets,
        program,
        buyers: usize::try_from(options.buyers)?,
    };
    let begun = Instant::now();
    let rows = rows(&ground, &mut services, &points, options, progress);
    services.stop(progress);
    let report = Report {
        name: word(options.scenario),
        took: begun.elapsed(),
        rows: rows?,
    };
    progress.say(&report.table());
    report.write(&workspace.target().join("bench"))?;
    if report.failed() > 0 {
        bail!(
            "{} row(s) were not clean; logs: {}",
            report.failed(),
            workspace.shown(&set.logs())
        );
    }
    Ok(())
}

fn rows(
    ground: &Ground<'_>,
    services: &mut Services,
    points: &[Point],
    options: &Options,
    progress: &Progress,
) -> Result<Vec<Row>> {
    let mut rows = match options.scenario {
        Scenario::All | Scenario::Kill | Scenario::Pay => kills(ground, points, options, progress)?,
        _ => Vec::new(),
    };
    for scenario in STORIES {
        if options.scenario != Scenario::All && options.scenario != scenario {
            continue;
        }
        let name = word(scenario);
        let step = progress.begin(&format!("chaos: {name}"));
        let mut stack = Stack::make(ground, &name)?;
        let story = tell(scenario, &mut stack, services, options)?;
        step.done(&story.remark);
        rows.push(Row::of_story(&story));
    }
    Ok(rows)
}

fn tell(
    scenario: Scenario,
    stack: &mut Stack<'_>,
    services: &mut Services,
    options: &Options,
) -> Result<Story> {
    let service = match scenario {
        Scenario::Kafka => Service::Kafka,
        Scenario::Redis => Service::Redis,
        Scenario::Mysql => Service::Mysql,
        Scenario::Twice => return outage::killed_twice(stack),
        Scenario::Servers => return outage::two_servers(stack),
        Scenario::Kill | Scenario::Pay | Scenario::All => bail!("not a story"),
    };
    let away = options.seconds.unwrap_or_else(|| service.seconds());
    outage::service(stack, services, service, Duration::from_secs(away))
}

fn word(scenario: Scenario) -> String {
    let value = scenario.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Every run of every point, on as many installations side by side as were asked for.
fn kills(
    ground: &Ground<'_>,
    points: &[Point],
    options: &Options,
    progress: &Progress,
) -> Result<Vec<Row>> {
    let jobs = points
        .iter()
        .flat_map(|point| (0..options.runs).map(move |number| Job::new(&point.name, number)));
    let jobs: Mutex<VecDeque<Job>> = Mutex::new(jobs.collect());
    let runs: Mutex<BTreeMap<String, Vec<Run>>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=options.stacks)
            .map(|number| {
                let (jobs, runs) = (&jobs, &runs);
                scope.spawn(move || work(ground, number, jobs, runs, progress))
            })
            .collect();
        let outcomes: Vec<Result<()>> = workers
            .into_iter()
            .map(|worker| match worker.join() {
                Ok(outcome) => outcome,
                Err(_) => bail!("a thread panicked; see above"),
            })
            .collect();
        outcomes.into_iter().collect::<Result<()>>()
    })?;
    let runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rows = points.iter().map(|point| {
        let runs = runs.get(&point.name).map_or(&[][..], Vec::as_slice);
        Row::of_point(&point.name, runs)
    });
    Ok(rows.collect())
}

/// One installation works on jobs until there are none. After a run that was not clean a new one is made, so that one fault is
/// not found again in every run that follows; and after some runs, because its server compares all shows that were ever sold in it
/// every two seconds.
fn work(
    ground: &Ground<'_>,
    number: u64,
    jobs: &Mutex<VecDeque<Job>>,
    runs: &Mutex<BTreeMap<String, Vec<Run>>>,
    progress: &Progress,
) -> Result<()> {
    let (mut generation, mut runs_done) = (0, 0);
    let mut stack = None;
    loop {
        interrupt::check()?;
        let job = jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        let Some(job) = job else {
            return Ok(());
        };
        if runs_done == RUNS_A_STACK {
            (stack, runs_done) = (None, 0);
        }
        runs_done += 1;
        let current = match &mut stack {
            Some(stack) => stack,
            None => {
                generation += 1;
                stack.insert(Stack::make(ground, &format!("s{number}g{generation}"))?)
            }
        };
        let mut done = match kill::run(current, &job.point, job.number) {
            Ok(done) => done,
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => Run::broken(&job.point, &error),
        };
        progress.say(&told(&done, job.number, current));
        if done.has_missed() && job.misses < MISSES_MAX {
            let again = Job {
                misses: job.misses + 1,
                ..job
            };
            let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.push_front(again);
            continue;
        }
        if !done.outcome.faults.is_empty() {
            stack = None;
        }
        done.misses = job.misses;
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.entry(job.point).or_default().push(done);
    }
}

fn told(run: &Run, number: usize, stack: &Stack<'_>) -> String {
    let totals = run.outcome.totals;
    let mut line = format!(
        "  {:<28} run {}  {:>5.1} s  {} orders, {} paid, {} refunded, {} discarded",
        run.point,
        number + 1,
        run.took.as_secs_f64(),
        totals.orders,
        totals.paid,
        totals.refunded,
        totals.discarded
    );
    if run.outcome.faults.is_empty() {
        line.push_str("  clean");
    }
    for fault in &run.outcome.faults {
        line.push_str(&format!("\n    ! {fault}"));
    }
    if !run.outcome.faults.is_empty() {
        line.push_str(&format!("\n    logs: {}", stack.logs().display()));
    }
    line
}

/// The points that were asked for.
fn chosen(all: &[Point], options: &Options) -> Result<Vec<Point>> {
    for name in &options.points {
        let is_known = all.iter().any(|point| point.name == *name);
        is_known
            .then_some(())
            .with_context(|| format!("there is no fail point {name}"))?;
    }
    let is_chosen = |point: &&Point| {
        (options.points.is_empty() || options.points.contains(&point.name))
            && (options.scenario != Scenario::Pay || point.area == "money")
    };
    Ok(all.iter().filter(is_chosen).cloned().collect())
}

/// Builds the program with fail points and keeps a copy, so that the ordinary build, which has the same name, can't be
/// mistaken for it.
fn build(workspace: &Workspace, kept: &Path, progress: &Progress) -> Result<()> {
    progress.run("build with fail points", || {
        let mut command = cargo(workspace);
        command.args(["build", "--package", "server", "--bin", "seatflow"]);
        command.args(["--features", "fail-points"]);
        run_logged(
            &mut command,
            &workspace.logs().join("build-fail-points.log"),
        )?;
        stack::keep_program(&Profile::Dev.server(workspace), kept)?;
        Ok(((), workspace.shown(kept)))
    })
}

/// What `seatflow fail-points` prints.
fn list(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("fail-points").output();
    let output = output.context("could not call the program")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
