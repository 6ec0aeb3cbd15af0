//! The simulated gateway as a program of its own: its router, its callbacks, its tables, and nothing of the sale.

use crate::{
    clock::Clock,
    config::GatewayProcessConfig,
    gateway::{Gateway, GatewayConfig, GatewaySetupError, signature::ShortSecret, signing_keys},
    mysql::{Db, DbError},
};
use axum::{Router, routing::get};
use std::{future::IntoFuture, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use tower_http::{catch_panic::CatchPanicLayer, limit::RequestBodyLimitLayer};

/// Most bytes of a request's body.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// How long requests and callbacks may take to finish when the gateway stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the gateway could not start.
#[derive(Debug, thiserror::Error)]
pub enum GatewayProcessError {
    /// The database.
    #[error(
        "the gateway's database can't be used: is it running, and is SEATFLOW_GATEWAY_DATABASE_URL or DATABASE_URL right?"
    )]
    Database(#[from] DbError),
    /// Its tables.
    #[error("the gateway's tables were not brought up to date")]
    Tables(#[from] sqlx::migrate::MigrateError),
    /// The HTTP client for callbacks.
    #[error("the payment gateway can't be set up")]
    Gateway(#[from] GatewaySetupError),
    /// The secret.
    #[error("SEATFLOW_GATEWAY_SECRET can't be used")]
    Secret(#[from] ShortSecret),
    /// The address to listen on.
    #[error(
        "can't listen on {address}: is another program using the port? Choose one with SEATFLOW_GATEWAY_LISTEN"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}

/// A gateway that serves.
pub struct RunningGateway {
    /// Where it listens.
    pub address: SocketAddr,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl RunningGateway {
    /// Makes the database and its tables where they are missing, and serves.
    ///
    /// # Errors
    /// When the database can't be reached or the address is taken; nothing is left running then.
    pub async fn start(
        config: GatewayProcessConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, GatewayProcessError> {
        let keys = signing_keys(&config.secret, config.previous_secret.as_ref())?;
        let refused = |source| GatewayProcessError::Listen {
            address: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let url = config.database_url.expose();
        Db::ensure_database(url).await?;
        let db = Db::connect_to(url, config.database_connections_max, config.wait_max).await?;
        db.migrate().await?;
        let gateway = Gateway::new(
            db.pool().clone(),
            GatewayConfig {
                keys,
                public_url: config.public_url,
            },
            clock,
        )?;
        let mut running = Self {
            address,
            cancel: CancellationToken::new(),
            tasks: JoinSet::new(),
        };
        running.serve(listener, router(&gateway));
        let cancel = running.cancel.clone();
        running
            .tasks
            .spawn(async move { gateway.run_deliveries(cancel).await });
        Ok(running)
    }

    fn serve(&mut self, listener: TcpListener, router: Router) {
        let stop = self.cancel.clone().cancelled_owned();
        self.tasks.spawn(async move {
            let served = axum::serve(listener, router)
                .with_graceful_shutdown(stop)
                .into_future();
            if let Err(error) = served.await {
                tracing::error!(%error, "the gateway's serving ended");
            }
        });
    }

    /// Lets requests and callbacks under way finish.
    pub async fn stop(mut self) {
        self.cancel.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some of the gateway's tasks did not finish in time");
        }
        self.tasks.abort_all();
    }
}

fn router(gateway: &Gateway) -> Router {
    gateway
        .router()
        .route("/health/live", get(|| async { "ok" }))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .layer(CatchPanicLayer::new())
}
