//! What is on offer at a show.

use crate::domain::{
    catalogue::{SaleState, ShowPage, Zone},
    ids::{EventId, ShowId},
    time::{Millis, Timestamp, VenueTime},
};
use serde::{Deserialize, Serialize};

/// What a buyer decides with: of everything that is known of a show, what its page needs again after it was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Offer {
    /// The show.
    pub id: ShowId,
    /// What is shown.
    pub event: EventId,
    /// When it begins.
    pub starts: VenueTime,
    /// Whether it can be bought.
    pub sale: SaleState,
    /// The server's clock when this was read.
    pub now: Timestamp,
    /// Most tickets a buyer may have.
    pub limit: u32,
    /// Whether each ticket is for a person who is named.
    pub attendees_required: bool,
    /// How long seats are held for payment.
    pub hold_for: Millis,
    /// Its price categories, dearest first.
    pub zones: Vec<Zone>,
}

impl Offer {
    /// The offer of a show.
    #[must_use]
    pub fn of(show: &ShowPage) -> Self {
        Self {
            id: show.id,
            event: show.event.id,
            starts: show.starts.clone(),
            sale: show.sale,
            now: show.now,
            limit: show.limit,
            attendees_required: show.attendees_required,
            hold_for: show.hold_for,
            zones: show.zones.clone(),
        }
    }
}
