//! Redis: who gets a seat at this instant.
//!
//! Everything that changes a seat is a script of `lua/`, called through its pair in [`scripts`]; key names come from
//! [`keys`] alone.
//!
//! **Architecture Invariant:** no error of this module says that a command did not run, except where
//! [`RedisError::may_have_run`] is false. Callers repeat a command or treat its result as unknown; they never undo it.

pub mod commands;
mod connection;
mod error;
pub mod keys;
pub mod nodes;
pub mod order_cache;
pub mod quantities;
mod record;
pub mod scripts;
pub mod snapshot;
pub mod standing;
pub mod submissions;

pub use error::RedisError;
pub use record::{HeldSeat, HoldRecord, attendee_field, limit_field};

use self::{connection::Connection, keys::Keys};
use ::redis::{Cmd, FromRedisValue, Pipeline, cmd};
use futures::future::select_ok;
use std::{sync::Arc, time::Duration};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Keys that a cluster is asked for to learn whether it serves: they lie in as many slots, all over its masters.
const MASTERS_ASKED: u16 = 8;

/// How Redis is reached.
#[derive(Debug, Clone)]
pub struct RedisConfig {
    /// Address, as `redis://host:port/database`; several, separated by commas, are nodes of one Redis Cluster.
    pub url: String,
    /// First part of every key name.
    pub prefix: String,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for an answer; what it was about may have run all the same.
    pub response_timeout: Duration,
    /// Most commands under way at the same time.
    pub concurrency_max: usize,
    /// Longest wait for one of those places.
    pub queue_wait_max: Duration,
}

impl RedisConfig {
    /// The defaults: prefix `sf`, all waits 1 s, 512 commands under way.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            prefix: "sf".to_owned(),
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_secs(1),
            concurrency_max: 512,
            queue_wait_max: Duration::from_secs(1),
        }
    }
}

/// A handle to Redis; cloning it is cheap and shares the connection and its limits.
#[derive(Clone)]
pub struct Redis {
    connection: Connection,
    places: Arc<Semaphore>,
    queue_wait_max: Duration,
    keys: Keys,
}

impl Redis {
    /// Connects. A connection that breaks later is made anew in the background.
    ///
    /// # Errors
    /// [`RedisError::InvalidAddress`], or [`RedisError::Unreachable`] when nobody answers there in time.
    pub async fn connect(config: &RedisConfig) -> Result<Self, RedisError> {
        Ok(Self {
            connection: Connection::open(config).await?,
            places: Arc::new(Semaphore::new(config.concurrency_max.max(1))),
            queue_wait_max: config.queue_wait_max,
            keys: Keys::new(&config.prefix),
        })
    }

    /// The names of the keys.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Whether Redis answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), RedisError> {
        if let Connection::Server(_) = self.connection {
            return self.query(&cmd("PING")).await;
        }
        // Of a cluster any master will do: shows of the others are sold while one is away. It is asked for keys, because a node
        // answers a ping while its cluster is down.
        let masters = (0..MASTERS_ASKED).map(|node| {
            let mut exists = cmd("EXISTS");
            exists.arg(self.keys.node(node));
            Box::pin(async move { self.query::<()>(&exists).await })
        });
        select_ok(masters).await.map(|_| ())
    }

    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        let _place = self.place().await?;
        command
            .query_async(&mut self.connection.clone())
            .await
            .map_err(|error| self.connection.fault(error))
    }

    /// Sends several commands at once. In a cluster they may lie in several slots, unless they are a transaction; then some may
    /// run and others not, so they read, or drop something.
    pub(crate) async fn query_all<T: FromRedisValue>(
        &self,
        commands: &Pipeline,
    ) -> Result<T, RedisError> {
        let _place = self.place().await?;
        commands
            .query_async(&mut self.connection.clone())
            .await
            .map_err(|error| self.connection.fault(error))
    }

    async fn invoke<T: FromRedisValue>(
        &self,
        invocation: &::redis::ScriptInvocation<'_>,
    ) -> Result<T, RedisError> {
        let _place = self.place().await?;
        invocation
            .invoke_async(&mut self.connection.clone())
            .await
            .map_err(|error| self.connection.fault(error))
    }

    async fn place(&self) -> Result<SemaphorePermit<'_>, RedisError> {
        match tokio::time::timeout(self.queue_wait_max, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            // The semaphore is never closed, so the only failure is that the wait was too long.
            Ok(Err(_)) | Err(_) => Err(RedisError::Busy {
                waited: self.queue_wait_max,
            }),
        }
    }
}
