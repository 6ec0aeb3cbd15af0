//! One installation under test: a server process, a database, keys and topics of its own, and customers with accounts.
//! Several share the services, and none sees the others.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde_json::Value;

use super::buyer::{Buyer, Memory};
use super::http::Client;
use super::promises::Promises;
use super::sale::{Sale, Show};
use crate::command::{end_logged, run_logged};
use crate::interrupt;
use crate::ports;
use crate::secrets::Secrets;
use crate::server::Server;
use crate::services::{Endpoints, Running, ServiceSet};
use crate::workspace::Workspace;

const CATALOGUE: &str = "xtask/src/chaos/catalogue.json";
/// Numbered seats of the catalogue's hall.
const SEATS: u64 = 232;
const WATCH_MS: u64 = 20;

/// What the servers run with, so that seconds do for what takes minutes in a deployed one.
const SETTINGS: [(&str, &str); 6] = [
    ("SEATFLOW_SWEEP_EVERY_MS", "1000"),
    ("SEATFLOW_OUTBOX_EVERY_MS", "300"),
    ("SEATFLOW_RECONCILE_EVERY_MS", "2000"),
    ("SEATFLOW_LOCK_LEASE_MS", "20000"),
    ("SEATFLOW_KAFKA_PARTITIONS", "4"),
    ("SEATFLOW_DATABASE_CONNECTIONS", "10"),
];

/// Where stacks live and what they are made of.
pub struct Ground<'a> {
    pub workspace: &'a Workspace,
    pub set: &'a ServiceSet,
    pub endpoints: Endpoints,
    pub secrets: &'a Secrets,
    /// A server that was built with fail points.
    pub program: PathBuf,
    pub buyers: usize,
}

/// One installation.
pub struct Stack<'a> {
    ground: &'a Ground<'a>,
    name: String,
    server: Server,
    /// Where the first server listens.
    pub port: u16,
    /// Who buys.
    pub buyers: Vec<Buyer>,
    /// What staff were told in the sale that is on.
    pub promises: Vec<Promises>,
    /// The tables refused orders in the sale that is on, so there are dead letters.
    pub has_letters: bool,
    /// Shows of which nothing was bought yet; the next one is the last.
    shows: Vec<Show>,
}

impl<'a> Stack<'a> {
    /// Makes an installation that nobody has used, whatever an earlier one of this name has left.
    ///
    /// # Errors
    /// When its database can't be made or filled, or its server doesn't start.
    pub fn make(ground: &'a Ground<'a>, name: &str) -> Result<Self> {
        let port = ports::any_free()?;
        let server = server(ground, name, port).named(name, &ground.program);
        let mut stack = Self {
            ground,
            name: name.to_owned(),
            server,
            port,
            buyers: Vec::new(),
            promises: Vec::new(),
            has_letters: false,
            shows: Vec::new(),
        };
        stack.call("migrate", &["migrate"], &[])?;
        stack.call("seed", &["seed", "--catalogue", CATALOGUE], &[])?;
        let _running = stack.start("setup", &[])?;
        for number in 0..ground.buyers {
            let phone = format!("139{:08}", 10_000 + number);
            stack
                .buyers
                .push(Buyer::register(port, &phone, number as u64)?);
        }
        stack.shows = shows(port)?;
        Ok(stack)
    }

    /// Starts a server and waits until it is ready. `settings` are added to its environment; its log is called `log`.
    ///
    /// # Errors
    /// When it doesn't get ready.
    pub fn start(&self, log: &str, settings: &[(String, String)]) -> Result<Running> {
        start(&self.server, log, settings)
    }

    /// Starts a server that is to die at a fail point. That may be before it is ready, over what an earlier sale has left; it is
    /// handed over all the same.
    ///
    /// # Errors
    /// When it doesn't get ready for another reason.
    pub fn start_armed(&self, log: &str, settings: &[(String, String)]) -> Result<Running> {
        let server = with_settings(&self.server, settings);
        let mut running = server.spawn(log)?;
        let outcome = server.await_ready(&mut running);
        if running.ended().is_some_and(was_killed) {
            return Ok(running);
        }
        outcome.map(|()| running)
    }

    /// A second server of the same installation, on a port of its own. The gateway and its notices stay with the first.
    ///
    /// # Errors
    /// When it doesn't get ready.
    pub fn start_beside(&self, log: &str) -> Result<(Running, u16)> {
        let port = ports::any_free()?;
        let name = format!("{}-beside", self.name);
        let mut beside = server(self.ground, &self.name, port).named(&name, &self.ground.program);
        beside.set("SEATFLOW_PUBLIC_URL", &self.server.address());
        Ok((start(&beside, log, &[])?, port))
    }

    /// Shows that nobody has bought anything of, and that Redis does not know yet.
    ///
    /// # Errors
    /// When all shows of the catalogue were used.
    pub fn fresh_shows(&mut self, count: usize) -> Result<Vec<Show>> {
        let left = self.shows.len().checked_sub(count);
        let left = left.context("the catalogue has no more shows: run fewer points at a time")?;
        Ok(self.shows.split_off(left))
    }

    /// Calls a short command of the program, with `settings` added to its environment.
    ///
    /// # Errors
    /// When it fails.
    pub fn call(&self, log: &str, arguments: &[&str], settings: &[(String, String)]) -> Result<()> {
        let log = self
            .ground
            .set
            .logs()
            .join(format!("{}-{log}.log", self.name));
        let mut command = self.server.command(arguments);
        for (name, value) in settings {
            command.env(name, value);
        }
        run_logged(&mut command, &log)
    }

    /// Calls a command of staff, with `settings` added to its environment: how it ended, and what it said.
    ///
    /// # Errors
    /// When it can't be called.
    pub fn ask(
        &self,
        log: &str,
        arguments: &[String],
        settings: &[(String, String)],
    ) -> Result<(ExitStatus, String)> {
        let log = self
            .ground
            .set
            .logs()
            .join(format!("{}-{log}.log", self.name));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.server.command(&arguments);
        for (name, value) in settings {
            command.env(name, value);
        }
        let status = end_logged(&mut command, &log)?;
        let text = std::fs::read_to_string(&log).context("could not read what a command said")?;
        Ok((status, text))
    }

    /// What `seatflow verify --json` prints.
    ///
    /// # Errors
    /// When it prints no JSON.
    pub fn evidence(&self) -> Result<Value> {
        let output = self
            .server
            .command(&["verify", "--json"])
            .stdin(Stdio::null())
            .output()
            .context("could not call the program")?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last: Vec<&str> = errors.lines().rev().take(3).collect();
            format!("verify prints no evidence: {}", last.join(" / "))
        })
    }

    /// Lets the customers buy while `events` happen beside them, and returns what those returned.
    ///
    /// # Errors
    /// Those of `events`.
    pub fn sell<T>(
        &mut self,
        sale: &Sale<'_>,
        events: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<T> {
        let mut buyers = std::mem::take(&mut self.buyers);
        let outcome = std::thread::scope(|scope| {
            for buyer in &mut buyers {
                buyer.orders.clear();
                scope.spawn(|| buyer.buy(sale));
            }
            let outcome = events(self);
            sale.end();
            outcome
        });
        self.buyers = buyers;
        outcome
    }

    /// Allows orders that `may_be_lost` to be gone: the outage took what Redis alone knew of them.
    pub fn forgive(&mut self, may_be_lost: impl Fn(&Memory) -> bool) {
        for memory in self.buyers.iter_mut().flat_map(|buyer| &mut buyer.orders) {
            memory.told.may_be_lost = may_be_lost(memory);
        }
    }

    /// Where this installation's database is, with its password.
    pub fn database_url(&self) -> String {
        database(self.ground, &self.name).database_url
    }

    /// Where this installation's logs are.
    pub fn logs(&self) -> PathBuf {
        self.ground.set.logs().join(&self.name)
    }
}

fn database(ground: &Ground<'_>, name: &str) -> Endpoints {
    ground.endpoints.with_database(&format!("chaos_{name}"))
}

fn server(ground: &Ground<'_>, name: &str, port: u16) -> Server {
    let endpoints = database(ground, name);
    let mut server = Server::new(
        ground.workspace,
        ground.set,
        &endpoints,
        ground.secrets,
        port,
    );
    for (variable, value) in SETTINGS {
        server.set(variable, value);
    }
    server.set("SEATFLOW_REDIS_PREFIX", &format!("chaos-{name}"));
    server.set("SEATFLOW_KAFKA_PREFIX", &format!("chaos-{name}."));
    server
}

fn start(server: &Server, log: &str, settings: &[(String, String)]) -> Result<Running> {
    let server = with_settings(server, settings);
    let mut running = server.spawn(log)?;
    server.await_ready(&mut running)?;
    Ok(running)
}

fn with_settings(server: &Server, settings: &[(String, String)]) -> Server {
    let mut server = server.clone();
    for (variable, value) in settings {
        server.set(variable, value);
    }
    server
}

/// Waits until a server has ended, at most for `patience`.
///
/// # Errors
/// When the task is interrupted.
pub fn wait_for_end(running: &mut Running, patience: Duration) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        interrupt::check()?;
        if let Some(status) = running.ended() {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(WATCH_MS));
    }
    Ok(None)
}

/// Whether a process ended as by a crash.
pub fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::KILL.as_raw())
}

/// Sends customers to these servers from now on.
pub fn lead_to(sale: &Sale<'_>, ports: &[u16]) {
    *sale.ports.write().unwrap_or_else(PoisonError::into_inner) = ports.to_vec();
}

/// Copies the program that was just built, so that no later build can change it under a running test.
///
/// # Errors
/// When it can't be copied.
pub fn keep_program(built: &Path, kept: &Path) -> Result<()> {
    if let Some(folder) = kept.parent() {
        std::fs::create_dir_all(folder).context("could not make a folder for the program")?;
    }
    // Aside first: a program that still runs from the old file can't be written over.
    let aside = kept.with_extension("new");
    std::fs::copy(built, &aside).context("could not copy the program")?;
    std::fs::rename(&aside, kept).context("could not put the program in its place")
}

/// The catalogue's shows but the first two, the latest one last: there is time enough to give tickets of it back.
///
/// A page would load its show into Redis, which is to happen under load. So the first two are asked for, and the others are
/// what they must be: the seed numbers shows and their zones one after the other.
fn shows(port: u16) -> Result<Vec<Show>> {
    let catalogue: Value = serde_json::from_str(include_str!("catalogue.json"))?;
    let listed = &catalogue["shows"][0];
    let count = |name: &str| listed[name].as_array().map_or(0, Vec::len);
    let count = u64::try_from(count("days") * count("times"))?;
    let (first, second) = (show(port, 1)?, show(port, 2)?);
    let stride = u64::try_from(first.zones.len())?;
    let nth = |number: u64| Show {
        id: number,
        seats: first.seats,
        zones: first
            .zones
            .iter()
            .map(|zone| zone + (number - 1) * stride)
            .collect(),
    };
    if nth(2).zones != second.zones {
        bail!("the seed does not number zones one after the other");
    }
    Ok((3..=count).map(nth).collect())
}

fn show(port: u16, id: u64) -> Result<Show> {
    let path = format!("/api/catalogue/show?id={id}");
    let answer = Client::default().get(port, &path);
    let answer = answer.context("the catalogue does not answer")?;
    if !answer.is_success() {
        bail!("{path} answers {} {}", answer.status, answer.body);
    }
    let page = answer.json();
    let mut zones: Vec<u64> = page["zones"]
        .as_array()
        .context("a show with zones")?
        .iter()
        .filter_map(|zone| zone["id"].as_u64())
        .collect();
    zones.sort_unstable();
    Ok(Show {
        id,
        seats: SEATS,
        zones,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hall_has_as_many_seats_as_customers_choose_from() {
        let plan = include_str!("../../../samples/plans/lantern-hall.json");
        let plan: Value = serde_json::from_str(plan).unwrap();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let rows = list(&plan["zones"])
            .into_iter()
            .flat_map(|zone| list(&zone["rows"]));
        let seats: usize = rows.map(|row| list(&row["seats"]).len()).sum();
        assert_eq!(u64::try_from(seats).unwrap(), SEATS);
        assert!(include_str!("catalogue.json").contains("samples/plans/lantern-hall.json"));
    }
}
