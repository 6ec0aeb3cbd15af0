//! How requests to the gateway and callbacks from it are signed.
//!
//! The scheme is the one that Stripe describes for its webhooks: the header carries `t=<unix seconds>` and one or more
//! `v1=<hex>`, where the hex is HMAC-SHA256 of `<t>.<raw body>`. Elements of other schemes are skipped, so that a later
//! `v2` can be sent beside `v1`; they never count as a signature.

use app::domain::time::{Millis, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use subtle::{Choice, ConstantTimeEq};

/// Name of the header that carries the signature, in the lower case that HTTP compares by.
pub const SIGNATURE_HEADER: &str = "seatflow-signature";

/// How far a signature's time may lie from the receiver's clock, either way.
pub const SIGNATURE_TOLERANCE: Millis = Millis::seconds(300);

/// Longest header that is looked at, in bytes; eight signatures with room to spare.
const HEADER_BYTES_MAX: usize = 1024;

/// Most `v1` elements that are compared; each costs one comparison a key.
const SIGNATURES_MAX: usize = 8;

/// A secret that is too short to sign with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a signing secret needs at least {} bytes",
    SigningKeys::SECRET_BYTES_MIN
)]
pub struct ShortSecret;

/// Why a signature was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no header.
    #[error("no signature")]
    Missing,
    /// The header has no single time or no signature of a known scheme.
    #[error("unreadable signature header")]
    Unreadable,
    /// No signature matches the body under any key.
    #[error("signature does not match")]
    Mismatch,
    /// Rightly signed, but longer ago than the tolerance.
    #[error("signature is too old")]
    Stale,
    /// Rightly signed, but further ahead of this clock than the tolerance.
    #[error("signature is from the future")]
    Future,
}

/// The secrets both sides share: the current one and, during a rotation, the previous one.
///
/// While two are set, everything is signed with both and accepted under either, so that the sides need not change over at
/// the same moment.
#[derive(Clone)]
pub struct SigningKeys {
    secrets: Vec<Vec<u8>>,
}

impl SigningKeys {
    /// Shortest secret, in bytes: the length of the hash, below which HMAC loses strength (RFC 2104, section 3).
    pub const SECRET_BYTES_MIN: usize = 32;

    /// Keys with one secret.
    ///
    /// # Errors
    /// When the secret is shorter than [`SigningKeys::SECRET_BYTES_MIN`].
    pub fn new(current: impl Into<Vec<u8>>) -> Result<Self, ShortSecret> {
        Ok(Self {
            secrets: vec![long_enough(current.into())?],
        })
    }

    /// The same keys with the secret they replace, for the time of a rotation.
    ///
    /// # Errors
    /// When the secret is shorter than [`SigningKeys::SECRET_BYTES_MIN`].
    pub fn with_previous(mut self, previous: impl Into<Vec<u8>>) -> Result<Self, ShortSecret> {
        self.secrets.truncate(1);
        self.secrets.push(long_enough(previous.into())?);
        Ok(self)
    }

    /// The header's value for `payload` signed at `at`: one `v1` a secret.
    #[must_use]
    pub fn sign(&self, payload: &[u8], at: Timestamp) -> String {
        let seconds = at.0.div_euclid(1000);
        let mut header = format!("t={seconds}");
        for secret in &self.secrets {
            let signed = mac(secret, seconds, payload).finalize().into_bytes();
            header.push_str(",v1=");
            header.push_str(&to_hex(&signed));
        }
        header
    }

    /// Checks a header's value against the raw `payload` it came with.
    ///
    /// The signature is judged before the time, so that [`SignatureError::Stale`] and [`SignatureError::Future`] are only
    /// ever said of a message that a holder of the secret wrote.
    ///
    /// # Errors
    /// See [`SignatureError`].
    pub fn verify(
        &self,
        header: Option<&str>,
        payload: &[u8],
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        let signed = SignedHeader::read(header.ok_or(SignatureError::Missing)?)?;
        if !self.any_matches(&signed, payload) {
            return Err(SignatureError::Mismatch);
        }
        // In seconds, because a time near the ends of the range has no count of milliseconds.
        let age_s = now.0.div_euclid(1000).saturating_sub(signed.seconds);
        let tolerance_s = SIGNATURE_TOLERANCE.0 / 1000;
        if age_s > tolerance_s {
            return Err(SignatureError::Stale);
        }
        if age_s < -tolerance_s {
            return Err(SignatureError::Future);
        }
        Ok(())
    }

    /// Compares every signature with every key and never stops early: how long it takes tells nothing about the secret.
    fn any_matches(&self, signed: &SignedHeader, payload: &[u8]) -> bool {
        let mut matched = Choice::from(0);
        for secret in &self.secrets {
            let expected = mac(secret, signed.seconds, payload).finalize().into_bytes();
            for given in &signed.signatures {
                matched |= expected.as_slice().ct_eq(given);
            }
        }
        matched.into()
    }
}

impl fmt::Debug for SigningKeys {
    /// Says how many secrets there are and nothing about them: keys end up in the debug output of a configuration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKeys({} secrets)", self.secrets.len())
    }
}

/// A header's value, taken apart.
struct SignedHeader {
    seconds: i64,
    signatures: Vec<[u8; 32]>,
}

impl SignedHeader {
    fn read(header: &str) -> Result<Self, SignatureError> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(SignatureError::Unreadable);
        }
        let mut seconds = None;
        let mut signatures = Vec::new();
        for element in header.split(',') {
            let (scheme, value) = element
                .trim()
                .split_once('=')
                .ok_or(SignatureError::Unreadable)?;
            match scheme {
                // Two times would let the sender and the checker mean different ones.
                "t" if seconds.is_some() => return Err(SignatureError::Unreadable),
                "t" => seconds = Some(unix_seconds(value).ok_or(SignatureError::Unreadable)?),
                "v1" if signatures.len() == SIGNATURES_MAX => {
                    return Err(SignatureError::Unreadable);
                }
                "v1" => signatures.push(from_hex(value).ok_or(SignatureError::Unreadable)?),
                _ => {}
            }
        }
        match seconds {
            Some(seconds) if !signatures.is_empty() => Ok(Self {
                seconds,
                signatures,
            }),
            _ => Err(SignatureError::Unreadable),
        }
    }
}

fn long_enough(secret: Vec<u8>) -> Result<Vec<u8>, ShortSecret> {
    if secret.len() < SigningKeys::SECRET_BYTES_MIN {
        Err(ShortSecret)
    } else {
        Ok(secret)
    }
}

fn mac(secret: &[u8], seconds: i64, payload: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(payload);
    mac
}

/// Reads decimal digits alone: what is compared must be what was signed, so no sign, blank or leading zero.
fn unix_seconds(text: &str) -> Option<i64> {
    let seconds: i64 = text.parse().ok()?;
    (seconds.to_string() == text).then_some(seconds)
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(DIGITS[usize::from(nibble)]))
        .collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
