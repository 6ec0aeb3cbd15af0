//! Who may not buy. Staff enter accounts, phones, devices and addresses; whoever places an order is looked up in a copy of
//! all entries that is at most three seconds old.

use super::{Failure, Ticketing, failure::OrTell};
use crate::mysql::{
    Db, DbError,
    block_list::{BlockEntry, BlockKind, ENTRIES_MAX},
};
use app::{
    domain::{
        hold::Refusal,
        ids::UserId,
        time::{Millis, Timestamp},
        user::{Phone, User},
    },
    error::AppError,
    ports::Visitor,
};
use moka::future::Cache;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

/// How old the copy may be.
const COPY_TTL: Duration = Duration::from_secs(3);
/// Most characters of a reason.
pub const REASON_CHARS_MAX: usize = 200;
/// Most days of an entry that does not hold for good.
pub const DAYS_MAX: u32 = 3_650;
/// Most characters of a device's name.
const DEVICE_CHARS_MAX: usize = 64;

/// Why an entry was not made.
#[derive(Debug, thiserror::Error)]
pub enum BlockRefusal {
    /// The value can't be one of its kind.
    #[error("{value:?} is no {}: {}", .kind.word(), expected(.kind))]
    Value {
        /// What it should have been.
        kind: BlockKind,
        /// What was given.
        value: String,
    },
    /// The reason is missing or too long.
    #[error("a reason has 1 to {REASON_CHARS_MAX} characters")]
    Reason,
    /// The number of days makes no sense.
    #[error("an entry holds for 1 to {DAYS_MAX} days, or for good")]
    Days,
    /// There are too many entries.
    #[error("there are {ENTRIES_MAX} entries already, remove some first")]
    Full,
    /// The database failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

fn expected(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::User => "the account's number",
        BlockKind::Phone => "the number as it is dialled, 7 to 15 digits",
        BlockKind::Device => "the name that orders count it by, letters and digits",
        BlockKind::Ip => "an IPv4 or IPv6 address",
    }
}

/// What staff enter.
#[derive(Debug, Clone)]
pub struct NewBlock<'a> {
    /// What is named.
    pub kind: BlockKind,
    /// Its value as people write it.
    pub value: &'a str,
    /// Why.
    pub reason: &'a str,
    /// For how long; none for good.
    pub days: Option<u32>,
    /// Who enters it.
    pub by: &'a str,
}

/// Entries by what they name, with the moment at which they end.
type Entries = HashMap<(BlockKind, String), Option<Timestamp>>;

/// A server's copy of the block list.
pub struct BlockList {
    db: Db,
    copy: Cache<(), Arc<Entries>>,
    last: RwLock<Option<Arc<Entries>>>,
}

impl BlockList {
    /// No copy yet.
    #[must_use]
    pub fn new(db: Db) -> Self {
        let copy = Cache::builder().max_capacity(1).time_to_live(COPY_TTL);
        Self {
            db,
            copy: copy.build(),
            last: RwLock::new(None),
        }
    }

    /// The entries; an older copy while the database is away, because everything else about an order can still be decided.
    async fn entries(&self, now: Timestamp) -> Result<Arc<Entries>, Arc<DbError>> {
        let read = self.copy.try_get_with((), self.read(now)).await;
        match read {
            Ok(entries) => Ok(entries),
            Err(error) => {
                let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
                let Some(last) = last.clone() else {
                    return Err(error);
                };
                tracing::warn!(%error, "block list not read, the last copy is used");
                Ok(last)
            }
        }
    }

    async fn read(&self, now: Timestamp) -> Result<Arc<Entries>, DbError> {
        let entries = self.db.blocks(now).await?;
        let entries: Arc<Entries> = Arc::new(
            entries
                .into_iter()
                .map(|entry| ((entry.kind, entry.value), entry.until))
                .collect(),
        );
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&entries));
        Ok(entries)
    }

    /// Forgets the copy, so that the next order sees what this server has just entered.
    async fn forget(&self) {
        self.copy.invalidate(&()).await;
    }
}

impl Ticketing {
    /// Refuses whoever is on the block list, by account, phone, device or address.
    ///
    /// # Errors
    /// [`Refusal::Blocked`], or `Busy` or `Internal` when the list was never read.
    pub(super) async fn refuse_blocked(
        &self,
        visitor: &Visitor,
        user: &User,
    ) -> Result<(), AppError> {
        let now = self.now();
        let entries = self.inner.block_list.entries(now).await.map_err(|error| {
            let failure = match &*error {
                DbError::Busy => Failure::Db(DbError::Busy),
                _ => Failure::Broken("block list not read"),
            };
            failure.into_app_error("place order")
        })?;
        let named = [
            (BlockKind::User, user.id.to_string()),
            (BlockKind::Phone, visitor.phone.clone()),
            (BlockKind::Device, visitor.device.clone()),
            (BlockKind::Ip, visitor.ip.to_canonical().to_string()),
        ];
        for name in named {
            let Some(until) = entries.get(&name) else {
                continue;
            };
            if until.is_none_or(|until| now < until) {
                // Which of the four it was is for the log of the shop, not for the one who is refused.
                tracing::info!(kind = name.0.word(), user_id = user.id.0, "blocked");
                metrics::counter!("seatflow_blocked_total", "kind" => name.0.word()).increment(1);
                return Err(Refusal::Blocked.into());
            }
        }
        Ok(())
    }

    /// Enters somebody who may not buy from now on, or replaces the entry.
    ///
    /// # Errors
    /// What is wrong with the entry, or a failure of the database.
    pub async fn add_block(&self, new: &NewBlock<'_>) -> Result<BlockEntry, BlockRefusal> {
        let reason = new.reason.trim();
        if reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX {
            return Err(BlockRefusal::Reason);
        }
        if new.days.is_some_and(|days| days == 0 || days > DAYS_MAX) {
            return Err(BlockRefusal::Days);
        }
        let now = self.now();
        let entry = BlockEntry {
            kind: new.kind,
            value: self.block_value(new.kind, new.value)?,
            reason: reason.to_owned(),
            until: new
                .days
                .map(|days| now + Millis::minutes(i64::from(days) * 24 * 60)),
            created_at: now,
            created_by: new.by.chars().take(64).collect(),
        };
        if !self
            .inner
            .db
            .put_block(&entry, now)
            .await
            .map_err(Failure::from)?
        {
            return Err(BlockRefusal::Full);
        }
        self.inner.block_list.forget().await;
        tracing::info!(
            kind = entry.kind.word(),
            by = entry.created_by,
            "entered in the block list"
        );
        Ok(entry)
    }

    /// Removes an entry. False when there is none.
    ///
    /// # Errors
    /// When the value can't be one of its kind, or the database fails.
    pub async fn remove_block(&self, kind: BlockKind, value: &str) -> Result<bool, BlockRefusal> {
        let value = self.block_value(kind, value)?;
        let removed = self.inner.db.remove_block(kind, &value).await;
        self.inner.block_list.forget().await;
        Ok(removed.map_err(Failure::from)?)
    }

    /// The entries that hold, newest first.
    ///
    /// # Errors
    /// `Busy` or `Internal`.
    pub async fn blocks(&self) -> Result<Vec<BlockEntry>, AppError> {
        self.inner
            .db
            .blocks(self.now())
            .await
            .or_tell("read block list")
    }

    /// A value as the list keeps it. A phone that is given as its hash, as `block list` prints it, is taken as it is.
    fn block_value(&self, kind: BlockKind, value: &str) -> Result<String, BlockRefusal> {
        let value = value.trim();
        let kept = match kind {
            BlockKind::User => value.parse::<UserId>().ok().map(|id| id.to_string()),
            BlockKind::Phone if is_hash(value) => Some(value.to_owned()),
            BlockKind::Phone => Phone::parse(value).map(|phone| self.phone_hash(&phone)),
            BlockKind::Device => is_device(value).then(|| value.to_owned()),
            BlockKind::Ip => value
                .parse::<IpAddr>()
                .ok()
                .map(|address| address.to_canonical().to_string()),
        };
        kept.ok_or_else(|| BlockRefusal::Value {
            kind,
            value: value.to_owned(),
        })
    }
}

fn is_device(text: &str) -> bool {
    (1..=DEVICE_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_hash(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
