//! What gateways say about refunds, recorded with everything that it changes.

use super::{
    callbacks::{Told, note_callback},
    ledger::note_disagreement,
    notices::lock_order,
    refund_ends::end_refund,
    refund_number::SentAs,
    refunds::{RefundFault, RefundRecord, not_done, refund_in, send_again},
};
use crate::mysql::{Db, DbError, outbox::OutboxRow};
use app::domain::{money::Money, order::RefundProgress, time::Timestamp};
use sqlx::MySqlConnection;

/// What a gateway says about a refund, once its signature was checked.
#[derive(Debug, Clone)]
pub struct RefundNotice {
    /// Name of the channel that says it.
    pub channel: String,
    /// Names the notice.
    pub callback_id: String,
    /// The number under which the gateway knows it.
    pub number: String,
    /// Our number of the payment.
    pub out_trade_no: String,
    /// Whether the money is back; otherwise it won't be under this number.
    pub is_back: bool,
    /// The amount that the gateway speaks of.
    pub amount: Money,
    /// The notice as it came.
    pub raw_body: String,
}

/// What became of a notice about a refund.
#[derive(Debug, Clone)]
pub struct RecordedRefund {
    /// The word kept with the notice.
    pub result: &'static str,
    /// What must happen outside, once the commit is seen.
    pub follow_up: Vec<OutboxRow>,
}

impl Db {
    /// Records a notice about a refund and everything it changes, in one transaction. None when there is no such refund of
    /// a payment through the channel.
    ///
    /// # Errors
    /// When the database fails; then the notice counts as not received.
    pub async fn record_refund_notice(
        &self,
        notice: &RefundNotice,
        now: Timestamp,
    ) -> Result<Option<RecordedRefund>, DbError> {
        let known = self.refund(&notice.number).await?;
        let Some(known) = known.filter(|known| {
            known.channel == notice.channel && known.out_trade_no == notice.out_trade_no
        }) else {
            return Ok(None);
        };
        self.transact((notice, known, now), |(notice, known, now), tx| {
            Box::pin(async move {
                lock_order(tx, known.order_no).await?;
                let refund = refund_in(tx, &known.refund_no).await?;
                let refund = refund.ok_or(DbError::Unreadable { what: "refund" })?;
                let mut follow_up = Vec::new();
                let result = apply(tx, notice, &refund, *now, &mut follow_up).await?;
                let told = Told {
                    channel: &notice.channel,
                    callback_id: &notice.callback_id,
                    out_trade_no: &notice.out_trade_no,
                    raw_body: &notice.raw_body,
                    result,
                    has_moved: matches!(result, "refund_applied" | "refund_failed"),
                };
                note_callback(tx, &told, *now).await?;
                Ok::<_, DbError>(RecordedRefund { result, follow_up })
            })
        })
        .await
        .map(Some)
    }
}

async fn apply(
    tx: &mut MySqlConnection,
    notice: &RefundNotice,
    refund: &RefundRecord,
    now: Timestamp,
    follow_up: &mut Vec<OutboxRow>,
) -> Result<&'static str, DbError> {
    if notice.amount != refund.amount {
        let detail = format!("notice says {}, asked for {}", notice.amount, refund.amount);
        let about = (refund.refund_no.as_str(), refund.order_no);
        note_disagreement(tx, "wrong_refund_amount", about, &detail, now).await?;
        return Ok("refund_wrong_amount");
    }
    if refund.status == RefundProgress::Succeeded {
        return Ok("refund_repeated");
    }
    if notice.is_back {
        follow_up.extend(end_refund(tx, refund, now).await?);
        return Ok("refund_applied");
    }
    let sent = SentAs::read(&notice.number);
    let reason = "the gateway could not give the money back";
    if !not_done(tx, sent, RefundFault::Failed, reason, now).await? {
        return Ok("refund_repeated");
    }
    // Not among what is done at once: a gateway that has just failed gets a pause.
    send_again(tx, refund, now).await?;
    Ok("refund_failed")
}
