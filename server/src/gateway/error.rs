//! Why the gateway did not do what it was asked.

use super::{
    switches::InvalidSwitch,
    wire::{ErrorCode, PaymentState},
};

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// A field's value is not acceptable.
    #[error("{field} is not acceptable")]
    Malformed {
        /// The field.
        field: &'static str,
    },
    /// Refused; nothing was changed.
    #[error("refused")]
    Refused(ErrorCode),
    /// The payment's state does not allow it; nothing was changed.
    #[error("the payment's state does not allow this")]
    State(PaymentState),
    /// The store failed. Whether the change was made is unknown; repeating the request finds out.
    #[error("the gateway's store failed")]
    Store(#[from] sqlx::Error),
}

impl From<InvalidSwitch> for GatewayError {
    fn from(invalid: InvalidSwitch) -> Self {
        Self::Malformed {
            field: invalid.field,
        }
    }
}
