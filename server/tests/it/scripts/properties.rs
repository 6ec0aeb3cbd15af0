//! Random sequences of script calls on a real Redis and on a plain model, which must stay the same after every step: about
//! the seats of a show and, mixed with them, about the places of its standing zone.
//!
//! 256 sequences by default; the environment variable `SEATFLOW_PROPERTY_CASES` asks for another number.

mod befall;
mod books;
mod model;
mod places;
mod refusals;
mod sequence;
mod stage;
mod step;
mod upkeep;

use app::domain::{
    ids::{OrderNo, SeatIndex, ZoneId},
    seat::SeatState,
};
use books::are_chains;
use model::ModelShow;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use sequence::{Sequence, sequences};
use stage::PropertyStage;
use std::{cell::RefCell, collections::BTreeMap};
use step::{Order, Step, ZONES, held, zone_of};

const CASES_DEFAULT: u32 = 256;
/// Tries to make a failing sequence shorter.
const SHRINK_STEPS_MAX: u32 = 2_000;
/// Replies that some step must get, so that the sequences can't become harmless unnoticed.
const REPLIES: [&str; 30] = [
    "Held",
    "Repeated",
    "KeyUsed",
    "NotOnSale",
    "SaleNotStarted",
    "SaleEnded",
    "LevelRequired",
    "LimitReached",
    "UnknownSeat",
    "SeatsTaken",
    "ZoneSoldOut",
    "Released",
    "Nothing",
    "Confirmed",
    "Conflict",
    "Freed",
    "Restored",
    "Done",
    "Taken",
    "Set",
    "Moved",
    "Rebuild",
    "Loaded",
    "PlacesTaken",
    "PlacesRepeated",
    "PlacesShort",
    "PlacesGiven",
    "PlacesNothing",
    "PlacesWritten",
    "PlacesAsIs",
];

#[test]
fn the_scripts_do_what_the_model_does_in_any_sequence() {
    let cases = match std::env::var("SEATFLOW_PROPERTY_CASES") {
        Ok(cases) => cases
            .parse()
            .expect("SEATFLOW_PROPERTY_CASES must be a number"),
        Err(_) => CASES_DEFAULT,
    };
    let config = Config {
        cases,
        max_shrink_iters: SHRINK_STEPS_MAX,
        failure_persistence: None,
        ..Config::default()
    };
    let stage = RefCell::new(PropertyStage::new());
    let played = RefCell::new(BTreeMap::new());
    let outcome = TestRunner::new(config).run(&sequences(), |sequence| {
        play(&mut stage.borrow_mut(), &sequence, &mut played.borrow_mut())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let played = played.into_inner();
    println!(
        "{cases} sequences, {} steps: {played:?}",
        played.values().sum::<u32>()
    );
    for reply in REPLIES {
        assert!(
            cases < CASES_DEFAULT || played.contains_key(reply),
            "no step was answered {reply}"
        );
    }
}

fn play(
    stage: &mut PropertyStage,
    sequence: &Sequence,
    played: &mut BTreeMap<String, u32>,
) -> Result<(), TestCaseError> {
    let mut model = stage.open(sequence);
    let mut is_exact = true;
    let mut missing = sequence.missing.clone();
    for draw in &sequence.steps {
        let step = &draw.resolved(&model);
        let before = model.clone();
        let reply = stage.play(&mut model, &sequence.load, step)?;
        let found = stage.read(&sequence.load.meta);
        prop_assert_eq!(&found, &model, "after {:?}", step);
        only_own_tickets_change(&before, &found, step)?;
        seats_have_owners(&found)?;
        is_exact &= !step.is_fault();
        match reply.as_str() {
            "Set" => missing.values_mut().for_each(|missing| *missing = 0),
            "Loaded" => missing.clone_from(&sequence.missing),
            _ => {}
        }
        counters_equal_seats(&found, &missing, is_exact)?;
        are_chains(&found)?;
        *played.entry(reply).or_default() += 1;
    }
    Ok(())
}

/// A call for one order leaves the seats and places of all others as they are.
fn only_own_tickets_change(
    before: &ModelShow,
    after: &ModelShow,
    step: &Step,
) -> Result<(), TestCaseError> {
    if matches!(step, Step::Block(_) | Step::Unblock(_) | Step::Count { .. }) {
        prop_assert_eq!(&before.owners, &after.owners, "after {:?}", step);
    }
    let Some(caller) = step.caller() else {
        return Ok(());
    };
    for (seat, owner) in before.owners.iter().filter(|(_, owner)| **owner != caller) {
        prop_assert_eq!(
            after.owners.get(seat),
            Some(owner),
            "seat {} after {:?}",
            seat,
            step
        );
        prop_assert_eq!(
            after.state(*seat),
            before.state(*seat),
            "seat {} after {:?}",
            seat,
            step
        );
    }
    for other in before.floor.owners().filter(|owner| *owner != caller) {
        let (had, has) = (before.floor.of(other), after.floor.of(other));
        prop_assert_eq!(had, has, "places of {} after {:?}", other, step);
    }
    Ok(())
}

/// Locked and sold seats have an owner; others have none.
fn seats_have_owners(show: &ModelShow) -> Result<(), TestCaseError> {
    for (seat, state) in show.seats() {
        let is_owned = matches!(state, SeatState::Locked | SeatState::Sold);
        prop_assert_eq!(
            show.owners.contains_key(&seat),
            is_owned,
            "seat {} is {:?}",
            seat,
            state
        );
    }
    Ok(())
}

/// A zone's counter is its available seats, and a buyer's counter the tickets of all orders that count for it.
fn counters_equal_seats(
    show: &ModelShow,
    missing: &BTreeMap<ZoneId, i64>,
    is_exact: bool,
) -> Result<(), TestCaseError> {
    for zone in ZONES {
        let is_left = |(seat, state): &(SeatIndex, SeatState)| {
            zone_of(seat.0) == zone && *state == SeatState::Available
        };
        let left = i64::try_from(show.seats().filter(is_left).count()).unwrap();
        let counted = show.zones.get(&zone).copied().unwrap_or(0);
        prop_assert_eq!(counted + missing[&zone], left, "zone {}", zone);
    }
    // Once Redis has forgotten something, buyers are counted by what it knows; the model says how.
    if is_exact {
        prop_assert_eq!(&show.bought, &tickets(show));
    }
    Ok(())
}

fn tickets(show: &ModelShow) -> BTreeMap<String, i64> {
    let orders: BTreeMap<OrderNo, Order> =
        Order::all().map(|order| (order.number(), order)).collect();
    let mut tickets = BTreeMap::new();
    for (seat, owner) in &show.owners {
        let attendee = held(seat.0).attendee;
        for field in orders[owner].limit_fields().into_iter().chain(attendee) {
            *tickets.entry(field).or_default() += 1;
        }
    }
    for (owner, standing) in &show.standing {
        let limits = standing.iter().flat_map(|_| orders[owner].limit_fields());
        for field in limits.chain(standing.iter().flatten().cloned()) {
            *tickets.entry(field).or_default() += 1;
        }
    }
    tickets
}
