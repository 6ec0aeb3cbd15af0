//! Money that does not agree, for a person to look at and, where nothing ends it by itself, to end.

use crate::mysql::{Db, DbError, creation::note_repair};
use app::domain::{
    ids::{OrderNo, ShowId},
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// Discrepancies that one call lists.
const LISTED_MAX: u32 = 500;
/// Characters of a note among the repairs.
const DETAIL_CHARS_MAX: usize = 500;
/// The class under which it is noted among the repairs that somebody ended one.
const CLASS: &str = "discrepancy";

/// Something about money that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Discrepancy {
    /// Its number.
    pub id: u64,
    /// What kind of disagreement it is.
    pub kind: String,
    /// The payment's or refund's number.
    pub reference: String,
    /// The order's number.
    pub order_no: i64,
    /// What does not agree, for a person.
    pub detail: String,
    /// When it was noticed first, ms UTC.
    pub opened_at: i64,
    /// When it ended, ms UTC; none while it is open.
    pub resolved_at: Option<i64>,
    /// Who ended it by hand.
    pub ended_by: Option<String>,
    /// What they wrote.
    pub note: Option<String>,
}

/// Why a discrepancy was not ended by hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndRefusal {
    /// There is no such discrepancy.
    #[error("there is no discrepancy of that number")]
    None,
    /// It has ended before.
    #[error("it is not open any more")]
    Over,
    /// Its money is on its way back, and with it it will end by itself.
    #[error("its money is on its way back: it ends by itself once the gateway has confirmed that")]
    MoneyOwed,
}

impl Db {
    /// Open discrepancies, or all of them, the newest of so many; oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn discrepancies(&self, all: bool, last: u32) -> Result<Vec<Discrepancy>, DbError> {
        let mut found: Vec<Discrepancy> = sqlx::query_as(
            "SELECT id, kind, reference, order_no, detail, opened_at, resolved_at, ended_by, note FROM discrepancy \
             WHERE ? OR resolved_at IS NULL ORDER BY id DESC LIMIT ?",
        )
        .bind(all)
        .bind(last.min(LISTED_MAX))
        .fetch_all(self.pool())
        .await?;
        found.reverse();
        Ok(found)
    }

    /// How many are open.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_discrepancies(&self) -> Result<i64, DbError> {
        let open = sqlx::query_scalar("SELECT COUNT(*) FROM discrepancy WHERE resolved_at IS NULL");
        Ok(open.fetch_one(self.pool()).await?)
    }

    /// Ends a discrepancy by hand, and notes among the repairs who did and why.
    ///
    /// # Errors
    /// When the database fails; nothing is changed then.
    pub async fn end_discrepancy(
        &self,
        id: u64,
        by: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<Result<(), EndRefusal>, DbError> {
        self.transact((id, by, note, now), |&(id, by, note, now), tx| {
            Box::pin(async move {
                let open = match open_and_free(tx, id).await? {
                    Ok(open) => open,
                    Err(refusal) => return Ok(Err(refusal)),
                };
                end(tx, &open, (by, note), now).await?;
                Ok::<_, DbError>(Ok(()))
            })
        })
        .await
    }
}

/// A discrepancy that a person may end, locked.
struct Open {
    id: u64,
    kind: String,
    reference: String,
    order_no: i64,
}

async fn open_and_free(
    tx: &mut MySqlConnection,
    id: u64,
) -> Result<Result<Open, EndRefusal>, DbError> {
    let found: Option<(String, String, i64, Option<i64>)> = sqlx::query_as(
        "SELECT kind, reference, order_no, resolved_at FROM discrepancy WHERE id = ? FOR UPDATE",
    )
    .bind(id)
    .fetch_optional(&mut *tx)
    .await?;
    let Some((kind, reference, order_no, resolved_at)) = found else {
        return Ok(Err(EndRefusal::None));
    };
    if resolved_at.is_some() {
        return Ok(Err(EndRefusal::Over));
    }
    let owed: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM refund r JOIN payment p ON p.id = r.payment_id WHERE r.status <> 3 \
         AND r.order_no = ? AND (p.out_trade_no = ? OR r.refund_no = ?)",
    )
    .bind(order_no)
    .bind(&reference)
    .bind(&reference)
    .fetch_one(tx)
    .await?;
    if owed > 0 {
        return Ok(Err(EndRefusal::MoneyOwed));
    }
    Ok(Ok(Open {
        id,
        kind,
        reference,
        order_no,
    }))
}

async fn end(
    tx: &mut MySqlConnection,
    open: &Open,
    (by, note): (&str, &str),
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query("UPDATE discrepancy SET resolved_at = ?, ended_by = ?, note = ? WHERE id = ?")
        .bind(now.0)
        .bind(by)
        .bind(note)
        .bind(open.id)
        .execute(&mut *tx)
        .await?;
    let show: u64 = sqlx::query_scalar("SELECT show_id FROM orders WHERE order_no = ?")
        .bind(open.order_no)
        .fetch_one(&mut *tx)
        .await?;
    let unreadable = DbError::Unreadable {
        what: "discrepancy",
    };
    let order_no = OrderNo::try_from(open.order_no).map_err(|_| unreadable)?;
    let detail = format!("{} of {} ended by {by}: {note}", open.kind, open.reference);
    let detail: String = detail.chars().take(DETAIL_CHARS_MAX).collect();
    note_repair(tx, CLASS, ShowId(show), Some(order_no), &detail, now).await
}
