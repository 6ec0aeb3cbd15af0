//! Database, Redis and Kafka.

use super::Reader;
use std::fmt;

/// How the stores are reached.
#[derive(Clone)]
pub struct StoresConfig {
    /// `DATABASE_URL`, for example `mysql://user:password@127.0.0.1:3306/seatflow`.
    pub database_url: String,
    /// Most database connections (`SEATFLOW_DATABASE_CONNECTIONS`, default 20).
    pub database_connections_max: u32,
    /// `REDIS_URL`, for example `redis://127.0.0.1:6379`.
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
}

impl StoresConfig {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let database_url = reader.required("DATABASE_URL", "mysql://user:password@host:port/name");
        if !database_url.is_empty() && !database_url.starts_with("mysql://") {
            reader
                .faults
                .push("DATABASE_URL does not start with mysql://".to_owned());
        }
        Self {
            database_url,
            database_connections_max: small(reader.number(
                "SEATFLOW_DATABASE_CONNECTIONS",
                20,
                2..=500,
            )),
            redis_url: reader.required("REDIS_URL", "redis://host:port"),
            redis_prefix: reader
                .text("SEATFLOW_REDIS_PREFIX")
                .unwrap_or_else(|| "sf".to_owned()),
            kafka_brokers: reader.required("KAFKA_BROKERS", "host:port[,host:port]"),
            kafka_prefix: reader.text("SEATFLOW_KAFKA_PREFIX").unwrap_or_default(),
            kafka_partitions: small(reader.number("SEATFLOW_KAFKA_PARTITIONS", 12, 1..=1000)),
            kafka_replication: small(reader.number("SEATFLOW_KAFKA_REPLICATION", 1, 1..=5)),
        }
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
