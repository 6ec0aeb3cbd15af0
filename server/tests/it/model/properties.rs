//! What must always hold, and what must be possible so that the model is about something.

use super::{
    protocol::Sale,
    state::{Consumer, Notice, ORDERS, Refund, Row, SEATS, Seat, State},
};
use stateright::Property;

pub const SOLD_ONCE: &str = "a seat is in one live order at most";
pub const PAID_HAS_CLAIMS: &str = "a paid order has its claims";
pub const LIVE_KEEPS_SEATS: &str = "no live order's seats were given back";
pub const OWN_LOCKS_ONLY: &str = "nobody frees another order's seat";
pub const NO_MONEY_LOST: &str = "an acknowledged payment has an order or a refund";
pub const COMES_TO_REST: &str = "left alone, no lock stays and no payment is left over";

/// More steps than any state needs to come to rest.
const STEPS_TO_REST_MAX: usize = 60;

pub fn all(sale: &Sale) -> Vec<Property<Sale>> {
    let mut properties = vec![
        Property::always(SOLD_ONCE, |_, state: &State| is_sold_once(state)),
        Property::always(PAID_HAS_CLAIMS, |_, state: &State| {
            state
                .orders
                .iter()
                .all(|order| order.row != Row::Paid || order.claims)
        }),
        Property::always(LIVE_KEEPS_SEATS, |_, state: &State| {
            state
                .orders
                .iter()
                .all(|order| !(order.is_live() && order.given_back))
        }),
        Property::always(OWN_LOCKS_ONLY, |_, state: &State| !state.foreign_freed),
        Property::always(NO_MONEY_LOST, |_, state: &State| {
            state.orders.iter().all(|order| {
                order.notice != Notice::Acknowledged
                    || order.row == Row::Paid
                    || order.refund != Refund::None
            })
        }),
        Property::always(COMES_TO_REST, |sale, state| {
            rested(sale, state).is_some_and(|end| is_in_order(&end))
        }),
        Property::sometimes("a late payment goes back", |_, state: &State| {
            state
                .orders
                .iter()
                .any(|order| order.refund == Refund::Done)
        }),
        Property::sometimes("a message meets its tombstone", |_, state: &State| {
            state.memory.consumers.iter().any(|consumer| {
                matches!(consumer, Consumer::Write(who) if state.orders[*who].row == Row::Discarded)
            })
        }),
        Property::sometimes(
            "a seat goes to a second customer after the first gave up",
            |_, state: &State| {
                let [first, second] = &state.orders;
                first.is_over()
                    && second.row == Row::Paid
                    && (0..SEATS).any(|seat| first.wants(seat) && second.wants(seat))
            },
        ),
    ];
    if sale.both_can_buy() {
        properties.push(Property::sometimes(
            "both customers buy",
            |_, state: &State| state.orders.iter().all(|order| order.row == Row::Paid),
        ));
    }
    properties
}

fn is_sold_once(state: &State) -> bool {
    (0..SEATS).all(|seat| {
        state
            .orders
            .iter()
            .filter(|order| order.is_live() && order.wants(seat))
            .count()
            <= 1
    })
}

/// What becomes of a state when customers, networks and faults leave it alone. None when it never comes to rest.
///
/// Every order of steps is explored anyway, as each of them is a state of its own; one of them is enough here.
fn rested(sale: &Sale, state: &State) -> Option<State> {
    let mut state = state.clone();
    let mut owed = Vec::new();
    for _ in 0..STEPS_TO_REST_MAX {
        owed.clear();
        sale.owed(&state, &mut owed);
        let next = owed
            .iter()
            .map(|&action| sale.after(&state, action))
            .find(|next| *next != state);
        match next {
            Some(next) => state = next,
            None => return Some(state),
        }
    }
    None
}

/// Whether a state at rest is as it should be: seats are free or sold to paid orders, and money is kept or given back.
fn is_in_order(state: &State) -> bool {
    let seats = (0..SEATS).all(|seat| {
        let paid = (0..ORDERS)
            .find(|&who| state.orders[who].row == Row::Paid && state.orders[who].wants(seat));
        state.redis.seats[seat] == paid.map_or(Seat::Free, Seat::Sold)
    });
    let money = state.orders.iter().all(|order| {
        let (captured, kept) = (order.notice != Notice::Nothing, order.row == Row::Paid);
        match order.refund {
            Refund::None => captured == kept,
            Refund::Requested => false,
            Refund::Done => captured && !kept,
        }
    });
    let traces = state.redis.holds.iter().any(|is_there| *is_there);
    seats && money && !traces && state.redis.loaded
}
