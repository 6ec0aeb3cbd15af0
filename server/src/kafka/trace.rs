//! The trace context that a message carries, so that a customer's request and what consumers do for it can be found
//! together.
//!
//! Format: W3C Trace Context, level 1, header `traceparent`: `00-<trace id, 32 hex>-<span id, 16 hex>-<flags, 2 hex>`.

use std::{fmt, str::FromStr};

/// Name of the message header.
pub const TRACEPARENT: &str = "traceparent";

/// The trace that something belongs to, and the step of it that caused this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace_id: u128,
    span_id: u64,
    sampled: bool,
}

/// A text that is no `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid traceparent")]
pub struct InvalidTraceParent;

impl TraceParent {
    /// Puts one together; the standard forbids ids of zero.
    ///
    /// # Errors
    /// When an id is zero.
    pub fn from_ids(trace_id: u128, span_id: u64) -> Result<Self, InvalidTraceParent> {
        if trace_id == 0 || span_id == 0 {
            return Err(InvalidTraceParent);
        }
        Ok(Self {
            trace_id,
            span_id,
            sampled: true,
        })
    }

    /// The start of a new trace, with random ids.
    #[must_use]
    pub fn random() -> Self {
        Self {
            trace_id: rand::random_range(1..=u128::MAX),
            span_id: rand::random_range(1..=u64::MAX),
            sampled: true,
        }
    }

    /// The next step of the same trace, with a random id.
    #[must_use]
    pub fn child(self) -> Self {
        Self {
            span_id: rand::random_range(1..=u64::MAX),
            ..self
        }
    }

    /// The trace's id as logs show it: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(
            f,
            "00-{:032x}-{:016x}-{flags:02x}",
            self.trace_id, self.span_id
        )
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Reads a header. A version above 00 may have more parts behind the flags, which are left unread.
    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let mut parts = text.split('-');
        let mut next = |digits| hex(parts.next()?, digits);
        let mut read = || Some((next(2)?, next(32)?, next(16)?, next(2)?));
        let (version, trace_id, span_id, flags) = read().ok_or(InvalidTraceParent)?;
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return Err(InvalidTraceParent);
        }
        let span_id = u64::try_from(span_id).map_err(|_| InvalidTraceParent)?;
        Ok(Self {
            sampled: flags & 1 == 1,
            ..Self::from_ids(trace_id, span_id)?
        })
    }
}

/// Reads exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let plain = text.len() == digits
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if plain {
        u128::from_str_radix(text, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_comes_back_as_it_was() {
        let parent: TraceParent = EXAMPLE.parse().unwrap();
        assert_eq!(parent.to_string(), EXAMPLE);
        assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        let random = TraceParent::random();
        assert_eq!(random.to_string().parse(), Ok(random));
    }

    #[test]
    fn a_child_stays_in_the_trace_under_another_id() {
        let parent: TraceParent = EXAMPLE.parse().unwrap();
        let child = parent.child();
        assert_eq!(child.trace_id(), parent.trace_id());
        assert_ne!(child, parent);
    }

    #[test]
    fn a_later_version_may_say_more() {
        let later = format!("cc{}-what-comes", &EXAMPLE[2..]);
        assert_eq!(later.parse::<TraceParent>(), EXAMPLE.parse());
    }

    #[test]
    fn texts_that_are_no_traceparent_are_refused() {
        let refused = [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ];
        for text in refused {
            assert!(text.parse::<TraceParent>().is_err(), "{text}");
        }
    }
}
