//! Taking over a map that the server wrote, be it in the page already or still to be asked for.

use super::{
    Controller, dom,
    gestures::Gesture,
    poll::{self, Poller},
};
use crate::{
    components::seat_map::{
        map_state::{Chosen, Lost, MapFacts, MapLoad, MapState},
        zones,
    },
    domain::{
        ids::SeatIndex,
        seat::{MapVersion, SeatMap, SeatState},
    },
    i18n::{Lang, show},
};
use leptos::prelude::*;
use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement, HtmlInputElement, wasm_bindgen::JsCast};

/// Takes over the map in `root`; nothing when it can't be had, which the page then says.
pub async fn take_over(
    root: &Element,
    facts: MapFacts,
    state: MapState,
    lang: Lang,
) -> Option<Rc<Controller>> {
    let (plane, is_fresh) = match dom::plane(root) {
        Some(plane) => (plane, false),
        None => (ask_for_map(root, &facts, state, lang).await?, true),
    };
    let window = dom::find(root, ".map__window")?;
    let controller = Rc::new(new_controller(window, plane, facts, state, lang));
    if let Some(free) = controller.plane.get_attribute("data-free") {
        let mut free = zones::read_counts(&free);
        let zones = &controller.facts.zones;
        zones::put_standing(&mut free, zones, |zone| Some(zone.seats_free));
        state.free.set(free);
    }
    if is_fresh {
        controller.mark_own();
    }
    controller.read_ticks();
    controller.centre();
    Some(controller)
}

fn new_controller(
    window: HtmlElement,
    plane: HtmlElement,
    facts: MapFacts,
    state: MapState,
    lang: Lang,
) -> Controller {
    let middles = facts
        .zones
        .iter()
        .map(|zone| show::name_middle(lang, zone.name.get(lang), zone.price));
    Controller {
        middles: middles.collect(),
        seats: RefCell::new(read_states(&plane)),
        window,
        plane,
        facts,
        state,
        lang,
        spots: OnceCell::new(),
        is_reading: Cell::new(false),
        rover: Cell::new(None),
        by_pointer: Cell::new(false),
        scale: Cell::new(1.0),
        gesture: RefCell::new(Gesture::None),
        poller: Poller::default(),
    }
}

/// A page that the server had to send without the map has none yet.
async fn ask_for_map(
    root: &Element,
    facts: &MapFacts,
    state: MapState,
    lang: Lang,
) -> Option<HtmlElement> {
    state.load.set(MapLoad::Loading);
    let html = match poll::fetch(&format!("/shows/{}/map?lang={}", facts.show_id, lang.tag())).await
    {
        Some(response) => text(&response).await,
        None => None,
    };
    let seats = dom::find(root, ".map__seats");
    // The page may have been left meanwhile; its signals are gone then.
    let (Some(html), Some(seats), true) = (html, seats, root.is_connected()) else {
        let _ = state.load.try_set(MapLoad::Failed);
        return None;
    };
    seats.set_inner_html(&html);
    state.load.set(MapLoad::Ready);
    dom::plane(root)
}

async fn text(response: &web_sys::Response) -> Option<String> {
    JsFuture::from(response.text().ok()?)
        .await
        .ok()?
        .as_string()
}

/// Every seat's state, as the server wrote it beside the map.
fn read_states(plane: &HtmlElement) -> SeatMap {
    let attribute = |name| plane.get_attribute(name).unwrap_or_default();
    let hex = attribute("data-bits");
    let byte = |place| {
        hex.get(place..place + 2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
    };
    SeatMap {
        at: MapVersion::from_query(&attribute("data-version")).unwrap_or_default(),
        seats: attribute("data-seats").parse().unwrap_or_default(),
        bits: (0..hex.len()).step_by(2).map_while(byte).collect(),
    }
}

impl Controller {
    /// Marks the reader's seats on a map that was written for everybody, and ticks what the address asks for.
    fn mark_own(&self) {
        for &seat in &self.facts.mine {
            self.show_seat(seat, self.seat_state(seat));
        }
        let mut lost = Vec::new();
        for &seat in &self.facts.wanted {
            let Some(input) = dom::seat(seat) else {
                continue;
            };
            if self.seat_state(seat) == SeatState::Available {
                input.set_checked(true);
            } else if !self.facts.mine.contains(&seat) {
                lost.push(Lost {
                    place: self.describe(seat, &input).place,
                    instead: None,
                });
            }
        }
        if !lost.is_empty() {
            self.state.lost.set(lost);
        }
    }

    /// Takes in what is ticked: by the server, or by a reader who was faster than this.
    fn read_ticks(&self) {
        let Ok(ticked) = self.plane.query_selector_all("input:checked") else {
            return;
        };
        let limit = usize::try_from(self.facts.limit)
            .unwrap_or(usize::MAX)
            .saturating_sub(self.facts.mine.len());
        let inputs = (0..ticked.length())
            .filter_map(|place| ticked.item(place)?.dyn_into::<HtmlInputElement>().ok());
        let mut chosen: Vec<Chosen> = Vec::new();
        for input in inputs {
            let seat: Option<SeatIndex> = dom::seat_of(&input);
            match seat.filter(|_| chosen.len() < limit) {
                Some(seat) => chosen.push(self.describe(seat, &input)),
                None => input.set_checked(false),
            }
        }
        if !chosen.is_empty() {
            self.state.chosen.set(chosen);
        }
    }
}
