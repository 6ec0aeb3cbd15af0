//! What each step does, as the code does it.

use super::{
    protocol::{Action, Sale},
    state::{
        Consumer, Loader, Memory, Notice, ORDERS, Redis, Refund, Row, SEATS, Seat, State, Who,
    },
};

impl Sale {
    /// The state after an action. An action that is not possible any more changes nothing.
    pub fn after(&self, last: &State, action: Action) -> State {
        let mut next = last.clone();
        match action {
            Action::Place(who, wish) => {
                if next.hold(who, wish) {
                    next.orders[who].wish = Some(wish);
                    next.orders[who].is_known = true;
                }
            }
            Action::Send(who) => next.orders[who].is_sent = true,
            Action::Take {
                consumer,
                who,
                is_fresh,
            } => {
                next.memory.consumers[consumer] = if is_fresh {
                    Consumer::Write(who)
                } else {
                    self.giving_up(who)
                };
            }
            Action::Consume(consumer) => self.consume(&mut next, consumer),
            Action::End(who) => end(&mut next, who),
            Action::Pay(who) => next.orders[who].notice = Notice::Repeating,
            Action::Notify { who, acknowledged } => self.notify(&mut next, who, acknowledged),
            Action::Apply(who) => {
                next.memory.applying[who] = false;
                record_payment(&mut next, who);
            }
            Action::Settle { who, finished } => self.settle(&mut next, who, finished),
            Action::SettleRefund(who) => next.orders[who].refund = Refund::Done,
            Action::Repair(who) => self.repair(&mut next, who),
            Action::RestoreLate(who) => next.restore(who),
            Action::Load => load(&mut next),
            Action::Failover(who) => forget_hold(&mut next, who),
            Action::Wipe => {
                next.redis = Redis::LOST;
                next.orders
                    .iter_mut()
                    .for_each(|order| order.is_known = false);
            }
            Action::Crash => next.memory = Memory::EMPTY,
        }
        // Consumers are alike: which of them does what makes no difference.
        next.memory.consumers.sort_unstable();
        next
    }

    fn giving_up(&self, who: Who) -> Consumer {
        if self.protocol.row_before_release {
            Consumer::Discard(who)
        } else {
            Consumer::ReleaseFirst(who)
        }
    }

    fn consume(&self, state: &mut State, at: usize) {
        let checks_owner = self.protocol.release_checks_owner;
        state.memory.consumers[at] = match state.memory.consumers[at] {
            Consumer::Idle => Consumer::Idle,
            Consumer::Write(who) if state.orders[who].row != Row::Missing => {
                // It was written before: if it was given up its seats go back, perhaps again.
                if state.orders[who].row == Row::Discarded {
                    state.release(who, checks_owner);
                }
                Consumer::Idle
            }
            Consumer::Write(who) if self.is_claimed_by_another(state, who) => self.giving_up(who),
            Consumer::Write(who) => {
                state.orders[who].row = Row::Pending;
                state.orders[who].claims = true;
                Consumer::Idle
            }
            Consumer::Discard(who) => {
                if state.orders[who].row == Row::Missing {
                    state.orders[who].row = Row::Discarded;
                }
                Consumer::Write(who)
            }
            Consumer::ReleaseFirst(who) => {
                state.release(who, checks_owner);
                Consumer::Discard(who)
            }
        };
    }

    fn is_claimed_by_another(&self, state: &State, who: Who) -> bool {
        let overlaps = |other: Who| {
            (0..SEATS).any(|seat| state.orders[who].wants(seat) && state.orders[other].wants(seat))
        };
        self.protocol.claims_are_unique
            && (0..ORDERS)
                .any(|other| other != who && state.orders[other].claims && overlaps(other))
    }

    fn notify(&self, state: &mut State, who: Who, acknowledged: bool) {
        let order = &mut state.orders[who];
        let mut is_handled = true;
        if self.protocol.callback_marked_in_transaction {
            record_payment(state, who);
        } else if !order.marked {
            order.marked = true;
            state.memory.applying[who] = true;
            // The answer comes after the second commit; here the gateway asks again for it.
            is_handled = false;
        }
        if acknowledged && is_handled {
            state.orders[who].notice = Notice::Acknowledged;
        }
    }

    fn settle(&self, state: &mut State, who: Who, finished: bool) {
        let is_done = match state.orders[who].row {
            Row::Paid => state.confirm(who),
            // Without the show there is nothing to give back, so that `rebuild` counts as done.
            _ => {
                state.release(who, self.protocol.release_checks_owner);
                true
            }
        };
        if is_done && finished {
            state.orders[who].unsettled = false;
        }
    }

    fn repair(&self, state: &mut State, who: Who) {
        let checks_owner = self.protocol.release_checks_owner;
        match state.orders[who].row {
            // The row first: from now on a late message meets it. The seats follow as those of any order that is over.
            Row::Missing if self.protocol.tombstone => state.orders[who].row = Row::Discarded,
            Row::Missing => state.free(who, checks_owner),
            Row::Cancelled | Row::Discarded if self.protocol.frees_without_record => {
                state.free(who, checks_owner)
            }
            Row::Cancelled | Row::Discarded => state.release(who, checks_owner),
            Row::Pending => state.restore(who),
            Row::Paid => {
                state.confirm(who);
            }
        }
    }
}

fn end(state: &mut State, who: Who) {
    let order = &mut state.orders[who];
    if order.row == Row::Pending {
        order.row = Row::Cancelled;
        order.claims = false;
        order.unsettled = true;
    }
}

/// The transaction of a payment notice. A repeat finds the payment recorded.
fn record_payment(state: &mut State, who: Who) {
    let order = &mut state.orders[who];
    if order.row == Row::Paid || order.refund != Refund::None {
        return;
    }
    if order.row == Row::Pending {
        order.row = Row::Paid;
        order.unsettled = true;
    } else {
        order.refund = Refund::Requested;
    }
}

fn load(state: &mut State) {
    state.memory.loader = match state.memory.loader.clone() {
        Loader::Idle => Loader::Orders(
            state
                .orders
                .each_ref()
                .map(|order| order.row == Row::Pending),
        ),
        Loader::Orders(pending) => Loader::Seats(
            pending,
            std::array::from_fn(|seat| claimed_seat(state, seat)),
        ),
        Loader::Seats(pending, seats) => {
            if !state.redis.loaded {
                state.redis = Redis {
                    loaded: true,
                    seats,
                    holds: pending,
                };
            }
            Loader::Idle
        }
    };
}

fn claimed_seat(state: &State, seat: usize) -> Seat {
    let owner = (0..ORDERS).find(|&who| state.orders[who].claims && state.orders[who].wants(seat));
    match owner {
        Some(who) if state.orders[who].row == Row::Paid => Seat::Sold(who),
        Some(who) => Seat::Locked(who),
        None => Seat::Free,
    }
}

/// As if the hold had never run, even if its message is on its way already.
fn forget_hold(state: &mut State, who: Who) {
    for seat in &mut state.redis.seats {
        if *seat == Seat::Locked(who) {
            *seat = Seat::Free;
        }
    }
    state.redis.holds[who] = false;
    state.orders[who].is_known = false;
}
