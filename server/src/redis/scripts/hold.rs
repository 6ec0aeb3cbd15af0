//! `lua/hold.lua`: locks seats for one order, all or nothing.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, Reply, ScriptPair};
use crate::redis::{
    HeldSeat, HoldRecord, Redis, RedisError, keys::ShowKey, limit_field, record::counter_text,
};
use app::domain::{
    hold::{LimitedBy, Refusal},
    ids::{OrderNo, SeatIndex, ShowId, UserId},
    time::{Millis, Timestamp},
};
use std::sync::OnceLock;

/// How long an idempotency key leads to its order.
const IDEMPOTENCY_TTL: Millis = Millis::minutes(24 * 60);
/// How long the same choice of the same user counts as a double click.
const GUARD_TTL: Millis = Millis::seconds(30);

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "hold",
    source: include_str!("../../../../lua/hold.lua"),
    show_keys: &ShowKey::ALL,
    other_keys: &["idem", "guard"],
    arguments: &[
        "order_no",
        "level",
        "now_ms",
        "fingerprint",
        "record",
        "idem_ms",
        "guard_ms",
        "changes_max",
        "seats",
        "standing",
        "log_max",
    ],
    repeated: &["seat,zone,attendee", "attendee", "limit"],
    replies: &[
        "held",
        "repeated",
        "key_used",
        "not_on_sale",
        "not_started",
        "ended",
        "level",
        "limit",
        "unknown",
        "taken",
        "zone",
        "rebuild",
    ],
    script: OnceLock::new(),
};

/// What is to be held, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldCommand {
    /// The show.
    pub show: ShowId,
    /// The new order's number.
    pub order_no: OrderNo,
    /// The buyer.
    pub user: UserId,
    /// The buyer's level.
    pub level: u8,
    /// When the wish is decided, by the server's clock.
    pub now: Timestamp,
    /// The seats in any order, none twice.
    pub seats: Vec<HeldSeat>,
    /// The tickets without a seat, each with its attendee's counter. Their places were taken before. Together with the
    /// seats there are at most [`app::domain::hold::SEATS_PER_ORDER_MAX`].
    pub standing: Vec<Option<String>>,
    /// What each of the buyer's tickets is counted by.
    pub limits: Vec<(LimitedBy, String)>,
    /// Names this submission: letters, digits and hyphens. For another choice it is refused.
    pub idempotency_key: String,
    /// Names what is being bought, so that a double click is known even with a new idempotency key. It is the buyer's wish,
    /// not what was found for it: a repeat may find other seats.
    pub fingerprint: String,
    /// The message that makes the order, as JSON.
    pub message: String,
}

/// What became of a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoldReply {
    /// The seats are locked for the order.
    Held {
        /// The map's version afterwards.
        version: u64,
    },
    /// The same wish has led to an order before, perhaps this very one; nothing has changed.
    Repeated(OrderNo),
    /// A counter would rise above the show's limit; nothing has changed.
    LimitReached {
        /// The counter: see [`limit_field`].
        counter: String,
        /// The most it may count.
        limit: u32,
        /// What it counts already.
        have: u32,
    },
    /// Nothing has changed.
    Refused(Refusal),
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Locks the seats of a command and counts its tickets, all or none.
    ///
    /// A repeat after an unknown result answers [`HoldReply::Repeated`] with the command's own number when the first
    /// call had run.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when there are no tickets or a seat is named twice; otherwise as any command.
    pub async fn hold(&self, command: &HoldCommand) -> Result<HoldReply, RedisError> {
        let other_keys = [
            self.keys()
                .idempotency(command.show, command.user, &command.idempotency_key),
            self.keys().guard(command.show, command.user),
        ];
        let arguments = command.arguments();
        let reply = self
            .run_on_show(&PAIR, command.show, &other_keys, &arguments)
            .await?;
        read(&reply)
    }
}

impl HoldCommand {
    fn arguments(&self) -> Arguments {
        let mut seats = self.seats.clone();
        seats.sort_unstable();
        let limits: Vec<String> = self
            .limits
            .iter()
            .map(|(by, value)| limit_field(*by, value))
            .collect();
        let record = HoldRecord {
            user: self.user,
            created: self.now,
            seats,
            standing: self.standing.clone(),
            limits,
            message: self.message.clone(),
        };
        let mut arguments = Arguments::default();
        arguments
            .text(self.order_no)
            .text(self.level)
            .text(self.now.0)
            .text(&self.fingerprint)
            .text(record.to_json())
            .text(IDEMPOTENCY_TTL.0)
            .text(GUARD_TTL.0)
            .text(CHANGES_MAX)
            .text(record.seats.len())
            .text(record.standing.len())
            .text(QUANTITIES_MAX);
        for held in &record.seats {
            arguments
                .text(held.seat)
                .text(held.zone)
                .text(counter_text(held.attendee.as_ref()));
        }
        for attendee in &record.standing {
            arguments.text(counter_text(attendee.as_ref()));
        }
        for limit in &record.limits {
            arguments.text(limit);
        }
        arguments
    }
}

fn read(reply: &Reply) -> Result<HoldReply, RedisError> {
    let refusal = match reply.word() {
        "held" => {
            return Ok(HoldReply::Held {
                version: reply.parsed(0)?,
            });
        }
        "repeated" => return Ok(HoldReply::Repeated(reply.parsed(0)?)),
        "rebuild" => return Ok(HoldReply::Rebuild),
        "key_used" => Refusal::KeyUsed {
            order_no: reply.parsed(0)?,
        },
        "not_on_sale" => Refusal::NotOnSale,
        "not_started" => Refusal::SaleNotStarted {
            starts_at: Timestamp(reply.parsed(0)?),
        },
        "ended" => Refusal::SaleEnded,
        "level" => Refusal::LevelRequired {
            level: reply.parsed(0)?,
        },
        "limit" => {
            return Ok(HoldReply::LimitReached {
                counter: reply.parsed(0)?,
                limit: reply.parsed(1)?,
                have: reply.parsed(2)?,
            });
        }
        "unknown" => Refusal::UnknownSeat {
            seat: SeatIndex(reply.parsed(0)?),
        },
        "taken" => Refusal::SeatsTaken {
            seats: reply.all()?.into_iter().map(SeatIndex).collect(),
        },
        "zone" => Refusal::ZoneSoldOut {
            zone: reply.parsed(0)?,
        },
        _ => return Err(reply.unknown()),
    };
    Ok(HoldReply::Refused(refusal))
}
