//! The gateway's refusals as HTTP answers.

use super::{
    error::GatewayError,
    wire::{ErrorBody, ErrorCode, PaymentState},
};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};

impl ErrorCode {
    /// The status it travels with.
    fn status(self) -> StatusCode {
        match self {
            Self::BadSignature => StatusCode::UNAUTHORIZED,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::UnknownPayment | Self::UnknownRefund => StatusCode::NOT_FOUND,
            Self::ContentDiffers | Self::PaymentState | Self::RefundTooLarge => {
                StatusCode::CONFLICT
            }
            Self::RefundRefused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal | Self::Unknown => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn explanation(self) -> &'static str {
        match self {
            Self::BadSignature => "the signature or its time is wrong",
            Self::Malformed => "the request can't be read",
            Self::UnknownPayment => "there is no such payment",
            Self::UnknownRefund => "there is no such refund",
            Self::ContentDiffers => "the number is taken by a request with other content",
            Self::PaymentState => "the payment's state does not allow this",
            Self::RefundTooLarge => "more would be given back than was paid",
            Self::RefundRefused => "the bank refuses this refund for now",
            Self::TooLarge => "the body is too large",
            Self::Internal | Self::Unknown => "the gateway failed; repeat the request",
        }
    }
}

/// A refusal as JSON.
pub(super) fn refusal(code: ErrorCode) -> Response {
    answer(code, code.explanation().to_owned(), None)
}

fn answer(code: ErrorCode, message: String, status: Option<PaymentState>) -> Response {
    (
        code.status(),
        Json(ErrorBody {
            code,
            message,
            status,
        }),
    )
        .into_response()
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        match self {
            Self::Malformed { .. } => answer(ErrorCode::Malformed, self.to_string(), None),
            Self::Refused(code) => refusal(code),
            Self::State(state) => {
                let code = ErrorCode::PaymentState;
                answer(code, code.explanation().to_owned(), Some(state))
            }
            Self::Store(error) => {
                tracing::error!(error = ?error, "the gateway's store failed");
                refusal(ErrorCode::Internal)
            }
        }
    }
}
