//! `seatflow reconcile` and `seatflow rebuild`: bringing stores together that have come apart.

use crate::ticketing::{Failure, Ticketing, reconcile::Look};
use std::fmt::Write;

/// What a round would do, a line each; nothing is touched.
///
/// # Errors
/// When a store does not answer.
pub async fn plan(ticketing: &Ticketing) -> Result<String, Failure> {
    let mut text = String::new();
    let Look { findings, unread } = ticketing.look_at_all().await?;
    for finding in &findings {
        let _ = writeln!(text, "{finding}; would {}", finding.remedy());
    }
    for unread in &unread {
        let _ = writeln!(text, "{unread}");
    }
    let asked = ticketing.payments_to_ask().await?;
    for out_trade_no in &asked {
        let _ = writeln!(
            text,
            "would ask the gateway about payment {out_trade_no}, which is over"
        );
    }
    for over in ticketing.over_shows().await? {
        let _ = writeln!(text, "{over}");
    }
    let _ = write!(text, "{} finding(s); nothing was touched.", findings.len());
    Ok(text)
}

/// Does a round, and says what was found, a line each. None when another server is at it.
///
/// # Errors
/// When a store does not answer; what was repaired stays repaired.
pub async fn reconcile(ticketing: &Ticketing) -> Result<Option<String>, Failure> {
    let Some(round) = ticketing.reconcile().await? else {
        return Ok(None);
    };
    let mut text = String::new();
    for finding in &round.findings {
        let _ = writeln!(text, "{finding}");
    }
    for unread in &round.unread {
        let _ = writeln!(text, "{unread}");
    }
    for over in &round.over {
        let _ = writeln!(text, "{over}");
    }
    let (found, repaired) = (round.findings.len(), round.repaired);
    let _ = write!(text, "{found} finding(s), {repaired} repaired.");
    Ok(Some(text))
}
