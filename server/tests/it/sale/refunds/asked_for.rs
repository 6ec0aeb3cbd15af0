//! Who may give which tickets back, when, and for how much.

use super::{
    bought, give_back, give_back_as, money_faults, new_key, refunds_of, until_back, with_fee,
};
use crate::support::{ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        money::{Currency, Money},
        order::{OrderStatus, RefundProgress},
        payment::PaymentStatus,
        refund::{RefundReason, RefundView, TicketChoice},
        seat::SeatState,
        time::Millis,
        timeline::Happening,
    },
    error::{AppError, Field, Thing},
};
use reqwest::{Method, StatusCode};
use server::{mysql::money::RefundRefusal, ticketing::refund::StaffRefundError};

fn yuan(minor: i64) -> Money {
    Money::new(minor, Currency::Cny)
}

#[test]
fn one_of_two_tickets_is_given_back_and_the_other_stays() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        // Seat 9 is of the dearer zone, seat 10 of the other.
        let order_no = bought(&customer, show, &[9, 10]).await;
        let refund = give_back(&customer, order_no, &[1])
            .await
            .expect("a refund");
        assert_eq!((refund.amount, refund.fee), (yuan(4_500), yuan(0)));
        assert_eq!(
            (refund.reason, refund.items),
            (RefundReason::Customer, vec![1])
        );
        let order = until_back(&customer, order_no, 1).await;
        assert_eq!(order.status, OrderStatus::Paid);
        assert_eq!(refunds_of(&order), [None, Some(RefundProgress::Succeeded)]);
        assert_eq!(
            order.returnable().len(),
            1,
            "the other can still be given back"
        );
        let payment = order.payment.expect("the payment");
        assert_eq!(
            payment.status,
            PaymentStatus::Success,
            "part of its money is still ours"
        );
        eventually("the seat is free again", || async {
            (app.seat(show, 10).await == SeatState::Available).then_some(())
        })
        .await;
        assert_eq!(app.seat(show, 9).await, SeatState::Sold);
        let number = order_no.as_i64();
        let claims = "SELECT COUNT(*) FROM seat_claim WHERE order_no = ?";
        assert_eq!(app.count(claims, number).await, 1);
        let other = app.customer().await;
        bought(&other, show, &[10]).await;
        assert_eq!(money_faults(app).await, [""; 0]);
    });
}

#[test]
fn giving_all_tickets_back_ends_the_order_and_its_payment() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[3, 4]).await;
        let number = order_no.to_string();
        let form = [
            ("order_no", number.as_str()),
            ("whole", "true"),
            ("idempotency_key", &new_key()),
        ];
        let refund: RefundView = customer
            .post("/api/orders/refund", &form)
            .await
            .expect("a refund");
        assert_eq!((refund.amount, refund.items.len()), (yuan(2 * 6_800), 2));
        let order = customer.until(order_no, OrderStatus::Refunded).await;
        assert!(order.returnable().is_empty());
        assert_eq!(
            order.payment.expect("the payment").status,
            PaymentStatus::Refunded
        );
        let late = give_back(&customer, order_no, &[0])
            .await
            .expect_err("all is back");
        assert_eq!(late, (StatusCode::CONFLICT, AppError::OrderState));
        eventually("the seats are free again", || async {
            (app.seat_counts(show).await == [40, 0, 0, 0]).then_some(())
        })
        .await;
        // Its tickets do not count for the purchase limit any more.
        bought(&customer, show, &[1, 2, 3, 4]).await;
        assert_eq!(money_faults(app).await, [""; 0]);
    });
}

#[test]
fn a_fee_is_kept_of_each_ticket_and_told_before() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(with_fee(15)).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[9, 10, 11]).await;
        let terms = customer
            .order(order_no)
            .await
            .expect("the order")
            .refund_terms;
        assert_eq!(terms.fee_percent, 15);
        let number = order_no.to_string();
        let form = |back_minor: &'static str, key: String| {
            [
                ("order_no".to_owned(), number.clone()),
                ("items[]".to_owned(), "1".to_owned()),
                ("items[]".to_owned(), "2".to_owned()),
                ("back_minor".to_owned(), back_minor.to_owned()),
                ("idempotency_key".to_owned(), key),
            ]
        };
        let post = async |back_minor, key| {
            let fields = form(back_minor, key);
            let fields: Vec<(&str, &str)> = fields
                .iter()
                .map(|(name, value)| (&**name, &**value))
                .collect();
            customer
                .post::<RefundView>("/api/orders/refund", &fields)
                .await
        };
        let told_more = post("9000", new_key()).await.expect_err("another amount");
        assert_eq!(told_more, (StatusCode::CONFLICT, AppError::OrderState));
        let refunds = "SELECT COUNT(*) FROM refund WHERE order_no = ?";
        assert_eq!(app.count(refunds, order_no.as_i64()).await, 0);
        // 15 % of 45.00 is 6.75 for each.
        let refund = post("7650", new_key()).await.expect("a refund");
        assert_eq!((refund.amount, refund.fee), (yuan(7_650), yuan(1_350)));
        until_back(&customer, order_no, 2).await;
        give_back(&customer, order_no, &[0])
            .await
            .expect("the last one");
        let order = customer.until(order_no, OrderStatus::Refunded).await;
        // The gateway still has the fees, so the payment is not given back whole.
        assert_eq!(
            order.payment.expect("the payment").status,
            PaymentStatus::Success
        );
        let kept: i64 = order.refunds.iter().map(|refund| refund.fee.minor).sum();
        assert_eq!(kept, 1_350 + 1_020);
        assert_eq!(money_faults(app).await, [""; 0]);
    });
}

#[test]
fn a_ticket_is_given_back_once_and_a_repeated_form_is_the_same_refund() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5, 6]).await;
        let key = new_key();
        let first = give_back_as(&customer, order_no, &[0], &key)
            .await
            .expect("a refund");
        let again = give_back_as(&customer, order_no, &[0], &key)
            .await
            .expect("the same");
        assert_eq!(first.refund_no, again.refund_no);
        let twice = give_back(&customer, order_no, &[0, 1])
            .await
            .expect_err("one is on its way");
        assert_eq!(twice, (StatusCode::CONFLICT, AppError::OrderState));
        let refunds = "SELECT COUNT(*) FROM refund WHERE order_no = ?";
        assert_eq!(app.count(refunds, order_no.as_i64()).await, 1);
        until_back(&customer, order_no, 0).await;
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(
            refunds_of(&order)[1],
            None,
            "a refused request gives nothing back"
        );
    });
}

#[test]
fn only_the_buyer_gives_tickets_back_and_only_those_of_the_order() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let (customer, other) = (app.customer().await, app.customer().await);
        let order_no = bought(&customer, show, &[5, 6]).await;
        let not_theirs = give_back(&other, order_no, &[0])
            .await
            .expect_err("not theirs");
        let what = Thing::Order;
        assert_eq!(
            not_theirs,
            (StatusCode::NOT_FOUND, AppError::NotFound { what })
        );
        let nobody = app.http.post(format!("{}/api/orders/refund", app.base));
        let nobody = nobody.header("Accept", "application/json").form(&[
            ("order_no", order_no.to_string()),
            ("idempotency_key", new_key()),
        ]);
        let nobody = nobody.send().await.expect("an answer");
        assert_eq!(nobody.status(), StatusCode::UNAUTHORIZED);
        let invalid = |field| (StatusCode::BAD_REQUEST, AppError::Invalid { field });
        let none = give_back(&customer, order_no, &[])
            .await
            .expect_err("no ticket");
        assert_eq!(none, invalid(Field::Tickets));
        let unknown = give_back(&customer, order_no, &[0, 9])
            .await
            .expect_err("no such ticket");
        assert_eq!(unknown, invalid(Field::Tickets));
        let no_key = give_back_as(&customer, order_no, &[0], "a b")
            .await
            .expect_err("no key");
        assert_eq!(no_key, invalid(Field::IdempotencyKey));
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(refunds_of(&order), [None, None]);
    });
}

#[test]
fn an_order_that_is_not_paid_has_nothing_to_give_back() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[5]).await;
        assert!(
            customer
                .order(order_no)
                .await
                .expect("the order")
                .returnable()
                .is_empty()
        );
        let unpaid = give_back(&customer, order_no, &[0])
            .await
            .expect_err("unpaid");
        assert_eq!(unpaid, (StatusCode::CONFLICT, AppError::OrderState));
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
    });
}

#[test]
fn a_customer_is_too_late_a_day_before_the_show_and_staff_are_not() {
    run(async {
        let app = TestApp::shared().await;
        let soon = ShowSpec {
            sale_ends_in: Millis::minutes(24 * 60 - 1),
            ..ShowSpec::default()
        };
        let show = app.show(soon).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5, 6]).await;
        let order = customer.order(order_no).await.expect("the order");
        let until = order.refund_terms.until.clone().expect("a deadline");
        assert_eq!(order.starts.at - until.at, Millis::minutes(24 * 60));
        assert!(order.returnable().is_empty());
        let late = give_back(&customer, order_no, &[0])
            .await
            .expect_err("too late");
        assert_eq!(late, (StatusCode::CONFLICT, AppError::RefundClosed));

        let staff = app.ticketing();
        let unsaid = staff
            .refund_by_staff(order_no, TicketChoice::All, "  ", 0)
            .await;
        assert!(matches!(unsaid, Err(StaffRefundError::Note)));
        let all_kept = staff
            .refund_by_staff(order_no, TicketChoice::All, "x", 100)
            .await;
        assert!(matches!(all_kept, Err(StaffRefundError::Fee)));
        let one = TicketChoice::Items(vec![1]);
        let refund = staff
            .refund_by_staff(order_no, one.clone(), "the seat is broken", 0)
            .await;
        assert_eq!(refund.expect("a refund").amount, yuan(6_800));
        let again = staff.refund_by_staff(order_no, one, "again", 0).await;
        assert!(matches!(
            again,
            Err(StaffRefundError::Refused(
                RefundRefusal::GivenBackBefore | RefundRefusal::NotPaid
            ))
        ));
        let order = until_back(&customer, order_no, 1).await;
        assert_eq!(order.refunds[0].reason, RefundReason::Staff);
    });
}

#[test]
fn a_show_that_takes_nothing_back_says_so_and_terms_can_be_changed() {
    run(async {
        let app = TestApp::shared().await;
        let mut spec = ShowSpec::default();
        spec.refund.until = None;
        let show = app.show(spec).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5]).await;
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(order.refund_terms.until, None);
        let never = give_back(&customer, order_no, &[0])
            .await
            .expect_err("never");
        assert_eq!(never.1, AppError::RefundClosed);
        let mut policy = app
            .ticketing()
            .refund_policy(show)
            .await
            .expect("stores")
            .expect("a show");
        policy.fee_percent = 100;
        assert!(
            app.ticketing()
                .set_refund_policy(show, policy)
                .await
                .is_err()
        );
        (policy.until, policy.fee_percent) = (Some(Millis(0)), 1);
        app.ticketing()
            .set_refund_policy(show, policy)
            .await
            .expect("stores");
        let refund = give_back(&customer, order_no, &[0])
            .await
            .expect("a refund");
        assert_eq!(refund.fee, yuan(68));
    });
}

#[test]
fn everything_that_happened_is_told_with_the_venues_time() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[5, 6]).await;
        let first = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier(&first, "fail").await;
        eventually("the attempt failed", || async {
            let payment = customer.order(order_no).await.ok()?.payment?;
            (payment.status == PaymentStatus::Failed).then_some(())
        })
        .await;
        customer.pay(order_no).await;
        customer.until(order_no, OrderStatus::Paid).await;
        give_back(&customer, order_no, &[1])
            .await
            .expect("a refund");
        let order = until_back(&customer, order_no, 1).await;
        let told: Vec<&Happening> = order.timeline.iter().map(|entry| &entry.what).collect();
        let (amount, fee) = (yuan(6_800), yuan(0));
        let requested = Happening::RefundRequested {
            amount,
            fee,
            tickets: 1,
            reason: RefundReason::Customer,
        };
        assert_eq!(
            told,
            [
                &Happening::Placed,
                &Happening::PaymentStarted { attempt: 1 },
                &Happening::PaymentFailed { attempt: 1 },
                &Happening::PaymentStarted { attempt: 2 },
                &Happening::Paid {
                    amount: yuan(13_600)
                },
                &requested,
                &Happening::RefundSucceeded { amount },
            ]
        );
        assert!(
            order
                .timeline
                .iter()
                .all(|entry| entry.at.zone == "Asia/Shanghai")
        );
        let in_list = customer
            .request(Method::GET, "/api/orders/list")
            .send()
            .await;
        let list = in_list.expect("an answer").text().await.expect("a body");
        assert!(
            list.contains(r#""timeline":[]"#),
            "a list is read without stories"
        );
    });
}
