//! `seatflow order`: what staff do to an order.

use super::order_show;
use crate::ticketing::Ticketing;
use app::domain::{
    ids::OrderNo,
    refund::TicketChoice,
    time::{Millis, Timestamp},
};
use clap::Subcommand;

/// What to do to an order.
#[derive(Debug, Subcommand)]
pub enum OrderAction {
    /// Give a pending order more time to be paid.
    Extend {
        /// The order's number.
        order_no: OrderNo,
        /// By how many minutes, 1 to 60.
        minutes: u32,
    },
    /// End an order that is not paid; its tickets go back on sale.
    Cancel {
        /// The order's number.
        order_no: OrderNo,
    },
    /// Give the money of a paid order back, or of some of its tickets. Nothing is kept unless a fee is given.
    Refund {
        /// The order's number.
        order_no: OrderNo,
        /// Numbers of tickets, as `order show` names them: 0,1. Every ticket that is left when missing.
        #[arg(long, value_delimiter = ',')]
        items: Option<Vec<u32>>,
        /// Why, for whoever reads it later.
        #[arg(long)]
        reason: String,
        /// What is kept of each price, in percent.
        #[arg(long, default_value_t = 0)]
        fee_percent: u8,
    },
    /// Print an order's tickets with their numbers, and its refunds.
    Show {
        /// The order's number.
        order_no: OrderNo,
    },
}

/// Does it; what to print.
///
/// # Errors
/// When it is refused or a store fails.
pub async fn run(ticketing: &Ticketing, action: OrderAction) -> anyhow::Result<String> {
    match action {
        OrderAction::Extend { order_no, minutes } => {
            let by = Millis::minutes(i64::from(minutes));
            let due_at = ticketing.extend_order(order_no, by).await?;
            Ok(format!(
                "Order {order_no} can be paid until {}.",
                utc(due_at)
            ))
        }
        OrderAction::Cancel { order_no } => {
            ticketing.cancel_by_staff(order_no).await?;
            Ok(format!("Order {order_no} is cancelled."))
        }
        OrderAction::Refund {
            order_no,
            items,
            reason,
            fee_percent,
        } => {
            let tickets = items.map_or(TicketChoice::All, TicketChoice::Items);
            let refund = ticketing.refund_by_staff(order_no, tickets, &reason, fee_percent);
            Ok(order_show::refund_line(&refund.await?))
        }
        OrderAction::Show { order_no } => order_show::show(ticketing, order_no).await,
    }
}

/// A moment for staff who may sit anywhere: in UTC, with the zone.
pub(super) fn utc(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| at.0.to_string(), |at| format!("{at:.0}"))
}
