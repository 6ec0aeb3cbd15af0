//! Payments, callbacks, refunds and the ledger.

use super::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
    shows::currency_of,
};
use app::domain::{
    ids::{OrderNo, UserId},
    money::Money,
    order::{OrderStatus, RefundProgress},
    payment::{PaymentEvent, PaymentStatus},
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// A payment's row.
#[derive(Debug, Clone)]
pub struct PaymentRecord {
    /// Its id.
    pub id: u64,
    /// Our number for it, which the gateway knows.
    pub out_trade_no: String,
    /// The gateway's number for it.
    pub third_trade_no: Option<String>,
    /// The order it pays.
    pub order_no: OrderNo,
    /// Who pays.
    pub user_id: UserId,
    /// Name of the channel.
    pub channel: String,
    /// What is to be paid, as it was when the order was placed.
    pub amount: Money,
    /// Where it stands.
    pub status: PaymentStatus,
    /// The gateway's page.
    pub cashier_url: Option<String>,
    /// When it ends by itself.
    pub expire_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct PaymentRow {
    id: u64,
    out_trade_no: String,
    third_trade_no: Option<String>,
    order_no: i64,
    user_id: u64,
    channel: String,
    amount_minor: i64,
    currency: String,
    status: u8,
    cashier_url: Option<String>,
    expire_at: i64,
}

impl TryFrom<PaymentRow> for PaymentRecord {
    type Error = DbError;
    fn try_from(row: PaymentRow) -> Result<Self, DbError> {
        let unreadable = || DbError::Unreadable { what: "payment" };
        Ok(Self {
            id: row.id,
            out_trade_no: row.out_trade_no,
            third_trade_no: row.third_trade_no,
            order_no: OrderNo::try_from(row.order_no).map_err(|_| unreadable())?,
            user_id: UserId(row.user_id),
            channel: row.channel,
            amount: Money::new(row.amount_minor, currency_of(&row.currency)?),
            status: PaymentStatus::from_code(row.status).ok_or_else(unreadable)?,
            cashier_url: row.cashier_url,
            expire_at: Timestamp(row.expire_at),
        })
    }
}

const PAYMENT: &str = "SELECT id, out_trade_no, third_trade_no, order_no, user_id, channel, amount_minor, currency, \
     status, cashier_url, expire_at FROM payment";

/// A refund's row.
#[derive(Debug, Clone)]
pub struct RefundRecord {
    /// Our number for it.
    pub refund_no: String,
    /// The number of the payment it gives back.
    pub out_trade_no: String,
    /// The order that was paid.
    pub order_no: OrderNo,
    /// What is given back.
    pub amount: Money,
    /// How far it has come.
    pub status: RefundProgress,
}

/// A start of paying that can go on.
#[derive(Debug, Clone)]
pub enum PaymentStart {
    /// The order can't be paid any more, or is not the user's.
    NotPayable,
    /// This is the open payment, new or found.
    Open(PaymentRecord),
}

/// What the gateway says about a payment, once its signature was checked.
#[derive(Debug, Clone)]
pub struct PaymentNotice {
    /// Names the notice.
    pub callback_id: String,
    /// Our number of the payment.
    pub out_trade_no: String,
    /// What happened.
    pub event: PaymentEvent,
    /// The amount the gateway speaks of.
    pub amount: Money,
    /// Why it failed, in the gateway's words.
    pub fail_reason: Option<String>,
    /// The notice as it came.
    pub raw_body: String,
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
            Self::Late => "late",
            Self::OutOfOrder => "out_of_order",
        }
    }
}

impl Db {
    /// Finds the open payment of a pending order, or records a new one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start_payment(
        &self,
        user: UserId,
        order_no: OrderNo,
        latest_start: Timestamp,
        now: Timestamp,
    ) -> Result<PaymentStart, DbError> {
        self.transact((user, order_no, latest_start, now), |&(user, order_no, latest, now), tx| {
            Box::pin(async move {
                let order: Option<(u64, u8, i64, String, String, i64)> = sqlx::query_as(
                    "SELECT user_id, status, amount_minor, currency, channel, expire_at FROM orders \
                     WHERE order_no = ? FOR UPDATE",
                )
                .bind(order_no.as_i64())
                .fetch_optional(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let Some((owner, status, amount_minor, currency, channel, expire_at)) = order else {
                    return Ok(PaymentStart::NotPayable);
                };
                let pending = OrderStatus::from_code(status) == Some(OrderStatus::Pending);
                if UserId(owner) != user || !pending || Timestamp(expire_at) <= latest {
                    return Ok(PaymentStart::NotPayable);
                }
                let attempts = payments_of(tx, order_no).await?;
                if let Some(open) = attempts.iter().find(|payment| payment.status.is_open()) {
                    return Ok(PaymentStart::Open(open.clone()));
                }
                let out_trade_no = format!("{order_no}-{}", attempts.len() + 1);
                sqlx::query(
                    "INSERT INTO payment (out_trade_no, order_no, user_id, channel, amount_minor, currency, status, \
                     expire_at, create_time, update_time) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)",
                )
                .bind(&out_trade_no)
                .bind(order_no.as_i64())
                .bind(user.0)
                .bind(channel)
                .bind(amount_minor)
                .bind(currency)
                .bind(expire_at)
                .bind(now.0)
                .bind(now.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let new = payment_in(tx, &out_trade_no).await?;
                new.map(PaymentStart::Open).ok_or(DbError::Unreadable { what: "payment" })
            })
        })
        .await
    }

    /// Notes that the gateway knows a payment: `init` → `paying`. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payment_started(
        &self,
        payment: &PaymentRecord,
        third_trade_no: &str,
        cashier_url: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        sqlx::query(
            "UPDATE payment SET status = 2, third_trade_no = ?, cashier_url = ?, update_time = ? \
             WHERE id = ? AND status = 1",
        )
        .bind(third_trade_no)
        .bind(cashier_url)
        .bind(now.0)
        .bind(payment.id)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// A payment by our number for it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payment(&self, out_trade_no: &str) -> Result<Option<PaymentRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        payment_in(&mut connection, out_trade_no).await
    }

    /// An order's payments, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payments_of_order(&self, order_no: OrderNo) -> Result<Vec<PaymentRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        payments_of(&mut connection, order_no).await
    }

    /// Records a payment notice and everything it changes, in one transaction. None when there is no such payment.
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
                let Some(known) = payment_in(tx, &notice.out_trade_no).await? else {
                    return Ok(None);
                };
                // Order first, then payment: the order every other transaction takes them in.
                let order = lock_order(tx, known.order_no).await?;
                let payment = lock_payment(tx, known.id).await?;
                let mut follow_up = Vec::new();
                let result = apply(tx, notice, &payment, order, now, &mut follow_up).await?;
                note_callback(tx, notice, &payment, result, now).await?;
                Ok::<_, DbError>(Some(Recorded { order_no: known.order_no, result, follow_up }))
            })
        })
        .await
    }

    /// A refund with the number of its payment.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund(&self, refund_no: &str) -> Result<Option<RefundRecord>, DbError> {
        let row: Option<(String, String, i64, i64, String, u8)> = sqlx::query_as(
            "SELECT r.refund_no, p.out_trade_no, r.order_no, r.amount_minor, r.currency, r.status \
             FROM refund r JOIN payment p ON p.id = r.payment_id WHERE r.refund_no = ?",
        )
        .bind(refund_no)
        .fetch_optional(self.pool())
        .await?;
        row.map(|(refund_no, out_trade_no, order_no, minor, currency, status)| {
            let unreadable = || DbError::Unreadable { what: "refund" };
            Ok(RefundRecord {
                refund_no,
                out_trade_no,
                order_no: OrderNo::try_from(order_no).map_err(|_| unreadable())?,
                amount: Money::new(minor, currency_of(&currency)?),
                status: RefundProgress::from_code(status).ok_or_else(unreadable)?,
            })
        })
        .transpose()
    }

    /// Notes that the gateway accepted a refund, or refused it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_moved(&self, refund_no: &str, to: RefundProgress) -> Result<(), DbError> {
        sqlx::query("UPDATE refund SET status = ? WHERE refund_no = ? AND status <> 3")
            .bind(to.code())
            .bind(refund_no)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Notes that the money is back: refund, ledger and payment in one transaction, and the discrepancy is put right.
    /// Repeating it changes nothing. False when there is no such refund.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_succeeded(
        &self,
        refund_no: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let Some(refund) = self.refund(refund_no).await? else { return Ok(false) };
        self.transact((refund, now), |(refund, now), tx| {
            Box::pin(async move {
                let won = sqlx::query(
                    "UPDATE refund SET status = 3, succeeded_at = ? WHERE refund_no = ? AND status <> 3",
                )
                .bind(now.0)
                .bind(&refund.refund_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?
                .rows_affected();
                if won == 0 {
                    return Ok(());
                }
                let posting = format!("refund:{}", refund.refund_no);
                let accounts = ("owed_to_customers", "gateway");
                post(tx, &posting, accounts, refund.amount, refund.order_no, *now).await?;
                sqlx::query(
                    "UPDATE payment SET status = 6, update_time = ? WHERE out_trade_no = ? AND status = 3 AND \
                     amount_minor <= (SELECT SUM(r.amount_minor) FROM refund r \
                     WHERE r.payment_id = payment.id AND r.status = 3)",
                )
                .bind(now.0)
                .bind(&refund.out_trade_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                sqlx::query(
                    "UPDATE discrepancy SET resolved_at = ? WHERE reference = ? AND resolved_at IS NULL \
                     AND kind IN ('late_payment', 'second_payment')",
                )
                .bind(now.0)
                .bind(&refund.out_trade_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(())
            })
        })
        .await?;
        Ok(true)
    }
}

/// Closes an order's open payments and notes that the gateway must be told.
pub(super) async fn close_payments(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<Vec<OutboxRow>, DbError> {
    let open: Vec<String> = sqlx::query_scalar(
        "SELECT out_trade_no FROM payment WHERE order_no = ? AND status IN (1, 2) FOR UPDATE",
    )
    .bind(order_no.as_i64())
    .fetch_all(&mut *tx)
    .await?;
    let mut follow_up = Vec::with_capacity(open.len());
    for out_trade_no in open {
        sqlx::query(
            "UPDATE payment SET status = 5, update_time = ? WHERE out_trade_no = ? AND status IN (1, 2)",
        )
        .bind(now.0)
        .bind(&out_trade_no)
        .execute(&mut *tx)
        .await?;
        follow_up
            .push(outbox::insert(tx, OutboxKind::PaymentClose, order_no, &out_trade_no, now).await?);
    }
    Ok(follow_up)
}

async fn payment_in(
    connection: &mut MySqlConnection,
    out_trade_no: &str,
) -> Result<Option<PaymentRecord>, DbError> {
    let row: Option<PaymentRow> =
        sqlx::query_as(sqlx::AssertSqlSafe(format!("{PAYMENT} WHERE out_trade_no = ?")))
            .bind(out_trade_no)
            .fetch_optional(connection)
            .await?;
    row.map(PaymentRecord::try_from).transpose()
}

async fn payments_of(
    connection: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Vec<PaymentRecord>, DbError> {
    let rows: Vec<PaymentRow> =
        sqlx::query_as(sqlx::AssertSqlSafe(format!("{PAYMENT} WHERE order_no = ? ORDER BY id")))
            .bind(order_no.as_i64())
            .fetch_all(connection)
            .await?;
    rows.into_iter().map(PaymentRecord::try_from).collect()
}

async fn lock_order(tx: &mut MySqlConnection, order_no: OrderNo) -> Result<OrderStatus, DbError> {
    let status: Option<u8> =
        sqlx::query_scalar("SELECT status FROM orders WHERE order_no = ? FOR UPDATE")
            .bind(order_no.as_i64())
            .fetch_optional(tx)
            .await?;
    status.and_then(OrderStatus::from_code).ok_or(DbError::Unreadable { what: "orders" })
}

async fn lock_payment(tx: &mut MySqlConnection, id: u64) -> Result<PaymentRecord, DbError> {
    let row: PaymentRow =
        sqlx::query_as(sqlx::AssertSqlSafe(format!("{PAYMENT} WHERE id = ? FOR UPDATE")))
            .bind(id)
            .fetch_one(tx)
            .await?;
    row.try_into()
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
    if notice.amount != payment.amount {
        note_discrepancy(tx, "wrong_amount", payment, &format!("notice says {}", notice.amount), now)
            .await?;
        return Ok(NoticeResult::WrongAmount);
    }
    let Ok(to) = payment.status.apply(notice.event) else {
        // A refunded payment was a success before; hearing of the success again is nothing new.
        let repeated = notice.event == PaymentEvent::Succeeded;
        return Ok(if repeated { NoticeResult::Repeated } else { NoticeResult::OutOfOrder });
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
        post(tx, &posting, ("gateway", "sales"), payment.amount, payment.order_no, now).await?;
        follow_up.push(outbox::insert(tx, OutboxKind::OrderPaid, payment.order_no, "", now).await?);
        // Another attempt may be open: this one was declined first, then succeeded after all.
        follow_up.extend(close_payments(tx, payment.order_no, now).await?);
        return Ok(NoticeResult::Applied);
    }
    post(tx, &posting, ("gateway", "owed_to_customers"), payment.amount, payment.order_no, now)
        .await?;
    follow_up.push(give_back(tx, payment, order, now).await?);
    Ok(NoticeResult::Late)
}

async fn move_payment(
    tx: &mut MySqlConnection,
    notice: &PaymentNotice,
    payment: &PaymentRecord,
    to: PaymentStatus,
    now: Timestamp,
) -> Result<(), DbError> {
    let moved = sqlx::query(
        "UPDATE payment SET status = ?, notify_status = ?, notify_content = ?, fail_reason = ?, \
         pay_time = ?, update_time = ? WHERE id = ? AND status = ?",
    )
    .bind(to.code())
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

/// Records that a payment's money goes back: refund, discrepancy, and the request to the gateway.
async fn give_back(
    tx: &mut MySqlConnection,
    payment: &PaymentRecord,
    order: OrderStatus,
    now: Timestamp,
) -> Result<OutboxRow, DbError> {
    let reason = if order.is_live() { "second_payment" } else { "late_payment" };
    let refund_no = format!("{}-r1", payment.out_trade_no);
    sqlx::query(
        "INSERT INTO refund (refund_no, payment_id, order_no, amount_minor, currency, reason, status, requested_at) \
         VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
    )
    .bind(&refund_no)
    .bind(payment.id)
    .bind(payment.order_no.as_i64())
    .bind(payment.amount.minor)
    .bind(payment.amount.currency.code())
    .bind(reason)
    .bind(now.0)
    .execute(&mut *tx)
    .await?;
    let detail = format!("{} was paid for an order that is {order:?}", payment.amount);
    note_discrepancy(tx, reason, payment, &detail, now).await?;
    outbox::insert(tx, OutboxKind::RefundSend, payment.order_no, &refund_no, now).await
}

/// Requests the refund of a successful payment if its order is not live and nothing is on its way back.
pub(super) async fn give_back_if_unowned(
    tx: &mut MySqlConnection,
    out_trade_no: &str,
    now: Timestamp,
) -> Result<Option<OutboxRow>, DbError> {
    let Some(known) = payment_in(tx, out_trade_no).await? else { return Ok(None) };
    let order = lock_order(tx, known.order_no).await?;
    let payment = lock_payment(tx, known.id).await?;
    let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund WHERE payment_id = ?")
        .bind(payment.id)
        .fetch_one(&mut *tx)
        .await?;
    if order.is_live() || payment.status != PaymentStatus::Success || refunds > 0 {
        return Ok(None);
    }
    give_back(tx, &payment, order, now).await.map(Some)
}

async fn note_discrepancy(
    tx: &mut MySqlConnection,
    kind: &str,
    payment: &PaymentRecord,
    detail: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO discrepancy (kind, reference, order_no, detail, opened_at) VALUES (?, ?, ?, ?, ?) \
         ON DUPLICATE KEY UPDATE detail = VALUES(detail)",
    )
    .bind(kind)
    .bind(&payment.out_trade_no)
    .bind(payment.order_no.as_i64())
    .bind(detail)
    .bind(now.0)
    .execute(tx)
    .await?;
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

/// Posts an amount from one account to another: two entries that add up to zero.
async fn post(
    tx: &mut MySqlConnection,
    posting: &str,
    (debit, credit): (&str, &str),
    amount: Money,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO ledger_entry (posting, account, amount_minor, currency, order_no, posted_at) \
         VALUES (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)",
    )
    .bind(posting)
    .bind(debit)
    .bind(amount.minor)
    .bind(amount.currency.code())
    .bind(order_no.as_i64())
    .bind(now.0)
    .bind(posting)
    .bind(credit)
    .bind(-amount.minor)
    .bind(amount.currency.code())
    .bind(order_no.as_i64())
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}
