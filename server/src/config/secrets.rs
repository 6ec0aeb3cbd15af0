//! Keys, from the environment only.

use super::Reader;
use std::fmt;

/// Fewest bytes of a secret.
pub const SECRET_BYTES_MIN: usize = 32;

/// A key that does not show in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key of the caller's making.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The key's text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// All keys.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// Signs sessions and device cookies (`SEATFLOW_SESSION_SECRET`).
    pub session: Secret,
    /// Key of the hashes that stand for phone numbers and documents (`SEATFLOW_ATTENDEE_SECRET`). It is not the session's,
    /// because another key makes other hashes, and tickets are counted by them.
    pub attendee: Secret,
    /// Signs what passes between SeatFlow and the payment gateway (`SEATFLOW_GATEWAY_SECRET`).
    pub gateway: Secret,
    /// The gateway's previous key while it is being replaced (`SEATFLOW_GATEWAY_SECRET_PREVIOUS`).
    pub gateway_previous: Option<Secret>,
}

impl Secrets {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let session = reader.secret("SEATFLOW_SESSION_SECRET");
        let attendee = reader.secret("SEATFLOW_ATTENDEE_SECRET");
        let gateway = reader.secret("SEATFLOW_GATEWAY_SECRET");
        let gateway_previous = reader.optional_secret("SEATFLOW_GATEWAY_SECRET_PREVIOUS");
        Self {
            session,
            attendee,
            gateway,
            gateway_previous,
        }
    }
}

impl Reader<'_> {
    /// A secret that may be missing, but not short.
    pub(super) fn optional_secret(&mut self, name: &str) -> Option<Secret> {
        self.text(name).map(|_| self.secret(name))
    }

    pub(super) fn secret(&mut self, name: &str) -> Secret {
        let text = self.required(
            name,
            "at least 32 bytes, for example from `openssl rand -hex 32`",
        );
        if !text.is_empty() && text.len() < SECRET_BYTES_MIN {
            self.faults.push(format!(
                "{name} has {} bytes, it needs at least {SECRET_BYTES_MIN} bytes",
                text.len()
            ));
        }
        Secret(text)
    }
}
