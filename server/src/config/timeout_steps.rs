//! In how many steps an order's deadline is waited for.

use app::domain::time::{Millis, Timestamp};
use std::str::FromStr;

/// Most steps.
const STEPS_MAX: usize = 20;
/// Longest step: a day, as the longest time for which seats are held.
const STEP_MS_MAX: i64 = 86_400_000;

/// The lengths of time after which an order's timeout message looks at the order, one after the other, from the moment at
/// which it was placed. What is left until the deadline is the last step; without any the message looks at the deadline.
///
/// The message only looks: whatever the steps are, an order ends at the deadline of its row and never before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeoutSteps(Vec<Millis>);

impl TimeoutSteps {
    /// When to look next: the first end of a step after `now`, or the deadline when no such step ends before it.
    #[must_use]
    pub fn next_look(
        &self,
        placed_at: Timestamp,
        expire_at: Timestamp,
        now: Timestamp,
    ) -> Timestamp {
        let mut end = placed_at;
        for step in &self.0 {
            end = end + *step;
            if end >= expire_at {
                break;
            }
            if end > now {
                return end;
            }
        }
        expire_at
    }
}

/// What is no list of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not at most {STEPS_MAX} lengths in milliseconds, separated by commas")]
pub struct NoSteps;

impl FromStr for TimeoutSteps {
    type Err = NoSteps;

    fn from_str(text: &str) -> Result<Self, NoSteps> {
        let steps: Vec<Millis> = text
            .split(',')
            .map(|step| {
                let step_ms = step.trim().parse::<i64>().map_err(|_| NoSteps)?;
                (1..=STEP_MS_MAX)
                    .contains(&step_ms)
                    .then_some(Millis(step_ms))
                    .ok_or(NoSteps)
            })
            .collect::<Result<_, _>>()?;
        (steps.len() <= STEPS_MAX)
            .then_some(Self(steps))
            .ok_or(NoSteps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACED: Timestamp = Timestamp(1_000_000);
    const EXPIRES: Timestamp = Timestamp(1_900_000);

    fn looks(steps: &str) -> Vec<i64> {
        let steps: TimeoutSteps = steps.parse().unwrap();
        let mut looks = Vec::new();
        let mut now = PLACED;
        while now < EXPIRES {
            now = steps.next_look(PLACED, EXPIRES, now);
            looks.push((now - PLACED).0);
        }
        looks
    }

    #[test]
    fn ten_and_five_minutes_make_two_looks() {
        assert_eq!(looks("600000,300000"), [600_000, 900_000]);
    }

    #[test]
    fn steps_that_end_before_the_deadline_leave_a_last_one() {
        assert_eq!(looks("100000, 200000"), [100_000, 300_000, 900_000]);
    }

    #[test]
    fn steps_beyond_the_deadline_are_cut_off_by_it() {
        assert_eq!(looks("600000,600000,600000"), [600_000, 900_000]);
        assert_eq!(looks("86400000"), [900_000]);
    }

    #[test]
    fn without_steps_there_is_one_look_at_the_deadline() {
        let look = TimeoutSteps::default().next_look(PLACED, EXPIRES, PLACED);
        assert_eq!(look, EXPIRES);
    }

    #[test]
    fn a_late_look_goes_on_with_the_step_that_is_next() {
        let steps: TimeoutSteps = "100000,100000,100000".parse().unwrap();
        let late = Timestamp(PLACED.0 + 250_000);
        assert_eq!(
            steps.next_look(PLACED, EXPIRES, late),
            Timestamp(PLACED.0 + 300_000)
        );
    }

    #[test]
    fn what_is_no_list_of_lengths_is_refused() {
        for text in [
            "",
            "0",
            "-5",
            "1,,2",
            "ten",
            "86400001",
            &["1"; 21].join(","),
        ] {
            assert_eq!(text.parse::<TimeoutSteps>(), Err(NoSteps), "{text}");
        }
    }
}
