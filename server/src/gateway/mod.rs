//! The simulated payment gateway: a bank that takes no money, with a cashier page and signed callbacks.
//!
//! It is a party of its own. It has its own tables, is reached over HTTP only, and may run in a process of its own; the
//! ticketing system talks to it through [`crate::payment_channel`] as it would to a real one. The two share the description
//! of what travels ([`wire`], [`switches`]) and how it is signed ([`signature`]), and no more.
//!
//! **Invariant:** a payment changes its state only in a transaction that has locked its row, and the notices that tell of the
//! change are queued in the same transaction. What has happened is told until the merchant acknowledges it.

mod answer;
mod api;
mod cashier;
mod delivery;
mod due;
pub mod error;
mod payment;
mod payments;
mod refunds;
pub mod signature;
mod store;
pub mod switches;
pub mod wire;

use crate::{clock::Clock, config::Secret};
use app::domain::time::Timestamp;
use axum::Router;
use error::GatewayError;
use signature::{ShortSecret, SigningKeys};
use sqlx::MySqlPool;
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long the merchant may take to answer a callback.
const CALLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// What the gateway needs to know.
#[derive(Debug, Clone)]
pub struct GatewayConfig {
    /// Secrets shared with the merchant.
    pub keys: SigningKeys,
    /// Where customers' browsers find the router, without a slash at the end: `http://127.0.0.1:3000/gateway`.
    pub public_url: String,
}

/// The keys that both sides sign with: the newest one, and the one before it while it is being replaced.
///
/// # Errors
/// When one of them is too short.
pub fn signing_keys(
    secret: &Secret,
    previous: Option<&Secret>,
) -> Result<SigningKeys, ShortSecret> {
    let keys = SigningKeys::new(secret.bytes())?;
    match previous {
        Some(previous) => keys.with_previous(previous.bytes()),
        None => Ok(keys),
    }
}

/// The gateway's HTTP client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the gateway's HTTP client could not be set up")]
pub struct GatewaySetupError(#[from] reqwest::Error);

/// The gateway. Clones share one state.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    pool: MySqlPool,
    config: GatewayConfig,
    clock: Arc<dyn Clock>,
    http: reqwest::Client,
    /// Wakes the worker when there is something new to do.
    nudge: Notify,
}

impl Gateway {
    /// A gateway on `pool`, whose tables exist.
    ///
    /// # Errors
    /// When the HTTP client for callbacks can't be set up.
    pub fn new(
        pool: MySqlPool,
        mut config: GatewayConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, GatewaySetupError> {
        config
            .public_url
            .truncate(config.public_url.trim_end_matches('/').len());
        // A redirect would carry a signed notice to an address the merchant did not give.
        let http = reqwest::Client::builder()
            .timeout(CALLBACK_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        let inner = Inner {
            pool,
            config,
            clock,
            http,
            nudge: Notify::new(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The API under `/v1` and the cashier under `/cashier`; to be nested where `public_url` leads.
    pub fn router(&self) -> Router {
        api::router(self.clone()).merge(cashier::router(self.clone()))
    }

    /// Sends callbacks, ends payments whose time is over, and lets late successes and slow refunds happen, until `stop` is
    /// cancelled; attempts under way are then finished first. Any number of servers may do this on one store.
    pub async fn run_deliveries(&self, stop: CancellationToken) {
        delivery::run(self, stop).await;
    }

    /// Does once all that is due now and waits until it is done: for tests that move the clock.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn deliver_due(&self) -> Result<(), GatewayError> {
        delivery::deliver_all_due(self).await
    }

    fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    fn pool(&self) -> &MySqlPool {
        &self.inner.pool
    }

    fn nudge(&self) {
        self.inner.nudge.notify_one();
    }
}
