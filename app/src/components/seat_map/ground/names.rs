//! The names of rows and zones.

use super::{
    areas, draw_text,
    room::{Frame, Room, text_width},
};
use crate::{
    domain::{
        catalogue::Zone,
        plan::{
            PlanRow, RowLabel,
            geometry::{MAP_PITCH, MapLayout},
        },
    },
    i18n::Lang,
    ports::ShowMap,
};

/// Height of the letters of rows, in map units.
const ROW_LETTERS: f64 = 14.0;
/// Height of the letters of zones, in map units.
const ZONE_LETTERS: f64 = 16.0;

/// Draws the names where there is room for them.
pub fn draw(html: &mut String, map: &ShowMap, layout: &MapLayout, zones: &[Zone], lang: Lang) {
    let texts = map.plan.areas.iter().filter_map(|area| areas::text_box(area, layout)).collect();
    let mut room = Room { texts };
    for row in &map.plan.rows {
        draw_row_name(html, row, layout, &mut room);
    }
    draw_zone_names(html, map, layout, zones, lang, &mut room);
}

/// A row's name beyond its ends. A plan that says nowhere has it at the start, where there is room.
fn draw_row_name(html: &mut String, row: &PlanRow, layout: &MapLayout, room: &mut Room) {
    let first = usize::try_from(row.first_seat).unwrap_or(usize::MAX);
    let count = usize::try_from(row.seat_count).unwrap_or(0);
    let Some(seats) = layout.seats.get(first..first.saturating_add(count)).filter(|seats| !seats.is_empty()) else {
        return;
    };
    if row.name.is_empty() {
        return;
    }
    let start = beyond(seats[0], seats.get(1).copied(), -1.0);
    let end = beyond(seats[count - 1], count.checked_sub(2).map(|place| seats[place]), 1.0);
    let (places, must): (&[_], _) = match row.label_at {
        RowLabel::None => (&[start], false),
        RowLabel::Start => (&[start], true),
        RowLabel::End => (&[end], true),
        RowLabel::Both => (&[start, end], true),
    };
    for &place in places {
        let text_box = Frame::around(place, text_width(&row.name, ROW_LETTERS), ROW_LETTERS);
        if must || room.is_free(&text_box, layout) {
            draw_text(html, "row-name", place, ROW_LETTERS, &row.name);
            room.texts.push(text_box);
        }
    }
}

/// One pitch beyond a row's end, away from the seat next to it; a lone seat is taken for one of a level row.
fn beyond(end: (f64, f64), next: Option<(f64, f64)>, lone_sign: f64) -> (f64, f64) {
    let (dx, dy) = next.map_or((lone_sign, 0.0), |next| (end.0 - next.0, end.1 - next.1));
    let length = dx.hypot(dy);
    if length == 0.0 {
        return (end.0 + lone_sign * MAP_PITCH, end.1);
    }
    (end.0 + dx / length * MAP_PITCH, end.1 + dy / length * MAP_PITCH)
}

/// A zone's name above, below or beside its seats, where there is room; the list beside the map has it in any case.
fn draw_zone_names(
    html: &mut String,
    map: &ShowMap,
    layout: &MapLayout,
    zones: &[Zone],
    lang: Lang,
    room: &mut Room,
) {
    for (place, zone) in zones.iter().enumerate() {
        let is_of_zone = |category: u16| {
            let zone = map.zone_of_category.get(usize::from(category)).copied().flatten();
            zone.is_some_and(|zone| usize::from(zone) == place)
        };
        let seats = map.plan.seats.iter().zip(&layout.seats);
        let centres = seats.filter(|(seat, _)| is_of_zone(seat.category)).map(|(_, &centre)| centre);
        let Some(extent) = Frame::of(centres) else { continue };
        let name = zone.name.get(lang);
        let width = text_width(name, ZONE_LETTERS);
        let middle = (extent.left + extent.right) / 2.0;
        let free = [
            (middle, extent.top - MAP_PITCH),
            (middle, extent.bottom + MAP_PITCH),
            (extent.left - MAP_PITCH * 1.5 - width / 2.0, extent.top),
            (extent.right + MAP_PITCH * 1.5 + width / 2.0, extent.top),
        ];
        let free = free.into_iter().map(|at| (at, Frame::around(at, width, ZONE_LETTERS)));
        if let Some((at, text_box)) = free.into_iter().find(|(_, text_box)| room.is_free(text_box, layout)) {
            draw_text(html, "zone-name", at, ZONE_LETTERS, name);
            room.texts.push(text_box);
        }
    }
}
