//! What is in the topics: JSON objects whose `type` names the kind of message and its version, such as `placed_v1`.
//!
//! The rest of the server sees only the newest version of each message, under its plain name ([`Placed`], not `PlacedV2`).
//! A version that was ever written stays readable for good, because topics keep it longer than a release lives:
//!
//! 1. Write the new shape into the file of the next version, never change one that was released. A new optional field needs no new version.
//! 2. Add it to its enum in `versions.rs`, with the step from the version before it, and move the plain name below.
//! 3. Add a golden file `golden/<type>.json`. Files that are there are never edited.

mod v1;
mod v2;
mod versions;

pub use v1::{ClosedV1 as Closed, PaidV1 as Paid, RefundedV1 as Refunded, TimeoutV1 as Timeout};
pub use v2::{
    PlaceV2 as Place, PlacedAttendeeV2 as PlacedAttendee, PlacedItemV2 as PlacedItem,
    PlacedV2 as Placed, StandingPieceV2 as StandingPiece,
};

use super::Topic;
use app::domain::ids::{OrderNo, ShowId};

/// Something that travels in a topic of its own.
pub trait Message: Sized + Send + Sync + 'static {
    /// Where it travels.
    const TOPIC: Topic;

    /// What it is about; messages of one key keep their order.
    fn key(&self) -> String;

    /// The newest version's JSON.
    fn encode(&self) -> Vec<u8>;

    /// Reads any version that was ever written.
    ///
    /// # Errors
    /// When the payload is no JSON of a known message, or of a version that this build does not know yet.
    fn decode(payload: &[u8]) -> Result<Self, UnreadableMessage>;
}

/// A payload that this build can't read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableMessage {
    /// It names a type, and none that this topic has. It may come from a newer build.
    #[error("unknown message type {0:?}")]
    UnknownType(String),
    /// It is no JSON object of the type it names, or names none.
    #[error("malformed message")]
    Malformed(#[source] serde_json::Error),
}

impl UnreadableMessage {
    /// The whole story in one line, for the header of a dead letter.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::UnknownType(_) => self.to_string(),
            Self::Malformed(source) => format!("{self}: {source}"),
        }
    }
}

/// Something that happened to an order that has a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderHappened {
    /// A payment succeeded in time: its seats are to be sold, its tickets to be issued.
    Paid(Paid),
    /// It ended without payment: its seats are to be given back.
    Closed(Closed),
    /// All its money was given back.
    Refunded(Refunded),
}

impl OrderHappened {
    /// The order.
    #[must_use]
    pub fn order_no(&self) -> OrderNo {
        match self {
            Self::Paid(paid) => paid.order_no,
            Self::Closed(closed) => closed.order_no,
            Self::Refunded(refunded) => refunded.order_no,
        }
    }

    /// Its show.
    #[must_use]
    pub fn show_id(&self) -> ShowId {
        match self {
            Self::Paid(paid) => paid.show_id,
            Self::Closed(closed) => closed.show_id,
            Self::Refunded(refunded) => refunded.show_id,
        }
    }
}

impl Message for Placed {
    const TOPIC: Topic = Topic::OrderCreate;

    fn key(&self) -> String {
        self.order_no.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        versions::encode(&versions::OrderCreate::from(self.clone()))
    }

    fn decode(payload: &[u8]) -> Result<Self, UnreadableMessage> {
        versions::decode::<versions::OrderCreate>(payload).map(Self::from)
    }
}

impl Message for Timeout {
    const TOPIC: Topic = Topic::OrderTimeout;

    fn key(&self) -> String {
        self.order_no.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        versions::encode(&versions::OrderTimeout::from(self.clone()))
    }

    fn decode(payload: &[u8]) -> Result<Self, UnreadableMessage> {
        versions::decode::<versions::OrderTimeout>(payload).map(Self::from)
    }
}

impl Message for OrderHappened {
    const TOPIC: Topic = Topic::OrderEvents;

    fn key(&self) -> String {
        self.order_no().to_string()
    }

    fn encode(&self) -> Vec<u8> {
        versions::encode(&versions::OrderEvents::from(self.clone()))
    }

    fn decode(payload: &[u8]) -> Result<Self, UnreadableMessage> {
        versions::decode::<versions::OrderEvents>(payload).map(Self::from)
    }
}
