//! `seatflow dead-letters` and `seatflow repairs`: what was given up, and what was put right, for a person to look at.

use super::order::utc;
use crate::{kafka::Topic, ticketing::Ticketing};
use clap::Subcommand;
use std::fmt::Write;

/// Characters of a payload that are printed.
const PAYLOAD_CHARS_MAX: usize = 300;

/// Where dead letters lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Rows of the outbox.
    Outbox,
    /// The dead-letter topic of a topic.
    Topic(Topic),
}

impl Source {
    fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Outbox).chain(Topic::ALL.into_iter().map(Self::Topic))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::Topic(topic) => topic.name(),
        }
    }

    fn from_word(word: &str) -> Result<Self, String> {
        Self::all()
            .find(|source| source.word() == word)
            .ok_or_else(|| {
                let words: Vec<&str> = Self::all().map(Self::word).collect();
                format!("one of {}", words.join(", "))
            })
    }
}

/// What to do with dead letters.
#[derive(Debug, Subcommand)]
pub enum DeadLetterAction {
    /// Print them with their reasons.
    List {
        /// outbox, or the topic whose messages they were; all when left out.
        #[arg(long, value_parser = Source::from_word)]
        topic: Option<Source>,
        /// The newest so many of each.
        #[arg(long, default_value_t = 50)]
        last: u32,
    },
    /// Try them again: rows of the outbox become due, messages go back to their topic and are marked.
    Retry {
        /// outbox, or the topic whose messages they were; all when left out.
        #[arg(long, value_parser = Source::from_word)]
        topic: Option<Source>,
        /// At most so many of each, the oldest first.
        #[arg(long, default_value_t = 100)]
        most: u32,
    },
}

/// Does it; what to print.
///
/// # Errors
/// When a store or Kafka fails.
pub async fn run(ticketing: &Ticketing, action: DeadLetterAction) -> anyhow::Result<String> {
    let chosen = |topic: Option<Source>| {
        Source::all().filter(move |source| topic.is_none_or(|topic| topic == *source))
    };
    let mut text = String::new();
    match action {
        DeadLetterAction::List { topic, last } => {
            for source in chosen(topic) {
                list(ticketing, source, last, &mut text).await?;
            }
        }
        DeadLetterAction::Retry { topic, most } => {
            for source in chosen(topic) {
                let count = match source {
                    Source::Outbox => ticketing.retry_dead_rows(most).await?,
                    Source::Topic(topic) => ticketing.retry_letters(topic, most).await?,
                };
                writeln!(text, "{}: {count} tried again", source.word())?;
            }
        }
    }
    Ok(text.trim_end().to_owned())
}

async fn list(
    ticketing: &Ticketing,
    source: Source,
    last: u32,
    text: &mut String,
) -> anyhow::Result<()> {
    match source {
        Source::Outbox => list_rows(ticketing, last, text).await,
        Source::Topic(topic) => list_letters(ticketing, topic, last, text).await,
    }
}

async fn list_rows(ticketing: &Ticketing, last: u32, text: &mut String) -> anyhow::Result<()> {
    let rows = ticketing.dead_rows().await?;
    writeln!(text, "outbox: {} given up", rows.len())?;
    let skipped = rows.len().saturating_sub(usize::try_from(last)?);
    for row in rows.into_iter().skip(skipped) {
        writeln!(
            text,
            "  {} row {} {} order {} {} after {} tries: {}",
            utc(row.dead_at),
            row.id,
            row.kind,
            row.order_no,
            row.payload,
            row.attempts,
            row.last_error
        )?;
    }
    Ok(())
}

async fn list_letters(
    ticketing: &Ticketing,
    topic: Topic,
    last: u32,
    text: &mut String,
) -> anyhow::Result<()> {
    let letters = ticketing.letters(topic, last).await?;
    writeln!(text, "{}: {} dead letter(s)", topic.name(), letters.len())?;
    for letter in letters {
        let (buried, payload) = (letter.letter.buried_at, &letter.letter.payload);
        let payload: String = String::from_utf8_lossy(payload)
            .chars()
            .take(PAYLOAD_CHARS_MAX)
            .collect();
        let retried = letter
            .retried_at
            .map_or_else(String::new, |at| format!(", sent back {}", utc(at)));
        writeln!(
            text,
            "  {} at {} from {} by {}{retried}: {}\n    key {} {payload}",
            buried.map_or_else(|| "some time".to_owned(), utc),
            letter.letter.place.offset,
            letter.letter.source,
            letter.letter.group,
            letter.letter.reason,
            String::from_utf8_lossy(&letter.letter.key),
        )?;
    }
    Ok(())
}

/// The newest repairs and orders that were given up on the way, oldest first.
///
/// # Errors
/// When the database fails.
pub async fn repairs(ticketing: &Ticketing, last: u32) -> anyhow::Result<String> {
    let repairs = ticketing.db().repairs(last).await?;
    let mut text = String::new();
    for repair in &repairs {
        let order = repair
            .order_no
            .map_or_else(String::new, |order_no| format!(" order {order_no}"));
        writeln!(
            text,
            "{} {:<14} show {:<6}{order} {}",
            utc(repair.noted_at),
            repair.class,
            repair.show,
            repair.detail
        )?;
    }
    write!(text, "{} repair(s).", repairs.len())?;
    Ok(text)
}
