//! A customer who talks to the application over HTTP, as a program does.

use super::{TestApp, app::make_account, eventually};
use app::{
    domain::{
        attendee::Attendee,
        hold::Placed,
        ids::{AttendeeId, OrderNo, SeatIndex, ShowId, ZoneId},
        order::{OrderStatus, OrderView},
        user::User,
    },
    error::AppError,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use serde::de::DeserializeOwned;
use server::clock::Clock;

/// A customer with a session and a device.
#[derive(Clone)]
pub struct Customer {
    cookies: String,
    user: User,
    phone: String,
    /// The `Set-Cookie` value that names the device.
    device: String,
    base: String,
    http: reqwest::Client,
}

/// What a server function answered.
pub type Answer<T> = Result<T, (StatusCode, AppError)>;

impl Customer {
    pub(super) async fn new(app: &TestApp) -> Self {
        let user = make_account(app.db(), app.clock.now()).await;
        let phone = format!("phone-of-{}", user.id);
        let device = app.ticketing().sessions().name_device().1;
        Self::of(app, user, phone, device)
    }

    /// The same account on a device of its own.
    pub fn on_another_device(&self, app: &TestApp) -> Self {
        let device = app.ticketing().sessions().name_device().1;
        Self::of(app, self.user.clone(), self.phone.clone(), device)
    }

    /// The account of this customer on the device of another.
    pub fn on_the_device_of(&self, app: &TestApp, other: &Self) -> Self {
        let device = other.device.clone();
        Self::of(app, self.user.clone(), self.phone.clone(), device)
    }

    /// The account of this customer as if it had the phone number of another.
    pub fn with_the_phone_of(&self, app: &TestApp, other: &Self) -> Self {
        let phone = other.phone.clone();
        Self::of(app, self.user.clone(), phone, self.device.clone())
    }

    fn of(app: &TestApp, user: User, phone: String, device: String) -> Self {
        let pair = |set_cookie: &str| set_cookie.split(';').next().unwrap_or_default().to_owned();
        let started = app
            .ticketing()
            .sessions()
            .start(user.clone(), phone.clone());
        let session = pair(&started.set_cookie);
        Self {
            cookies: format!("{session}; {}", pair(&device)),
            user,
            phone,
            device,
            base: app.base.clone(),
            http: app.http.clone(),
        }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.base))
            .header(header::COOKIE, &self.cookies)
    }

    /// Where the application is.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// A page as a browser without scripts gets it, in the language that it accepts.
    pub async fn page(&self, path: &str, language: &str) -> String {
        let request = self
            .request(Method::GET, path)
            .header(header::ACCEPT, "text/html")
            .header(header::ACCEPT_LANGUAGE, language);
        let answer = request.send().await.expect("a page");
        answer.text().await.expect("a text")
    }

    /// Posts a form as a program does, and reads the JSON.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, form: &[(&str, &str)]) -> Answer<T> {
        let request = self
            .request(Method::POST, path)
            .header(header::ACCEPT, "application/json");
        read(request.form(form).send().await.expect("an answer")).await
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Answer<T> {
        let request = self
            .request(Method::GET, path)
            .header(header::ACCEPT, "application/json");
        read(request.send().await.expect("an answer")).await
    }

    pub async fn place(&self, show: ShowId, seats: &[u32]) -> Answer<OrderNo> {
        self.place_as(show, seats, &uuid::Uuid::new_v4().to_string())
            .await
    }

    pub async fn place_as(&self, show: ShowId, seats: &[u32], key: &str) -> Answer<OrderNo> {
        let show = show.to_string();
        let seats: Vec<String> = seats.iter().map(ToString::to_string).collect();
        let mut form = vec![("show_id", show.as_str()), ("idempotency_key", key)];
        form.extend(seats.iter().map(|seat| ("seats[]", seat.as_str())));
        let placed: Placed = self.post("/api/orders/place", &form).await?;
        Ok(placed.order_no)
    }

    /// Places an order whose tickets are for people of the customer's list.
    pub async fn place_for(
        &self,
        show: ShowId,
        seats: &[u32],
        people: &[AttendeeId],
    ) -> Answer<OrderNo> {
        let mut form = vec![
            ("show_id", show.to_string()),
            ("idempotency_key", uuid::Uuid::new_v4().to_string()),
        ];
        form.extend(seats.iter().map(|seat| ("seats[]", seat.to_string())));
        form.extend(people.iter().map(|id| ("attendees[]", id.to_string())));
        let form: Vec<(&str, &str)> = form
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let placed: Placed = self.post("/api/orders/place", &form).await?;
        Ok(placed.order_no)
    }

    /// Puts a person with a passport into the customer's list.
    pub async fn add_person(&self, name: &str, passport: &str) -> Answer<AttendeeId> {
        let form = [
            ("name", name),
            ("document_kind", "passport"),
            ("document_number", passport),
        ];
        let added: Attendee = self.post("/api/attendees/add", &form).await?;
        Ok(added.id)
    }

    /// Asks for the best seats of a zone.
    pub async fn place_best(&self, show: ShowId, zone: ZoneId, quantity: u32) -> Answer<OrderNo> {
        let form = [
            ("show_id", show.to_string()),
            ("zone", zone.to_string()),
            ("quantity", quantity.to_string()),
            ("idempotency_key", uuid::Uuid::new_v4().to_string()),
        ];
        let form: Vec<(&str, &str)> = form
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let placed: Placed = self.post("/api/orders/place", &form).await?;
        Ok(placed.order_no)
    }

    pub async fn order(&self, order_no: OrderNo) -> Answer<OrderView> {
        self.get(&format!("/api/orders/order?order_no={order_no}"))
            .await
    }

    pub async fn status(&self, order_no: OrderNo) -> OrderStatus {
        self.order(order_no)
            .await
            .expect("the customer's own order")
            .status
    }

    /// Waits until the order is in a state.
    pub async fn until(&self, order_no: OrderNo, status: OrderStatus) -> OrderView {
        eventually(&format!("order {order_no} is {status:?}"), || async {
            self.order(order_no)
                .await
                .ok()
                .filter(|order| order.status == status)
        })
        .await
    }

    /// Places an order and waits until it is written.
    pub async fn pending(&self, show: ShowId, seats: &[u32]) -> OrderNo {
        let order_no = self.place(show, seats).await.expect("an order");
        self.until(order_no, OrderStatus::Pending).await;
        order_no
    }

    pub async fn cancel(&self, order_no: OrderNo) -> Answer<()> {
        self.post("/api/orders/cancel", &[("order_no", &order_no.to_string())])
            .await
    }

    /// The address of the cashier.
    pub async fn start_paying(&self, order_no: OrderNo) -> Answer<String> {
        self.post(
            "/api/payments/start",
            &[("order_no", &order_no.to_string())],
        )
        .await
    }

    /// Presses a button at the cashier: `succeed` or `fail`.
    pub async fn at_cashier(&self, cashier: &str, outcome: &str) {
        self.at_cashier_with(cashier, &[("outcome", outcome)]).await;
    }

    /// Sends the cashier's form with some of its fields changed: an outcome, and how the gateway is to misbehave.
    pub async fn at_cashier_with(&self, cashier: &str, fields: &[(&str, &str)]) {
        let answer = self
            .http
            .post(cashier)
            .form(&decision(fields))
            .send()
            .await
            .expect("the cashier");
        assert_eq!(
            answer.status(),
            StatusCode::SEE_OTHER,
            "the cashier sends the customer back"
        );
    }

    /// Pays at the cashier, who may not be there.
    pub async fn press_pay(&self, cashier: &str) {
        let form = decision(&[("outcome", "succeed")]);
        drop(self.http.post(cashier).form(&form).send().await);
    }

    pub async fn pay(&self, order_no: OrderNo) {
        let cashier = self.start_paying(order_no).await.expect("a cashier");
        self.at_cashier(&cashier, "succeed").await;
    }

    /// The customer's own seats of a show.
    pub async fn seats(&self, show: ShowId) -> Vec<SeatIndex> {
        let mine: app::api::orders::MySeats = self
            .get(&format!("/api/orders/mine?show_id={show}"))
            .await
            .expect("own seats");
        mine.seats
    }
}

/// The cashier's form with some of its fields changed.
fn decision<'f>(changed: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let untouched = [
        ("delay_s", "0"),
        ("copies", "1"),
        ("faulty_attempts", "1"),
        ("refund_times", "1"),
        ("refund_delay_s", "0"),
    ];
    let untouched = untouched
        .into_iter()
        .filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
    changed.iter().copied().chain(untouched).collect()
}

async fn read<T: DeserializeOwned>(response: Response) -> Answer<T> {
    let status = response.status();
    let body = response.text().await.expect("a body");
    if status.is_success() {
        return Ok(serde_json::from_str(&body).unwrap_or_else(|_| panic!("unreadable: {body}")));
    }
    let error = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{status}: {body}"));
    Err((status, error))
}
