//! The use cases as `app` sees them.

use crate::ticketing::Ticketing;
use app::{
    domain::{
        attendee::Attendee,
        catalogue::{EventPage, HomePage, HomeQuery, ShowPage},
        hold::{HoldRequest, Placed},
        ids::{AttendeeId, EventId, OrderNo, ShowId},
        order::{OrderPage, OrderView},
        refund::{RefundRequest, RefundView},
        user::User,
    },
    error::AppError,
    ports::{
        Accounts, Attendees, Catalogue, MySeats, Ordering, Paying, Ports, Refunding, SessionChange,
        ShowMap, Visitor,
    },
};
use async_trait::async_trait;
use std::sync::Arc;

/// All ports, answered by the use cases.
#[must_use]
pub fn ports(ticketing: &Ticketing) -> Ports {
    let shared = Arc::new(ticketing.clone());
    Ports {
        catalogue: shared.clone(),
        accounts: shared.clone(),
        ordering: shared.clone(),
        paying: shared.clone(),
        refunding: shared.clone(),
        attendees: shared,
    }
}

#[async_trait]
impl Catalogue for Ticketing {
    async fn home(&self, query: HomeQuery) -> Result<HomePage, AppError> {
        self.home_page(query).await
    }

    async fn event(&self, id: EventId) -> Result<EventPage, AppError> {
        self.event_page(id).await
    }

    async fn show(&self, id: ShowId) -> Result<ShowPage, AppError> {
        self.show_page(id).await
    }

    async fn show_map(&self, id: ShowId) -> Result<ShowMap, AppError> {
        Self::show_map(self, id).await
    }
}

#[async_trait]
impl Accounts for Ticketing {
    async fn register(&self, phone: &str, password: &str) -> Result<SessionChange, AppError> {
        Self::register(self, phone, password).await
    }

    async fn log_in(
        &self,
        visitor: &Visitor,
        phone: &str,
        password: &str,
    ) -> Result<SessionChange, AppError> {
        Self::log_in(self, visitor, phone, password).await
    }

    fn log_out(&self) -> SessionChange {
        self.sessions().end()
    }
}

#[async_trait]
impl Ordering for Ticketing {
    async fn place(
        &self,
        visitor: &Visitor,
        user: &User,
        request: HoldRequest,
    ) -> Result<Placed, AppError> {
        Self::place(self, visitor, user, request).await
    }

    async fn order(&self, user: &User, order_no: OrderNo) -> Result<OrderView, AppError> {
        self.own_order(user, order_no).await
    }

    async fn orders(&self, user: &User, before: Option<OrderNo>) -> Result<OrderPage, AppError> {
        self.own_orders(user, before).await
    }

    async fn cancel(&self, user: &User, order_no: OrderNo) -> Result<(), AppError> {
        self.cancel_own(user, order_no).await
    }

    async fn mine(&self, user: &User, show_id: ShowId) -> Result<MySeats, AppError> {
        self.own_seats(user, show_id).await
    }
}

#[async_trait]
impl Paying for Ticketing {
    async fn start(&self, user: &User, order_no: OrderNo) -> Result<String, AppError> {
        self.start_paying(user, order_no).await
    }
}

#[async_trait]
impl Refunding for Ticketing {
    async fn give_back(&self, user: &User, request: RefundRequest) -> Result<RefundView, AppError> {
        self.refund_own(user, request).await
    }
}

#[async_trait]
impl Attendees for Ticketing {
    async fn list(&self, user: &User) -> Result<Vec<Attendee>, AppError> {
        self.attendees(user).await
    }

    async fn add(
        &self,
        user: &User,
        name: &str,
        document_kind: &str,
        document_number: &str,
    ) -> Result<Attendee, AppError> {
        self.add_attendee(user, name, document_kind, document_number)
            .await
    }

    async fn remove(&self, user: &User, id: AttendeeId) -> Result<(), AppError> {
        self.remove_attendee(user, id).await
    }
}
