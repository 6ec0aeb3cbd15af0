//! What the seats look like.

use crate::i18n::{show::ShowText, use_lang};
use leptos::prelude::*;

/// One line for each look. The style sheet hides kinds that the hall does not have.
#[component]
pub fn Legend() -> impl IntoView {
    let text = ShowText::of(use_lang());
    let looks = [
        ("available", text.free),
        ("mine", text.yours),
        ("locked", text.held_by_others),
        ("sold", text.sold),
        ("blocked", text.withheld),
        ("wheelchair", text.wheelchair),
        ("companion", text.companion),
        ("couple", text.couple),
    ];
    view! {
        <ul class="map__legend" aria-label=text.legend>
            {looks
                .map(|(look, word)| {
                    view! {
                        <li data-look=look>
                            <i aria-hidden="true"></i>
                            {word}
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
}
