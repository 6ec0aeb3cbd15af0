//! The use cases: what happens when somebody looks, chooses, orders, pays, gives up, or lets time pass.
//!
//! Each file is one use case and reads from top to bottom. The ports of `app` are implemented here, and so are the
//! handlers that consumers of Kafka call; nothing else changes orders.

pub mod accounts;
mod announce;
mod asking;
pub mod attendees;
mod best;
pub mod block_list;
pub mod blocking;
pub mod books;
pub mod cancel;
pub mod catalogue;
pub mod change_show;
pub mod create;
pub mod dead_letters;
pub mod discrepancies;
pub mod expire;
pub mod extend;
pub mod failure;
pub mod identity;
pub mod loading;
pub mod numbers;
pub mod offer_evidence;
pub mod order_timeline;
pub mod order_views;
pub mod outbox;
pub mod pay;
pub mod place;
pub mod rebuild;
pub mod reconcile;
pub mod refund;
mod refund_settling;
pub mod relay;
pub mod seat_maps;
mod sending;
pub mod settle;
pub mod show_facts;
mod side_by_side;
pub mod standing;
pub mod under_way;
pub mod unload;
pub mod venue_clock;
pub mod verify;
pub mod withdraw;

pub use failure::Failure;

use crate::{
    clock::Clock, config::Config, kafka::Producer, mysql::Db, payment_channel::Channels,
    redis::Redis,
};
use app::domain::time::Timestamp;
use numbers::OrderNumbers;
use seat_maps::SeatMaps;
use show_facts::ShowFactsCache;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What the use cases work with; cloning shares it.
#[derive(Clone)]
pub struct Ticketing {
    inner: Arc<Inner>,
}

/// The parts behind [`Ticketing`].
pub struct Inner {
    pub(crate) config: Config,
    pub(crate) db: Db,
    pub(crate) redis: Redis,
    pub(crate) producer: Producer,
    pub(crate) channels: Channels,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) numbers: OrderNumbers,
    pub(crate) show_facts: ShowFactsCache,
    pub(crate) seat_maps: SeatMaps,
    pub(crate) sending: sending::Sending,
    pub(crate) loads: loading::Loads,
    pub(crate) standing_counts: standing::left::StandingCounts,
    pub(crate) block_list: block_list::BlockList,
    pub(crate) sessions: crate::http::session::Sessions,
    pub(crate) identities: identity::Identities,
    pub(crate) hashing: Semaphore,
    pub(crate) login_attempts: accounts::LoginAttempts,
}

/// The outside that the use cases need.
pub struct Outside {
    /// Settings.
    pub config: Config,
    /// The database.
    pub db: Db,
    /// Redis.
    pub redis: Redis,
    /// Kafka.
    pub producer: Producer,
    /// The payment channels.
    pub channels: Channels,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Makes order numbers.
    pub numbers: OrderNumbers,
}

impl Ticketing {
    /// Puts the parts together.
    ///
    /// # Errors
    /// When the session secret is no key.
    pub fn new(outside: Outside) -> Result<Self, jsonwebtoken::errors::Error> {
        let sessions = crate::http::session::Sessions::new(
            &outside.config.secrets.session,
            outside.config.http.is_tls(),
            Arc::clone(&outside.clock),
        )?;
        let identities = identity::Identities::new(&outside.config.secrets.attendee)
            .ok_or(jsonwebtoken::errors::ErrorKind::InvalidKeyFormat)?;
        let hashing = Semaphore::new(outside.config.limits.password_hashes_max);
        let inner = Inner {
            show_facts: ShowFactsCache::new(outside.db.clone()),
            seat_maps: SeatMaps::default(),
            sending: sending::Sending::default(),
            loads: loading::Loads::default(),
            standing_counts: standing::left::StandingCounts::default(),
            block_list: block_list::BlockList::new(outside.db.clone()),
            sessions,
            identities,
            hashing,
            login_attempts: accounts::LoginAttempts::default(),
            config: outside.config,
            db: outside.db,
            redis: outside.redis,
            producer: outside.producer,
            channels: outside.channels,
            clock: outside.clock,
            numbers: outside.numbers,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The database, for tests and commands that look behind the scenes.
    #[must_use]
    pub fn db(&self) -> &Db {
        &self.inner.db
    }

    /// Redis, for tests and commands that look behind the scenes.
    #[must_use]
    pub fn redis(&self) -> &Redis {
        &self.inner.redis
    }

    /// The settings, for tests and commands that look behind the scenes.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Reads and writes sessions.
    #[must_use]
    pub fn sessions(&self) -> &crate::http::session::Sessions {
        &self.inner.sessions
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }
}

impl Ticketing {
    pub(crate) fn producer(&self) -> Producer {
        self.inner.producer.clone()
    }
}
