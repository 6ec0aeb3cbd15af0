//! The page for addresses that lead nowhere.

use crate::{
    components::problem::Problem,
    error::{AppError, Thing},
};
use leptos::prelude::*;

/// Says that there is no such page, with the status that programs understand.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    view! { <Problem error=AppError::NotFound { what: Thing::Page } /> }
}
