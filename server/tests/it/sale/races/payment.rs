//! A payment, a customer who gives up, and a deadline at a barrier.

use crate::support::{Notice, ShowSpec, Stage, headers_for, run};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    order::{CancelReason, OrderStatus},
    payment::PaymentStatus,
    seat::{MapUpdate, SeatState},
    time::Millis,
    user::User,
};
use axum::http::StatusCode;
use futures::future::join_all;
use server::{
    clock::Clock,
    mysql::money::PaymentRecord,
    redis::scripts::SeatsReply,
    ticketing::{Failure, expire::Expiry},
};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::Barrier;

/// Orders of one show; their seats are looked at together.
const ORDERS_PER_SHOW: u32 = 200;
/// Orders that are raced for at the same time.
const AT_ONCE: usize = 8;
/// Enough for all that race, so that they meet at the rows and not before them.
const CONNECTIONS: &str = "40";

/// From so many rounds on each of the three must have won: with fewer, chance may keep one of them from it.
const ROUNDS_FOR_ALL: u32 = 200;

fn rounds() -> u32 {
    std::env::var("SEATFLOW_RACE_ROUNDS").map_or(200, |rounds| {
        rounds
            .parse()
            .expect("SEATFLOW_RACE_ROUNDS must be a number")
    })
}

/// An order that three want to decide about.
struct Contested {
    seat: u32,
    user: User,
    order_no: OrderNo,
    payment: PaymentRecord,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Winner {
    Payment,
    Customer,
    Deadline,
}

impl Winner {
    const ALL: [Self; 3] = [Self::Payment, Self::Customer, Self::Deadline];

    /// How long this one lags behind the barrier in a race for a seat. In each fourth race all start at once; in the others
    /// one of them, in turn, has a start of 2, 6 or 10 ms, from less than a transaction takes to more: a notice is the first
    /// at the rows otherwise, since the others read the order before.
    fn lag(self, seat: u32) -> Duration {
        let (turn, round) = (seat % 4, seat / 4);
        let first = usize::try_from(turn)
            .ok()
            .and_then(|turn| Self::ALL.get(turn));
        match first {
            Some(first) if *first != self => Duration::from_millis(u64::from(2 + 4 * (round % 3))),
            _ => Duration::ZERO,
        }
    }

    /// Waits for all others, then for as long as this one lags behind.
    async fn start(self, barrier: &Barrier, seat: u32) {
        barrier.wait().await;
        let lag = self.lag(seat);
        if !lag.is_zero() {
            tokio::time::sleep(lag).await;
        }
    }
}

#[test]
fn payment_customer_and_deadline_at_a_barrier_have_one_winner_everywhere() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_DATABASE_CONNECTIONS", CONNECTIONS)]).await;
        let mut won: HashMap<Winner, u32> = HashMap::new();
        let mut left = rounds();
        while left > 0 {
            let orders = left.min(ORDERS_PER_SHOW);
            left -= orders;
            for winner in show_of_races(&stage, orders).await {
                *won.entry(winner).or_default() += 1;
            }
        }
        let all = i64::from(rounds());
        let counts = stage.ticketing.db().counts(stage.clock.now()).await;
        let counts = counts.expect("a database");
        assert_eq!(counts.postings, all, "each payment was captured once");
        assert_eq!(counts.unbalanced_postings, 0);
        assert_eq!(counts.money.wrong_orders, 0);
        assert_eq!(
            counts.duplicate_claims + counts.dead_claims + counts.unclaimed_items,
            0
        );
        let paid = i64::from(won.get(&Winner::Payment).copied().unwrap_or_default());
        assert_eq!(counts.claims, paid);
        assert_eq!(counts.open_discrepancies, all - paid, "each late payment");
        println!("{all} rounds: {won:?}");
        for winner in Winner::ALL {
            let has_won = won.contains_key(&winner);
            assert!(
                has_won || rounds() < ROUNDS_FOR_ALL,
                "{winner:?} never won: {won:?}"
            );
        }
    });
}

/// Races for all orders of one show, and looks at what is left of it.
async fn show_of_races(stage: &Stage, orders: u32) -> Vec<Winner> {
    let spec = ShowSpec {
        seats: orders,
        limit: 1,
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let mut ended = Vec::new();
    let seats: Vec<u32> = (0..orders).collect();
    for some in seats.chunks(AT_ONCE) {
        let contested = join_all(some.iter().map(|&seat| contest(stage, show, seat))).await;
        stage.clock.advance(Millis::minutes(15));
        let barrier = Arc::new(Barrier::new(contested.len() * 3));
        let races = contested.iter().map(|order| race(stage, order, &barrier));
        let winners = join_all(races).await;
        ended.extend(contested.into_iter().zip(winners));
    }
    check_seats(stage, show, &ended).await;
    ended.into_iter().map(|(_, winner)| winner).collect()
}

async fn contest(stage: &Stage, show: ShowId, seat: u32) -> Contested {
    let user = stage.user().await;
    let order_no = stage.pending(&user, show, &[seat]).await;
    let payment = stage.payment(&user, order_no).await;
    Contested {
        seat,
        user,
        order_no,
        payment,
    }
}

/// Asks again for as long as the answer is "busy", which decides nothing.
async fn until_decided<T, F: Future<Output = Result<T, Failure>>>(mut ask: impl FnMut() -> F) -> T {
    loop {
        match ask().await {
            Err(failure) if failure.is_busy() => {}
            outcome => return outcome.expect("stores"),
        }
    }
}

/// Lets all three decide at once; who won.
async fn race(stage: &Stage, order: &Contested, barrier: &Arc<Barrier>) -> Winner {
    let notice = Notice::success(&order.payment.out_trade_no, order.payment.amount);
    let body = notice.body(stage.clock.now());
    let headers = headers_for(&body, stage.clock.now());
    let (order_no, seat) = (order.order_no, order.seat);
    let at_the_barrier = || (stage.ticketing.clone(), Arc::clone(barrier));
    let (ticketing, start) = at_the_barrier();
    let paying = tokio::spawn(async move {
        Winner::Payment.start(&start, seat).await;
        loop {
            let answer = ticketing.take_callback("simulated", &headers, &body).await;
            // Nothing was recorded: the gateway sends it again.
            if answer != StatusCode::SERVICE_UNAVAILABLE {
                break answer;
            }
        }
    });
    let (ticketing, start) = at_the_barrier();
    let giving_up = tokio::spawn(async move {
        Winner::Customer.start(&start, seat).await;
        until_decided(|| ticketing.end_order(order_no, CancelReason::User)).await
    });
    let (ticketing, start) = at_the_barrier();
    let expiring = tokio::spawn(async move {
        Winner::Deadline.start(&start, seat).await;
        until_decided(|| ticketing.expire(order_no)).await
    });
    let answer = paying.await.expect("a notice");
    assert_eq!(answer, StatusCode::OK, "recorded whoever wins");
    let gave_up = giving_up.await.expect("a customer");
    let expiry = expiring.await.expect("a deadline");
    let expired = matches!(expiry, Expiry::Cancelled { .. });
    let winner = match (stage.status(order_no).await, gave_up, expired) {
        (Some(OrderStatus::Paid), false, false) => Winner::Payment,
        (Some(OrderStatus::Cancelled), true, false) => Winner::Customer,
        (Some(OrderStatus::Cancelled), false, true) => Winner::Deadline,
        other => panic!("order {order_no} has no winner or several: {other:?}"),
    };
    check_rows(stage, order, winner).await;
    winner
}

/// What the database says of an order is the winner's doing alone.
async fn check_rows(stage: &Stage, order: &Contested, winner: Winner) {
    let db = stage.ticketing.db();
    let row = db.order(order.order_no).await.expect("a database");
    let reason = row.expect("the order").cancel_reason;
    let expected = match winner {
        Winner::Payment => None,
        Winner::Customer => Some(CancelReason::User),
        Winner::Deadline => Some(CancelReason::Timeout),
    };
    assert_eq!(reason, expected);
    let payment = db.payment(&order.payment.out_trade_no).await;
    let payment = payment.expect("a database").expect("the payment");
    assert_eq!(
        payment.status,
        PaymentStatus::Success,
        "the money was taken"
    );
    let refund = db.refund(&format!("{}-r1", payment.out_trade_no)).await;
    let is_late = winner != Winner::Payment;
    assert_eq!(refund.expect("a database").is_some(), is_late);
    // The same things once more: nothing happens any more, whoever won.
    let again = stage
        .ticketing
        .cancel_own(&order.user, order.order_no)
        .await;
    assert_eq!(again.is_ok(), is_late);
    let again = stage.ticketing.expire(order.order_no).await;
    assert_eq!(again.expect("stores"), Expiry::Finished);
}

/// Seats of paid orders are sold to them, all others are free, and each has changed exactly twice.
async fn check_seats(stage: &Stage, show: ShowId, ended: &[(Contested, Winner)]) {
    let redis = stage.ticketing.redis();
    let owners = redis.owners(show).await.expect("Redis");
    let SeatsReply::Update(MapUpdate::Whole(map)) = redis.seats(show, None).await.expect("Redis")
    else {
        panic!("the show is not loaded")
    };
    for (order, winner) in ended {
        let seat = SeatIndex(order.seat);
        let (state, owner) = (map.state(seat), owners.get(&seat));
        match winner {
            Winner::Payment => {
                assert_eq!((state, owner), (SeatState::Sold, Some(&order.order_no)));
            }
            Winner::Customer | Winner::Deadline => {
                assert_eq!((state, owner), (SeatState::Available, None));
            }
        }
    }
    let changes = u64::try_from(ended.len() * 2).expect("a small number");
    assert_eq!(map.at.version, changes, "one release or sale each");
    let left = redis.remaining(&[show]).await.expect("Redis").remove(0);
    let left: u32 = left
        .expect("a loaded show")
        .iter()
        .map(|(_, left)| left)
        .sum();
    let sold = ended
        .iter()
        .filter(|(_, winner)| *winner == Winner::Payment);
    assert_eq!(left as usize, ended.len() - sold.count());
}
