//! How each fail point is reached: what is held up meanwhile, what staff do, and who dies.

use super::staff::Work;

/// At which passing the server dies, run by run: early, and in the middle of other work.
const PASSINGS: [u32; 3] = [2, 7, 18];

/// Whose process ends at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    Server,
    /// A command that staff have called; the server goes on.
    Command,
}

/// How a point is reached that lies aside of an ordinary sale: other steps are held up until it is, or staff are at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    point: &'static str,
    pub victim: Victim,
    /// Further entries of SEATFLOW_FAULT for the server: point, passing, and for how many milliseconds it is held up.
    pauses: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The shows are read from the database again and again, as if Redis lost them.
    pub rebuilds: bool,
    /// Most customers want places without a seat.
    pub crowds: bool,
    pub staff: Option<Work>,
    /// Where a command of staff dies first, so that a server finds work that nobody has finished.
    staff_dies_at: &'static str,
    /// The server's n-th passing, or the n-th command of staff.
    passings: &'static [u32],
}

const ORDINARY: Recipe = Recipe {
    point: "",
    victim: Victim::Server,
    pauses: "",
    settings: &[],
    rebuilds: false,
    crowds: false,
    staff: None,
    staff_dies_at: "",
    passings: &PASSINGS,
};

/// Creating is held up longer than a lock may be without a row.
const LATE_CREATION: Recipe = Recipe {
    // Time enough for two rounds over all shows of a stack that many runs have used.
    pauses: "create_before_insert:2:24000",
    settings: &[
        ("SEATFLOW_DISCARD_AFTER_MS", "1000"),
        ("SEATFLOW_LOCK_LEASE_MS", "7000"),
    ],
    passings: &[1, 2, 1],
    ..ORDINARY
};

/// An acknowledgement is held up longer than the relay waits for it.
const LATE_ACKNOWLEDGEMENT: Recipe = Recipe {
    // Often, since an acknowledgement that comes between two looks of the relay is no work for it.
    pauses: "place_after_ack:2:3000,place_after_ack:4:3000,place_after_ack:6:3000,place_after_ack:9:3000,\
             place_after_ack:13:3000,place_after_ack:17:3000,place_after_ack:22:3000",
    settings: &[("SEATFLOW_RESEND_AFTER_MS", "500")],
    passings: &[1],
    ..ORDINARY
};

/// A message is held up until it is stale, and shorter than the relay waits.
const LATE_MESSAGE: Recipe = Recipe {
    pauses: "place_after_cache:2:1700",
    settings: &[("SEATFLOW_DISCARD_AFTER_MS", "1000")],
    passings: &[1],
    ..ORDINARY
};

const LOADING: Recipe = Recipe {
    passings: &[1, 2],
    ..ORDINARY
};

/// A command of staff dies; those before it were done.
const COMMAND: Recipe = Recipe {
    victim: Victim::Command,
    passings: &[1, 2, 4],
    ..ORDINARY
};

const BLOCKING: Recipe = Recipe {
    staff: Some(Work::Seats),
    ..COMMAND
};

const TERMS: Recipe = Recipe {
    staff: Some(Work::Terms),
    ..COMMAND
};

const WITHDRAWING: Recipe = Recipe {
    staff: Some(Work::Withdrawal),
    settings: &[("SEATFLOW_LOCK_LEASE_MS", "10000")],
    passings: &[1],
    ..COMMAND
};

/// The command dies once the show's row is written, so that the server does all the rest.
const WITHDRAWN: Recipe = Recipe {
    victim: Victim::Server,
    staff_dies_at: "withdraw_after_row",
    ..WITHDRAWING
};

const STANDING: Recipe = Recipe {
    crowds: true,
    passings: &[1, 2, 3],
    ..ORDINARY
};

const REBUILDING: Recipe = Recipe {
    staff: Some(Work::Rebuild),
    ..COMMAND
};

static RECIPES: [Recipe; 35] = [
    Recipe {
        point: "relay_before_send",
        ..LATE_ACKNOWLEDGEMENT
    },
    Recipe {
        point: "relay_after_send",
        ..LATE_ACKNOWLEDGEMENT
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
        point: "sweep_before_cancel",
        // Several, since one may be paid for while it is held up.
        pauses: "expire_before_cancel:1:6000,expire_before_cancel:2:6000,expire_before_cancel:3:6000",
        passings: &[1],
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
        point: "reconcile_before_note",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_after_restore",
        // Longer than a show that was lost waits for orders on their way, and often enough for one to be read and lost meanwhile.
        pauses: "create_before_insert:3:2600,create_before_insert:9:2600,create_before_insert:16:2600,\
                 create_before_insert:24:2600,create_before_insert:32:2600,create_before_insert:40:2600",
        settings: &[("SEATFLOW_DRAIN_MAX_MS", "200")],
        rebuilds: true,
        passings: &[1],
        ..ORDINARY
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
        point: "settle_before_places",
        ..STANDING
    },
    Recipe {
        point: "settle_paid_before_places",
        ..STANDING
    },
    // Small pieces: none has enough for an order.
    Recipe {
        point: "standing_while_collecting",
        staff: Some(Work::Capacity),
        ..STANDING
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
        point: "books_after_write",
        staff: Some(Work::Capacity),
        ..ORDINARY
    },
];

/// How a point is reached.
pub fn recipe(point: &str) -> Recipe {
    let known = RECIPES.iter().find(|recipe| recipe.point == point);
    known.copied().unwrap_or(ORDINARY)
}

/// Points that recipes speak of.
pub fn named_points() -> impl Iterator<Item = &'static str> {
    let named = RECIPES
        .iter()
        .flat_map(|recipe| [recipe.point, recipe.staff_dies_at]);
    named.filter(|point| !point.is_empty())
}

impl Recipe {
    /// The environment of the first server, in the `number`-th run of `point`, counted from 0.
    pub fn first_settings(&self, point: &str, number: usize) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        if self.victim == Victim::Server {
            faults.push(format!("{point}:{}", self.passing(number)));
        }
        if !self.pauses.is_empty() {
            faults.push(self.pauses.to_owned());
        }
        let mut settings = self.plain_settings();
        settings.push(("SEATFLOW_FAULT".to_owned(), faults.join(",")));
        settings
    }

    /// The environment of its successor.
    pub fn plain_settings(&self) -> Vec<(String, String)> {
        self.settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// Where the next command of staff dies, after `done` that were done; none when it is to come to its end.
    pub fn command_fault(
        &self,
        point: &str,
        number: usize,
        done: u32,
        has_died: bool,
    ) -> Option<String> {
        let (place, first) = match self.victim {
            Victim::Command => (point, self.passing(number)),
            Victim::Server => (self.staff_dies_at, 1),
        };
        let is_armed = !has_died && !place.is_empty() && done + 1 >= first;
        is_armed.then(|| format!("{place}:1"))
    }

    /// Whether what Redis alone knows of orders is lost on the way, and its buyers may be told so.
    pub fn loses_orders(&self) -> bool {
        self.rebuilds || self.staff == Some(Work::Rebuild)
    }

    /// Whether staff have nothing to do for a while: what their command left is the server's.
    pub fn is_left_to_the_server(&self, has_died: bool) -> bool {
        self.victim == Victim::Server && !self.staff_dies_at.is_empty() && has_died
    }

    fn passing(&self, number: usize) -> u32 {
        self.passings[number % self.passings.len()]
    }
}

#[cfg(test)]
#[path = "recipes_tests.rs"]
mod tests;
