//! What can happen: the steps that the system owes, and what customers, networks and faults do to it.

use super::state::{Consumer, Loader, Notice, ORDERS, Refund, Row, Seats, State, Who};
use stateright::{Model, Property};

/// The safeguards of the protocol. Each can be left out, to see what it is for.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    /// Reconciliation writes a discarded row before it frees a lock without a row.
    pub tombstone: bool,
    /// Scripts compare the owner before they free a seat.
    pub release_checks_owner: bool,
    /// A message that is given up becomes a discarded row before its seats are given back.
    pub row_before_release: bool,
    /// A callback counts as handled with the commit of what it changes, not before.
    pub callback_marked_in_transaction: bool,
    /// Two live orders can't claim the same seat.
    pub claims_are_unique: bool,
    /// Reconciliation frees what an order that is over owns, even where Redis has no record of it.
    pub frees_without_record: bool,
    /// Reconciliation also finds records of orders that are over and own no seat.
    pub finds_stale_records: bool,
}

impl Protocol {
    /// With every safeguard.
    pub const SOUND: Self = Self {
        tombstone: true,
        release_checks_owner: true,
        row_before_release: true,
        callback_marked_in_transaction: true,
        claims_are_unique: true,
        frees_without_record: true,
        finds_stale_records: true,
    };
}

/// What may go wrong with Redis while the protocol runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedisFault {
    /// Nothing.
    None,
    /// A failover to a replica that had not heard of a hold.
    Failover,
    /// Restarts empty.
    Wipe,
}

/// Two customers and two seats under a protocol.
///
/// **Bounds:** one order a customer, one payment an order, two consumers. Faults, repeats, crashes and delays are not
/// counted: each may happen at any moment, any number of times. A message that was sent may be read at any time, again, by
/// both consumers at once, or never, which stands for lost acknowledgements, redeliveries and lost messages. Clocks are not
/// modelled: at any moment a message may be judged as fresh or as stale, an order be due, and a lock's lease be over. What
/// holds here holds whatever the clocks say. Counters, refunds by staff and dead letters are left out.
#[derive(Debug, Clone, Copy)]
pub struct Sale {
    pub protocol: Protocol,
    pub redis_fault: RedisFault,
    /// What each customer may want.
    pub wishes: [&'static [Seats]; ORDERS],
}

/// One step. Every step writes to one store at most, so that a crash may come between any two writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The hold script runs, for the first time or again after its answer was lost.
    Place(Who, Seats),
    /// The placing server or the relay sends the message.
    Send(Who),
    /// A consumer takes a message, for the first time or again, and judges its age.
    Take {
        consumer: usize,
        who: Who,
        is_fresh: bool,
    },
    /// A consumer goes one step further.
    Consume(usize),
    /// Timeout, sweeper, customer or staff end a pending order: one and the same transaction.
    End(Who),
    /// The customer pays at the gateway, in time or late.
    Pay(Who),
    /// The gateway's notice arrives; the gateway may not hear that it did.
    Notify { who: Who, acknowledged: bool },
    /// The second commit of a callback that was marked before.
    Apply(Who),
    /// The outbox does what a committed row asks for, and may be interrupted before it removes the row.
    Settle { who: Who, finished: bool },
    /// The gateway gives the money back.
    SettleRefund(Who),
    /// Reconciliation repairs Redis by what the order's row says, or does a second time what it has done before.
    Repair(Who),
    /// Reconciliation locks the seats again of an order that it has read as pending, perhaps long ago. Its second look at the
    /// row, which may never come, is a `Repair`.
    RestoreLate(Who),
    /// A server that met `rebuild` goes one step further.
    Load,
    /// Redis forgets a hold.
    Failover(Who),
    /// Redis forgets everything.
    Wipe,
    /// All servers stop; what they were about to do is lost.
    Crash,
}

impl Model for Sale {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::START]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.owed(state, actions);
        self.surroundings(state, actions);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let next = self.after(last, action);
        // A step that changes nothing leads nowhere new.
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        super::properties::all(self)
    }
}

impl Sale {
    /// Whether the customers may want different seats.
    pub fn both_can_buy(&self) -> bool {
        let [firsts, seconds] = self.wishes;
        let differ = |first: &Seats, second: &Seats| {
            first.iter().zip(second).all(|(one, other)| !(one & other))
        };
        firsts
            .iter()
            .any(|first| seconds.iter().any(|second| differ(first, second)))
    }

    /// Steps that the system takes by itself sooner or later, those that finish something first.
    pub fn owed(&self, state: &State, actions: &mut Vec<Action>) {
        let consumers = &state.memory.consumers;
        actions.extend(
            (0..consumers.len())
                .filter(|&at| consumers[at] != Consumer::Idle)
                .map(Action::Consume),
        );
        if !state.redis.loaded || state.memory.loader != Loader::Idle {
            actions.push(Action::Load);
        }
        for who in 0..ORDERS {
            let order = &state.orders[who];
            if state.memory.applying[who] {
                actions.push(Action::Apply(who));
            }
            if state.redis.holds[who] {
                actions.push(Action::Send(who));
            }
            if order.notice == Notice::Repeating {
                actions.push(Action::Notify {
                    who,
                    acknowledged: true,
                });
            }
            if order.unsettled {
                actions.push(Action::Settle {
                    who,
                    finished: true,
                });
            }
            if order.refund == Refund::Requested {
                actions.push(Action::SettleRefund(who));
            }
            // Reconciliation finds an order by its claims, while it lives, and by what it has in Redis.
            let has_record = self.protocol.finds_stale_records && state.redis.holds[who];
            if order.is_live() || state.redis.has_seats_of(who) || has_record {
                actions.push(Action::Repair(who));
            }
            if order.row == Row::Pending {
                actions.push(Action::End(who));
            }
        }
    }

    /// What nobody owes: customers, delays, losses, repeats and crashes.
    fn surroundings(&self, state: &State, actions: &mut Vec<Action>) {
        // Consumers are alike, so that the first idle one stands for all.
        let idle = state
            .memory
            .consumers
            .iter()
            .position(|consumer| *consumer == Consumer::Idle);
        for who in 0..ORDERS {
            let order = &state.orders[who];
            if !order.is_known {
                let wishes = self.wishes[who].iter();
                let same = wishes.filter(|&&wish| order.wish.is_none_or(|earlier| earlier == wish));
                actions.extend(same.map(|&wish| Action::Place(who, wish)));
            }
            if order.wish.is_some() {
                actions.push(Action::Send(who));
            }
            if let (true, Some(consumer)) = (order.is_sent, idle) {
                actions.extend([true, false].map(|is_fresh| Action::Take {
                    consumer,
                    who,
                    is_fresh,
                }));
            }
            if order.notice == Notice::Nothing && matches!(order.row, Row::Pending | Row::Cancelled)
            {
                actions.push(Action::Pay(who));
            }
            if order.notice == Notice::Repeating {
                actions.push(Action::Notify {
                    who,
                    acknowledged: false,
                });
            }
            if order.unsettled {
                actions.push(Action::Settle {
                    who,
                    finished: false,
                });
            }
            if order.row != Row::Missing {
                actions.push(Action::Repair(who));
            }
            if matches!(order.row, Row::Cancelled | Row::Paid) {
                actions.push(Action::RestoreLate(who));
            }
            if self.redis_fault == RedisFault::Failover && state.redis.holds[who] {
                actions.push(Action::Failover(who));
            }
        }
        if self.redis_fault == RedisFault::Wipe && state.redis.loaded {
            actions.push(Action::Wipe);
        }
        actions.push(Action::Crash);
    }
}

/// One seat, the other, or both.
pub const ANY_SEATS: &[Seats] = &[[true, false], [false, true], [true, true]];
pub const BOTH_SEATS: &[Seats] = &[[true, true]];
pub const FIRST_SEAT: &[Seats] = &[[true, false]];
pub const SECOND_OR_BOTH: &[Seats] = &[[false, true], [true, true]];
