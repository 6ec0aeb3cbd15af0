//! The private database, Redis and Kafka of one set, under `.run/<set>/` and on ports of their own.
//!
//! **Invariant:** a task stops the processes that it, or an earlier task of this very set, has started, and no others.

mod database;
mod identity;
mod kafka;
mod lock;
mod mysql_folder;
mod redis;
mod running;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub use database::{BROWSER_DATABASE, Flavour};
pub use lock::SetLock;
pub use running::{Running, stop_left_over};

use crate::interrupt;
use crate::ports::Ports;
use crate::secrets::Secrets;
use crate::step::Progress;
use crate::workspace::Workspace;

/// What the services are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data survives a restart and the loss of power.
    Keep,
    /// Empty at each start, and as fast as it gets: nothing is flushed to the disk.
    Test,
}

/// A set of services and its folder.
#[derive(Clone, Debug)]
pub struct ServiceSet {
    pub folder: PathBuf,
    pub purpose: Purpose,
    pub database: Flavour,
    /// Whether services that the environment names are used instead of private ones.
    pub uses_given: bool,
}

impl ServiceSet {
    /// The set called `name`, under `.run/`.
    pub fn new(workspace: &Workspace, name: &str, purpose: Purpose, database: Flavour) -> Self {
        Self {
            folder: workspace.state().join(name),
            purpose,
            database,
            uses_given: true,
        }
    }

    /// The same set with services of its own, whatever the environment names: they will be stopped and emptied.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.uses_given = false;
        self
    }

    pub fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    pub fn pid_files(&self) -> PathBuf {
        self.folder.join("pids")
    }
}

/// Where the services are reached, as the server's environment says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    pub database_url: String,
    pub redis_url: String,
    pub kafka_brokers: String,
}

impl Endpoints {
    pub fn as_environment(&self) -> [(&'static str, &str); 3] {
        [
            ("DATABASE_URL", &self.database_url),
            ("REDIS_URL", &self.redis_url),
            ("KAFKA_BROKERS", &self.kafka_brokers),
        ]
    }

    /// The same services with another database on the same database server.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        Self {
            database_url: replace_database(&self.database_url, name),
            ..self.clone()
        }
    }
}

fn replace_database(url: &str, name: &str) -> String {
    let (base, options) = url
        .split_once('?')
        .map_or((url, None), |(base, options)| (base, Some(options)));
    let authority_at = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority_at..]
        .find('/')
        .map_or(base.len(), |at| authority_at + at);
    let options = options
        .map(|options| format!("?{options}"))
        .unwrap_or_default();
    format!("{}/{name}{options}", &base[..end])
}

/// One kind of service: how it is prepared, started, and known to be ready.
trait Service: Sync {
    /// As it is called on the terminal.
    fn name(&self) -> String;
    /// The stem of its log and pid file.
    fn id(&self) -> &'static str;
    /// A word of its command line.
    fn marker(&self) -> &'static str;
    /// Where it will be reached, for the terminal.
    fn address(&self) -> String;
    /// Creates its data and settings where they are missing. May take long, and runs beside the others.
    fn prepare(&self, logs: &Path) -> Result<()>;
    fn command(&self) -> Result<Command>;
    /// `log` is the file that its output goes to.
    fn is_ready(&self, log: &Path) -> bool;
    /// How long it may take from its start until it is ready.
    fn deadline(&self) -> Duration;
}

/// The services of a set, running. Dropping this stops those that were started here.
pub struct Services {
    set: ServiceSet,
    services: Vec<Box<dyn Service>>,
    running: Vec<Running>,
    pub endpoints: Endpoints,
}

impl Services {
    /// Starts what the environment doesn't name, all side by side, and waits until all are ready.
    ///
    /// The lock of the set must be held. Call it from the thread that will stop them.
    ///
    /// # Errors
    /// When one cannot be prepared or doesn't get ready; those that did are stopped again.
    pub fn start(
        workspace: &Workspace,
        set: &ServiceSet,
        secrets: &Secrets,
        progress: &Progress,
    ) -> Result<Self> {
        for name in stop_left_over(&set.pid_files())? {
            progress.say(&format!(
                "  ! stopped {name}, which an earlier task had left running"
            ));
        }
        if set.purpose == Purpose::Test {
            wipe(&set.folder)?;
        }
        let ports = Ports::choose(&set.folder.join("ports.env"))?;
        let (services, endpoints) = missing(workspace, set, secrets, ports)?;
        let running = start_all(set, &services, progress)?;
        Ok(Self {
            set: set.clone(),
            services,
            running,
            endpoints,
        })
    }

    /// Stops one of the set's own services, and leaves the others running. The word is that of its program's family:
    /// `kafka`, `redis`, `mysql` (whichever database it is).
    ///
    /// # Errors
    /// When it does not run in this set.
    pub fn halt(&mut self, word: &str) -> Result<()> {
        let service = self.own(word)?;
        let name = self.services[service].name();
        let place = self
            .running
            .iter()
            .position(|running| running.name() == name);
        let place = place.with_context(|| format!("{name} does not run"))?;
        drop(self.running.remove(place));
        Ok(())
    }

    /// Starts a service that was halted, on what it left on the disk, and waits until it is ready.
    ///
    /// # Errors
    /// When it doesn't get ready.
    pub fn resume(&mut self, word: &str) -> Result<()> {
        let service = &self.services[self.own(word)?];
        service.prepare(&self.set.logs())?;
        let mut running = spawn(&self.set, service.as_ref())?;
        let log = running.log().to_path_buf();
        running.await_ready(service.deadline(), || service.is_ready(&log))?;
        self.running.push(running);
        Ok(())
    }

    fn own(&self, word: &str) -> Result<usize> {
        let is_meant = |service: &dyn Service| match word {
            "mysql" => !matches!(service.id(), "redis" | "kafka"),
            other => service.id() == other,
        };
        self.services
            .iter()
            .position(|service| is_meant(service.as_ref()))
            .with_context(|| format!("{word} is not a service of this set"))
    }

    /// The first service that has ended by itself, as a complaint.
    pub fn first_ended(&mut self) -> Option<String> {
        self.running.iter_mut().find_map(|service| {
            let status = service.ended()?;
            Some(service.complaint(&format!("ended by itself ({status})")))
        })
    }

    /// Stops them all, at the same time.
    pub fn stop(self, progress: &Progress) {
        if self.running.is_empty() {
            return;
        }
        let step = progress.begin("stop services");
        let names: Vec<_> = self
            .running
            .iter()
            .map(|service| service.name().to_owned())
            .collect();
        drop(self);
        step.done(&names.join(", "));
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        for service in &self.running {
            service.ask_to_end();
        }
    }
}

/// Everything but the logs of the run before, the ports and the lock.
fn wipe(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry
            .context("could not read the folder of the services")?
            .path();
        if path.is_dir() && !path.ends_with("logs") {
            fs::remove_dir_all(&path)
                .with_context(|| format!("could not remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// The services that the environment doesn't name, and the addresses of all.
fn missing(
    workspace: &Workspace,
    set: &ServiceSet,
    secrets: &Secrets,
    ports: Ports,
) -> Result<(Vec<Box<dyn Service>>, Endpoints)> {
    let mut services: Vec<Box<dyn Service>> = Vec::new();
    let given = |name: &str| {
        let value = std::env::var(name).ok()?;
        (set.uses_given && !value.is_empty()).then_some(value)
    };
    let database_url = match given("DATABASE_URL") {
        Some(url) => url,
        None => {
            let (service, url) = database::private(workspace, set, secrets, ports.database)?;
            services.push(service);
            url
        }
    };
    let redis_url = given("REDIS_URL").unwrap_or_else(|| {
        let service = redis::Redis::new(set, ports.redis);
        let url = service.url();
        services.push(Box::new(service));
        url
    });
    let kafka_brokers = given("KAFKA_BROKERS").unwrap_or_else(|| {
        let service = kafka::Kafka::new(workspace, set, ports);
        let brokers = service.brokers();
        services.push(Box::new(service));
        brokers
    });
    let endpoints = Endpoints {
        database_url,
        redis_url,
        kafka_brokers,
    };
    Ok((services, endpoints))
}

fn start_all(
    set: &ServiceSet,
    services: &[Box<dyn Service>],
    progress: &Progress,
) -> Result<Vec<Running>> {
    let logs = set.logs();
    let steps: Vec<_> = services
        .iter()
        .map(|service| progress.begin(&service.name()))
        .collect();
    std::thread::scope(|scope| {
        let preparing: Vec<_> = services
            .iter()
            .map(|service| {
                scope.spawn(|| {
                    service
                        .prepare(&logs)
                        .with_context(|| format!("{} could not be prepared", service.name()))
                })
            })
            .collect();
        preparing.into_iter().try_for_each(joined)
    })?;
    interrupt::check()?;
    let mut running = Vec::new();
    for service in services {
        running.push(spawn(set, service.as_ref())?);
    }
    std::thread::scope(|scope| {
        let waiting: Vec<_> = running
            .iter_mut()
            .zip(services)
            .zip(steps)
            .map(|((running, service), step)| {
                scope.spawn(move || {
                    let log = running.log().to_path_buf();
                    running.await_ready(service.deadline(), || service.is_ready(&log))?;
                    step.done(&service.address());
                    Ok(())
                })
            })
            .collect();
        // All are awaited before the first fault is told, so that the others' steps end properly.
        let outcomes: Vec<Result<()>> = waiting.into_iter().map(joined).collect();
        outcomes.into_iter().collect::<Result<()>>()
    })?;
    Ok(running)
}

fn spawn(set: &ServiceSet, service: &dyn Service) -> Result<Running> {
    Running::spawn(
        &service.name(),
        service.marker(),
        &service.command()?,
        &set.logs().join(format!("{}.log", service.id())),
        &set.pid_files().join(format!("{}.pid", service.id())),
    )
}

fn joined(thread: std::thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    match thread.join() {
        Ok(result) => result,
        Err(_) => bail!("a service's thread panicked; see above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_an_address_is_replaced_and_its_options_are_kept() {
        for (url, expected) in [
            (
                "mysql://u:p@127.0.0.1:3306/seatflow",
                "mysql://u:p@127.0.0.1:3306/other",
            ),
            ("mysql://u:p@host:3306", "mysql://u:p@host:3306/other"),
            (
                "mysql://u@host/a?ssl-mode=disabled",
                "mysql://u@host/other?ssl-mode=disabled",
            ),
        ] {
            assert_eq!(replace_database(url, "other"), expected);
        }
    }
}
