//! Buying without choosing: a price category, a number, and one button.

use crate::{
    components::{
        attendee_choice::{AttendeeChoiceOfForm, People},
        offer::Offer,
        quantity_stepper::QuantityStepper,
    },
    domain::{catalogue::Zone, standing::ZoneKind},
    i18n::{show, show::ShowText, use_lang},
};
use leptos::prelude::*;

/// Names the form that the controls belong to. They stand within the form of the map, so they say whose they are.
pub const BEST_FORM: &str = "best";
/// What is offered first.
const QUANTITY: u32 = 2;

/// Zone, number and button. Standing zones are bought beside it: nobody chooses there.
#[component]
pub fn ChooseForMe(
    /// The show.
    show: StoredValue<Offer>,
    /// Whom the tickets can be for.
    people: People,
    /// Whether the show can be bought at this moment.
    #[prop(into)]
    is_open: Signal<bool>,
    /// Whether a wish is on its way.
    #[prop(into)]
    is_pending: Signal<bool>,
) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let (mut zones, limit) = show.with_value(|show| (show.zones.clone(), show.limit.max(1)));
    zones.retain(|zone| zone.kind == ZoneKind::Seated);
    let quantity = RwSignal::new(QUANTITY.min(limit));
    let label = move || show::choose_button(lang, quantity.get());
    view! {
        <section class="best" aria-labelledby="best-title">
            <div class="best__words">
                <h2 id="best-title">{text.choose_for_me}</h2>
                <p class="soft small">{text.best_together}</p>
            </div>
            <QuantityStepper form=BEST_FORM label=text.quantity quantity limit />
            <select class="best__zone" name="zone" form=BEST_FORM aria-label=text.zone>
                {zones.into_iter().map(|zone| view! { <ZoneOption zone /> }).collect_view()}
            </select>
            <AttendeeChoiceOfForm people form=BEST_FORM />
            <button
                type="submit"
                form=BEST_FORM
                class="btn quiet wide"
                disabled=move || is_pending.get() || !is_open.get()
            >
                {label}
            </button>
        </section>
    }
}

/// A zone with its price.
#[component]
fn ZoneOption(zone: Zone) -> impl IntoView {
    let words = format!("{} · {}", zone.name.get(use_lang()), zone.price);
    view! { <option value=zone.id.to_string()>{words}</option> }
}
