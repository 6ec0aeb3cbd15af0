//! The tax that a price contains.
//!
//! It is computed on an order's total and not on its tickets, because rounded parts do not add up to the rounded whole.

use super::money::Money;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A rate of tax in hundredths of a percent: 2,200 is 22 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaxRate(pub u32);

/// Hundredths of a percent in the whole.
const WHOLE: i128 = 10_000;

impl TaxRate {
    /// The tax within a total that includes it: total × rate ÷ (1 + rate), rounded half up to the smallest unit.
    #[must_use]
    pub fn contained_in(self, total: Money) -> Money {
        let rate = i128::from(self.0);
        let whole = WHOLE + rate;
        // Twice everything, so that half of an odd divisor is a whole number.
        let minor = (2 * i128::from(total.minor) * rate + whole).div_euclid(2 * whole);
        Money::new(i64::try_from(minor).unwrap_or(total.minor), total.currency)
    }
}

impl fmt::Display for TaxRate {
    /// In percent, without digits that say nothing: `22`, `5.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, part) if part % 10 == 0 => write!(f, "{whole}.{}", part / 10),
            (whole, part) => write!(f, "{whole}.{part:02}"),
        }
    }
}

/// The tax within an order's total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncludedTax {
    /// How much of the total it is.
    pub amount: Money,
    /// At which rate.
    pub rate: TaxRate,
}

impl IncludedTax {
    /// The tax within a total; none where nothing is taxed.
    #[must_use]
    pub fn of(total: Money, rate: TaxRate) -> Option<Self> {
        (rate.0 > 0).then(|| Self {
            amount: rate.contained_in(total),
            rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Currency;

    #[test]
    fn tax_is_computed_on_the_total_and_rounded_half_up() {
        for (currency, total, rate, tax) in [
            // Five tickets at 99.00 with 22 %: five rounded parts would be 89.25.
            (Currency::Eur, 5 * 9_900, 2_200, 8_926),
            (Currency::Eur, 9_900, 2_200, 1_785),
            (Currency::Gbp, 12_000, 2_000, 2_000),
            (Currency::Jpy, 6_800, 1_000, 618),
            (Currency::Cny, 0, 600, 0),
            (Currency::Cny, 13_600, 0, 0),
            (Currency::Cny, 1, 10_000, 1),
            (Currency::Cny, 3, 10_000, 2),
            (Currency::Usd, 10_889, 889, 889),
            (Currency::Cny, i64::MAX, 2_200, 1_663_231_023_039_385_801),
        ] {
            let total = Money::new(total, currency);
            assert_eq!(
                TaxRate(rate).contained_in(total),
                Money::new(tax, currency),
                "{total} at {rate}"
            );
        }
    }

    #[test]
    fn a_rate_is_written_without_idle_digits() {
        for (rate, text) in [
            (2_200, "22"),
            (550, "5.5"),
            (888, "8.88"),
            (805, "8.05"),
            (0, "0"),
        ] {
            assert_eq!(TaxRate(rate).to_string(), text);
        }
    }

    #[test]
    fn what_is_not_taxed_has_no_tax() {
        assert_eq!(
            IncludedTax::of(Money::new(100, Currency::Usd), TaxRate(0)),
            None
        );
    }
}
