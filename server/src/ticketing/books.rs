//! Keeping the books: what the scripts logged of each zone's places is moved from Redis into the database.
//!
//! Every server may do this at the same time. A change is named by its place in Redis's log, so writing it twice leaves one
//! row, and an entry is removed from Redis only after its row is committed.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    redis::keys::{PieceKey, ShowKey},
};
use app::domain::ids::ShowId;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(1);
/// Changes written in one transaction.
const BATCH: usize = 500;
/// Transactions for one log in one round; what is left waits for the next.
const BATCHES_MAX: usize = 20;
/// Logs whose length is asked for at once.
const LOGS_AT_ONCE: usize = 100;

/// A log of changes, in Redis: of a show's zones with seats, or of one piece of a standing zone.
struct Log {
    show: ShowId,
    piece: u16,
    key: String,
}

/// What a round of the mover did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Changes that the books did not have yet.
    pub new: u64,
    /// Places at which the log has lost something.
    pub gaps: u64,
}

impl Ticketing {
    /// Moves changes into the books, until cancelled.
    pub async fn run_books(&self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.keep_books().await {
                tracing::warn!(%error, cause = ?error, "books not kept in this round");
            }
        }
    }

    /// One round over the logs of all loaded shows.
    ///
    /// # Errors
    /// When a store fails; the next round goes on.
    pub async fn keep_books(&self) -> Result<Moved, Failure> {
        let mut moved = Moved::default();
        let mut backlog = 0;
        for logs in self.quantity_logs().await?.chunks(LOGS_AT_ONCE) {
            let keys: Vec<String> = logs.iter().map(|log| log.key.clone()).collect();
            let lengths = self.inner.redis.quantity_backlogs(&keys).await?;
            for (log, length) in logs.iter().zip(lengths) {
                backlog += length;
                if length > 0 {
                    self.move_log(log, &mut moved).await?;
                }
            }
        }
        let backlog = f64::from(u32::try_from(backlog).unwrap_or(u32::MAX));
        metrics::gauge!("seatflow_quantity_log_backlog").set(backlog);
        if moved.gaps > 0 {
            metrics::counter!("seatflow_quantity_log_gaps_total").increment(moved.gaps);
            tracing::error!(
                gaps = moved.gaps,
                "changes of places are missing in the books"
            );
        }
        Ok(moved)
    }

    async fn quantity_logs(&self) -> Result<Vec<Log>, Failure> {
        let shows = self.inner.redis.loaded_shows().await?;
        let keys = self.inner.redis.keys();
        let mut logs: Vec<Log> = shows
            .iter()
            .map(|&show| Log {
                show,
                piece: 0,
                key: keys.show(show, ShowKey::Quantities),
            })
            .collect();
        for (show, pieces) in self.inner.db.pieces_of_shows(&shows).await? {
            logs.extend(pieces.into_iter().map(|piece| Log {
                show,
                piece: piece.piece,
                key: keys.piece(piece, PieceKey::Quantities),
            }));
        }
        Ok(logs)
    }

    async fn move_log(&self, log: &Log, moved: &mut Moved) -> Result<(), Failure> {
        for _ in 0..BATCHES_MAX {
            let changes = self.inner.redis.quantity_changes(&log.key, BATCH).await?;
            let Some(last) = changes.last() else {
                break;
            };
            let booked = self
                .inner
                .db
                .book_quantities(log.show, log.piece, &changes)
                .await?;
            moved.new += booked.new;
            moved.gaps += booked.gaps;
            fault::point(Point::BooksAfterWrite);
            self.inner.redis.trim_quantities(&log.key, last.at).await?;
            if changes.len() < BATCH {
                break;
            }
        }
        Ok(())
    }
}
