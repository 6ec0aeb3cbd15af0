//! Under which numbers the gateway knows a refund.
//!
//! A gateway that accepted a refund and then failed it will not carry it out under that number any more, so the next try
//! has another one. Our refund stays one: `…-1-r1`, and at the gateway `…-1-r1`, `…-1-r1-2`, `…-1-r1-3`.

use std::fmt;

/// A try of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SentAs<'a> {
    /// Our number of the refund.
    pub refund_no: &'a str,
    /// 1 for the first try.
    pub attempt: u32,
}

impl fmt::Display for SentAs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attempt {
            0 | 1 => f.write_str(self.refund_no),
            attempt => write!(f, "{}-{attempt}", self.refund_no),
        }
    }
}

impl<'a> SentAs<'a> {
    /// Reads a number of the gateway's; one that is not like ours is a refund's own.
    pub fn read(number: &'a str) -> Self {
        let own = Self {
            refund_no: number,
            attempt: 1,
        };
        let Some((before, attempt)) = number.rsplit_once('-') else {
            return own;
        };
        let is_refund = before
            .rsplit_once("-r")
            .is_some_and(|(_, count)| count.parse::<u32>().is_ok());
        match attempt.parse() {
            Ok(attempt) if is_refund => Self {
                refund_no: before,
                attempt,
            },
            _ => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_try_has_a_number_of_its_own_that_leads_back_to_the_refund() {
        let refund_no = "1045239877100482913-1-r1";
        for (attempt, number) in [
            (1, "1045239877100482913-1-r1"),
            (2, "1045239877100482913-1-r1-2"),
            (13, "1045239877100482913-1-r1-13"),
        ] {
            let sent = SentAs { refund_no, attempt };
            assert_eq!(sent.to_string(), number);
            assert_eq!(SentAs::read(number), sent);
        }
    }

    #[test]
    fn a_number_that_is_not_ours_is_read_as_it_is() {
        for number in ["R-1", "", "1045239877100482913-2", "a-rb-2", "1-1-r1-x"] {
            let own = SentAs {
                refund_no: number,
                attempt: 1,
            };
            assert_eq!(SentAs::read(number), own);
        }
    }
}
