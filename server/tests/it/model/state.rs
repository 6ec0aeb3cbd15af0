//! What the stores and the servers' memories hold, and the scripts that change Redis.

/// Orders of the model: one a customer.
pub const ORDERS: usize = 2;
/// Seats of the model.
pub const SEATS: usize = 2;

/// Names an order, and the customer who places it.
pub type Who = usize;
/// Which seats: one entry a seat.
pub type Seats = [bool; SEATS];

/// A seat in Redis: `map` and `owners` together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seat {
    Free,
    Locked(Who),
    Sold(Who),
}

/// An order's row in MySQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    Missing,
    Pending,
    Paid,
    Cancelled,
    Discarded,
}

/// What the gateway tells of an order's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Nobody has paid.
    Nothing,
    /// The money is captured; the notice is repeated until it is acknowledged.
    Repeating,
    Acknowledged,
}

/// The way back of money that came for an order that can't have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refund {
    None,
    /// Recorded, and in the outbox.
    Requested,
    Done,
}

/// Everything about one order outside Redis and outside the servers' memories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Order {
    /// The seats it is for, once it was placed.
    pub wish: Option<Seats>,
    /// Its idempotency key is known, so that a repeated hold does nothing.
    pub is_known: bool,
    /// Its message waits in `order.create`. Copies of it are one, as a consumer may take it any number of times.
    pub in_topic: bool,
    pub row: Row,
    /// Its seats are claimed.
    pub claims: bool,
    /// The outbox has `order.paid` or `order.closed` for it, whichever its row says.
    pub unsettled: bool,
    pub notice: Notice,
    /// The notice's id is marked as handled by a commit of its own; only the faulty protocol does so.
    pub marked: bool,
    pub refund: Refund,
    /// A script made a seat available that was locked for this order. Nobody reads it but the properties.
    pub given_back: bool,
}

impl Order {
    const NEW: Self = Self {
        wish: None,
        is_known: false,
        in_topic: false,
        row: Row::Missing,
        claims: false,
        unsettled: false,
        notice: Notice::Nothing,
        marked: false,
        refund: Refund::None,
        given_back: false,
    };

    pub fn is_live(&self) -> bool {
        matches!(self.row, Row::Pending | Row::Paid)
    }

    /// Whether it ended without its seats, for good.
    pub fn is_over(&self) -> bool {
        matches!(self.row, Row::Cancelled | Row::Discarded)
    }

    pub fn wants(&self, seat: usize) -> bool {
        self.wish.is_some_and(|wish| wish[seat])
    }
}

/// Redis, as the scripts see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Redis {
    /// `meta` is there.
    pub loaded: bool,
    pub seats: [Seat; SEATS],
    /// Which orders have a record in `holds`.
    pub holds: [bool; ORDERS],
    pub unsent: [bool; ORDERS],
}

impl Redis {
    pub const LOST: Self = Self {
        loaded: false,
        seats: [Seat::Free; SEATS],
        holds: [false; ORDERS],
        unsent: [false; ORDERS],
    };

    pub fn has_anything_of(&self, who: Who) -> bool {
        self.holds[who] || self.seats.contains(&Seat::Locked(who))
    }
}

/// A consumer of `order.create` between two writes to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consumer {
    Idle,
    /// Has judged the message as fresh and will write the order.
    Insert(Who),
    /// Will write the order as discarded.
    Discard(Who),
    /// Will give its seats back.
    Release(Who),
    /// Will give its seats back although no row says that it is over; only the faulty protocol does so.
    ReleaseFirst(Who),
    /// Will commit the message's offset.
    Commit(Who),
}

/// A server that reads a lost show from the database: two readings, then the script.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Loader {
    Idle,
    /// Has read which orders are pending.
    Orders([bool; ORDERS]),
    /// Has read the claims as well.
    Seats([bool; ORDERS], [Seat; SEATS]),
}

/// What a crash loses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The hold has succeeded, and the server is about to send its message.
    pub announcing: [bool; ORDERS],
    pub consumers: [Consumer; 2],
    /// A notice is marked, and the server is about to apply it; only the faulty protocol gets there.
    pub applying: [bool; ORDERS],
    pub loader: Loader,
}

impl Memory {
    pub const EMPTY: Self = Self {
        announcing: [false; ORDERS],
        consumers: [Consumer::Idle; 2],
        applying: [false; ORDERS],
        loader: Loader::Idle,
    };
}

/// The whole world at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub orders: [Order; ORDERS],
    pub redis: Redis,
    pub memory: Memory,
    /// A script freed a seat of another order than the one it was called for. Nobody reads it but the properties.
    pub foreign_freed: bool,
}

impl State {
    pub const START: Self = Self {
        orders: [Order::NEW; ORDERS],
        redis: Redis { loaded: true, ..Redis::LOST },
        memory: Memory::EMPTY,
        foreign_freed: false,
    };

    /// `hold`: all seats or none.
    pub fn hold(&mut self, who: Who, wish: Seats) -> bool {
        let is_free = |seat: usize| !wish[seat] || self.redis.seats[seat] == Seat::Free;
        if !self.redis.loaded || self.redis.holds[who] || !(0..SEATS).all(is_free) {
            return false;
        }
        for seat in (0..SEATS).filter(|&seat| wish[seat]) {
            self.redis.seats[seat] = Seat::Locked(who);
        }
        self.redis.holds[who] = true;
        self.redis.unsent[who] = true;
        true
    }

    /// `release`: frees what the order's record says, where the seat is locked for that very order.
    pub fn release(&mut self, who: Who, checks_owner: bool) {
        if self.redis.holds[who] {
            self.free_seats(who, checks_owner);
        }
    }

    /// `free_sold`, which reconciliation uses where a record may be missing: frees what the order still owns.
    pub fn free(&mut self, who: Who, checks_owner: bool) {
        if self.redis.loaded {
            self.free_seats(who, checks_owner);
        }
    }

    fn free_seats(&mut self, who: Who, checks_owner: bool) {
        for seat in (0..SEATS).filter(|&seat| self.orders[who].wants(seat)) {
            let (Seat::Locked(owner) | Seat::Sold(owner)) = self.redis.seats[seat] else { continue };
            if owner != who && checks_owner {
                continue;
            }
            self.redis.seats[seat] = Seat::Free;
            self.orders[owner].given_back = true;
            self.foreign_freed |= owner != who;
        }
        self.redis.holds[who] = false;
        self.redis.unsent[who] = false;
    }

    /// `confirm`: sells the order's seats, also those that are free; none if one is another's. Whether it did.
    pub fn confirm(&mut self, who: Who) -> bool {
        let is_others = |seat: Seat| !matches!(seat, Seat::Free) && !is_owned_by(seat, who);
        let wanted = |&seat: &usize| self.orders[who].wants(seat);
        if !self.redis.loaded || (0..SEATS).filter(wanted).any(|seat| is_others(self.redis.seats[seat])) {
            return false;
        }
        for seat in (0..SEATS).filter(|&seat| self.orders[who].wants(seat)) {
            self.redis.seats[seat] = Seat::Sold(who);
        }
        self.redis.holds[who] = false;
        self.redis.unsent[who] = false;
        true
    }

    /// `restore`: locks again what a pending order has lost; nothing if a seat is sold or another's.
    pub fn restore(&mut self, who: Who) {
        let wanted: Vec<usize> = (0..SEATS).filter(|&seat| self.orders[who].wants(seat)).collect();
        let fits = |&seat: &usize| matches!(self.redis.seats[seat], Seat::Free) || self.redis.seats[seat] == Seat::Locked(who);
        if self.redis.loaded && wanted.iter().all(fits) {
            for seat in wanted {
                self.redis.seats[seat] = Seat::Locked(who);
            }
            self.redis.holds[who] = true;
        }
    }
}

fn is_owned_by(seat: Seat, who: Who) -> bool {
    seat == Seat::Locked(who) || seat == Seat::Sold(who)
}
