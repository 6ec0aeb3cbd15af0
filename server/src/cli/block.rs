//! `seatflow block`: accounts, phones, devices and addresses that may not buy.

use super::order::utc;
use crate::{
    mysql::block_list::BlockKind,
    ticketing::{Ticketing, block_list::NewBlock},
};
use clap::Subcommand;
use std::fmt::Write;

/// What to do to the block list.
#[derive(Debug, Subcommand)]
pub enum BlockAction {
    /// Enter somebody, or replace the entry; servers follow within three seconds.
    Add {
        /// user, phone, device or ip.
        #[arg(value_parser = kind)]
        kind: BlockKind,
        /// The account's number, the phone number, the device's name or the address.
        value: String,
        /// Why, for those who look at the list later.
        #[arg(long)]
        reason: String,
        /// For how many days; for good when left out.
        #[arg(long)]
        days: Option<u32>,
    },
    /// Remove an entry.
    Remove {
        /// user, phone, device or ip.
        #[arg(value_parser = kind)]
        kind: BlockKind,
        /// As it was entered, or as `list` prints it.
        value: String,
    },
    /// Print the entries that hold. A phone is printed as the keyed hash by which orders count it.
    List,
}

fn kind(word: &str) -> Result<BlockKind, &'static str> {
    BlockKind::from_word(word).ok_or("user, phone, device or ip")
}

/// Does it; what to print.
///
/// # Errors
/// When it is refused or the database fails.
pub async fn run(ticketing: &Ticketing, action: BlockAction) -> anyhow::Result<String> {
    match action {
        BlockAction::Add {
            kind,
            value,
            reason,
            days,
        } => {
            let by = std::env::var("USER").unwrap_or_else(|_| "command line".to_owned());
            let new = NewBlock {
                kind,
                value: &value,
                reason: &reason,
                days,
                by: &by,
            };
            let entry = ticketing.add_block(&new).await?;
            let until = entry.until.map_or_else(
                || "for good".to_owned(),
                |until| format!("until {}", utc(until)),
            );
            let kind = entry.kind.word();
            Ok(format!("{kind} {} may not buy, {until}.", entry.value))
        }
        BlockAction::Remove { kind, value } => {
            let removed = ticketing.remove_block(kind, &value).await?;
            let kind = kind.word();
            Ok(if removed {
                format!("{kind} {value} may buy again.")
            } else {
                format!("{kind} {value} was not in the list.")
            })
        }
        BlockAction::List => list(ticketing).await,
    }
}

async fn list(ticketing: &Ticketing) -> anyhow::Result<String> {
    let entries = ticketing.blocks().await?;
    let mut text = String::new();
    for entry in &entries {
        let until = entry.until.map_or_else(|| "for good".to_owned(), utc);
        writeln!(
            text,
            "{:<7}{:<40}{:<22}by {} at {}: {}",
            entry.kind.word(),
            entry.value,
            until,
            entry.created_by,
            utc(entry.created_at),
            entry.reason
        )?;
    }
    write!(text, "{} entries.", entries.len())?;
    Ok(text)
}
