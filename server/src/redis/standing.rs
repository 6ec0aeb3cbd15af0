//! What Redis knows of the pieces of standing zones, read without a script because nothing is decided by it.

use super::{
    Redis, RedisError,
    keys::{Piece, PieceKey},
};
use crate::fault::{self, Point};
use ::redis::{cmd, pipe};
use app::domain::{
    ids::{OrderNo, ZoneId},
    time::{Millis, Timestamp},
};
use std::collections::{BTreeMap, HashMap};

/// How long one buyer may collect places from several pieces before others may as well.
const COLLECTOR_LEASE: Millis = Millis::seconds(2);

/// How places of a piece are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceState {
    /// For an order that is not paid yet.
    Locked,
    /// For a paid order.
    Sold,
}

impl PlaceState {
    /// The word that entries and counters carry.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Sold => "sold",
        }
    }
}

/// What one order has of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenPlaces {
    /// How many places.
    pub quantity: u32,
    /// How they are taken.
    pub state: PlaceState,
    /// When they were taken.
    pub created: Timestamp,
}

impl TakenPlaces {
    /// As the piece's hash keeps it: `<quantity>|<state>|<created_ms>`.
    #[must_use]
    pub fn to_entry(self) -> String {
        format!("{}|{}|{}", self.quantity, self.state.word(), self.created.0)
    }

    /// Reads [`TakenPlaces::to_entry`].
    #[must_use]
    pub fn from_entry(text: &str) -> Option<Self> {
        let mut parts = text.split('|');
        let taken = Self {
            quantity: parts.next()?.parse().ok()?,
            state: match parts.next()? {
                "locked" => PlaceState::Locked,
                "sold" => PlaceState::Sold,
                _ => return None,
            },
            created: Timestamp(parts.next()?.parse().ok()?),
        };
        parts.next().is_none().then_some(taken)
    }
}

/// The counts of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// The life of its keys.
    pub epoch: u32,
    /// Places in all.
    pub total: u32,
    /// Places of orders that are not paid yet.
    pub locked: u32,
    /// Places of paid orders.
    pub sold: u32,
}

impl Places {
    /// Places that can be had; none when more are taken than there are.
    #[must_use]
    pub fn left(self) -> u32 {
        self.total
            .saturating_sub(self.locked)
            .saturating_sub(self.sold)
    }
}

/// A piece at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceSnapshot {
    /// Its counts.
    pub places: Places,
    /// What each order has of it.
    pub taken: BTreeMap<OrderNo, TakenPlaces>,
}

/// Whether somebody collects places from several pieces of a zone, and how often that has begun.
///
/// Two equal readings without a collector, one before and one after looking through the pieces, mean that nobody held
/// places meanwhile that they might have given back a moment later.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collecting {
    collector: Option<String>,
    begun: u64,
}

impl Collecting {
    /// Whether nobody collects.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.collector.is_none()
    }
}

impl Redis {
    /// The counts of some pieces, in their order; none for a piece that is not loaded.
    ///
    /// # Errors
    /// As any command.
    pub async fn places(&self, pieces: &[Piece]) -> Result<Vec<Option<Places>>, RedisError> {
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        let mut reads = pipe();
        for &piece in pieces {
            reads
                .cmd("HMGET")
                .arg(self.keys().piece(piece, PieceKey::Places))
                .arg(&["epoch", "total", "locked", "sold"]);
        }
        let rows: Vec<Vec<Option<i64>>> = self.query_all(&reads).await?;
        rows.iter().map(|row| read_places(row)).collect()
    }

    /// A piece with its entries, read in one transaction; none when it is not loaded.
    ///
    /// # Errors
    /// As any command, and when something can't be read.
    pub async fn piece_snapshot(&self, piece: Piece) -> Result<Option<PieceSnapshot>, RedisError> {
        let mut reads = pipe();
        reads
            .atomic()
            .cmd("HMGET")
            .arg(self.keys().piece(piece, PieceKey::Places))
            .arg(&["epoch", "total", "locked", "sold"])
            .hgetall(self.keys().piece(piece, PieceKey::Taken));
        let (counts, entries): (Vec<Option<i64>>, HashMap<String, String>) =
            self.query_all(&reads).await?;
        let Some(places) = read_places(&counts)? else {
            return Ok(None);
        };
        let taken = entries.iter().map(|(order_no, entry)| {
            let taken = TakenPlaces::from_entry(entry).ok_or_else(|| unreadable("taken"))?;
            Ok((order_no.parse().map_err(|_| unreadable("taken"))?, taken))
        });
        let taken = taken.collect::<Result<_, RedisError>>()?;
        Ok(Some(PieceSnapshot { places, taken }))
    }

    /// Which orders have places of a piece.
    ///
    /// # Errors
    /// As any command, and when a number can't be read.
    pub async fn orders_in_piece(&self, piece: Piece) -> Result<Vec<OrderNo>, RedisError> {
        let key = self.keys().piece(piece, PieceKey::Taken);
        let numbers: Vec<String> = self.query(cmd("HKEYS").arg(key)).await?;
        let number = |text: &String| text.parse().map_err(|_| unreadable("taken"));
        numbers.iter().map(number).collect()
    }

    /// Drops what Redis knows of a piece, so that it is read from the database again. Its log stays.
    ///
    /// # Errors
    /// As any command.
    pub async fn forget_piece(&self, piece: Piece) -> Result<(), RedisError> {
        let keys = [PieceKey::Places, PieceKey::Taken].map(|key| self.keys().piece(piece, key));
        self.query(cmd("DEL").arg(&keys)).await
    }

    /// Whether somebody collects places of a zone.
    ///
    /// # Errors
    /// As any command.
    pub async fn collecting(&self, zone: ZoneId) -> Result<Collecting, RedisError> {
        let mut read = cmd("MGET");
        read.arg(self.keys().collector(zone))
            .arg(self.keys().collections(zone));
        let (collector, begun): (Option<String>, Option<u64>) = self.query(&read).await?;
        Ok(Collecting {
            collector,
            begun: begun.unwrap_or(0),
        })
    }

    /// Becomes the one who collects places of a zone from several pieces, for a moment. False when another does.
    ///
    /// # Errors
    /// As any command.
    pub async fn begin_collecting(
        &self,
        zone: ZoneId,
        order_no: OrderNo,
    ) -> Result<bool, RedisError> {
        let mut set = cmd("SET");
        set.arg(self.keys().collector(zone))
            .arg(order_no.to_string())
            .arg("NX")
            .arg("PX")
            .arg(COLLECTOR_LEASE.0);
        if self.query::<Option<String>>(&set).await?.is_none() {
            return Ok(false);
        }
        fault::point(Point::CollectBeforeCount);
        let mut count = cmd("INCR");
        count.arg(self.keys().collections(zone));
        self.query::<()>(&count).await?;
        Ok(true)
    }

    /// Drops what is known of collecting in a zone of which nothing is sold any more.
    ///
    /// # Errors
    /// As any command.
    pub async fn forget_collecting(&self, zone: ZoneId) -> Result<(), RedisError> {
        let keys = [self.keys().collector(zone), self.keys().collections(zone)];
        self.query(cmd("UNLINK").arg(&keys)).await
    }

    /// Lets others collect; nothing happens when the lease has run out.
    ///
    /// # Errors
    /// As any command.
    pub async fn end_collecting(&self, zone: ZoneId, order_no: OrderNo) -> Result<(), RedisError> {
        // A lifetime of one millisecond ends the lease, and only if it is still this order's.
        let key = self.keys().collector(zone);
        self.renew(key, &order_no.to_string(), Millis(1)).await?;
        Ok(())
    }
}

fn read_places(row: &[Option<i64>]) -> Result<Option<Places>, RedisError> {
    let &[epoch, total, locked, sold] = row else {
        return Err(unreadable("places"));
    };
    let (Some(epoch), Some(total), Some(locked), Some(sold)) = (epoch, total, locked, sold) else {
        return Ok(None);
    };
    let whole = |count: i64| u32::try_from(count).map_err(|_| unreadable("places"));
    Ok(Some(Places {
        epoch: whole(epoch)?,
        total: whole(total)?,
        locked: whole(locked)?,
        sold: whole(sold)?,
    }))
}

fn unreadable(key: &'static str) -> RedisError {
    RedisError::UnexpectedReply {
        command: "a standing zone",
        found: format!("an unreadable value in {key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_as_it_was_written_and_nothing_else_is_one() {
        let taken = TakenPlaces {
            quantity: 3,
            state: PlaceState::Sold,
            created: Timestamp(1_795_990_000_000),
        };
        assert_eq!(taken.to_entry(), "3|sold|1795990000000");
        assert_eq!(TakenPlaces::from_entry(&taken.to_entry()), Some(taken));
        for text in ["", "3", "3|sold", "3|given|1", "-1|sold|1", "3|sold|1|2"] {
            assert_eq!(TakenPlaces::from_entry(text), None, "{text}");
        }
    }

    #[test]
    fn a_piece_with_more_taken_than_it_has_has_nothing_left() {
        let places = Places {
            epoch: 1,
            total: 5,
            locked: 4,
            sold: 3,
        };
        assert_eq!(places.left(), 0);
    }
}
