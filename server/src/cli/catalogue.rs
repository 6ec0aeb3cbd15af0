//! The catalogue's file: venues with their halls, events, and shows with their prices.

use crate::ticketing::standing::capacity::CAPACITY_MAX;
use anyhow::ensure;
use app::domain::{
    catalogue::EventKind,
    money::Currency,
    plan::{PLAN_CATEGORY_CHARS_MAX, Plan},
    refund::RefundPolicy,
    standing::PIECES_MAX,
    text::LocalText,
    time::Millis,
};
use jiff::civil::Time;
use serde::Deserialize;
use std::{collections::HashMap, path::PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Catalogue {
    pub(super) venues: Vec<VenueEntry>,
    pub(super) events: Vec<EventEntry>,
    pub(super) shows: Vec<ShowEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VenueEntry {
    pub(super) key: String,
    pub(super) name: LocalText,
    pub(super) city: LocalText,
    pub(super) time_zone: String,
    pub(super) currency: Currency,
    /// The tax within its prices, in hundredths of a percent; none when missing.
    #[serde(default)]
    pub(super) tax_basis_points: u32,
    pub(super) halls: Vec<HallEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HallEntry {
    pub(super) key: String,
    pub(super) name: LocalText,
    pub(super) plan: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventEntry {
    pub(super) key: String,
    pub(super) kind: EventKind,
    pub(super) title: LocalText,
    pub(super) by: LocalText,
    pub(super) duration_min: u32,
    pub(super) language: LocalText,
    pub(super) summary: LocalText,
    pub(super) description: LocalText,
    pub(super) poster: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowEntry {
    pub(super) event: String,
    pub(super) hall: String,
    pub(super) days: Vec<i32>,
    pub(super) times: Vec<Time>,
    pub(super) limit: u32,
    pub(super) hold_seconds: i64,
    pub(super) sale_opens_days_before: i32,
    #[serde(default)]
    pub(super) sale_closes_min_before: i64,
    /// Whether each ticket is for a person who is named.
    #[serde(default)]
    pub(super) attendees_required: bool,
    pub(super) refund: Option<RefundEntry>,
    pub(super) prices: Vec<PriceEntry>,
}

/// On which terms a show takes tickets back; until a day before and without a fee when missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefundEntry {
    /// Until so many hours before the start; missing when it never does.
    pub(super) hours_before: Option<i64>,
    #[serde(default)]
    pub(super) fee_percent: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceEntry {
    /// A category of the plan; for a standing zone any other word that names it.
    pub(super) category: String,
    pub(super) name: LocalText,
    pub(super) price_minor: i64,
    /// Makes it a standing zone of so many places.
    pub(super) standing_capacity: Option<u32>,
    /// In how many pieces a standing zone is split; 1 when missing.
    pub(super) pieces: Option<u16>,
}

/// Names what does not fit together: unknown halls and events, categories without a price, prices without a category.
pub(super) fn check(
    catalogue: &Catalogue,
    plans: &HashMap<String, (String, Plan)>,
) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for venue in &catalogue.venues {
        if jiff::tz::TimeZone::get(&venue.time_zone).is_err() {
            faults.push(format!(
                "venue {}: unknown time zone {}",
                venue.key, venue.time_zone
            ));
        }
    }
    for show in &catalogue.shows {
        let name = format!("show of {} in {}", show.event, show.hall);
        if !catalogue.events.iter().any(|event| event.key == show.event) {
            faults.push(format!("{name}: no such event"));
        }
        let Some((_, plan)) = plans.get(&show.hall) else {
            faults.push(format!("{name}: no such hall"));
            continue;
        };
        for (place, category) in plan.categories.iter().enumerate() {
            let is_used = plan
                .seats
                .iter()
                .any(|seat| usize::from(seat.category) == place);
            if is_used
                && !show
                    .prices
                    .iter()
                    .any(|price| price.category == category.name)
            {
                faults.push(format!("{name}: category {:?} has no price", category.name));
            }
        }
        for price in &show.prices {
            let is_of_plan = plan
                .categories
                .iter()
                .any(|category| category.name == price.category);
            faults.extend(price_fault(price, is_of_plan).map(|fault| format!("{name}: {fault}")));
        }
        if show.limit == 0 || !(1..=86_400).contains(&show.hold_seconds) {
            faults.push(format!("{name}: limit and hold_seconds must be at least 1"));
        }
    }
    ensure!(
        faults.is_empty(),
        "the catalogue has {} fault(s):\n{}",
        faults.len(),
        faults.join("\n")
    );
    Ok(())
}

/// What is wrong with a price: there must be one, of either a category of the plan or a standing zone.
fn price_fault(price: &PriceEntry, is_of_plan: bool) -> Option<String> {
    let category = &price.category;
    if price.price_minor < 1 {
        // An order that costs nothing can't be paid, so it would never be anybody's.
        return Some(format!(
            "the price of {category:?} is {}; it must be at least 1 of the currency's smallest unit",
            price.price_minor
        ));
    }
    if category.chars().count() > PLAN_CATEGORY_CHARS_MAX {
        return Some(format!(
            "category {category:?} has more than {PLAN_CATEGORY_CHARS_MAX} characters"
        ));
    }
    let Some(capacity) = price.standing_capacity else {
        return match (is_of_plan, price.pieces) {
            (false, _) => Some(format!("the plan has no category {category:?}")),
            (true, Some(_)) => Some(format!("{category:?} has seats, so it has no pieces")),
            (true, None) => None,
        };
    };
    let pieces = price.pieces.unwrap_or(1);
    if is_of_plan {
        return Some(format!(
            "{category:?} has seats in the plan, so it is no standing zone"
        ));
    }
    if !(1..=CAPACITY_MAX).contains(&capacity) || !(1..=PIECES_MAX).contains(&pieces) {
        return Some(format!(
            "standing zone {category:?} must have 1 to {CAPACITY_MAX} places in 1 to {PIECES_MAX} pieces"
        ));
    }
    None
}

pub(super) fn refund_policy(entry: &ShowEntry) -> anyhow::Result<RefundPolicy> {
    let Some(refund) = &entry.refund else {
        return Ok(RefundPolicy::default());
    };
    let policy = RefundPolicy {
        until: refund.hours_before.map(|hours| Millis::minutes(60 * hours)),
        fee_percent: refund.fee_percent,
    };
    ensure!(policy.is_sound(), "a show can't take tickets back so");
    Ok(policy)
}
