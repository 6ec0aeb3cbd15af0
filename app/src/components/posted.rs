//! The error of a form that was posted without a script.

use crate::error::AppError;
use serde::{Deserialize, Serialize};

/// What the answer to a form said, which the server put into the address of the page that the form stands on.
///
/// An island can't read the address as the server does, so it is handed this and provides it to its forms.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Posted {
    /// The path of the server function that the form was posted to.
    pub path: String,
    /// Why it did not do what was asked.
    pub error: AppError,
}

impl Posted {
    /// What the page's address says.
    #[cfg(feature = "ssr")]
    #[must_use]
    pub fn of_page() -> Option<Self> {
        use leptos::{prelude::WithUntracked, server_fn::error::ServerFnUrlError};
        leptos_router::hooks::use_query_map().with_untracked(|query| {
            Some(Self {
                path: query.get("__path")?,
                error: ServerFnUrlError::<AppError>::decode_err(query.get_str("__err")?),
            })
        })
    }

    /// Islands are handed what the page's address says.
    #[cfg(not(feature = "ssr"))]
    fn of_page() -> Option<Self> {
        None
    }

    /// What was said about a form that is posted to `path`.
    #[must_use]
    pub fn to(path: &str) -> Option<AppError> {
        let said = leptos::prelude::use_context::<Option<Self>>().unwrap_or_else(Self::of_page)?;
        (said.path == path).then_some(said.error)
    }
}
