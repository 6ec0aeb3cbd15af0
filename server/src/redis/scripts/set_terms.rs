//! `lua/set_terms.lua`: writes on which terms a loaded show is sold.

use super::{Arguments, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::{ids::ShowId, show_terms::ShowTerms};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "set_terms",
    source: include_str!("../../../../lua/set_terms.lua"),
    show_keys: &[ShowKey::Meta],
    other_keys: &[],
    arguments: &["status", "sale_start", "sale_end", "limit", "level"],
    repeated: &[],
    replies: &["set", "rebuild"],
    script: OnceLock::new(),
};

/// What became of writing a show's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTermsReply {
    /// Every script goes by them from now on.
    Set {
        /// The show's epoch, which stays.
        epoch: u32,
    },
    /// The show is not loaded; loading it brings its terms along.
    Rebuild,
}

impl Redis {
    /// Writes a show's terms. Doing it twice changes nothing; whoever writes terms that another change has overtaken
    /// writes them once more after looking again.
    ///
    /// # Errors
    /// As any command.
    pub async fn set_terms(
        &self,
        show: ShowId,
        terms: &ShowTerms,
    ) -> Result<SetTermsReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments
            .text(terms.status.code())
            .text(terms.sale_start.0)
            .text(terms.sale_end.0)
            .text(terms.limit)
            .text(terms.level);
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "set" => Ok(SetTermsReply::Set {
                epoch: reply.parsed(0)?,
            }),
            "rebuild" => Ok(SetTermsReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
