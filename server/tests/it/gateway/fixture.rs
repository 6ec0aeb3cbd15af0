//! A gateway with an empty store and a clock of its own, and a merchant that listens.

use app::domain::{
    money::{Currency, Money},
    text::LocalText,
    time::{Millis, Timestamp},
};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use server::{
    clock::{Clock, ShiftedClock},
    gateway::{
        Gateway, GatewayConfig,
        signature::{SIGNATURE_HEADER, SigningKeys},
        switches::{Decision, Outcome},
        wire::{DecidePayment, DeliveryReport, SetRefundSwitch},
    },
    payment_channel::{
        CallbackNotice, CallbackRejected, Channel, Charge, NewCharge, NewRefund,
        simulated::SimulatedChannel,
    },
};
use sqlx::{
    AssertSqlSafe, Connection, Executor, MySqlConnection, MySqlPool, mysql::MySqlPoolOptions,
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

const SCHEMA: &str = include_str!("../../../../migrations/0002_gateway.sql");
pub const SECRET: &str = "a secret of the tests, 32 bytes or more";

pub fn keys() -> SigningKeys {
    SigningKeys::new(SECRET).unwrap()
}

/// An empty store that is gone when the test ends.
struct Store {
    server_url: String,
    name: String,
}

impl Store {
    async fn create() -> (Self, MySqlPool) {
        let database_url =
            std::env::var("DATABASE_URL").expect("DATABASE_URL names a MySQL or MariaDB server");
        let mut url = reqwest::Url::parse(&database_url).expect("DATABASE_URL is an address");
        let name = format!("gateway_test_{}", uuid::Uuid::new_v4().simple());
        run(
            &database_url,
            format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"),
        )
        .await;
        url.set_path(&name);
        let pool = MySqlPoolOptions::new()
            .max_connections(6)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    let isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
                    connection.execute(isolation).await.map(|_| ())
                })
            })
            .connect(url.as_str())
            .await
            .unwrap();
        sqlx::raw_sql(SCHEMA).execute(&pool).await.unwrap();
        (
            Self {
                server_url: database_url,
                name,
            },
            pool,
        )
    }
}

async fn run(database_url: &str, statement: String) {
    let mut connection = MySqlConnection::connect(database_url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await
        .unwrap();
}

impl Drop for Store {
    fn drop(&mut self) {
        let (url, statement) = (
            self.server_url.clone(),
            format!("DROP DATABASE {}", self.name),
        );
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(run(&url, statement));
        });
        dropped
            .join()
            .unwrap_or_else(|_| eprintln!("the database {} was left behind", self.name));
    }
}

/// A callback as the merchant received it.
pub struct Received {
    pub headers: HeaderMap,
    pub body: Bytes,
    pub at: Timestamp,
}

/// What the merchant heard, and what it answers next; without an instruction it answers 200.
#[derive(Default)]
struct Desk {
    received: Mutex<Vec<Received>>,
    answers: Mutex<VecDeque<StatusCode>>,
}

pub struct Bank {
    pub gateway: Gateway,
    pub pool: MySqlPool,
    pub clock: Arc<ShiftedClock>,
    pub channel: SimulatedChannel,
    /// Of the gateway's router.
    pub url: String,
    /// Of the merchant.
    pub shop_url: String,
    pub http: reqwest::Client,
    desk: Arc<Desk>,
    _store: Store,
}

impl Bank {
    pub async fn open() -> Self {
        Self::open_with(keys(), keys()).await
    }

    /// A gateway and a channel whose keys may differ.
    pub async fn open_with(gateway_keys: SigningKeys, channel_keys: SigningKeys) -> Self {
        let (store, pool) = Store::create().await;
        let clock = Arc::new(ShiftedClock::stopped());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/gateway", listener.local_addr().unwrap());
        let config = GatewayConfig {
            keys: gateway_keys,
            public_url: url.clone(),
        };
        let gateway = Gateway::new(pool.clone(), config, clock.clone()).unwrap();
        let app = Router::new().nest("/gateway", gateway.router());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let channel = SimulatedChannel::new(&url, channel_keys, clock.clone()).unwrap();
        let desk = Arc::new(Desk::default());
        let shop_url = serve_shop(desk.clone(), clock.clone()).await;
        let redirect = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder()
            .redirect(redirect)
            .no_proxy()
            .build()
            .unwrap();
        Self {
            gateway,
            pool,
            clock,
            channel,
            url,
            shop_url,
            http,
            desk,
            _store: store,
        }
    }

    pub fn charge_for(&self, out_trade_no: &str) -> NewCharge {
        NewCharge {
            out_trade_no: out_trade_no.to_owned(),
            amount: Money::new(13_600, Currency::Cny),
            subject: LocalText {
                en: "Two seats".to_owned(),
                zh_cn: "两张票".to_owned(),
            },
            expires_in: Millis::minutes(15),
            notify_url: format!("{}/notify", self.shop_url),
            return_url: format!("{}/orders/1", self.shop_url),
        }
    }

    pub async fn charge(&self, out_trade_no: &str) -> Charge {
        self.channel
            .create(self.charge_for(out_trade_no))
            .await
            .unwrap()
    }

    pub async fn paid(&self, out_trade_no: &str) -> Charge {
        let charge = self.charge(out_trade_no).await;
        assert_eq!(
            self.press(&charge, &[("outcome", "succeed")])
                .await
                .status(),
            303
        );
        charge
    }

    pub fn refund_of(&self, out_trade_no: &str, refund_no: &str, minor: i64) -> NewRefund {
        NewRefund {
            refund_no: refund_no.to_owned(),
            out_trade_no: out_trade_no.to_owned(),
            amount: Money::new(minor, Currency::Cny),
            notify_url: format!("{}/notify", self.shop_url),
        }
    }

    /// Posts the cashier's form.
    pub async fn press(&self, charge: &Charge, fields: &[(&str, &str)]) -> reqwest::Response {
        self.http
            .post(&charge.cashier_url)
            .form(fields)
            .send()
            .await
            .unwrap()
    }

    /// Posts a body to the API, rightly signed.
    pub async fn post(&self, path: &str, body: impl Into<Vec<u8>>) -> reqwest::Response {
        let body = body.into();
        let signature = keys().sign(&body, self.clock.now());
        self.post_signed(path, body, &signature).await
    }

    pub async fn post_signed(
        &self,
        path: &str,
        body: Vec<u8>,
        signature: &str,
    ) -> reqwest::Response {
        let request = self.http.post(format!("{}{path}", self.url));
        request
            .header(SIGNATURE_HEADER, signature)
            .body(body)
            .send()
            .await
            .unwrap()
    }

    /// Decides by API, as the cashier's form would.
    pub async fn decide(&self, out_trade_no: &str, decision: Decision) -> reqwest::Response {
        let request = DecidePayment {
            out_trade_no: out_trade_no.to_owned(),
            decision,
        };
        let path = format!("/v1/payments/{out_trade_no}/outcome");
        self.post(&path, serde_json::to_vec(&request).unwrap())
            .await
    }

    pub async fn succeed(&self, out_trade_no: &str, switch: impl FnOnce(&mut Decision)) {
        let mut decision = Decision::plain(Outcome::Succeed);
        switch(&mut decision);
        assert_eq!(self.decide(out_trade_no, decision).await.status(), 200);
    }

    pub async fn switch_refunds(&self, request: SetRefundSwitch) {
        let path = format!("/v1/payments/{}/refund-switch", request.out_trade_no);
        let answer = self
            .post(&path, serde_json::to_vec(&request).unwrap())
            .await;
        assert_eq!(answer.status(), 204);
    }

    /// Reads from the API, rightly signed.
    pub async fn get(&self, path: &str) -> reqwest::Response {
        let line = format!("GET /gateway{path}");
        let signature = keys().sign(line.as_bytes(), self.clock.now());
        let request = self.http.get(format!("{}{path}", self.url));
        request
            .header(SIGNATURE_HEADER, signature)
            .send()
            .await
            .unwrap()
    }

    pub async fn deliveries(&self, out_trade_no: &str) -> Vec<DeliveryReport> {
        let path = format!("/v1/payments/{out_trade_no}/deliveries");
        serde_json::from_slice(&self.get(&path).await.bytes().await.unwrap()).unwrap()
    }

    /// What the merchant answers to the next callbacks.
    pub fn shop_answers(&self, answers: &[u16]) {
        let answers = answers
            .iter()
            .map(|status| StatusCode::from_u16(*status).unwrap());
        self.desk.answers.lock().unwrap().extend(answers);
    }

    /// Sends what is due and hands over what the merchant received.
    pub async fn deliver(&self) -> Vec<Received> {
        self.gateway.deliver_due().await.unwrap();
        self.received()
    }

    /// Hands over what the merchant has received since the last look.
    pub fn received(&self) -> Vec<Received> {
        std::mem::take(&mut *self.desk.received.lock().unwrap())
    }

    pub fn read(&self, received: &Received) -> Result<CallbackNotice, CallbackRejected> {
        self.channel
            .verify(&received.headers, &received.body, received.at)
    }

    /// Sends what is due; every callback of it must be right.
    pub async fn notices(&self) -> Vec<CallbackNotice> {
        self.deliver()
            .await
            .iter()
            .map(|received| self.read(received).unwrap())
            .collect()
    }
}

async fn serve_shop(desk: Arc<Desk>, clock: Arc<ShiftedClock>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new()
        .route("/notify", post(hear))
        .route("/elsewhere", post(hear))
        .with_state((desk, clock));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

async fn hear(
    State((desk, clock)): State<(Arc<Desk>, Arc<ShiftedClock>)>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, [(&'static str, &'static str); 1]) {
    desk.received.lock().unwrap().push(Received {
        headers,
        body,
        at: clock.now(),
    });
    let status = desk
        .answers
        .lock()
        .unwrap()
        .pop_front()
        .unwrap_or(StatusCode::OK);
    (status, [("location", "/elsewhere")])
}
