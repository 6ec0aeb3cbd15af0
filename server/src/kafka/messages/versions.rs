//! Every version of every message, and the way of each to the newest.
//!
//! An old version goes up one step at a time: `From<PlacedV1> for PlacedV2`, and so on, all of them here. The enums are
//! what stands in the topics; their `From` into the newest shape is the only place where versions are told apart.

use super::{
    OrderHappened, UnreadableMessage,
    v1::{ClosedV1, PaidV1, PlacedSeatV1, PlacedV1, RefundedV1, TimeoutV1},
    v2::{PlaceV2, PlacedItemV2, PlacedV2},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// What a topic holds: a tagged enum over all versions.
pub(super) trait Versions: Serialize + DeserializeOwned {
    /// Every value that `type` may have in this topic.
    const TYPES: &'static [&'static str];
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OrderCreate {
    PlacedV1(PlacedV1),
    PlacedV2(PlacedV2),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OrderTimeout {
    TimeoutV1(TimeoutV1),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OrderEvents {
    PaidV1(PaidV1),
    ClosedV1(ClosedV1),
    RefundedV1(RefundedV1),
}

impl Versions for OrderCreate {
    const TYPES: &'static [&'static str] = &["placed_v1", "placed_v2"];
}

impl Versions for OrderTimeout {
    const TYPES: &'static [&'static str] = &["timeout_v1"];
}

impl Versions for OrderEvents {
    const TYPES: &'static [&'static str] = &["paid_v1", "closed_v1", "refunded_v1"];
}

impl From<PlacedV1> for PlacedV2 {
    /// Every ticket had a seat, and none an attendee.
    fn from(old: PlacedV1) -> Self {
        let item = |seat: PlacedSeatV1| PlacedItemV2 {
            zone_id: seat.zone_id,
            price_minor: seat.price_minor,
            place: PlaceV2::Seat {
                seat: seat.seat,
                label: seat.label,
            },
            attendee: None,
        };
        Self {
            order_no: old.order_no,
            user_id: old.user_id,
            show_id: old.show_id,
            items: old.seats.into_iter().map(item).collect(),
            pieces: Vec::new(),
            currency: old.currency,
            amount_minor: old.amount_minor,
            channel: old.channel,
            limits: old.limits,
            placed_at: old.placed_at,
            expire_at: old.expire_at,
        }
    }
}

impl From<PlacedV2> for OrderCreate {
    fn from(newest: PlacedV2) -> Self {
        Self::PlacedV2(newest)
    }
}

impl From<OrderCreate> for PlacedV2 {
    fn from(message: OrderCreate) -> Self {
        match message {
            OrderCreate::PlacedV1(old) => old.into(),
            OrderCreate::PlacedV2(newest) => newest,
        }
    }
}

impl From<TimeoutV1> for OrderTimeout {
    fn from(newest: TimeoutV1) -> Self {
        Self::TimeoutV1(newest)
    }
}

impl From<OrderTimeout> for TimeoutV1 {
    fn from(message: OrderTimeout) -> Self {
        match message {
            OrderTimeout::TimeoutV1(newest) => newest,
        }
    }
}

impl From<OrderHappened> for OrderEvents {
    fn from(newest: OrderHappened) -> Self {
        match newest {
            OrderHappened::Paid(paid) => Self::PaidV1(paid),
            OrderHappened::Closed(closed) => Self::ClosedV1(closed),
            OrderHappened::Refunded(refunded) => Self::RefundedV1(refunded),
        }
    }
}

impl From<OrderEvents> for OrderHappened {
    fn from(message: OrderEvents) -> Self {
        match message {
            OrderEvents::PaidV1(paid) => Self::Paid(paid),
            OrderEvents::ClosedV1(closed) => Self::Closed(closed),
            OrderEvents::RefundedV1(refunded) => Self::Refunded(refunded),
        }
    }
}

/// Writes a message. The shapes have string keys and no values that JSON lacks, so this can't fail.
pub(super) fn encode<V: Versions>(message: &V) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

/// Reads a message of any version.
pub(super) fn decode<V: Versions>(payload: &[u8]) -> Result<V, UnreadableMessage> {
    #[derive(Deserialize)]
    struct Tag {
        r#type: String,
    }
    serde_json::from_slice(payload).map_err(|fault| match serde_json::from_slice::<Tag>(payload) {
        Ok(tag) if !V::TYPES.contains(&tag.r#type.as_str()) => {
            UnreadableMessage::UnknownType(tag.r#type)
        }
        _ => UnreadableMessage::Malformed(fault),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::{
        Message,
        messages::{Placed, Timeout},
    };
    use std::{collections::BTreeSet, path::PathBuf};

    fn golden_folder() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/kafka/messages/golden")
    }

    fn golden(kind: &str) -> String {
        std::fs::read_to_string(golden_folder().join(format!("{kind}.json"))).expect(kind)
    }

    /// Reads a golden file and writes it again; the newest versions must come back as they were.
    fn read_and_write<M: Message>(kind: &str) -> serde_json::Value {
        let message = M::decode(golden(kind).as_bytes()).expect(kind);
        serde_json::from_slice(&message.encode()).expect(kind)
    }

    #[test]
    fn every_version_ever_written_has_a_golden_file_and_no_other_file_is_there() {
        let files: BTreeSet<String> = std::fs::read_dir(golden_folder())
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let types = [OrderCreate::TYPES, OrderTimeout::TYPES, OrderEvents::TYPES].concat();
        let expected: BTreeSet<String> = types
            .into_iter()
            .map(|kind| format!("{kind}.json"))
            .collect();
        assert_eq!(files, expected);
    }

    #[test]
    fn golden_files_are_read_and_come_back_as_they_were() {
        let newest = "placed_v2";
        let original: serde_json::Value = serde_json::from_str(&golden(newest)).unwrap();
        assert_eq!(read_and_write::<Placed>(newest), original);
        for kind in OrderTimeout::TYPES {
            let original: serde_json::Value = serde_json::from_str(&golden(kind)).unwrap();
            assert_eq!(read_and_write::<Timeout>(kind), original, "{kind}");
        }
        for kind in OrderEvents::TYPES {
            let original: serde_json::Value = serde_json::from_str(&golden(kind)).unwrap();
            assert_eq!(read_and_write::<OrderHappened>(kind), original, "{kind}");
        }
    }

    #[test]
    fn a_golden_file_means_what_it_says() {
        let placed = Placed::decode(golden("placed_v2").as_bytes()).unwrap();
        assert_eq!(placed.key(), "1045239877100482913");
        assert_eq!((placed.items.len(), placed.seats().count()), (3, 1));
        assert_eq!(placed.items[1].place, PlaceV2::Standing);
        assert_eq!(placed.pieces[1].piece, 3);
        assert_eq!(placed.amount_minor, 16_800);
        assert_eq!(placed.limits, ["u:5", "p:9c0e", "d:17"]);
        let attendee = placed.items[0].attendee.as_ref().unwrap();
        assert_eq!((attendee.id.0, attendee.name.as_str()), (3, "Attendee One"));
        let closed = OrderHappened::decode(golden("closed_v1").as_bytes()).unwrap();
        assert!(matches!(closed, OrderHappened::Closed(_)));
        assert_eq!(closed.show_id().0, 42);
    }

    #[test]
    fn an_order_of_the_first_version_is_one_of_seats_without_attendees() {
        let placed = Placed::decode(golden("placed_v1").as_bytes()).unwrap();
        assert_eq!(placed.key(), "1045239877100482913");
        assert_eq!(placed.items.len(), 2);
        let item = &placed.items[1];
        assert_eq!((item.seat().unwrap().0, item.price_minor), (119, 6_800));
        assert_eq!(item.label().unwrap().number, "13");
        assert!(placed.items.iter().all(|item| item.attendee.is_none()));
        assert!(placed.pieces.is_empty());
        assert_eq!(placed.amount_minor, 13_600);
        assert_eq!(placed.limits, ["u:5", "a:17"]);
        assert_eq!(read_and_write::<Placed>("placed_v1")["type"], "placed_v2");
    }

    #[test]
    fn a_version_from_the_future_is_named_as_unknown() {
        let fault = Placed::decode(br#"{"type":"placed_v9","order":{}}"#).unwrap_err();
        assert!(matches!(&fault, UnreadableMessage::UnknownType(kind) if kind == "placed_v9"));
        assert_eq!(fault.reason(), r#"unknown message type "placed_v9""#);
        let fault = Timeout::decode(golden("paid_v1").as_bytes()).unwrap_err();
        assert!(matches!(fault, UnreadableMessage::UnknownType(_)));
    }

    #[test]
    fn what_is_no_message_is_malformed() {
        let no_order = r#"{"type":"paid_v1","show_id":1}"#;
        let short_number = r#"{"type":"paid_v1","order_no":"12","show_id":1}"#;
        let number = r#"{"type":"paid_v1","order_no":1045239877100482913,"show_id":1}"#;
        for payload in ["", "{", "[]", "{}", "\u{0}", no_order, short_number, number] {
            let fault = OrderHappened::decode(payload.as_bytes()).unwrap_err();
            assert!(
                matches!(fault, UnreadableMessage::Malformed(_)),
                "{payload}"
            );
            assert!(
                fault.reason().starts_with("malformed message: "),
                "{payload}"
            );
        }
    }

    #[test]
    fn a_field_that_a_later_build_added_is_passed_over() {
        let payload =
            br#"{"type":"paid_v1","order_no":"1045239877100482913","show_id":1,"gift":true}"#;
        assert!(OrderHappened::decode(payload).is_ok());
    }
}
