//! The node number of this server, by which its order numbers differ from those of all others.
//!
//! **Invariant:** two servers never use one number at the same time. So a holder stops using its number some time
//! before its lease can run out in Redis, whatever it does or does not hear from there.

use super::{Redis, RedisError, scripts::RenewReply};
use ::redis::cmd;
use app::domain::{ids::OrderNo, time::Millis};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{PoisonError, RwLock},
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How long a lease lasts without renewal.
pub const NODE_LEASE_TTL: Millis = Millis::seconds(60);
/// How often a lease is renewed.
pub const NODE_RENEWAL_INTERVAL: Duration = Duration::from_secs(15);
/// How long a number is used after its lease was last renewed; the rest is for clocks that run apart.
const USABLE_FOR: Duration = Duration::from_secs(50);

/// Why a server has no number.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Every number is another server's.
    #[error("all {} node numbers are taken", OrderNo::NODES)]
    AllTaken,
    /// Redis could not be asked.
    #[error("the node number cannot be leased")]
    Redis(#[from] RedisError),
}

#[derive(Debug, Clone, Copy)]
struct Held {
    node: u16,
    usable_until: Instant,
}

/// A number leased to one running server.
pub struct NodeLease {
    redis: Redis,
    instance: String,
    held: RwLock<Option<Held>>,
}

impl NodeLease {
    /// Leases a free number. `instance` names this run of the server and no other.
    ///
    /// # Errors
    /// When all numbers are taken or Redis can't be asked.
    pub async fn acquire(redis: Redis, instance: String) -> Result<Self, NodeError> {
        let lease = Self {
            redis,
            instance,
            held: RwLock::new(None),
        };
        lease.take_free_number(lease.first_candidate()).await?;
        Ok(lease)
    }

    /// The number, if it is certainly this server's at the moment `now`.
    #[must_use]
    pub fn node_at(&self, now: Instant) -> Option<u16> {
        self.held()
            .filter(|held| now < held.usable_until)
            .map(|held| held.node)
    }

    /// Prolongs the lease, or leases another number when it was lost.
    ///
    /// # Errors
    /// When the number is lost and all others are taken, or Redis can't be asked.
    pub async fn renew(&self) -> Result<(), NodeError> {
        if let Some(held) = self.held() {
            let asked_at = Instant::now();
            let key = self.redis.keys().node(held.node);
            if self
                .redis
                .renew(key, &self.instance, NODE_LEASE_TTL)
                .await?
                == RenewReply::Renewed
            {
                self.set(Some(Held {
                    node: held.node,
                    usable_until: asked_at + USABLE_FOR,
                }));
                return Ok(());
            }
            // Not used any more, and remembered: where the next is not found now, this one is asked for again.
            self.set(Some(Held {
                node: held.node,
                usable_until: asked_at,
            }));
            // Where Redis lost all leases, each server goes on with its own number: the others still use theirs.
            return self.take_free_number(held.node).await;
        }
        self.take_free_number(self.first_candidate()).await
    }

    /// Renews the lease again and again; ends only by being dropped.
    pub async fn keep(&self) {
        let mut ticks = interval(NODE_RENEWAL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.renew().await {
                tracing::warn!(%error, cause = ?error, "node number not renewed");
            }
        }
    }

    /// Gives the number back, so that another server need not wait for the lease to run out.
    ///
    /// # Errors
    /// When Redis can't be asked; the lease then runs out by itself.
    pub async fn give_back(&self) -> Result<(), RedisError> {
        let Some(held) = self.held() else {
            return Ok(());
        };
        self.set(None);
        // A lifetime of one millisecond ends the lease, and only if it is still this server's.
        let key = self.redis.keys().node(held.node);
        self.redis.renew(key, &self.instance, Millis(1)).await?;
        Ok(())
    }

    /// Leases the first number from `first` on that nobody has.
    async fn take_free_number(&self, first: u16) -> Result<(), NodeError> {
        for offset in 0..OrderNo::NODES {
            let node = (first + offset) % OrderNo::NODES;
            let asked_at = Instant::now();
            let mut set = cmd("SET");
            set.arg(self.redis.keys().node(node)).arg(&self.instance);
            set.arg("NX").arg("PX").arg(NODE_LEASE_TTL.0);
            if self.redis.query::<Option<String>>(&set).await?.is_some() {
                self.set(Some(Held {
                    node,
                    usable_until: asked_at + USABLE_FOR,
                }));
                return Ok(());
            }
        }
        Err(NodeError::AllTaken)
    }

    /// Where the search begins: spread by the instance's name, so that servers started together rarely collide.
    fn first_candidate(&self) -> u16 {
        let mut hasher = DefaultHasher::new();
        self.instance.hash(&mut hasher);
        u16::try_from(hasher.finish() % u64::from(OrderNo::NODES)).unwrap_or_default()
    }

    fn held(&self) -> Option<Held> {
        *self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, held: Option<Held>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held;
    }
}
