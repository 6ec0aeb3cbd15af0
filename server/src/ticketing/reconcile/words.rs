//! What a repair does, in words: what `seatflow reconcile --dry-run` says it would do.

use super::Repair;
use app::domain::ids::SeatIndex;
use std::fmt;

/// Seats that are named; of more it is said how many.
const SEATS_NAMED: usize = 8;

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expire(order_no) => write!(f, "cancel order {order_no}"),
            Self::Sell(order_no) => write!(f, "mark the tickets of order {order_no} as sold"),
            Self::Load(show) => write!(f, "read show {show} from the database"),
            Self::Rebuild(show) => {
                write!(
                    f,
                    "drop what Redis has of show {show} and read it from the database"
                )
            }
            Self::List(show) => write!(f, "put show {show} on the list of loaded shows"),
            Self::Terms(show) => write!(f, "tell Redis the terms of show {show}"),
            Self::Restore(order_no) => {
                write!(f, "lock and count the tickets of order {order_no} again")
            }
            Self::CountTickets(order_no) => {
                write!(f, "count the standing tickets of order {order_no} again")
            }
            Self::Tombstone { order_no, seats } => write!(
                f,
                "write order {order_no} as discarded, then free {}",
                named(seats.iter().map(|(seat, _)| *seat))
            ),
            Self::Free { order_no, seats } => write!(
                f,
                "free {} of order {order_no}",
                named(seats.iter().map(|(seat, _)| *seat))
            ),
            Self::FreeTickets(order_no) => {
                write!(f, "free what order {order_no} has its money back for")
            }
            Self::Withhold(seats) => {
                write!(f, "withhold {}", named(seats.iter().map(|(seat, _)| *seat)))
            }
            Self::Offer(seats) => {
                write!(f, "offer {}", named(seats.iter().map(|(seat, _)| *seat)))
            }
            Self::WritePlaces(order_no) => {
                write!(f, "give order {order_no} the standing places of its rows")
            }
            Self::GivePlaces { order_no, piece } => write!(
                f,
                "make sure that order {order_no} is over, then free its places in piece {} of zone {}",
                piece.piece, piece.zone
            ),
            Self::CountStock(zone) => write!(f, "count the taken places of zone {zone} again"),
            Self::ShareOut(zone) => write!(f, "share the places of zone {zone} out again"),
            Self::Count { .. } => f.write_str("set the counters to what the seats say"),
            Self::GiveBack { out_trade_no } => {
                write!(f, "request the refund of payment {out_trade_no}")
            }
            Self::Ask { out_trade_no } => {
                write!(f, "ask the gateway about payment {out_trade_no}")
            }
            Self::AskRefund { refund_no } => {
                write!(f, "ask the gateway about refund {refund_no}")
            }
            Self::SendRefund { refund_no, .. } => write!(f, "send refund {refund_no} again"),
        }
    }
}

fn named(seats: impl Iterator<Item = SeatIndex>) -> String {
    let seats: Vec<String> = seats.map(|seat| seat.0.to_string()).collect();
    match seats.as_slice() {
        [] => "what it has without a seat".to_owned(),
        few if few.len() <= SEATS_NAMED => format!("seat(s) {}", few.join(", ")),
        many => format!(
            "{} seats, the first of them {}",
            many.len(),
            many[..SEATS_NAMED].join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::ids::ZoneId;

    #[test]
    fn a_repair_names_its_seats_and_of_many_the_first() {
        let seats = |count: u32| {
            (0..count)
                .map(|seat| (SeatIndex(seat), ZoneId(1)))
                .collect()
        };
        let offer = |count| Repair::Offer(seats(count)).to_string();
        assert_eq!(offer(2), "offer seat(s) 0, 1");
        assert_eq!(
            offer(30),
            "offer 30 seats, the first of them 0, 1, 2, 3, 4, 5, 6, 7"
        );
        assert_eq!(offer(0), "offer what it has without a seat");
    }
}
