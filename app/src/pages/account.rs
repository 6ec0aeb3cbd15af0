//! The visitor's own account.

mod people;

use crate::{
    api::accounts::LogOut,
    components::{
        post::{Post, PostForm},
        problem::Problem,
        session::use_session,
    },
    domain::user::User,
    error::AppError,
    i18n::{account::AccountText, use_lang},
};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use people::People;

/// Who is signed in, and the way out.
#[component]
pub fn AccountPage() -> impl IntoView {
    let user = use_session().user;
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match user.await {
                    Some(user) => view! { <Account user=user /> }.into_any(),
                    None => view! { <Problem error=AppError::Unauthenticated /> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn Account(user: User) -> impl IntoView {
    let text = AccountText::of(use_lang());
    let post = Post::to(LogOut::PATH);
    view! {
        <Title text=text.account />
        <div class="wrap narrow stack">
            <h1>{text.account}</h1>
            <dl class="facts">
                <dt>{text.signed_in_as}</dt>
                <dd>{user.phone_hint}</dd>
            </dl>
            <div class="actions">
                <a class="btn quiet" href="/orders">{text.your_orders}</a>
                <PostForm post=post>
                    <button class="btn quiet">{text.sign_out}</button>
                </PostForm>
            </div>
            <People />
        </div>
    }
}
