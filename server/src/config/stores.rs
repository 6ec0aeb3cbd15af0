//! Database, Redis and Kafka.

use super::{Reader, Secret};
use std::{fmt, time::Duration};

/// How the stores are reached.
#[derive(Clone)]
pub struct StoresConfig {
    /// `DATABASE_URL`, for example `mysql://user:password@127.0.0.1:3306/seatflow`.
    pub database_url: String,
    /// Most database connections (`SEATFLOW_DATABASE_CONNECTIONS`, default 20).
    pub database_connections_max: u32,
    /// `REDIS_URL`, for example `redis://127.0.0.1:6379`; several, separated by commas, for a cluster.
    pub redis_url: String,
    /// First part of every Redis key (`SEATFLOW_REDIS_PREFIX`, default `sf`).
    pub redis_prefix: String,
    /// `KAFKA_BROKERS`, for example `127.0.0.1:9092`.
    pub kafka_brokers: String,
    /// First part of every topic and group (`SEATFLOW_KAFKA_PREFIX`, default nothing).
    pub kafka_prefix: String,
    /// Partitions of topics that do not exist yet (`SEATFLOW_KAFKA_PARTITIONS`, default 12).
    pub kafka_partitions: u16,
    /// Copies of topics that do not exist yet (`SEATFLOW_KAFKA_REPLICATION`, default 1).
    pub kafka_replication: u16,
    /// Longest wait of a request for a database connection, for its turn at Redis, and for Redis's answer
    /// (`SEATFLOW_STORE_WAIT_MS`, default 1,000).
    pub wait_max: Duration,
}

impl StoresConfig {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            database_url: reader.database_url("DATABASE_URL").expose().to_owned(),
            database_connections_max: small(reader.number(
                "SEATFLOW_DATABASE_CONNECTIONS",
                20,
                2..=500,
            )),
            redis_url: reader.required("REDIS_URL", "redis://host:port[,redis://host:port]"),
            redis_prefix: reader
                .text("SEATFLOW_REDIS_PREFIX")
                .unwrap_or_else(|| "sf".to_owned()),
            kafka_brokers: reader.required("KAFKA_BROKERS", "host:port[,host:port]"),
            kafka_prefix: reader.text("SEATFLOW_KAFKA_PREFIX").unwrap_or_default(),
            kafka_partitions: small(reader.number("SEATFLOW_KAFKA_PARTITIONS", 12, 1..=1000)),
            kafka_replication: small(reader.number("SEATFLOW_KAFKA_REPLICATION", 1, 1..=5)),
            wait_max: reader.store_wait(),
        }
    }
}

impl Reader<'_> {
    /// How long stores are waited for.
    pub(super) fn store_wait(&mut self) -> Duration {
        Duration::from_millis(self.number("SEATFLOW_STORE_WAIT_MS", 1_000, 50..=60_000))
    }

    /// The address of a MySQL or MariaDB database; a secret, because it carries a password.
    pub(super) fn database_url(&mut self, name: &str) -> Secret {
        let url = self.required(name, "mysql://user:password@host:port/name");
        if !url.is_empty() && !url.starts_with("mysql://") {
            self.faults
                .push(format!("{name} does not start with mysql://"));
        }
        Secret::new(url)
    }
}

/// A number whose bounds were checked to fit.
fn small<T: TryFrom<u64> + Default>(value: u64) -> T {
    T::try_from(value).unwrap_or_default()
}

impl fmt::Debug for StoresConfig {
    /// Leaves the addresses out: they carry passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoresConfig")
            .field("database_connections_max", &self.database_connections_max)
            .field("redis_prefix", &self.redis_prefix)
            .field("kafka_brokers", &self.kafka_brokers)
            .field("kafka_prefix", &self.kafka_prefix)
            .finish_non_exhaustive()
    }
}
