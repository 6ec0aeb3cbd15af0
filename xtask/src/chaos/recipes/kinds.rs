//! What several recipes have in common.

use super::{ORDINARY, Recipe, Victim};
use crate::chaos::staff::Work;
use crate::chaos::trouble::Trouble;

/// Creating is held up longer than a lock may be without a row.
pub(super) const LATE_CREATION: Recipe = Recipe {
    // Time enough for two rounds over all shows of a stack that many runs have used.
    pauses: "create_before_insert:2:24000",
    settings: &[
        ("SEATFLOW_DISCARD_AFTER_MS", "1000"),
        ("SEATFLOW_LOCK_LEASE_MS", "7000"),
    ],
    passings: &[1, 2, 1],
    ..ORDINARY
};

/// An order's message is held up before it is sent, longer than the relay waits: what a server has under way itself is no
/// work for its relay.
pub(super) const LATE_SENDING: Recipe = Recipe {
    pauses: "place_after_hold:2:3000,place_after_hold:4:3000,place_after_hold:6:3000,place_after_hold:9:3000,\
             place_after_hold:13:3000,place_after_hold:17:3000,place_after_hold:22:3000",
    settings: &[("SEATFLOW_RESEND_AFTER_MS", "500")],
    passings: &[1],
    ..ORDINARY
};

/// A message is held up until it is stale, and shorter than the relay waits.
pub(super) const LATE_MESSAGE: Recipe = Recipe {
    pauses: "place_after_cache:2:1700",
    settings: &[("SEATFLOW_DISCARD_AFTER_MS", "1000")],
    passings: &[1],
    ..ORDINARY
};

/// Messages of the standing zone are held up until they are stale, and shorter than the relay waits. Some are of orders that
/// have their places from several pieces.
pub(super) const LATE_CROWD: Recipe = Recipe {
    // Every other one for a long time: until staff begin, and whenever a piece has enough, an order has its places from one.
    pauses: "standing_after_hold:16:1700,standing_after_hold:18:1700,standing_after_hold:20:1700,standing_after_hold:22:1700,\
             standing_after_hold:24:1700,standing_after_hold:26:1700,standing_after_hold:28:1700,standing_after_hold:30:1700,\
             standing_after_hold:32:1700,standing_after_hold:34:1700,standing_after_hold:36:1700,standing_after_hold:38:1700,\
             standing_after_hold:40:1700,standing_after_hold:42:1700,standing_after_hold:44:1700,standing_after_hold:46:1700,\
             standing_after_hold:48:1700,standing_after_hold:50:1700,standing_after_hold:52:1700,standing_after_hold:54:1700,\
             standing_after_hold:56:1700,standing_after_hold:58:1700,standing_after_hold:60:1700,standing_after_hold:62:1700,\
             standing_after_hold:64:1700,standing_after_hold:66:1700,standing_after_hold:68:1700,standing_after_hold:70:1700,\
             standing_after_hold:72:1700,standing_after_hold:74:1700,standing_after_hold:76:1700,standing_after_hold:78:1700,\
             standing_after_hold:80:1700,standing_after_hold:82:1700,standing_after_hold:84:1700,standing_after_hold:86:1700,\
             standing_after_hold:88:1700,standing_after_hold:90:1700,standing_after_hold:92:1700,standing_after_hold:94:1700,\
             standing_after_hold:96:1700,standing_after_hold:98:1700,standing_after_hold:100:1700,standing_after_hold:102:1700,\
             standing_after_hold:104:1700,standing_after_hold:106:1700,standing_after_hold:108:1700,standing_after_hold:110:1700,\
             standing_after_hold:112:1700,standing_after_hold:114:1700,standing_after_hold:116:1700,standing_after_hold:118:1700,\
             standing_after_hold:120:1700,standing_after_hold:122:1700,standing_after_hold:124:1700,standing_after_hold:126:1700,\
             standing_after_hold:128:1700,standing_after_hold:130:1700,standing_after_hold:132:1700,standing_after_hold:134:1700,\
             standing_after_hold:136:1700,standing_after_hold:138:1700,standing_after_hold:140:1700,standing_after_hold:142:1700,\
             standing_after_hold:144:1700,standing_after_hold:146:1700,standing_after_hold:148:1700,standing_after_hold:150:1700,\
             standing_after_hold:152:1700,standing_after_hold:154:1700,standing_after_hold:156:1700,standing_after_hold:158:1700,\
             standing_after_hold:160:1700,standing_after_hold:162:1700,standing_after_hold:164:1700,standing_after_hold:166:1700,\
             standing_after_hold:168:1700,standing_after_hold:170:1700,standing_after_hold:172:1700,standing_after_hold:174:1700,\
             standing_after_hold:176:1700,standing_after_hold:178:1700,standing_after_hold:180:1700,standing_after_hold:182:1700,\
             standing_after_hold:184:1700,standing_after_hold:186:1700,standing_after_hold:188:1700,standing_after_hold:190:1700,\
             standing_after_hold:192:1700,standing_after_hold:194:1700,standing_after_hold:196:1700,standing_after_hold:198:1700,\
             standing_after_hold:200:1700",
    settings: &[("SEATFLOW_DISCARD_AFTER_MS", "1000")],
    crowds: true,
    staff: Some(Work::PlaceByPlace),
    passings: &[1],
    ..ORDINARY
};

pub(super) const LOADING: Recipe = Recipe {
    passings: &[1, 2],
    ..ORDINARY
};

/// Shows are read from the database while orders are on their way, which Redis then does not know.
pub(super) const LOST_MEANWHILE: Recipe = Recipe {
    // Longer than a show that was lost waits for orders on their way, and often enough for one to be read and lost meanwhile.
    pauses: "create_before_insert:3:2600,create_before_insert:9:2600,create_before_insert:16:2600,\
             create_before_insert:24:2600,create_before_insert:32:2600,create_before_insert:40:2600",
    settings: &[("SEATFLOW_DRAIN_MAX_MS", "200")],
    rebuilds: true,
    passings: &[1],
    ..ORDINARY
};

/// A command of staff dies; those before it were done.
pub(super) const COMMAND: Recipe = Recipe {
    victim: Victim::Command,
    passings: &[1, 2, 4],
    ..ORDINARY
};

pub(super) const BLOCKING: Recipe = Recipe {
    staff: Some(Work::Seats),
    ..COMMAND
};

pub(super) const TERMS: Recipe = Recipe {
    staff: Some(Work::Terms),
    ..COMMAND
};

pub(super) const WITHDRAWING: Recipe = Recipe {
    staff: Some(Work::Withdrawal),
    settings: &[("SEATFLOW_LOCK_LEASE_MS", "10000")],
    passings: &[1],
    ..COMMAND
};

/// The command dies once the show's row is written, so that the server does all the rest.
pub(super) const WITHDRAWN: Recipe = Recipe {
    victim: Victim::Server,
    staff_dies_at: "withdraw_after_row",
    ..WITHDRAWING
};

/// A withdrawn show is over as soon as its orders are, and leaves Redis in the next round.
pub(super) const UNLOADING: Recipe = Recipe {
    settings: &[
        ("SEATFLOW_LOCK_LEASE_MS", "10000"),
        ("SEATFLOW_UNLOAD_AFTER_MS", "1000"),
    ],
    ..WITHDRAWN
};

pub(super) const STANDING: Recipe = Recipe {
    crowds: true,
    passings: &[1, 2, 3],
    ..ORDINARY
};

/// Small pieces: none has enough for an order, which gets its places from several.
pub(super) const SPREAD: Recipe = Recipe {
    staff: Some(Work::PlaceByPlace),
    ..STANDING
};

pub(super) const REBUILDING: Recipe = Recipe {
    staff: Some(Work::Rebuild),
    ..COMMAND
};

/// The tables refuse some orders for good: their messages become dead letters, which staff try again and again.
pub(super) const UNWRITABLE: Recipe = Recipe {
    trouble: Some(Trouble::Creating),
    staff: Some(Work::Letters),
    passings: &[1, 4, 9],
    ..ORDINARY
};
