//! The simulated gateway as a program of its own (`seatflow gateway`): what it needs, and nothing of the sale's.

use super::{ConfigError, Reader, Secret};
use std::{net::SocketAddr, time::Duration};

/// Settings of a gateway that runs apart.
#[derive(Debug)]
pub struct GatewayProcessConfig {
    /// Where it listens (`SEATFLOW_GATEWAY_LISTEN`, default `127.0.0.1:3001`).
    pub listen: SocketAddr,
    /// How browsers reach it, without a slash at the end (`SEATFLOW_GATEWAY_PUBLIC_URL`, default from `listen`).
    pub public_url: String,
    /// Its database (`SEATFLOW_GATEWAY_DATABASE_URL`, default `DATABASE_URL`).
    pub database_url: Secret,
    /// Most database connections (`SEATFLOW_DATABASE_CONNECTIONS`, default 20).
    pub database_connections_max: u32,
    /// Longest wait for one of them (`SEATFLOW_STORE_WAIT_MS`, default 1,000).
    pub wait_max: Duration,
    /// Signs what passes between it and the merchant (`SEATFLOW_GATEWAY_SECRET`).
    pub secret: Secret,
    /// The previous key while it is being replaced (`SEATFLOW_GATEWAY_SECRET_PREVIOUS`).
    pub previous_secret: Option<Secret>,
}

impl GatewayProcessConfig {
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
    /// As [`GatewayProcessConfig::from_env`].
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut reader = Reader {
            lookup,
            faults: Vec::new(),
        };
        let fallback = SocketAddr::from(([127, 0, 0, 1], 3001));
        let listen = reader.parsed(
            "SEATFLOW_GATEWAY_LISTEN",
            fallback,
            "an address such as 127.0.0.1:3001",
        );
        let config = Self {
            listen,
            public_url: reader.url("SEATFLOW_GATEWAY_PUBLIC_URL", &format!("http://{listen}")),
            database_url: reader.gateway_database(),
            database_connections_max: u32::try_from(reader.number(
                "SEATFLOW_DATABASE_CONNECTIONS",
                20,
                2..=500,
            ))
            .unwrap_or(20),
            wait_max: reader.store_wait(),
            secret: reader.secret("SEATFLOW_GATEWAY_SECRET"),
            previous_secret: reader.optional_secret("SEATFLOW_GATEWAY_SECRET_PREVIOUS"),
        };
        reader.finish(config)
    }
}

impl Reader<'_> {
    fn gateway_database(&mut self) -> Secret {
        let own = self.text("SEATFLOW_GATEWAY_DATABASE_URL");
        let name = if own.is_some() {
            "SEATFLOW_GATEWAY_DATABASE_URL"
        } else {
            "DATABASE_URL"
        };
        self.database_url(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<GatewayProcessConfig, ConfigError> {
        GatewayProcessConfig::read(&|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    const SECRET: (&str, &str) = (
        "SEATFLOW_GATEWAY_SECRET",
        "fedcba9876543210fedcba9876543210",
    );

    #[test]
    fn a_gateway_apart_needs_neither_redis_nor_kafka_nor_the_session_secret() {
        let config = read(&[SECRET, ("DATABASE_URL", "mysql://u:p@127.0.0.1/shop")]).unwrap();
        assert_eq!(config.public_url, "http://127.0.0.1:3001");
        assert_eq!(config.database_url.expose(), "mysql://u:p@127.0.0.1/shop");
    }

    #[test]
    fn its_own_database_goes_before_the_shops() {
        let config = read(&[
            SECRET,
            ("DATABASE_URL", "mysql://u:p@127.0.0.1/shop"),
            (
                "SEATFLOW_GATEWAY_DATABASE_URL",
                "mysql://b:q@127.0.0.1/bank",
            ),
        ])
        .unwrap();
        assert_eq!(config.database_url.expose(), "mysql://b:q@127.0.0.1/bank");
    }

    #[test]
    fn every_fault_is_named_without_its_value() {
        let faults = read(&[
            ("DATABASE_URL", "postgres://u:p@127.0.0.1/shop"),
            ("SEATFLOW_GATEWAY_LISTEN", "nowhere"),
        ])
        .unwrap_err()
        .to_string();
        for name in [
            "DATABASE_URL",
            "SEATFLOW_GATEWAY_LISTEN",
            "SEATFLOW_GATEWAY_SECRET",
        ] {
            assert!(faults.contains(name), "{faults}");
        }
        assert!(!faults.contains("u:p@"), "{faults}");
    }
}
