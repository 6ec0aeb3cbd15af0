//! Buying without choosing: a price category, a number, and one button.

use crate::{
    domain::catalogue::{ShowPage, Zone},
    i18n::{show, show::ShowText, use_lang},
};
use leptos::{ev, prelude::*};

/// Names the form that the controls belong to. They stand within the form of the map, so they say whose they are.
pub const BEST_FORM: &str = "best";
/// What is offered first.
const QUANTITY: u32 = 2;

/// Zone, number and button. The steps need JavaScript, the rest does not.
#[component]
pub fn ChooseForMe(
    /// The show.
    show: StoredValue<ShowPage>,
    /// Whether the show can be bought at this moment.
    #[prop(into)]
    is_open: Signal<bool>,
    /// Whether a wish is on its way.
    #[prop(into)]
    is_pending: Signal<bool>,
) -> impl IntoView {
    let lang = use_lang();
    let text = ShowText::of(lang);
    let (zones, limit) = show.with_value(|show| (show.zones.clone(), show.limit.max(1)));
    let quantity = RwSignal::new(QUANTITY.min(limit));
    let typed = move |event: ev::Event| {
        if let Ok(wanted) = event_target_value(&event).parse::<u32>() {
            quantity.set(wanted.clamp(1, limit));
        }
    };
    let label = move || show::choose_button(lang, quantity.get());
    view! {
        <section class="best" aria-labelledby="best-title">
            <div class="best__words">
                <h2 id="best-title">{text.choose_for_me}</h2>
                <p class="soft small">{text.best_together}</p>
            </div>
            <div class="stepper">
                <button
                    type="button"
                    class="only-script"
                    aria-label=text.fewer
                    disabled=move || { quantity.get() <= 1 }
                    on:click=move |_| quantity.update(|count| *count = count.saturating_sub(1).max(1))
                >
                    "−"
                </button>
                <input
                    class="num"
                    type="number"
                    form=BEST_FORM
                    name="quantity"
                    min="1"
                    max=limit.to_string()
                    value=quantity.get_untracked().to_string()
                    prop:value=move || quantity.get().to_string()
                    inputmode="numeric"
                    aria-label=text.quantity
                    on:change=typed
                />
                <button
                    type="button"
                    class="only-script"
                    aria-label=text.more
                    disabled=move || { quantity.get() >= limit }
                    on:click=move |_| quantity.update(|count| *count = (*count + 1).min(limit))
                >
                    "+"
                </button>
            </div>
            <select class="best__zone" name="zone" form=BEST_FORM aria-label=text.zone>
                {zones.into_iter().map(|zone| view! { <ZoneOption zone /> }).collect_view()}
            </select>
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
