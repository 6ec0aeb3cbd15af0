//! Configuration: read once from the environment, a section a file, with every fault reported together.

mod gateway;
mod http;
mod limits;
mod secrets;
mod stores;
mod timeout_steps;

pub use gateway::GatewayProcessConfig;
pub use http::HttpConfig;
pub use limits::{LOCK_LEASE, Limits};
pub use secrets::{Secret, Secrets};
pub use stores::StoresConfig;
pub use timeout_steps::TimeoutSteps;

/// Everything the server is told at start.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens and how it is reached.
    pub http: HttpConfig,
    /// Database, Redis, Kafka.
    pub stores: StoresConfig,
    /// Keys.
    pub secrets: Secrets,
    /// Bounds and waits.
    pub limits: Limits,
}

/// What is wrong with the environment; one line a fault.
#[derive(Debug, thiserror::Error)]
#[error("the configuration has {} fault(s):\n  {}", .0.len(), .0.join("\n  "))]
pub struct ConfigError(pub Vec<String>);

/// Reads variables and collects what is wrong with them.
pub struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    faults: Vec<String>,
}

impl Reader<'_> {
    /// A variable's text; empty counts as missing.
    fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    fn required(&mut self, name: &str, hint: &str) -> String {
        self.text(name).unwrap_or_else(|| {
            self.faults.push(format!("{name} is missing: {hint}"));
            String::new()
        })
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &str, default: T, expected: &str) -> T {
        match self.text(name) {
            None => default,
            Some(text) => text.parse().unwrap_or_else(|_| {
                self.faults.push(format!("{name} is not {expected}"));
                default
            }),
        }
    }

    /// What was read, unless something of it was wrong.
    fn finish<T>(self, read: T) -> Result<T, ConfigError> {
        if self.faults.is_empty() {
            Ok(read)
        } else {
            Err(ConfigError(self.faults))
        }
    }

    /// A whole number between bounds.
    fn number(&mut self, name: &str, default: u64, bounds: std::ops::RangeInclusive<u64>) -> u64 {
        let expected = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let value = self.parsed(name, default, &expected);
        if bounds.contains(&value) {
            return value;
        }
        self.faults.push(format!("{name} is not {expected}"));
        default
    }
}

impl Config {
    /// Reads the process's environment.
    ///
    /// # Errors
    /// Names every variable that is missing or has a bad value, never the value itself.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(&|name| std::env::var(name).ok())
    }

    /// Reads variables from anywhere.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            lookup,
            faults: Vec::new(),
        };
        let config = Self {
            http: HttpConfig::read(&mut reader),
            stores: StoresConfig::read(&mut reader),
            secrets: Secrets::read(&mut reader),
            limits: Limits::read(&mut reader),
        };
        reader.finish(config)
    }
}

/// Only the stores, for commands that serve nothing.
///
/// # Errors
/// Names every variable that is missing or has a bad value.
pub fn stores_from_env() -> Result<StoresConfig, ConfigError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let mut reader = Reader {
        lookup: &lookup,
        faults: Vec::new(),
    };
    let stores = StoresConfig::read(&mut reader);
    reader.finish(stores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn complete() -> HashMap<&'static str, &'static str> {
        HashMap::from([
            ("DATABASE_URL", "mysql://u:p@127.0.0.1:3306/seatflow"),
            ("REDIS_URL", "redis://127.0.0.1:6379"),
            ("KAFKA_BROKERS", "127.0.0.1:9092"),
            (
                "SEATFLOW_SESSION_SECRET",
                "0123456789abcdef0123456789abcdef",
            ),
            (
                "SEATFLOW_ATTENDEE_SECRET",
                "abcdef9876543210abcdef9876543210",
            ),
            (
                "SEATFLOW_GATEWAY_SECRET",
                "fedcba9876543210fedcba9876543210",
            ),
        ])
    }

    fn read(variables: &HashMap<&str, &str>) -> Result<Config, ConfigError> {
        Config::read(&|name| variables.get(name).map(ToString::to_string))
    }

    #[test]
    fn defaults_fill_in_what_is_not_required() {
        let config = read(&complete()).unwrap();
        assert_eq!(config.http.listen.port(), 3000);
        assert_eq!(config.http.public_url, "http://127.0.0.1:3000");
        assert_eq!(config.limits.discard_after.0, 5_000);
    }

    #[test]
    fn every_fault_is_named_at_once_without_its_value() {
        let mut variables = complete();
        variables.remove("REDIS_URL");
        variables.insert("SEATFLOW_SESSION_SECRET", "too-short-and-secret");
        variables.insert("SEATFLOW_LISTEN", "nowhere");
        let faults = read(&variables).unwrap_err().to_string();
        for name in ["REDIS_URL", "SEATFLOW_SESSION_SECRET", "SEATFLOW_LISTEN"] {
            assert!(faults.contains(name), "{faults}");
        }
        assert!(faults.contains("32 bytes") && !faults.contains("too-short-and-secret"));
    }

    #[test]
    fn a_lock_lease_is_longer_than_the_age_at_which_messages_are_given_up() {
        let mut variables = complete();
        assert_eq!(read(&variables).unwrap().limits.lock_lease, LOCK_LEASE);
        variables.insert("SEATFLOW_LOCK_LEASE_MS", "9999");
        let faults = read(&variables).unwrap_err().to_string();
        assert!(faults.contains("SEATFLOW_LOCK_LEASE_MS"), "{faults}");
        variables.insert("SEATFLOW_LOCK_LEASE_MS", "10000");
        assert_eq!(read(&variables).unwrap().limits.lock_lease.0, 10_000);
    }

    #[test]
    fn a_timeout_message_is_tried_ten_times_or_as_often_as_said_and_at_least_once() {
        let mut variables = complete();
        assert_eq!(read(&variables).unwrap().limits.timeout_tries, 10);
        variables.insert("SEATFLOW_TIMEOUT_TRIES", "3");
        assert_eq!(read(&variables).unwrap().limits.timeout_tries, 3);
        for bad in ["0", "101", "often"] {
            variables.insert("SEATFLOW_TIMEOUT_TRIES", bad);
            let faults = read(&variables).unwrap_err().to_string();
            assert!(faults.contains("SEATFLOW_TIMEOUT_TRIES"), "{faults}");
        }
    }

    #[test]
    fn metrics_outside_loopback_need_a_token() {
        let mut variables = complete();
        variables.insert("SEATFLOW_METRICS_LISTEN", "127.0.0.1:9464");
        assert!(read(&variables).is_ok());
        variables.insert("SEATFLOW_METRICS_LISTEN", "0.0.0.0:9464");
        let faults = read(&variables).unwrap_err().to_string();
        assert!(faults.contains("SEATFLOW_METRICS_TOKEN"), "{faults}");
        variables.insert("SEATFLOW_METRICS_TOKEN", "0123456789abcdef0123456789abcdef");
        assert!(read(&variables).is_ok());
    }

    #[test]
    fn secrets_never_show_in_debug_output() {
        let shown = format!("{:?}", read(&complete()).unwrap());
        assert!(
            !shown.contains("0123456789abcdef") && !shown.contains("u:p@"),
            "{shown}"
        );
    }
}
