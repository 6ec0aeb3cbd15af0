//! The figures that Prometheus reads, after a sale.

use crate::support::{Notice, ShowSpec, TestApp, eventually, headers_for, run};
use app::domain::{order::OrderStatus, time::Millis};
use reqwest::StatusCode;
use server::clock::Clock;
use std::net::TcpListener;

/// The figure of a name with some labels, or nothing while there is none.
fn figure(page: &str, name: &str, labels: &[&str]) -> Option<f64> {
    page.lines()
        .filter(|line| {
            let rest = line.strip_prefix(name).unwrap_or_default();
            rest.starts_with(['{', ' ']) && labels.iter().all(|label| rest.contains(label))
        })
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .reduce(|sum, value| sum + value)
}

#[test]
fn a_sale_leaves_figures_of_holds_callbacks_timeouts_and_the_outbox() {
    run(async {
        let address = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port");
        let settings = [
            ("SEATFLOW_METRICS_LISTEN", address.to_string()),
            (
                "SEATFLOW_METRICS_TOKEN",
                "a token of tests, 32 bytes and more".to_owned(),
            ),
        ];
        let settings = settings
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let app = TestApp::start(&settings).await;
        let read = || async {
            let request = app.http.get(format!("http://{address}/metrics"));
            let request = request.bearer_auth("a token of tests, 32 bytes and more");
            request
                .send()
                .await
                .expect("figures")
                .text()
                .await
                .expect("a text")
        };
        let show = app.show(ShowSpec::default()).await;
        let (customer, other) = (app.customer().await, app.customer().await);
        let paid = customer.pending(show, &[1]).await;
        other.place(show, &[1]).await.expect_err("a held seat");
        customer.pay(paid).await;
        customer.until(paid, OrderStatus::Paid).await;
        send_what_is_not_the_gateways(&app).await;
        let late = customer.pending(show, &[2]).await;
        app.clock.advance(Millis::minutes(15));
        customer.until(late, OrderStatus::Cancelled).await;
        let expected: [(&str, &[&str]); 6] = [
            ("seatflow_holds_total", &[r#"result="held""#]),
            ("seatflow_holds_total", &[r#"result="seats_taken""#]),
            ("seatflow_callbacks_total", &[r#"result="applied""#]),
            ("seatflow_callbacks_total", &[r#"result="rejected""#]),
            ("seatflow_timeout_lateness_ms_count", &[]),
            ("seatflow_orders_cancelled_total", &[r#"reason="timeout""#]),
        ];
        eventually("the figures are there", || async {
            let page = read().await;
            let is_counted = |(name, labels): &(&str, &[&str])| {
                figure(&page, name, labels).is_some_and(|count| count >= 1.0)
            };
            let is_measured = figure(&page, "seatflow_outbox_rows", &[]).is_some();
            (is_measured && expected.iter().all(is_counted)).then_some(())
        })
        .await;
        let nobody = app
            .http
            .get(format!("http://{address}/metrics"))
            .send()
            .await;
        assert_eq!(
            nobody.expect("an answer").status(),
            StatusCode::UNAUTHORIZED
        );
    });
}

async fn send_what_is_not_the_gateways(app: &TestApp) {
    let amount = app::domain::money::Money::new(100, app::domain::money::Currency::Cny);
    let body = Notice::success("nobody's", amount).body(app.clock.now());
    let headers = headers_for(b"something else", app.clock.now());
    let url = format!("{}/callbacks/payments/simulated", app.base);
    let answer = app.http.post(url).headers(headers).body(body).send().await;
    assert_eq!(
        answer.expect("an answer").status(),
        StatusCode::UNAUTHORIZED
    );
}
