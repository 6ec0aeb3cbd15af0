//! The first version of every message. Released shapes are never changed.

use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, UserId, ZoneId},
    money::Currency,
    order::{CancelReason, SeatLabel},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// An order whose seats are held: everything its row needs, so that writing it reads nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedV1 {
    /// The order.
    pub order_no: OrderNo,
    /// Who placed it.
    pub user_id: UserId,
    /// For which show.
    pub show_id: ShowId,
    /// Its seats, in plan order.
    pub seats: Vec<PlacedSeatV1>,
    /// What all amounts are counted in.
    pub currency: Currency,
    /// What the order costs, fees and tax included, in the currency's smallest unit.
    pub amount_minor: i64,
    /// Through which gateway it will be paid.
    pub channel: String,
    /// The purchase counters that the hold raised, such as `u:5`; giving the seats back lowers the same ones.
    pub limits: Vec<String>,
    /// When the seats were held.
    pub placed_at: Timestamp,
    /// When they go back on sale unless the order is paid.
    pub expire_at: Timestamp,
}

/// One seat of a placed order, with the price it was held at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedSeatV1 {
    /// The seat.
    pub seat: SeatIndex,
    /// Its price category.
    pub zone_id: ZoneId,
    /// What it costs, in the currency's smallest unit.
    pub price_minor: i64,
    /// What it is called.
    pub label: SeatLabel,
}

/// A wake-up call for an order's deadline. It only wakes: the row decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeoutV1 {
    /// The order.
    pub order_no: OrderNo,
    /// Its show.
    pub show_id: ShowId,
    /// When to look at it.
    pub due_at: Timestamp,
}

/// A payment of the order succeeded in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaidV1 {
    /// The order.
    pub order_no: OrderNo,
    /// Its show.
    pub show_id: ShowId,
}

/// The order ended without payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedV1 {
    /// The order.
    pub order_no: OrderNo,
    /// Its show.
    pub show_id: ShowId,
    /// Why it ended.
    pub reason: CancelReason,
}

/// All money of the order was given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundedV1 {
    /// The order.
    pub order_no: OrderNo,
    /// Its show.
    pub show_id: ShowId,
}
