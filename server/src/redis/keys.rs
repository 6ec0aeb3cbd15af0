//! Every key name. Scripts and commands get theirs from here and nowhere else.

use app::domain::ids::{OrderNo, ShowId, UserId, ZoneId};
use std::sync::Arc;

/// The part of a show's state that a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowKey {
    /// Two bits a seat.
    Map,
    /// Hash seat → order number, for locked and sold seats.
    Owners,
    /// Hash order number → [`super::HoldRecord`].
    Holds,
    /// Sorted set of order numbers by creation time, accepted but not acknowledged by Kafka.
    Unsent,
    /// Hash zone → remaining places.
    Zones,
    /// Hash [`super::limit_field`] → tickets held or bought.
    Bought,
    /// Counter of seat changes in this epoch.
    Version,
    /// List of packed seat changes, oldest first.
    Changes,
    /// Hash of status, sale window, limits and epoch; while it is missing the show can't be used.
    Meta,
    /// Hash order number → its tickets without a seat, each its attendee's counter; what is in it is counted.
    Standing,
    /// Stream of changes of the zones' remaining places, until they are in the database.
    Quantities,
}

impl ShowKey {
    /// Every key that a loaded show has.
    pub const ALL: [Self; 11] = [
        Self::Map,
        Self::Owners,
        Self::Holds,
        Self::Unsent,
        Self::Zones,
        Self::Bought,
        Self::Version,
        Self::Changes,
        Self::Meta,
        Self::Standing,
        Self::Quantities,
    ];

    /// The last part of the key's name, and its name in the header of a script.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Owners => "owners",
            Self::Holds => "holds",
            Self::Unsent => "unsent",
            Self::Zones => "zones",
            Self::Bought => "bought",
            Self::Version => "version",
            Self::Changes => "changes",
            Self::Meta => "meta",
            Self::Standing => "standing",
            Self::Quantities => "quantities",
        }
    }
}

/// One of the pieces that a standing zone is split in, so that a rush for it is spread over the slots of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// The zone.
    pub zone: ZoneId,
    /// The piece's number, from 0.
    pub piece: u16,
}

/// The part of a piece's state that a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKey {
    /// Hash of epoch, total, locked and sold; while it is missing the piece can't be used.
    Places,
    /// Hash order number → [`super::standing::TakenPlaces`].
    Taken,
    /// Stream of changes of what is left.
    Quantities,
}

impl PieceKey {
    /// Every key that a piece may have.
    pub const ALL: [Self; 3] = [Self::Places, Self::Taken, Self::Quantities];

    /// The last part of the key's name, and its name in the header of a script.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Places => "places",
            Self::Taken => "taken",
            Self::Quantities => "quantities",
        }
    }
}

/// Makes key names that begin with one prefix.
#[derive(Debug, Clone)]
pub struct Keys {
    prefix: Arc<str>,
}

impl Keys {
    /// Names that begin with `prefix` and a colon.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.into(),
        }
    }

    /// A key of a show. The braces keep all of a show's keys in one slot of a cluster.
    #[must_use]
    pub fn show(&self, show: ShowId, key: ShowKey) -> String {
        format!("{}:{{s:{show}}}:{}", self.prefix, key.word())
    }

    /// The order that an idempotency key of a user led to.
    #[must_use]
    pub fn idempotency(&self, show: ShowId, user: UserId, key: &str) -> String {
        format!("{}:{{s:{show}}}:idem:{user}:{key}", self.prefix)
    }

    /// A user's last submission for a show.
    #[must_use]
    pub fn guard(&self, show: ShowId, user: UserId) -> String {
        format!("{}:{{s:{show}}}:guard:{user}", self.prefix)
    }

    /// A key of a piece. The braces keep a piece's keys in one slot, and the pieces of a zone in different ones.
    #[must_use]
    pub fn piece(&self, piece: Piece, key: PieceKey) -> String {
        let Piece { zone, piece } = piece;
        format!("{}:{{z:{zone}:{piece}}}:{}", self.prefix, key.word())
    }

    /// All keys of a piece, in the order of [`PieceKey::ALL`].
    #[must_use]
    pub fn piece_keys(&self, piece: Piece) -> Vec<String> {
        PieceKey::ALL
            .map(|key| self.piece(piece, key))
            .into_iter()
            .collect()
    }

    /// The order that collects places of a standing zone from several pieces at this moment.
    #[must_use]
    pub fn collector(&self, zone: ZoneId) -> String {
        format!("{}:{{z:{zone}}}:collector", self.prefix)
    }

    /// How often collecting places of a standing zone has begun.
    #[must_use]
    pub fn collections(&self, zone: ZoneId) -> String {
        format!("{}:{{z:{zone}}}:collections", self.prefix)
    }

    /// Set of the shows whose keys were loaded.
    #[must_use]
    pub fn loaded_shows(&self) -> String {
        format!("{}:shows", self.prefix)
    }

    /// An order's view for those who poll it.
    #[must_use]
    pub fn order(&self, order_no: OrderNo) -> String {
        format!("{}:o:{{{order_no}}}", self.prefix)
    }

    /// Lease of a number that makes a server's order numbers differ from those of the others.
    #[must_use]
    pub fn node(&self, node: u16) -> String {
        format!("{}:node:{node}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_a_zone_has_a_tag_of_its_own() {
        let keys = Keys::new("sf");
        let piece = |piece| Piece {
            zone: ZoneId(9),
            piece,
        };
        assert_eq!(
            keys.piece_keys(piece(0)),
            [
                "sf:{z:9:0}:places",
                "sf:{z:9:0}:taken",
                "sf:{z:9:0}:quantities"
            ]
        );
        assert_eq!(
            keys.piece(piece(11), PieceKey::Places),
            "sf:{z:9:11}:places"
        );
        assert_eq!(keys.collector(ZoneId(9)), "sf:{z:9}:collector");
        assert_eq!(keys.collections(ZoneId(9)), "sf:{z:9}:collections");
    }

    #[test]
    fn all_keys_of_a_show_share_its_tag() {
        let keys = Keys::new("sf");
        let (show, user) = (ShowId(7), UserId(5));
        assert_eq!(keys.show(show, ShowKey::Map), "sf:{s:7}:map");
        let names = ShowKey::ALL
            .map(|key| keys.show(show, key))
            .into_iter()
            .chain([
                keys.idempotency(show, user, "0b4b-}{"),
                keys.guard(show, user),
            ]);
        for name in names {
            let (before, rest) = name.split_once('{').unwrap();
            assert_eq!(before, "sf:");
            assert!(rest.starts_with("s:7}"), "{name}");
        }
    }
}
