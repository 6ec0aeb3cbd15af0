//! Changing on which terms a show is sold, while it is sold: the database decides, Redis follows.
//!
//! **Architecture Invariant:** whoever writes terms to Redis reads the database again afterwards, and writes once more if
//! they were changed meanwhile. So the last change wins in Redis too, in whatever order the writes arrive; a server that
//! dies in between leaves a difference that reconciliation finds.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    mysql::{DbError, show_terms::TermsRecord},
    redis::scripts::SetTermsReply,
};
use app::domain::{
    ids::ShowId,
    show_terms::{ShowTerms, TermsChange, TermsFault},
};

/// How often terms that are changed by several people at once are followed before reconciliation has to.
const FOLLOW_MAX: u32 = 100;

/// Why a show was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ShowChangeError {
    /// There is no such show.
    #[error("there is no such show")]
    NotFound,
    /// The change makes no sense.
    #[error(transparent)]
    Terms(#[from] TermsFault),
    /// Somebody else changed the show at the same moment.
    #[error("somebody else has just changed this show: look at it and try again")]
    Overtaken,
    /// A store failed. The database may have changed; Redis follows by reconciliation.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<DbError> for ShowChangeError {
    fn from(error: DbError) -> Self {
        Self::Failure(error.into())
    }
}

impl Ticketing {
    /// Changes a show's terms; buyers are refused or let in by them at once, and pages show them within 3 s.
    ///
    /// # Errors
    /// Names what is wrong with the change; nothing has changed then, unless a store failed.
    pub async fn change_show(
        &self,
        show: ShowId,
        change: &TermsChange,
    ) -> Result<ShowTerms, ShowChangeError> {
        let seen = self.inner.db.show_terms(show).await?;
        let seen = seen.ok_or(ShowChangeError::NotFound)?;
        let terms = seen.terms.changed(change)?;
        let now = self.now();
        if !self.inner.db.change_terms(show, &seen, &terms, now).await? {
            return Err(ShowChangeError::Overtaken);
        }
        tracing::info!(show_id = show.0, ?terms, "show changed");
        fault::point(Point::TermsAfterRow);
        self.follow_terms(show).await?;
        Ok(terms)
    }

    /// Writes a show's terms to Redis as the database has them. A show that is not loaded gets them when it is.
    ///
    /// # Errors
    /// When a store fails, or when the terms change faster than they can be written.
    pub(super) async fn follow_terms(&self, show: ShowId) -> Result<(), Failure> {
        self.inner.show_facts.forget(show).await;
        let mut terms = self.terms(show).await?.terms;
        for _ in 0..FOLLOW_MAX {
            if self.inner.redis.set_terms(show, &terms).await? == SetTermsReply::Rebuild {
                return Ok(());
            }
            fault::point(Point::TermsAfterRedis);
            let now = self.terms(show).await?.terms;
            if now == terms {
                return Ok(());
            }
            terms = now;
        }
        Err(Failure::Broken("the show's terms change all the time"))
    }

    pub(super) async fn terms(&self, show: ShowId) -> Result<TermsRecord, Failure> {
        let terms = self.inner.db.show_terms(show).await?;
        terms.ok_or(Failure::Broken("no such show"))
    }
}
