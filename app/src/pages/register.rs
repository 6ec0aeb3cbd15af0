//! Making an account.

use super::login::{carries_choice, next_path};
use crate::{
    api::accounts::Register,
    components::{
        address::encode,
        error_notice::ErrorNotice,
        field::Field,
        post::{Post, PostForm},
    },
    domain::user::PASSWORD_CHARS_MIN,
    error::{self, AppError},
    i18n::{
        account::{AccountText, password_hint, phone_hint},
        use_lang,
    },
};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;

/// Makes a customer's account, signs in, and leads to where `?next=` says.
#[component]
pub fn RegisterPage() -> impl IntoView {
    let lang = use_lang();
    let text = AccountText::of(lang);
    let post = Post::to(Register::PATH);
    let next = next_path();
    let error = post.error;
    let is_phone = Signal::derive(move || {
        error.with(|error| {
            matches!(
                error,
                Some(
                    AppError::PhoneTaken
                        | AppError::Invalid {
                            field: error::Field::Phone
                        }
                )
            )
        })
    });
    let is_password = Signal::derive(move || {
        error.with(|error| {
            matches!(
                error,
                Some(AppError::Invalid {
                    field: error::Field::Password
                })
            )
        })
    });
    let login_path = format!("/login?next={}", encode(&next));
    view! {
        <Title text=text.register />
        <div class="wrap narrow sign-in stack">
            <h1>{text.register}</h1>
            {carries_choice(&next).then(|| view! { <p class="soft">{text.keeps_choice}</p> })}
            <ErrorNotice error=error />
            <PostForm post=post>
                <div class="form">
                    <input type="hidden" name="next" value=next />
                    <Field
                        name="phone"
                        label=text.phone
                        kind="tel"
                        autocomplete="username"
                        hint=phone_hint(lang)
                        kept=true
                        invalid=is_phone
                    />
                    <Field
                        name="password"
                        label=text.password
                        kind="password"
                        autocomplete="new-password"
                        hint=password_hint(lang)
                        min_chars=PASSWORD_CHARS_MIN
                        invalid=is_password
                    />
                    <button class="btn primary">{text.register}</button>
                </div>
            </PostForm>
            <p>{text.have_account} " " <a href=login_path>{text.sign_in}</a></p>
        </div>
    }
}
