//! The frame around the map.

use super::map_state::{Link, MapFacts, MapLoad, MapState};
use crate::i18n::{show::ShowText, use_lang};
use leptos::{html, prelude::*};

/// The map with its legend, the buttons that size it, and what it has to say.
#[component]
pub fn SeatMap(
    /// The map as the server wrote it; empty in the browser, which finds it in the page or asks for it.
    html: String,
    /// What is fixed while the page is shown.
    facts: MapFacts,
    /// What changes while the page is shown.
    state: MapState,
) -> impl IntoView {
    let text = ShowText::of(use_lang());
    let root = NodeRef::<html::Div>::new();
    take_over(root, facts, state);
    let link_word = move || match state.link.get() {
        Link::Live => "",
        Link::Retrying => text.retrying,
        Link::Offline => text.no_connection,
    };
    let is_behind = move || state.link.get() != Link::Live;
    let is_saying = move || !state.said.read().is_empty();
    view! {
        <div class="map" node_ref=root>
            <div class="map__seats" inner_html=html></div>
            <MapWait load=state.load />
            <div class="map__zoom" role="group" aria-label=text.zoom>
                <button type="button" data-zoom="in" aria-label=text.zoom_in title=text.zoom_in>"+"</button>
                <button type="button" data-zoom="out" aria-label=text.zoom_out title=text.zoom_out>"−"</button>
                <button type="button" data-zoom="fit" aria-label=text.zoom_fit title=text.zoom_fit>"⤢"</button>
            </div>
            <p class="map__said" role="status" class:shown=is_saying>{state.said}</p>
            <p class="map__link" role="status" class:shown=is_behind>{link_word}</p>
        </div>
    }
}

/// What stands in the map's place while the browser waits for one that the server could not put into the page.
#[component]
fn MapWait(load: RwSignal<MapLoad>) -> impl IntoView {
    let text = ShowText::of(use_lang());
    move || match load.get() {
        MapLoad::Ready => None,
        MapLoad::Loading => Some(view! { <p class="map__wait">{text.loading_map}</p> }.into_any()),
        MapLoad::Failed => Some(
            view! {
                <p class="map__wait" role="alert">
                    {text.map_failed}
                    " "
                    <a href="" rel="external">{text.try_again}</a>
                </p>
            }
            .into_any(),
        ),
    }
}

/// In the browser the map's controller takes over once the map is in the page.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
fn take_over(root: NodeRef<html::Div>, facts: MapFacts, state: MapState) {
    super::controller::start(root, facts, state, use_lang());
}

#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
fn take_over(_root: NodeRef<html::Div>, _facts: MapFacts, _state: MapState) {}
