//! What stands above the map: why a wish was refused, which seats were lost, which are the reader's, and when the sale opens.

use super::map_state::{Lost, MapState};
use crate::{
    api::orders::MySeats,
    components::{attendee_choice::People, offer::Offer, timer::monotonic_ms},
    domain::{
        catalogue::SaleState,
        hold::Refusal,
        time::{Millis, Timestamp},
    },
    error::AppError,
    i18n::{Lang, attendees, error_text, show, show::ShowText, time, use_lang},
};
use leptos::{html, prelude::*};
use std::time::Duration;

/// A sale that opens within this time is counted down.
const COUNTDOWN_MAX: Millis = Millis::minutes(24 * 60);

/// All notices of the page. Each is there only while it has something to say.
#[component]
pub fn Notices(
    /// The show.
    show: StoredValue<Offer>,
    /// What changes while the page is shown.
    state: MapState,
    /// The reader's own seats.
    mine: MySeats,
    /// Whom the tickets can be for.
    people: People,
    /// Why the last wish was refused.
    #[prop(into)]
    error: Signal<Option<AppError>>,
    /// The server's clock.
    #[prop(into)]
    now: Signal<Timestamp>,
) -> impl IntoView {
    view! {
        <div class="notices">
            <Refused error people />
            <LostSeats state />
            <MineNotice mine />
            <SaleNotice show state now />
        </div>
    }
}

/// Why the last wish was refused. It takes the focus, so that nobody overlooks it.
#[component]
fn Refused(error: Signal<Option<AppError>>, people: People) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let alert = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if error.with(Option::is_some)
            && let Some(alert) = alert.get()
        {
            // An element that can't take the focus is still read out.
            let _ = alert.focus();
        }
    });
    move || {
        // Somebody who must sign in first is led there.
        let error = error
            .get()
            .filter(|error| *error != AppError::Unauthenticated)?;
        let order = match &error {
            AppError::Refused {
                refusal: Refusal::AlreadyPlaced { order_no } | Refusal::KeyUsed { order_no },
            } => Some(format!("/orders/{order_no}")),
            _ => None,
        };
        Some(view! {
            <div class="notice bad" role="alert" tabindex="-1" node_ref=alert>
                <p>{refusal_words(lang, &error, people)}</p>
                {order.map(|href| view! { <a href=href>{text.to_orders}</a> })}
            </div>
        })
    }
}

/// Why a wish was refused. An error names no person; the reader's own list does.
fn refusal_words(lang: Lang, error: &AppError, people: People) -> String {
    if let AppError::Refused {
        refusal:
            Refusal::LimitReached {
                attendee: Some(id),
                limit,
                have,
                ..
            },
    } = error
        && let Some(name) = people.name_of(*id)
    {
        return attendees::limit_of(lang, &name, *limit, *have);
    }
    error_text(lang, error)
}

/// Which chosen seats went to others, and what is free beside them.
#[component]
fn LostSeats(state: MapState) -> impl IntoView {
    let lang = use_lang();
    move || {
        let lost = state.lost.get();
        if lost.is_empty() {
            return None;
        }
        let places: Vec<String> = lost.iter().map(|lost| lost.place.clone()).collect();
        let offers = lost.into_iter().filter_map(|Lost { instead, .. }| instead);
        Some(view! {
            <div class="notice warn" role="alert">
                <p>{show::lost(lang, &places)}</p>
                {offers
                    .map(|offer| {
                        let label = show::take_instead(lang, &offer.place);
                        view! {
                            <button type="button" class="btn quiet" on:click=move |_| state.take_instead(offer.clone())>
                                {label}
                            </button>
                        }
                    })
                    .collect_view()}
            </div>
        })
    }
}

/// That seats of this show are the reader's already, and the way to them.
#[component]
fn MineNotice(mine: MySeats) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let (seats, standing) = (mine.seats.len(), mine.standing);
    let (href, link) = match mine.pending {
        Some(order_no) => (format!("/orders/{order_no}"), text.to_pay),
        None => ("/orders".to_owned(), text.to_orders),
    };
    (seats > 0 || standing > 0).then(|| {
        view! {
            <div class="notice mine">
                <p>{show::mine_note(lang, seats, standing, mine.pending.is_some())}</p>
                <a class="btn quiet" href=href>
                    {link}
                </a>
            </div>
        }
    })
}

/// Why the show can't be bought now, and when it can.
#[component]
fn SaleNotice(show: StoredValue<Offer>, state: MapState, now: Signal<Timestamp>) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let event = show.with_value(|show| format!("/events/{}", show.event));
    let sale = show.with_value(|show| show.sale);
    let is_full = Memo::new(move |_| state.free.with(|free| free.iter().all(|&count| count == 0)));
    let words = move || match sale {
        SaleState::OnSale | SaleState::SoldOut => is_full.get().then(|| text.sold_out.to_owned()),
        SaleState::Ended => Some(text.ended.to_owned()),
        SaleState::Withdrawn => Some(text.withdrawn.to_owned()),
        SaleState::NotYet { opens_at } => (now.get() < opens_at).then(|| {
            let opens = show.with_value(|show| show.starts.with(opens_at));
            show::opens(lang, &opens)
        }),
    };
    let is_final = matches!(
        sale,
        SaleState::Ended | SaleState::Withdrawn | SaleState::SoldOut
    );
    move || {
        let words = words()?;
        Some(view! {
            <div class="notice">
                <p>{words} <Countdown sale now /></p>
                {is_final.then(|| view! { <a class="btn quiet" href=event.clone()>{text.other_shows}</a> })}
            </div>
        })
    }
}

/// What is left until a sale opens that opens soon.
#[component]
fn Countdown(sale: SaleState, now: Signal<Timestamp>) -> impl IntoView {
    let text = ShowText::of(use_lang());
    move || {
        let SaleState::NotYet { opens_at } = sale else {
            return None;
        };
        let left = opens_at - now.get();
        (left > Millis(0) && left <= COUNTDOWN_MAX)
            .then(|| view! { <span class="num">" " {text.opens_in} " " <b>{time::remaining(left)}</b></span> })
    }
}

/// The server's clock: what it showed when the page was made, and what has passed since by the browser's steady clock, which
/// setting the time does not move.
#[must_use]
pub fn server_clock(show: &Offer) -> Signal<Timestamp> {
    let start = show.now;
    let now = RwSignal::new(start);
    if let SaleState::NotYet { .. } = show.sale {
        Effect::new(move |_| {
            let began = monotonic_ms();
            let tick = move || {
                let passed = Millis(monotonic_ms() - began);
                now.set(start + passed);
            };
            if let Ok(ticking) = set_interval_with_handle(tick, Duration::from_secs(1)) {
                on_cleanup(move || ticking.clear());
            }
        });
    }
    now.into()
}
