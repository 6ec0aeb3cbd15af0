//! Random sequences of script calls on a piece of a standing zone, on a real Redis and on a plain model, which must stay the
//! same after every step.
//!
//! 256 sequences by default; the environment variable `SEATFLOW_PROPERTY_CASES` asks for another number.

pub(crate) mod model;

use super::fixture::{EPOCH, NOW, PIECE, PieceStage, load, order_no, take};
use app::domain::time::Timestamp;
use model::{Model, ModelPiece, entry};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use server::redis::{
    scripts::{GiveWhy, LoadStanding, SellStanding},
    standing::{PlaceState, TakenPlaces},
};
use std::{cell::RefCell, collections::BTreeMap};
use tokio::runtime::Runtime;

const CASES_DEFAULT: u32 = 256;
const ORDERS: u16 = 6;
/// Replies that some step must get, so that the sequences can't become harmless unnoticed.
const REPLIES: [&str; 13] = [
    "Taken",
    "Repeated",
    "Short",
    "Rebuild",
    "Given",
    "Nothing",
    "Written",
    "AsIs",
    "Loaded",
    "AlreadyPresent",
    "Set",
    "Below",
    "Lost",
];

/// What may happen to a piece.
#[derive(Debug, Clone)]
enum Step {
    Take {
        order: u16,
        quantity: u32,
        least: u32,
    },
    Give {
        order: u16,
        keep: u32,
    },
    Sell {
        order: u16,
        quantity: u32,
        state: PlaceState,
    },
    Load {
        total: u32,
        orders: Vec<(u16, u32, PlaceState)>,
        replaces: bool,
    },
    SetCapacity {
        total: u32,
    },
    Lose,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let order = || 0..ORDERS;
    let state = || prop_oneof![Just(PlaceState::Locked), Just(PlaceState::Sold)];
    let take =
        (order(), 1..=5_u32, any::<bool>()).prop_map(|(order, quantity, whole)| Step::Take {
            order,
            quantity,
            least: if whole { quantity } else { 1 },
        });
    let orders = vec((order(), 1..=4_u32, state()), 0..=3);
    let load =
        (0..=12_u32, orders, any::<bool>()).prop_map(|(total, orders, replaces)| Step::Load {
            total,
            orders,
            replaces,
        });
    let step = prop_oneof![
        12 => take,
        6 => (order(), 0..=2_u32).prop_map(|(order, keep)| Step::Give { order, keep }),
        5 => (order(), 1..=4_u32, state()).prop_map(|(order, quantity, state)| Step::Sell { order, quantity, state }),
        3 => load,
        3 => (0..=14_u32).prop_map(|total| Step::SetCapacity { total }),
        1 => Just(Step::Lose),
    ];
    vec(step, 20..=40)
}

/// Runs the stage's futures from a test that is not asynchronous.
struct PropertyStage {
    runtime: Runtime,
    stage: PieceStage,
}

impl PropertyStage {
    fn play(&self, model: &mut Model, step: &Step) -> Result<String, TestCaseError> {
        let redis = &self.stage.redis;
        let run = &self.runtime;
        match step {
            Step::Take {
                order,
                quantity,
                least,
            } => {
                let reply = run.block_on(redis.take_standing(&take(*order, *quantity, *least)));
                same(reply, &model.take(order_no(*order), *quantity, *least))
            }
            Step::Give { order, keep } => {
                let call = redis.give_standing(PIECE, order_no(*order), *keep, GiveWhy::Release);
                same(run.block_on(call), &model.give(order_no(*order), *keep))
            }
            Step::Sell {
                order,
                quantity,
                state,
            } => {
                let sell = SellStanding {
                    piece: PIECE,
                    order_no: order_no(*order),
                    now: NOW,
                    quantity: *quantity,
                    state: *state,
                };
                let reply = run.block_on(redis.sell_standing(&sell));
                same(reply, &model.sell(order_no(*order), *quantity, *state))
            }
            Step::Load {
                total,
                orders,
                replaces,
            } => {
                let load = load_of(*total, orders, *replaces, model);
                same(run.block_on(redis.load_standing(&load)), &model.load(&load))
            }
            Step::SetCapacity { total } => {
                let reply = run.block_on(redis.set_standing_capacity(PIECE, *total));
                same(reply, &model.set_capacity(*total))
            }
            Step::Lose => {
                run.block_on(redis.forget_piece(PIECE)).unwrap();
                model.piece = None;
                Ok("Lost".to_owned())
            }
        }
    }

    /// What Redis holds now, in the model's form. The counts must be those of the entries.
    fn read(&self) -> Result<Model, TestCaseError> {
        let snapshot = self
            .runtime
            .block_on(self.stage.redis.piece_snapshot(PIECE))
            .unwrap();
        let piece = snapshot.map(|snapshot| {
            let piece = ModelPiece {
                epoch: snapshot.places.epoch,
                total: snapshot.places.total,
                taken: snapshot.taken,
            };
            prop_assert_eq!(snapshot.places.locked, piece.count(PlaceState::Locked));
            prop_assert_eq!(snapshot.places.sold, piece.count(PlaceState::Sold));
            Ok::<_, TestCaseError>(piece)
        });
        let log = self.stage.log();
        let log = log
            .into_iter()
            .map(|(before, after, _)| (before.parse().ok(), after));
        Ok(Model {
            piece: piece.transpose()?,
            log: log.collect(),
        })
    }
}

/// A load with at most one entry an order; it names the present epoch when it replaces.
fn load_of(
    total: u32,
    orders: &[(u16, u32, PlaceState)],
    replaces: bool,
    model: &Model,
) -> LoadStanding {
    let present = model.piece.as_ref().map(|piece| piece.epoch);
    let entries: BTreeMap<u16, TakenPlaces> = orders
        .iter()
        .map(|(order, quantity, state)| {
            let created = Timestamp(NOW.0 - 1);
            (
                *order,
                TakenPlaces {
                    created,
                    ..entry(*quantity, *state)
                },
            )
        })
        .collect();
    let entries: Vec<(u16, TakenPlaces)> = entries.into_iter().collect();
    LoadStanding {
        epoch: present.unwrap_or(EPOCH) + 1,
        replaces: present.filter(|_| replaces),
        ..load(total, &entries)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    reply: Result<T, server::redis::RedisError>,
    expected: &T,
) -> Result<String, TestCaseError> {
    let reply = reply.map_err(|error| TestCaseError::fail(format!("{error}: {error:?}")))?;
    prop_assert_eq!(&reply, expected);
    let text = format!("{reply:?}");
    Ok(text.split([' ', '{']).next().unwrap_or_default().to_owned())
}

#[test]
fn the_scripts_of_a_piece_do_what_the_model_does_in_any_sequence() {
    let cases = match std::env::var("SEATFLOW_PROPERTY_CASES") {
        Ok(cases) => cases
            .parse()
            .expect("SEATFLOW_PROPERTY_CASES must be a number"),
        Err(_) => CASES_DEFAULT,
    };
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let played = RefCell::new(BTreeMap::<String, u32>::new());
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let runtime = Runtime::new().unwrap();
        let stage = runtime.block_on(PieceStage::open(8));
        let stage = PropertyStage { runtime, stage };
        let mut model = Model::default();
        model.load(&load(8, &[]));
        for step in &steps {
            let reply = stage.play(&mut model, step)?;
            prop_assert_eq!(&stage.read()?, &model, "after {:?}", step);
            *played.borrow_mut().entry(reply).or_default() += 1;
        }
        Ok(())
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
