//! The order protocol, checked in every order in which its steps can happen.
//!
//! The model repeats what `ticketing`, `mysql` and `lua/` do, a step for each write to a store: place, send, create,
//! discard, end, pay, settle, reconcile, rebuild, with messages lost and repeated, servers that crash between any two steps, and a
//! Redis that forgets. Each safeguard left out gives a counterexample, which shows that it is needed and that the model
//! would find its absence.

mod properties;
mod protocol;
mod state;
mod steps;

use properties::{COMES_TO_REST, LIVE_KEEPS_SEATS, NO_MONEY_LOST, OWN_LOCKS_ONLY, SOLD_ONCE};
use protocol::{ANY_SEATS, BOTH_SEATS, Protocol, RedisFault, Sale};
use stateright::{Checker, HasDiscoveries, Model};

fn sale(protocol: Protocol, redis_fault: RedisFault) -> Sale {
    Sale { protocol, redis_fault, wishes: [BOTH_SEATS, ANY_SEATS] }
}

/// Checks the whole state space; it must have more than `states_min` states, so that it can't become empty unnoticed.
fn holds(sale: Sale, states_min: usize) {
    let checked = sale.checker().threads(2).spawn_dfs().join();
    println!("{} states, depth {}", checked.unique_state_count(), checked.max_depth());
    checked.assert_properties();
    assert!(checked.unique_state_count() > states_min, "{} states", checked.unique_state_count());
}

#[test]
fn probe() {
    let started = std::time::Instant::now();
    for fault in [RedisFault::None, RedisFault::Failover, RedisFault::Wipe] {
        for wishes in [[BOTH_SEATS, BOTH_SEATS], [BOTH_SEATS, ANY_SEATS], [ANY_SEATS, ANY_SEATS]] {
            let sale = Sale { protocol: Protocol::SOUND, redis_fault: fault, wishes };
            let checked = sale.checker().target_state_count(3_000_000).threads(2).spawn_dfs().join();
            println!("{fault:?} {} {} : {} unique {} generated, depth {} {:?} {:?}", wishes[0].len(), wishes[1].len(),
                checked.unique_state_count(), checked.state_count(), checked.max_depth(), started.elapsed(), checked.discoveries().keys());
            for (name, path) in checked.discoveries() {
                if checked.model().properties().iter().any(|p| p.name == name && p.expectation.discovery_is_failure()) {
                    println!("{name}: {:#?}", path.into_actions());
                }
            }
        }
    }
}
