//! Shows with their plans and zones, as selling needs them; and what the seats of a show look like in the database.

use super::{Db, DbError};
use app::domain::{
    catalogue::ShowStatus,
    ids::{EventId, HallId, OrderNo, SeatIndex, ShowId, ZoneId},
    money::{Currency, Money},
    order::OrderStatus,
    seat::SeatState,
    text::LocalText,
    time::{Millis, Timestamp},
};

/// A show's row.
#[derive(Debug, Clone)]
pub struct ShowRecord {
    /// The show.
    pub id: ShowId,
    /// What is shown.
    pub event_id: EventId,
    /// Where.
    pub hall_id: HallId,
    /// With which version of the hall's plan.
    pub plan_id: u64,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When its sale begins.
    pub sale_start: Timestamp,
    /// When its sale ends.
    pub sale_end: Timestamp,
    /// As staff set it.
    pub status: ShowStatus,
    /// Most tickets a buyer may have.
    pub limit: u32,
    /// Level a buyer needs.
    pub level: u8,
    /// How long seats are held.
    pub hold_for: Millis,
    /// Seats of the plan.
    pub seats_total: u32,
}

/// A zone's row.
#[derive(Debug, Clone)]
pub struct ZoneRecord {
    /// The zone.
    pub id: ZoneId,
    /// The category of the plan whose seats it sells.
    pub category: String,
    /// Its name.
    pub name: LocalText,
    /// Price of a seat.
    pub price: Money,
    /// Its seats.
    pub seats_total: u32,
}

/// A seat that is not free, as the database knows it.
#[derive(Debug, Clone, Copy)]
pub struct TakenSeat {
    /// The seat.
    pub seat: SeatIndex,
    /// How it is taken.
    pub state: SeatState,
    /// By which order; none when staff withhold it.
    pub order_no: Option<OrderNo>,
}

#[derive(sqlx::FromRow)]
struct ShowRow {
    id: u64,
    event_id: u64,
    hall_id: u64,
    plan_id: u64,
    starts_at: i64,
    sale_start: i64,
    sale_end: i64,
    status: u8,
    limit_per_buyer: u32,
    level_required: u8,
    hold_ms: i64,
    seats_total: u32,
}

impl TryFrom<ShowRow> for ShowRecord {
    type Error = DbError;
    fn try_from(row: ShowRow) -> Result<Self, DbError> {
        let status = ShowStatus::from_code(row.status).ok_or(DbError::Unreadable {
            what: "shows.status",
        })?;
        Ok(Self {
            id: ShowId(row.id),
            event_id: EventId(row.event_id),
            hall_id: HallId(row.hall_id),
            plan_id: row.plan_id,
            starts_at: Timestamp(row.starts_at),
            sale_start: Timestamp(row.sale_start),
            sale_end: Timestamp(row.sale_end),
            status,
            limit: row.limit_per_buyer,
            level: row.level_required,
            hold_for: Millis(row.hold_ms),
            seats_total: row.seats_total,
        })
    }
}

impl Db {
    /// A show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn show(&self, id: ShowId) -> Result<Option<ShowRecord>, DbError> {
        let row: Option<ShowRow> = sqlx::query_as(
            "SELECT id, event_id, hall_id, plan_id, starts_at, sale_start, sale_end, status, limit_per_buyer, \
             level_required, hold_ms, seats_total FROM shows WHERE id = ?",
        )
        .bind(id.0)
        .fetch_optional(self.pool())
        .await?;
        row.map(ShowRecord::try_from).transpose()
    }

    /// Shows whose sale is not over, earliest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shows_for_sale(&self, now: Timestamp, most: u32) -> Result<Vec<ShowId>, DbError> {
        let ids: Vec<u64> = sqlx::query_scalar(
            "SELECT id FROM shows WHERE status = 1 AND sale_end > ? ORDER BY starts_at LIMIT ?",
        )
        .bind(now.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        Ok(ids.into_iter().map(ShowId).collect())
    }

    /// A show's zones, dearest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn zones(&self, show: ShowId) -> Result<Vec<ZoneRecord>, DbError> {
        let rows: Vec<(u64, String, String, String, i64, String, u32)> = sqlx::query_as(
            "SELECT id, category, name_en, name_zh, price_minor, currency, seats_total FROM show_zone \
             WHERE show_id = ? ORDER BY price_minor DESC, id",
        )
        .bind(show.0)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|(id, category, en, zh_cn, minor, currency, seats_total)| {
                Ok(ZoneRecord {
                    id: ZoneId(id),
                    category,
                    name: LocalText { en, zh_cn },
                    price: Money::new(minor, currency_of(&currency)?),
                    seats_total,
                })
            })
            .collect()
    }

    /// The text of a seating plan.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn plan_content(&self, plan_id: u64) -> Result<Option<String>, DbError> {
        Ok(
            sqlx::query_scalar("SELECT content FROM seating_plan WHERE id = ?")
                .bind(plan_id)
                .fetch_optional(self.pool())
                .await?,
        )
    }

    /// Every seat of a show that is claimed or withheld.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn taken_seats(&self, show: ShowId) -> Result<Vec<TakenSeat>, DbError> {
        let claims: Vec<(u32, i64, u8)> = sqlx::query_as(
            "SELECT c.seat, c.order_no, o.status FROM seat_claim c JOIN orders o ON o.order_no = c.order_no \
             WHERE c.show_id = ?",
        )
        .bind(show.0)
        .fetch_all(self.pool())
        .await?;
        let withheld: Vec<u32> =
            sqlx::query_scalar("SELECT seat FROM show_seat WHERE show_id = ? AND state = 3")
                .bind(show.0)
                .fetch_all(self.pool())
                .await?;
        let mut taken = Vec::with_capacity(claims.len() + withheld.len());
        for (seat, order_no, status) in claims {
            let unreadable = DbError::Unreadable { what: "seat_claim" };
            let order_no = OrderNo::try_from(order_no).map_err(|_| unreadable)?;
            let state = match OrderStatus::from_code(status) {
                Some(OrderStatus::Paid | OrderStatus::Ticketed) => SeatState::Sold,
                _ => SeatState::Locked,
            };
            taken.push(TakenSeat {
                seat: SeatIndex(seat),
                state,
                order_no: Some(order_no),
            });
        }
        taken.extend(withheld.into_iter().map(|seat| TakenSeat {
            seat: SeatIndex(seat),
            state: SeatState::Blocked,
            order_no: None,
        }));
        Ok(taken)
    }

    /// Copies an order's seats to the show's sold seats; doing it twice changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn mark_seats_sold(&self, order_no: OrderNo, now: Timestamp) -> Result<(), DbError> {
        sqlx::query(
            "INSERT INTO show_seat (show_id, seat, state, order_no, updated_at) \
             SELECT show_id, seat, 2, order_no, ? FROM order_item WHERE order_no = ? \
             ON DUPLICATE KEY UPDATE state = 2, order_no = VALUES(order_no), updated_at = VALUES(updated_at)",
        )
        .bind(now.0)
        .bind(order_no.as_i64())
        .execute(self.pool())
        .await?;
        Ok(())
    }
}

/// Reads a currency's code from a row.
pub(super) fn currency_of(code: &str) -> Result<Currency, DbError> {
    code.parse()
        .map_err(|_| DbError::Unreadable { what: "currency" })
}
