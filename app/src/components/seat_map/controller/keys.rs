//! The keyboard on the map, after the ARIA grid pattern: the map is one stop of the Tab key, arrows move over its seats, Home
//! and End go to the ends of the row, Space and Enter choose.
//!
//! Without JavaScript every seat is a stop of its own, so the page must not say otherwise; here Tab leaves the map through
//! the unseen edges before and after it.

use super::{Controller, dom};
use crate::{
    components::seat_map::grid::{self, Arrow},
    domain::{ids::SeatIndex, seat::SeatState},
};
use std::rc::Rc;
use web_sys::{FocusEvent, HtmlInputElement, KeyboardEvent, Node, wasm_bindgen::JsCast};

impl Controller {
    pub(super) fn on_key(&self, event: &KeyboardEvent) {
        self.by_pointer.set(false);
        let Some((input, seat)) = self.seat_at(event.target()) else {
            return;
        };
        let key = event.key();
        if key == "Tab" {
            let edge = if event.shift_key() {
                "[data-edge=start]"
            } else {
                "[data-edge=end]"
            };
            if let Some(edge) = dom::find(&self.window, edge) {
                // Not prevented: the browser goes on from the edge to the next stop.
                dom::focus(&edge);
            }
            return;
        }
        if key == "Enter" {
            // Enter in a form would send it.
            event.prevent_default();
            input.click();
            return;
        }
        if let Some(target) = self.key_target(&key, seat) {
            event.prevent_default();
            if let Some(input) = target.and_then(dom::seat) {
                dom::focus(&input);
            }
        }
    }

    /// Where a key leads: nothing for keys that mean nothing here, nowhere at the map's edge.
    fn key_target(&self, key: &str, from: SeatIndex) -> Option<Option<SeatIndex>> {
        let is_free = |seat| self.seat_state(seat) == SeatState::Available;
        let arrow = match key {
            "ArrowLeft" => Arrow::Left,
            "ArrowRight" => Arrow::Right,
            "ArrowUp" => Arrow::Up,
            "ArrowDown" => Arrow::Down,
            "Home" => return Some(grid::row_end(self.spots(), from, Arrow::Left, is_free)),
            "End" => return Some(grid::row_end(self.spots(), from, Arrow::Right, is_free)),
            _ => return None,
        };
        Some(grid::step(self.spots(), from, arrow, is_free))
    }

    /// Coming to the map by Tab leads to the seat that the keyboard was on before, not to the first or last of all.
    pub(super) fn on_focus(self: &Rc<Self>, event: &FocusEvent) {
        let Some((_, seat)) = self.seat_at(event.target()) else {
            return;
        };
        self.read_spots_ahead();
        let from = event
            .related_target()
            .and_then(|from| from.dyn_into::<Node>().ok());
        let is_from_outside = !from.is_some_and(|from| self.plane.contains(Some(&from)));
        if is_from_outside
            && !self.by_pointer.get()
            && let Some(rover) = self.rover.get().filter(|rover| *rover != seat)
            && self.seat_state(rover) == SeatState::Available
            && let Some(input) = dom::seat(rover)
        {
            dom::focus(&input);
            return;
        }
        self.rover.set(Some(seat));
    }

    fn seat_at(
        &self,
        target: Option<web_sys::EventTarget>,
    ) -> Option<(HtmlInputElement, SeatIndex)> {
        let input: HtmlInputElement = target?.dyn_into().ok()?;
        let seat = dom::seat_of(&input)?;
        Some((input, seat))
    }
}
