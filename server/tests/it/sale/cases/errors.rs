//! After an error the page shows what the server has, never what the browser believed.

use super::stories::LANGUAGES;
use crate::support::{Customer, ShowSpec, TestApp, run};
use app::domain::{ids::ShowId, order::OrderStatus, time::Millis};
use reqwest::{Method, StatusCode, header};

/// Posts a form as a browser without scripts does, and reads the page that it is led to.
async fn submit(customer: &Customer, path: &str, form: &[(&str, &str)], accept: &str) -> String {
    let request = customer
        .request(Method::POST, path)
        .header(header::ACCEPT, "text/html")
        .header(header::ACCEPT_LANGUAGE, accept)
        .header(header::REFERER, format!("{}/", customer.base()));
    let answer = request.form(form).send().await.expect("an answer");
    assert!(answer.status().is_redirection(), "{}", answer.status());
    let location = answer.headers()[header::LOCATION].to_str().expect("text");
    let path = location.strip_prefix(customer.base()).unwrap_or(location);
    customer.page(path, accept).await
}

/// The form of a show's page with some seats ticked.
fn wish(show: ShowId, seats: &[u32]) -> Vec<(&'static str, String)> {
    let mut form = vec![
        ("show_id", show.to_string()),
        ("idempotency_key", uuid::Uuid::new_v4().to_string()),
    ];
    form.extend(seats.iter().map(|seat| ("seats[]", seat.to_string())));
    form
}

#[test]
fn seats_that_are_held_are_shown_as_ones_own_after_any_refusal() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            limit: 2,
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let (customer, other) = (app.customer().await, app.customer().await);
        other.pending(show, &[9]).await;
        let order_no = customer.pending(show, &[1, 2]).await;
        for language in LANGUAGES {
            // More than the limit; somebody else's seat; the own seats once more; nothing.
            for seats in [&[3][..], &[9], &[1, 2], &[]] {
                let form = wish(show, seats);
                let form: Vec<_> = form
                    .iter()
                    .map(|(name, value)| (*name, value.as_str()))
                    .collect();
                let page = submit(&customer, "/api/orders/place", &form, language.accept).await;
                assert!(
                    page.contains(&format!("/orders/{order_no}")),
                    "{seats:?}: {page}"
                );
                assert_eq!(
                    page.matches(language.own_seat).count(),
                    2,
                    "{seats:?}: {page}"
                );
            }
        }
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        assert_eq!(customer.seats(show).await.len(), 2);
    });
}

#[test]
fn a_refused_payment_or_cancellation_shows_the_order_as_it_is() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let paid = customer.pending(show, &[1]).await;
        customer.pay(paid).await;
        customer.until(paid, OrderStatus::Paid).await;
        let over = customer.pending(show, &[2]).await;
        app.clock.advance(Millis::minutes(15));
        customer.until(over, OrderStatus::Cancelled).await;
        for language in LANGUAGES {
            let number = paid.to_string();
            let form = [("order_no", number.as_str())];
            let page = submit(&customer, "/api/orders/cancel", &form, language.accept).await;
            assert!(page.contains(&format!("<h1>{}", language.paid)), "{page}");
            let number = over.to_string();
            let form = [("order_no", number.as_str())];
            let request = customer
                .request(Method::POST, "/api/payments/start")
                .header(header::ACCEPT, "text/html")
                .header(
                    header::REFERER,
                    format!("{}/orders/{over}", customer.base()),
                );
            let answer = request.form(&form).send().await.expect("an answer");
            assert_eq!(answer.status(), StatusCode::FOUND);
            let page = customer
                .page(&format!("/orders/{over}"), language.accept)
                .await;
            assert!(page.contains(language.timed_out), "{page}");
            assert!(!page.contains("/api/payments/start"), "{page}");
        }
        let attempts = "SELECT COUNT(*) FROM payment WHERE order_no = ?";
        assert_eq!(app.count(attempts, over.as_i64()).await, 0);
    });
}
