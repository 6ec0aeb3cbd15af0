//! What can go wrong inside a use case, and what the customer hears of it.

use crate::{mysql::DbError, payment_channel::ChannelError, redis::RedisError};
use app::error::AppError;

/// How long a customer is asked to wait when something is busy, in milliseconds.
const RETRY_AFTER_MS: u32 = 1_000;

/// A failure of something outside.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
    /// Redis.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The payment gateway.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Kafka did not take a message.
    #[error("the message was not taken")]
    Produce(#[from] crate::kafka::ProduceError),
    /// Redis lost the show, and it is being read from the database.
    #[error("the show is being loaded")]
    Rebuilding,
    /// Something that must not be.
    #[error("{0}")]
    Broken(&'static str),
}

impl Failure {
    /// Whether it will pass by itself in a moment.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Db(DbError::Busy | DbError::Lost)
                | Self::Redis(RedisError::Busy { .. } | RedisError::Moving(_))
                | Self::Rebuilding
        )
    }

    /// Whether doing the same again may succeed without anybody's help: something was busy or away.
    #[must_use]
    pub fn passes(&self) -> bool {
        match self {
            Self::Db(error) => !error.is_refusal(),
            Self::Redis(error) => !error.is_lasting(),
            Self::Channel(error) => {
                matches!(error, ChannelError::Unreachable | ChannelError::Resting)
            }
            Self::Produce(_) | Self::Rebuilding => true,
            Self::Broken(_) => false,
        }
    }

    /// What the customer hears. Logs the cause, once, under the reference that the customer gets.
    pub fn into_app_error(self, during: &'static str) -> AppError {
        if self.is_busy() {
            tracing::warn!(during, error = %self, "busy");
            return AppError::Busy {
                retry_after_ms: RETRY_AFTER_MS,
            };
        }
        let reference = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
        tracing::error!(during, reference, error = %self, cause = ?self, "failed");
        AppError::Internal { reference }
    }
}

/// Turns a failure into what the customer hears.
pub trait OrTell<T> {
    /// Logs a failure of the named use case and hides it behind a reference.
    ///
    /// # Errors
    /// [`AppError::Busy`] or [`AppError::Internal`].
    fn or_tell(self, during: &'static str) -> Result<T, AppError>;
}

impl<T, E: Into<Failure>> OrTell<T> for Result<T, E> {
    fn or_tell(self, during: &'static str) -> Result<T, AppError> {
        self.map_err(|error| error.into().into_app_error(during))
    }
}
