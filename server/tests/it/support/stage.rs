//! The use cases without anything that runs by itself: no consumers, no timers. The test decides what happens when.

use super::{
    ShowSpec,
    app::{config, make_account, make_show},
};
use app::{
    domain::{
        hold::{Choice, HoldRequest},
        ids::{AttendeeId, OrderNo, SeatIndex, ShowId, ZoneId},
        order::OrderStatus,
        seat::{MapUpdate, SeatState},
        text::Lang,
        user::User,
    },
    error::AppError,
    ports::Visitor,
};
use server::{
    clock::{Clock, ShiftedClock},
    config::Config,
    kafka::{
        Producer, Subscription,
        batch::{BatchLimits, run_batches},
        ensure_topics,
        messages::{Message, Placed},
    },
    kafka_config,
    mysql::money::{PaymentRecord, PaymentStart},
    redis::{
        keys::{Piece, ShowKey},
        nodes::NodeLease,
        scripts::{TakeStanding, TakeStandingReply},
    },
    ticketing::{Ticketing, loading::CREATE_GROUP},
};
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Sends a submission to one of several servers, from a device that nobody else has.
pub async fn submit_to(
    server: &Ticketing,
    user: &User,
    request: HoldRequest,
) -> Result<OrderNo, AppError> {
    let visitor = Visitor {
        user: Some(user.clone()),
        device: uuid::Uuid::new_v4().simple().to_string(),
        phone: format!("phone-{}", user.id),
        ip: Ipv4Addr::LOCALHOST.into(),
        lang: Lang::En,
    };
    Ok(server.place(&visitor, user, request).await?.order_no)
}

/// Sends a choice to one of several servers as a submission of its own.
pub async fn choose_at(
    server: &Ticketing,
    user: &User,
    show_id: ShowId,
    choice: Choice,
) -> Result<OrderNo, AppError> {
    let request = HoldRequest {
        show_id,
        choice,
        attendees: Vec::new(),
        idempotency_key: uuid::Uuid::new_v4().to_string(),
    };
    submit_to(server, user, request).await
}

/// The use cases and a clock.
pub struct Stage {
    pub ticketing: Ticketing,
    pub clock: Arc<ShiftedClock>,
    config: Config,
    leases: Mutex<Vec<KeptLease>>,
}

/// A consumer of `order.create` that runs.
pub struct Consuming {
    cancel: CancellationToken,
    task: JoinHandle<()>,
}

impl Consuming {
    /// Tells it to stop, and waits until it has finished and committed what it had in hand.
    pub async fn stop(self) {
        self.cancel.cancel();
        self.task.await.expect("a consumer");
    }
}

/// A server's node number, renewed for as long as the stage stands: a slow machine takes longer than a lease lasts.
struct KeptLease(tokio::task::AbortHandle);

impl KeptLease {
    fn of(lease: Arc<NodeLease>) -> Self {
        Self(tokio::spawn(async move { lease.keep().await }).abort_handle())
    }
}

impl Drop for KeptLease {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Stage {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// A stage with some settings changed.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        // Nobody listens there: what must reach the gateway stays in the outbox.
        // Nothing consumes here either, so waiting for consumers is soon given up.
        let mut all = vec![("SEATFLOW_DRAIN_MAX_MS", "300")];
        all.extend(settings);
        let config = config("http://127.0.0.1:9", &all).await;
        let clock = Arc::new(ShiftedClock::stopped());
        ensure_topics(&kafka_config(&config)).await.expect("topics");
        let (ticketing, lease) = server::connect(&config, Arc::clone(&clock) as Arc<dyn Clock>)
            .await
            .expect("stores");
        ticketing.db().migrate().await.expect("tables");
        Self {
            ticketing,
            clock,
            config,
            leases: Mutex::new(vec![KeptLease::of(lease)]),
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Consumes `order.create` as a server does.
    pub fn consume(&self) -> Consuming {
        let config = kafka_config(&self.config);
        let subscription = Subscription {
            producer: Producer::new(&config).expect("a producer"),
            config,
            group: CREATE_GROUP.to_owned(),
        };
        let cancel = CancellationToken::new();
        let consumer = run_batches(
            subscription,
            BatchLimits::default(),
            Arc::new(self.ticketing.clone()),
            cancel.clone(),
        );
        let task = tokio::spawn(async move { consumer.await.expect("a consumer") });
        Consuming { cancel, task }
    }

    /// Another server on the same stores.
    pub async fn another_server(&self) -> Ticketing {
        self.server_with(Arc::clone(&self.clock) as Arc<dyn Clock>)
            .await
    }

    /// Another server on the same stores, with a clock of its own.
    pub async fn server_with(&self, clock: Arc<dyn Clock>) -> Ticketing {
        self.server_of(&self.config, clock).await
    }

    /// A server that reaches every store but Kafka.
    pub async fn server_without_kafka(&self) -> Ticketing {
        let mut config = self.config.clone();
        // Nobody listens there.
        config.stores.kafka_brokers = "127.0.0.1:9".to_owned();
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        self.server_of(&config, clock).await
    }

    async fn server_of(&self, config: &Config, clock: Arc<dyn Clock>) -> Ticketing {
        let (ticketing, lease) = server::connect(config, clock).await.expect("stores");
        let mut leases = self.leases.lock().expect("nobody panics with the leases");
        leases.push(KeptLease::of(lease));
        ticketing
    }

    pub async fn show(&self, spec: ShowSpec) -> ShowId {
        make_show(self.ticketing.db(), &spec, self.clock.now()).await
    }

    pub async fn user(&self) -> User {
        make_account(self.ticketing.db(), self.clock.now()).await
    }

    /// Holds seats; the order's message stays where the relay would find it.
    pub async fn hold(
        &self,
        user: &User,
        show: ShowId,
        seats: &[u32],
    ) -> Result<OrderNo, AppError> {
        self.hold_for(user, show, seats, Vec::new()).await
    }

    /// Holds seats for people of the user's list.
    pub async fn hold_for(
        &self,
        user: &User,
        show: ShowId,
        seats: &[u32],
        attendees: Vec<AttendeeId>,
    ) -> Result<OrderNo, AppError> {
        let seats = seats.iter().copied().map(SeatIndex).collect();
        let key = uuid::Uuid::new_v4().to_string();
        self.submit_for(user, show, Choice::Seats(seats), attendees, &key)
            .await
    }

    /// Holds places of a standing zone, as [`Stage::hold`] holds seats.
    pub async fn hold_places(
        &self,
        user: &User,
        show: ShowId,
        zone: ZoneId,
        quantity: u32,
    ) -> Result<OrderNo, AppError> {
        let key = uuid::Uuid::new_v4().to_string();
        let choice = Choice::Best { zone, quantity };
        self.submit(user, show, choice, &key).await
    }

    /// Sends one submission.
    pub async fn submit(
        &self,
        user: &User,
        show: ShowId,
        choice: Choice,
        key: &str,
    ) -> Result<OrderNo, AppError> {
        self.submit_for(user, show, choice, Vec::new(), key).await
    }

    async fn submit_for(
        &self,
        user: &User,
        show: ShowId,
        choice: Choice,
        attendees: Vec<AttendeeId>,
        key: &str,
    ) -> Result<OrderNo, AppError> {
        let request = HoldRequest {
            show_id: show,
            choice,
            attendees,
            idempotency_key: key.to_owned(),
        };
        submit_to(&self.ticketing, user, request).await
    }

    /// The message that the hold left.
    pub async fn message(&self, show: ShowId, order_no: OrderNo) -> Placed {
        let record = self
            .ticketing
            .redis()
            .hold_record(show, order_no)
            .await
            .expect("Redis");
        Placed::decode(record.expect("a hold").message.as_bytes()).expect("a message")
    }

    /// Holds seats and writes the order.
    pub async fn pending(&self, user: &User, show: ShowId, seats: &[u32]) -> OrderNo {
        let order_no = self.hold(user, show, seats).await.expect("a hold");
        let message = self.message(show, order_no).await;
        self.ticketing
            .create_orders(&[message])
            .await
            .expect("an order");
        order_no
    }

    /// Takes places of one piece, as a server does before it holds the order.
    pub async fn take_places(&self, piece: Piece, order_no: OrderNo, quantity: u32) {
        let take = TakeStanding {
            piece,
            order_no,
            now: self.clock.now(),
            quantity,
            least: quantity,
        };
        let reply = self.ticketing.redis().take_standing(&take).await;
        assert!(
            matches!(reply, Ok(TakeStandingReply::Taken { .. })),
            "{reply:?}"
        );
    }

    /// Records an attempt to pay as if the gateway had accepted it.
    pub async fn payment(&self, user: &User, order_no: OrderNo) -> PaymentRecord {
        let now = self.clock.now();
        let db = self.ticketing.db();
        let PaymentStart::Open(payment) = db
            .start_payment(user.id, order_no, now, now)
            .await
            .expect("a database")
        else {
            panic!("order {order_no} can't be paid")
        };
        let number = format!("gw_{}", payment.out_trade_no);
        db.payment_started(&payment, &number, "http://localhost/cashier", now)
            .await
            .expect("a start");
        payment
    }

    /// Changes a key of a show behind the application's back.
    pub async fn meddle(&self, show: ShowId, key: ShowKey, command: &[&str]) {
        let url = std::env::var("REDIS_URL").expect("REDIS_URL");
        let client = redis::Client::open(url).expect("an address");
        let mut connection = client
            .get_multiplexed_async_connection()
            .await
            .expect("Redis");
        let mut call = redis::cmd(command[0]);
        call.arg(self.ticketing.redis().keys().show(show, key));
        for argument in &command[1..] {
            call.arg(*argument);
        }
        call.query_async::<()>(&mut connection)
            .await
            .expect("a command");
    }

    pub async fn status(&self, order_no: OrderNo) -> Option<OrderStatus> {
        let order = self
            .ticketing
            .db()
            .order(order_no)
            .await
            .expect("a database");
        order.map(|order| order.status)
    }

    pub async fn seat(&self, show: ShowId, seat: u32) -> SeatState {
        // The map in memory may be a moment old; Redis itself is asked.
        let owners = self.ticketing.redis().owners(show).await.expect("Redis");
        let Ok(server::redis::scripts::SeatsReply::Update(MapUpdate::Whole(map))) =
            self.ticketing.redis().seats(show, None).await
        else {
            panic!("the show is not loaded")
        };
        let state = map.state(SeatIndex(seat));
        let is_owned = owners.contains_key(&SeatIndex(seat));
        assert_eq!(
            is_owned,
            matches!(state, SeatState::Locked | SeatState::Sold),
            "seat {seat}"
        );
        state
    }
}
