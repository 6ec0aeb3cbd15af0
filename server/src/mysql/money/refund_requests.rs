//! Asking for money back: the one way in which tickets of a paid order are given back, by whomever.
//!
//! One transaction locks the order, then its payment, and writes the refund, its tickets, the ledger and the wish to send
//! it. The tickets stay the order's until the gateway has confirmed.

use super::{
    ledger::{Moves, post},
    payments::{PaymentRecord, lock_payment, payments_of},
    refundable::{Ticket, chosen, lock, terms, tickets, value},
    refunds::{RefundRecord, refund_in},
};
use crate::mysql::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
    shows::currency_of,
};
use app::domain::{
    ids::{OrderNo, UserId},
    money::{Currency, Money},
    payment::PaymentStatus,
    refund::{GivenBack, RefundReason, TicketChoice, fee_of},
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// Who gives tickets back, and on which terms.
#[derive(Debug, Clone)]
pub enum RefundAsker {
    /// The customer, on the show's terms.
    Customer {
        /// Who; somebody else's order is none.
        user: UserId,
        /// Names the submission.
        key: String,
        /// What the customer was told would come back, in the smallest unit.
        back_minor: Option<i64>,
    },
    /// Staff, at any time.
    Staff {
        /// Why, for other staff.
        note: String,
        /// What is kept, in percent.
        fee_percent: u8,
    },
    /// The show was withdrawn.
    Withdrawal,
}

impl RefundAsker {
    fn reason(&self) -> RefundReason {
        match self {
            Self::Customer { .. } => RefundReason::Customer,
            Self::Staff { .. } => RefundReason::Staff,
            Self::Withdrawal => RefundReason::ShowWithdrawn,
        }
    }
}

/// A wish to give tickets back.
#[derive(Debug, Clone)]
pub struct NewRefund {
    /// The order.
    pub order_no: OrderNo,
    /// Which of its tickets.
    pub tickets: TicketChoice,
    /// Who wants it.
    pub asker: RefundAsker,
}

/// Why no money goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefundRefusal {
    /// There is no such order, or it is somebody else's.
    #[error("there is no such order")]
    NoOrder,
    /// It is not paid, or over.
    #[error("the order is not paid, or its money was given back")]
    NotPaid,
    /// The show takes nothing back any more.
    #[error("the show takes no tickets back any more")]
    Closed,
    /// The order has no ticket of that number.
    #[error("the order has no such ticket")]
    UnknownItem,
    /// A ticket was given back before, or is on its way.
    #[error("a ticket was given back before")]
    GivenBackBefore,
    /// No ticket was named, or none is left.
    #[error("no ticket is left to be given back")]
    NothingLeft,
    /// Nothing would come back.
    #[error("nothing would come back for these tickets")]
    NothingBack,
    /// Another amount would come back than the customer was told.
    #[error("another amount would come back")]
    OtherAmount,
}

/// What became of the wish.
#[derive(Debug, Clone)]
pub enum RefundRequested {
    /// This call requested the refund.
    Now {
        /// The refund.
        refund: RefundRecord,
        /// What must happen outside, once the commit is seen.
        row: OutboxRow,
    },
    /// The same submission requested it before.
    Before(RefundRecord),
    /// Nothing was changed.
    Refused(RefundRefusal),
}

impl Db {
    /// Asks for the money of an order's tickets.
    ///
    /// # Errors
    /// When the database fails; nothing is requested then.
    pub async fn request_refund(
        &self,
        new: &NewRefund,
        now: Timestamp,
    ) -> Result<RefundRequested, DbError> {
        self.transact((new, now), |&(new, now), tx| {
            Box::pin(async move {
                match request(tx, new, now).await? {
                    Ok(requested) => Ok(requested),
                    Err(refusal) => Ok::<_, DbError>(RefundRequested::Refused(refusal)),
                }
            })
        })
        .await
    }
}

async fn request(
    tx: &mut MySqlConnection,
    new: &NewRefund,
    now: Timestamp,
) -> Result<Result<RefundRequested, RefundRefusal>, DbError> {
    let Some(order) = lock(tx, new.order_no).await? else {
        return Ok(Err(RefundRefusal::NoOrder));
    };
    if let RefundAsker::Customer { user, key, .. } = &new.asker {
        if UserId(order.user_id) != *user {
            return Ok(Err(RefundRefusal::NoOrder));
        }
        if let Some(refund_no) = requested_before(tx, new.order_no, key).await? {
            let refund = refund_in(tx, &refund_no).await?;
            let refund = refund.ok_or(DbError::Unreadable { what: "refund" })?;
            return Ok(Ok(RefundRequested::Before(refund)));
        }
    }
    let fee_percent = match terms(&order, &new.asker, now) {
        Ok(fee_percent) => fee_percent,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let tickets = match chosen(tickets(tx, new.order_no).await?, &new.tickets) {
        Ok(tickets) => tickets,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let given = match value(
        currency_of(&order.currency)?,
        &tickets,
        fee_percent,
        &new.asker,
    ) {
        Ok(given) => given,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (payment, refunds) = paid_with(tx, new.order_no)
        .await?
        .ok_or(DbError::Unreadable {
            what: "payment of a paid order",
        })?;
    let refund_no = format!("{}-r{}", payment.out_trade_no, refunds + 1);
    let id = insert_refund(tx, new, &payment, &refund_no, &given, now).await?;
    insert_items(
        tx,
        new.order_no,
        id,
        &tickets,
        fee_percent,
        given.value.currency,
    )
    .await?;
    let posting = format!("refund_request:{refund_no}");
    let (moves, currency) = (Moves::given_back(&given), given.value.currency);
    post(tx, &posting, moves, currency, new.order_no, now).await?;
    let row = outbox::insert(tx, OutboxKind::RefundSend, new.order_no, &refund_no, now).await?;
    let refund = refund_in(tx, &refund_no).await?;
    let refund = refund.ok_or(DbError::Unreadable { what: "refund" })?;
    Ok(Ok(RefundRequested::Now { refund, row }))
}

async fn requested_before(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    key: &str,
) -> Result<Option<String>, DbError> {
    Ok(
        sqlx::query_scalar("SELECT refund_no FROM refund WHERE order_no = ? AND request_key = ?")
            .bind(order_no.as_i64())
            .bind(key)
            .fetch_optional(tx)
            .await?,
    )
}

/// The payment that an order was paid with, locked, and how many refunds of it there are.
async fn paid_with(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Option<(PaymentRecord, i64)>, DbError> {
    for payment in payments_of(tx, order_no).await? {
        if payment.status != PaymentStatus::Success {
            continue;
        }
        let payment = lock_payment(tx, payment.id).await?;
        let (refunds, unwanted): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COUNT(CASE WHEN reason IN (?, ?, ?) THEN 1 END) FROM refund WHERE payment_id = ?",
        )
        .bind(RefundReason::LatePayment.word())
        .bind(RefundReason::SecondPayment.word())
        .bind(RefundReason::OtherAmount.word())
        .bind(payment.id)
        .fetch_one(&mut *tx)
        .await?;
        if unwanted == 0 {
            return Ok(Some((payment, refunds)));
        }
    }
    Ok(None)
}

async fn insert_refund(
    tx: &mut MySqlConnection,
    new: &NewRefund,
    payment: &PaymentRecord,
    refund_no: &str,
    given: &GivenBack,
    now: Timestamp,
) -> Result<u64, DbError> {
    let (requested_by, key, note) = match &new.asker {
        RefundAsker::Customer { user, key, .. } => (Some(user.0), Some(key.as_str()), None),
        RefundAsker::Staff { note, .. } => (None, None, Some(note.as_str())),
        RefundAsker::Withdrawal => (None, None, None),
    };
    let done = sqlx::query(
        "INSERT INTO refund (refund_no, payment_id, order_no, amount_minor, fee_minor, currency, reason, status, \
         requested_by, request_key, note, requested_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
    )
    .bind(refund_no)
    .bind(payment.id)
    .bind(new.order_no.as_i64())
    .bind(given.back.minor)
    .bind(given.fee.minor)
    .bind(given.value.currency.code())
    .bind(new.asker.reason().word())
    .bind(requested_by)
    .bind(key)
    .bind(note)
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(done.last_insert_id())
}

/// Notes which tickets a refund is for. A ticket that another refund has is refused by the key.
async fn insert_items(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    refund_id: u64,
    tickets: &[Ticket],
    fee_percent: u8,
    currency: Currency,
) -> Result<(), DbError> {
    let mut rows = sqlx::QueryBuilder::<sqlx::MySql>::new(
        "INSERT INTO refund_item (order_no, item_no, refund_id, amount_minor, fee_minor) ",
    );
    rows.push_values(tickets, |mut row, ticket| {
        let price = Money::new(ticket.price_minor, currency);
        let fee = fee_of(price, fee_percent);
        row.push_bind(order_no.as_i64())
            .push_bind(ticket.item_no)
            .push_bind(refund_id)
            .push_bind(price.minor - fee.minor)
            .push_bind(fee.minor);
    });
    rows.build().persistent(false).execute(tx).await?;
    Ok(())
}
