//! Signing in.

use crate::{
    api::accounts::LogIn,
    components::{
        address::encode,
        error_notice::ErrorNotice,
        field::Field,
        post::{Post, PostForm},
    },
    error::AppError,
    i18n::{account::AccountText, use_lang},
};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

/// Signs in and leads to where `?next=` says.
#[component]
pub fn LoginPage() -> impl IntoView {
    let text = AccountText::of(use_lang());
    let post = Post::to(LogIn::PATH);
    let next = next_path();
    let error = post.error;
    let is_wrong = Signal::derive(move || {
        error.with(|error| {
            matches!(
                error,
                Some(AppError::WrongCredentials | AppError::Invalid { .. })
            )
        })
    });
    let register_path = format!("/register?next={}", encode(&next));
    view! {
        <Title text=text.sign_in />
        <div class="wrap narrow sign-in stack">
            <h1>{text.sign_in}</h1>
            {carries_choice(&next).then(|| view! { <p class="soft">{text.keeps_choice}</p> })}
            <ErrorNotice error=error />
            <PostForm post=post>
                <div class="form">
                    <input type="hidden" name="next" value=next />
                    <Field name="phone" label=text.phone kind="tel" autocomplete="username" kept=true invalid=is_wrong />
                    <Field
                        name="password"
                        label=text.password
                        kind="password"
                        autocomplete="current-password"
                        invalid=is_wrong
                    />
                    <button class="btn primary">{text.sign_in}</button>
                </div>
            </PostForm>
            <p>{text.no_account} " " <a href=register_path>{text.register}</a></p>
        </div>
    }
}

/// Where to go afterwards; the server checks that it is a page of this site.
pub fn next_path() -> String {
    use_query_map()
        .with_untracked(|query| query.get("next"))
        .unwrap_or_else(|| "/".to_owned())
}

/// Whether the way back leads to seats that were chosen before signing in.
pub fn carries_choice(next: &str) -> bool {
    next.split_once("?seats=")
        .is_some_and(|(_, seats)| !seats.is_empty())
}
