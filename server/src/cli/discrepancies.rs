//! `seatflow discrepancies`: money that does not agree, for a person to look at and to end.

use super::order::utc;
use crate::ticketing::Ticketing;
use app::domain::time::Timestamp;
use clap::Subcommand;
use std::fmt::Write;

/// What to do about discrepancies.
#[derive(Debug, Subcommand)]
pub enum DiscrepancyAction {
    /// Print the open ones with their numbers.
    List {
        /// Those that have ended, too.
        #[arg(long)]
        all: bool,
        /// The newest so many.
        #[arg(long, default_value_t = 50)]
        last: u32,
    },
    /// End one that does not end by itself.
    Resolve {
        /// Its number, as `list` prints it.
        id: u64,
        /// What was found and done about it, for whoever reads it later.
        #[arg(long)]
        note: String,
    },
}

/// Does it; what to print.
///
/// # Errors
/// When it is refused or the database fails.
pub async fn run(ticketing: &Ticketing, action: DiscrepancyAction) -> anyhow::Result<String> {
    match action {
        DiscrepancyAction::List { all, last } => list(ticketing, all, last).await,
        DiscrepancyAction::Resolve { id, note } => {
            let by = std::env::var("USER").unwrap_or_else(|_| "command line".to_owned());
            ticketing.end_discrepancy(id, &by, &note).await?;
            Ok(format!("Discrepancy {id} is ended."))
        }
    }
}

async fn list(ticketing: &Ticketing, all: bool, last: u32) -> anyhow::Result<String> {
    let found = ticketing.discrepancies(all, last).await?;
    let mut text = String::new();
    for one in &found {
        let state = one.resolved_at.map_or_else(
            || "open".to_owned(),
            |at| format!("ended {}", utc(Timestamp(at))),
        );
        let hand = match (&one.ended_by, &one.note) {
            (Some(by), Some(note)) => format!(" by {by}: {note}"),
            _ => String::new(),
        };
        writeln!(
            text,
            "{:<6} {} {:<20} {} order {}: {} ({state}{hand})",
            one.id,
            utc(Timestamp(one.opened_at)),
            one.kind,
            one.reference,
            one.order_no,
            one.detail
        )?;
    }
    write!(text, "{} discrepancies.", found.len())?;
    Ok(text)
}
