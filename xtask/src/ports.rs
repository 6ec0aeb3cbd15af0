//! Ports for the services of one set: chosen once, remembered, chosen anew when somebody else has taken one.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use anyhow::{Result, bail};

use crate::secrets::random_bytes;
use crate::settings_file::Settings;

/// Below the range from which the kernel takes ports for outgoing connections (32768 and up), so that a
/// remembered port is seldom taken by chance.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
const ATTEMPTS: u16 = 200;

/// The ports of one set of services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub database: u16,
    pub redis: u16,
    pub kafka: u16,
    pub kafka_controller: u16,
}

impl Ports {
    /// The ports remembered in `file` where they are still free, others where not; the file is brought up to date.
    ///
    /// # Errors
    /// When the file cannot be read or written, or no free port is found.
    pub fn choose(file: &Path) -> Result<Self> {
        let mut settings = Settings::read(file)?;
        let known = settings.clone();
        // Held until all are chosen, so that no port is chosen twice.
        let mut held = Vec::new();
        let mut next = |name: &str| -> Result<u16> {
            let remembered = settings.get(name).and_then(|port| port.parse().ok());
            let listener = match remembered.and_then(bind) {
                Some(listener) => listener,
                None => bind_any()?,
            };
            let port = listener.local_addr()?.port();
            settings.set(name, &port.to_string());
            held.push(listener);
            Ok(port)
        };
        let ports = Self {
            database: next("database")?,
            redis: next("redis")?,
            kafka: next("kafka")?,
            kafka_controller: next("kafka_controller")?,
        };
        if settings != known {
            settings.write(file)?;
        }
        Ok(ports)
    }
}

/// Whether a server could listen on this port of the loopback address now.
pub fn is_free(port: u16) -> bool {
    bind(port).is_some()
}

/// A port that is free now, for a server that is started at once.
///
/// # Errors
/// When none is found.
pub fn any_free() -> Result<u16> {
    Ok(bind_any()?.local_addr()?.port())
}

fn bind(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}

fn bind_any() -> Result<TcpListener> {
    for _ in 0..ATTEMPTS {
        let random = random_bytes(2)?;
        let offset = u16::from_le_bytes([random[0], random[1]]) % COUNT;
        if let Some(listener) = bind(FIRST + offset) {
            return Ok(listener);
        }
    }
    bail!("no free port between {FIRST} and {}", FIRST + COUNT);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("xtask-ports-{name}-{}", std::process::id()))
    }

    /// Chooses ports, and waits until nobody holds them any more: a process that another test is just starting has copies of
    /// the sockets until it runs its program.
    fn chosen(file: &Path) -> Ports {
        let ports = Ports::choose(file).unwrap();
        let all = [
            ports.database,
            ports.redis,
            ports.kafka,
            ports.kafka_controller,
        ];
        let begun = Instant::now();
        while !all.into_iter().all(is_free) {
            assert!(begun.elapsed() < Duration::from_secs(10), "still held");
            std::thread::sleep(Duration::from_millis(5));
        }
        ports
    }

    #[test]
    fn ports_are_distinct_and_remembered() {
        let file = file("remembered");
        let first = chosen(&file);
        let mut all = vec![
            first.database,
            first.redis,
            first.kafka,
            first.kafka_controller,
        ];
        all.dedup();
        assert_eq!(all.len(), 4);
        assert_eq!(Ports::choose(&file).unwrap(), first);
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_port_that_was_taken_meanwhile_is_chosen_anew_and_the_others_stay() {
        let file = file("taken");
        let first = chosen(&file);
        let _somebody_else = TcpListener::bind((Ipv4Addr::LOCALHOST, first.redis)).unwrap();
        let second = Ports::choose(&file).unwrap();
        assert_ne!(second.redis, first.redis);
        assert_eq!(second.database, first.database);
        std::fs::remove_file(&file).unwrap();
    }
}
