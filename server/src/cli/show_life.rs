//! `seatflow show set`, `withdraw` and `withdrawal`: what happens to a show while it is on sale.

use super::order::utc;
use crate::{mysql::withdrawals::Withdrawal, ticketing::Ticketing};
use anyhow::Context;
use app::domain::{catalogue::ShowStatus, ids::ShowId, show_terms::TermsChange, time::Timestamp};
use clap::Args;

/// New terms of a show, as typed.
#[derive(Debug, Args)]
pub struct TermsArguments {
    /// draft (only before it was offered), on-sale or sold-out.
    #[arg(long, value_parser = read_status)]
    status: Option<ShowStatus>,
    /// First moment of the sale, with its zone: 2026-12-01T10:00:00+08:00.
    #[arg(long, value_parser = read_moment)]
    sale_start: Option<Timestamp>,
    /// First moment after the sale, with its zone.
    #[arg(long, value_parser = read_moment)]
    sale_end: Option<Timestamp>,
    /// Most tickets of one buyer, 1 to 20.
    #[arg(long)]
    limit: Option<u32>,
    /// Level that a buyer needs, 0 for everybody.
    #[arg(long)]
    level: Option<u8>,
}

fn read_status(word: &str) -> Result<ShowStatus, &'static str> {
    ShowStatus::from_word(word).ok_or("draft, on-sale or sold-out")
}

fn read_moment(text: &str) -> Result<Timestamp, &'static str> {
    let moment: jiff::Timestamp = text
        .parse()
        .map_err(|_| "a moment with its zone, such as 2026-12-01T10:00:00+08:00")?;
    Ok(Timestamp(moment.as_millisecond()))
}

/// Changes a show's terms; what to print.
pub(super) async fn set(
    ticketing: &Ticketing,
    show: ShowId,
    terms: TermsArguments,
) -> anyhow::Result<String> {
    let change = TermsChange {
        status: terms.status,
        sale_start: terms.sale_start,
        sale_end: terms.sale_end,
        limit: terms.limit,
        level: terms.level,
    };
    let terms = ticketing.change_show(show, &change).await?;
    Ok(format!(
        "Show {show} is {}, sold from {} until {}, at most {} tickets a buyer, from level {}.",
        terms.status.word(),
        utc(terms.sale_start),
        utc(terms.sale_end),
        terms.limit,
        terms.level
    ))
}

/// Withdraws a show and works on its orders once; what to print.
pub(super) async fn withdraw(ticketing: &Ticketing, show: ShowId) -> anyhow::Result<String> {
    ticketing.withdraw_show(show).await?;
    // Another server may be at it already, or may be the only one that reaches the gateway: either goes on.
    if let Err(error) = ticketing.work_on_withdrawals().await {
        tracing::warn!(%error, show_id = show.0, "the servers go on with the withdrawal");
    }
    withdrawal(ticketing, show).await
}

/// How far the withdrawal of a show has come; what to print.
pub(super) async fn withdrawal(ticketing: &Ticketing, show: ShowId) -> anyhow::Result<String> {
    let withdrawal = ticketing.db().withdrawal(show).await?;
    let withdrawal = withdrawal.with_context(|| format!("show {show} was not withdrawn"))?;
    Ok(progress(show, &withdrawal))
}

fn progress(show: ShowId, withdrawal: &Withdrawal) -> String {
    let Withdrawal {
        found,
        cancelled,
        refunds_requested,
        refunded,
        ..
    } = withdrawal;
    let state = match withdrawal.finished_at {
        Some(at) => format!("finished {}", utc(at)),
        None => "under way: running servers go on with it".to_owned(),
    };
    format!(
        "Show {show} was withdrawn {}.\n{found} order(s): {cancelled} cancelled, {refunds_requested} refund(s) \
         requested, {refunded} refunded; {state}.",
        utc(withdrawal.requested_at)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_without_its_zone_is_refused() {
        assert_eq!(
            read_moment("2026-12-01T10:00:00+08:00"),
            Ok(Timestamp(1_796_090_400_000))
        );
        assert!(read_moment("2026-12-01T10:00:00").is_err());
    }

    #[test]
    fn progress_says_whether_the_work_goes_on() {
        let mut withdrawal = Withdrawal {
            found: 5,
            cancelled: 2,
            refunds_requested: 3,
            refunded: 1,
            requested_at: Timestamp(1_796_090_400_000),
            closed_in_redis_at: None,
            finished_at: None,
        };
        let text = progress(ShowId(7), &withdrawal);
        assert!(
            text.contains("5 order(s): 2 cancelled, 3 refund(s) requested, 1 refunded; under way"),
            "{text}"
        );
        withdrawal.finished_at = Some(Timestamp(1_796_090_460_000));
        assert!(progress(ShowId(7), &withdrawal).contains("finished 2026-12-01T02:01:00Z"));
    }
}
