//! The connection to Redis: one server, or the nodes of a cluster. Either way commands, pipelines and scripts are sent
//! alike, and an error means the same.

use super::{RedisConfig, RedisError, error::has_moved};
use ::redis::{
    Client, Cmd, ConnectionInfo, IntoConnectionInfo, Pipeline, RedisFuture, RedisResult, Value,
    aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig},
    cluster::ClusterClient,
    cluster_async::ClusterConnection,
    io::tcp::TcpSettings,
};
use futures::future::try_join_all;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a command is sent again in a cluster: to the node that has its slot now, or once a slot that moves has arrived.
const RETRIES: u32 = 12;
/// How long a transaction waits for its slot.
const MOVING_PAUSE: Duration = Duration::from_millis(10);
/// Waits between repetitions, milliseconds.
const RETRY_WAIT_MS: (u64, u64) = (10, 100);

/// Where commands go.
#[derive(Clone)]
pub(super) enum Connection {
    /// The one server.
    Server(ConnectionManager),
    /// The node that has the command's keys, and how long a slot that moves is waited for.
    Cluster(ClusterConnection, Duration),
}

impl Connection {
    /// What an error of a command means.
    pub fn fault(&self, error: ::redis::RedisError) -> RedisError {
        match self {
            Self::Server(_) => RedisError::from_client(error),
            Self::Cluster(..) => RedisError::from_cluster(error),
        }
    }

    /// Connects to the one server of an address, or to the cluster that several addresses are of.
    ///
    /// # Errors
    /// [`RedisError::InvalidAddress`], or [`RedisError::Unreachable`] when nobody answers there in time.
    pub async fn open(config: &RedisConfig) -> Result<Self, RedisError> {
        let addresses = config.url.split(',').map(read_address);
        let addresses = addresses
            .collect::<RedisResult<Vec<_>>>()
            .map_err(RedisError::InvalidAddress)?;
        if let [address] = addresses.as_slice() {
            let client = Client::open(address.clone()).map_err(RedisError::InvalidAddress)?;
            let connecting = client.get_connection_manager_with_config(settings(config));
            let server = connecting.await.map_err(RedisError::Unreachable)?;
            return Ok(Self::Server(server));
        }
        let cluster = ClusterClient::builder(addresses)
            .tcp_settings(tcp())
            .connection_timeout(config.connect_timeout)
            .response_timeout(config.response_timeout)
            .retries(RETRIES)
            .min_retry_wait(RETRY_WAIT_MS.0)
            .max_retry_wait(RETRY_WAIT_MS.1)
            .build()
            .map_err(RedisError::InvalidAddress)?;
        let connecting = cluster.get_async_connection();
        let cluster = connecting.await.map_err(RedisError::Unreachable)?;
        Ok(Self::Cluster(cluster, config.response_timeout))
    }
}

/// How a connection to one server is made and kept. A lost one is tried once for each command, so that commands fail fast while
/// Redis is away instead of queueing behind a long series of attempts.
fn settings(config: &RedisConfig) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_connection_timeout(Some(config.connect_timeout))
        .set_response_timeout(Some(config.response_timeout))
        .set_number_of_retries(0)
        .set_pipeline_buffer_size(config.concurrency_max.max(1))
}

fn read_address(url: &str) -> RedisResult<ConnectionInfo> {
    Ok(url.trim().into_connection_info()?.set_tcp_settings(tcp()))
}

/// Small commands would wait for Nagle's algorithm otherwise.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

/// Sends a transaction, which is one slot's and only reads. When its slot moves, the node gives it up; the client follows slots
/// by single commands only, so one of its own goes ahead.
async fn read_at_once(
    cluster: &mut ClusterConnection,
    reads: &Pipeline,
    offset: usize,
    count: usize,
    until: Instant,
) -> RedisResult<Vec<Value>> {
    loop {
        match cluster.req_packed_commands(reads, offset, count).await {
            Err(error) if has_moved(&error) && Instant::now() < until => {
                let Some(first) = reads.cmd_iter().next() else {
                    return Err(error);
                };
                cluster.req_packed_command(first).await?;
                sleep(MOVING_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Server(server) => server.req_packed_command(command),
            Self::Cluster(cluster, _) => cluster.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Server(server) => server.req_packed_commands(commands, offset, count),
            Self::Cluster(cluster, patience) => Box::pin(async move {
                if commands.is_transaction() {
                    let until = Instant::now() + *patience;
                    return read_at_once(cluster, commands, offset, count, until).await;
                }
                // The keys of others lie where they will: each command finds its own node, all at the same time.
                let sent = commands.cmd_iter().skip(offset).take(count).map(|command| {
                    let mut cluster = cluster.clone();
                    async move { cluster.req_packed_command(command).await }
                });
                try_join_all(sent).await
            }),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Server(server) => server.get_db(),
            Self::Cluster(cluster, _) => cluster.get_db(),
        }
    }
}
