//! A running application on its own database, Redis keys and Kafka topics.

use super::{Customer, eventually};
use app::domain::{
    ids::{SeatIndex, ShowId},
    money::Currency,
    refund::RefundPolicy,
    seat::{MapUpdate, SeatMap, SeatState},
    tax::TaxRate,
    text::LocalText,
    time::{Millis, Timestamp},
    user::{Phone, Role},
};
use server::{
    Running,
    clock::{Clock, ShiftedClock},
    config::Config,
    mysql::{
        Db,
        seeding::{NewEvent, NewShow, NewVenue, NewZone},
        shows::StandingZone,
    },
    payment_channel::Channels,
    serve_through,
    ticketing::{Ticketing, verify::Evidence},
};
use sqlx::{Connection, MySqlConnection};
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{net::TcpListener, sync::OnceCell};

pub const SESSION_SECRET: &str = "a session secret of tests, 32 bytes and more";
pub const ATTENDEE_SECRET: &str = "an attendee secret of tests, 32 bytes and more";
pub const GATEWAY_SECRET: &str = "a gateway secret of tests, 32 bytes and more";

/// A running application.
pub struct TestApp {
    pub running: Running,
    pub base: String,
    pub http: reqwest::Client,
    pub clock: Arc<ShiftedClock>,
    config: Config,
}

/// What a test wants of its show.
#[derive(Debug, Clone)]
pub struct ShowSpec {
    pub seats: u32,
    /// The first so many seats are of the dearer zone.
    pub front_seats: u32,
    pub hold_for: Millis,
    pub limit: u32,
    /// Whether each ticket is for a person who is named.
    pub attendees_required: bool,
    /// A standing zone "Floor": its places, and in how many pieces they are split.
    pub standing: Option<(u32, u16)>,
    pub sale_starts_in: Millis,
    pub sale_ends_in: Millis,
    /// On which terms it takes tickets back.
    pub refund: RefundPolicy,
    /// The tax within its prices.
    pub tax: TaxRate,
}

impl Default for ShowSpec {
    fn default() -> Self {
        Self {
            seats: 40,
            front_seats: 10,
            hold_for: Millis::minutes(15),
            limit: 4,
            attendees_required: false,
            standing: None,
            sale_starts_in: Millis::minutes(-60),
            sale_ends_in: Millis::minutes(60 * 24 * 365),
            refund: RefundPolicy::default(),
            tax: TaxRate(0),
        }
    }
}

/// Prices of the two zones, in fen.
pub const FRONT_PRICE: i64 = 6_800;
pub const BACK_PRICE: i64 = 4_500;
/// Price of the standing zone, in fen.
pub const FLOOR_PRICE: i64 = 3_000;

impl TestApp {
    /// The application that tests share which need nothing special.
    pub async fn shared() -> &'static Self {
        static APP: OnceCell<TestApp> = OnceCell::const_new();
        APP.get_or_init(|| Self::start(&[])).await
    }

    /// An application of the test's own, with some settings changed.
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_through(settings, |channels| channels).await
    }

    /// The same with other payment channels.
    pub async fn start_through(
        settings: &[(&str, &str)],
        change: impl FnOnce(Channels) -> Channels,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        // However slow the machine is, no order is too old to be written.
        let mut all = vec![("SEATFLOW_DISCARD_AFTER_MS", "50000")];
        all.extend(settings);
        let config = config(&base, &all).await;
        Db::connect(&config.stores)
            .await
            .expect("a database")
            .migrate()
            .await
            .expect("tables");
        let clock = Arc::new(ShiftedClock::default());
        let timed = Arc::clone(&clock) as Arc<dyn Clock>;
        let channels = server::channels(&config, Arc::clone(&timed)).expect("channels");
        let running = serve_through(listener, config.clone(), change(channels), timed)
            .await
            .expect("a start");
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(1_000)
            .build()
            .expect("a client");
        Self {
            running,
            base,
            http,
            clock,
            config,
        }
    }

    /// The application dies wherever its tasks are, and comes back at the same address on the same stores.
    pub async fn after_a_crash(self) -> Self {
        let Self {
            running,
            base,
            http,
            clock,
            config,
        } = self;
        drop(running);
        let running = eventually("the address is free again", || async {
            let timed = Arc::clone(&clock) as Arc<dyn Clock>;
            server::build(config.clone(), timed).await.ok()
        })
        .await;
        Self {
            running,
            base,
            http,
            clock,
            config,
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn ticketing(&self) -> &Ticketing {
        &self.running.ticketing
    }

    pub fn db(&self) -> &Db {
        self.ticketing().db()
    }

    pub async fn show(&self, spec: ShowSpec) -> ShowId {
        make_show(self.db(), &spec, self.clock.now()).await
    }

    /// A customer who is signed in, with a device of their own.
    pub async fn customer(&self) -> Customer {
        Customer::new(self).await
    }

    /// A show's map, read anew.
    pub async fn map(&self, show: ShowId) -> SeatMap {
        let url = format!("{}/shows/{show}/seats", self.base);
        let body = self
            .http
            .get(url)
            .send()
            .await
            .expect("an answer")
            .bytes()
            .await
            .expect("a body");
        match MapUpdate::decode(&body).expect("a map") {
            MapUpdate::Whole(map) => map,
            MapUpdate::Changes { .. } => panic!("a reader without a version got changes"),
        }
    }

    /// How many seats of a show are in each state: available, locked, sold, blocked.
    pub async fn seat_counts(&self, show: ShowId) -> [usize; 4] {
        let mut counts = [0; 4];
        for state in self.map(show).await.states() {
            counts[usize::from(state.bits())] += 1;
        }
        counts
    }

    pub async fn seat(&self, show: ShowId, seat: u32) -> SeatState {
        self.map(show).await.state(SeatIndex(seat))
    }

    pub async fn verify(&self) -> Evidence {
        self.ticketing().verify().await.expect("evidence")
    }

    /// A number that a query of one row and column gives.
    pub async fn count(&self, sql: &'static str, bind: i64) -> i64 {
        sqlx::query_scalar(sql)
            .bind(bind)
            .fetch_one(self.db().pool())
            .await
            .expect("a count")
    }
}

/// Settings for a database, keys and topics that nobody else uses.
pub async fn config(base: &str, settings: &[(&str, &str)]) -> Config {
    let name = format!("it_{}", uuid::Uuid::new_v4().simple());
    let admin = required("DATABASE_URL");
    let mut connection = MySqlConnection::connect(&admin)
        .await
        .expect("DATABASE_URL answers");
    let create = format!("CREATE DATABASE {name} CHARACTER SET utf8mb4");
    sqlx::query(sqlx::AssertSqlSafe(create))
        .execute(&mut connection)
        .await
        .expect("a database");
    let server = admin
        .rsplit_once('/')
        .expect("a database in DATABASE_URL")
        .0;
    let mut variables: HashMap<String, String> = HashMap::from(
        [
            ("DATABASE_URL", format!("{server}/{name}")),
            ("REDIS_URL", required("REDIS_URL")),
            ("KAFKA_BROKERS", required("KAFKA_BROKERS")),
            ("SEATFLOW_REDIS_PREFIX", name.clone()),
            ("SEATFLOW_KAFKA_PREFIX", format!("{name}.")),
            ("SEATFLOW_KAFKA_PARTITIONS", "2".to_owned()),
            // A busy machine may answer late; how late is not what these tests are about.
            ("SEATFLOW_STORE_WAIT_MS", "30000".to_owned()),
            ("SEATFLOW_SESSION_SECRET", SESSION_SECRET.to_owned()),
            ("SEATFLOW_ATTENDEE_SECRET", ATTENDEE_SECRET.to_owned()),
            ("SEATFLOW_GATEWAY_SECRET", GATEWAY_SECRET.to_owned()),
            (
                "SEATFLOW_LISTEN",
                base.trim_start_matches("http://").to_owned(),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    variables.extend(
        settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    Config::read(&|name| variables.get(name).cloned()).expect("a configuration")
}

fn required(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is missing: `cargo xtask test` sets it"))
}

/// A show in a hall of its own: rows of twenty seats, the first ones of the zone "Front".
pub async fn make_show(db: &Db, spec: &ShowSpec, now: Timestamp) -> ShowId {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Parallel tests must not seed the same key at once.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (key, venue_key, event_key) = (
        format!("hall-{number}"),
        format!("venue-{number}"),
        format!("event-{number}"),
    );
    let name = LocalText {
        en: "Test Hall".to_owned(),
        zh_cn: "测试厅".to_owned(),
    };
    let venue = NewVenue {
        key: &venue_key,
        name: &name,
        city_key: "shanghai",
        city: &name,
        time_zone: "Asia/Shanghai",
        currency: Currency::Cny,
        tax: spec.tax,
    };
    let venue_id = db.seed_venue(&venue).await.expect("a venue");
    let event = NewEvent {
        key: &event_key,
        kind: "film",
        title: &name,
        by: &name,
        duration_min: 100,
        language: &name,
        summary: &name,
        description: &name,
        poster: "/posters/none.svg",
    };
    let event_id = db.seed_event(&event).await.expect("an event");
    let hall_id = db.seed_hall(&key, venue_id, &name).await.expect("a hall");
    let content = plan(spec);
    let put = db
        .put_plan(hall_id, "Test", spec.seats, &content, &key, now)
        .await
        .expect("a plan");
    let zone = |category, price_minor, seats_total| NewZone {
        category,
        name: &name,
        price_minor,
        seats_total,
        standing: None,
    };
    let starts_at = now + spec.sale_ends_in;
    let mut zones = vec![
        zone("Front", FRONT_PRICE, spec.front_seats.min(spec.seats)),
        zone(
            "Back",
            BACK_PRICE,
            spec.seats.saturating_sub(spec.front_seats),
        ),
    ];
    if let Some((capacity, pieces)) = spec.standing {
        zones.push(NewZone {
            standing: Some(StandingZone { capacity, pieces }),
            ..zone("Floor", FLOOR_PRICE, 0)
        });
    }
    let show = NewShow {
        event_id,
        hall_id,
        plan_id: put.id,
        starts_at,
        ends_at: starts_at + Millis::minutes(100),
        sale_start: now + spec.sale_starts_in,
        sale_end: starts_at,
        limit: spec.limit,
        attendees_required: spec.attendees_required,
        hold_for: spec.hold_for,
        refund: spec.refund,
        seats_total: spec.seats,
        currency: Currency::Cny,
        zones,
    };
    assert!(
        db.seed_show(&show).await.expect("a show"),
        "the new hall has no other show"
    );
    let id: u64 = sqlx::query_scalar("SELECT id FROM shows WHERE hall_id = ?")
        .bind(hall_id)
        .fetch_one(db.pool())
        .await
        .expect("the show");
    ShowId(id)
}

fn plan(spec: &ShowSpec) -> String {
    let mut rows = String::new();
    for row in 0..spec.seats.div_ceil(20) {
        let mut seats = String::new();
        for place in 0..20.min(spec.seats - row * 20) {
            let index = row * 20 + place;
            let category = if index < spec.front_seats {
                "Front"
            } else {
                "Back"
            };
            let comma = if place > 0 { "," } else { "" };
            let number = place + 1;
            let x = place * 30;
            write!(seats, r#"{comma}{{"seat_guid":"{index}","seat_number":"{number}","position":{{"x":{x},"y":0}},"category":"{category}"}}"#)
                .expect("text");
        }
        let comma = if row > 0 { "," } else { "" };
        let name = row + 1;
        let y = row * 30;
        write!(
            rows,
            r#"{comma}{{"row_number":"{name}","position":{{"x":0,"y":{y}}},"seats":[{seats}]}}"#
        )
        .expect("text");
    }
    format!(
        r#"{{"name":"Test","categories":[{{"name":"Front"}},{{"name":"Back"}}],"zones":[{{"name":"Stalls","position":{{"x":0,"y":0}},"rows":[{rows}]}}],"size":{{"width":700,"height":900}}}}"#
    )
}

/// A new account, without the time that hashing its password takes.
pub async fn make_account(db: &Db, now: Timestamp) -> app::domain::user::User {
    let number = uuid::Uuid::new_v4().as_u128() % 1_000_000_000_000;
    let phone = Phone::parse(&format!("1{number:012}")).expect("a phone number");
    eventually("an account is made", || async {
        match db
            .insert_account(&phone, "nobody can sign in with this", Role::Customer, now)
            .await
        {
            Ok(user) => Some(user),
            Err(server::mysql::DbError::Busy) => None,
            Err(error) => panic!("no account: {error:?}"),
        }
    })
    .await
}
