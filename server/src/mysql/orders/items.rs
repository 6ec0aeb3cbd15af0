//! The tickets of orders.

use super::{DbError, push_numbers};
use app::domain::{
    ids::{AttendeeId, OrderNo, SeatIndex, ZoneId},
    order::{RefundProgress, SeatLabel},
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};
use std::collections::HashMap;

/// A ticket of an order.
#[derive(Debug, Clone)]
pub struct ItemRecord {
    /// Its place in the order.
    pub item_no: u32,
    /// Its seat and what that is called; none for a standing place.
    pub seat: Option<(SeatIndex, SeatLabel)>,
    /// Its zone.
    pub zone_id: ZoneId,
    /// What it costs, in the order's currency.
    pub price_minor: i64,
    /// Whom it is for, where the show wanted to know.
    pub attendee: Option<ItemAttendee>,
    /// The refund that gives it back, if one does.
    pub refund: Option<ItemRefund>,
}

impl ItemRecord {
    /// Whether it is its order's: a ticket is until its money is back.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.refund
            .is_none_or(|refund| refund.progress != RefundProgress::Succeeded)
    }
}

/// How a ticket is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemRefund {
    /// The refund's row.
    pub refund_id: u64,
    /// How far it has come.
    pub progress: RefundProgress,
}

/// The person a ticket is for, as they were named when it was ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemAttendee {
    /// The entry of the buyer's list.
    pub id: AttendeeId,
    /// The name.
    pub name: String,
    /// Keyed hash of the document.
    pub identity: String,
}

#[derive(sqlx::FromRow)]
struct ItemRow {
    order_no: i64,
    item_no: u32,
    seat: Option<u32>,
    zone_id: u64,
    price_minor: i64,
    section: String,
    seat_row: String,
    seat_number: String,
    attendee_id: Option<u64>,
    attendee_name: Option<String>,
    attendee_identity: Option<String>,
    refund_id: Option<u64>,
    refund_status: Option<u8>,
}

impl From<ItemRow> for ItemRecord {
    fn from(row: ItemRow) -> Self {
        let label = SeatLabel {
            section: row.section,
            row: row.seat_row,
            number: row.seat_number,
        };
        let attendee = match (row.attendee_id, row.attendee_name, row.attendee_identity) {
            (Some(id), Some(name), Some(identity)) => Some(ItemAttendee {
                id: AttendeeId(id),
                name,
                identity,
            }),
            _ => None,
        };
        Self {
            item_no: row.item_no,
            seat: row.seat.map(|seat| (SeatIndex(seat), label)),
            zone_id: ZoneId(row.zone_id),
            price_minor: row.price_minor,
            attendee,
            refund: row.refund_id.map(|refund_id| ItemRefund {
                refund_id,
                progress: row
                    .refund_status
                    .and_then(RefundProgress::from_code)
                    .unwrap_or(RefundProgress::Requested),
            }),
        }
    }
}

/// The tickets of some orders, at least one, in the orders' own order.
pub(in crate::mysql) async fn items_in(
    connection: &mut MySqlConnection,
    orders: &[OrderNo],
) -> Result<HashMap<OrderNo, Vec<ItemRecord>>, DbError> {
    let mut query = QueryBuilder::<MySql>::new(
        "SELECT i.order_no, i.item_no, i.seat, i.zone_id, i.price_minor, i.section, i.seat_row, i.seat_number, \
         i.attendee_id, i.attendee_name, i.attendee_identity, ri.refund_id, r.status AS refund_status \
         FROM order_item i LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
         LEFT JOIN refund r ON r.id = ri.refund_id WHERE i.order_no IN (",
    );
    push_numbers(&mut query, orders);
    query.push(") ORDER BY i.order_no, i.item_no");
    let rows: Vec<ItemRow> = query.build_query_as().fetch_all(connection).await?;
    let mut found: HashMap<OrderNo, Vec<ItemRecord>> = HashMap::new();
    for row in rows {
        let unreadable = DbError::Unreadable { what: "order_item" };
        let order_no = OrderNo::try_from(row.order_no).map_err(|_| unreadable)?;
        found.entry(order_no).or_default().push(row.into());
    }
    Ok(found)
}
