//! `seatflow show refunds`: on which terms a show takes tickets back.

use crate::ticketing::Ticketing;
use anyhow::Context;
use app::domain::{ids::ShowId, refund::RefundPolicy, time::Millis};
use clap::Args;

/// New terms, as typed.
#[derive(Debug, Args)]
pub struct RefundArguments {
    /// Until so many hours before the show begins.
    #[arg(long, conflicts_with = "never")]
    hours_before: Option<u32>,
    /// The show takes nothing back.
    #[arg(long)]
    never: bool,
    /// What is kept of each price, in percent.
    #[arg(long)]
    fee_percent: Option<u8>,
}

/// Changes the terms; what to print.
pub(super) async fn set(
    ticketing: &Ticketing,
    show: ShowId,
    wanted: RefundArguments,
) -> anyhow::Result<String> {
    let now = ticketing.refund_policy(show).await?;
    let now = now.with_context(|| format!("there is no show {show}"))?;
    let hours = wanted
        .hours_before
        .map(|hours| Millis::minutes(60 * i64::from(hours)));
    let policy = RefundPolicy {
        until: if wanted.never {
            None
        } else {
            hours.or(now.until)
        },
        fee_percent: wanted.fee_percent.unwrap_or(now.fee_percent),
    };
    ticketing.set_refund_policy(show, policy).await?;
    Ok(match policy.until {
        None => format!("Show {show} takes no tickets back from customers."),
        Some(until) => format!(
            "Show {show} takes tickets back until {} hour(s) before it begins, and keeps {} % of their price.",
            until.0 / 3_600_000,
            policy.fee_percent
        ),
    })
}
