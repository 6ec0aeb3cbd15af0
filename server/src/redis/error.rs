//! What can go wrong with Redis, told apart by whether the command may have run.

use ::redis::{ErrorKind, ServerErrorKind};
use std::time::Duration;

/// What Redis says when it can't do now what it can do later.
const PASSING: [&str; 5] = ["BUSY", "MISCONF", "NOREPLICAS", "OOM", "UNKILLABLE"];

/// A command that has no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// The address is not one.
    #[error("the Redis address is not valid")]
    InvalidAddress(#[source] ::redis::RedisError),
    /// Nobody answers, or Redis is not ready to serve; nothing has run.
    #[error("Redis cannot be reached")]
    Unreachable(#[source] ::redis::RedisError),
    /// Too many commands are under way; nothing has run.
    #[error("Redis is busy: no place within {waited:?}")]
    Busy {
        /// How long was waited for a place.
        waited: Duration,
    },
    /// The keys are on their way from one node of a cluster to another, for longer than was waited: the command may have run.
    #[error("the keys are moving to another node of the Redis Cluster; the command may have run")]
    Moving(#[source] ::redis::RedisError),
    /// No answer in time, or the connection broke before it: the command may have run.
    #[error("Redis did not answer; the command may have run")]
    TimedOut(#[source] ::redis::RedisError),
    /// Redis answered with an error.
    #[error("Redis refused the command")]
    Protocol(#[source] ::redis::RedisError),
    /// The answer is none that the command can have.
    #[error("unexpected reply to {command}: {found}")]
    UnexpectedReply {
        /// The command or script.
        command: &'static str,
        /// What is wrong with the reply.
        found: String,
    },
}

impl RedisError {
    /// Whether the command may have changed something. When it may, only a repeat of it tells.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        match self {
            Self::InvalidAddress(_) | Self::Unreachable(_) | Self::Busy { .. } => false,
            Self::Moving(_)
            | Self::TimedOut(_)
            | Self::Protocol(_)
            | Self::UnexpectedReply { .. } => true,
        }
    }

    /// Whether the same command would be answered the same again: what a script finds can't be read. Everything else passes by
    /// itself, such as a Redis that is full, or busy with a long script.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::UnexpectedReply { .. } => true,
            Self::Protocol(error) => !error.code().is_some_and(|code| PASSING.contains(&code)),
            Self::InvalidAddress(_)
            | Self::Unreachable(_)
            | Self::Busy { .. }
            | Self::Moving(_)
            | Self::TimedOut(_) => false,
        }
    }

    pub(super) fn from_client(error: ::redis::RedisError) -> Self {
        if error.is_connection_refusal() {
            return Self::Unreachable(error);
        }
        match error.kind() {
            ErrorKind::Io => Self::TimedOut(error),
            ErrorKind::UnexpectedReturnType | ErrorKind::Parse => Self::UnexpectedReply {
                command: "a command",
                found: error.to_string(),
            },
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::TryAgain,
            )
            | ErrorKind::AuthenticationFailed => Self::Unreachable(error),
            _ => Self::Protocol(error),
        }
    }
}

impl RedisError {
    /// What a cluster's client says. It follows slots and repeats commands by itself, and its last error hides the first: no
    /// error of it proves that nothing ran.
    pub(super) fn from_cluster(error: ::redis::RedisError) -> Self {
        if has_moved(&error) {
            return Self::Moving(error);
        }
        match Self::from_client(error) {
            Self::Unreachable(error) => Self::TimedOut(error),
            // Nobody was there to be asked, this time.
            Self::Protocol(error) if error.kind() == ErrorKind::ClusterConnectionNotFound => {
                Self::TimedOut(error)
            }
            error => error,
        }
    }
}

/// Whether a command, or a transaction as a whole, was refused because its slot is on its way, or elsewhere.
pub(super) fn has_moved(error: &::redis::RedisError) -> bool {
    let is_move = |kind: ServerErrorKind| {
        matches!(
            kind,
            ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::TryAgain
        )
    };
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::ExecAbort) => {
            let reasons = error.clone().into_server_errors().unwrap_or_default();
            let mut reasons = reasons.iter().filter_map(|(_, reason)| reason.kind());
            reasons.any(is_move)
        }
        ErrorKind::Server(kind) => is_move(kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn nothing_that_a_cluster_says_proves_that_nothing_ran() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let nobody = (ErrorKind::ClusterConnectionNotFound, "no connection");
        for error in [refused.into(), nobody.into()] {
            let error = RedisError::from_cluster(error);
            assert!(matches!(error, RedisError::TimedOut(_)), "{error:?}");
        }
    }

    #[test]
    fn a_full_redis_passes_and_an_unreadable_record_does_not() {
        let said = |code: &str| {
            let error = ::redis::make_extension_error(code.to_owned(), None);
            RedisError::from_client(error).is_lasting()
        };
        assert!(!said("OOM"));
        assert!(!said("MISCONF"));
        assert!(said("WRONGTYPE"));
        let record = RedisError::UnexpectedReply {
            command: "hold_record",
            found: "nonsense".to_owned(),
        };
        assert!(record.is_lasting());
    }

    #[test]
    fn only_a_refused_connection_proves_that_nothing_ran() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(!RedisError::from_client(refused.into()).may_have_run());
        for kind in [
            io::ErrorKind::TimedOut,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::ConnectionReset,
        ] {
            let error = RedisError::from_client(io::Error::from(kind).into());
            assert!(matches!(error, RedisError::TimedOut(_)), "{kind:?}");
            assert!(error.may_have_run());
        }
        assert!(
            !RedisError::Busy {
                waited: Duration::from_secs(1)
            }
            .may_have_run()
        );
    }
}
