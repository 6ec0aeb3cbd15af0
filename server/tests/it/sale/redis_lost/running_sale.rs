//! Buyers go on buying while Redis loses their show.

use super::lose;
use crate::support::{ShowSpec, TestApp, eventually, run};
use app::{
    domain::{hold::Refusal, ids::OrderNo, order::OrderStatus, seat::MapUpdate, time::Millis},
    error::AppError,
};
use futures::future::join_all;
use std::{collections::BTreeMap, time::Duration};

#[test]
fn a_running_sale_goes_on_when_redis_loses_its_show_three_times() {
    run(async {
        // However slow the machine is, no order is too old to be written.
        let app = TestApp::start(&[("SEATFLOW_DISCARD_AFTER_MS", "50000")]).await;
        let show = app
            .show(ShowSpec {
                seats: 120,
                ..ShowSpec::default()
            })
            .await;
        let first = app.map(show).await.at;
        let buyers = (0..60_u32).map(|buyer| {
            let app = &app;
            async move {
                let customer = app.customer().await;
                let mut placed = Vec::new();
                for turn in 0..3 {
                    // Neighbours want the same seats, so that a seat offered twice would be sold twice.
                    let seat = (buyer / 2 * 4 + turn) % 120;
                    tokio::time::sleep(Duration::from_millis(u64::from(buyer) * 7)).await;
                    let answer = eventually("the show is open again", || async {
                        match customer.place(show, &[seat]).await {
                            Err((
                                _,
                                AppError::Busy { .. }
                                | AppError::Refused {
                                    refusal: Refusal::Rebuilding,
                                },
                            )) => None,
                            answer => Some(answer),
                        }
                    });
                    match answer.await {
                        Ok(order_no) => placed.push(order_no),
                        Err((_, AppError::Refused { .. })) => {}
                        Err(other) => panic!("neither held nor refused: {other:?}"),
                    }
                }
                (customer, placed)
            }
        });
        let losses = async {
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_millis(250)).await;
                lose(app.ticketing(), show).await;
            }
        };
        let (buyers, ()) = tokio::join!(join_all(buyers), losses);
        let mut sold: BTreeMap<u32, OrderNo> = BTreeMap::new();
        let (mut orders, mut given_up) = (0, 0);
        for (customer, placed) in buyers {
            for order_no in placed {
                let order = eventually("the order is written or given up", || async {
                    let order = customer.order(order_no).await.expect("the buyer's order");
                    (order.status != OrderStatus::Creating).then_some(order)
                })
                .await;
                if order.status == OrderStatus::Discarded {
                    given_up += 1;
                    continue;
                }
                orders += 1;
                let seat = order.items[0].seat.expect("a seat").0;
                assert_eq!(sold.insert(seat, order_no), None, "seat {seat} once");
            }
        }
        assert!(
            orders >= 10,
            "the sale went on: {orders} orders, {given_up} given up"
        );
        assert_ne!(app.map(show).await.at.epoch, first.epoch);
        let since = format!(
            "{}/shows/{show}/seats?since={}.{}",
            app.base, first.epoch, first.version
        );
        let body = app
            .http
            .get(since)
            .send()
            .await
            .expect("an answer")
            .bytes()
            .await;
        let update = MapUpdate::decode(&body.expect("a body"));
        assert!(
            matches!(update, Ok(MapUpdate::Whole(_))),
            "a reader of an earlier life gets the whole map"
        );
        app.clock.advance(Millis::seconds(11));
        for _ in 0..3 {
            eventually("nobody else leads", || async {
                app.ticketing().reconcile().await.expect("stores")
            })
            .await;
        }
        let evidence = app.verify().await;
        assert!(evidence.is_clean(), "{}", evidence.table());
        println!("{orders} orders, {given_up} given up");
        app.running.stop().await;
    });
}
