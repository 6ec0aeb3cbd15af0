//! Reconciliation: what a crash, a lost message or a lost store left apart is brought together again.
//!
//! One server at a time goes over everything, on a timer and on demand. A round first finds, then repairs: each finding
//! says what is wrong and what would put it right, so that `--dry-run` is the same code without the last step.
//!
//! **Architecture Invariant:** an order in flight is never touched. A lock without a row is freed only after its lease,
//! and only after a tombstone (a row of the same number, discarded) was inserted: then a late message meets the tombstone
//! and can't become an order. When the insert is refused the order exists, and its state decides.

mod counters;
mod given_back;
mod half_lost;
mod leases;
mod listed;
mod look;
mod lost_seats;
mod money;
mod seats;
mod standing;
mod terms;
mod withheld;
mod words;

pub use look::{Look, Unread};

use super::{Failure, Ticketing, expire::Expiry, unload::OverShow};
use crate::{
    fault::{self, Point},
    redis::{
        keys::Piece,
        scripts::{CountedAt, Counters},
    },
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    time::Millis,
};
use serde::Serialize;
use std::{fmt, time::Duration};
use tokio_util::sync::CancellationToken;

/// How long what follows a commit is left to the server that committed and to the outbox.
const FOLLOW_UP_GRACE: Millis = Millis::seconds(10);
/// Findings of one round; of shows that come later only a few are added.
const FINDINGS_MAX: usize = 5_000;
/// Name of the lock that makes one server the leader of a round.
const LEADER_LOCK: &str = "reconcile";

/// The kinds of disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A pending order is past its deadline.
    OverdueOrder,
    /// An order is paid, but a seat of it is not sold.
    PaidNotSold,
    /// Redis lost a show, its place in the list of shows, a seat of a live order, or what staff withhold.
    SeatLost,
    /// A seat is locked for an order that is not live.
    OrphanLock,
    /// A seat is sold to an order that is not paid.
    OrphanSale,
    /// A counter disagrees with the seats.
    Counter,
    /// Money disagrees with its order.
    Money,
    /// A show is sold on other terms than the database says.
    Terms,
}

impl Class {
    /// The word that the database, counters and logs carry.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OverdueOrder => "overdue_order",
            Self::PaidNotSold => "paid_not_sold",
            Self::SeatLost => "seat_lost",
            Self::OrphanLock => "orphan_lock",
            Self::OrphanSale => "orphan_sale",
            Self::Counter => "counter",
            Self::Money => "money",
            Self::Terms => "terms",
        }
    }
}

/// What would put a finding right.
#[derive(Debug, Clone)]
pub(super) enum Repair {
    Expire(OrderNo),
    Sell(OrderNo),
    Load(ShowId),
    /// A show that Redis has and that its list of loaded shows lacks.
    List(ShowId),
    /// A show that Redis has only a part of.
    Rebuild(ShowId),
    Terms(ShowId),
    Restore(OrderNo),
    /// Tickets without a seat of a paid order that Redis does not count.
    CountTickets(OrderNo),
    /// Seats whose owner has no row and whose lease is over.
    Tombstone {
        order_no: OrderNo,
        seats: Vec<(SeatIndex, ZoneId)>,
    },
    /// Seats whose owner has a row and is not live.
    Free {
        order_no: OrderNo,
        seats: Vec<(SeatIndex, ZoneId)>,
    },
    /// Tickets of a paid order whose money is back.
    FreeTickets(OrderNo),
    /// Seats that staff withhold and Redis offers.
    Withhold(Vec<(SeatIndex, ZoneId)>),
    /// Seats that Redis withholds and nobody else does.
    Offer(Vec<(SeatIndex, ZoneId)>),
    /// Standing places of a live order, as the database has them.
    WritePlaces(OrderNo),
    /// Standing places whose order is over, or has no row and whose lease is over.
    GivePlaces {
        order_no: OrderNo,
        piece: Piece,
    },
    /// What live orders have of a standing zone's stock.
    CountStock(ZoneId),
    /// How a standing zone's capacity is shared among its pieces, and what is taken of each.
    ShareOut(ZoneId),
    Count {
        at: CountedAt,
        counters: Counters,
    },
    GiveBack {
        out_trade_no: String,
    },
    Ask {
        out_trade_no: String,
    },
    AskRefund {
        refund_no: String,
    },
    SendRefund {
        order_no: OrderNo,
        refund_no: String,
    },
}

/// Whether Redis must have a show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is sold, or will be.
    Needed,
    /// It is over: what Redis has of it is compared, and what it does not have is not missed.
    Over,
}

/// Something that is not as it should be.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Of which kind.
    pub class: Class,
    /// In which show.
    pub show: ShowId,
    /// With which order, where it is one order's.
    pub order_no: Option<OrderNo>,
    /// What is wrong, for a person.
    pub detail: String,
    pub(super) repair: Repair,
}

impl Finding {
    /// What would put it right, for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        self.repair.to_string()
    }

    /// Whether stores disagree. Asking a gateway for news, or loading what Redis does not have, is work and no fault.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        !matches!(
            self.repair,
            Repair::Ask { .. } | Repair::AskRefund { .. } | Repair::Load(_)
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14} show {:<6} ", self.class.word(), self.show)?;
        match self.order_no {
            Some(order_no) => write!(f, "order {order_no} {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

/// What a round did.
#[derive(Debug, Default)]
pub struct Round {
    /// What was wrong.
    pub findings: Vec<Finding>,
    /// How many findings were put right; the others were overtaken by events or come again in the next round.
    pub repaired: usize,
    /// The shows that could not be compared.
    pub unread: Vec<Unread>,
    /// The loaded shows that are over, and whether they left Redis.
    pub over: Vec<OverShow>,
}

impl Ticketing {
    /// Reconciles on a timer until cancelled, whenever this server is the leader.
    pub async fn run_reconciler(&self, cancel: CancellationToken) {
        let every = u64::try_from(self.inner.config.limits.reconcile_every.0).unwrap_or(300_000);
        let mut ticks = tokio::time::interval(Duration::from_millis(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.reconcile().await {
                tracing::warn!(%error, cause = ?error, "reconciliation ended early");
            }
        }
    }

    /// One round. None when another server is at it.
    ///
    /// # Errors
    /// When a store fails; what was repaired stays repaired. A show that can't be read is no error: [`Round::unread`].
    pub async fn reconcile(&self) -> Result<Option<Round>, Failure> {
        let Some(lead) = self.inner.db.try_lead(LEADER_LOCK).await? else {
            return Ok(None);
        };
        let round = self.repair_round().await;
        lead.give_up().await;
        round.map(Some)
    }

    async fn repair_round(&self) -> Result<Round, Failure> {
        let Look { findings, unread } = self.look_at_all().await?;
        let mut round = Round {
            findings,
            unread,
            ..Round::default()
        };
        for finding in &round.findings {
            if self.repair_and_note(finding).await? {
                round.repaired += 1;
            }
        }
        self.ask_about_ended(&mut round).await?;
        // Last, so that a show has been compared and put right once more before it leaves.
        round.over = self.unload_over_shows().await?;
        // A round that could not compare everything does not count: somebody is to look why.
        if round.unread.is_empty() {
            metrics::counter!("seatflow_reconciliations_total").increment(1);
        }
        if !round.findings.is_empty() {
            tracing::info!(
                findings = round.findings.len(),
                repaired = round.repaired,
                "reconciled"
            );
        }
        Ok(round)
    }

    /// Puts a finding right. False when it was overtaken by events, or comes again in the next round.
    async fn repair_and_note(&self, finding: &Finding) -> Result<bool, Failure> {
        fault::point(Point::ReconcileBeforeRepair);
        match self.repair(finding).await {
            Ok(true) => self.note(finding).await.map(|()| true),
            Ok(false) => Ok(false),
            Err(error) => {
                tracing::warn!(class = finding.class.word(), show_id = finding.show.0, %error, cause = ?error, "not repaired");
                Ok(false)
            }
        }
    }

    async fn repair(&self, finding: &Finding) -> Result<bool, Failure> {
        match &finding.repair {
            Repair::Expire(order_no) => {
                let expiry = self.expire(*order_no).await?;
                Ok(matches!(expiry, Expiry::Cancelled { .. }))
            }
            Repair::Sell(order_no) => self.settle_paid(*order_no).await.map(|()| true),
            Repair::Load(show) => self.load_show_patiently(*show).await.map(|_| true),
            Repair::Rebuild(show) => self.rebuild_half_lost(*show).await,
            Repair::List(show) => self.list_again(*show).await,
            Repair::Terms(show) => self.follow_terms(*show).await.map(|()| true),
            Repair::Restore(order_no) => self.restore_locks(*order_no).await,
            Repair::CountTickets(order_no) => self.count_tickets_again(*order_no).await,
            Repair::Tombstone { order_no, seats } => {
                self.bury(finding.show, *order_no, seats).await
            }
            Repair::Free { order_no, seats } => {
                self.free_seats(finding.show, *order_no, seats).await
            }
            Repair::FreeTickets(order_no) => self.free_tickets_of(*order_no).await,
            Repair::Withhold(seats) => self.withhold_again(finding.show, seats).await,
            Repair::Offer(seats) => self.offer_again(finding.show, seats).await,
            Repair::WritePlaces(order_no) => self.write_places(*order_no).await,
            Repair::GivePlaces { order_no, piece } => {
                self.give_orphan_places(finding.show, *order_no, *piece)
                    .await
            }
            Repair::CountStock(zone) => Ok(self.inner.db.recount_stock(*zone).await?),
            Repair::ShareOut(zone) => self.share_out_again(*zone).await,
            Repair::Count { at, counters } => {
                self.write_counters(finding.show, *at, counters).await
            }
            Repair::GiveBack { out_trade_no } => self.give_money_back(out_trade_no).await,
            Repair::Ask { out_trade_no } => self.ask_gateway(out_trade_no).await,
            Repair::AskRefund { refund_no } => self.ask_about_refund(refund_no).await,
            Repair::SendRefund {
                order_no,
                refund_no,
            } => self.send_refund_again(*order_no, refund_no).await,
        }
    }

    async fn note(&self, finding: &Finding) -> Result<(), Failure> {
        fault::point(Point::ReconcileBeforeNote);
        metrics::counter!("seatflow_repairs_total", "class" => finding.class.word()).increment(1);
        tracing::warn!(
            class = finding.class.word(),
            show_id = finding.show.0,
            order_no = finding.order_no.map(|order_no| order_no.to_string()),
            detail = finding.detail,
            "repaired"
        );
        let class = finding.class.word();
        let note = self.inner.db.note(
            class,
            finding.show,
            finding.order_no,
            &finding.detail,
            self.now(),
        );
        Ok(note.await?)
    }
}
