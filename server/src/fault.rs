//! Fail points: named places between two steps, at which a crash is tried.
//!
//! Each step of the sale may be the last one that a server takes. With the cargo feature `fail-points` the variable
//! `SEATFLOW_FAULT` arms points: an armed one ends the process as SIGKILL does, without a destructor or a flush, or
//! holds its step up for a while. Without the feature [`point`] is an empty function, and a program that is deployed
//! has none of it. `cargo xtask chaos` kills a server under load at every point in turn.

/// Which scenarios a point belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Holding, creating, ending and repairing orders.
    Order,
    /// Paying and giving money back.
    Money,
}

impl Area {
    /// The word in the list of points.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Money => "money",
        }
    }
}

macro_rules! points {
    ($($variant:ident $area:ident $name:literal $between:literal;)+) => {
        /// A place between two steps.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Point {
            $(#[doc = $between] $variant,)+
        }

        impl Point {
            /// Every point, in the order of an order's life.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name that `SEATFLOW_FAULT` knows.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What is done and what is not when it is passed.
            #[must_use]
            pub fn between(self) -> &'static str {
                match self { $(Self::$variant => $between,)+ }
            }

            /// Which scenarios it belongs to.
            #[must_use]
            pub fn area(self) -> Area {
                match self { $(Self::$variant => Area::$area,)+ }
            }
        }
    };
}

points! {
    CollectBeforeCount Order "collect_before_count" "somebody may collect places from several pieces, it is not counted that somebody did";
    StandingWhileCollecting Order "standing_while_collecting" "one piece of a standing zone has given places, another has to give the rest";
    CollectBeforeEnd Order "collect_before_end" "places of several pieces are taken, nobody else may collect yet";
    StandingAfterTake Order "standing_after_take" "places of a standing zone are taken, the order holds nothing";
    StandingAfterHold Order "standing_after_hold" "the order of standing places is held, it is not cached and its message is not handed to Kafka";
    StandingBeforeGivingUp Order "standing_before_giving_up" "the order was refused, its standing places are still taken";
    GiveUpBetweenPieces Order "give_up_between_pieces" "an order that was refused has given back its places of one piece, those of the next are still taken";
    PlaceBeforeHold Order "place_before_hold" "the order has its number, nothing is held";
    PlaceAfterHold Order "place_after_hold" "the seats are held, the order is not cached";
    PlaceAfterCache Order "place_after_cache" "the order is cached, the message is not handed to Kafka";
    PlaceAfterSend Order "place_after_send" "the message is handed over, the customer has no answer";
    PlaceAfterAck Order "place_after_ack" "Kafka has the message, the order still counts as unsent";
    RelayBeforeSend Order "relay_before_send" "unsent orders are read, none is sent again";
    RelayAfterSend Order "relay_after_send" "unsent orders are sent again, none is acknowledged";
    CreateBeforeInsert Order "create_before_insert" "a batch is read and found fresh, no row is written";
    CreateAfterCommit Order "create_after_commit" "the rows are written, the cache says that they are on their way";
    CreateAfterForgetting Order "create_after_forgetting" "the rows are written and found by all, no timeout message is sent";
    CreateAfterTimeout Order "create_after_timeout" "the timeout message is sent, the offset is not committed";
    BatchBeforeCommit Order "batch_before_commit" "a batch of messages is handled, its offsets are not committed";
    BatchAfterCommit Order "batch_after_commit" "the offsets of a batch are committed, what it sent may not have reached Kafka";
    DiscardAfterRow Order "discard_after_row" "the order is written as discarded, its seats are still locked";
    DiscardAfterRelease Order "discard_after_release" "the discarded order's seats are free, its standing places are still taken";
    DiscardBetweenPieces Order "discard_between_pieces" "a discarded order's places of one piece are free, those of the next are still taken";
    DiscardBeforeForgetting Order "discard_before_forgetting" "all its places are free, the cache says that the order is on its way";
    DiscardAfterForgetting Order "discard_after_forgetting" "a discarded order is done with, the offset of its message is not committed";
    BuryBeforeLetter Order "bury_before_letter" "a message is given up, the dead letters do not have it";
    BuryAfterLetter Order "bury_after_letter" "the dead letters have a message, its offset is not committed";
    RearmAfterSend Order "rearm_after_send" "a timeout message is sent anew for a later time, the old one counts as unresolved";
    TimeoutAfterLetter Order "timeout_after_letter" "the dead letters have a timeout message, it still counts as unresolved";
    ExpireBeforeCancel Order "expire_before_cancel" "the deadline has come and the row was read, nothing is changed";
    ExpireAfterCancel Order "expire_after_cancel" "the order is cancelled and settled, its message counts as unresolved";
    SweepBeforeCancel Order "sweep_before_cancel" "overdue orders are found, none is cancelled";
    CancelBeforeCommit Order "cancel_before_commit" "somebody ends the order, nothing is changed";
    CancelAfterCommit Order "cancel_after_commit" "the order is cancelled, its seats are still locked";
    CancelBeforeAnswer Order "cancel_before_answer" "all of it is settled, the customer has no answer";
    SettleAfterTaking Order "settle_after_taking" "rows of the outbox are leased to this server, nothing is done for them";
    SettleBeforePlaces Order "settle_before_places" "the order's seats are free, its standing places are still taken";
    SettleBetweenPieces Order "settle_between_pieces" "an order's places of one piece are free, those of the next are still taken";
    SettleBeforeForgetting Order "settle_before_forgetting" "an order that is over has nothing any more, it is still cached";
    SettleAfterRelease Order "settle_after_release" "the seats are free, nobody is told that the order is closed";
    SettleAfterClosedEvent Order "settle_after_closed_event" "all are told, the outbox row is still there";
    SettleBetweenRows Money "settle_between_rows" "one of the things that follow a commit is done, the next is not";
    SettleAfterPaymentClose Money "settle_after_payment_close" "the gateway has closed the payment, the outbox row is still there";
    PayAfterPayment Money "pay_after_payment" "the payment is written, the gateway does not know it";
    PayAfterCharge Money "pay_after_charge" "the gateway has the charge, the payment does not know its number";
    PayBeforeAnswer Money "pay_before_answer" "the payment is under way, the customer has no cashier's address";
    AskedBeforeNote Money "asked_before_note" "the gateway was asked about a payment that is over, when to ask next is not noted";
    AskedBeforeRecord Money "asked_before_record" "the gateway said how a payment ended, nothing is recorded";
    AskedAfterRecord Money "asked_after_record" "what the gateway said is recorded, nothing follows";
    CallbackBeforeCommit Money "callback_before_commit" "the notice's signature is right, nothing is recorded";
    CallbackAfterCommit Money "callback_after_commit" "payment, order and ledger are written, nothing follows";
    CallbackBeforeAnswer Money "callback_before_answer" "all of it is settled, the notice is not acknowledged";
    SettlePaidBeforeConfirm Money "settle_paid_before_confirm" "the order is paid, its seats are still locked";
    SettlePaidBeforePlaces Money "settle_paid_before_places" "the order's seats are sold, its standing places still count as held";
    SettlePaidBetweenPieces Money "settle_paid_between_pieces" "a paid order's places of one piece count as sold, those of the next as held";
    SettlePaidBeforeForgetting Money "settle_paid_before_forgetting" "everything a paid order has counts as sold, it is still cached";
    SettlePaidAfterConfirm Money "settle_paid_after_confirm" "the seats are sold, nobody is told that the order is paid";
    SettlePaidAfterEvent Money "settle_paid_after_event" "all are told, the outbox row is still there";
    SoldBeforeCopy Money "sold_before_copy" "the paid order's event is read, its seats are not copied to the database";
    SoldAfterCopy Money "sold_after_copy" "the seats are copied, the offset is not committed";
    RefundBeforeRequest Money "refund_before_request" "somebody gives tickets back, nothing is written";
    RefundBeforeAnswer Money "refund_before_answer" "the refund is requested and sent, the customer has no answer";
    RefundBeforeSend Money "refund_before_send" "the refund is requested, the gateway does not know it";
    RefundAfterSend Money "refund_after_send" "the gateway has given the money back, the refund does not know it";
    RefundAfterFault Money "refund_after_fault" "it is noted that the gateway did not give the money back, when to try again is not";
    RefundAfterRecord Money "refund_after_record" "the refund is recorded, the outbox row is still there";
    RefundNoticeBeforeCommit Money "refund_notice_before_commit" "the notice of a refund has come, nothing is recorded";
    RefundNoticeBeforeAnswer Money "refund_notice_before_answer" "the refund is recorded, the notice is not acknowledged";
    TicketsBackBeforeFree Money "tickets_back_before_free" "the money is back, the tickets' seats are still sold";
    TicketsBackBeforePlaces Money "tickets_back_before_places" "the seats are for sale again, standing places are still sold";
    TicketsBackAfterFree Money "tickets_back_after_free" "the seats are for sale again, nobody is told that the order is over";
    TicketsBackBeforeEvent Money "tickets_back_before_event" "a refunded order is not cached any more, nobody is told that it is over";
    TicketsBackAfterEvent Money "tickets_back_after_event" "all are told that the order is over, the outbox row is still there";
    RebuildBeforeRead Order "rebuild_before_read" "orders on their way were waited for, the show is not read yet";
    RebuildAfterListing Order "rebuild_after_listing" "the list of loaded shows has a show, Redis has nothing of it";
    RebuildBeforeLoad Order "rebuild_before_load" "a show is read from the database, Redis does not have it";
    RebuildBetweenPieces Order "rebuild_between_pieces" "Redis has a piece of a standing zone again, and not all of them";
    RebuildAfterLoad Order "rebuild_after_load" "Redis has the show, its terms were not looked at again";
    RebuildAfterForgetting Order "rebuild_after_forgetting" "Redis has lost a show on purpose, nobody has read it again";
    RebuildBetweenForgetting Order "rebuild_between_forgetting" "Redis has lost a show and a piece of a standing zone on purpose, and not all of them";
    ReconcileBeforeRepair Order "reconcile_before_repair" "a disagreement is found, nothing is changed";
    ReconcileAfterTombstone Order "reconcile_after_tombstone" "an order without a row has its tombstone, its seats are still locked";
    ReconcileBeforeForgetting Order "reconcile_before_forgetting" "the seats of an order without a row are free, it is still cached";
    ReconcileBeforePlaces Order "reconcile_before_places" "an order without a row has its tombstone, its standing places are still taken";
    ReconcilePlacesBeforeForgetting Order "reconcile_places_before_forgetting" "standing places of an order without a row are free, it is still cached";
    ReconcileAfterRestore Order "reconcile_after_restore" "lost locks are there again, the order was not looked at again";
    ReconcileAfterPlaces Order "reconcile_after_places" "lost places are there again, the order was not looked at again";
    ReconcileAfterOffer Order "reconcile_after_offer" "seats that no row withholds are offered, the rows were not looked at again";
    ReconcileBetweenSeats Order "reconcile_between_seats" "one of several seats follows its row again, the next does not";
    ReconcileBeforeNote Order "reconcile_before_note" "something was put right, and is not noted";
    UnloadAfterShow Order "unload_after_show" "Redis has nothing of a show that is over but the pieces of its standing zones";
    UnloadBetweenPieces Order "unload_between_pieces" "one piece of an over show's standing zone has left Redis, the next has not";
    UnloadBeforeCollectors Order "unload_before_collectors" "the pieces of an over show's standing zones have left Redis, who collected last is still noted";
    UnloadAfterPieces Order "unload_after_pieces" "Redis has nothing of a show that is over, the list of loaded shows still has it";
    UnloadAfterUnlisting Order "unload_after_unlisting" "a show that is over is not listed as loaded, nobody has looked whether it was loaded meanwhile";
    BooksAfterWrite Order "books_after_write" "changes of places are in the books, Redis still has them";
    BlockAfterRow Order "block_after_row" "rows say that seats are withheld, Redis still offers them";
    BlockBeforeTakingBack Order "block_before_taking_back" "Redis gave a seat to an order meanwhile, the rows still say that it is withheld";
    UnblockAfterRow Order "unblock_after_row" "no row withholds the seats any more, Redis still does";
    ExtendAfterRow Order "extend_after_row" "the deadline is moved, no timeout message is sent";
    TermsAfterRow Order "terms_after_row" "a show's new terms are written, Redis sells on the old ones";
    TermsAfterRedis Order "terms_after_redis" "Redis has the terms, the row was not looked at again";
    CapacityBetweenPieces Order "capacity_between_pieces" "a piece of a standing zone has its new capacity, the next one has the old";
    CapacityBeforeRow Order "capacity_before_row" "pieces that lose places have lost them, the database has the old capacity";
    CapacityAfterRow Order "capacity_after_row" "the database has the new capacity, pieces that win places do not have them";
    LetterAfterSend Order "letter_after_send" "a dead letter is sent back to its topic, it still counts as waiting";
    WithdrawAfterRow Order "withdraw_after_row" "the show's row says that it is withdrawn, Redis still sells it";
    WithdrawAfterClose Order "withdraw_after_close" "Redis refuses buyers of a withdrawn show, it is not noted since when";
    WithdrawBeforeCount Order "withdraw_before_count" "it is noted since when buyers of a withdrawn show are refused, its orders are not counted";
    WithdrawBeforeCancel Order "withdraw_before_cancel" "a page of a withdrawn show's unpaid orders is read, none is ended";
    WithdrawBeforeRefund Money "withdraw_before_refund" "a page of a withdrawn show's paid orders is read, no refund is requested";
    WithdrawBeforeFinish Order "withdraw_before_finish" "no order of a withdrawn show is live, the withdrawal is not noted as finished";
}

/// Passes a point. Nothing happens unless it is armed.
#[cfg(feature = "fail-points")]
pub fn point(point: Point) {
    fail::fail_point!(point.name());
}

/// Passes a point, in a program without them.
#[cfg(not(feature = "fail-points"))]
#[inline(always)]
pub fn point(_: Point) {}

#[cfg(feature = "fail-points")]
pub use armed::{ArmError, arm_from_env};

/// What an armed point does, once, when it is passed for the n-th time.
#[cfg(any(test, feature = "fail-points"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Kill,
    Pause(std::time::Duration),
}

/// Reads `POINT:PASSING`, which kills, or `POINT:PASSING:PAUSE_MS`.
#[cfg(any(test, feature = "fail-points"))]
fn read(entry: &str) -> Option<(Point, u64, Deed)> {
    let mut parts = entry.split(':');
    let name = parts.next()?;
    let point = *Point::ALL.iter().find(|point| point.name() == name)?;
    let passing = parts.next()?.parse().ok().filter(|passing| *passing > 0)?;
    let deed = match parts.next() {
        None => Deed::Kill,
        Some(pause_ms) => Deed::Pause(std::time::Duration::from_millis(pause_ms.parse().ok()?)),
    };
    parts.next().is_none().then_some((point, passing, deed))
}

#[cfg(feature = "fail-points")]
mod armed {
    use super::{Deed, read};
    use rustix::process::{Signal, getpid, kill_process};
    use std::{
        collections::BTreeMap,
        sync::atomic::{AtomicU64, Ordering},
    };

    /// `SEATFLOW_FAULT` can't be used.
    #[derive(Debug, thiserror::Error)]
    #[error("SEATFLOW_FAULT: {0:?} is not POINT:PASSING or POINT:PASSING:PAUSE_MS")]
    pub struct ArmError(String);

    /// Arms the points that `SEATFLOW_FAULT` names, separated by commas: `place_after_hold:3` ends the process at the third
    /// passing, `create_before_insert:1:8000` holds the first one up for 8,000 ms.
    ///
    /// # Errors
    /// When an entry can't be read or names no point.
    pub fn arm_from_env() -> Result<(), ArmError> {
        let text = std::env::var("SEATFLOW_FAULT").unwrap_or_default();
        let mut points: BTreeMap<&str, Vec<(u64, Deed)>> = BTreeMap::new();
        for entry in text.split(',').filter(|entry| !entry.is_empty()) {
            let (point, passing, deed) = read(entry).ok_or_else(|| ArmError(entry.to_owned()))?;
            points
                .entry(point.name())
                .or_default()
                .push((passing, deed));
            tracing::warn!(point = point.name(), passing, ?deed, "fail point armed");
        }
        for (name, deeds) in points {
            let passed = AtomicU64::new(0);
            let armed = fail::cfg_callback(name, move || {
                let passing = passed.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some((_, deed)) = deeds.iter().find(|(at, _)| *at == passing) {
                    act(name, *deed);
                }
            });
            armed.map_err(ArmError)?;
        }
        Ok(())
    }

    fn act(name: &str, deed: Deed) {
        match deed {
            Deed::Kill => {
                eprintln!("fail point {name} ends the process");
                let _ = kill_process(getpid(), Signal::KILL);
                // The signal ends this thread before the call returns. Should it not, nothing may go on all the same.
                std::process::abort();
            }
            // The other tasks of this thread move to another one, as if this task alone were slow.
            Deed::Pause(pause) => tokio::task::block_in_place(|| std::thread::sleep(pause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    fn sources(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, text);
            } else if !path.ends_with("fault.rs") && path.extension().is_some_and(|end| end == "rs")
            {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn every_point_stands_in_the_code_exactly_once() {
        let mut text = String::new();
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut text,
        );
        for point in Point::ALL {
            let call = format!("fault::point(Point::{point:?});");
            assert_eq!(text.matches(&call).count(), 1, "{call}");
        }
    }

    #[test]
    fn names_are_different_words() {
        let names: BTreeSet<_> = Point::ALL.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), Point::ALL.len());
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(names.into_iter().all(is_word));
    }

    #[test]
    fn an_entry_names_a_point_a_passing_and_perhaps_a_pause() {
        let kill = (Point::PlaceAfterHold, 3, Deed::Kill);
        assert_eq!(read("place_after_hold:3"), Some(kill));
        let pause = Deed::Pause(std::time::Duration::from_millis(800));
        assert_eq!(
            read("relay_before_send:1:800"),
            Some((Point::RelayBeforeSend, 1, pause))
        );
        for bad in [
            "",
            "nowhere:1",
            "place_after_hold",
            "place_after_hold:0",
            "place_after_hold:x",
            "place_after_hold:1:x",
            "place_after_hold:1:2:3",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
