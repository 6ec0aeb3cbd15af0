//! The traits through which server functions reach the server.
//!
//! `app` knows what it needs; the crate `server` implements it and hands the implementations over as [`Ports`], once,
//! through Leptos' context. So the browser's build never sees a database driver.

use crate::{
    domain::{
        attendee::Attendee,
        catalogue::{EventPage, HomePage, HomeQuery, ShowPage},
        hold::{HoldRequest, Placed},
        ids::{AttendeeId, EventId, OrderNo, ShowId},
        order::{OrderPage, OrderView},
        plan::Plan,
        refund::{RefundRequest, RefundView},
        seat::SeatMap,
        text::Lang,
        user::User,
    },
    error::AppError,
};
use async_trait::async_trait;
use std::{net::IpAddr, sync::Arc};

/// Who sends a request. The server makes one for each request and provides it as context.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The account, when somebody is signed in.
    pub user: Option<User>,
    /// Names the device, by a signed long-lived cookie.
    pub device: String,
    /// Names the phone number of the account, by a keyed hash; empty when nobody is signed in.
    pub phone: String,
    /// Where the request comes from.
    pub ip: IpAddr,
    /// The language of the page.
    pub lang: Lang,
}

/// Somebody who has just signed in or out.
#[derive(Debug, Clone)]
pub struct SessionChange {
    /// The account; none after signing out.
    pub user: Option<User>,
    /// Value of the `Set-Cookie` header that makes it so.
    pub set_cookie: String,
}

/// The seats of a show and where they stand in the hall, for drawing the map.
#[derive(Debug, Clone)]
pub struct ShowMap {
    /// The hall's plan as it was when the show was made.
    pub plan: Arc<Plan>,
    /// For each category of the plan, the place of its zone in [`ShowPage::zones`].
    pub zone_of_category: Arc<[Option<u16>]>,
    /// Every seat's state.
    pub seats: SeatMap,
}

/// What is on.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// What is on in one city on one day.
    async fn home(&self, query: HomeQuery) -> Result<HomePage, AppError>;
    /// One event; `NotFound` when there is none.
    async fn event(&self, id: EventId) -> Result<EventPage, AppError>;
    /// One show without its map; `NotFound` when there is none or it is a draft.
    async fn show(&self, id: ShowId) -> Result<ShowPage, AppError>;
    /// One show's map; `NotFound` as for [`Catalogue::show`].
    async fn show_map(&self, id: ShowId) -> Result<ShowMap, AppError>;
}

/// Who may come in.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Makes a customer's account and signs in; `PhoneTaken`, `Invalid`, or `Busy` when too many passwords are being hashed.
    async fn register(&self, phone: &str, password: &str) -> Result<SessionChange, AppError>;
    /// Signs in; `WrongCredentials` whether the phone or the password is wrong, `Busy` after too many attempts.
    async fn log_in(
        &self,
        visitor: &Visitor,
        phone: &str,
        password: &str,
    ) -> Result<SessionChange, AppError>;
    /// Signs out.
    fn log_out(&self) -> SessionChange;
}

/// Seats to orders.
#[async_trait]
pub trait Ordering: Send + Sync {
    /// Holds seats and places an order for them, all or nothing; `Refused` with the reason.
    async fn place(
        &self,
        visitor: &Visitor,
        user: &User,
        request: HoldRequest,
    ) -> Result<Placed, AppError>;
    /// One of the user's orders; `NotFound` also when it is somebody else's.
    async fn order(&self, user: &User, order_no: OrderNo) -> Result<OrderView, AppError>;
    /// The user's orders placed before `before`, newest first.
    async fn orders(&self, user: &User, before: Option<OrderNo>) -> Result<OrderPage, AppError>;
    /// Gives up an order that is not paid; `OrderState` when it is too late for that.
    async fn cancel(&self, user: &User, order_no: OrderNo) -> Result<(), AppError>;
    /// Seats of a show that the user's live orders hold or own, with the number of an order that awaits payment.
    async fn mine(&self, user: &User, show_id: ShowId) -> Result<MySeats, AppError>;
}

pub use crate::api::orders::MySeats;

/// Orders to money.
#[async_trait]
pub trait Paying: Send + Sync {
    /// Starts an attempt to pay, or finds the open one; gives the address of the gateway's cashier.
    async fn start(&self, user: &User, order_no: OrderNo) -> Result<String, AppError>;
}

/// Tickets to money.
#[async_trait]
pub trait Refunding: Send + Sync {
    /// Gives tickets of a paid order back; `NotFound` when it is somebody else's, `RefundClosed` when it is too late,
    /// `OrderState` when the order or a ticket does not allow it, `Invalid` with the field.
    async fn give_back(&self, user: &User, request: RefundRequest) -> Result<RefundView, AppError>;
}

/// People to tickets.
#[async_trait]
pub trait Attendees: Send + Sync {
    /// The people the user buys for, oldest entry first.
    async fn list(&self, user: &User) -> Result<Vec<Attendee>, AppError>;
    /// Puts a person into the user's list; `Invalid` with the field, `AttendeeListed` or `AttendeesFull`. `document_kind`
    /// is a word of [`crate::domain::attendee::DocumentKind`].
    async fn add(
        &self,
        user: &User,
        name: &str,
        document_kind: &str,
        document_number: &str,
    ) -> Result<Attendee, AppError>;
    /// Takes a person off the user's list; `NotFound` also when the entry is somebody else's.
    async fn remove(&self, user: &User, id: AttendeeId) -> Result<(), AppError>;
}

/// All ports, as the server provides them.
#[derive(Clone)]
pub struct Ports {
    /// What is on.
    pub catalogue: Arc<dyn Catalogue>,
    /// Who may come in.
    pub accounts: Arc<dyn Accounts>,
    /// Seats to orders.
    pub ordering: Arc<dyn Ordering>,
    /// Orders to money.
    pub paying: Arc<dyn Paying>,
    /// Tickets to money.
    pub refunding: Arc<dyn Refunding>,
    /// People to tickets.
    pub attendees: Arc<dyn Attendees>,
}
