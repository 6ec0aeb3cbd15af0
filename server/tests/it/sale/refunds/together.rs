//! Refunds that meet each other, and other events, at one moment.

use super::{confirmed, paid, wish};
use crate::support::{ShowSpec, Stage, run};
use app::domain::{order::OrderStatus, refund::TicketChoice, seat::SeatState};
use std::sync::Arc;
use tokio::sync::Barrier;

const ROUNDS: u32 = 100;

#[test]
fn a_customer_and_staff_at_one_moment_give_an_order_back_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage
            .show(ShowSpec {
                seats: 2 * ROUNDS,
                ..ShowSpec::default()
            })
            .await;
        let other_server = stage.another_server().await;
        let (mut customers, mut staff) = (0, 0);
        for round in 0..ROUNDS {
            let user = stage.user().await;
            let (order_no, payment) = paid(&stage, &user, show, &[2 * round, 2 * round + 1]).await;
            let barrier = Arc::new(Barrier::new(2));
            let by_customer = {
                let (ticketing, barrier) = (stage.ticketing.clone(), Arc::clone(&barrier));
                tokio::spawn(async move {
                    barrier.wait().await;
                    ticketing
                        .refund_own(&user, wish(order_no, &[0, 1]))
                        .await
                        .is_ok()
                })
            };
            let by_staff = {
                let ticketing = other_server.clone();
                tokio::spawn(async move {
                    barrier.wait().await;
                    let refund =
                        ticketing.refund_by_staff(order_no, TicketChoice::All, "asked for", 0);
                    refund.await.is_ok()
                })
            };
            let won = (
                by_customer.await.expect("a customer"),
                by_staff.await.expect("staff"),
            );
            assert!(won.0 != won.1, "one of them, and not both: {won:?}");
            customers += u32::from(won.0);
            staff += u32::from(won.1);
            let refunds = stage
                .ticketing
                .db()
                .refunds_of_order(order_no)
                .await
                .expect("a database");
            assert_eq!(refunds.len(), 1);
            assert_eq!(refunds[0].amount, payment.amount);
            confirmed(&stage, &refunds[0].refund_no).await;
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
        }
        println!("{customers} customers and {staff} staff were first");
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn refunds_of_single_tickets_at_one_moment_end_the_order_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        for round in 0..10 {
            let user = stage.user().await;
            let seats: Vec<u32> = (0..4).map(|seat| 4 * round + seat).collect();
            let (order_no, _) = paid(&stage, &user, show, &seats).await;
            let mut numbers = Vec::new();
            for item in 0..4 {
                let refund = stage
                    .ticketing
                    .refund_own(&user, wish(order_no, &[item]))
                    .await;
                numbers.push(refund.expect("a refund").refund_no);
            }
            let ends = numbers.iter().map(|number| confirmed(&stage, number));
            futures::future::join_all(ends).await;
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
            for seat in seats {
                assert_eq!(stage.seat(show, seat).await, SeatState::Available);
            }
        }
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}
