//! `seatflow show`: what staff do to a show.

use super::{
    show_life::{self, TermsArguments},
    show_refunds::{self, RefundArguments},
};
use crate::ticketing::Ticketing;
use app::domain::ids::{SeatIndex, ShowId, ZoneId};
use clap::Subcommand;

/// What to do to a show.
#[derive(Debug, Subcommand)]
pub enum ShowAction {
    /// Withhold seats from the sale, all or none; seats that are locked or sold are named and nothing changes.
    Block {
        /// The show's number.
        show: ShowId,
        /// Seats: numbers of the plan (17), ranges of them (17-24), or labels (C/12, Stalls/C/12).
        #[arg(required = true)]
        seats: Vec<String>,
    },
    /// Offer withheld seats again.
    Unblock {
        /// The show's number.
        show: ShowId,
        /// Seats, as for `block`.
        #[arg(required = true)]
        seats: Vec<String>,
    },
    /// Change on which terms a show is sold; what is not named stays. Buyers are let in or refused by them at once.
    Set {
        /// The show's number.
        show: ShowId,
        #[command(flatten)]
        terms: TermsArguments,
    },
    /// Set how many places a standing zone has, sold and held ones included; fewer than those are refused with the numbers.
    Capacity {
        /// The zone's number.
        zone: ZoneId,
        /// Places in all.
        places: u32,
    },
    /// Change on which terms a show takes tickets back from customers; what is not named stays.
    Refunds {
        /// The show's number.
        show: ShowId,
        #[command(flatten)]
        policy: RefundArguments,
    },
    /// Withdraw a show for good: nothing of it is sold any more, its orders are cancelled, and what was paid goes back.
    Withdraw {
        /// The show's number.
        show: ShowId,
    },
    /// Print how far the withdrawal of a show has come.
    Withdrawal {
        /// The show's number.
        show: ShowId,
    },
}

/// Does it; what to print.
///
/// # Errors
/// When it is refused or a store fails.
pub async fn run(ticketing: &Ticketing, action: ShowAction) -> anyhow::Result<String> {
    match action {
        ShowAction::Block { show, seats } => {
            let seats = ticketing.named_seats(show, &seats).await?;
            let changed = ticketing.block_seats(show, &seats).await?;
            Ok(changes("withheld", &seats, &changed))
        }
        ShowAction::Unblock { show, seats } => {
            let seats = ticketing.named_seats(show, &seats).await?;
            let changed = ticketing.unblock_seats(show, &seats).await?;
            Ok(changes("offered again", &seats, &changed))
        }
        ShowAction::Set { show, terms } => show_life::set(ticketing, show, terms).await,
        ShowAction::Capacity { zone, places } => {
            ticketing.set_standing_capacity(zone, places).await?;
            Ok(format!("Zone {zone} has {places} places."))
        }
        ShowAction::Refunds { show, policy } => show_refunds::set(ticketing, show, policy).await,
        ShowAction::Withdraw { show } => show_life::withdraw(ticketing, show).await,
        ShowAction::Withdrawal { show } => show_life::withdrawal(ticketing, show).await,
    }
}

fn changes(what: &str, seats: &[SeatIndex], changed: &[SeatIndex]) -> String {
    let before = seats.len() - changed.len();
    if before == 0 {
        return format!("{} seat(s) {what}.", changed.len());
    }
    format!(
        "{} seat(s) {what}; for {before} nothing had to change.",
        changed.len()
    )
}
