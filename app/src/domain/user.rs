//! Accounts: who a visitor is and what they may do.

use super::ids::UserId;
use serde::{Deserialize, Serialize};

/// What an account may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Buys tickets.
    Customer,
    /// Runs events, shows and orders.
    Staff,
    /// Staff who also manage accounts.
    Admin,
}

impl Role {
    /// The word that the database and the session carry.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Staff => "staff",
            Self::Admin => "admin",
        }
    }

    /// Reads [`Role::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Customer, Self::Staff, Self::Admin]
            .into_iter()
            .find(|role| role.word() == word)
    }
}

/// The account behind a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The account.
    pub id: UserId,
    /// What it may do.
    pub role: Role,
    /// Level for presales; 0 is everybody.
    pub level: u8,
    /// The phone number with its middle hidden, for the account's owner to recognise.
    pub phone_hint: String,
}

/// A phone number that could be dialled: digits with an optional leading plus.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone(String);

impl Phone {
    /// Fewest digits of a number.
    pub const DIGITS_MIN: usize = 7;
    /// Most digits of a number (ITU-T E.164).
    pub const DIGITS_MAX: usize = 15;

    /// Reads a number as people type it; spaces, dots, hyphens and brackets are dropped.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain: String = text
            .trim()
            .chars()
            .filter(|c| !matches!(c, ' ' | '-' | '.' | '(' | ')'))
            .collect();
        let digits = plain.strip_prefix('+').unwrap_or(&plain);
        let good = (Self::DIGITS_MIN..=Self::DIGITS_MAX).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        good.then_some(Self(plain))
    }

    /// The number, digits with an optional plus.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number with its middle hidden: `138****0001`.
    #[must_use]
    pub fn hint(&self) -> String {
        let tail = self.0.len().saturating_sub(4);
        let head = 3.min(tail);
        format!("{}****{}", &self.0[..head], &self.0[tail..])
    }
}

/// Fewest characters of a password.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Most bytes of a password; longer ones would only cost hashing time.
pub const PASSWORD_BYTES_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_numbers_are_read_as_people_type_them() {
        assert_eq!(
            Phone::parse(" 138 0000-0001 ").unwrap().as_str(),
            "13800000001"
        );
        assert_eq!(
            Phone::parse("+44 (20) 7946.0000").unwrap().as_str(),
            "+442079460000"
        );
        for text in [
            "",
            "123456",
            "1234567890123456",
            "12345a7",
            "+",
            "1+2345678",
            "１３８００００００００",
        ] {
            assert_eq!(Phone::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_hint_hides_the_middle_of_a_number() {
        assert_eq!(Phone::parse("13800000001").unwrap().hint(), "138****0001");
        assert_eq!(Phone::parse("1234567").unwrap().hint(), "123****4567");
    }
}
