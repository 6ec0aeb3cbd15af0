//! The one error that crosses the wire.

use crate::domain::hold::Refusal;
use leptos::server_fn::{
    codec::JsonEncoding,
    error::{FromServerFnError, ServerFnErrorErr},
};
use serde::{Deserialize, Serialize};

/// Why a request was not carried out, in words the browser can explain to its reader.
///
/// Without JavaScript the error travels in an address, so it carries nothing private.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "Fields")]
pub enum AppError {
    /// Nobody is signed in.
    #[error("sign in first")]
    Unauthenticated,
    /// The account may not do this.
    #[error("not allowed")]
    Forbidden,
    /// There is no such thing, or it belongs to somebody else.
    #[error("not found: {what}")]
    NotFound {
        /// What was looked for.
        what: Thing,
    },
    /// A field's value is not acceptable.
    #[error("invalid {field:?}")]
    Invalid {
        /// The field.
        field: Field,
    },
    /// Phone and password do not belong together.
    #[error("wrong phone or password")]
    WrongCredentials,
    /// The phone number has an account already.
    #[error("the phone number is registered")]
    PhoneTaken,
    /// The person is in the list of attendees already.
    #[error("the attendee is listed")]
    AttendeeListed,
    /// The list of attendees is full.
    #[error("the list of attendees is full")]
    AttendeesFull {
        /// The most it may have.
        most: u32,
    },
    /// Seats were not held.
    #[error("refused: {}", refusal.word())]
    Refused {
        /// Why not.
        refusal: Refusal,
    },
    /// The order is no longer in a state in which this can be done.
    #[error("the order's state does not allow this")]
    OrderState,
    /// The show takes no tickets back any more.
    #[error("tickets can't be given back any more")]
    RefundClosed,
    /// Too much is going on; the same request may succeed later.
    #[error("busy")]
    Busy {
        /// When to try again, in milliseconds from now.
        retry_after_ms: u32,
    },
    /// The payment service does not answer; nothing can be charged there, and paying can be started again.
    #[error("the payment service does not answer")]
    NoPaymentService,
    /// The browser could not reach the server.
    #[error("no connection")]
    Offline,
    /// Something failed inside; the log knows more under the reference.
    #[error("internal failure {reference}")]
    Internal {
        /// Names the failure in the log.
        reference: String,
    },
}

/// What was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// A film or concert.
    Event,
    /// A dated show.
    Show,
    /// An order, or one of somebody else.
    Order,
    /// A person of the list of attendees, or one of somebody else's.
    Attendee,
    /// A page.
    Page,
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Event => "event",
            Self::Show => "show",
            Self::Order => "order",
            Self::Attendee => "attendee",
            Self::Page => "page",
        })
    }
}

/// A field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// A phone number.
    Phone,
    /// A password that is too short or too long.
    Password,
    /// A person's name.
    Name,
    /// What kind of document a person has.
    DocumentKind,
    /// A document's number.
    DocumentNumber,
    /// Tickets that the order does not have, or none.
    Tickets,
    /// Names one submission.
    IdempotencyKey,
    /// The request as a whole could not be read.
    Request,
}

impl AppError {
    /// The HTTP status for clients that are programs.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Unauthenticated | Self::WrongCredentials => 401,
            Self::Forbidden => 403,
            Self::NotFound { .. } => 404,
            Self::Invalid { .. } => 400,
            Self::PhoneTaken
            | Self::AttendeeListed
            | Self::AttendeesFull { .. }
            | Self::Refused { .. }
            | Self::RefundClosed
            | Self::OrderState => 409,
            Self::Busy { .. } | Self::NoPaymentService | Self::Offline => 503,
            Self::Internal { .. } => 500,
        }
    }
}

/// All fields of all errors. Read so, an error takes a fifth of the code that serde would write for each variant.
#[derive(Deserialize)]
struct Fields {
    kind: String,
    what: Option<Thing>,
    field: Option<Field>,
    most: Option<u32>,
    refusal: Option<Refusal>,
    retry_after_ms: Option<u32>,
    reference: Option<String>,
}

impl Fields {
    fn read(self) -> Option<AppError> {
        Some(match self.kind.as_str() {
            "unauthenticated" => AppError::Unauthenticated,
            "forbidden" => AppError::Forbidden,
            "not_found" => AppError::NotFound { what: self.what? },
            "invalid" => AppError::Invalid { field: self.field? },
            "wrong_credentials" => AppError::WrongCredentials,
            "phone_taken" => AppError::PhoneTaken,
            "attendee_listed" => AppError::AttendeeListed,
            "attendees_full" => AppError::AttendeesFull { most: self.most? },
            "refused" => AppError::Refused {
                refusal: self.refusal?,
            },
            "order_state" => AppError::OrderState,
            "refund_closed" => AppError::RefundClosed,
            "busy" => AppError::Busy {
                retry_after_ms: self.retry_after_ms?,
            },
            "no_payment_service" => AppError::NoPaymentService,
            "offline" => AppError::Offline,
            "internal" => AppError::Internal {
                reference: self.reference?,
            },
            _ => return None,
        })
    }
}

impl TryFrom<Fields> for AppError {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        fields.read().ok_or("not an error of this program")
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal }
    }
}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::UnsupportedRequestMethod(_) => Self::Invalid {
                field: Field::Request,
            },
            ServerFnErrorErr::Request(_) => Self::Offline,
            ServerFnErrorErr::Registration(_)
            | ServerFnErrorErr::ServerError(_)
            | ServerFnErrorErr::MiddlewareError(_)
            | ServerFnErrorErr::Deserialization(_)
            | ServerFnErrorErr::Serialization(_)
            | ServerFnErrorErr::Response(_) => Self::Internal {
                reference: String::new(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{hold::LimitedBy, ids::SeatIndex};

    #[test]
    fn errors_cross_the_wire_as_tagged_words() {
        let refusal = Refusal::SeatsTaken {
            seats: vec![SeatIndex(4)],
        };
        let json = serde_json::to_string(&AppError::from(refusal.clone())).unwrap();
        let expected = r#"{"kind":"refused","refusal":{"reason":"seats_taken","seats":[4]}}"#;
        assert_eq!(json, expected);
        assert_eq!(AppError::de(json.into()), AppError::Refused { refusal });
    }

    #[test]
    fn every_error_that_is_written_is_read() {
        let mut here = Some(AppError::Unauthenticated);
        while let Some(error) = here {
            let text = serde_json::to_string(&error).unwrap();
            let read = serde_json::from_str::<AppError>(&text).unwrap();
            assert_eq!(read, error, "{text}");
            here = next(&error);
        }
        assert!(serde_json::from_str::<AppError>(r#"{"kind":"refused"}"#).is_err());
    }

    /// Names every error, so that a new one does not compile until it is in the row.
    fn next(error: &AppError) -> Option<AppError> {
        Some(match error {
            AppError::Unauthenticated => AppError::Forbidden,
            AppError::Forbidden => AppError::NotFound { what: Thing::Order },
            AppError::NotFound { .. } => AppError::Invalid {
                field: Field::DocumentNumber,
            },
            AppError::Invalid { .. } => AppError::WrongCredentials,
            AppError::WrongCredentials => AppError::PhoneTaken,
            AppError::PhoneTaken => AppError::AttendeeListed,
            AppError::AttendeeListed => AppError::AttendeesFull { most: 10 },
            AppError::AttendeesFull { .. } => Refusal::Blocked.into(),
            AppError::Refused { .. } => AppError::OrderState,
            AppError::OrderState => AppError::RefundClosed,
            AppError::RefundClosed => AppError::Busy {
                retry_after_ms: 1_000,
            },
            AppError::Busy { .. } => AppError::NoPaymentService,
            AppError::NoPaymentService => AppError::Offline,
            AppError::Offline => AppError::Internal {
                reference: "7f".to_owned(),
            },
            AppError::Internal { .. } => return None,
        })
    }

    #[test]
    fn a_display_text_names_the_reason_only() {
        let refusal = Refusal::LimitReached {
            by: LimitedBy::Phone,
            limit: 4,
            have: 3,
            attendee: None,
        };
        assert_eq!(
            AppError::from(refusal).to_string(),
            "refused: limit_reached"
        );
    }
}
