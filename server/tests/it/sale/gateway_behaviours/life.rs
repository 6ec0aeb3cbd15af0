//! Orders that live, and time that passes.

use super::act::{Act, Button, Life, Switches, Tickets};
use crate::support::{Answer, Customer, TestApp, eventually};
use app::{
    domain::{
        ids::{OrderNo, SeatIndex, ShowId},
        order::OrderStatus,
        refund::RefundView,
        time::Millis,
    },
    error::AppError,
};
use proptest::{prop_assert, test_runner::TestCaseError};
use reqwest::StatusCode;
use server::ticketing::extend::ExtendRefusal;
use std::time::Duration;

/// How far the clock goes at once while nothing is done any more.
const STRIDE_S: i64 = 300;
/// How far it goes later, when only notices are left that the gateway repeats for a day.
const LONG_STRIDE_S: i64 = 3_600;
/// Strides in which everything that was begun must come to its end: a success that is kept back until the payment has
/// run out of time and ten minutes longer, faulty notices, and refunds that fail three times.
const STRIDES_LEAST: u32 = 10;
/// Strides after which something is stuck.
const STRIDES_MAX: u32 = 60;

/// Between two late strides: the shop leaves a gateway that was too busy to answer alone for five seconds, which its clock
/// does not shorten.
const BREATH: Duration = Duration::from_millis(100);

/// How much more time staff give.
const EXTENSION: Millis = Millis::minutes(10);

/// The buyer of one order.
pub struct Player {
    pub customer: Customer,
    pub order_no: OrderNo,
    pub seats: [SeatIndex; 2],
    life: Life,
    /// Cashier pages that were opened.
    tabs: Vec<String>,
}

impl Player {
    pub async fn begin(app: &TestApp, show: ShowId, number: u32, life: &Life) -> Self {
        let customer = app.customer().await;
        let seats = [number * 2, number * 2 + 1];
        let order_no = eventually("the shop has time", || async {
            match customer.place(show, &seats).await {
                Err((_, AppError::Busy { .. })) => None,
                placed => Some(placed.expect("free seats")),
            }
        })
        .await;
        customer.until(order_no, OrderStatus::Pending).await;
        Self {
            customer,
            order_no,
            seats: seats.map(SeatIndex),
            life: life.clone(),
            tabs: Vec::new(),
        }
    }

    pub async fn act(&mut self, app: &TestApp, step: usize) {
        match self.life.get(step).cloned() {
            None | Some(Act::Nothing) => {}
            Some(Act::Press(button, how)) => {
                match self.customer.start_paying(self.order_no).await {
                    Ok(cashier) => {
                        press(app, &cashier, button, &how).await;
                        self.tabs.push(cashier);
                    }
                    Err((
                        _,
                        AppError::OrderState | AppError::Busy { .. } | AppError::NoPaymentService,
                    )) => {}
                    Err(other) => panic!("paying was answered {other:?}"),
                }
            }
            Some(Act::PressInOldTab(button, how)) => {
                if let Some(cashier) = self.tabs.first() {
                    press(app, cashier, button, &how).await;
                }
            }
            Some(Act::GiveUp) => match self.customer.cancel(self.order_no).await {
                Ok(()) | Err((_, AppError::OrderState | AppError::Busy { .. })) => {}
                Err(other) => panic!("giving up was answered {other:?}"),
            },
            Some(Act::GetTime) => {
                let given = app.ticketing().extend_order(self.order_no, EXTENSION).await;
                if let Err(ExtendRefusal::Failed(error)) = given {
                    panic!("more time was answered {error:?}");
                }
            }
            Some(Act::GiveBack(tickets)) => self.give_back(tickets).await,
        }
    }

    async fn give_back(&self, tickets: Tickets) {
        let order = self.customer.order(self.order_no).await;
        let first = order.expect("the order").items[0].item_no;
        let (number, first) = (self.order_no.to_string(), first.to_string());
        let key = uuid::Uuid::new_v4().to_string();
        let which = match tickets {
            Tickets::First => ("items[]", first.as_str()),
            Tickets::All => ("whole", "true"),
        };
        let form = [
            ("order_no", number.as_str()),
            ("idempotency_key", key.as_str()),
            which,
        ];
        let answer = self.customer.post("/api/orders/refund", &form).await;
        let answer: Answer<RefundView> = answer;
        if let Err((_, AppError::Internal { .. })) = answer {
            panic!("giving back was answered {answer:?}");
        }
    }
}

/// Presses a button at the cashier; one that has been decided about already may say so.
async fn press(app: &TestApp, cashier: &str, button: Button, how: &Switches) {
    let request = app.http.post(cashier).form(&how.form(button));
    let status = request.send().await.expect("the cashier").status();
    let expected = [StatusCode::SEE_OTHER, StatusCode::CONFLICT];
    assert!(expected.contains(&status), "the cashier answered {status}");
}

/// Moves the clock, and lets everything happen that is due then. Timers and consumers do the same meanwhile.
pub async fn let_time_pass(app: &TestApp, seconds: i64) {
    app.clock.advance(Millis::seconds(seconds));
    let gateway = app.running.gateway.as_ref().expect("a gateway");
    gateway.deliver_due().await.expect("the gateway");
    let shop = app.ticketing();
    shop.poll_payments_once().await.expect("the gateway");
    shop.sweep_once().await.expect("stores");
    shop.settle_due().await.expect("stores");
}

/// Lets time pass until nothing is left to do.
pub async fn until_quiet(app: &TestApp) -> Result<(), TestCaseError> {
    for stride in 0..STRIDES_MAX {
        let seconds = if stride < STRIDES_LEAST {
            STRIDE_S
        } else {
            LONG_STRIDE_S
        };
        let_time_pass(app, seconds).await;
        app.ticketing().reconcile().await.expect("stores");
        if stride >= STRIDES_LEAST {
            if under_way(app).await.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(BREATH).await;
        }
    }
    prop_assert!(
        false,
        "still under way: {}",
        under_way(app).await.join(", ")
    );
    Ok(())
}

/// What is not finished, at the shop and at the gateway.
async fn under_way(app: &TestApp) -> Vec<String> {
    let shop = app.ticketing().under_way().await.expect("stores");
    let mut left: Vec<String> = shop
        .into_iter()
        .filter(|work| work.count != 0)
        .map(|work| format!("{} {}", work.count, work.name))
        .collect();
    let others = [
        (
            "notices",
            "SELECT COUNT(*) FROM gw_delivery WHERE next_at IS NOT NULL AND 0 = ?",
        ),
        (
            "open discrepancies",
            "SELECT COUNT(*) FROM discrepancy WHERE resolved_at IS NULL AND 0 = ?",
        ),
    ];
    for (name, sql) in others {
        let count = app.count(sql, 0).await;
        if count != 0 {
            left.push(format!("{count} {name}"));
        }
    }
    left
}
