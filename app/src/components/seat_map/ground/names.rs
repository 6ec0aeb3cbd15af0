//! The names of rows and zones.

use super::{
    areas, draw_text,
    room::{Frame, Room, text_width},
};
use crate::{
    domain::{
        catalogue::Zone,
        plan::{
            PlanRow, RowLabel, SeatKind,
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
    let areas = map.plan.areas.iter();
    let taken =
        areas.flat_map(|area| [areas::text_box(area, layout), areas::ink_box(area, layout)]);
    let mut room = Room {
        taken: taken.flatten().collect(),
    };
    for row in &map.plan.rows {
        draw_row_name(html, row, layout, &mut room);
    }
    draw_zone_names(html, map, layout, zones, lang, &mut room);
}

/// A row's name beyond its ends. A plan that says nowhere has it at the start, where there is room.
fn draw_row_name(html: &mut String, row: &PlanRow, layout: &MapLayout, room: &mut Room) {
    let first = usize::try_from(row.first_seat).unwrap_or(usize::MAX);
    let count = usize::try_from(row.seat_count).unwrap_or(0);
    let Some(seats) = layout
        .seats
        .get(first..first.saturating_add(count))
        .filter(|seats| !seats.is_empty())
    else {
        return;
    };
    if row.name.is_empty() {
        return;
    }
    let start = beyond(seats[0], seats.get(1).copied(), -1.0);
    let end = beyond(
        seats[count - 1],
        count.checked_sub(2).map(|place| seats[place]),
        1.0,
    );
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
            room.taken.push(text_box);
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
    (
        end.0 + dx / length * MAP_PITCH,
        end.1 + dy / length * MAP_PITCH,
    )
}

/// A zone's name beside one of its seats, where there is room; the list beside the map has it in any case. Zones of nothing
/// but wheelchair and companion places are scattered by nature and told by their seats.
fn draw_zone_names(
    html: &mut String,
    map: &ShowMap,
    layout: &MapLayout,
    zones: &[Zone],
    lang: Lang,
    room: &mut Room,
) {
    for (place, zone) in zones.iter().enumerate() {
        let centres = centres_of_zone(map, layout, place);
        let Some(extent) = Frame::of(centres.iter().copied()) else {
            continue;
        };
        let middle = (extent.left + extent.right) / 2.0;
        let seat_near = |x: f64, y: f64| {
            let distance = |seat: &&(f64, f64)| (seat.0 - x).hypot(seat.1 - y);
            let nearest = centres
                .iter()
                .min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.copied().unwrap_or((x, y))
        };
        let name = zone.name.get(lang);
        let width = text_width(name, ZONE_LETTERS);
        let (top, bottom) = (
            seat_near(middle, extent.top),
            seat_near(middle, extent.bottom),
        );
        let beside = MAP_PITCH * 1.5 + width / 2.0;
        let (left, right) = (
            seat_near(extent.left, extent.top),
            seat_near(extent.right, extent.top),
        );
        let free = [
            (top.0, top.1 - MAP_PITCH),
            (bottom.0, bottom.1 + MAP_PITCH),
            (left.0 - beside, left.1),
            (right.0 + beside, right.1),
        ];
        let free = free
            .into_iter()
            .map(|at| (at, Frame::around(at, width, ZONE_LETTERS)));
        if let Some((at, text_box)) = free
            .into_iter()
            .find(|(_, text_box)| room.is_free(text_box, layout))
        {
            draw_text(html, "zone-name", at, ZONE_LETTERS, name);
            room.taken.push(text_box);
        }
    }
}

/// Where a zone's seats are; nowhere when it has only wheelchair and companion places.
fn centres_of_zone(map: &ShowMap, layout: &MapLayout, place: usize) -> Vec<(f64, f64)> {
    let zone_of = |category: u16| {
        map.zone_of_category
            .get(usize::from(category))
            .copied()
            .flatten()
            .map(usize::from)
    };
    let seats = map
        .plan
        .seats
        .iter()
        .zip(&layout.seats)
        .filter(|(seat, _)| zone_of(seat.category) == Some(place));
    let is_named = |kind: SeatKind| matches!(kind, SeatKind::Standard | SeatKind::Couple);
    match seats.clone().any(|(seat, _)| is_named(seat.kind)) {
        true => seats.map(|(_, &centre)| centre).collect(),
        false => Vec::new(),
    }
}
