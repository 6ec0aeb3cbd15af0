//! The standing zone of the show, in two pieces: its places are taken and given in the same sequences as seats, and neither
//! may touch the other.

use super::{
    super::fixture::{EPOCH, NOW},
    stage::{PropertyStage, same},
    step::Order,
};
use crate::standing::properties::model::{Model, ModelPiece};
use app::domain::ids::{OrderNo, ZoneId};
use proptest::{prelude::*, test_runner::TestCaseError};
use server::redis::{
    RedisError,
    keys::{Piece, PieceKey},
    scripts::{GiveWhy, LoadReply, LoadStanding, SellStanding, TakeStanding, TakeStandingReply},
    standing::{PlaceState, TakenPlaces},
};
use std::{array, collections::BTreeMap};

/// Beyond what Lua's numbers can tell apart, and next to a zone of seats.
const FLOOR: ZoneId = ZoneId(9_007_199_254_740_994);
const PIECES: usize = 2;
/// Places of each piece.
const PLACES: u32 = 5;

/// What an order wants of the standing zone.
#[derive(Debug, Clone)]
pub enum Places {
    /// So many places, from its own piece first, and what is missing from the other.
    Take(u32),
    /// To keep only so many of a piece.
    Give { piece: usize, keep: u32 },
    /// To have so many of a piece, as the database says.
    Sell {
        piece: usize,
        quantity: u32,
        state: PlaceState,
    },
}

pub fn places() -> impl Strategy<Value = Places> {
    let state = prop_oneof![Just(PlaceState::Locked), Just(PlaceState::Sold)];
    prop_oneof![
        8 => (1..=4_u32).prop_map(Places::Take),
        4 => (0..PIECES, 0..=2_u32).prop_map(|(piece, keep)| Places::Give { piece, keep }),
        3 => (0..PIECES, 1..=3_u32, state)
            .prop_map(|(piece, quantity, state)| Places::Sell { piece, quantity, state }),
    ]
}

/// The pieces as the scripts must keep them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFloor([Model; PIECES]);

impl Default for ModelFloor {
    /// Loaded, and nothing is taken.
    fn default() -> Self {
        Self(array::from_fn(|at| {
            let mut piece = Model::default();
            piece.load(&empty(at));
            piece
        }))
    }
}

impl ModelFloor {
    /// What an order has of each piece.
    pub fn of(&self, order_no: OrderNo) -> [Option<TakenPlaces>; PIECES] {
        array::from_fn(|at| self.taken(at).get(&order_no).copied())
    }

    pub fn has_any(&self, order_no: OrderNo) -> bool {
        self.of(order_no).iter().any(Option::is_some)
    }

    /// The orders that have places.
    pub fn owners(&self) -> impl Iterator<Item = OrderNo> + '_ {
        (0..PIECES).flat_map(|at| self.taken(at).keys().copied())
    }

    fn taken(&self, at: usize) -> &BTreeMap<OrderNo, TakenPlaces> {
        let piece = self.0[at].piece.as_ref();
        &piece.expect("pieces are never lost here").taken
    }

    /// Places that can be had of a piece: no fewer than none, however many were sold beyond what there is.
    fn left(&self, at: usize) -> u32 {
        let taken = self.taken(at).values().map(|taken| taken.quantity);
        PLACES.saturating_sub(taken.sum())
    }
}

impl PropertyStage {
    /// The keys of all pieces.
    pub(super) fn floor_keys(&self) -> Vec<String> {
        let keys = self.stage.redis.keys();
        pieces().flat_map(|piece| keys.piece_keys(piece)).collect()
    }

    pub(super) fn open_floor(&self) {
        for at in 0..PIECES {
            let load = empty(at);
            let loaded = self.runtime.block_on(self.stage.redis.load_standing(&load));
            assert_eq!(loaded.unwrap(), LoadReply::Loaded);
        }
    }

    /// Takes a step on both sides; the name of the reply, which tells it from those about seats.
    pub(super) fn play_places(
        &self,
        floor: &mut ModelFloor,
        order: Order,
        wish: &Places,
    ) -> Result<String, TestCaseError> {
        let order_no = order.number();
        let reply = match *wish {
            Places::Take(quantity) => self.take_places(floor, order, quantity),
            Places::Give { piece: at, keep } => {
                let redis = &self.stage.redis;
                let call = redis.give_standing(piece(at), order_no, keep, GiveWhy::Release);
                let reply = self.runtime.block_on(call);
                same(reply, floor.0[at].give(order_no, keep))
            }
            Places::Sell {
                piece: at,
                quantity,
                state,
            } => {
                let sell = SellStanding {
                    piece: piece(at),
                    order_no,
                    now: NOW,
                    quantity,
                    state,
                };
                let reply = self.runtime.block_on(self.stage.redis.sell_standing(&sell));
                same(reply, floor.0[at].sell(order_no, quantity, state))
            }
        };
        Ok(format!("Places{}", reply?))
    }

    /// Takes what one piece has, and the rest from the other. No order gets fewer places than it wants while there are any.
    fn take_places(
        &self,
        floor: &mut ModelFloor,
        order: Order,
        quantity: u32,
    ) -> Result<String, TestCaseError> {
        let had_any = floor.has_any(order.number());
        let left = floor.left(0) + floor.left(1);
        let (mut missing, mut word) = (quantity, String::new());
        let first = usize::from(order.0) % PIECES;
        for at in (first..PIECES).chain(0..first) {
            let take = TakeStanding {
                piece: piece(at),
                order_no: order.number(),
                now: NOW,
                quantity: missing,
                least: 1,
            };
            let reply = self.runtime.block_on(self.stage.redis.take_standing(&take));
            let got = taken_by(&reply);
            word = same(reply, floor.0[at].take(order.number(), missing, 1))?;
            missing = missing.saturating_sub(got);
            if missing == 0 {
                break;
            }
        }
        if !had_any {
            prop_assert_eq!(quantity - missing, quantity.min(left), "of {} left", left);
        }
        Ok(word)
    }

    /// What Redis holds of the pieces now, in the model's form. Their counts must be those of their entries, and what they
    /// log a chain that ends with what is left.
    pub(super) fn read_floor(&mut self) -> ModelFloor {
        let mut reads = redis::pipe();
        reads.atomic();
        for piece in pieces() {
            let key = |key| self.stage.redis.keys().piece(piece, key);
            let (places, taken) = (key(PieceKey::Places), key(PieceKey::Taken));
            reads.hgetall(places).hgetall(taken);
            reads
                .cmd("XRANGE")
                .arg(key(PieceKey::Quantities))
                .arg("-")
                .arg("+");
        }
        type Counts = BTreeMap<String, u32>;
        type Entries = BTreeMap<String, String>;
        type Log = Vec<(String, BTreeMap<String, String>)>;
        type Read = (Counts, Entries, Log);
        let (a, b, c, d, e, f): (Counts, Entries, Log, Counts, Entries, Log) =
            reads.query(&mut self.behind).unwrap();
        let read: [Read; PIECES] = [(a, b, c), (d, e, f)];
        ModelFloor(read.map(|(counts, entries, log)| read_piece(&counts, &entries, &log)))
    }
}

fn read_piece(
    counts: &BTreeMap<String, u32>,
    entries: &BTreeMap<String, String>,
    log: &[(String, BTreeMap<String, String>)],
) -> Model {
    let entry = |(order, text): (&String, &String)| {
        let taken = TakenPlaces::from_entry(text).unwrap();
        (order.parse::<OrderNo>().unwrap(), taken)
    };
    let piece = ModelPiece {
        epoch: counts["epoch"],
        total: counts["total"],
        taken: entries.iter().map(entry).collect(),
    };
    assert_eq!(counts["locked"], piece.count(PlaceState::Locked));
    assert_eq!(counts["sold"], piece.count(PlaceState::Sold));
    let change = |(_, fields): &(String, BTreeMap<String, String>)| {
        assert_eq!(fields["zone"], FLOOR.to_string());
        let number = |field: &str| fields[field].parse::<i64>();
        let (before, after) = (number("before").ok(), number("after").unwrap());
        assert_eq!(before.unwrap_or(0) + number("change").unwrap(), after);
        (before, after)
    };
    let log: Vec<(Option<i64>, i64)> = log.iter().map(change).collect();
    let is_chain = log.windows(2).all(|two| two[1].0 == Some(two[0].1));
    assert!(is_chain, "{log:?}");
    let taken = i64::from(counts["locked"]) + i64::from(counts["sold"]);
    let left = i64::from(counts["total"]) - taken;
    assert_eq!(log.last().map(|(_, after)| *after), Some(left));
    Model {
        piece: Some(piece),
        log,
    }
}

fn taken_by(reply: &Result<TakeStandingReply, RedisError>) -> u32 {
    match reply {
        Ok(TakeStandingReply::Taken { quantity, .. }) => *quantity,
        _ => 0,
    }
}

fn piece(at: usize) -> Piece {
    Piece {
        zone: FLOOR,
        piece: u16::try_from(at).unwrap(),
    }
}

fn pieces() -> impl Iterator<Item = Piece> {
    (0..PIECES).map(piece)
}

fn empty(at: usize) -> LoadStanding {
    LoadStanding {
        piece: piece(at),
        epoch: EPOCH,
        total: PLACES,
        taken: Vec::new(),
        replaces: None,
    }
}
