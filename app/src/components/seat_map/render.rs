//! The map as HTML, written by the server.
//!
//! Two ways lead here. The show page renders the map into itself; a browser whose page had to be sent without it asks
//! for `GET /shows/{id}/map?lang=zh-CN`, which the server answers with [`seats_html`] of nobody's seats (`Own::default()`,
//! `Content-Type: text/html; charset=utf-8`); the browser then marks its reader's seats itself.
//!
//! Names and places don't change while a show is sold, so they are written once ([`Skeleton`]) and kept; a page then costs
//! little more than copying them.

mod kept;
mod rows;
mod text;

pub(super) use text::{escape, number};

use super::{ground, legend};
use crate::{
    domain::{
        catalogue::ShowPage,
        ids::SeatIndex,
        order::SeatLabel,
        plan::{
            Plan, PlanSeat,
            geometry::{self, MapLayout},
        },
        seat::SeatState,
    },
    i18n::{
        Lang, seats,
        show::{self, ShowText},
    },
    ports::ShowMap,
};
use kept::skeleton;
use rows::SeatWriter;
use std::fmt::Write;

/// What of the map is the reader's.
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// Seats that were chosen before, on this page or before signing in. Only those that are free are ticked.
    pub chosen: Vec<SeatIndex>,
    /// Seats that the reader's orders hold or own.
    pub held: Vec<SeatIndex>,
}

/// The map of a show: ground, seats, and the version that the browser's polls start from.
///
/// All text of the plan and the show is escaped.
#[must_use]
pub fn seats_html(map: &ShowMap, show: &ShowPage, lang: Lang, own: &Own) -> String {
    skeleton(map, show, lang).html(map, own, ticks_max(show, own))
}

/// The names of seats, for telling which were lost.
#[must_use]
pub fn places(map: &ShowMap, lang: Lang, seats: &[SeatIndex]) -> Vec<String> {
    let has_sections = map.plan.sections().len() > 1;
    let seat = |seat: &SeatIndex| map.plan.seats.get(usize::try_from(seat.0).ok()?);
    seats
        .iter()
        .filter_map(seat)
        .map(|seat| place(seat, has_sections, lang))
        .collect()
}

/// Chosen seats that can't be had any more and are not the reader's own.
#[must_use]
pub fn lost(map: &ShowMap, own: &Own) -> Vec<SeatIndex> {
    let is_lost = |seat: &&SeatIndex| {
        map.seats.state(**seat) != SeatState::Available && !own.held.contains(seat)
    };
    own.chosen.iter().filter(is_lost).copied().collect()
}

/// How many seats may still be ticked for a reader.
fn ticks_max(show: &ShowPage, own: &Own) -> usize {
    usize::try_from(show.limit)
        .unwrap_or(usize::MAX)
        .saturating_sub(own.held.len())
}

/// Everything of a map that does not depend on who is sitting where.
struct Skeleton {
    /// The whole text without the parts that depend on states.
    text: String,
    /// Where in `text` the attributes of the whole map belong.
    head_end: usize,
    seats: Vec<SeatText>,
    zones: usize,
    lang: Lang,
}

impl Skeleton {
    fn new(map: &ShowMap, show: &ShowPage, lang: Lang) -> Self {
        let plan = &*map.plan;
        let layout = geometry::layout(plan);
        let mut skeleton = Self {
            text: head(plan, &layout, lang),
            head_end: 0,
            seats: Vec::with_capacity(plan.seats.len()),
            zones: show.zones.len(),
            lang,
        };
        skeleton.head_end = skeleton.text.len();
        skeleton.text.push('>');
        ground::draw(&mut skeleton.text, map, &layout, &show.zones, lang);
        let writer = SeatWriter {
            plan,
            layout: &layout,
            zone_of_category: &map.zone_of_category,
            zones: &show.zones,
            has_sections: plan.sections().len() > 1,
            lang,
        };
        for row in plan.rows.iter().filter(|row| row.seat_count > 0) {
            writer.row(&mut skeleton, row);
        }
        foot(&mut skeleton.text, plan, &layout, lang);
        skeleton
    }

    /// The map with every seat's state.
    fn html(&self, map: &ShowMap, own: &Own, ticks_max: usize) -> String {
        const TAIL_BYTES: usize = 64;
        const HEAD_BYTES: usize = 256;
        let size =
            self.text.len() + self.seats.len() * TAIL_BYTES + map.seats.bits.len() * 2 + HEAD_BYTES;
        let mut html = String::with_capacity(size);
        html.push_str(&self.text[..self.head_end]);
        whole_map_attributes(&mut html, map, &self.free_by_zone(map));
        let mut written = self.head_end;
        let mut ticks = 0;
        for seat in &self.seats {
            let state = seat.state(map);
            let is_chosen = state == SeatState::Available
                && ticks < ticks_max
                && own.chosen.contains(&seat.number);
            ticks += usize::from(is_chosen);
            html.push_str(&self.text[written..seat.text_end]);
            tail(
                &mut html,
                self.lang,
                state,
                is_chosen,
                own.held.contains(&seat.number),
            );
            written = seat.text_end;
        }
        html.push_str(&self.text[written..]);
        html
    }

    fn free_by_zone(&self, map: &ShowMap) -> Vec<u32> {
        let mut free = vec![0; self.zones];
        for seat in &self.seats {
            if let Some(count) = seat.zone.and_then(|zone| free.get_mut(usize::from(zone)))
                && seat.state(map) == SeatState::Available
            {
                *count += 1;
            }
        }
        free
    }
}

/// A seat in a skeleton.
struct SeatText {
    number: SeatIndex,
    /// Place of its zone among the show's; a seat without one is not for sale.
    zone: Option<u16>,
    /// Where in the text its state belongs.
    text_end: usize,
}

impl SeatText {
    fn state(&self, map: &ShowMap) -> SeatState {
        match self.zone {
            Some(_) => map.seats.state(self.number),
            None => SeatState::Blocked,
        }
    }
}

/// The attributes of a seat that follow its state, and the end of its element. The name's last part comes first.
fn tail(html: &mut String, lang: Lang, state: SeatState, is_chosen: bool, is_mine: bool) {
    html.push_str(show::state_word(lang, state, is_mine));
    html.push_str("\" data-state=");
    html.push_str(state_name(state));
    if state != SeatState::Available {
        html.push_str(" disabled");
    }
    if is_chosen {
        html.push_str(" checked");
    }
    if is_mine {
        html.push_str(" data-mine");
    }
    html.push_str("></span>");
}

/// A state as the style sheet and the browser know it.
fn state_name(state: SeatState) -> &'static str {
    match state {
        SeatState::Available => "available",
        SeatState::Locked => "locked",
        SeatState::Sold => "sold",
        SeatState::Blocked => "blocked",
    }
}

/// The window that the map scrolls in and the start of the map. The keyboard leaves the map over the edges.
fn head(plan: &Plan, layout: &MapLayout, lang: Lang) -> String {
    let mut text = String::with_capacity(plan.seats.len() * 160);
    let name = ShowText::of(lang).seat_map;
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "<div class=map__window tabindex=0 role=group aria-label=\"{name}\">\
         <span class=map__edge tabindex=-1 data-edge=start></span>\
         <div class=plane role=grid aria-label=\"{name}\" style=\"--w:"
    );
    number(&mut text, layout.width);
    text.push_str(";--h:");
    number(&mut text, layout.height);
    text.push_str(";--side:");
    number(&mut text, layout.seat_size);
    text.push('"');
    text
}

/// The ends of the map and its window, and what the seats look like.
fn foot(text: &mut String, plan: &Plan, layout: &MapLayout, lang: Lang) {
    ground::draw_veil(text, layout);
    text.push_str("</div><span class=map__edge tabindex=-1 data-edge=end></span></div>");
    legend::write(text, plan, lang);
}

/// What the browser's controller starts from: version, free seats by zone, and every state in hexadecimal.
fn whole_map_attributes(html: &mut String, map: &ShowMap, free: &[u32]) {
    let free: Vec<String> = free.iter().map(u32::to_string).collect();
    // Writing to a string does not fail.
    let _ = write!(
        html,
        " data-version={} data-seats={} data-free=\"{}\" data-bits=\"",
        map.seats.at.to_query(),
        map.seats.seats,
        free.join(",")
    );
    for byte in &map.seats.bits {
        let _ = write!(html, "{byte:02x}");
    }
    html.push('"');
}

fn place(seat: &PlanSeat, has_sections: bool, lang: Lang) -> String {
    let section = if has_sections {
        seat.section.clone()
    } else {
        String::new()
    };
    let label = SeatLabel {
        section,
        row: seat.row.clone(),
        number: seat.number.clone(),
    };
    show::place_with_kind(lang, seats::seat(lang, &label), seat.kind)
}
