//! The commands of staff: what they do to shows, orders and buyers, and what they look at.

use super::{
    block::{self, BlockAction},
    dead_letters::{self, DeadLetterAction},
    discrepancies::{self, DiscrepancyAction},
    order::{self, OrderAction},
    show::{self, ShowAction},
};
use crate::ticketing::Ticketing;
use clap::Subcommand;

/// What staff do.
#[derive(Debug, Subcommand)]
pub enum StaffAction {
    /// Work with a show.
    #[command(subcommand)]
    Show(ShowAction),
    /// Work with an order.
    #[command(subcommand)]
    Order(OrderAction),
    /// Say who may not buy.
    #[command(subcommand)]
    Block(BlockAction),
    /// Look at what was given up, and try it again.
    #[command(subcommand)]
    DeadLetters(DeadLetterAction),
    /// Look at money that does not agree, and end what does not end by itself.
    #[command(subcommand)]
    Discrepancies(DiscrepancyAction),
    /// Print what reconciliation has put right, and orders that were given up on the way.
    Repairs {
        /// The newest so many.
        #[arg(long, default_value_t = 50)]
        last: u32,
    },
}

/// Does it; what to print.
///
/// # Errors
/// When it is refused or a store fails.
pub async fn run(ticketing: &Ticketing, action: StaffAction) -> anyhow::Result<String> {
    match action {
        StaffAction::Show(action) => show::run(ticketing, action).await,
        StaffAction::Order(action) => order::run(ticketing, action).await,
        StaffAction::Block(action) => block::run(ticketing, action).await,
        StaffAction::DeadLetters(action) => dead_letters::run(ticketing, action).await,
        StaffAction::Discrepancies(action) => discrepancies::run(ticketing, action).await,
        StaffAction::Repairs { last } => dead_letters::repairs(ticketing, last).await,
    }
}
