//! The gateway as a program of its own: the shop reaches it over HTTP, and it shares no database with the shop.

use crate::support::{GATEWAY_SECRET, ShowSpec, TestApp, config, run};
use app::domain::order::OrderStatus;
use server::{RunningGateway, clock::SystemClock, config::GatewayProcessConfig};
use std::{net::TcpListener, sync::Arc};

/// A gateway on a free port with a database of its own.
async fn gateway() -> (RunningGateway, String) {
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port");
    let own = config("http://127.0.0.1:9", &[]).await;
    let lookup = |name: &str| match name {
        "SEATFLOW_GATEWAY_LISTEN" => Some(address.to_string()),
        "SEATFLOW_GATEWAY_DATABASE_URL" => Some(own.stores.database_url.clone()),
        "SEATFLOW_GATEWAY_SECRET" => Some(GATEWAY_SECRET.to_owned()),
        _ => None,
    };
    let config = GatewayProcessConfig::read(&lookup).expect("settings");
    let running = RunningGateway::start(config, Arc::new(SystemClock))
        .await
        .expect("a gateway");
    (running, format!("http://{address}"))
}

#[test]
fn an_order_is_paid_at_a_gateway_that_shares_only_a_secret_with_the_shop() {
    run(async {
        let (gateway, gateway_url) = gateway().await;
        let app = TestApp::start(&[
            ("SEATFLOW_GATEWAY_APART", "true"),
            ("SEATFLOW_GATEWAY_URL", &gateway_url),
        ])
        .await;
        assert!(app.running.gateway.is_none());
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[3]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        assert!(cashier.starts_with(&gateway_url), "{cashier}");
        customer.at_cashier(&cashier, "succeed").await;
        customer.until(order_no, OrderStatus::Paid).await;
        assert_eq!(
            app.count("SELECT COUNT(*) FROM gw_payment WHERE 0 = ?", 0)
                .await,
            0,
            "the shop's database knows nothing of the gateway's payments"
        );
        gateway.stop().await;
    });
}
