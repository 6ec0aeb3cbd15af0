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

impl Seat {
    fn is_free_or_of(self, who: Who) -> bool {
        match self {
            Self::Free => true,
            Self::Locked(owner) | Self::Sold(owner) => owner == who,
        }
    }
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
    /// Its message is in `order.create`, for good: who reads it late, twice or never is up to the steps.
    pub is_sent: bool,
    pub row: Row,
    /// Its seats are claimed.
    pub claims: bool,
    /// The outbox has `order.paid` or `order.closed` for it, whichever its row says.
    pub unsettled: bool,
    pub notice: Notice,
    /// The notice's id is marked as handled by a commit of its own; only the faulty protocol does so.
    pub marked: bool,
    pub refund: Refund,
    /// A script made a seat available that was this order's, before it was over. Only the properties read it.
    pub given_back: bool,
}

impl Order {
    const NEW: Self = Self {
        wish: None,
        is_known: false,
        is_sent: false,
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

    /// The seats it is for; none before it was placed.
    pub fn seats(&self) -> impl Iterator<Item = usize> + use<> {
        let wish = self.wish.unwrap_or_default();
        (0..SEATS).filter(move |&seat| wish[seat])
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
}

impl Redis {
    pub const LOST: Self = Self {
        loaded: false,
        seats: [Seat::Free; SEATS],
        holds: [false; ORDERS],
    };

    pub fn has_seats_of(&self, who: Who) -> bool {
        self.seats.contains(&Seat::Locked(who)) || self.seats.contains(&Seat::Sold(who))
    }
}

/// A consumer of `order.create` between two writes to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consumer {
    Idle,
    /// Will write the order, or do what is left to do when it has a row already.
    Write(Who),
    /// Will write the order as discarded.
    Discard(Who),
    /// Will give its seats back although no row says that it is over; only the faulty protocol does so.
    ReleaseFirst(Who),
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
    pub consumers: [Consumer; 2],
    /// A notice is marked, and the server is about to apply it; only the faulty protocol gets there.
    pub applying: [bool; ORDERS],
    pub loader: Loader,
}

impl Memory {
    pub const EMPTY: Self = Self {
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
    /// A script freed a seat of another order than the one it was called for. Only the properties read it.
    pub foreign_freed: bool,
}

impl State {
    pub const START: Self = Self {
        orders: [Order::NEW; ORDERS],
        redis: Redis {
            loaded: true,
            ..Redis::LOST
        },
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
        for seat in self.orders[who].seats() {
            let (Seat::Locked(owner) | Seat::Sold(owner)) = self.redis.seats[seat] else {
                continue;
            };
            if owner != who && checks_owner {
                continue;
            }
            self.redis.seats[seat] = Seat::Free;
            self.orders[owner].given_back |= !self.orders[owner].is_over();
            self.foreign_freed |= owner != who;
        }
        self.redis.holds[who] = false;
    }

    /// `confirm`: sells the order's seats, also those that are free; none if one is another's. Whether it did.
    pub fn confirm(&mut self, who: Who) -> bool {
        let fits = |seat: usize| self.redis.seats[seat].is_free_or_of(who);
        if !self.redis.loaded || !self.orders[who].seats().all(fits) {
            return false;
        }
        for seat in self.orders[who].seats() {
            self.redis.seats[seat] = Seat::Sold(who);
        }
        self.redis.holds[who] = false;
        true
    }

    /// `restore`: locks again what a pending order has lost; nothing if a seat is sold or another's.
    pub fn restore(&mut self, who: Who) {
        let fits = |seat: usize| {
            let found = self.redis.seats[seat];
            found.is_free_or_of(who) && found != Seat::Sold(who)
        };
        if self.redis.loaded && self.orders[who].seats().all(fits) {
            for seat in self.orders[who].seats() {
                self.redis.seats[seat] = Seat::Locked(who);
            }
            self.redis.holds[who] = true;
        }
    }
}
