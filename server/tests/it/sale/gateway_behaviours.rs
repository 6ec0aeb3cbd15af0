//! Random sequences of what customers do and of how the gateway misbehaves, through the real gateway and its callbacks:
//! whatever happens, when enough time has passed the money is where the tickets are, and nothing is left open.
//!
//! 32 orders by default; the environment variable `SEATFLOW_GATEWAY_CASES` asks for another number. They live side by
//! side, 32 at a time, on a clock that they share.

mod act;
mod audit;
mod life;

use crate::support::{ShowSpec, TestApp, run};
use act::{Life, lives};
use audit::audit;
use life::{Player, let_time_pass, until_quiet};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use std::{cell::RefCell, collections::BTreeMap, time::Duration};

/// Orders that live at the same time.
const TOGETHER: usize = 32;
/// What each of them does in a row.
const ACTS: usize = 6;
/// Tries to make a failing sequence shorter; each takes seconds.
const SHRINK_STEPS_MAX: u32 = 40;
/// Longest pause between two acts, in seconds: two of them are longer than an order has to be paid.
const PAUSE_S_MAX: i64 = 500;
/// So many orders end in each of these ways, so that the sequences can't become harmless unnoticed.
const ORDERS_MANY: usize = 1_000;
const ENDS: [&str; 5] = [
    "Paid (1 captured, 0 given back)",
    "Paid (1 captured, 1 given back)",
    "Cancelled (0 captured",
    "Cancelled (1 captured, 1 given back)",
    "Refunded",
];

/// Orders side by side, and the pauses after each of their acts, in seconds.
#[derive(Debug, Clone)]
struct Together {
    lives: Vec<Life>,
    pauses_s: Vec<i64>,
}

fn together() -> impl Strategy<Value = Together> {
    let pause = prop_oneof![
        2 => Just(0),
        3 => 1..30_i64,
        2 => 30..PAUSE_S_MAX,
    ];
    (vec(lives(ACTS), TOGETHER), vec(pause, ACTS))
        .prop_map(|(lives, pauses_s)| Together { lives, pauses_s })
}

#[test]
fn whatever_the_gateway_does_the_money_ends_where_the_tickets_are() {
    let orders: usize = std::env::var("SEATFLOW_GATEWAY_CASES").map_or(TOGETHER, |orders| {
        orders
            .parse()
            .expect("SEATFLOW_GATEWAY_CASES must be a number")
    });
    let times = u32::try_from(orders.div_ceil(TOGETHER)).unwrap_or(u32::MAX);
    // Quick timers: the clock that the shop looks at runs much faster than the one its timers wait by.
    let app = run(TestApp::start(&[
        ("SEATFLOW_OUTBOX_EVERY_MS", "100"),
        ("SEATFLOW_SWEEP_EVERY_MS", "200"),
    ]));
    let ended = RefCell::new(BTreeMap::new());
    let mut runner = TestRunner::new(Config {
        cases: times,
        max_shrink_iters: SHRINK_STEPS_MAX,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&together(), |together| {
        let ends = run(live(&app, &together))?;
        lived_through(&mut ended.borrow_mut(), ends);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let ended = ended.into_inner();
    println!("{} orders: {ended:?}", ended.values().sum::<usize>());
    if orders >= ORDERS_MANY {
        for end in ENDS {
            let is_met = ended.keys().any(|met| met.starts_with(end));
            assert!(is_met, "no order ended as {end}");
        }
    }
    run(app.running.stop());
}

fn lived_through(ended: &mut BTreeMap<String, usize>, ends: Vec<String>) {
    for end in ends {
        *ended.entry(end).or_default() += 1;
    }
}

/// Lets orders live through their acts and time pass until nothing is under way; how each of them ended.
async fn live(app: &TestApp, together: &Together) -> Result<Vec<String>, TestCaseError> {
    let spec = ShowSpec {
        seats: u32::try_from(together.lives.len() * 2).unwrap_or(u32::MAX),
        ..ShowSpec::default()
    };
    let show = app.show(spec).await;
    let begun = together.lives.iter().zip(0..);
    let begun = begun.map(|(life, number)| Player::begin(app, show, number, life));
    let mut players = futures::future::join_all(begun).await;
    for (step, pause_s) in together.pauses_s.iter().enumerate() {
        let acts = players.iter_mut().map(|player| player.act(app, step));
        futures::future::join_all(acts).await;
        let_time_pass(app, *pause_s).await;
        // What timers and consumers do by themselves happens between the acts, too.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    until_quiet(app).await?;
    audit(app, show, &players).await
}
