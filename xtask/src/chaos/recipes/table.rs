//! The recipes: every point that an ordinary sale does not reach, and what it takes.

use super::kinds::{
    BLOCKING, COMMAND, LATE_CREATION, LATE_CROWD, LATE_MESSAGE, LATE_SENDING, LOADING,
    LOST_MEANWHILE, REBUILDING, SPREAD, STANDING, TERMS, UNLOADING, UNWRITABLE, WITHDRAWING,
    WITHDRAWN,
};
use super::{ORDINARY, Recipe, Victim};
use crate::chaos::staff::Work;
use crate::chaos::trouble::Trouble;

pub(super) static RECIPES: [Recipe; 65] = [
    Recipe {
        point: "relay_before_send",
        ..LATE_SENDING
    },
    Recipe {
        point: "relay_after_send",
        ..LATE_SENDING
    },
    Recipe {
        point: "discard_after_row",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "discard_after_release",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "discard_between_pieces",
        ..LATE_CROWD
    },
    Recipe {
        point: "discard_before_forgetting",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "discard_after_forgetting",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "sweep_before_cancel",
        // Several, since one may be paid for while it is held up.
        pauses: "expire_before_cancel:1:6000,expire_before_cancel:2:6000,expire_before_cancel:3:6000",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "asked_before_note",
        // The gateway is asked first a minute after a payment was over.
        passings: &[1, 2, 4],
        ..ORDINARY
    },
    Recipe {
        point: "settle_after_taking",
        pauses: "cancel_after_commit:1:5000",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "rebuild_before_read",
        ..LOADING
    },
    Recipe {
        point: "rebuild_before_load",
        ..LOADING
    },
    Recipe {
        point: "rebuild_between_pieces",
        ..LOADING
    },
    Recipe {
        point: "rebuild_after_listing",
        ..LOADING
    },
    Recipe {
        point: "rebuild_after_load",
        ..LOADING
    },
    Recipe {
        point: "reconcile_before_repair",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_after_tombstone",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_before_places",
        crowds: true,
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_before_forgetting",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_places_before_forgetting",
        crowds: true,
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_between_seats",
        staff: Some(Work::Seats),
        staff_dies_at: "unblock_after_row",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "reconcile_before_note",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_after_restore",
        ..LOST_MEANWHILE
    },
    Recipe {
        point: "reconcile_after_places",
        crowds: true,
        passings: &[1],
        ..LOST_MEANWHILE
    },
    Recipe {
        point: "reconcile_after_offer",
        staff: Some(Work::Seats),
        staff_dies_at: "unblock_after_row",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "rebuild_after_forgetting",
        ..REBUILDING
    },
    Recipe {
        point: "rebuild_between_forgetting",
        ..REBUILDING
    },
    Recipe {
        point: "settle_before_places",
        ..STANDING
    },
    Recipe {
        point: "settle_paid_before_places",
        ..STANDING
    },
    // Small pieces: none has enough for an order, which gets its places from several.
    Recipe {
        point: "standing_while_collecting",
        staff: Some(Work::Capacity),
        ..STANDING
    },
    Recipe {
        point: "standing_after_hold",
        ..STANDING
    },
    Recipe {
        point: "collect_before_count",
        ..SPREAD
    },
    Recipe {
        point: "collect_before_end",
        ..SPREAD
    },
    Recipe {
        point: "give_up_between_pieces",
        staff: Some(Work::PlaceByPlaceForFew),
        passings: &[1],
        ..STANDING
    },
    Recipe {
        point: "settle_between_pieces",
        ..SPREAD
    },
    Recipe {
        point: "settle_paid_between_pieces",
        // Few of the orders that are spread are paid for.
        passings: &[1],
        ..SPREAD
    },
    // What follows a commit is more than one thing when an order with an open payment ends.
    Recipe {
        point: "settle_between_rows",
        passings: &[1, 2, 4],
        ..ORDINARY
    },
    Recipe {
        point: "refund_after_fault",
        passings: &[1, 2, 4],
        ..ORDINARY
    },
    // A small limit: customers are refused who have places in their hands.
    Recipe {
        point: "standing_before_giving_up",
        staff: Some(Work::Terms),
        ..STANDING
    },
    Recipe {
        point: "block_after_row",
        ..BLOCKING
    },
    Recipe {
        point: "unblock_after_row",
        ..BLOCKING
    },
    Recipe {
        point: "block_before_taking_back",
        staff: Some(Work::SeatsOfBuyers),
        // Orders have seats for a while and no row.
        pauses: "create_before_insert:2:2500,create_before_insert:4:2500,create_before_insert:6:2500,\
                 create_before_insert:8:2500,create_before_insert:10:2500,create_before_insert:12:2500",
        passings: &[1],
        ..COMMAND
    },
    Recipe {
        point: "extend_after_row",
        staff: Some(Work::Deadlines),
        ..COMMAND
    },
    Recipe {
        point: "terms_after_row",
        ..TERMS
    },
    Recipe {
        point: "terms_after_redis",
        ..TERMS
    },
    Recipe {
        point: "capacity_between_pieces",
        staff: Some(Work::Capacity),
        ..COMMAND
    },
    Recipe {
        point: "capacity_before_row",
        staff: Some(Work::Capacity),
        // Every other time the zone gets smaller, and pieces lose places before the row is written.
        passings: &[1, 3, 5],
        ..COMMAND
    },
    Recipe {
        point: "capacity_after_row",
        staff: Some(Work::Capacity),
        // And larger in between: pieces win places after it.
        passings: &[2, 4, 6],
        ..COMMAND
    },
    Recipe {
        point: "withdraw_after_row",
        ..WITHDRAWING
    },
    Recipe {
        point: "withdraw_after_close",
        ..WITHDRAWING
    },
    Recipe {
        point: "withdraw_before_count",
        ..WITHDRAWING
    },
    Recipe {
        point: "withdraw_before_cancel",
        ..WITHDRAWN
    },
    Recipe {
        point: "withdraw_before_refund",
        ..WITHDRAWN
    },
    Recipe {
        point: "withdraw_before_finish",
        ..WITHDRAWN
    },
    Recipe {
        point: "unload_after_show",
        ..UNLOADING
    },
    Recipe {
        point: "unload_between_pieces",
        ..UNLOADING
    },
    Recipe {
        point: "unload_before_collectors",
        ..UNLOADING
    },
    Recipe {
        point: "unload_after_unlisting",
        ..UNLOADING
    },
    Recipe {
        point: "unload_after_pieces",
        ..UNLOADING
    },
    Recipe {
        point: "books_after_write",
        staff: Some(Work::Capacity),
        ..ORDINARY
    },
    Recipe {
        point: "bury_before_letter",
        ..UNWRITABLE
    },
    Recipe {
        point: "bury_after_letter",
        ..UNWRITABLE
    },
    Recipe {
        point: "letter_after_send",
        victim: Victim::Command,
        passings: &[1, 2, 4],
        ..UNWRITABLE
    },
    Recipe {
        point: "rearm_after_send",
        // Every order that is not paid at once is looked at before its deadline.
        settings: &[("SEATFLOW_TIMEOUT_STEPS_MS", "2000,4000")],
        ..ORDINARY
    },
    Recipe {
        point: "timeout_after_letter",
        trouble: Some(Trouble::Expiring),
        settings: &[("SEATFLOW_TIMEOUT_TRIES", "3")],
        passings: &[1, 3, 6],
        ..UNWRITABLE
    },
];
