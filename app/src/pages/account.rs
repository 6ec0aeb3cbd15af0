//! The visitor's own account.

mod people;

use crate::{
    api::{accounts::LogOut, attendees::attendees, request::reader},
    components::{
        page_data::{by_query, loaded},
        post::{Post, PostForm},
    },
    domain::{attendee::Attendee, user::User},
    error::AppError,
    i18n::{account::AccountText, use_lang},
};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use people::People;
use serde::{Deserialize, Serialize};

/// Who is signed in, and the way out.
#[component]
pub fn AccountPage() -> impl IntoView {
    let page = by_query(["next", ""], |[next, _]| {
        Box::pin(async move {
            let user = reader().ok_or(AppError::Unauthenticated)?;
            let people = attendees().await;
            Ok(Shown { user, people, next })
        })
    });
    loaded(page, |shown| view! { <Account shown /> }.into_any())
}

/// What the page shows.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Shown {
    user: User,
    /// Whom the user buys for, or why that can't be said.
    people: Result<Vec<Attendee>, AppError>,
    /// Where a form that came from elsewhere leads; the server checks that it is a page of this site.
    next: Option<String>,
}

#[component]
fn Account(shown: Shown) -> impl IntoView {
    let Shown { user, people, next } = shown;
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
            <People people next />
        </div>
    }
}
