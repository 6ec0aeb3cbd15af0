//! What a submission has led to before, for those who must know it before they try again.

use super::{Redis, RedisError, keys::ShowKey, scripts::HoldReply};
use ::redis::{cmd, pipe};
use app::domain::{
    hold::Refusal,
    ids::{OrderNo, ShowId, UserId},
};

impl Redis {
    /// The order that a submission has led to, by its idempotency key alone.
    ///
    /// # Errors
    /// As any command.
    pub async fn submitted_order(
        &self,
        show: ShowId,
        user: UserId,
        idempotency_key: &str,
    ) -> Result<Option<OrderNo>, RedisError> {
        let key = self.keys().idempotency(show, user, idempotency_key);
        let submitted: Option<String> = self.query(cmd("GET").arg(key)).await?;
        submitted.as_deref().map(order_of).transpose()
    }

    /// The order of a user's last submission for a show, while it is remembered.
    ///
    /// # Errors
    /// As any command.
    pub async fn last_submission(
        &self,
        show: ShowId,
        user: UserId,
    ) -> Result<Option<OrderNo>, RedisError> {
        let guard: Option<String> = self
            .query(cmd("GET").arg(self.keys().guard(show, user)))
            .await?;
        guard.as_deref().map(order_of).transpose()
    }

    /// What a submission has led to, by its idempotency key or, for a double click with another one, by what it asks for: its
    /// order, or the refusal of a key that another choice has. `hold` decides the same way; whoever takes something before
    /// `hold`, or does not come to it, asks here.
    ///
    /// # Errors
    /// As any command.
    pub async fn earlier_reply(
        &self,
        show: ShowId,
        user: UserId,
        idempotency_key: &str,
        fingerprint: &str,
    ) -> Result<Option<HoldReply>, RedisError> {
        let mut reads = pipe();
        reads
            .get(self.keys().idempotency(show, user, idempotency_key))
            .get(self.keys().guard(show, user));
        let (earlier, guarded): (Option<String>, Option<String>) = self.query_all(&reads).await?;
        if let Some(earlier) = earlier {
            let order_no = order_of(&earlier)?;
            return Ok(Some(if asks_for(&earlier, fingerprint) {
                HoldReply::Repeated(order_no)
            } else {
                HoldReply::Refused(Refusal::KeyUsed { order_no })
            }));
        }
        let Some(guarded) = guarded.filter(|guarded| asks_for(guarded, fingerprint)) else {
            return Ok(None);
        };
        let order_no = order_of(&guarded)?;
        let mut is_held = cmd("HEXISTS");
        is_held
            .arg(self.keys().show(show, ShowKey::Holds))
            .arg(order_no.to_string());
        let is_held: bool = self.query(&is_held).await?;
        Ok(is_held.then_some(HoldReply::Repeated(order_no)))
    }
}

/// Whether a submission, as `hold` keeps it, asked for this. What an older version wrote names no choice.
fn asks_for(submitted: &str, fingerprint: &str) -> bool {
    submitted
        .split_once('|')
        .is_none_or(|(_, what)| what == fingerprint)
}

fn order_of(submitted: &str) -> Result<OrderNo, RedisError> {
    let text = submitted.split('|').next().unwrap_or_default();
    text.parse().map_err(|_| RedisError::UnexpectedReply {
        command: "a submission",
        found: format!("{text:?} instead of an order number"),
    })
}
