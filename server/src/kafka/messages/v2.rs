//! The second version of messages. Released shapes are never changed.

use app::domain::{
    ids::{AttendeeId, OrderNo, SeatIndex, ShowId, UserId, ZoneId},
    money::Currency,
    order::SeatLabel,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An order whose places are held: everything its rows need, so that writing them reads nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedV2 {
    /// The order.
    pub order_no: OrderNo,
    /// Who placed it.
    pub user_id: UserId,
    /// For which show.
    pub show_id: ShowId,
    /// Its tickets: those with a seat in plan order, then those without one.
    pub items: Vec<PlacedItemV2>,
    /// From which pieces of standing zones its places without a seat came.
    pub pieces: Vec<StandingPieceV2>,
    /// What all amounts are counted in.
    pub currency: Currency,
    /// What the order costs, fees and tax included, in the currency's smallest unit.
    pub amount_minor: i64,
    /// Through which gateway it will be paid.
    pub channel: String,
    /// The purchase counters that the hold raised by every ticket, such as `u:5`; giving the tickets back lowers the
    /// same ones.
    pub limits: Vec<String>,
    /// When the places were held.
    pub placed_at: Timestamp,
    /// When they go back on sale unless the order is paid.
    pub expire_at: Timestamp,
}

/// One ticket of a placed order, with the price it was held at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedItemV2 {
    /// Its price category.
    pub zone_id: ZoneId,
    /// What it costs, in the currency's smallest unit.
    pub price_minor: i64,
    /// What it admits to.
    pub place: PlaceV2,
    /// Whom it is for, where the show wants to know.
    pub attendee: Option<PlacedAttendeeV2>,
}

/// What a ticket admits to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlaceV2 {
    /// A seat.
    Seat {
        /// The seat.
        seat: SeatIndex,
        /// What it is called.
        label: SeatLabel,
    },
    /// A place in a standing zone.
    Standing,
}

/// The person a ticket is for. The document itself is nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedAttendeeV2 {
    /// The entry of the buyer's list.
    pub id: AttendeeId,
    /// The name on the ticket.
    pub name: String,
    /// Keyed hash of the person's document, the same whichever account buys.
    pub identity: String,
}

/// Places that were taken from one piece of a standing zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingPieceV2 {
    /// The zone.
    pub zone_id: ZoneId,
    /// The piece's number, from 0.
    pub piece: u16,
    /// How many.
    pub quantity: u32,
}

impl PlacedV2 {
    /// The seats among its tickets, in plan order.
    pub fn seats(&self) -> impl Iterator<Item = (SeatIndex, &PlacedItemV2)> {
        self.items
            .iter()
            .filter_map(|item| Some((item.seat()?, item)))
    }

    /// Whether it took as many places of each standing zone as it has tickets without a seat there. An order that did not
    /// would make more tickets than the zone has places, or keep places that nobody has a ticket for.
    #[must_use]
    pub fn has_its_places(&self) -> bool {
        let mut missing: BTreeMap<ZoneId, i64> = BTreeMap::new();
        for item in self.items.iter().filter(|item| item.seat().is_none()) {
            *missing.entry(item.zone_id).or_default() += 1;
        }
        for piece in &self.pieces {
            *missing.entry(piece.zone_id).or_default() -= i64::from(piece.quantity);
        }
        missing.values().all(|count| *count == 0)
    }
}

impl PlacedItemV2 {
    /// Its seat, if it has one.
    #[must_use]
    pub fn seat(&self) -> Option<SeatIndex> {
        match &self.place {
            PlaceV2::Seat { seat, .. } => Some(*seat),
            PlaceV2::Standing => None,
        }
    }

    /// What its seat is called, if it has one.
    #[must_use]
    pub fn label(&self) -> Option<&SeatLabel> {
        match &self.place {
            PlaceV2::Seat { label, .. } => Some(label),
            PlaceV2::Standing => None,
        }
    }
}
