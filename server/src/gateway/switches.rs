//! The switches that make the gateway misbehave as real ones do.

use app::domain::time::Millis;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// Longest delay that can be asked for, in seconds.
pub const DELAY_S_MAX: u32 = 600;
/// Most times one callback can be sent on purpose.
pub const COPIES_MAX: u32 = 100;
/// Most attempts that can carry a fault; more than a callback has in its 24 hours.
pub const FAULTY_ATTEMPTS_MAX: u32 = 1000;
/// Most refunds that a refund switch can apply to.
pub const REFUND_TIMES_MAX: u32 = 1000;

/// How long after the page said "failed" the success comes, unless a delay is given.
const FAILED_PAGE_DELAY: Millis = Millis::seconds(5);

/// What the customer does at the cashier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Pays.
    Succeed,
    /// Is declined.
    Fail,
}

/// How callbacks of a decision are sent. The default is: at once, once, without faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallbackSwitches {
    /// How long callbacks are held back, in seconds.
    pub delay_s: u32,
    /// How many times each callback is sent, whatever the merchant answers.
    pub copies: u32,
    /// A notice of an earlier, declined try arrives after the notice of success.
    pub reorder: bool,
    /// The signature does not match the body.
    pub wrong_signature: bool,
    /// The signature's time is ten minutes old.
    pub stale_timestamp: bool,
    /// The body names another amount, rightly signed.
    pub wrong_amount: bool,
    /// How many attempts carry the three faults above, before the callback is sent as it should be.
    pub faulty_attempts: u32,
}

impl Default for CallbackSwitches {
    fn default() -> Self {
        Self {
            delay_s: 0,
            copies: 1,
            reorder: false,
            wrong_signature: false,
            stale_timestamp: false,
            wrong_amount: false,
            faulty_attempts: 1,
        }
    }
}

impl CallbackSwitches {
    /// How long callbacks are held back.
    #[must_use]
    pub fn delay(&self) -> Millis {
        Millis::seconds(i64::from(self.delay_s))
    }
}

/// What happens to refunds of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundAnswer {
    /// They succeed.
    #[default]
    Accept,
    /// The call is refused and leaves nothing behind.
    Refuse,
    /// The call is accepted and the refund fails afterwards.
    Fail,
}

impl RefundAnswer {
    /// The word for it, on the wire and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Fail => "fail",
        }
    }

    /// Reads [`RefundAnswer::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Accept, Self::Refuse, Self::Fail]
            .into_iter()
            .find(|answer| answer.word() == word)
    }
}

/// What happens to the next refunds of a payment. The default is: they succeed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefundSwitch {
    /// What happens to the next `times` refunds; those after them succeed.
    pub answer: RefundAnswer,
    /// How many refunds `answer` applies to.
    pub times: u32,
    /// How long a refund takes, in seconds; 0 is at once.
    pub delay_s: u32,
}

/// When a decision takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// At once.
    Now,
    /// The page says "failed" and nothing else happens until the success comes, this much later.
    FailedPageFirst(Millis),
    /// The success comes once the payment is closed or its time is over.
    AfterClose,
}

/// What the customer does, and what the gateway makes of it. The fields are those of the cashier's form, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What the customer does.
    pub outcome: Outcome,
    /// The page says "failed", and a success follows whichever button was pressed.
    #[serde(default, deserialize_with = "checkbox")]
    pub failed_page: bool,
    /// A success is withheld until the payment is closed, and is possible for one that is closed already.
    #[serde(default, deserialize_with = "checkbox")]
    pub after_close: bool,
    /// See [`CallbackSwitches::delay_s`].
    #[serde(default)]
    pub delay_s: u32,
    /// See [`CallbackSwitches::copies`].
    #[serde(default = "one")]
    pub copies: u32,
    /// See [`CallbackSwitches::reorder`].
    #[serde(default, deserialize_with = "checkbox")]
    pub reorder: bool,
    /// See [`CallbackSwitches::wrong_signature`].
    #[serde(default, deserialize_with = "checkbox")]
    pub wrong_signature: bool,
    /// See [`CallbackSwitches::stale_timestamp`].
    #[serde(default, deserialize_with = "checkbox")]
    pub stale_timestamp: bool,
    /// See [`CallbackSwitches::wrong_amount`].
    #[serde(default, deserialize_with = "checkbox")]
    pub wrong_amount: bool,
    /// See [`CallbackSwitches::faulty_attempts`].
    #[serde(default = "one")]
    pub faulty_attempts: u32,
    /// See [`RefundSwitch::answer`].
    #[serde(default)]
    pub refund_answer: RefundAnswer,
    /// See [`RefundSwitch::times`].
    #[serde(default = "one")]
    pub refund_times: u32,
    /// See [`RefundSwitch::delay_s`].
    #[serde(default)]
    pub refund_delay_s: u32,
}

/// A switch with a value out of its range, or two that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field} is out of range")]
pub struct InvalidSwitch {
    /// The switch's name in the form.
    pub field: &'static str,
}

impl Decision {
    /// A decision with every switch at rest.
    #[must_use]
    pub fn plain(outcome: Outcome) -> Self {
        Self {
            outcome,
            failed_page: false,
            after_close: false,
            delay_s: 0,
            copies: 1,
            reorder: false,
            wrong_signature: false,
            stale_timestamp: false,
            wrong_amount: false,
            faulty_attempts: 1,
            refund_answer: RefundAnswer::Accept,
            refund_times: 1,
            refund_delay_s: 0,
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first switch that is out of its range or contradicts another.
    pub fn check(&self) -> Result<(), InvalidSwitch> {
        let ranges = [
            ("delay_s", self.delay_s, 0, DELAY_S_MAX),
            ("copies", self.copies, 1, COPIES_MAX),
            (
                "faulty_attempts",
                self.faulty_attempts,
                1,
                FAULTY_ATTEMPTS_MAX,
            ),
        ];
        for (field, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(InvalidSwitch { field });
            }
        }
        if self.failed_page && self.after_close {
            return Err(InvalidSwitch {
                field: "after_close",
            });
        }
        self.refunds().check()
    }

    /// When it takes effect.
    #[must_use]
    pub fn timing(&self) -> Timing {
        if self.failed_page {
            let delay = self.callbacks().delay();
            Timing::FailedPageFirst(if delay.0 == 0 {
                FAILED_PAGE_DELAY
            } else {
                delay
            })
        } else if self.after_close && self.outcome == Outcome::Succeed {
            Timing::AfterClose
        } else {
            Timing::Now
        }
    }

    /// How its callbacks are sent.
    #[must_use]
    pub fn callbacks(&self) -> CallbackSwitches {
        CallbackSwitches {
            delay_s: self.delay_s,
            copies: self.copies,
            reorder: self.reorder,
            wrong_signature: self.wrong_signature,
            stale_timestamp: self.stale_timestamp,
            wrong_amount: self.wrong_amount,
            faulty_attempts: self.faulty_attempts,
        }
    }

    /// What happens to the payment's refunds later.
    #[must_use]
    pub fn refunds(&self) -> RefundSwitch {
        RefundSwitch {
            answer: self.refund_answer,
            times: self.refund_times,
            delay_s: self.refund_delay_s,
        }
    }
}

impl RefundSwitch {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first switch that is out of its range.
    pub fn check(self) -> Result<(), InvalidSwitch> {
        if self.times > REFUND_TIMES_MAX {
            return Err(InvalidSwitch {
                field: "refund_times",
            });
        }
        if self.delay_s > DELAY_S_MAX {
            return Err(InvalidSwitch {
                field: "refund_delay_s",
            });
        }
        Ok(())
    }
}

fn one() -> u32 {
    1
}

/// Reads a switch from JSON's `true` or a form's `on`.
fn checkbox<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Checkbox;
    impl de::Visitor<'_> for Checkbox {
        type Value = bool;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true, false, or \"on\"")
        }
        fn visit_bool<E: de::Error>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }
        fn visit_str<E: de::Error>(self, value: &str) -> Result<bool, E> {
            match value {
                "on" | "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
            }
        }
    }
    deserializer.deserialize_any(Checkbox)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(body: &str) -> Decision {
        serde_json::from_str(body).unwrap()
    }

    #[test]
    fn a_decision_without_switches_is_plain() {
        assert_eq!(
            json(r#"{"outcome":"succeed"}"#),
            Decision::plain(Outcome::Succeed)
        );
        assert_eq!(Decision::plain(Outcome::Fail).timing(), Timing::Now);
        assert_eq!(
            Decision::plain(Outcome::Fail).callbacks(),
            CallbackSwitches::default()
        );
    }

    #[test]
    fn a_checkbox_is_on_or_absent() {
        assert!(json(r#"{"outcome":"fail","reorder":"on"}"#).reorder);
        assert!(json(r#"{"outcome":"fail","reorder":true}"#).reorder);
        assert!(serde_json::from_str::<Decision>(r#"{"outcome":"fail","reorder":"x"}"#).is_err());
        assert!(serde_json::from_str::<Decision>(r#"{"outcome":"fail","wrong":true}"#).is_err());
        assert!(serde_json::from_str::<Decision>(r#"{"outcome":"maybe"}"#).is_err());
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let field = |body: &str| json(body).check().err().map(|error| error.field);
        assert_eq!(
            field(r#"{"outcome":"succeed","delay_s":600,"copies":100}"#),
            None
        );
        assert_eq!(
            field(r#"{"outcome":"succeed","delay_s":601}"#),
            Some("delay_s")
        );
        assert_eq!(field(r#"{"outcome":"succeed","copies":0}"#), Some("copies"));
        assert_eq!(
            field(r#"{"outcome":"succeed","copies":101}"#),
            Some("copies")
        );
        assert_eq!(
            field(r#"{"outcome":"succeed","faulty_attempts":0}"#),
            Some("faulty_attempts")
        );
        assert_eq!(
            field(r#"{"outcome":"succeed","refund_times":1001}"#),
            Some("refund_times")
        );
        assert_eq!(
            field(r#"{"outcome":"succeed","refund_delay_s":601}"#),
            Some("refund_delay_s")
        );
        let both = r#"{"outcome":"succeed","failed_page":true,"after_close":true}"#;
        assert_eq!(field(both), Some("after_close"));
    }

    #[test]
    fn a_failed_page_is_followed_by_a_success_whichever_button_was_pressed() {
        let pressed_fail = json(r#"{"outcome":"fail","failed_page":true}"#);
        assert_eq!(
            pressed_fail.timing(),
            Timing::FailedPageFirst(Millis::seconds(5))
        );
        let later = json(r#"{"outcome":"succeed","failed_page":true,"delay_s":9}"#);
        assert_eq!(later.timing(), Timing::FailedPageFirst(Millis::seconds(9)));
        let declined = json(r#"{"outcome":"fail","after_close":true}"#);
        assert_eq!(declined.timing(), Timing::Now);
    }
}
