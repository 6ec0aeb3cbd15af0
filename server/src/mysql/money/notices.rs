//! What gateways say about payments, and everything that it changes, in one transaction.

use super::{
    callbacks::{Told, kept_body, note_callback},
    late_asks::first_ask,
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
    /// When it happened, as the gateway says; none when it does not.
    pub happened_at: Option<Timestamp>,
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
    /// Whether anything was not known before: the payment moved, or a doubt about it is settled or new.
    pub is_news: bool,
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
    /// Another amount than the payment's was taken, as the channel said when it was asked: it is on its way back.
    OtherAmount,
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
            Self::OtherAmount => "other_amount",
            Self::WrongNumber => "wrong_number",
            Self::Late => "late",
            Self::OutOfOrder => "out_of_order",
        }
    }

    /// Whether it changed where the payment stands.
    #[must_use]
    pub fn has_moved(self) -> bool {
        matches!(self, Self::Applied | Self::Late | Self::OtherAmount)
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
            Box::pin(record(tx, notice, now))
        })
        .await
    }
}

async fn record(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    now: Timestamp,
) -> Result<Option<Recorded>, DbError> {
    let known = payment_in(tx, &notice.out_trade_no).await?;
    // A channel has no say in the payments of another.
    let Some(known) = known.filter(|known| known.channel == notice.channel) else {
        return Ok(None);
    };
    // Order first, then payment: the order every other transaction takes them in.
    let order = lock_order(tx, known.order_no).await?;
    let payment = lock_payment(tx, known.id).await?;
    let mut follow_up = Vec::new();
    let is_settled = settle_doubts(tx, notice, &payment, now).await?;
    let result = match doubt(notice, &payment) {
        Some(doubt) => note_doubt(tx, doubt, notice, &payment, now).await?,
        None => apply(tx, notice, payment, order, now, &mut follow_up).await?,
    };
    let told = Told {
        channel: &notice.channel,
        callback_id: &notice.callback_id,
        out_trade_no: &notice.out_trade_no,
        raw_body: &notice.raw_body,
        result: result.word(),
        has_moved: result.has_moved(),
    };
    note_callback(tx, &told, now).await?;
    Ok(Some(Recorded {
        order_no: known.order_no,
        result,
        is_news: is_settled || result.has_moved(),
        follow_up,
    }))
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

/// What a channel answers when it is asked settles the doubts that its notices left. True when there were any.
async fn settle_doubts(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    now: Timestamp,
) -> Result<bool, DbError> {
    let mut is_settled = false;
    if notice.is_asked_for {
        for kind in ["wrong_amount", "wrong_number"] {
            is_settled |= resolve_discrepancy(tx, kind, &payment.out_trade_no, now).await?;
        }
    }
    Ok(is_settled)
}

/// Why a notice is not believed, although it is signed.
#[derive(Clone, Copy)]
enum Doubt<'n> {
    /// It names another amount, and the channel was not asked.
    Amount,
    /// It names another of the channel's numbers, and the channel was not asked.
    Number(&'n str),
    /// Asked, the channel names another amount than the one that it has said it had taken.
    TwoAmounts,
}

/// What a channel answers about a payment when it is asked is its last word on number and amount. Only when it has said
/// before that it took another amount nobody but a person can know which is true.
fn doubt<'n>(notice: &'n PaymentNotice, payment: &PaymentRecord) -> Option<Doubt<'n>> {
    let has_other_amount = notice.amount != payment.captured();
    if notice.is_asked_for {
        let is_taken = matches!(
            payment.status,
            PaymentStatus::Success | PaymentStatus::Refunded
        );
        let is_success = notice.event == PaymentEvent::Succeeded;
        return (has_other_amount && is_success && is_taken).then_some(Doubt::TwoAmounts);
    }
    if has_other_amount {
        return Some(Doubt::Amount);
    }
    // A payment whose charge was never answered learns the channel's number from its first notice.
    let known = payment.third_trade_no.as_deref()?;
    let said = notice.third_trade_no.as_deref()?;
    (said != known).then_some(Doubt::Number(said))
}

async fn note_doubt(
    tx: &mut MySqlConnection,
    doubt: Doubt<'_>,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    now: Timestamp,
) -> Result<NoticeResult, DbError> {
    let said = notice.amount;
    let (kind, detail, result) = match doubt {
        Doubt::Amount => (
            "wrong_amount",
            format!("notice says {said}"),
            NoticeResult::WrongAmount,
        ),
        Doubt::Number(number) => (
            "wrong_number",
            format!("notice says {number}"),
            NoticeResult::WrongNumber,
        ),
        Doubt::TwoAmounts => (
            "two_amounts",
            format!(
                "asked, the channel says {said}; {} was recorded",
                payment.captured()
            ),
            NoticeResult::WrongAmount,
        ),
    };
    note_discrepancy(tx, kind, payment, &detail, now).await?;
    Ok(result)
}

/// Moves payment, order and ledger as the notice says; both rows are locked.
async fn apply(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    mut payment: PaymentRecord,
    order: OrderStatus,
    now: Timestamp,
    follow_up: &mut Vec<OutboxRow>,
) -> Result<NoticeResult, DbError> {
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
    if to == PaymentStatus::Success && notice.amount != payment.amount {
        payment.taken = Some(notice.amount);
    }
    move_payment(tx, notice, &payment, to, now).await?;
    if to != PaymentStatus::Success {
        return Ok(NoticeResult::Applied);
    }
    let posting = format!("capture:{}", payment.out_trade_no);
    let (taken, order_no) = (payment.captured(), payment.order_no);
    if order == OrderStatus::Pending && payment.taken.is_none() {
        pay_order(tx, order_no, now).await?;
        let moves = Moves::sale(taken);
        post(tx, &posting, moves, taken.currency, order_no, now).await?;
        follow_up.push(outbox::insert(tx, OutboxKind::OrderPaid, order_no, "", now).await?);
        // Another attempt may be open: this one was declined first, then succeeded after all.
        follow_up.extend(close_payments(tx, order_no, now).await?);
        return Ok(NoticeResult::Applied);
    }
    let moves = Moves::unwanted(taken);
    post(tx, &posting, moves, taken.currency, order_no, now).await?;
    follow_up.push(give_back(tx, &payment, order, now).await?);
    Ok(match payment.taken {
        Some(_) => NoticeResult::OtherAmount,
        None => NoticeResult::Late,
    })
}

async fn move_payment(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    to: PaymentStatus,
    now: Timestamp,
) -> Result<(), DbError> {
    let (known, said) = (&payment.third_trade_no, &notice.third_trade_no);
    let number = if notice.is_asked_for {
        said.as_ref().or(known.as_ref())
    } else {
        known.as_ref().or(said.as_ref())
    };
    // The gateway's clock is not ours: nothing was paid before it was begun, or is paid tomorrow.
    let happened_at = notice.happened_at.unwrap_or(now).min(now);
    let paid_at = happened_at.max(payment.created_at);
    let is_over = matches!(to, PaymentStatus::Failed | PaymentStatus::Closed);
    let moved = sqlx::query(
        "UPDATE payment SET status = ?, third_trade_no = ?, taken_minor = ?, taken_currency = ?, notify_status = ?, \
         notify_content = ?, fail_reason = ?, pay_time = ?, ask_at = ?, update_time = ? WHERE id = ? AND status = ?",
    )
    .bind(to.code())
    .bind(number)
    .bind(payment.taken.map(|taken| taken.minor))
    .bind(payment.taken.map(|taken| taken.currency.code()))
    .bind(match notice.event {
        PaymentEvent::Succeeded => "succeeded",
        PaymentEvent::Failed => "failed",
        PaymentEvent::Closed => "closed",
        PaymentEvent::Started | PaymentEvent::Refunded => "other",
    })
    .bind(kept_body(&notice.raw_body))
    .bind(&notice.fail_reason)
    .bind((to == PaymentStatus::Success).then_some(paid_at.0))
    .bind(is_over.then(|| first_ask(now).0))
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
