//! From a configuration to a running application: connect, start the consumers and timers, serve, and stop in order.

use crate::{
    clock::Clock,
    config::Config,
    gateway::{
        Gateway, GatewayConfig, GatewaySetupError,
        signature::{ShortSecret, SigningKeys},
        signing_keys,
    },
    http::{AppState, router},
    kafka::{
        KafkaConfig, KafkaSetupError, Producer, Subscription,
        batch::{BatchLimits, run_batches},
        delay::{DelayLimits, run_delayed},
        ensure_topics,
    },
    mysql::{Db, DbError},
    payment_channel::{
        Channels,
        simulated::{ChannelSetupError, SimulatedChannel},
    },
    ports::ports,
    redis::{
        Redis, RedisConfig, RedisError,
        nodes::{NodeError, NodeLease},
    },
    ticketing::{
        Outside, Ticketing, loading::CREATE_GROUP, numbers::OrderNumbers, settle::OrderEvents,
    },
};
use axum::Router;
use leptos::config::LeptosOptions;
use std::{future::IntoFuture, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

/// How long requests and consumers may take to finish when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the application could not start.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The database.
    #[error("the database can't be used: is it running, and is DATABASE_URL right?")]
    Database(#[from] DbError),
    /// Redis.
    #[error("Redis can't be used: is it running, and is REDIS_URL right?")]
    Redis(#[from] RedisError),
    /// The node number.
    #[error("no number for this server")]
    Node(#[from] NodeError),
    /// Kafka.
    #[error("Kafka can't be used: is it running, and is KAFKA_BROKERS right?")]
    Kafka(#[from] KafkaSetupError),
    /// The payment gateway.
    #[error("the payment gateway can't be set up")]
    Gateway(#[from] GatewaySetupError),
    /// The payment channel.
    #[error("the payment channel can't be set up: is SEATFLOW_GATEWAY_URL right?")]
    Channel(#[from] ChannelSetupError),
    /// The gateway's secret.
    #[error("SEATFLOW_GATEWAY_SECRET can't be used")]
    GatewaySecret(#[from] ShortSecret),
    /// The session secret.
    #[error("SEATFLOW_SESSION_SECRET can't be used")]
    SessionSecret(#[from] jsonwebtoken::errors::Error),
    /// The address to listen on.
    #[error(
        "can't listen on {address}: is another server using the port? Choose one with SEATFLOW_LISTEN"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}

/// An application that serves.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its use cases.
    pub ticketing: Ticketing,
    /// Its simulated gateway, unless that runs apart.
    pub gateway: Option<Gateway>,
    lease: Arc<NodeLease>,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

/// Connects to the stores and puts the use cases together, without serving or consuming anything.
///
/// # Errors
/// When a store can't be reached.
pub async fn connect(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> Result<(Ticketing, Arc<NodeLease>), BuildError> {
    let channels = channels(config, Arc::clone(&clock))?;
    connect_through(config, channels, clock).await
}

/// The payment channels that a configuration names.
///
/// # Errors
/// When the gateway's address or secret can't be used.
pub fn channels(config: &Config, clock: Arc<dyn Clock>) -> Result<Channels, BuildError> {
    let channel = SimulatedChannel::new(&config.http.gateway_url, keys(config)?, clock)?;
    Ok(Channels::new(Arc::new(channel)))
}

fn redis_config(config: &Config) -> RedisConfig {
    let stores = &config.stores;
    RedisConfig {
        prefix: stores.redis_prefix.clone(),
        connect_timeout: stores.wait_max,
        response_timeout: stores.wait_max,
        queue_wait_max: stores.wait_max,
        ..RedisConfig::new(&stores.redis_url)
    }
}

/// As [`connect`], with payment channels of the caller's.
///
/// # Errors
/// When a store can't be reached.
pub async fn connect_through(
    config: &Config,
    channels: Channels,
    clock: Arc<dyn Clock>,
) -> Result<(Ticketing, Arc<NodeLease>), BuildError> {
    let db = Db::connect(&config.stores).await?;
    let redis = Redis::connect(&redis_config(config)).await?;
    let instance = uuid::Uuid::new_v4().simple().to_string();
    let lease = Arc::new(NodeLease::acquire(redis.clone(), instance).await?);
    let producer = Producer::new(&kafka_config(config))?;
    let ticketing = Ticketing::new(Outside {
        config: config.clone(),
        db,
        redis,
        producer,
        channels,
        numbers: OrderNumbers::new(Arc::clone(&lease), Arc::clone(&clock)),
        clock,
    })?;
    Ok((ticketing, lease))
}

/// The use cases for a command that only looks: no number for this server is kept, nothing is consumed or served.
///
/// # Errors
/// When a store can't be reached.
pub async fn look(config: &Config, clock: Arc<dyn Clock>) -> Result<Ticketing, BuildError> {
    let (ticketing, lease) = connect(config, clock).await?;
    lease.give_back().await?;
    Ok(ticketing)
}

/// Starts everything. The tables must exist.
///
/// # Errors
/// When a store can't be reached or the address is taken; nothing is left running then.
pub async fn build(config: Config, clock: Arc<dyn Clock>) -> Result<Running, BuildError> {
    let address = config.http.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| BuildError::Listen { address, source })?;
    serve_on(listener, config, clock).await
}

/// Starts everything on a socket that listens already.
///
/// # Errors
/// When a store can't be reached; nothing is left running then.
pub async fn serve_on(
    listener: TcpListener,
    config: Config,
    clock: Arc<dyn Clock>,
) -> Result<Running, BuildError> {
    let channels = channels(&config, Arc::clone(&clock))?;
    serve_through(listener, config, channels, clock).await
}

/// As [`serve_on`], with payment channels of the caller's.
///
/// # Errors
/// When a store can't be reached; nothing is left running then.
pub async fn serve_through(
    listener: TcpListener,
    config: Config,
    channels: Channels,
    clock: Arc<dyn Clock>,
) -> Result<Running, BuildError> {
    let address = config.http.listen;
    let address = listener
        .local_addr()
        .map_err(|source| BuildError::Listen { address, source })?;
    let (ticketing, lease) = connect_through(&config, channels, Arc::clone(&clock)).await?;
    ensure_topics(&kafka_config(&config)).await?;
    let gateway = if config.http.gateway_is_apart {
        None
    } else {
        Some(Gateway::new(
            ticketing.db().pool().clone(),
            GatewayConfig {
                keys: keys(&config)?,
                public_url: format!("{}/gateway", config.http.public_url),
            },
            Arc::clone(&clock),
        )?)
    };
    let mut running = Running {
        address,
        ticketing: ticketing.clone(),
        gateway: gateway.clone(),
        lease,
        cancel: CancellationToken::new(),
        tasks: JoinSet::new(),
    };
    let state = AppState {
        ports: ports(&ticketing),
        leptos: leptos_options(&config, address),
        trusted_proxies: config.http.trusted_proxies.clone().into(),
        places: Arc::new(tokio::sync::Semaphore::new(config.limits.requests_max)),
        ticketing,
    };
    running.measure(&config).await?;
    running.consume(&config, clock);
    running.keep_time();
    running.serve(listener, router(state, gateway.as_ref()));
    Ok(running)
}

impl Running {
    fn serve(&mut self, listener: TcpListener, router: Router) {
        let cancel = self.cancel.clone();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        self.tasks.spawn(async move {
            let stop = cancel.cancelled_owned();
            if let Err(error) = axum::serve(listener, service)
                .with_graceful_shutdown(stop)
                .into_future()
                .await
            {
                tracing::error!(%error, "serving ended");
            }
        });
    }

    /// Serves metrics on their own address, where one is configured.
    async fn measure(&mut self, config: &Config) -> Result<(), BuildError> {
        let Some(address) = config.http.metrics_listen else {
            return Ok(());
        };
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| BuildError::Listen { address, source })?;
        let router = crate::http::metrics::router(config.http.metrics_token.clone());
        let stop = self.cancel.clone().cancelled_owned();
        self.tasks.spawn(async move {
            if let Err(error) = axum::serve(listener, router)
                .with_graceful_shutdown(stop)
                .into_future()
                .await
            {
                tracing::error!(%error, "serving metrics ended");
            }
        });
        Ok(())
    }

    fn consume(&mut self, config: &Config, clock: Arc<dyn Clock>) {
        let subscription = |group: &str| Subscription {
            config: kafka_config(config),
            producer: self.ticketing.producer(),
            group: group.to_owned(),
        };
        let create = run_batches(
            subscription(CREATE_GROUP),
            BatchLimits::default(),
            Arc::new(self.ticketing.clone()),
            self.cancel.clone(),
        );
        let events = run_batches(
            subscription("seats-sold"),
            BatchLimits::default(),
            Arc::new(OrderEvents(self.ticketing.clone())),
            self.cancel.clone(),
        );
        let timeouts = run_delayed(
            subscription("expire"),
            DelayLimits {
                tries_max: config.limits.timeout_tries,
                ..DelayLimits::default()
            },
            clock,
            Arc::new(self.ticketing.clone()),
            self.cancel.clone(),
        );
        self.tasks.spawn(reported("create", create));
        self.tasks.spawn(reported("seats-sold", events));
        self.tasks.spawn(reported("expire", timeouts));
    }

    fn keep_time(&mut self) {
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_sweeper(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_outbox(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_relay(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_books(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_withdrawals(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_reconciler(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_leases(cancel).await });
        let ticketing = self.ticketing.clone();
        let cancel = self.cancel.clone();
        self.tasks
            .spawn(async move { ticketing.run_payment_polls(cancel).await });
        if let Some(gateway) = self.gateway.clone() {
            let cancel = self.cancel.clone();
            self.tasks
                .spawn(async move { gateway.run_deliveries(cancel).await });
        }
        let lease = Arc::clone(&self.lease);
        let cancel = self.cancel.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = lease.keep() => {}
            }
        });
    }

    /// Stops taking requests, lets those under way and the consumers finish, and gives the node number back.
    pub async fn stop(mut self) {
        self.cancel.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some tasks did not finish in time");
        }
        self.tasks.abort_all();
        if let Err(error) = self.lease.give_back().await {
            tracing::warn!(%error, "node number not given back, its lease will end");
        }
    }
}

impl Drop for Running {
    /// Connections that customers keep open belong to no task of ours: they end when they hear of it.
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

async fn reported(name: &'static str, consumer: impl Future<Output = Result<(), KafkaSetupError>>) {
    if let Err(error) = consumer.await {
        tracing::error!(consumer = name, %error, cause = ?error, "consumer could not be set up");
    }
}

fn keys(config: &Config) -> Result<SigningKeys, ShortSecret> {
    let secrets = &config.secrets;
    signing_keys(&secrets.gateway, secrets.gateway_previous.as_ref())
}

/// The Kafka side of a configuration.
#[must_use]
pub fn kafka_config(config: &Config) -> KafkaConfig {
    let stores = &config.stores;
    KafkaConfig {
        prefix: stores.kafka_prefix.clone(),
        partitions: stores.kafka_partitions.into(),
        replication: stores.kafka_replication.into(),
        ..KafkaConfig::new(&stores.kafka_brokers)
    }
}

/// How Leptos finds the browser's files; `Leptos.toml` says the same to other tools.
#[must_use]
pub fn leptos_options(config: &Config, address: SocketAddr) -> LeptosOptions {
    let root = config
        .http
        .site_root
        .canonicalize()
        .unwrap_or(config.http.site_root.clone());
    let hashes = root.join("hash.txt");
    LeptosOptions::builder()
        .output_name("seatflow")
        .site_root(root.to_string_lossy().into_owned())
        .site_pkg_dir("pkg")
        .site_addr(address)
        .hash_files(hashes.exists())
        .hash_file(Arc::<str>::from(hashes.to_string_lossy()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `Leptos.toml` says of a key, without quotes.
    fn stated(key: &str) -> String {
        let file = include_str!("../../Leptos.toml");
        let line = file
            .lines()
            .find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='));
        line.expect("the key is stated")
            .trim()
            .trim_matches('"')
            .to_owned()
    }

    #[test]
    fn leptos_toml_says_what_the_server_runs_with() {
        let lookup = |name: &str| match name {
            "DATABASE_URL" => Some("mysql://u:p@127.0.0.1/seatflow".to_owned()),
            "REDIS_URL" => Some("redis://127.0.0.1".to_owned()),
            "KAFKA_BROKERS" => Some("127.0.0.1:9092".to_owned()),
            name if name.ends_with("_SECRET") => {
                Some("0123456789abcdef0123456789abcdef".to_owned())
            }
            _ => None,
        };
        let config = Config::read(&lookup).unwrap();
        let options = leptos_options(&config, config.http.listen);
        assert_eq!(stated("output-name"), *options.output_name);
        assert_eq!(stated("site-pkg-dir"), *options.site_pkg_dir);
        assert_eq!(stated("site-addr"), options.site_addr.to_string());
        assert_eq!(stated("site-root"), config.http.site_root.to_string_lossy());
        assert!(options.hash_file.ends_with(&stated("hash-file-name")));
        assert_eq!(stated("hash-files"), "true");
    }
}
