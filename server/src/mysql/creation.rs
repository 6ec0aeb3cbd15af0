//! Writing orders: rows, items and claims of a whole batch in one transaction.

use super::{
    Db, DbError,
    shapes::parts,
    standing::{NewPiece, claim_places},
};
use crate::{kafka::messages::Placed, redis::keys::Piece};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    time::Timestamp,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};

/// What became of one order that was to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is pending.
    Pending,
    /// Its number exists: it was written before, or it was given up meanwhile.
    Exists,
    /// A seat of it belongs to another order.
    SeatClaimed,
    /// A standing zone has fewer places left than it needs.
    NoPlaces,
}

const SEAT_CLAIM_KEY: &str = "PRIMARY";
/// Why an order was given up that the tables don't take as it is: its row says so, and what is noted of it.
pub const UNWRITABLE: &str = "unwritable";
/// Longest detail of a note, in characters: what its column holds.
const DETAIL_CHARS_MAX: usize = 500;

impl Db {
    /// Writes orders that are all new and whose places are all to be had, in one transaction.
    ///
    /// # Errors
    /// [`DbError::Duplicate`] when one is not new or a seat is not free, [`DbError::NoPlaces`] when a standing zone has too
    /// few places; nothing is written then.
    pub async fn insert_orders(&self, batch: &[Placed]) -> Result<(), DbError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.transact(batch, |&batch, connection| {
            Box::pin(async move {
                insert_order_rows(connection, batch, OrderStatus::Pending, None).await?;
                insert_claims(connection, batch).await?;
                claim_places(connection, &pieces(batch)).await
            })
        })
        .await
    }

    /// Writes one order, saying what stood in its way.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_order(&self, placed: &Placed) -> Result<Written, DbError> {
        self.transact(placed, |&placed, connection| {
            Box::pin(async move {
                let one = std::slice::from_ref(placed);
                match insert_order_rows(connection, one, OrderStatus::Pending, None).await {
                    Err(DbError::Duplicate { .. }) => return Ok(Written::Exists),
                    other => other?,
                }
                match insert_claims(connection, one).await {
                    // The rows above go with the rollback that this error causes.
                    Err(DbError::Duplicate { index }) if index == SEAT_CLAIM_KEY => {
                        return Err(CreateError::SeatClaimed);
                    }
                    other => other?,
                }
                match claim_places(connection, &pieces(one)).await {
                    Err(DbError::NoPlaces) => Err(CreateError::NoPlaces),
                    other => Ok(other.map(|()| Written::Pending)?),
                }
            })
        })
        .await
        .or_else(|error| match error {
            CreateError::SeatClaimed => Ok(Written::SeatClaimed),
            CreateError::NoPlaces => Ok(Written::NoPlaces),
            CreateError::Db(error) => Err(error),
        })
    }

    /// Writes an order as discarded, without claims, and why. False when its number exists already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_discarded(
        &self,
        placed: &Placed,
        class: &str,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        self.transact(
            (placed, class, detail, now),
            |&(placed, class, detail, now), connection| {
                Box::pin(async move {
                    let one = std::slice::from_ref(placed);
                    let rows =
                        insert_order_rows(connection, one, OrderStatus::Discarded, Some(now));
                    match rows.await {
                        Err(DbError::Duplicate { .. }) => return Ok(false),
                        other => other?,
                    }
                    if class == UNWRITABLE {
                        mark_unwritable(connection, placed.order_no).await?;
                    }
                    note_repair(
                        connection,
                        class,
                        placed.show_id,
                        Some(placed.order_no),
                        detail,
                        now,
                    )
                    .await?;
                    Ok::<_, DbError>(true)
                })
            },
        )
        .await
    }

    /// Writes an order that can't be written as it is: its number, buyer and show, discarded, without tickets or any text
    /// that could be refused; and why. False when its number exists already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_unwritable(
        &self,
        placed: &Placed,
        detail: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let bare = Placed {
            items: Vec::new(),
            pieces: Vec::new(),
            channel: String::new(),
            limits: Vec::new(),
            ..placed.clone()
        };
        self.insert_discarded(&bare, UNWRITABLE, detail, now).await
    }

    /// Whether an order was given up because it could not be written.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn is_unwritable(&self, order_no: OrderNo) -> Result<bool, DbError> {
        let found: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM orders WHERE order_no = ? AND status = ? AND cancel_reason = ?",
        )
        .bind(order_no.as_i64())
        .bind(OrderStatus::Discarded.code())
        .bind(UNWRITABLE)
        .fetch_one(self.pool())
        .await?;
        Ok(found > 0)
    }
}

enum CreateError {
    SeatClaimed,
    NoPlaces,
    Db(DbError),
}

impl From<DbError> for CreateError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl super::Retryable for CreateError {
    fn is_lost(&self) -> bool {
        matches!(self, Self::Db(error) if error.is_lost())
    }
}

/// Notes a repair, or an order given up on the way.
///
/// # Errors
/// When the database fails.
pub async fn note_repair(
    connection: &mut MySqlConnection,
    class: &str,
    show: ShowId,
    order_no: Option<OrderNo>,
    detail: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO reconciliation_entry (class, show_id, order_no, detail, noted_at) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(class)
    .bind(show.0)
    .bind(order_no.map(OrderNo::as_i64))
    .bind(detail.chars().take(DETAIL_CHARS_MAX).collect::<String>())
    .bind(now.0)
    .execute(connection)
    .await?;
    Ok(())
}

/// A repeated message must be told from one that came too late, and notes can't be found by their order.
async fn mark_unwritable(
    connection: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<(), DbError> {
    sqlx::query("UPDATE orders SET cancel_reason = ? WHERE order_no = ? AND status = ?")
        .bind(UNWRITABLE)
        .bind(order_no.as_i64())
        .bind(OrderStatus::Discarded.code())
        .execute(connection)
        .await?;
    Ok(())
}

async fn insert_order_rows(
    connection: &mut MySqlConnection,
    batch: &[Placed],
    status: OrderStatus,
    closed_at: Option<Timestamp>,
) -> Result<(), DbError> {
    for part in parts(batch) {
        let mut orders = QueryBuilder::<MySql>::new(
            "INSERT INTO orders (order_no, user_id, show_id, status, amount_minor, currency, channel, \
             limit_counters, placed_at, expire_at, closed_at) ",
        );
        orders.push_values(part, |mut row, placed| {
            row.push_bind(placed.order_no.as_i64())
                .push_bind(placed.user_id.0)
                .push_bind(placed.show_id.0)
                .push_bind(status.code())
                .push_bind(placed.amount_minor)
                .push_bind(placed.currency.code())
                .push_bind(placed.channel.as_str())
                .push_bind(placed.limits.join(" "))
                .push_bind(placed.placed_at.0)
                .push_bind(placed.expire_at.0)
                .push_bind(closed_at.map(|at| at.0));
        });
        orders.build().execute(&mut *connection).await?;
    }
    insert_items(connection, batch).await
}

async fn insert_items(connection: &mut MySqlConnection, batch: &[Placed]) -> Result<(), DbError> {
    let tickets: Vec<_> = batch
        .iter()
        .flat_map(|placed| (0_u32..).zip(&placed.items).map(move |item| (placed, item)))
        .collect();
    for part in parts(&tickets) {
        let mut items = QueryBuilder::<MySql>::new(
            "INSERT INTO order_item (order_no, item_no, seat, show_id, zone_id, price_minor, section, seat_row, seat_number, \
             attendee_id, attendee_name, attendee_identity) ",
        );
        items.push_values(part, |mut row, (placed, (item_no, item))| {
            let label = item.label();
            let attendee = item.attendee.as_ref();
            row.push_bind(placed.order_no.as_i64())
                .push_bind(*item_no)
                .push_bind(item.seat().map(|seat| seat.0))
                .push_bind(placed.show_id.0)
                .push_bind(item.zone_id.0)
                .push_bind(item.price_minor)
                .push_bind(label.map_or("", |label| label.section.as_str()))
                .push_bind(label.map_or("", |label| label.row.as_str()))
                .push_bind(label.map_or("", |label| label.number.as_str()))
                .push_bind(attendee.map(|attendee| attendee.id.0))
                .push_bind(attendee.map(|attendee| attendee.name.as_str()))
                .push_bind(attendee.map(|attendee| attendee.identity.as_str()));
        });
        items.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// From which pieces of standing zones the batch's places came.
fn pieces(batch: &[Placed]) -> Vec<NewPiece> {
    let of_order = |placed: &Placed| {
        let order_no = placed.order_no;
        let new = placed.pieces.iter().map(move |from| NewPiece {
            order_no,
            piece: Piece {
                zone: from.zone_id,
                piece: from.piece,
            },
            quantity: from.quantity,
        });
        new.collect::<Vec<_>>()
    };
    batch.iter().flat_map(of_order).collect()
}

/// Claims every seat of the batch, in key order, so that two batches never wait for each other in a circle.
async fn insert_claims(connection: &mut MySqlConnection, batch: &[Placed]) -> Result<(), DbError> {
    let mut claims: Vec<_> = batch
        .iter()
        .flat_map(|placed| {
            placed
                .seats()
                .map(move |(seat, _)| (placed.show_id, seat, placed.order_no))
        })
        .collect();
    claims.sort_unstable();
    for part in parts(&claims) {
        let mut insert =
            QueryBuilder::<MySql>::new("INSERT INTO seat_claim (show_id, seat, order_no) ");
        insert.push_values(part, |mut row, (show, seat, order_no)| {
            row.push_bind(show.0)
                .push_bind(seat.0)
                .push_bind(order_no.as_i64());
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}
