//! Making an account.

use super::login::next_path;
use crate::{
    components::{
        error_notice::ErrorNotice, field::Field, header::encode, posted_error::posted_error,
        session::use_session,
    },
    domain::user::PASSWORD_CHARS_MIN,
    error::{self, AppError},
    i18n::{
        account::{AccountText, password_hint, phone_hint},
        use_lang,
    },
};
use leptos::{form::ActionForm, prelude::*};
use leptos_meta::Title;

/// Makes a customer's account, signs in, and leads to where `?next=` says.
#[component]
pub fn RegisterPage() -> impl IntoView {
    let lang = use_lang();
    let text = AccountText::of(lang);
    let action = use_session().register;
    let next = next_path();
    let error = posted_error(action);
    let pending = action.pending();
    // The action outlives the page; its error belongs to this visit only.
    on_cleanup(move || action.clear());
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
            {(next != "/").then(|| view! { <p class="soft">{text.keeps_choice}</p> })}
            <ErrorNotice error=error />
            <ActionForm action=action>
                <div class="form">
                    <input type="hidden" name="next" value=next />
                    <Field
                        name="phone"
                        label=text.phone
                        kind="tel"
                        autocomplete="username"
                        hint=phone_hint(lang)
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
                    <button class="btn primary" disabled=pending>
                        {move || if pending.get() { text.registering } else { text.register }}
                    </button>
                </div>
            </ActionForm>
            <p>{text.have_account} " " <a href=login_path>{text.sign_in}</a></p>
        </div>
    }
}
