//! Unloading: a show that is over leaves Redis, so that rounds over all loaded shows, and memory, do not grow with every show
//! that was ever sold.
//!
//! A show is taken away in steps, because its standing places lie in other slots: first the show, so that nobody holds
//! anything of it any more, then the pieces, and last of all its entry in the list of loaded shows. A round that ends
//! between two of them leaves the entry, by which the next one finds it and goes on.
//!
//! **Architecture Invariant:** only what the database knows as well is taken away. Whoever needs the show afterwards, as what
//! follows a commit may, loads it again, and the next round takes it away again.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    mysql::{over_shows::OverShow as OverRow, shows::ShowRecord},
    redis::{
        keys::{Piece, PieceKey, ShowKey},
        scripts::UnloadReply,
    },
};
use app::domain::{catalogue::ShowStatus, hold::Refusal, ids::ShowId, time::Timestamp};
use std::fmt;

/// A loaded show that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverShow {
    /// The show.
    pub show: ShowId,
    /// Why it stays; none when it leaves, or has left, Redis.
    pub stays: Option<StillOpen>,
}

/// What is open in a show that is over. It stays in Redis until that has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StillOpen {
    /// Orders wait for their payment or their deadline.
    Pending(i64),
    /// Rows of the outbox are about its orders.
    Outbox(i64),
    /// Orders hold something in Redis, or are not acknowledged by Kafka.
    Held(u64),
    /// Seats or standing places are locked.
    Locked(u64),
    /// Changes of places are not in the books yet.
    Unbooked(u64),
    /// It was loaded, lost, or changed by staff at this moment.
    Changed,
    /// A store failed.
    Failed,
}

impl fmt::Display for StillOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pending(count) => write!(f, "{count} order(s) are pending"),
            Self::Outbox(count) => write!(f, "{count} row(s) of the outbox are about it"),
            Self::Held(count) => write!(f, "{count} order(s) hold something or are not sent"),
            Self::Locked(count) => write!(f, "{count} seat(s) or place(s) are locked"),
            Self::Unbooked(count) => write!(f, "{count} change(s) of places are not in the books"),
            Self::Changed => f.write_str("it changed at this moment"),
            Self::Failed => f.write_str("a store failed"),
        }
    }
}

impl fmt::Display for OverShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14} show {:<6} ", "over", self.show)?;
        match self.stays {
            None => f.write_str("is over and leaves Redis"),
            Some(open) => write!(f, "is over and stays in Redis: {open}"),
        }
    }
}

impl Ticketing {
    /// Shows that began, or were withdrawn and settled, before this moment are over.
    pub(super) fn over_before(&self) -> Timestamp {
        self.now() - self.inner.config.limits.unload_after
    }

    /// Why nobody can buy of a show any more, whatever happens; none while somebody may. Nobody who only looks at such a
    /// show, or asks for its seats, has it loaded.
    pub(super) fn closed_for_good(&self, show: &ShowRecord) -> Option<Refusal> {
        if show.status == ShowStatus::Withdrawn {
            return Some(Refusal::NotOnSale);
        }
        let before = self.over_before();
        (show.starts_at <= before && show.sale_end <= before).then_some(Refusal::SaleEnded)
    }

    /// The loaded shows that are over, and what is open in them, without touching them. A script that unloads one may still
    /// find more than this.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn over_shows(&self) -> Result<Vec<OverShow>, Failure> {
        let loaded = self.inner.redis.loaded_shows().await?;
        let mut over = Vec::new();
        for row in self
            .inner
            .db
            .over_shows(&loaded, self.over_before())
            .await?
        {
            let show = row.show;
            let stays = match open_in_rows(row) {
                Some(open) => Some(open),
                None => self.look_into_redis(show).await,
            };
            over.push(OverShow { show, stays });
        }
        Ok(over)
    }

    /// Takes the shows that are over out of Redis; what became of each. One that can't be taken away now keeps no other
    /// waiting.
    ///
    /// # Errors
    /// When a store fails before the first of them.
    pub(super) async fn unload_over_shows(&self) -> Result<Vec<OverShow>, Failure> {
        let mut over = self.over_shows().await?;
        for over in over.iter_mut().filter(|over| over.stays.is_none()) {
            let show_id = over.show.0;
            over.stays = match self.unload_show(over.show).await {
                Ok(stays) => stays,
                Err(error) => {
                    tracing::warn!(show_id, %error, cause = ?error, "show not unloaded in this round");
                    Some(StillOpen::Failed)
                }
            };
            match over.stays {
                None => {
                    metrics::counter!("seatflow_shows_unloaded_total").increment(1);
                    tracing::info!(show_id, "show unloaded: it is over");
                }
                Some(open) => tracing::debug!(show_id, ?open, "show is over and stays loaded"),
            }
        }
        Ok(over)
    }

    /// Takes a show away while nobody loads it; why it stays, if it does.
    async fn unload_show(&self, show: ShowId) -> Result<Option<StillOpen>, Failure> {
        let lead = self.inner.db.try_lead(&format!("load.{show}")).await?;
        let Some(lead) = lead else {
            return Ok(Some(StillOpen::Changed));
        };
        let outcome = self.unload_alone(show).await;
        lead.give_up().await;
        outcome
    }

    async fn unload_alone(&self, show: ShowId) -> Result<Option<StillOpen>, Failure> {
        let (db, redis) = (&self.inner.db, &self.inner.redis);
        let still_over = db.over_shows(&[show], self.over_before()).await?;
        match still_over.first() {
            None => return Ok(Some(StillOpen::Changed)),
            Some(row) => {
                if let Some(open) = open_in_rows(*row) {
                    return Ok(Some(open));
                }
            }
        }
        let epoch = redis.show_meta(show).await?.map(|meta| meta.epoch);
        if let Some(open) = open_in_reply(redis.unload(show, epoch).await?) {
            return Ok(Some(open));
        }
        fault::point(Point::UnloadAfterShow);
        let pieces = self.pieces_of_show(show).await?;
        let places = redis.places(&pieces).await?;
        for (index, (piece, places)) in pieces.iter().zip(places).enumerate() {
            if index > 0 {
                fault::point(Point::UnloadBetweenPieces);
            }
            let epoch = places.map(|places| places.epoch);
            if let Some(open) = open_in_reply(redis.unload_standing(*piece, epoch).await?) {
                return Ok(Some(open));
            }
        }
        fault::point(Point::UnloadBeforeCollectors);
        let mut zones: Vec<_> = pieces.iter().map(|piece| piece.zone).collect();
        zones.dedup();
        for zone in zones {
            redis.forget_collecting(zone).await?;
        }
        fault::point(Point::UnloadAfterPieces);
        redis.note_unloaded(show).await?;
        fault::point(Point::UnloadAfterUnlisting);
        // Somebody whose lock was lost may have loaded it meanwhile: a loaded show is never missing in the list.
        if redis.show_meta(show).await?.is_some() {
            redis.note_loaded(show).await?;
            return Ok(Some(StillOpen::Changed));
        }
        Ok(None)
    }

    /// As [`Ticketing::open_in_redis`]; a show that can't be read stays, and keeps no other waiting.
    async fn look_into_redis(&self, show: ShowId) -> Option<StillOpen> {
        match self.open_in_redis(show).await {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(show_id = show.0, %error, cause = ?error, "show not unloaded in this round");
                Some(StillOpen::Failed)
            }
        }
    }

    /// What Redis has open in a show, as far as it can be seen without its scripts.
    async fn open_in_redis(&self, show: ShowId) -> Result<Option<StillOpen>, Failure> {
        let redis = &self.inner.redis;
        let held = redis.orders_under_way(show).await?;
        if held > 0 {
            return Ok(Some(StillOpen::Held(held)));
        }
        let pieces = self.pieces_of_show(show).await?;
        let places = redis.places(&pieces).await?;
        let locked: u64 = places
            .iter()
            .flatten()
            .map(|places| u64::from(places.locked))
            .sum();
        if locked > 0 {
            return Ok(Some(StillOpen::Locked(locked)));
        }
        let mut logs = vec![redis.keys().show(show, ShowKey::Quantities)];
        let of_piece = |piece: &Piece| redis.keys().piece(*piece, PieceKey::Quantities);
        logs.extend(pieces.iter().map(of_piece));
        let unbooked: u64 = redis.quantity_backlogs(&logs).await?.iter().sum();
        Ok((unbooked > 0).then_some(StillOpen::Unbooked(unbooked)))
    }

    async fn pieces_of_show(&self, show: ShowId) -> Result<Vec<Piece>, Failure> {
        let mut pieces = self.inner.db.pieces_of_shows(&[show]).await?;
        Ok(pieces.remove(&show).unwrap_or_default())
    }
}

fn open_in_rows(row: OverRow) -> Option<StillOpen> {
    if row.pending_orders > 0 {
        return Some(StillOpen::Pending(row.pending_orders));
    }
    (row.outbox_rows > 0).then_some(StillOpen::Outbox(row.outbox_rows))
}

/// Why a script has left everything as it was; none when it has not.
fn open_in_reply(reply: UnloadReply) -> Option<StillOpen> {
    match reply {
        UnloadReply::Unloaded { .. } => None,
        UnloadReply::Epoch { .. } => Some(StillOpen::Changed),
        UnloadReply::Orders { holding, unsent } => Some(StillOpen::Held(holding.max(unsent))),
        UnloadReply::Locked { count } => Some(StillOpen::Locked(count)),
        UnloadReply::Unbooked { changes } => Some(StillOpen::Unbooked(changes)),
    }
}
