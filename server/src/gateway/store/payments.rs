//! `gw_payment`.

use super::{is_duplicate, known};
use crate::gateway::{
    payment::{LateSuccess, Payment},
    switches::{RefundAnswer, RefundSwitch},
    wire::PaymentState,
};
use app::domain::{money::Money, text::LocalText, time::Timestamp};
use sqlx::{MySqlConnection, MySqlPool};

macro_rules! select_payment {
    ($rest:literal) => {
        concat!(
            "SELECT third_trade_no, out_trade_no, amount_minor, currency, subject_en, subject_zh, notify_url, return_url, ",
            "status, expires_at, created_at, paid_at, late_switches, late_at, page_fails_until, refund_answer, refund_times, ",
            "refund_delay_s FROM gw_payment ",
            $rest
        )
    };
}

#[derive(sqlx::FromRow)]
struct PaymentRow {
    third_trade_no: String,
    out_trade_no: String,
    amount_minor: i64,
    currency: String,
    subject_en: String,
    subject_zh: String,
    notify_url: String,
    return_url: String,
    status: String,
    expires_at: i64,
    created_at: i64,
    paid_at: Option<i64>,
    late_switches: Option<String>,
    late_at: Option<i64>,
    page_fails_until: Option<i64>,
    refund_answer: String,
    refund_times: u32,
    refund_delay_s: u32,
}

impl PaymentRow {
    fn into_payment(self) -> Result<Payment, sqlx::Error> {
        let late = match self.late_switches {
            None => None,
            Some(json) => Some(LateSuccess {
                switches: known("late_switches", serde_json::from_str(&json).ok())?,
                at: self.late_at.map(Timestamp),
            }),
        };
        Ok(Payment {
            third_trade_no: self.third_trade_no,
            out_trade_no: self.out_trade_no,
            amount: Money::new(
                self.amount_minor,
                known("currency", self.currency.parse().ok())?,
            ),
            subject: LocalText {
                en: self.subject_en,
                zh_cn: self.subject_zh,
            },
            notify_url: self.notify_url,
            return_url: self.return_url,
            state: known("status", PaymentState::from_word(&self.status))?,
            expires_at: Timestamp(self.expires_at),
            created_at: Timestamp(self.created_at),
            paid_at: self.paid_at.map(Timestamp),
            late,
            page_fails_until: self.page_fails_until.map(Timestamp),
            refunds: RefundSwitch {
                answer: known(
                    "refund_answer",
                    RefundAnswer::from_word(&self.refund_answer),
                )?,
                times: self.refund_times,
                delay_s: self.refund_delay_s,
            },
        })
    }
}

/// Which of its two numbers names a payment.
#[derive(Debug, Clone, Copy)]
pub enum PaymentKey<'a> {
    /// The merchant's.
    OutTradeNo(&'a str),
    /// The gateway's.
    ThirdTradeNo(&'a str),
}

/// Inserts a payment; `false` when its merchant's number is taken.
pub async fn insert(pool: &MySqlPool, payment: &Payment) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "INSERT INTO gw_payment (third_trade_no, out_trade_no, amount_minor, currency, subject_en, subject_zh, notify_url, \
         return_url, status, expires_at, created_at, refund_answer, refund_times, refund_delay_s) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&payment.third_trade_no)
    .bind(&payment.out_trade_no)
    .bind(payment.amount.minor)
    .bind(payment.amount.currency.code())
    .bind(&payment.subject.en)
    .bind(&payment.subject.zh_cn)
    .bind(&payment.notify_url)
    .bind(&payment.return_url)
    .bind(payment.state.word())
    .bind(payment.expires_at.0)
    .bind(payment.created_at.0)
    .bind(payment.refunds.answer.word())
    .bind(payment.refunds.times)
    .bind(payment.refunds.delay_s)
    .execute(pool)
    .await;
    match inserted {
        Ok(_) => Ok(true),
        Err(error) if is_duplicate(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads a payment.
pub async fn find(pool: &MySqlPool, key: PaymentKey<'_>) -> Result<Option<Payment>, sqlx::Error> {
    let query = match key {
        PaymentKey::OutTradeNo(number) => {
            sqlx::query_as::<_, PaymentRow>(select_payment!("WHERE out_trade_no = ?")).bind(number)
        }
        PaymentKey::ThirdTradeNo(number) => {
            sqlx::query_as::<_, PaymentRow>(select_payment!("WHERE third_trade_no = ?"))
                .bind(number)
        }
    };
    query
        .fetch_optional(pool)
        .await?
        .map(PaymentRow::into_payment)
        .transpose()
}

/// Reads a payment and keeps everybody else from changing it until the transaction ends.
pub async fn lock(
    transaction: &mut MySqlConnection,
    third_trade_no: &str,
) -> Result<Option<Payment>, sqlx::Error> {
    sqlx::query_as::<_, PaymentRow>(select_payment!("WHERE third_trade_no = ? FOR UPDATE"))
        .bind(third_trade_no)
        .fetch_optional(transaction)
        .await?
        .map(PaymentRow::into_payment)
        .transpose()
}

/// Moves a payment from the state it was read in, and writes what else `payment` says about lateness; `false` when it is in
/// another state by now.
pub async fn advance(
    transaction: &mut MySqlConnection,
    from: PaymentState,
    payment: &Payment,
) -> Result<bool, sqlx::Error> {
    let (late_switches, late_at) = match &payment.late {
        None => (None, None),
        Some(late) => {
            let json = serde_json::to_string(&late.switches)
                .map_err(|error| sqlx::Error::Encode(error.into()))?;
            (Some(json), late.at.map(|at| at.0))
        }
    };
    let updated = sqlx::query(
        "UPDATE gw_payment SET status = ?, paid_at = ?, late_switches = ?, late_at = ?, page_fails_until = ? \
         WHERE third_trade_no = ? AND status = ?",
    )
    .bind(payment.state.word())
    .bind(payment.paid_at.map(|at| at.0))
    .bind(late_switches)
    .bind(late_at)
    .bind(payment.page_fails_until.map(|at| at.0))
    .bind(&payment.third_trade_no)
    .bind(from.word())
    .execute(transaction)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// Sets what happens to the payment's next refunds.
pub async fn set_refund_switch(
    transaction: &mut MySqlConnection,
    third_trade_no: &str,
    refunds: RefundSwitch,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE gw_payment SET refund_answer = ?, refund_times = ?, refund_delay_s = ? WHERE third_trade_no = ?",
    )
    .bind(refunds.answer.word())
    .bind(refunds.times)
    .bind(refunds.delay_s)
    .bind(third_trade_no)
    .execute(transaction)
    .await?;
    Ok(())
}

/// Numbers of at most `limit` open payments whose time is over.
pub async fn overdue(
    pool: &MySqlPool,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT third_trade_no FROM gw_payment WHERE status = 'open' AND expires_at <= ? ORDER BY expires_at LIMIT ?",
    )
    .bind(now.0)
    .bind(limit)
    .fetch_all(pool)
    .await
}

/// Numbers of at most `limit` payments whose late success is due.
pub async fn late_due(
    pool: &MySqlPool,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT third_trade_no FROM gw_payment WHERE late_at <= ? ORDER BY late_at LIMIT ?",
    )
    .bind(now.0)
    .bind(limit)
    .fetch_all(pool)
    .await
}
