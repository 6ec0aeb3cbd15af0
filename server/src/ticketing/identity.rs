//! Names for people that say nothing about them: keyed hashes of phone numbers and documents.
//!
//! Counters, messages and rows carry these. Without the key nobody can try out all phone numbers or documents to find the
//! one behind a hash; with it the same person has the same name in every account.

use super::Ticketing;
use crate::config::Secret;
use app::domain::{attendee::Document, user::Phone};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write;

/// Bytes of a hash that are kept: 128 bits, far more than anybody can collide.
const HASH_BYTES: usize = 16;

/// Makes the names. Another key makes others, so it stays the same as long as tickets are counted.
pub struct Identities {
    key: Hmac<Sha256>,
}

impl Identities {
    /// Names under a key.
    #[must_use]
    pub fn new(secret: &Secret) -> Option<Self> {
        let key = Hmac::new_from_slice(secret.bytes()).ok()?;
        Some(Self { key })
    }

    /// A phone number's name; a leading plus makes no difference.
    #[must_use]
    pub fn of_phone(&self, phone: &Phone) -> String {
        self.hash(&["phone", phone.as_str().trim_start_matches('+')])
    }

    /// A document's name.
    #[must_use]
    pub fn of_document(&self, document: &Document) -> String {
        self.hash(&["document", document.kind().word(), document.number()])
    }

    fn hash(&self, parts: &[&str]) -> String {
        let mut mac = self.key.clone();
        for part in parts {
            mac.update(part.as_bytes());
            // No part holds this byte, so that no two lists of parts look the same.
            mac.update(&[0]);
        }
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(HASH_BYTES).fold(
            String::with_capacity(2 * HASH_BYTES),
            |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            },
        )
    }
}

impl Ticketing {
    /// A phone number's name: see [`Identities::of_phone`].
    #[must_use]
    pub fn phone_hash(&self, phone: &Phone) -> String {
        self.inner.identities.of_phone(phone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::attendee::DocumentKind;

    fn identities(secret: &str) -> Identities {
        Identities::new(&Secret::new(secret)).unwrap()
    }

    fn phone(text: &str) -> Phone {
        Phone::parse(text).unwrap()
    }

    #[test]
    fn the_same_number_has_the_same_name_however_it_is_typed() {
        let ours = identities("0123456789abcdef0123456789abcdef");
        let name = ours.of_phone(&phone("+86 138 0000-0001"));
        assert_eq!(name, ours.of_phone(&phone("8613800000001")));
        assert_eq!(name.len(), 2 * HASH_BYTES);
        assert!(!name.contains("138000"));
        assert_ne!(name, ours.of_phone(&phone("8613800000002")));
    }

    #[test]
    fn a_name_can_not_be_made_without_the_key() {
        let number = phone("13800000001");
        let ours = identities("0123456789abcdef0123456789abcdef").of_phone(&number);
        let theirs = identities("fedcba9876543210fedcba9876543210").of_phone(&number);
        assert_ne!(ours, theirs);
    }

    #[test]
    fn one_number_of_two_kinds_of_documents_is_two_people() {
        let ours = identities("0123456789abcdef0123456789abcdef");
        let of = |kind| ours.of_document(&Document::parse(kind, "E12345678").unwrap());
        assert_ne!(of(DocumentKind::Passport), of(DocumentKind::Other));
    }
}
