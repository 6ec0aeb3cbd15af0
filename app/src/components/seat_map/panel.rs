//! The panel beside the map: prices, the reader's seats, and the button that holds them.

use super::{
    TINTS,
    map_state::{Chosen, MapState},
};
use crate::{
    components::{
        attendee_choice::{AttendeeChoice, People},
        choose_for_me::ChooseForMe,
        offer::Offer,
        standing_zones::StandingZones,
    },
    domain::{catalogue::Zone, money::Money, standing::ZoneKind},
    i18n::{show, show::ShowText, use_lang},
};
use leptos::prelude::*;

/// Everything the reader decides with, apart from the map.
#[component]
pub fn Panel(
    /// The show.
    show: StoredValue<Offer>,
    /// What changes while the page is shown.
    state: MapState,
    /// Whom the tickets can be for.
    people: People,
    /// The page's address with everything that is chosen.
    here: Signal<String>,
    /// Whether the show can be bought at this moment.
    #[prop(into)]
    is_open: Signal<bool>,
    /// Whether a wish is on its way.
    #[prop(into)]
    is_pending: Signal<bool>,
) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let is_named = show.with_value(|show| show.attendees_required);
    let seats = Signal::derive(move || state.chosen.with(Vec::len));
    let zones = show.with_value(|show| show.zones.clone());
    let (limit, hold_for) = show.with_value(|show| (show.limit, show.hold_for));
    view! {
        <div class="panel card">
            {is_named.then(|| view! { <AttendeeChoice people seats here /> })}
            <StandingZones show state people is_open is_pending />
            <ChooseForMe show people is_open is_pending />
            <section class="zones">
                <h2>{text.zones}</h2>
                {zones
                    .into_iter()
                    .enumerate()
                    .filter(|(_, zone)| zone.kind == ZoneKind::Seated)
                    .map(|(place, zone)| view! { <ZoneButton zone place state /> })
                    .collect_view()}
            </section>
            <section class="yours">
                <h2>{text.your_seats}</h2>
                <p class="yours__hint soft small only-script">
                    {move || state.chosen.read().is_empty().then(|| format!("{} ", text.none_chosen))}
                    {show::limit_note(lang, limit)}
                </p>
                <p class="soft small only-no-script">{text.without_script}</p>
                <ul class="yours__list">
                    <For each=move || state.chosen.get() key=|chosen| chosen.seat let:chosen>
                        <ChosenSeat chosen show state />
                    </For>
                </ul>
            </section>
            <Checkout show state is_open is_pending />
            <p class="panel__note soft small">{show::hold_note(lang, hold_for)}</p>
        </div>
    }
}

/// A zone with price and free seats. Choosing it dims the other zones on the map.
#[component]
fn ZoneButton(
    zone: Zone,
    /// Place of the zone among the show's.
    place: usize,
    state: MapState,
) -> impl IntoView {
    let lang = use_lang();
    let free = move || {
        state
            .free
            .with(|free| free.get(place).copied().unwrap_or_default())
    };
    let is_only = move || state.only.get() == Some(place);
    let choose = move |_| {
        state
            .only
            .update(|only| *only = (*only != Some(place)).then_some(place))
    };
    view! {
        <button type="button" class="zone-price" aria-pressed=move || is_only().to_string() on:click=choose>
            <i class=format!("zone-price__tint tint-{}", place % TINTS) aria-hidden="true"></i>
            <span class="zone-price__name">
                {zone.name.get(lang).to_owned()} <span class="soft small num">{move || show::free_count(lang, free())}</span>
            </span>
            <b class="num">{zone.price.to_string()}</b>
        </button>
    }
}

/// A seat of the choice, with the button that takes it off.
#[component]
fn ChosenSeat(chosen: Chosen, show: StoredValue<Offer>, state: MapState) -> impl IntoView {
    let lang = use_lang();
    let Chosen { seat, place, zone } = chosen;
    let (zone_name, price) = show.with_value(|show| match show.zones.get(zone) {
        Some(zone) => (zone.name.get(lang).to_owned(), zone.price.to_string()),
        None => (String::new(), String::new()),
    });
    let label = show::take_off(lang, &place);
    view! {
        <li class="your-seat">
            <span class="your-seat__place">
                {place} <span class="soft small">" · " {zone_name}</span>
            </span>
            <span class="num">{price}</span>
            <button type="button" aria-label=label on:click=move |_| state.take_off(seat)>
                "✕"
            </button>
        </li>
    }
}

/// The total and the button; on a phone a bar at the screen's foot.
#[component]
fn Checkout(
    show: StoredValue<Offer>,
    state: MapState,
    is_open: Signal<bool>,
    is_pending: Signal<bool>,
) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let total = move || {
        state
            .chosen
            .with(|chosen| show.with_value(|show| total(show, chosen)))
    };
    let places = move || {
        let places = state.chosen.with(|chosen| {
            chosen
                .iter()
                .map(|seat| seat.place.clone())
                .collect::<Vec<_>>()
        });
        places.join(" · ")
    };
    let label = move || match is_pending.get() {
        true => text.holding.to_owned(),
        false => show::hold_button(lang, state.chosen.read().len()),
    };
    // Without seats there is nothing to send; without JavaScript the server says the same.
    let check = move |event: leptos::ev::MouseEvent| {
        if state.chosen.with_untracked(Vec::is_empty) {
            event.prevent_default();
            state.said.set(text.none_chosen.to_owned());
        }
    };
    view! {
        <div class="checkout">
            <p class="checkout__total only-script">
                <span>{text.total} " " <span class="soft small">{text.included}</span></span>
                <b class="num">{total}</b>
                <span class="checkout__places soft small">{places}</span>
            </p>
            <button
                type="submit"
                class="btn primary wide"
                disabled=move || is_pending.get() || !is_open.get()
                aria-busy=move || is_pending.get().to_string()
                on:click=check
            >
                {label}
            </button>
        </div>
    }
}

/// What the choice costs. A show has one currency, and prices are small, so the sum is there.
fn total(show: &Offer, chosen: &[Chosen]) -> Option<String> {
    let currency = show.zones.first()?.price.currency;
    let prices = chosen
        .iter()
        .filter_map(|seat| show.zones.get(seat.zone))
        .map(|zone| zone.price);
    Money::sum(currency, prices)
        .ok()
        .map(|total| total.to_string())
}
