//! Seats that staff withhold from the sale. The rows here say which; Redis has a copy in each show's map.

use super::{Db, DbError};
use app::domain::{
    ids::{SeatIndex, ShowId},
    time::Timestamp,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};

/// What became of writing withheld seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// All of them are withheld.
    Written {
        /// Those that were not before.
        new: Vec<SeatIndex>,
    },
    /// Some belong to live orders; nothing was written.
    Claimed {
        /// Those seats.
        seats: Vec<SeatIndex>,
    },
}

impl Db {
    /// Writes seats as withheld, all or none. Seats that are withheld already stay as they are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn withhold_seats(
        &self,
        show: ShowId,
        seats: &[SeatIndex],
        now: Timestamp,
    ) -> Result<Withheld, DbError> {
        self.transact((show, seats, now), |&(show, seats, now), tx| {
            Box::pin(async move {
                let claimed = named(tx, "SELECT seat FROM seat_claim WHERE ", show, seats).await?;
                if !claimed.is_empty() {
                    return Ok(Withheld::Claimed { seats: claimed });
                }
                let select = "SELECT seat FROM show_seat WHERE state = 3 AND ";
                let already = named(tx, select, show, seats).await?;
                let new: Vec<SeatIndex> = seats
                    .iter()
                    .copied()
                    .filter(|seat| !already.contains(seat))
                    .collect();
                if !new.is_empty() {
                    insert(tx, show, &new, now).await?;
                }
                Ok::<_, DbError>(Withheld::Written { new })
            })
        })
        .await
    }

    /// Takes rows back that were written at a moment and that Redis did not follow.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take_back_withheld(
        &self,
        show: ShowId,
        seats: &[SeatIndex],
        written_at: Timestamp,
    ) -> Result<(), DbError> {
        if seats.is_empty() {
            return Ok(());
        }
        let mut delete =
            QueryBuilder::<MySql>::new("DELETE FROM show_seat WHERE state = 3 AND updated_at = ");
        delete.push_bind(written_at.0).push(" AND ");
        push_seats(&mut delete, show, seats);
        delete
            .build()
            .persistent(false)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Withholds seats no longer; those that were not withheld stay as they are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn offer_seats(&self, show: ShowId, seats: &[SeatIndex]) -> Result<(), DbError> {
        let mut delete = QueryBuilder::<MySql>::new("DELETE FROM show_seat WHERE state = 3 AND ");
        push_seats(&mut delete, show, seats);
        delete
            .build()
            .persistent(false)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// A show's withheld seats and since when, without those that belong to a live order.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn withheld_seats(
        &self,
        show: ShowId,
    ) -> Result<Vec<(SeatIndex, Timestamp)>, DbError> {
        let mut connection = self.pool().acquire().await?;
        withheld_in(&mut connection, show).await
    }
}

pub(super) async fn withheld_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Vec<(SeatIndex, Timestamp)>, DbError> {
    let rows: Vec<(u32, i64)> = sqlx::query_as(
        "SELECT s.seat, s.updated_at FROM show_seat s WHERE s.show_id = ? AND s.state = 3 \
         AND NOT EXISTS (SELECT 1 FROM seat_claim c WHERE c.show_id = s.show_id AND c.seat = s.seat) \
         ORDER BY s.seat",
    )
    .bind(show.0)
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(seat, at)| (SeatIndex(seat), Timestamp(at)))
        .collect())
}

/// The seats, among some of a show, that a query finds and locks.
async fn named(
    tx: &mut MySqlConnection,
    select: &'static str,
    show: ShowId,
    seats: &[SeatIndex],
) -> Result<Vec<SeatIndex>, DbError> {
    let mut query = QueryBuilder::<MySql>::new(select);
    push_seats(&mut query, show, seats);
    query.push(" ORDER BY seat FOR UPDATE");
    let found: Vec<u32> = query
        .build_query_scalar()
        .persistent(false)
        .fetch_all(tx)
        .await?;
    Ok(found.into_iter().map(SeatIndex).collect())
}

/// A row of a seat that was sold once, and is nobody's now, is written over.
async fn insert(
    tx: &mut MySqlConnection,
    show: ShowId,
    seats: &[SeatIndex],
    now: Timestamp,
) -> Result<(), DbError> {
    let mut insert =
        QueryBuilder::<MySql>::new("INSERT INTO show_seat (show_id, seat, state, updated_at) ");
    insert.push_values(seats, |mut row, seat| {
        row.push_bind(show.0)
            .push_bind(seat.0)
            .push("3")
            .push_bind(now.0);
    });
    insert.push(
        " ON DUPLICATE KEY UPDATE state = 3, order_no = NULL, updated_at = VALUES(updated_at)",
    );
    insert.build().persistent(false).execute(tx).await?;
    Ok(())
}

fn push_seats(query: &mut QueryBuilder<MySql>, show: ShowId, seats: &[SeatIndex]) {
    query
        .push("show_id = ")
        .push_bind(show.0)
        .push(" AND seat IN (");
    let mut list = query.separated(", ");
    for seat in seats {
        list.push_bind(seat.0);
    }
    query.push(")");
}
