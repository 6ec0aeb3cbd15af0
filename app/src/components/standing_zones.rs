//! Buying places without seats: each standing zone with its price, what is left of it, a number and a button.

use crate::{
    components::{
        attendee_choice::{AttendeeChoiceOfForm, People},
        offer::Offer,
        quantity_stepper::QuantityStepper,
        seat_map::MapState,
    },
    domain::{catalogue::Zone, ids::ZoneId, standing::ZoneKind},
    i18n::{show::ShowText, standing, use_lang},
};
use leptos::prelude::*;

/// What is offered first.
const QUANTITY: u32 = 2;

/// Names the form of a standing zone. Its controls stand within the form of the map, so they say whose they are.
#[must_use]
pub fn standing_form(zone: ZoneId) -> String {
    format!("standing-{zone}")
}

/// The standing zones of a show; nothing when it has none.
#[component]
pub fn StandingZones(
    /// The show.
    show: StoredValue<Offer>,
    /// What changes while the page is shown.
    state: MapState,
    /// Whom the tickets can be for.
    people: People,
    /// Whether the show can be bought at this moment.
    #[prop(into)]
    is_open: Signal<bool>,
    /// Whether a wish is on its way.
    #[prop(into)]
    is_pending: Signal<bool>,
) -> impl IntoView {
    let text = ShowText::of(use_lang());
    let (zones, limit) = show.with_value(|show| (show.zones.clone(), show.limit.max(1)));
    let zones: Vec<(usize, Zone)> = zones
        .into_iter()
        .enumerate()
        .filter(|(_, zone)| zone.kind == ZoneKind::Standing)
        .collect();
    (!zones.is_empty()).then(|| {
        let zones = zones.into_iter().map(|(place, zone)| {
            view! { <StandingZone zone place limit state people is_open is_pending /> }
        });
        view! {
            <section class="standing" aria-labelledby="standing-title">
                <h2 id="standing-title">{text.standing}</h2>
                {zones.collect_view()}
            </section>
        }
    })
}

/// One standing zone.
#[component]
fn StandingZone(
    zone: Zone,
    /// Place of the zone among the show's.
    place: usize,
    limit: u32,
    state: MapState,
    people: People,
    is_open: Signal<bool>,
    is_pending: Signal<bool>,
) -> impl IntoView {
    let lang = use_lang();
    let name = zone.name.get(lang).to_owned();
    let form = standing_form(zone.id);
    let total = zone.seats_total;
    let quantity = RwSignal::new(QUANTITY.min(limit));
    let left = move || {
        state
            .free
            .with(|free| free.get(place).copied().unwrap_or(0))
    };
    let button = move || standing::hold_places(lang, quantity.get());
    view! {
        <div class="standing-zone" role="group" aria-label=name.clone()>
            <p class="standing-zone__name">
                {name.clone()}
                <span class="soft small num" class:low=move || { standing::is_low(left(), total) }>
                    {move || standing::places_left(lang, left(), total)}
                </span>
            </p>
            <QuantityStepper form=form.clone() label=standing::places_of(lang, &name) quantity limit />
            <AttendeeChoiceOfForm people form=form.clone() />
            <b class="num">{zone.price.to_string()}</b>
            <button
                type="submit"
                form=form
                class="btn primary"
                disabled=move || is_pending.get() || !is_open.get() || left() == 0
            >
                {button}
            </button>
        </div>
    }
}
