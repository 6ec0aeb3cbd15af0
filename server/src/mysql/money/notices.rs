//! What gateways say about payments, and everything that it changes, in one transaction.

use super::{
    late_money::give_back,
    ledger::{Moves, note_discrepancy, post, resolve_discrepancy},
    payments::{PaymentRecord, close_payments, lock_payment, payment_in},
};
use crate::mysql::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
};
use app::domain::{
    ids::OrderNo,
    money::Money,
    order::OrderStatus,
    payment::{PaymentEvent, PaymentStatus},
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// What the gateway says about a payment, once its signature was checked.
#[derive(Debug, Clone)]
pub struct PaymentNotice {
    /// Name of the channel that says it.
    pub channel: String,
    /// Names the notice.
    pub callback_id: String,
    /// Our number of the payment.
    pub out_trade_no: String,
    /// The channel's number of the payment; none when the channel does not know it.
    pub third_trade_no: Option<String>,
    /// What happened.
    pub event: PaymentEvent,
    /// The amount the gateway speaks of.
    pub amount: Money,
    /// Why it failed, in the gateway's words.
    pub fail_reason: Option<String>,
    /// The notice as it came.
    pub raw_body: String,
    /// Whether the channel was asked and answered this, so that it is its last word on the amount, too.
    pub is_asked_for: bool,
}

/// What a payment notice led to.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The order.
    pub order_no: OrderNo,
    /// The word kept with the notice.
    pub result: NoticeResult,
    /// What must happen outside, once the commit is seen.
    pub follow_up: Vec<OutboxRow>,
}

/// What became of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeResult {
    /// It moved the payment.
    Applied,
    /// The payment was there already; what was left undone is done again.
    Repeated,
    /// Another amount than the payment's: noted as a discrepancy, nothing moved.
    WrongAmount,
    /// Another of the channel's numbers than the payment's, so it tells of other money: noted as a discrepancy, nothing
    /// moved.
    WrongNumber,
    /// The money came for an order that can't have it: it is on its way back.
    Late,
    /// The payment's state does not allow it: noted, nothing moved.
    OutOfOrder,
}

impl NoticeResult {
    /// The word that the database and the counters keep.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Repeated => "repeated",
            Self::WrongAmount => "wrong_amount",
            Self::WrongNumber => "wrong_number",
            Self::Late => "late",
            Self::OutOfOrder => "out_of_order",
        }
    }
}

impl Db {
    /// Records a payment notice and everything it changes, in one transaction. None when there is no such payment
    /// through the channel.
    ///
    /// # Errors
    /// When the database fails; then the notice counts as not received.
    pub async fn record_notice(
        &self,
        notice: &PaymentNotice,
        now: Timestamp,
    ) -> Result<Option<Recorded>, DbError> {
        self.transact((notice, now), |&(notice, now), tx| {
            Box::pin(async move {
                let known = payment_in(tx, &notice.out_trade_no).await?;
                // A channel has no say in the payments of another.
                let Some(known) = known.filter(|known| known.channel == notice.channel) else {
                    return Ok(None);
                };
                // Order first, then payment: the order every other transaction takes them in.
                let order = lock_order(tx, known.order_no).await?;
                let payment = lock_payment(tx, known.id).await?;
                let mut follow_up = Vec::new();
                let result = apply(tx, notice, &payment, order, now, &mut follow_up).await?;
                note_callback(tx, notice, &payment, result, now).await?;
                Ok::<_, DbError>(Some(Recorded {
                    order_no: known.order_no,
                    result,
                    follow_up,
                }))
            })
        })
        .await
    }
}

pub(super) async fn lock_order(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<OrderStatus, DbError> {
    let status: Option<u8> =
        sqlx::query_scalar("SELECT status FROM orders WHERE order_no = ? FOR UPDATE")
            .bind(order_no.as_i64())
            .fetch_optional(tx)
            .await?;
    status
        .and_then(OrderStatus::from_code)
        .ok_or(DbError::Unreadable { what: "orders" })
}

/// Moves payment, order and ledger as the notice says; both rows are locked.
async fn apply(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    order: OrderStatus,
    now: Timestamp,
    follow_up: &mut Vec<OutboxRow>,
) -> Result<NoticeResult, DbError> {
    if let Some(doubt) = doubt(notice, payment) {
        let (kind, said) = match &doubt {
            Doubt::Amount => ("wrong_amount", notice.amount.to_string()),
            Doubt::Number(number) => ("wrong_number", (*number).to_owned()),
        };
        note_discrepancy(tx, kind, payment, &format!("notice says {said}"), now).await?;
        return Ok(match doubt {
            Doubt::Amount => NoticeResult::WrongAmount,
            Doubt::Number(_) => NoticeResult::WrongNumber,
        });
    }
    if notice.is_asked_for {
        // What a channel answers when it is asked settles the doubts that its notices left.
        for kind in ["wrong_amount", "wrong_number"] {
            resolve_discrepancy(tx, kind, &payment.out_trade_no, now).await?;
        }
    }
    let Ok(to) = payment.status.apply(notice.event) else {
        // A refunded payment was a success before; hearing of the success again is nothing new.
        let repeated = notice.event == PaymentEvent::Succeeded;
        return Ok(if repeated {
            NoticeResult::Repeated
        } else {
            NoticeResult::OutOfOrder
        });
    };
    if to == payment.status {
        return Ok(NoticeResult::Repeated);
    }
    move_payment(tx, notice, payment, to, now).await?;
    if to != PaymentStatus::Success {
        return Ok(NoticeResult::Applied);
    }
    let posting = format!("capture:{}", payment.out_trade_no);
    if order == OrderStatus::Pending {
        pay_order(tx, payment.order_no, now).await?;
        let (moves, currency) = (Moves::sale(payment.amount), payment.amount.currency);
        post(tx, &posting, moves, currency, payment.order_no, now).await?;
        follow_up.push(outbox::insert(tx, OutboxKind::OrderPaid, payment.order_no, "", now).await?);
        // Another attempt may be open: this one was declined first, then succeeded after all.
        follow_up.extend(close_payments(tx, payment.order_no, now).await?);
        return Ok(NoticeResult::Applied);
    }
    let (moves, currency) = (Moves::unwanted(payment.amount), payment.amount.currency);
    post(tx, &posting, moves, currency, payment.order_no, now).await?;
    follow_up.push(give_back(tx, payment, order, now).await?);
    Ok(NoticeResult::Late)
}

/// Why a notice is not believed, although it is signed.
enum Doubt<'n> {
    Amount,
    Number(&'n str),
}

fn doubt<'n>(notice: &'n PaymentNotice, payment: &PaymentRecord) -> Option<Doubt<'n>> {
    if notice.amount != payment.amount {
        return Some(Doubt::Amount);
    }
    // A payment whose charge was never answered learns the channel's number from its first notice.
    let known = payment.third_trade_no.as_deref()?;
    let said = notice.third_trade_no.as_deref()?;
    (said != known).then_some(Doubt::Number(said))
}

async fn move_payment(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    to: PaymentStatus,
    now: Timestamp,
) -> Result<(), DbError> {
    let moved = sqlx::query(
        "UPDATE payment SET status = ?, third_trade_no = COALESCE(third_trade_no, ?), notify_status = ?, \
         notify_content = ?, fail_reason = ?, pay_time = ?, update_time = ? WHERE id = ? AND status = ?",
    )
    .bind(to.code())
    .bind(&notice.third_trade_no)
    .bind(match notice.event {
        PaymentEvent::Succeeded => "succeeded",
        PaymentEvent::Failed => "failed",
        PaymentEvent::Closed => "closed",
        PaymentEvent::Started | PaymentEvent::Refunded => "other",
    })
    .bind(&notice.raw_body)
    .bind(&notice.fail_reason)
    .bind((to == PaymentStatus::Success).then_some(now.0))
    .bind(now.0)
    .bind(payment.id)
    .bind(payment.status.code())
    .execute(tx)
    .await?
    .rows_affected();
    // The row is locked and was read under the lock.
    assert_eq!(moved, 1, "a locked payment changed its state");
    Ok(())
}

async fn pay_order(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<(), DbError> {
    let moved =
        sqlx::query("UPDATE orders SET status = 1, paid_at = ? WHERE order_no = ? AND status = 0")
            .bind(now.0)
            .bind(order_no.as_i64())
            .execute(tx)
            .await?
            .rows_affected();
    assert_eq!(moved, 1, "a locked order changed its state");
    Ok(())
}

async fn note_callback(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    result: NoticeResult,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO payment_callback (callback_id, channel, out_trade_no, raw_body, result, received_at) \
         VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE repeats = repeats + 1",
    )
    .bind(&notice.callback_id)
    .bind(&payment.channel)
    .bind(&notice.out_trade_no)
    .bind(&notice.raw_body)
    .bind(result.word())
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}
