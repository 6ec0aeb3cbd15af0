//! What a submission has led to before, for those who must know it before they try again.

use super::{Redis, RedisError, keys::ShowKey};
use ::redis::{cmd, pipe};
use app::domain::ids::{OrderNo, ShowId, UserId};

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
        let order_no: Option<String> = self.query(cmd("GET").arg(key)).await?;
        order_no.map(|order_no| number(&order_no)).transpose()
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
        let order_no = guard.as_deref().and_then(|guard| guard.split('|').next());
        order_no.map(number).transpose()
    }

    /// The order that a submission has led to, by its idempotency key or, for a double click with another one, by what
    /// it asks for. `hold` decides the same way; whoever takes something before `hold` asks here first.
    ///
    /// # Errors
    /// As any command.
    pub async fn earlier_order(
        &self,
        show: ShowId,
        user: UserId,
        idempotency_key: &str,
        fingerprint: &str,
    ) -> Result<Option<OrderNo>, RedisError> {
        let mut reads = pipe();
        reads
            .get(self.keys().idempotency(show, user, idempotency_key))
            .get(self.keys().guard(show, user));
        let (earlier, guarded): (Option<String>, Option<String>) = self.query_all(&reads).await?;
        if let Some(order_no) = earlier {
            return number(&order_no).map(Some);
        }
        let same = guarded.as_deref().and_then(|guarded| {
            let (order_no, what) = guarded.split_once('|')?;
            (what == fingerprint).then_some(order_no)
        });
        let Some(order_no) = same else {
            return Ok(None);
        };
        let mut is_held = cmd("HEXISTS");
        is_held
            .arg(self.keys().show(show, ShowKey::Holds))
            .arg(order_no);
        match self.query(&is_held).await? {
            true => number(order_no).map(Some),
            false => Ok(None),
        }
    }
}

fn number(text: &str) -> Result<OrderNo, RedisError> {
    text.parse().map_err(|_| RedisError::UnexpectedReply {
        command: "a submission",
        found: format!("{text:?} instead of an order number"),
    })
}
