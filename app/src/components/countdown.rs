//! The time that seats are still held, as a ring with the clock time beside it.

use crate::{
    domain::time::{Millis, VenueTime},
    i18n::{
        order::{OrderText, held_until},
        time::{machine, remaining},
        use_lang,
        zone::zone_name,
    },
};
use leptos::prelude::*;

/// Below this the customer is warned, in seconds.
const SOON_S: i64 = 120;

/// What is said about the time, each once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warning {
    None,
    Soon,
    Over,
}

impl Warning {
    fn at(left_s: i64) -> Self {
        match left_s {
            ..=0 => Self::Over,
            1..SOON_S => Self::Soon,
            _ => Self::None,
        }
    }
}

/// Counts down to the end of a hold. Voices hear of it twice: two minutes before the end, and at the end.
#[component]
pub fn Countdown(
    /// When the hold ends.
    expires: VenueTime,
    /// How long it is in all, in seconds.
    total_s: i64,
    /// What is left of it, in whole seconds.
    #[prop(into)]
    left_s: Signal<i64>,
) -> impl IntoView {
    let lang = use_lang();
    let text = OrderText::of(lang);
    let warning = Memo::new(move |_| Warning::at(left_s.get()));
    let words = move || match warning.get() {
        Warning::None => "",
        Warning::Soon => text.soon_over,
        Warning::Over => text.time_over,
    };
    // The circle is 100 long; what has passed is left out of it.
    let passed = move || {
        (100 - left_s.get().max(0) * 100 / total_s.max(1))
            .clamp(0, 100)
            .to_string()
    };
    view! {
        <div class="card padded deadline">
            <div class="ring" class:soon=move || warning.get() != Warning::None>
                <svg viewBox="0 0 84 84" aria-hidden="true">
                    <circle cx="42" cy="42" r="38" />
                    <circle class="left" cx="42" cy="42" r="38" pathLength="100" stroke-dashoffset=passed />
                </svg>
                <span class="ring__time" role="timer">
                    {move || remaining(Millis::seconds(left_s.get()))}
                </span>
            </div>
            <div>
                <h2><time class="num" datetime=machine(&expires)>{held_until(lang, &expires)}</time></h2>
                <p class="small soft">{zone_name(lang, &expires)} " · " {text.go_back_on_sale}</p>
                <p class="small deadline__warning" role="status">{words}</p>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_comes_with_the_last_two_minutes_and_ends_with_the_time() {
        assert!(Warning::at(120) == Warning::None);
        assert!(Warning::at(119) == Warning::Soon);
        assert!(Warning::at(1) == Warning::Soon);
        assert!(Warning::at(0) == Warning::Over);
    }
}
