//! Shows of which Redis lost one key and kept the others: whose seats are taken, and whose they are, no longer agree.
//!
//! `map` and `owners` change in one step in every script, so where they disagree one of them was lost. Scripts on single
//! seats leave such a seat alone, because they can't tell whose it is. The database can: the show is read from it again.

use super::{Class, Finding, Repair, seats::Compared};
use crate::{
    redis::snapshot::ShowSnapshot,
    ticketing::{
        Failure, Ticketing,
        rebuild::{RebuildError, Unsent, unsold_seats},
        show_facts::ShowFacts,
    },
};
use app::domain::{
    ids::{SeatIndex, ShowId},
    seat::SeatState,
};

/// One finding for all seats of a show that are taken by nobody, or somebody's and for sale.
pub(super) fn find(compared: &Compared<'_>) -> Option<Finding> {
    let seats = torn_seats(compared.facts, &compared.snapshot);
    (seats > 0).then(|| Finding {
        class: Class::SeatLost,
        show: compared.facts.show.id,
        order_no: None,
        detail: format!("{seats} seat(s) whose state and owner do not fit in Redis"),
        repair: Repair::Rebuild(compared.facts.show.id),
    })
}

/// How many seats no sequence of scripts could have left as they are.
fn torn_seats(facts: &ShowFacts, snapshot: &ShowSnapshot) -> usize {
    let seats = snapshot.map.states().zip((0..).map(SeatIndex));
    let torn = seats.filter(|(state, seat)| {
        let is_owned = snapshot.owners.contains_key(seat);
        match state {
            SeatState::Available => is_owned,
            SeatState::Locked | SeatState::Sold => !is_owned,
            SeatState::Blocked => false,
        }
    });
    // Seats without a price are withheld from the moment the show is loaded: a map that was lost offers them.
    let offered =
        unsold_seats(facts).filter(|seat| snapshot.map.state(seat.seat) == SeatState::Available);
    torn.count() + offered.count()
}

impl Ticketing {
    /// Reads a show from the database again of which Redis has only a part. False when it is whole by now, or when accepted
    /// orders would be lost that Kafka does not have yet.
    pub(super) async fn rebuild_half_lost(&self, show: ShowId) -> Result<bool, Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(false);
        };
        let Some(snapshot) = self.inner.redis.snapshot(show).await? else {
            return Ok(false);
        };
        if torn_seats(&facts, &snapshot) == 0 {
            return Ok(false);
        }
        match self.rebuild_show(show, Unsent::Await).await {
            Ok(()) => Ok(true),
            Err(RebuildError::Failure(failure)) => Err(failure),
            Err(error @ RebuildError::Unsent(_)) => {
                tracing::warn!(show_id = show.0, %error, "a show that is half there is not read again");
                Ok(false)
            }
        }
    }
}
