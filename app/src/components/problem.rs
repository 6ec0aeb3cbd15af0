//! A page, or a part of one, that can't be shown.

use crate::{
    components::address::encode,
    error::AppError,
    i18n::{error_text, shell::ShellText, use_lang},
};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::{components::Redirect, hooks::use_location};

/// Says in the page's place why it can't be shown and what to do. Somebody who must sign in first is led there and back.
#[component]
pub fn Problem(
    /// Why the page can't be shown.
    error: AppError,
) -> impl IntoView {
    if error == AppError::Unauthenticated {
        let here = use_location().pathname.get_untracked();
        return view! { <Redirect path=format!("/login?next={}", encode(&here)) /> }.into_any();
    }
    answer_with(&error);
    let lang = use_lang();
    let text = ShellText::of(lang);
    let is_missing = matches!(error, AppError::NotFound { .. });
    let heading = if is_missing {
        error_text(lang, &error)
    } else {
        text.went_wrong.to_owned()
    };
    let explanation = if is_missing {
        text.not_found_hint.to_owned()
    } else {
        error_text(lang, &error)
    };
    view! {
        <Title text=heading.clone() />
        <div class="wrap narrow problem">
            <h1>{heading}</h1>
            <p class="soft">{explanation}</p>
            <p class="actions">
                <a class="btn primary" href="/">{text.to_shows}</a>
                // The empty address is this page's own.
                {(!is_missing).then(|| view! { <a class="btn quiet" href="">{text.try_again}</a> })}
            </p>
        </div>
    }
    .into_any()
}

/// Gives the page the error's status, for those who read no words.
fn answer_with(error: &AppError) {
    let Some(response) = use_context::<leptos_axum::ResponseOptions>() else {
        return;
    };
    if let Ok(status) = http::StatusCode::from_u16(error.status()) {
        response.set_status(status);
    }
}
