//! What is read and noted without a script, because nothing has to be decided.

use super::{HoldRecord, Redis, RedisError, keys::ShowKey, scripts::ShowMeta};
use ::redis::{cmd, pipe};
use app::domain::{
    catalogue::ShowStatus,
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    time::Timestamp,
};
use std::{collections::HashMap, str::FromStr};

/// Shows that are asked about at once.
const SHOWS_AT_ONCE: usize = 500;

impl Redis {
    /// Notes that Kafka has acknowledged an order's message.
    ///
    /// # Errors
    /// As any command.
    pub async fn acknowledge_sent(
        &self,
        show: ShowId,
        order_no: OrderNo,
    ) -> Result<(), RedisError> {
        let key = self.keys().show(show, ShowKey::Unsent);
        self.query(cmd("ZREM").arg(key).arg(order_no.to_string()))
            .await
    }

    /// The oldest orders made before a moment whose messages are not acknowledged, with those messages, at most `max`. One
    /// whose record can't be read can't be sent by anybody: the others do not wait for it.
    ///
    /// # Errors
    /// As any command, and when a number can't be read.
    pub async fn unsent(
        &self,
        show: ShowId,
        before: Timestamp,
        max: usize,
    ) -> Result<Vec<(OrderNo, String)>, RedisError> {
        let mut unsent = Vec::new();
        for page in 0.. {
            let numbers = self.unsent_page(show, before, page * max, max).await?;
            if numbers.is_empty() {
                break;
            }
            let holds = self.keys().show(show, ShowKey::Holds);
            let records: Vec<Option<String>> =
                self.query(cmd("HMGET").arg(holds).arg(&numbers)).await?;
            for (number, record) in numbers.iter().zip(records) {
                // Without a record the order was released or confirmed between the two reads.
                let message = record.and_then(|json| message_of(show, number, &json));
                if let Some(message) = message {
                    unsent.push((parsed("unsent", number)?, message));
                }
            }
            if unsent.len() >= max || numbers.len() < max {
                break;
            }
        }
        unsent.truncate(max);
        Ok(unsent)
    }

    /// Numbers of orders that are not acknowledged, oldest first, without the first ones.
    async fn unsent_page(
        &self,
        show: ShowId,
        before: Timestamp,
        skipped: usize,
        max: usize,
    ) -> Result<Vec<String>, RedisError> {
        let mut range = cmd("ZRANGEBYSCORE");
        range
            .arg(self.keys().show(show, ShowKey::Unsent))
            .arg("-inf");
        range
            .arg(format!("({}", before.0))
            .arg("LIMIT")
            .arg(skipped)
            .arg(max);
        self.query(&range).await
    }

    /// The message of an order that Kafka has not acknowledged; none of any other order.
    ///
    /// # Errors
    /// As any command, and when the record can't be read.
    pub async fn unsent_message(
        &self,
        show: ShowId,
        order_no: OrderNo,
    ) -> Result<Option<String>, RedisError> {
        let mut score = cmd("ZSCORE");
        score.arg(self.keys().show(show, ShowKey::Unsent));
        let listed: Option<i64> = self.query(score.arg(order_no.to_string())).await?;
        if listed.is_none() {
            return Ok(None);
        }
        let record = self.hold_record(show, order_no).await?;
        Ok(record.map(|record| record.message))
    }

    /// How many orders made before a moment have messages that are not acknowledged.
    ///
    /// # Errors
    /// As any command.
    pub async fn unsent_count(&self, show: ShowId, before: Timestamp) -> Result<u64, RedisError> {
        let key = self.keys().show(show, ShowKey::Unsent);
        let before = format!("({}", before.0);
        self.query(cmd("ZCOUNT").arg(key).arg("-inf").arg(before))
            .await
    }

    /// Remaining places of each zone for each of the shows, in their order; none for a show that is not loaded.
    ///
    /// # Errors
    /// As any command.
    pub async fn remaining(
        &self,
        shows: &[ShowId],
    ) -> Result<Vec<Option<Vec<(ZoneId, u32)>>>, RedisError> {
        if shows.is_empty() {
            return Ok(Vec::new());
        }
        let mut reads = pipe();
        for &show in shows {
            reads.exists(self.keys().show(show, ShowKey::Meta));
            reads.hgetall(self.keys().show(show, ShowKey::Zones));
        }
        let replies: Vec<::redis::Value> = self.query_all(&reads).await?;
        let (pairs, _) = replies.as_chunks::<2>();
        pairs.iter().map(read_zones).collect()
    }

    /// What an order holds; none when it was released or confirmed.
    ///
    /// # Errors
    /// As any command, and when the record can't be read.
    pub async fn hold_record(
        &self,
        show: ShowId,
        order_no: OrderNo,
    ) -> Result<Option<HoldRecord>, RedisError> {
        let holds = self.keys().show(show, ShowKey::Holds);
        let json: Option<String> = self
            .query(cmd("HGET").arg(holds).arg(order_no.to_string()))
            .await?;
        json.map(|json| HoldRecord::from_json(&json)).transpose()
    }

    /// Whose each locked or sold seat is.
    ///
    /// # Errors
    /// As any command.
    pub async fn owners(&self, show: ShowId) -> Result<HashMap<SeatIndex, OrderNo>, RedisError> {
        let key = self.keys().show(show, ShowKey::Owners);
        let owners: HashMap<u32, String> = self.query(cmd("HGETALL").arg(key)).await?;
        owners
            .into_iter()
            .map(|(seat, number)| Ok((SeatIndex(seat), parsed("owners", &number)?)))
            .collect()
    }

    /// What the scripts know of a show besides its seats; none when it is not loaded.
    ///
    /// # Errors
    /// As any command.
    pub async fn show_meta(&self, show: ShowId) -> Result<Option<ShowMeta>, RedisError> {
        let key = self.keys().show(show, ShowKey::Meta);
        let fields: HashMap<String, String> = self.query(cmd("HGETALL").arg(key)).await?;
        if fields.is_empty() {
            return Ok(None);
        }
        let status: u8 = field(&fields, "status")?;
        Ok(Some(ShowMeta {
            epoch: field(&fields, "epoch")?,
            status: ShowStatus::from_code(status)
                .ok_or_else(|| unreadable("meta", format!("status {status}")))?,
            sale_start: Timestamp(field(&fields, "sale_start")?),
            sale_end: Timestamp(field(&fields, "sale_end")?),
            limit: field(&fields, "limit")?,
            level: field(&fields, "level")?,
            seats: field(&fields, "seats")?,
        }))
    }

    /// Notes that a show was loaded, for those who go through all shows.
    ///
    /// # Errors
    /// As any command.
    pub async fn note_loaded(&self, show: ShowId) -> Result<(), RedisError> {
        self.query(cmd("SADD").arg(self.keys().loaded_shows()).arg(show.0))
            .await
    }

    /// Takes a show off the list of loaded ones, once nothing of it is left.
    ///
    /// # Errors
    /// As any command.
    pub async fn note_unloaded(&self, show: ShowId) -> Result<(), RedisError> {
        self.query(cmd("SREM").arg(self.keys().loaded_shows()).arg(show.0))
            .await
    }

    /// Drops everything about a show, so that it is read from the database again. What is held and not yet written is lost.
    /// The log of quantities stays, and so do the zones' places, for it to say what was loaded over what.
    ///
    /// # Errors
    /// As any command.
    pub async fn forget_show(&self, show: ShowId) -> Result<(), RedisError> {
        let keys: Vec<String> = ShowKey::ALL
            .iter()
            .filter(|key| !matches!(key, ShowKey::Zones | ShowKey::Quantities))
            .map(|key| self.keys().show(show, *key))
            .collect();
        self.query(cmd("DEL").arg(keys)).await
    }

    /// Which orders of a show hold something.
    ///
    /// # Errors
    /// As any command, and when a number can't be read.
    pub async fn holding_orders(&self, show: ShowId) -> Result<Vec<OrderNo>, RedisError> {
        let key = self.keys().show(show, ShowKey::Holds);
        let numbers: Vec<String> = self.query(cmd("HKEYS").arg(key)).await?;
        let number = |text: &String| parsed("holding_orders", text);
        numbers.iter().map(number).collect()
    }

    /// How many orders of a show hold something or are not acknowledged by Kafka; none when it is not loaded.
    ///
    /// # Errors
    /// As any command.
    pub async fn orders_under_way(&self, show: ShowId) -> Result<u64, RedisError> {
        let mut reads = pipe();
        reads
            .hlen(self.keys().show(show, ShowKey::Holds))
            .zcard(self.keys().show(show, ShowKey::Unsent));
        let (holding, unsent): (u64, u64) = self.query_all(&reads).await?;
        Ok(holding.max(unsent))
    }

    /// Those of some shows that Redis has, in their order.
    ///
    /// # Errors
    /// As any command.
    pub async fn present_among(&self, shows: &[ShowId]) -> Result<Vec<ShowId>, RedisError> {
        let mut present = Vec::new();
        for part in shows.chunks(SHOWS_AT_ONCE) {
            let mut reads = pipe();
            for &show in part {
                reads.exists(self.keys().show(show, ShowKey::Meta));
            }
            let replies: Vec<bool> = self.query_all(&reads).await?;
            let found = part.iter().zip(replies);
            present.extend(found.filter_map(|(show, is_present)| is_present.then_some(*show)));
        }
        Ok(present)
    }

    /// The shows that were loaded, in ascending order. Some may have been lost since.
    ///
    /// # Errors
    /// As any command.
    pub async fn loaded_shows(&self) -> Result<Vec<ShowId>, RedisError> {
        let mut shows: Vec<u64> = self
            .query(cmd("SMEMBERS").arg(self.keys().loaded_shows()))
            .await?;
        shows.sort_unstable();
        Ok(shows.into_iter().map(ShowId).collect())
    }
}

/// The message in an order's record; none when it can't be read.
fn message_of(show: ShowId, number: &str, json: &str) -> Option<String> {
    match HoldRecord::from_json(json) {
        Ok(record) => Some(record.message),
        Err(error) => {
            tracing::error!(order_no = number, show_id = show.0, %error, "unreadable record of a hold");
            None
        }
    }
}

fn read_zones(
    [exists, zones]: &[::redis::Value; 2],
) -> Result<Option<Vec<(ZoneId, u32)>>, RedisError> {
    let read = |error: ::redis::ParsingError| unreadable("zones", error.to_string());
    if !::redis::from_redis_value_ref::<bool>(exists).map_err(read)? {
        return Ok(None);
    }
    let mut zones: Vec<(u64, i64)> = ::redis::from_redis_value_ref(zones).map_err(read)?;
    zones.sort_unstable();
    // A count may be below zero after a paid order took a seat whose lock was lost.
    let zones = zones
        .into_iter()
        .map(|(zone, left)| (ZoneId(zone), u32::try_from(left.max(0)).unwrap_or(u32::MAX)));
    Ok(Some(zones.collect()))
}

fn field<T: FromStr>(fields: &HashMap<String, String>, name: &str) -> Result<T, RedisError> {
    fields
        .get(name)
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| unreadable("meta", format!("no usable {name}")))
}

fn parsed<T: FromStr>(command: &'static str, text: &str) -> Result<T, RedisError> {
    text.parse()
        .map_err(|_| unreadable(command, format!("{text:?}")))
}

fn unreadable(command: &'static str, found: String) -> RedisError {
    RedisError::UnexpectedReply { command, found }
}
