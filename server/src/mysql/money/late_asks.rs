//! Payments that are over here and about which the gateway is asked a few times more, because it may have taken the money
//! after all and its notices may all be lost.

use crate::mysql::{Db, DbError};
use app::domain::{
    ids::{OrderNo, ShowId},
    time::{Millis, Timestamp},
};

/// How long after a payment was over the gateway is asked about it, and the pauses after that: six times in four days.
const PAUSES: [Millis; 6] = [
    Millis::minutes(1),
    Millis::minutes(10),
    Millis::minutes(60),
    Millis::minutes(6 * 60),
    Millis::minutes(24 * 60),
    Millis::minutes(3 * 24 * 60),
];
/// Pause after a time at which the gateway did not answer, which does not count.
const PAUSE_UNANSWERED: Millis = Millis::minutes(10);

/// When the gateway is asked first about a payment that is over.
pub(super) fn first_ask(now: Timestamp) -> Timestamp {
    now + PAUSES[0]
}

/// A payment that is over.
#[derive(Debug, Clone)]
pub struct EndedPayment {
    /// Our number of it.
    pub out_trade_no: String,
    /// The order that it was for.
    pub order_no: OrderNo,
    /// The order's show.
    pub show: ShowId,
    /// How often the gateway has answered about it since it was over.
    pub asked_times: u32,
}

impl Db {
    /// Payments that the gateway is to be asked about, the longest due first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payments_to_ask(
        &self,
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<EndedPayment>, DbError> {
        let rows: Vec<(String, i64, u64, u32)> = sqlx::query_as(
            "SELECT p.out_trade_no, p.order_no, o.show_id, p.asked_times FROM payment p \
             JOIN orders o ON o.order_no = p.order_no WHERE p.ask_at <= ? AND p.status IN (4, 5) \
             ORDER BY p.ask_at LIMIT ?",
        )
        .bind(now.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|(out_trade_no, order_no, show, asked_times)| {
                let unreadable = DbError::Unreadable { what: "payment" };
                Ok(EndedPayment {
                    out_trade_no,
                    order_no: OrderNo::try_from(order_no).map_err(|_| unreadable)?,
                    show: ShowId(show),
                    asked_times,
                })
            })
            .collect()
    }

    /// Notes that the gateway was asked about a payment that is over. After the last time it is not asked again.
    ///
    /// # Errors
    /// When the database fails; it is then asked once more.
    pub async fn note_asked(
        &self,
        payment: &EndedPayment,
        has_answered: bool,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let asked_times = payment.asked_times + u32::from(has_answered);
        let next = if has_answered {
            let times = usize::try_from(asked_times).unwrap_or(usize::MAX);
            PAUSES.get(times).map(|pause| now + *pause)
        } else {
            Some(now + PAUSE_UNANSWERED)
        };
        sqlx::query(
            "UPDATE payment SET asked_times = ?, ask_at = ? WHERE out_trade_no = ? AND asked_times = ? \
             AND status IN (4, 5)",
        )
        .bind(asked_times)
        .bind(next.map(|next| next.0))
        .bind(&payment.out_trade_no)
        .bind(payment.asked_times)
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
