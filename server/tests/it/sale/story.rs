//! What an order's page tells is of one moment.

use crate::support::{ShowSpec, TestApp, run};
use app::domain::{order::OrderStatus, timeline::Happening};

/// Enough for a reading to fall between the payment and the order again and again.
const ORDERS: u32 = 12;

#[test]
fn an_order_that_says_paid_also_tells_of_its_payment() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            limit: ORDERS,
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let customer = app.customer().await;
        for seat in 0..ORDERS {
            let order_no = customer.pending(show, &[seat]).await;
            let cashier = customer.start_paying(order_no).await.expect("a cashier");
            let first_look_at_a_paid_order = async {
                loop {
                    let order = customer.order(order_no).await.expect("the own order");
                    if order.status == OrderStatus::Paid {
                        return order;
                    }
                }
            };
            let (order, ()) = tokio::join!(
                first_look_at_a_paid_order,
                customer.at_cashier(&cashier, "succeed")
            );
            let told = order.timeline.iter().any(
                |entry| matches!(entry.what, Happening::Paid { amount } if amount == order.total),
            );
            assert!(told, "{:?}", order.timeline);
        }
    });
}
