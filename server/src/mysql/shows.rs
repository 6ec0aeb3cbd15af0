//! Shows with their plans and zones, as selling needs them; and what the seats of a show look like in the database.

use super::{Db, DbError, withheld::withheld_in};
use app::domain::{
    catalogue::ShowStatus,
    ids::{EventId, HallId, OrderNo, SeatIndex, ShowId, ZoneId},
    money::{Currency, Money},
    order::OrderStatus,
    refund::RefundPolicy,
    seat::SeatState,
    text::LocalText,
    time::{Millis, Timestamp},
};
use sqlx::MySqlConnection;

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
    /// Whether each ticket is for a person who is named.
    pub attendees_required: bool,
    /// How long seats are held.
    pub hold_for: Millis,
    /// On which terms it takes tickets back.
    pub refund: RefundPolicy,
    /// Seats of the plan.
    pub seats_total: u32,
}

/// A zone's row.
#[derive(Debug, Clone)]
pub struct ZoneRecord {
    /// The zone.
    pub id: ZoneId,
    /// The category of the plan whose seats it sells; for a standing zone only the key it was seeded with.
    pub category: String,
    /// Its name.
    pub name: LocalText,
    /// Price of a seat.
    pub price: Money,
    /// Its seats; none for a standing zone.
    pub seats_total: u32,
    /// Its places when it has no seats.
    pub standing: Option<StandingZone>,
}

/// How a zone without seats is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingZone {
    /// Places in all.
    pub capacity: u32,
    /// In how many pieces they are split.
    pub pieces: u16,
}

impl ZoneRecord {
    /// Places in all, with or without seats.
    #[must_use]
    pub fn places_total(&self) -> u32 {
        self.standing
            .map_or(self.seats_total, |standing| standing.capacity)
    }
}

/// A seat that is not free, as the database knows it.
#[derive(Debug, Clone)]
pub struct TakenSeat {
    /// The seat.
    pub seat: SeatIndex,
    /// How it is taken.
    pub state: SeatState,
    /// By which order; none when staff withhold it.
    pub order_no: Option<OrderNo>,
    /// Identity of the person its ticket is for, where the show wanted to know.
    pub attendee: Option<String>,
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
    attendees_required: u8,
    hold_ms: i64,
    refund_until_ms: Option<i64>,
    refund_fee_percent: u8,
    seats_total: u32,
}

#[derive(sqlx::FromRow)]
struct ZoneRow {
    id: u64,
    category: String,
    name_en: String,
    name_zh: String,
    price_minor: i64,
    currency: String,
    seats_total: u32,
    standing_capacity: Option<u32>,
    pieces: u16,
}

impl TryFrom<ZoneRow> for ZoneRecord {
    type Error = DbError;
    fn try_from(row: ZoneRow) -> Result<Self, DbError> {
        let pieces = row.pieces;
        Ok(Self {
            id: ZoneId(row.id),
            category: row.category,
            name: LocalText {
                en: row.name_en,
                zh_cn: row.name_zh,
            },
            price: Money::new(row.price_minor, currency_of(&row.currency)?),
            seats_total: row.seats_total,
            standing: row
                .standing_capacity
                .map(|capacity| StandingZone { capacity, pieces }),
        })
    }
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
            attendees_required: row.attendees_required != 0,
            hold_for: Millis(row.hold_ms),
            refund: RefundPolicy {
                until: row.refund_until_ms.map(Millis),
                fee_percent: row.refund_fee_percent,
            },
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
             level_required, attendees_required, hold_ms, refund_until_ms, refund_fee_percent, seats_total FROM shows WHERE id = ?",
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
        let rows: Vec<ZoneRow> = sqlx::query_as(
            "SELECT id, category, name_en, name_zh, price_minor, currency, seats_total, standing_capacity, pieces \
             FROM show_zone WHERE show_id = ? ORDER BY price_minor DESC, id",
        )
        .bind(show.0)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().map(ZoneRecord::try_from).collect()
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
        let mut connection = self.pool().acquire().await?;
        taken_seats_in(&mut connection, show).await
    }

    /// Changes on which terms a show takes tickets back. False when there is no such show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_refund_policy(
        &self,
        show: ShowId,
        policy: RefundPolicy,
    ) -> Result<bool, DbError> {
        sqlx::query("UPDATE shows SET refund_until_ms = ?, refund_fee_percent = ? WHERE id = ?")
            .bind(policy.until.map(|until| until.0))
            .bind(policy.fee_percent)
            .bind(show.0)
            .execute(self.pool())
            .await?;
        // A change to what it was before touches no row.
        Ok(self.show(show).await?.is_some())
    }

    /// Copies a paid order's seats to the show's sold seats; doing it twice changes nothing, and neither do tickets whose
    /// money went back meanwhile.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn mark_seats_sold(&self, order_no: OrderNo, now: Timestamp) -> Result<(), DbError> {
        sqlx::query(
            "INSERT INTO show_seat (show_id, seat, state, order_no, updated_at) \
             SELECT i.show_id, i.seat, 2, i.order_no, ? FROM order_item i JOIN orders o ON o.order_no = i.order_no \
             LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
             LEFT JOIN refund r ON r.id = ri.refund_id AND r.status = 3 \
             WHERE i.order_no = ? AND i.seat IS NOT NULL AND o.status IN (1, 4) AND r.id IS NULL \
             ON DUPLICATE KEY UPDATE state = 2, order_no = VALUES(order_no), updated_at = VALUES(updated_at)",
        )
        .bind(now.0)
        .bind(order_no.as_i64())
        .execute(self.pool())
        .await?;
        Ok(())
    }
}

/// Every seat of a show that is claimed or withheld.
pub(super) async fn taken_seats_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Vec<TakenSeat>, DbError> {
    let claims: Vec<(u32, i64, u8, Option<String>)> = sqlx::query_as(
        "SELECT c.seat, c.order_no, o.status, i.attendee_identity FROM seat_claim c \
         JOIN orders o ON o.order_no = c.order_no \
         LEFT JOIN order_item i ON i.order_no = c.order_no AND i.seat = c.seat WHERE c.show_id = ?",
    )
    .bind(show.0)
    .fetch_all(&mut *connection)
    .await?;
    let withheld = withheld_in(connection, show).await?;
    let mut taken = Vec::with_capacity(claims.len() + withheld.len());
    for (seat, order_no, status, attendee) in claims {
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
            attendee,
        });
    }
    taken.extend(withheld.into_iter().map(|(seat, _)| TakenSeat {
        seat,
        state: SeatState::Blocked,
        order_no: None,
        attendee: None,
    }));
    Ok(taken)
}

/// Reads a currency's code from a row.
pub(super) fn currency_of(code: &str) -> Result<Currency, DbError> {
    code.parse()
        .map_err(|_| DbError::Unreadable { what: "currency" })
}
