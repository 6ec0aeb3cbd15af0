//! A look at everything: which shows are compared, and what is found in them.

use super::{Class, FINDINGS_MAX, FOLLOW_UP_GRACE, Finding, Presence, Repair};
use crate::ticketing::{Failure, Ticketing};
use app::domain::{ids::ShowId, time::Millis};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Findings of one show in a look. The others are left to the next, so that a show that is all wrong leaves room for those
/// that come after it.
const OF_SHOW_MAX: usize = 1_000;
/// Findings of one show once there are [`FINDINGS_MAX`] in all: no show is left out because of those before it, for they may
/// be as wrong in the next look.
const OF_LATE_SHOW_MAX: usize = 20;
/// For how long a show that is over is looked for when the list of loaded shows lacks it: what is open in it keeps it in
/// Redis.
const UNLISTED_FOR: Millis = Millis::minutes(24 * 60);

/// A show of which something could not be compared.
#[derive(Debug)]
pub struct Unread {
    /// The show.
    pub show: ShowId,
    /// Why.
    pub error: Failure,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { show, error } = self;
        write!(f, "{:<14} show {show:<6} can't be read: {error}", "unread")
    }
}

/// What a look found.
#[derive(Debug, Default)]
pub struct Look {
    /// What is not as it should be.
    pub findings: Vec<Finding>,
    /// The shows that could not be compared, or not wholly.
    pub unread: Vec<Unread>,
}

/// Shows that are compared.
struct Shows {
    presence: BTreeMap<ShowId, Presence>,
    /// Those of them that Redis has and does not list.
    unlisted: Vec<ShowId>,
}

impl Ticketing {
    /// Everything that is not as it should be, without touching it.
    ///
    /// # Errors
    /// When a store fails, or a show can't be read.
    pub async fn find_all(&self) -> Result<Vec<Finding>, Failure> {
        let Look { findings, unread } = self.look_at_all().await?;
        match unread.into_iter().next() {
            Some(Unread { error, .. }) => Err(error),
            None => Ok(findings),
        }
    }

    /// Everything that is not as it should be as far as it can be read, without touching it. A show that can't be read
    /// keeps no other waiting.
    ///
    /// # Errors
    /// When a store fails before the first show.
    pub async fn look_at_all(&self) -> Result<Look, Failure> {
        let mut look = Look::default();
        self.find_overdue(&mut look.findings).await?;
        self.find_money(&mut look.findings).await?;
        let shows = self.shows_to_compare().await?;
        look.findings
            .extend(shows.unlisted.into_iter().map(unlisted));
        for (show, presence) in shows.presence {
            let before = look.findings.len();
            self.look_at_show(show, presence, &mut look).await;
            let most = if before < FINDINGS_MAX {
                OF_SHOW_MAX
            } else {
                OF_LATE_SHOW_MAX
            };
            let found = look.findings.len() - before;
            if found > most {
                let show_id = show.0;
                tracing::warn!(
                    show_id,
                    found,
                    most,
                    "more than one round repairs of a show"
                );
                look.findings.truncate(before + most);
            }
        }
        Ok(look)
    }

    /// Compares a show. Its standing zones lie elsewhere in Redis, so they may be read when its seats can't.
    async fn look_at_show(&self, show: ShowId, presence: Presence, look: &mut Look) {
        let found = &mut look.findings;
        let seats = self.find_in_show(show, presence, found).await;
        let zones = self.find_in_standing_zones(show, presence, found).await;
        if let Err(error) = seats.and(zones) {
            tracing::error!(show_id = show.0, %error, cause = ?error, "show not compared");
            metrics::counter!("seatflow_shows_unread_total").increment(1);
            look.unread.push(Unread { show, error });
        }
    }

    async fn find_overdue(&self, found: &mut Vec<Finding>) -> Result<(), Failure> {
        let before = self.now() - FOLLOW_UP_GRACE;
        for (order_no, show) in self.inner.db.overdue_with_show(before, 1_000).await? {
            found.push(Finding {
                class: Class::OverdueOrder,
                show,
                order_no: Some(order_no),
                detail: "is pending past its deadline".to_owned(),
                repair: Repair::Expire(order_no),
            });
        }
        Ok(())
    }

    /// Shows that Redis has, and those that have claims and are not over.
    async fn shows_to_compare(&self) -> Result<Shows, Failure> {
        let mut loaded = self.inner.redis.loaded_shows().await?;
        let unlisted = self.unlisted_shows(&loaded).await.unwrap_or_else(|error| {
            // A part of Redis that is away keeps nobody from the shows of the others.
            tracing::warn!(%error, cause = ?error, "shows that are not listed were not looked for");
            Vec::new()
        });
        loaded.extend(&unlisted);
        let (db, before) = (&self.inner.db, self.over_before());
        let claimed = db.claimed_shows(before).await?;
        let over = db.over_shows(&loaded, before).await?;
        let all = loaded.into_iter().chain(claimed);
        let mut presence: BTreeMap<ShowId, Presence> =
            all.map(|show| (show, Presence::Needed)).collect();
        presence.extend(over.into_iter().map(|over| (over.show, Presence::Over)));
        Ok(Shows { presence, unlisted })
    }

    /// Shows that Redis has, and that its list of loaded shows lacks. The list lies elsewhere than they do, so a part of
    /// Redis may lose it alone; then nobody who goes through all loaded shows comes by them.
    async fn unlisted_shows(&self, listed: &[ShowId]) -> Result<Vec<ShowId>, Failure> {
        let listed: BTreeSet<ShowId> = listed.iter().copied().collect();
        let since = self.over_before() - UNLISTED_FOR;
        let mut shows = self.inner.db.shows_once_loaded(since).await?;
        shows.retain(|show| !listed.contains(show));
        let mut shows = self.inner.redis.present_among(&shows).await?;
        if !shows.is_empty() {
            // A show that was being loaded is listed before it is there.
            let listed = self.inner.redis.loaded_shows().await?;
            shows.retain(|show| !listed.contains(show));
        }
        Ok(shows)
    }

    /// Puts a show that Redis has on its list of loaded shows. False when Redis does not have it any more.
    pub(super) async fn list_again(&self, show: ShowId) -> Result<bool, Failure> {
        let redis = &self.inner.redis;
        let is_present = !redis.present_among(&[show]).await?.is_empty();
        if is_present {
            redis.note_loaded(show).await?;
        }
        Ok(is_present)
    }
}

fn unlisted(show: ShowId) -> Finding {
    Finding {
        class: Class::SeatLost,
        show,
        order_no: None,
        detail: "is loaded and not listed".to_owned(),
        repair: Repair::List(show),
    }
}
