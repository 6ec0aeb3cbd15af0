//! Takes the map over in the browser: one listener for the whole map, and changes only where something changed.

mod dom;
mod gestures;
mod keys;
mod listeners;
mod poll;
mod taking;

use super::{
    choice::write_choice,
    grid::{self, Spot},
    map_state::{Chosen, Lost, MapFacts, MapState},
    name,
};
use crate::{
    components::address,
    domain::{
        ids::SeatIndex,
        seat::{SeatMap, SeatState},
    },
    i18n::{Lang, show},
};
use gloo_timers::future::TimeoutFuture;
use leptos::{html, prelude::*};
use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
};
use web_sys::{Event, HtmlElement, HtmlInputElement, wasm_bindgen::JsCast};

/// Rows that are read before the browser may do something else.
const ROWS_AT_ONCE: u32 = 16;

/// Everything the map's events need. It lives as long as the page's map.
struct Controller {
    /// The part of the page that scrolls.
    window: HtmlElement,
    /// What the seats stand on.
    plane: HtmlElement,
    facts: MapFacts,
    state: MapState,
    lang: Lang,
    /// For each zone, what a seat's name has between place and state.
    middles: Vec<String>,
    seats: RefCell<SeatMap>,
    /// Where the seats are; read from the page when it is first needed.
    spots: OnceCell<Vec<Spot>>,
    is_reading: Cell<bool>,
    /// The seat that the keyboard comes back to.
    rover: Cell<Option<SeatIndex>>,
    /// Whether the reader's last act was with a pointer.
    by_pointer: Cell<bool>,
    /// How much larger the map is than the page lays it out.
    scale: Cell<f64>,
    gesture: RefCell<gestures::Gesture>,
    poller: poll::Poller,
}

/// Starts the controller as soon as the map is in the page, and ends it with the component that calls this.
pub fn start(root: NodeRef<html::Div>, facts: MapFacts, state: MapState, lang: Lang) {
    let running = StoredValue::new_local(None);
    Effect::new(move |_| {
        let Some(root) = root.get() else { return };
        let facts = facts.clone();
        leptos::task::spawn_local(async move {
            let Some(controller) = taking::take_over(&root, facts, state, lang).await else {
                return;
            };
            let listeners = listeners::listen(&root, &controller);
            // When the page has been left meanwhile, the listeners are dropped here and so end.
            let _ = running.try_update_value(move |running| *running = Some(listeners));
            controller.poll_now();
        });
    });
    follow_choice(state);
    follow_zone(root, state);
    follow_refusals(state, running);
}

/// Keeps the ticks on the map and the page's address as the choice is.
fn follow_choice(state: MapState) {
    Effect::new(move |before: Option<Vec<SeatIndex>>| {
        let now: Vec<SeatIndex> = state
            .chosen
            .with(|chosen| chosen.iter().map(|seat| seat.seat).collect());
        let Some(before) = before else { return now };
        if before == now {
            return now;
        }
        for seat in before.iter().filter(|seat| !now.contains(seat)) {
            dom::tick(*seat, false);
        }
        for seat in now.iter().filter(|seat| !before.contains(seat)) {
            dom::tick(*seat, true);
        }
        let path = address::path();
        let address = if now.is_empty() {
            path
        } else {
            format!("{path}?seats={}", write_choice(now.iter().copied()))
        };
        address::replace(&address);
        now
    });
}

/// Veils the zones that are not looked at.
fn follow_zone(root: NodeRef<html::Div>, state: MapState) {
    Effect::new(move |_| {
        let only = state.only.get();
        let Some(root) = root.get() else { return };
        let (Some(plane), Some(hole)) = (dom::plane(&root), dom::hole(&root)) else {
            return;
        };
        match only {
            Some(zone) => {
                dom::set(&hole, "href", &format!("#z{zone}"));
                dom::set(&plane, "data-only", "");
            }
            None => dom::unset(&plane, "data-only"),
        }
    });
}

/// After a refusal, takes seats off the choice that are taken, without waiting for the next poll to say so.
fn follow_refusals(
    state: MapState,
    running: StoredValue<Option<listeners::Listeners>, LocalStorage>,
) {
    Effect::new(move |_| {
        let Some(refused) = state.refused.get() else {
            return;
        };
        running.with_value(|running| {
            if let Some(listeners) = running {
                listeners.controller().lose_taken(&refused);
                listeners.controller().poll_now();
            }
        });
    });
}

impl Controller {
    /// What can be done with a seat, as far as the page knows.
    fn seat_state(&self, seat: SeatIndex) -> SeatState {
        self.seats.borrow().state(seat)
    }

    /// A tick was set or taken away.
    fn on_tick(&self, input: &HtmlInputElement) {
        let Some(seat) = dom::seat_of(input) else {
            return;
        };
        if !input.checked() {
            self.state.take_off(seat);
            self.say(String::new());
            return;
        }
        let owned = self.facts.mine.len();
        let limit = usize::try_from(self.facts.limit).unwrap_or(usize::MAX);
        if self.state.chosen.with_untracked(Vec::len) + owned >= limit {
            input.set_checked(false);
            let owned = u32::try_from(owned).unwrap_or(u32::MAX);
            self.say(show::limit_reached(self.lang, self.facts.limit, owned));
            return;
        }
        self.say(String::new());
        if !self.state.lost.with_untracked(Vec::is_empty) {
            self.state.lost.set(Vec::new());
        }
        let chosen = self.describe(seat, input);
        self.state.chosen.update(|seats| seats.push(chosen));
    }

    fn say(&self, words: String) {
        if self.state.said.with_untracked(|said| *said != words) {
            self.state.said.set(words);
        }
    }

    /// A seat with its name and zone, as the page has them.
    fn describe(&self, seat: SeatIndex, input: &HtmlInputElement) -> Chosen {
        let zone = dom::zone_of(input).unwrap_or_default();
        let name = dom::name_of(input);
        let middle = self.middles.get(zone).map_or("", String::as_str);
        Chosen {
            seat,
            place: name::place(&name, middle).to_owned(),
            zone,
        }
    }

    /// Shows a seat as it now is.
    fn show_seat(&self, seat: SeatIndex, state: SeatState) {
        let Some(input) = dom::seat(seat) else { return };
        let is_mine = self.facts.mine.contains(&seat) && state != SeatState::Available;
        let had_focus = state != SeatState::Available && dom::has_focus(&input);
        dom::show_state(&input, state, is_mine);
        dom::set(
            &input,
            "aria-label",
            &name::with_state(self.lang, &dom::name_of(&input), state, is_mine),
        );
        if had_focus {
            // A seat that can't be chosen can't have the focus either.
            self.focus_near(seat);
        }
    }

    fn focus_near(&self, seat: SeatIndex) {
        let is_free = |seat| self.seat_state(seat) == SeatState::Available;
        match grid::neighbour(self.spots(), seat, is_free).and_then(dom::seat) {
            Some(input) => dom::focus(&input),
            None => dom::focus(&self.window),
        }
    }

    /// Takes seats off the choice that the server named as taken, or that the page has seen taken meanwhile.
    fn lose_taken(&self, named: &[SeatIndex]) {
        let chosen = self.state.chosen.get_untracked();
        let is_taken = |seat: &SeatIndex| {
            named.contains(seat) || self.seat_state(*seat) != SeatState::Available
        };
        let taken: Vec<SeatIndex> = chosen
            .iter()
            .map(|chosen| chosen.seat)
            .filter(is_taken)
            .collect();
        self.lose(&taken);
    }

    /// Takes seats off the choice that went to somebody else, names them, and offers what is free beside them.
    fn lose(&self, seats: &[SeatIndex]) {
        let (gone, kept): (Vec<_>, Vec<_>) = self
            .state
            .chosen
            .get_untracked()
            .into_iter()
            .partition(|chosen| seats.contains(&chosen.seat));
        if gone.is_empty() {
            return;
        }
        let mut passed: Vec<SeatIndex> =
            kept.iter().chain(&gone).map(|chosen| chosen.seat).collect();
        let lost = gone.into_iter().map(|gone| {
            let instead = self.offer(gone.seat, gone.zone, &passed);
            passed.extend(instead.as_ref().map(|offer| offer.seat));
            Lost {
                place: gone.place,
                instead,
            }
        });
        let lost = lost.collect();
        self.state.chosen.set(kept);
        self.state.lost.set(lost);
    }

    /// The nearest free seat, of the same zone if there is one.
    fn offer(&self, near: SeatIndex, zone: usize, passed: &[SeatIndex]) -> Option<Chosen> {
        let is_free =
            |seat| self.seat_state(seat) == SeatState::Available && !passed.contains(&seat);
        let is_of_zone =
            |seat| dom::seat(seat).and_then(|input| dom::zone_of(&input)) == Some(zone);
        let seat = grid::neighbour(self.spots(), near, |seat| is_free(seat) && is_of_zone(seat))
            .or_else(|| grid::neighbour(self.spots(), near, is_free))?;
        Some(self.describe(seat, &dom::seat(seat)?))
    }

    /// Where the seats are, in the order of their numbers.
    fn spots(&self) -> &[Spot] {
        self.spots.get_or_init(|| {
            let rows = (0..).zip(dom::rows(&self.plane));
            rows.flat_map(|(row, element)| {
                grid::read_row(&element.inner_html(), row).collect::<Vec<_>>()
            })
            .collect()
        })
    }

    /// Reads where the seats are, a few rows at a time, before the first arrow key asks for it all at once.
    fn read_spots_ahead(self: &Rc<Self>) {
        if self.spots.get().is_some() || self.is_reading.replace(true) {
            return;
        }
        let controller = Rc::clone(self);
        leptos::task::spawn_local(async move {
            let mut spots = Vec::new();
            for (row, element) in (0..).zip(dom::rows(&controller.plane)) {
                if row % ROWS_AT_ONCE == 0 {
                    TimeoutFuture::new(0).await;
                }
                spots.extend(grid::read_row(&element.inner_html(), row));
            }
            // An arrow key that came first has read them already.
            let _ = controller.spots.set(spots);
        });
    }

    fn on_event(self: &Rc<Self>, event: &Event) {
        match event.type_().as_str() {
            "change" => {
                if let Some(input) = event.target().and_then(|target| target.dyn_into().ok()) {
                    self.on_tick(&input);
                }
            }
            "click" => self.on_click(event),
            "keydown" => self.on_key(event.unchecked_ref()),
            "focusin" => self.on_focus(event.unchecked_ref()),
            "visibilitychange" | "online" | "offline" => self.on_connection(),
            _ => self.on_gesture(event),
        }
    }
}
