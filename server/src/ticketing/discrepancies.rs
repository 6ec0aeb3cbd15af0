//! What staff do about money that does not agree.

use super::{Failure, Ticketing};
use crate::mysql::{
    DbError,
    money::{Discrepancy, EndRefusal},
};

/// Longest text that staff give as a reason, in characters.
pub const NOTE_CHARS_MAX: usize = 300;
/// Longest name of who ended it, in characters.
const BY_CHARS_MAX: usize = 64;

/// Why a discrepancy was not ended.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// It can't be ended by hand.
    #[error(transparent)]
    Refused(#[from] EndRefusal),
    /// There is no reason, or a very long one.
    #[error("a note of 1 to {NOTE_CHARS_MAX} characters is needed")]
    Note,
    /// The database failed; nothing was changed.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<DbError> for EndError {
    fn from(error: DbError) -> Self {
        Self::Failure(error.into())
    }
}

impl Ticketing {
    /// Open discrepancies, or all, the newest of so many; oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn discrepancies(&self, all: bool, last: u32) -> Result<Vec<Discrepancy>, Failure> {
        Ok(self.inner.db.discrepancies(all, last).await?)
    }

    /// Staff end a discrepancy that nothing else ends, and say why.
    ///
    /// # Errors
    /// [`EndError`]; nothing has changed then.
    pub async fn end_discrepancy(&self, id: u64, by: &str, note: &str) -> Result<(), EndError> {
        let note = note.trim();
        if note.is_empty() || note.chars().count() > NOTE_CHARS_MAX {
            return Err(EndError::Note);
        }
        let by: String = by.chars().take(BY_CHARS_MAX).collect();
        let ended = self.inner.db.end_discrepancy(id, &by, note, self.now());
        ended.await??;
        tracing::info!(discrepancy = id, by, "discrepancy ended by hand");
        Ok(())
    }
}
