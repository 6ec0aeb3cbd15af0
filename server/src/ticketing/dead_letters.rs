//! What was given up, for a person to look at and to try again: rows of the outbox, and messages in dead-letter topics.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::{
        Topic,
        dead_letters_read::{DeadLetter, LetterPlace, Wanted, read_dead_letters, send_back},
    },
    kafka_config,
    mysql::dead_letters::DeadRow,
};
use app::domain::time::Timestamp;
use std::collections::HashMap;

/// Rows or letters that one call lists or tries again.
pub const LETTERS_MAX: u32 = 500;

/// A dead letter, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The letter.
    pub letter: DeadLetter,
    /// When it was sent back, if it was.
    pub retried_at: Option<Timestamp>,
}

impl Ticketing {
    /// Rows of the outbox that failed too often, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dead_rows(&self) -> Result<Vec<DeadRow>, Failure> {
        Ok(self.inner.db.dead_outbox(LETTERS_MAX).await?)
    }

    /// Makes rows that were given up due again; the servers work on them within seconds. How many there were.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retry_dead_rows(&self, most: u32) -> Result<u64, Failure> {
        let most = most.min(LETTERS_MAX);
        Ok(self.inner.db.revive_outbox(most, self.now()).await?)
    }

    /// The newest dead letters of a topic, oldest first.
    ///
    /// # Errors
    /// When Kafka or the database fails.
    pub async fn letters(&self, topic: Topic, most: u32) -> Result<Vec<Letter>, Failure> {
        let retried = self.retried_letters(topic).await?;
        let letters = self.read_letters(topic, Wanted::Newest, most).await?;
        Ok(letters
            .into_iter()
            .map(|letter| Letter {
                retried_at: retried.get(&letter.place).copied(),
                letter,
            })
            .collect())
    }

    /// Sends dead letters that were not sent back yet to the topic they came from, oldest first; how many.
    ///
    /// Each is noted once it is acknowledged. After a crash between the two it is sent again, and its handler finds its work
    /// done.
    ///
    /// # Errors
    /// When Kafka or the database fails; what was sent back stays sent.
    pub async fn retry_letters(&self, topic: Topic, most: u32) -> Result<u64, Failure> {
        let retried = self.retried_letters(topic).await?;
        let waiting = Wanted::OldestBut(retried.into_keys().collect());
        let mut sent = 0;
        for letter in self.read_letters(topic, waiting, most).await? {
            send_back(&self.inner.producer, &letter).await?;
            fault::point(Point::LetterAfterSend);
            self.inner
                .db
                .note_retried(&letter.place, self.now())
                .await?;
            metrics::counter!("seatflow_dead_letters_retried_total", "topic" => topic.name())
                .increment(1);
            sent += 1;
        }
        Ok(sent)
    }

    async fn retried_letters(
        &self,
        topic: Topic,
    ) -> Result<HashMap<LetterPlace, Timestamp>, Failure> {
        let name = kafka_config(&self.inner.config).dead_letter_topic(topic);
        Ok(self.inner.db.retried_letters(&name).await?)
    }

    async fn read_letters(
        &self,
        topic: Topic,
        wanted: Wanted,
        most: u32,
    ) -> Result<Vec<DeadLetter>, Failure> {
        let config = kafka_config(&self.inner.config);
        let most = usize::try_from(most.min(LETTERS_MAX)).unwrap_or(usize::MAX);
        let letters = read_dead_letters(&config, topic, wanted, most).await;
        letters.map_err(|error| {
            tracing::warn!(topic = topic.name(), %error, "dead letters not read");
            Failure::Broken("the dead letters can't be read from Kafka")
        })
    }
}
