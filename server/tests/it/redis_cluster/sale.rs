//! Shows that lie on different masters, from the hold to the end of their orders.

use super::{a_show_for_each, application, masters::Masters, until_counts};
use crate::support::{TestApp, eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::{CancelReason, OrderStatus},
    time::Millis,
};
use redis::cmd;

/// One order that is paid, of so many seats, one that is given up, and one that is left alone.
async fn three_ways(app: &TestApp, show: ShowId, paid_seats: u32) -> OrderNo {
    let customer = app.customer().await;
    let seats: Vec<u32> = (10..10 + paid_seats).collect();
    let paid = customer.pending(show, &seats).await;
    customer.pay(paid).await;
    customer.until(paid, OrderStatus::Paid).await;
    let given_up = app.customer().await;
    let order_no = given_up.pending(show, &[1, 2]).await;
    given_up.cancel(order_no).await.expect("a cancellation");
    given_up.until(order_no, OrderStatus::Cancelled).await;
    app.customer().await.pending(show, &[3]).await
}

/// A round of reconciliation that is long enough after everything to look at everything.
async fn nothing_is_found(app: &TestApp) {
    app.clock.advance(Millis::seconds(11));
    let round = eventually("nobody else leads", || async {
        app.ticketing().reconcile().await.expect("stores")
    })
    .await;
    assert!(round.findings.is_empty(), "{:?}", round.findings);
    let evidence = app.verify().await;
    assert!(evidence.is_clean(), "{}", evidence.table());
}

async fn stop(app: TestApp) {
    app.running.stop().await;
}

#[test]
fn orders_of_shows_on_three_masters_are_paid_given_up_and_run_out() {
    run(async {
        let masters = Masters::start().await;
        let app = application(&masters).await;
        let shows = a_show_for_each(&masters, &app).await;
        let mut forgotten = Vec::new();
        for (show, paid_seats) in shows.iter().zip(1..) {
            forgotten.push(three_ways(&app, *show, paid_seats).await);
        }
        for (show, sold) in shows.iter().zip(1..) {
            until_counts(&app, *show, [39 - sold, 1, sold, 0]).await;
        }
        // One question for three shows, answered in their order.
        let left = app.ticketing().redis().remaining(&shows).await;
        let left: Vec<u32> = left
            .expect("Redis")
            .into_iter()
            .map(|zones| zones.expect("a show").iter().map(|(_, left)| left).sum())
            .collect();
        assert_eq!(left, [38, 37, 36]);
        nothing_is_found(&app).await;

        app.clock.advance(Millis::minutes(16));
        app.ticketing().sweep_once().await.expect("stores");
        for (order_no, (show, sold)) in forgotten.into_iter().zip(shows.iter().zip(1..)) {
            let order = app.db().order(order_no).await.expect("a database");
            let order = order.expect("an order");
            assert_eq!(order.status, OrderStatus::Cancelled);
            assert_eq!(order.cancel_reason, Some(CancelReason::Timeout));
            until_counts(&app, *show, [40 - sold, 0, sold, 0]).await;
        }
        nothing_is_found(&app).await;
        stop(app).await;
    });
}

#[test]
fn a_sale_goes_on_when_all_masters_have_lost_their_keys_and_scripts() {
    run(async {
        let masters = Masters::start().await;
        let app = application(&masters).await;
        let shows = a_show_for_each(&masters, &app).await;
        for show in &shows {
            three_ways(&app, *show, 2).await;
            until_counts(&app, *show, [37, 1, 2, 0]).await;
        }
        masters.tell_all(cmd("SCRIPT").arg("FLUSH")).await;
        for show in &shows {
            app.customer().await.pending(*show, &[20]).await;
            until_counts(&app, *show, [36, 2, 2, 0]).await;
        }
        masters.tell_all(&cmd("FLUSHALL")).await;
        masters.tell_all(cmd("SCRIPT").arg("FLUSH")).await;
        for show in &shows {
            let customer = app.customer().await;
            let order_no = eventually("the show is loaded again", || async {
                customer.place(*show, &[21]).await.ok()
            })
            .await;
            customer.until(order_no, OrderStatus::Pending).await;
            until_counts(&app, *show, [35, 3, 2, 0]).await;
            let taken = app.customer().await.place(*show, &[10]).await;
            taken.expect_err("what was sold is sold");
        }
        nothing_is_found(&app).await;
        stop(app).await;
    });
}
