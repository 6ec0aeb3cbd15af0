//! The order protocol, checked in every order in which its steps can happen.
//!
//! The model repeats what `ticketing`, `mysql` and `lua/` do, a step for each write to a store: place, send, create,
//! discard, end, pay, settle, reconcile, rebuild. Messages come late, twice or never, servers crash between any two steps,
//! and Redis forgets. Each safeguard left out gives a counterexample, which shows that it is needed and that the model
//! would notice its absence.

mod properties;
mod protocol;
mod state;
mod steps;

use properties::{COMES_TO_REST, LIVE_KEEPS_SEATS, NO_MONEY_LOST, OWN_LOCKS_ONLY, SOLD_ONCE};
use protocol::{
    ANY_SEATS, Action, BOTH_SEATS, FIRST_SEAT, Protocol, RedisFault, SECOND_OR_BOTH, Sale,
};
use stateright::{Checker, HasDiscoveries, Model};

/// More steps than any counterexample needs.
const STEPS_TO_BREAK_MAX: usize = 16;

/// Checks every reachable state. There must be more than `states_min`, so that the model can't become empty unnoticed.
fn every_state_is_sound(
    redis_fault: RedisFault,
    wishes: [&'static [state::Seats]; 2],
    states_min: usize,
) {
    let sale = Sale {
        protocol: Protocol::SOUND,
        redis_fault,
        wishes,
    };
    let checked = sale.checker().threads(2).spawn_dfs().join();
    assert!(checked.is_done());
    checked.assert_properties();
    let states = checked.unique_state_count();
    println!(
        "{redis_fault:?}: {states} states, {} steps, depth {}",
        checked.state_count(),
        checked.max_depth()
    );
    assert!(states > states_min, "{states} states");
}

/// The shortest way to break `property` when a safeguard is left out.
fn counterexample(
    protocol: Protocol,
    redis_fault: RedisFault,
    property: &'static str,
) -> Vec<Action> {
    let sale = Sale {
        protocol,
        redis_fault,
        wishes: [BOTH_SEATS, BOTH_SEATS],
    };
    // The checker reports the last path it finds, so that only the depth makes it the shortest.
    let found = (1..=STEPS_TO_BREAK_MAX).find_map(|depth| {
        let checker = sale
            .checker()
            .finish_when(HasDiscoveries::AnyOf([property].into()));
        checker
            .target_max_depth(depth)
            .spawn_bfs()
            .join()
            .discovery(property)
    });
    let actions = found
        .unwrap_or_else(|| panic!("nothing breaks {property:?}"))
        .into_actions();
    for action in &actions {
        println!("{action:?}");
    }
    actions
}

#[test]
fn the_protocol_is_sound_while_servers_crash_and_messages_are_late_lost_or_repeated() {
    every_state_is_sound(RedisFault::None, [ANY_SEATS, ANY_SEATS], 100_000);
}

#[test]
fn the_protocol_is_sound_when_a_failover_forgets_holds() {
    every_state_is_sound(RedisFault::Failover, [FIRST_SEAT, SECOND_OR_BOTH], 50_000);
}

#[test]
fn the_protocol_is_sound_when_redis_restarts_empty() {
    every_state_is_sound(RedisFault::Wipe, [FIRST_SEAT, BOTH_SEATS], 50_000);
}

#[test]
fn without_the_tombstone_a_late_message_makes_an_order_of_seats_that_were_given_back() {
    let protocol = Protocol {
        tombstone: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::None, LIVE_KEEPS_SEATS);
    let [
        ..,
        Action::Repair(freed),
        Action::Take {
            who,
            is_fresh: true,
            ..
        },
        Action::Consume(_),
    ] = steps[..]
    else {
        panic!("not by a late message: {steps:?}")
    };
    assert_eq!(freed, who);
}

#[test]
fn without_comparing_the_owner_a_repeated_release_frees_the_next_customers_seat() {
    let protocol = Protocol {
        release_checks_owner: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::None, OWN_LOCKS_ONLY);
    let [.., Action::Place(next, _), Action::Repair(repeated)] = steps[..] else {
        panic!("not by a repeat: {steps:?}")
    };
    assert_ne!(next, repeated);
}

#[test]
fn discarding_without_a_row_first_gives_back_the_seats_of_an_order_that_lives() {
    let protocol = Protocol {
        row_before_release: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::None, LIVE_KEEPS_SEATS);
    let judged = |fresh| move |step: &Action| matches!(step, Action::Take { is_fresh, .. } if *is_fresh == fresh);
    assert!(
        steps.iter().any(judged(true)) && steps.iter().any(judged(false)),
        "not by a repeated message: {steps:?}"
    );
}

#[test]
fn a_callback_marked_as_handled_before_its_transaction_loses_a_payment_in_a_crash() {
    let protocol = Protocol {
        callback_marked_in_transaction: false,
        ..Protocol::SOUND
    };
    counterexample(protocol, RedisFault::None, NO_MONEY_LOST);
    let steps = counterexample(protocol, RedisFault::None, COMES_TO_REST);
    assert!(steps.contains(&Action::Crash), "not by a crash: {steps:?}");
}

#[test]
fn without_the_claims_key_a_failover_sells_a_seat_twice() {
    let protocol = Protocol {
        claims_are_unique: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::Failover, SOLD_ONCE);
    assert!(
        steps.iter().any(|step| matches!(step, Action::Failover(_))),
        "not by a failover: {steps:?}"
    );
}

#[test]
fn repairing_by_records_alone_leaves_a_seat_locked_that_a_restarted_redis_was_given_too_late() {
    let protocol = Protocol {
        frees_without_record: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::Wipe, COMES_TO_REST);
    assert!(steps.contains(&Action::Wipe), "not by a restart: {steps:?}");
}

#[test]
fn repairing_by_seats_alone_leaves_a_record_that_a_restarted_redis_was_given_too_late() {
    let protocol = Protocol {
        finds_stale_records: false,
        ..Protocol::SOUND
    };
    let steps = counterexample(protocol, RedisFault::Wipe, COMES_TO_REST);
    assert!(steps.contains(&Action::Wipe), "not by a restart: {steps:?}");
}
