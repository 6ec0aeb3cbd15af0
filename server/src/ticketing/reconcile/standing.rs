//! Standing zones: the pieces in Redis against the database's stock, zone by zone.

use super::{Class, FOLLOW_UP_GRACE, Finding, Presence, Repair};
use crate::{
    fault::{self, Point},
    kafka::messages::{Message, Placed},
    mysql::{orders::OrderRecord, standing::PieceOfOrder},
    redis::{
        HoldRecord,
        keys::Piece,
        scripts::{GiveStandingReply, GiveWhy},
        standing::{PieceSnapshot, PlaceState, TakenPlaces},
    },
    ticketing::{
        Failure, Ticketing,
        standing::{
            capacity::CapacityError,
            pieces::{pieces_of_zone, state_of},
        },
    },
};
use app::domain::{
    ids::{OrderNo, ShowId, ZoneId},
    time::Timestamp,
};
use std::collections::{BTreeSet, HashMap, hash_map::Entry};

/// A zone as both stores have it. Redis was read first, so what Redis does not know was lost, or taken since; orders before their
/// places, so an order that is known and has no places has given them back.
struct ComparedZone {
    show: ShowId,
    zone: ZoneId,
    pieces: Vec<(Piece, PieceSnapshot)>,
    /// Places of each of these pieces, as the database shares them out.
    totals: Vec<u32>,
    /// Every order that has places in Redis, as far as it has a row.
    orders: HashMap<OrderNo, OrderRecord>,
    /// What orders have of these pieces.
    taken: Vec<PieceOfOrder>,
}

impl ComparedZone {
    fn finding(
        &self,
        class: Class,
        order_no: Option<OrderNo>,
        detail: String,
        repair: Repair,
    ) -> Finding {
        Finding {
            class,
            show: self.show,
            order_no,
            detail,
            repair,
        }
    }

    fn wrong_shares(&self) -> Finding {
        let zone = self.zone;
        let detail = format!("zone {zone}: counts of its pieces are wrong");
        self.finding(Class::Counter, None, detail, Repair::ShareOut(zone))
    }

    fn entry(&self, of_order: &PieceOfOrder) -> Option<TakenPlaces> {
        let (_, snapshot) = self
            .pieces
            .iter()
            .find(|(piece, _)| *piece == of_order.piece)?;
        snapshot.taken.get(&of_order.order_no).copied()
    }

    fn is_miscounted(&self) -> bool {
        self.pieces.iter().any(|(_, piece)| is_miscounted(piece))
    }

    /// Whether a piece lacks the entry of an order, and the database can't tell it either.
    fn lost_without_row(&self, order_no: OrderNo, piece: Piece) -> bool {
        let mut pieces = self.pieces.iter();
        let lacks = pieces
            .any(|(known, snapshot)| *known == piece && !snapshot.taken.contains_key(&order_no));
        lacks && !self.has_places(order_no, piece)
    }

    fn has_places(&self, order_no: OrderNo, piece: Piece) -> bool {
        self.taken
            .iter()
            .any(|of_order| of_order.order_no == order_no && of_order.piece == piece)
    }
}

impl Ticketing {
    /// Compares the standing zones of a show.
    pub(super) async fn find_in_standing_zones(
        &self,
        show: ShowId,
        presence: Presence,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(());
        };
        for zone in facts.zones.iter().filter(|zone| zone.standing.is_some()) {
            self.find_in_zone(show, zone.id, presence, found).await?;
        }
        Ok(())
    }

    async fn find_in_zone(
        &self,
        show: ShowId,
        zone: ZoneId,
        presence: Presence,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let of_zone = self.inner.db.piece_totals(zone).await?;
        let (mut pieces, mut totals) = (Vec::with_capacity(of_zone.len()), Vec::new());
        for (piece, total) in pieces_of_zone(zone, of_zone.len()).into_iter().zip(of_zone) {
            let Some(snapshot) = self.inner.redis.piece_snapshot(piece).await? else {
                if presence == Presence::Over {
                    continue;
                }
                found.push(Finding {
                    class: Class::SeatLost,
                    show,
                    order_no: None,
                    detail: format!("piece {} of zone {zone} is not in Redis", piece.piece),
                    repair: Repair::Load(show),
                });
                return Ok(());
            };
            pieces.push((piece, snapshot));
            totals.push(total);
        }
        let numbers: BTreeSet<OrderNo> = pieces
            .iter()
            .flat_map(|(_, snapshot)| snapshot.taken.keys().copied())
            .collect();
        let numbers: Vec<OrderNo> = numbers.into_iter().collect();
        let orders = self.inner.db.orders_by_number(&numbers).await?;
        let mut taken = self.inner.db.taken_pieces(zone).await?;
        taken.retain(|of_order| pieces.iter().any(|(piece, _)| *piece == of_order.piece));
        let compared = ComparedZone {
            show,
            zone,
            pieces,
            totals,
            orders,
            taken,
        };
        let before = found.len();
        self.find_lost_places(&compared, found).await?;
        self.find_orphan_places(&compared, found);
        self.find_returned_places(&compared, found).await?;
        // Entries make the counts. Those that were lost leave their counts behind, and are counted a second time when they are
        // written again. Too high a count keeps buyers away; one that is made before all entries are there sells places twice.
        if compared.is_miscounted() && self.lacks_entries_of_holds(&compared).await? {
            return Ok(());
        }
        // Counts are judged once the entries are right, or made anew after they are.
        if found.len() == before {
            self.find_wrong_counts(&compared, found).await?;
        } else if compared.is_miscounted() {
            found.push(compared.wrong_shares());
        }
        Ok(())
    }

    /// Whether entries of orders on their way were lost, which have no row to write them from: places that nobody seems to
    /// have may be theirs.
    async fn lacks_entries_of_holds(&self, compared: &ComparedZone) -> Result<bool, Failure> {
        let Some(show) = self.inner.redis.snapshot(compared.show).await? else {
            return Ok(true);
        };
        let lacks_entry = |order_no: OrderNo, record: &HoldRecord| {
            let Ok(placed) = Placed::decode(record.message.as_bytes()) else {
                return false;
            };
            let of_zone = placed.pieces.iter();
            let mut of_zone = of_zone.filter(|from| from.zone_id == compared.zone);
            of_zone.any(|from| {
                let (zone, piece) = (from.zone_id, from.piece);
                compared.lost_without_row(order_no, Piece { zone, piece })
            })
        };
        let mut holds = show.holds.iter();
        Ok(holds.any(|(order_no, record)| lacks_entry(*order_no, record)))
    }

    /// Places of orders that Redis does not give them. It is asked once more about those: what was taken after the first
    /// reading had its row before the second.
    async fn find_lost_places(
        &self,
        compared: &ComparedZone,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let mut again: HashMap<Piece, Option<PieceSnapshot>> = HashMap::new();
        for of_order in &compared.taken {
            let state = state_of(of_order.status);
            let is_right = |entry: Option<TakenPlaces>| {
                entry.is_some_and(|entry| {
                    entry.quantity == of_order.quantity && entry.state == state
                })
            };
            let is_recent = of_order
                .paid_at_ms
                .is_some_and(|at| self.now() < Timestamp(at) + FOLLOW_UP_GRACE);
            let piece = of_order.piece;
            // Counts are made from the entries, so where they are wrong each entry is written first.
            let may_wait = is_recent && !compared.is_miscounted();
            if is_right(compared.entry(of_order)) || may_wait {
                continue;
            }
            if let Entry::Vacant(unread) = again.entry(piece) {
                unread.insert(self.inner.redis.piece_snapshot(piece).await?);
            }
            let now = again.get(&piece).and_then(Option::as_ref);
            if is_right(now.and_then(|now| now.taken.get(&of_order.order_no).copied())) {
                continue;
            }
            let class = match state {
                PlaceState::Sold => Class::PaidNotSold,
                PlaceState::Locked => Class::SeatLost,
            };
            let detail = format!(
                "has {} standing place(s) that Redis does not give it",
                of_order.quantity
            );
            let repair = Repair::WritePlaces(of_order.order_no);
            found.push(compared.finding(class, Some(of_order.order_no), detail, repair));
        }
        Ok(())
    }

    /// Places in Redis whose order is over and has none, or has no row after its lease.
    fn find_orphan_places(&self, compared: &ComparedZone, found: &mut Vec<Finding>) {
        let lease = self.inner.config.limits.lock_lease;
        for (piece, snapshot) in &compared.pieces {
            for (order_no, entry) in &snapshot.taken {
                let has_row = match compared.orders.get(order_no) {
                    None if self.now() - entry.created < lease => continue,
                    None => false,
                    Some(order) if order.status.is_live() => continue,
                    Some(_) if compared.has_places(*order_no, *piece) => continue,
                    Some(order) => {
                        let closed = order.closed_at.unwrap_or(order.placed_at);
                        if self.now() < closed + FOLLOW_UP_GRACE {
                            continue;
                        }
                        true
                    }
                };
                let class = match entry.state {
                    PlaceState::Sold => Class::OrphanSale,
                    PlaceState::Locked => Class::OrphanLock,
                };
                let what = if has_row { "is over" } else { "has no row" };
                let detail = format!("{what} and has {} standing place(s)", entry.quantity);
                let repair = Repair::GivePlaces {
                    order_no: *order_no,
                    piece: *piece,
                };
                found.push(compared.finding(class, Some(*order_no), detail, repair));
            }
        }
    }

    /// Places in Redis of orders that go on without them, because their money is back.
    async fn find_returned_places(
        &self,
        compared: &ComparedZone,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let mut without: BTreeSet<OrderNo> = BTreeSet::new();
        for (piece, snapshot) in &compared.pieces {
            let numbers = snapshot.taken.keys().filter(|order_no| {
                let order = compared.orders.get(order_no);
                order.is_some_and(|order| order.status.is_live())
                    && !compared.has_places(**order_no, *piece)
            });
            without.extend(numbers);
        }
        if without.is_empty() {
            return Ok(());
        }
        let numbers: Vec<OrderNo> = without.into_iter().collect();
        let before = self.now() - FOLLOW_UP_GRACE;
        let given_back = self.inner.db.tickets_given_back(&numbers, before).await?;
        for order_no in numbers {
            if given_back.contains(&(order_no, None)) {
                let detail = "still has standing place(s) whose money it has back".to_owned();
                let repair = Repair::FreeTickets(order_no);
                found.push(compared.finding(Class::OrphanSale, Some(order_no), detail, repair));
            }
        }
        Ok(())
    }

    async fn find_wrong_counts(
        &self,
        compared: &ComparedZone,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let zone = compared.zone;
        let count = self.inner.db.zone_count(zone).await?;
        if count.is_some_and(|count| count.stock.taken != count.by_piece) {
            let detail = format!("zone {zone}: the stock of places is not what orders have");
            found.push(compared.finding(Class::Counter, None, detail, Repair::CountStock(zone)));
        }
        let is_wrong = |((_, snapshot), total): (&(Piece, PieceSnapshot), &u32)| {
            let places = snapshot.places;
            places.total != *total
                || is_miscounted(snapshot)
                || places.locked + places.sold > places.total
        };
        if compared.pieces.iter().zip(&compared.totals).any(is_wrong) {
            found.push(compared.wrong_shares());
        }
        Ok(())
    }

    /// Writes an order's places as the database has them, and looks again: an order that ended meanwhile gives everything
    /// back.
    pub(super) async fn write_places(&self, order_no: OrderNo) -> Result<bool, Failure> {
        let Some(order) = self.inner.db.order(order_no).await? else {
            return Ok(false);
        };
        let written = self.settle_taken(order_no, state_of(order.status)).await?;
        fault::point(Point::ReconcileAfterPlaces);
        let given = self.settle_given(order_no, GiveWhy::Repair).await?;
        Ok(written && !given)
    }

    /// Gives back what an order that is over has of a piece beyond what the database says; one without a row never gets one
    /// first.
    pub(super) async fn give_orphan_places(
        &self,
        show: ShowId,
        order_no: OrderNo,
        piece: Piece,
    ) -> Result<bool, Failure> {
        // Whoever was told the number finds what became of it: places are taken a moment before the order is held, so
        // their lease may end while the hold still stands.
        let record = self.readable_hold(show, order_no).await?;
        let user = record.map(|record| record.user);
        let buried = self
            .inner
            .db
            .insert_tombstone(order_no, show, user, self.now())
            .await?;
        if !buried {
            let order = self.inner.db.order(order_no).await?;
            // No order ever comes back to life, so what is over now stays over.
            if order.is_none_or(|order| order.status.is_live()) {
                return Ok(false);
            }
        }
        fault::point(Point::ReconcileBeforePlaces);
        let pieces = self.inner.db.pieces_of(order_no).await?;
        let has = pieces.iter().find(|(known, _)| *known == piece);
        let keep = has.map_or(0, |(_, quantity)| *quantity);
        let reply = self
            .inner
            .redis
            .give_standing(piece, order_no, keep, GiveWhy::Repair)
            .await?;
        fault::point(Point::ReconcilePlacesBeforeForgetting);
        self.inner.redis.forget_order(order_no).await?;
        Ok(matches!(reply, GiveStandingReply::Given { .. }))
    }

    /// Makes the pieces of a zone as large as the database says, with counts that are those of their entries. Where more
    /// was taken of a piece than its share, the zone is shared out anew.
    pub(super) async fn share_out_again(&self, zone: ZoneId) -> Result<bool, Failure> {
        match self.share_out_anew(zone).await {
            Ok(()) => Ok(true),
            Err(CapacityError::Failure(failure)) => Err(failure),
            // More is taken than there is, until an order that is too many has been discarded; or staff are at it.
            Err(_) => Ok(false),
        }
    }
}

/// Whether a piece's counts are not those of its entries.
fn is_miscounted(piece: &PieceSnapshot) -> bool {
    let of_state = |state| {
        let entries = piece.taken.values().filter(|entry| entry.state == state);
        entries.map(|entry| entry.quantity).sum::<u32>()
    };
    piece.places.locked != of_state(PlaceState::Locked)
        || piece.places.sold != of_state(PlaceState::Sold)
}
