//! Terms: what Redis lets buyers do against what the database says.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair};
use crate::ticketing::{Failure, Ticketing};
use app::domain::{ids::ShowId, show_terms::ShowTerms};

impl Ticketing {
    /// The finding that a show is sold on other terms than the database says, once whoever changed them had time to say so.
    pub(super) async fn find_terms(
        &self,
        show: ShowId,
        in_redis: &ShowTerms,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let Some(record) = self.inner.db.show_terms(show).await? else {
            return Ok(());
        };
        if record.terms == *in_redis || self.now() < record.changed_at + FOLLOW_UP_GRACE {
            return Ok(());
        }
        found.push(Finding {
            class: Class::Terms,
            show,
            order_no: None,
            detail: "is sold on other terms than the database says".to_owned(),
            repair: Repair::Terms(show),
        });
        Ok(())
    }
}
