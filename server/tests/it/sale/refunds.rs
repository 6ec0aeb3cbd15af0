//! Tickets that are given back, and their money.

mod asked_for;
mod at_the_gateway;
mod kept_trying;
mod on_sale_again;
mod pages;
mod proof;
mod together;

use crate::support::{Answer, Customer, Notice, ShowSpec, Stage, TestApp, eventually, headers_for};
use app::domain::{
    ids::{AttendeeId, OrderNo, ShowId},
    order::{OrderStatus, OrderView, RefundProgress},
    refund::{RefundRequest, RefundView, TicketChoice},
    user::User,
};
use axum::http::StatusCode;
use server::{clock::Clock, mysql::money::PaymentRecord, ticketing::verify::Evidence};

/// Gives tickets back by the form, under a key of its own.
async fn give_back(customer: &Customer, order_no: OrderNo, items: &[u32]) -> Answer<RefundView> {
    give_back_as(customer, order_no, items, &new_key()).await
}

async fn give_back_as(
    customer: &Customer,
    order_no: OrderNo,
    items: &[u32],
    key: &str,
) -> Answer<RefundView> {
    let order_no = order_no.to_string();
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    let mut form = vec![("order_no", order_no.as_str()), ("idempotency_key", key)];
    form.extend(items.iter().map(|item| ("items[]", item.as_str())));
    customer.post("/api/orders/refund", &form).await
}

fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// An order of these seats, paid at the cashier.
async fn bought(customer: &Customer, show: ShowId, seats: &[u32]) -> OrderNo {
    bought_with(customer, show, seats, &[]).await
}

/// An order of these seats, paid at a gateway that misbehaves.
async fn bought_with(
    customer: &Customer,
    show: ShowId,
    seats: &[u32],
    switches: &[(&str, &str)],
) -> OrderNo {
    let order_no = customer.pending(show, seats).await;
    let cashier = customer.start_paying(order_no).await.expect("a cashier");
    let fields: Vec<_> = [("outcome", "succeed")]
        .iter()
        .chain(switches)
        .copied()
        .collect();
    customer.at_cashier_with(&cashier, &fields).await;
    customer.until(order_no, OrderStatus::Paid).await;
    order_no
}

/// How far each ticket's refund has come.
fn refunds_of(order: &OrderView) -> Vec<Option<RefundProgress>> {
    order.items.iter().map(|item| item.refund).collect()
}

/// Waits until the money of a ticket is back.
async fn until_back(customer: &Customer, order_no: OrderNo, ticket: usize) -> OrderView {
    eventually("the money is back", || async {
        let order = customer.order(order_no).await.ok()?;
        let is_back = order.items[ticket].refund == Some(RefundProgress::Succeeded);
        is_back.then_some(order)
    })
    .await
}

/// On a stage: an order that was paid, its seats sold.
pub(super) async fn paid(
    stage: &Stage,
    user: &User,
    show: ShowId,
    seats: &[u32],
) -> (OrderNo, PaymentRecord) {
    paid_for(stage, user, show, seats, &[]).await
}

/// As [`paid`], for people of the user's list.
async fn paid_for(
    stage: &Stage,
    user: &User,
    show: ShowId,
    seats: &[u32],
    people: &[AttendeeId],
) -> (OrderNo, PaymentRecord) {
    // A loaded machine may answer "busy".
    let order_no = eventually("the seats are held", || async {
        let people = people.to_vec();
        stage.hold_for(user, show, seats, people).await.ok()
    })
    .await;
    let message = stage.message(show, order_no).await;
    let written = stage.ticketing.create_orders(&[message]).await;
    written.expect("an order");
    let payment = pay(stage, user, order_no).await;
    stage
        .ticketing
        .db()
        .mark_seats_sold(order_no, stage.clock.now())
        .await
        .expect("a database");
    (order_no, payment)
}

/// The gateway's word that a pending order was paid.
pub(super) async fn pay(stage: &Stage, user: &User, order_no: OrderNo) -> PaymentRecord {
    let payment = stage.payment(user, order_no).await;
    let now = stage.clock.now();
    let body = Notice::success(&payment.out_trade_no, payment.amount).body(now);
    let headers = headers_for(&body, now);
    let answer = stage
        .ticketing
        .take_callback("simulated", &headers, &body)
        .await;
    assert_eq!(answer, StatusCode::OK);
    payment
}

/// A customer's wish, without the form.
pub(super) fn wish(order_no: OrderNo, items: &[u32]) -> RefundRequest {
    RefundRequest {
        order_no,
        tickets: TicketChoice::Items(items.to_vec()),
        key: new_key(),
        back_minor: None,
    }
}

/// The gateway says that the money is back.
async fn confirmed(stage: &Stage, refund_no: &str) {
    let now = stage.clock.now();
    let rows = stage
        .ticketing
        .db()
        .refund_succeeded(refund_no, now)
        .await
        .expect("a database");
    stage.ticketing.settle_now(rows.expect("a refund")).await;
}

/// Lines about money that do not hold. They hold at every moment, whatever else goes on in the application.
async fn money_faults(app: &TestApp) -> Vec<&'static str> {
    wrong_money(&app.verify().await)
}

/// Lines about money that do not hold.
fn wrong_money(evidence: &Evidence) -> Vec<&'static str> {
    let violated = evidence
        .invariants
        .iter()
        .filter(|line| line.violations != 0);
    violated
        .map(|line| line.name)
        .filter(|name| {
            ["money of", "ledger"]
                .iter()
                .any(|words| name.contains(words))
        })
        .collect()
}

fn with_fee(percent: u8) -> ShowSpec {
    let mut spec = ShowSpec::default();
    spec.refund.fee_percent = percent;
    spec
}
