//! On which terms a show is sold, and how staff may change them.

use super::{catalogue::ShowStatus, hold::SEATS_PER_ORDER_MAX, time::Timestamp};

/// On which terms a show is sold: what staff may change while it is on sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowTerms {
    /// As staff set it.
    pub status: ShowStatus,
    /// First moment of the sale.
    pub sale_start: Timestamp,
    /// First moment after the sale.
    pub sale_end: Timestamp,
    /// Most tickets of one buyer.
    pub limit: u32,
    /// Level that a buyer needs; 0 is everybody.
    pub level: u8,
}

/// A wish to change terms; what is none stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermsChange {
    /// The new state.
    pub status: Option<ShowStatus>,
    /// The new first moment of the sale.
    pub sale_start: Option<Timestamp>,
    /// The new first moment after the sale.
    pub sale_end: Option<Timestamp>,
    /// The new most tickets of one buyer.
    pub limit: Option<u32>,
    /// The new level.
    pub level: Option<u8>,
}

/// Why terms can't be changed so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TermsFault {
    /// Nothing is to be changed.
    #[error("nothing is to be changed")]
    Nothing,
    /// The sale would end before it begins, or at that very moment.
    #[error("the sale would not begin before it ends")]
    Window,
    /// A limit that no buyer could use, or that no order may have.
    #[error("the limit must be from 1 to {SEATS_PER_ORDER_MAX}")]
    Limit,
    /// A level that no account has.
    #[error("the level must be from 0 to {LEVEL_MAX}")]
    Level,
    /// Withdrawing a show ends its orders, which is not a change of terms.
    #[error("a show is withdrawn by `show withdraw`, which also ends its orders")]
    Withdrawing,
    /// The show was withdrawn: its orders are over, and it never comes back.
    #[error("the show is withdrawn for good")]
    Withdrawn,
    /// A show that was offered may have orders, which a draft can't.
    #[error("a show that was offered does not become a draft again")]
    Draft,
}

/// Highest level of an account.
pub const LEVEL_MAX: u8 = 9;

impl ShowTerms {
    /// The terms after a change.
    ///
    /// # Errors
    /// The first thing that is wrong with it; nothing is meant to change then.
    pub fn changed(self, change: &TermsChange) -> Result<Self, TermsFault> {
        if self.status == ShowStatus::Withdrawn {
            return Err(TermsFault::Withdrawn);
        }
        if change == &TermsChange::default() {
            return Err(TermsFault::Nothing);
        }
        let new = Self {
            status: change.status.unwrap_or(self.status),
            sale_start: change.sale_start.unwrap_or(self.sale_start),
            sale_end: change.sale_end.unwrap_or(self.sale_end),
            limit: change.limit.unwrap_or(self.limit),
            level: change.level.unwrap_or(self.level),
        };
        match new.status {
            ShowStatus::Withdrawn => return Err(TermsFault::Withdrawing),
            ShowStatus::Draft if self.status != ShowStatus::Draft => return Err(TermsFault::Draft),
            _ => {}
        }
        if new.sale_start >= new.sale_end {
            return Err(TermsFault::Window);
        }
        let limits = 1..=u32::try_from(SEATS_PER_ORDER_MAX).unwrap_or(u32::MAX);
        if !limits.contains(&new.limit) {
            return Err(TermsFault::Limit);
        }
        if new.level > LEVEL_MAX {
            return Err(TermsFault::Level);
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(status: ShowStatus) -> ShowTerms {
        ShowTerms {
            status,
            sale_start: Timestamp(1_000),
            sale_end: Timestamp(2_000),
            limit: 4,
            level: 0,
        }
    }

    #[test]
    fn what_is_not_named_stays_as_it_was() {
        let change = TermsChange {
            limit: Some(2),
            ..TermsChange::default()
        };
        let expected = ShowTerms {
            limit: 2,
            ..terms(ShowStatus::OnSale)
        };
        assert_eq!(terms(ShowStatus::OnSale).changed(&change), Ok(expected));
    }

    #[test]
    fn every_fault_is_named() {
        let none = TermsChange::default();
        let faults = [
            (none, TermsFault::Nothing),
            (
                TermsChange {
                    sale_start: Some(Timestamp(2_000)),
                    ..none
                },
                TermsFault::Window,
            ),
            (
                TermsChange {
                    sale_end: Some(Timestamp(1_000)),
                    ..none
                },
                TermsFault::Window,
            ),
            (
                TermsChange {
                    limit: Some(0),
                    ..none
                },
                TermsFault::Limit,
            ),
            (
                TermsChange {
                    limit: Some(21),
                    ..none
                },
                TermsFault::Limit,
            ),
            (
                TermsChange {
                    level: Some(10),
                    ..none
                },
                TermsFault::Level,
            ),
            (
                TermsChange {
                    status: Some(ShowStatus::Withdrawn),
                    ..none
                },
                TermsFault::Withdrawing,
            ),
            (
                TermsChange {
                    status: Some(ShowStatus::Draft),
                    ..none
                },
                TermsFault::Draft,
            ),
        ];
        for (change, fault) in faults {
            assert_eq!(
                terms(ShowStatus::OnSale).changed(&change),
                Err(fault),
                "{change:?}"
            );
        }
    }

    #[test]
    fn a_withdrawn_show_never_comes_back() {
        let change = TermsChange {
            status: Some(ShowStatus::OnSale),
            ..TermsChange::default()
        };
        let withdrawn = terms(ShowStatus::Withdrawn);
        assert_eq!(withdrawn.changed(&change), Err(TermsFault::Withdrawn));
    }
}
