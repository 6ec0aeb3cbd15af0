//! What the buyer of an order can do.

use super::{live::Live, stage::Stage};
use crate::{
    api::{orders::Cancel, payments::Start},
    components::{
        error_notice::ErrorNotice,
        post::{Post, PostForm},
    },
    domain::ids::OrderNo,
    i18n::{
        order::{OrderText, pay},
        use_lang,
    },
};
use leptos::{prelude::*, server_fn::ServerFn};

/// Pays, or gives the seats back.
#[component]
pub fn PayOrCancel(live: Live) -> impl IntoView {
    let order_no = live.order.with_untracked(|order| order.order_no);
    view! {
        <div class="actions">
            <Pay live=live order_no=order_no />
            <CancelOrder live=live order_no=order_no />
        </div>
    }
}

/// Leads to the cashier. While an attempt is open it leads back to that one, so that nobody pays twice.
#[component]
fn Pay(live: Live, order_no: OrderNo) -> impl IntoView {
    let lang = use_lang();
    let text = OrderText::of(lang);
    let total = live.order.with_untracked(|order| order.total);
    let post = Post::to(Start::PATH);
    // From the click until the cashier's page has replaced this one.
    let leaving = RwSignal::new(false);
    Effect::new(move |_| {
        let Some(cashier) = post.answer.get() else {
            return;
        };
        if let Ok(cashier) = serde_json::from_slice::<String>(cashier.as_bytes()) {
            leaving.set(window().location().set_href(&cashier).is_ok());
        }
    });
    refresh_after(post, live);
    Effect::new(move |_| {
        // Back from the cashier by the browser's button the page is as it was left, with its button locked.
        let shown = window_event_listener_untyped("pageshow", move |_| leaving.set(false));
        on_cleanup(move || shown.remove());
    });
    let is_open = move || live.stage.get() == Stage::Processing;
    let is_busy = move || post.pending.get() || leaving.get();
    let label = move || match (is_busy(), is_open()) {
        (true, _) => text.opening_cashier.to_owned(),
        (false, true) => text.back_to_cashier.to_owned(),
        (false, false) => pay(lang, total),
    };
    view! {
        <PostForm post=post>
            <input type="hidden" name="order_no" value=order_no.to_string() />
            <button class="btn" class:primary=move || !is_open() class:quiet=is_open disabled=is_busy>
                {label}
            </button>
            <ErrorNotice error=post.error />
        </PostForm>
    }
}

/// Gives the seats back, after a second click that says so. Opens without JavaScript.
#[component]
fn CancelOrder(live: Live, order_no: OrderNo) -> impl IntoView {
    let text = OrderText::of(use_lang());
    let post = Post::to(Cancel::PATH);
    let pending = post.pending;
    refresh_after(post, live);
    view! {
        <details class="confirm">
            <summary class="btn quiet">{text.cancel}</summary>
            <PostForm post=post>
                <input type="hidden" name="order_no" value=order_no.to_string() />
                <p>{text.cancel_question}</p>
                <button class="btn quiet" disabled=pending>
                    {move || if pending.get() { text.cancelling } else { text.cancel_yes }}
                </button>
                <ErrorNotice error=post.error />
            </PostForm>
        </details>
    }
}

/// Reads the order again whenever a form was answered, whatever the answer.
fn refresh_after(post: Post, live: Live) {
    Effect::new(move |was_pending: Option<bool>| {
        let is_pending = post.pending.get();
        if was_pending == Some(true) && !is_pending {
            live.refresh();
        }
        is_pending
    });
}
