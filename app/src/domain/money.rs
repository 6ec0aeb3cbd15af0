//! Money: an integer count of a currency's smallest unit. Never a fraction, never a float.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A currency SeatFlow sells in (ISO 4217).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Currency {
    /// Chinese yuan, 100 fen.
    Cny,
    /// Euro, 100 cents.
    Eur,
    /// Pound sterling, 100 pence.
    Gbp,
    /// Hong Kong dollar, 100 cents.
    Hkd,
    /// Japanese yen, which has no smaller unit.
    Jpy,
    /// United States dollar, 100 cents.
    Usd,
}

impl Currency {
    /// The ISO 4217 code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Cny => "CNY",
            Self::Eur => "EUR",
            Self::Gbp => "GBP",
            Self::Hkd => "HKD",
            Self::Jpy => "JPY",
            Self::Usd => "USD",
        }
    }

    /// The sign shown before an amount; unlike `$` alone it names one currency.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Cny => "¥",
            Self::Eur => "€",
            Self::Gbp => "£",
            Self::Hkd => "HK$",
            Self::Jpy => "JP¥",
            Self::Usd => "US$",
        }
    }

    /// Digits after the decimal point (ISO 4217 minor unit).
    #[must_use]
    pub fn minor_digits(self) -> usize {
        match self {
            Self::Jpy => 0,
            Self::Cny | Self::Eur | Self::Gbp | Self::Hkd | Self::Usd => 2,
        }
    }
}

/// A code that names no currency SeatFlow sells in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown currency")]
pub struct UnknownCurrency;

impl FromStr for Currency {
    type Err = UnknownCurrency;
    fn from_str(code: &str) -> Result<Self, UnknownCurrency> {
        [
            Self::Cny,
            Self::Eur,
            Self::Gbp,
            Self::Hkd,
            Self::Jpy,
            Self::Usd,
        ]
        .into_iter()
        .find(|currency| currency.code() == code)
        .ok_or(UnknownCurrency)
    }
}

/// Why two amounts could not be combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The amounts are of two currencies.
    #[error("amounts of different currencies")]
    CurrencyMismatch,
    /// The result does not fit.
    #[error("amount out of range")]
    Overflow,
}

/// An amount in the smallest unit of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// Count of the currency's smallest unit; 6800 is ¥68.00, but JP¥6,800.
    pub minor: i64,
    /// What it is counted in.
    pub currency: Currency,
}

impl Money {
    /// An amount of `minor` smallest units.
    #[must_use]
    pub fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Adds two amounts of one currency.
    ///
    /// # Errors
    /// When the currencies differ or the sum does not fit.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrencyMismatch);
        }
        let minor = self
            .minor
            .checked_add(other.minor)
            .ok_or(MoneyError::Overflow)?;
        Ok(Self::new(minor, self.currency))
    }

    /// Adds up amounts of one currency; nothing adds up to zero.
    ///
    /// # Errors
    /// When an amount is of another currency or the sum does not fit.
    pub fn sum(
        currency: Currency,
        amounts: impl IntoIterator<Item = Self>,
    ) -> Result<Self, MoneyError> {
        amounts
            .into_iter()
            .try_fold(Self::new(0, currency), Self::checked_add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.currency.minor_digits();
        let unit = 10_u64.pow(u32::try_from(digits).unwrap_or(0));
        let whole = (self.minor.unsigned_abs() / unit).to_string();
        if self.minor < 0 {
            f.write_str("−")?;
        }
        f.write_str(self.currency.sign())?;
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        if digits > 0 {
            write!(f, ".{:0digits$}", self.minor.unsigned_abs() % unit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_with_sign_groups_and_the_currencys_own_digits() {
        assert_eq!(Money::new(13_600, Currency::Cny).to_string(), "¥136.00");
        assert_eq!(Money::new(5, Currency::Gbp).to_string(), "£0.05");
        assert_eq!(
            Money::new(1_234_567, Currency::Usd).to_string(),
            "US$12,345.67"
        );
        assert_eq!(Money::new(6_800, Currency::Jpy).to_string(), "JP¥6,800");
        assert_eq!(Money::new(-150, Currency::Eur).to_string(), "−€1.50");
    }

    #[test]
    fn amounts_of_two_currencies_do_not_add() {
        let yuan = Money::new(1, Currency::Cny);
        let yen = Money::new(1, Currency::Jpy);
        assert_eq!(yuan.checked_add(yen), Err(MoneyError::CurrencyMismatch));
        assert_eq!(
            Money::new(i64::MAX, Currency::Cny).checked_add(yuan),
            Err(MoneyError::Overflow)
        );
    }

    #[test]
    fn a_currency_is_read_by_its_code_only() {
        assert_eq!("JPY".parse(), Ok(Currency::Jpy));
        assert_eq!("jpy".parse::<Currency>(), Err(UnknownCurrency));
    }
}
