//! The map's elements. What fails here fails only for names that are no attribute names, and those below are.

use crate::domain::{ids::SeatIndex, seat::SeatState};
use leptos::prelude::document;
use web_sys::{Element, HtmlElement, HtmlInputElement, wasm_bindgen::JsCast};

/// What the seats stand on, once it is in the page.
pub fn plane(root: &Element) -> Option<HtmlElement> {
    find(root, ".plane")
}

/// The hole in the veil.
pub fn hole(root: &Element) -> Option<Element> {
    root.query_selector(".veil__hole").ok()?
}

/// The first element that a selector finds.
pub fn find(root: &Element, selector: &str) -> Option<HtmlElement> {
    root.query_selector(selector).ok()??.dyn_into().ok()
}

/// A seat's element.
pub fn seat(seat: SeatIndex) -> Option<HtmlInputElement> {
    document()
        .get_element_by_id(&format!("s{seat}"))?
        .dyn_into()
        .ok()
}

/// The seat of an element, if it is one.
pub fn seat_of(input: &HtmlInputElement) -> Option<SeatIndex> {
    input.id().strip_prefix('s')?.parse().ok().map(SeatIndex)
}

/// Place of a seat's zone among the show's.
pub fn zone_of(input: &HtmlInputElement) -> Option<usize> {
    input.get_attribute("data-zone")?.parse().ok()
}

/// A seat's accessible name.
pub fn name_of(input: &HtmlInputElement) -> String {
    input.get_attribute("aria-label").unwrap_or_default()
}

/// Sets an attribute.
pub fn set(element: &Element, name: &str, value: &str) {
    let _ = element.set_attribute(name, value);
}

/// Takes an attribute away.
pub fn unset(element: &Element, name: &str) {
    let _ = element.remove_attribute(name);
}

/// Sets a seat's tick.
pub fn tick(number: SeatIndex, is_chosen: bool) {
    if let Some(input) = seat(number) {
        input.set_checked(is_chosen);
    }
}

/// Shows a seat's state.
pub fn show_state(input: &HtmlInputElement, state: SeatState, is_mine: bool) {
    let word = match state {
        SeatState::Available => "available",
        SeatState::Locked => "locked",
        SeatState::Sold => "sold",
        SeatState::Blocked => "blocked",
    };
    set(input, "data-state", word);
    input.set_disabled(state != SeatState::Available);
    if is_mine {
        set(input, "data-mine", "");
    } else {
        unset(input, "data-mine");
    }
}

/// Whether the keyboard is on an element.
pub fn has_focus(element: &Element) -> bool {
    document()
        .active_element()
        .is_some_and(|active| active == *element)
}

/// Moves the keyboard to an element; one that can't have it is left alone.
pub fn focus(element: &HtmlElement) {
    let _ = element.focus();
}

/// The rows of a map, from top to bottom of the page.
pub fn rows(plane: &HtmlElement) -> Vec<Element> {
    let children = plane.children();
    let rows = (0..children.length()).filter_map(|place| children.item(place));
    rows.filter(|row| row.tag_name() == "DIV").collect()
}
