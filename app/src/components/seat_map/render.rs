//! The map as HTML, written by the server.
//!
//! Two ways lead here. The show page renders the map into itself; a browser that comes to the page without loading it asks
//! for `GET /shows/{id}/map?lang=zh-CN`, which the server answers with [`seats_html`] of nobody's seats (`Own::default()`,
//! `Content-Type: text/html; charset=utf-8`); the browser then marks its reader's seats itself.
//!
//! Names and places don't change while a show is sold, so they are written once ([`Skeleton`]) and kept; a page then costs
//! little more than copying them.

use super::{ground, legend};
use crate::{
    domain::{
        catalogue::{ShowPage, Zone},
        ids::SeatIndex,
        order::SeatLabel,
        plan::{
            Plan, PlanRow, PlanSeat, SeatKind,
            geometry::{self, MAP_PITCH, MapLayout},
        },
        seat::SeatState,
    },
    i18n::{
        Lang, seats,
        show::{self, ShowText},
    },
    ports::ShowMap,
};
use std::{
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// What of the map is the reader's.
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// Seats that were chosen before, on this page or before signing in. Only those that are free are ticked.
    pub chosen: Vec<SeatIndex>,
    /// Seats that the reader's orders hold or own.
    pub held: Vec<SeatIndex>,
}

/// Most bytes of skeletons that are kept.
const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Couple seats within this many pitches of each other are drawn as one bench.
const BENCH_PITCHES_MAX: f64 = 1.4;

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
    seats.iter().filter_map(seat).map(|seat| place(seat, has_sections, lang)).collect()
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
    usize::try_from(show.limit).unwrap_or(usize::MAX).saturating_sub(own.held.len())
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
        let size = self.text.len() + self.seats.len() * TAIL_BYTES + map.seats.bits.len() * 2 + HEAD_BYTES;
        let mut html = String::with_capacity(size);
        html.push_str(&self.text[..self.head_end]);
        whole_map_attributes(&mut html, map, &self.free_by_zone(map));
        let mut written = self.head_end;
        let mut ticks = 0;
        for seat in &self.seats {
            let state = seat.state(map);
            let is_chosen = state == SeatState::Available && ticks < ticks_max && own.chosen.contains(&seat.number);
            ticks += usize::from(is_chosen);
            html.push_str(&self.text[written..seat.text_end]);
            tail(&mut html, self.lang, state, is_chosen, own.held.contains(&seat.number));
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

/// Writes rows of seats.
struct SeatWriter<'a> {
    plan: &'a Plan,
    layout: &'a MapLayout,
    zone_of_category: &'a [Option<u16>],
    zones: &'a [Zone],
    has_sections: bool,
    lang: Lang,
}

impl SeatWriter<'_> {
    fn row(&self, skeleton: &mut Skeleton, row: &PlanRow) {
        let section = if self.has_sections { row.section.as_str() } else { "" };
        let name = show::row_name(self.lang, section, &row.name);
        skeleton.text.push_str("<div role=row");
        if !name.is_empty() {
            skeleton.text.push_str(" aria-label=\"");
            escape(&mut skeleton.text, &name);
            skeleton.text.push('"');
        }
        skeleton.text.push('>');
        let seats = self.plan.seats_of(row);
        let benches = self.benches(row, seats);
        for ((number, seat), bench) in (row.first_seat..).map(SeatIndex).zip(seats).zip(benches) {
            self.seat(skeleton, number, seat, bench);
        }
        skeleton.text.push_str("</div>");
    }

    /// One seat up to where its state belongs.
    fn seat(&self, skeleton: &mut Skeleton, number_in_plan: SeatIndex, seat: &PlanSeat, bench: Bench) {
        let text = &mut skeleton.text;
        let zone = self.zone_of_category.get(usize::from(seat.category)).copied().flatten();
        text.push_str("<span class=seat role=gridcell");
        self.position(text, number_in_plan, bench);
        // Writing to a string does not fail.
        let _ = write!(text, "><input type=checkbox name=seats[] id=s{0} value={0}", number_in_plan.0);
        if let Some(zone) = zone {
            let _ = write!(text, " data-zone={zone}");
        }
        text.push_str(bench.attribute());
        text.push_str(kind_attribute(seat.kind));
        text.push_str(" aria-label=\"");
        escape(text, &place(seat, self.has_sections, self.lang));
        match zone.and_then(|zone| self.zones.get(usize::from(zone))) {
            Some(zone) => escape(text, &show::name_middle(self.lang, zone.name.get(self.lang), zone.price)),
            None => text.push_str(show::separator(self.lang)),
        }
        let text_end = text.len();
        skeleton.seats.push(SeatText { number: number_in_plan, zone, text_end });
    }

    /// Where a seat is, in percent of the map's width: how far its corner is down and to the right. The halves of a bench
    /// are wider, so that they meet.
    fn position(&self, text: &mut String, seat: SeatIndex, bench: Bench) {
        let percent = |length: f64| length / self.layout.width * 100.0;
        let (x, y) = self.centre(seat);
        let side = self.layout.seat_size;
        let (left, right) = match bench {
            Bench::None => (x - side / 2.0, x + side / 2.0),
            Bench::Left(meet) => (x - side / 2.0, meet),
            Bench::Right(meet) => (meet, x + side / 2.0),
        };
        text.push_str(" style=\"margin:");
        number(text, percent(y - side / 2.0));
        text.push_str("% 0 0 ");
        number(text, percent(left));
        text.push('%');
        if bench != Bench::None {
            text.push_str(";width:");
            number(text, percent(right - left));
            text.push_str("%;aspect-ratio:");
            number(text, (right - left) / side);
        }
        text.push('"');
    }

    /// Which seats of a row make a bench: couple seats side by side, two and two.
    fn benches(&self, row: &PlanRow, seats: &[PlanSeat]) -> Vec<Bench> {
        let mut benches = vec![Bench::None; seats.len()];
        let mut place = 0;
        while place + 1 < seats.len() {
            let is_couple = |seat: &PlanSeat| seat.kind == SeatKind::Couple;
            let number = u32::try_from(place).map_or(u32::MAX, |place| row.first_seat.saturating_add(place));
            let (one, other) = (self.centre(SeatIndex(number)), self.centre(SeatIndex(number.saturating_add(1))));
            let is_near = (one.0 - other.0).hypot(one.1 - other.1) <= MAP_PITCH * BENCH_PITCHES_MAX;
            let is_level = (one.1 - other.1).abs() < self.layout.seat_size / 4.0;
            if is_couple(&seats[place]) && is_couple(&seats[place + 1]) && is_near && is_level {
                let halves = (Bench::Left((one.0 + other.0) / 2.0), Bench::Right((one.0 + other.0) / 2.0));
                let (first, second) = if one.0 < other.0 { halves } else { (halves.1, halves.0) };
                (benches[place], benches[place + 1]) = (first, second);
                place += 1;
            }
            place += 1;
        }
        benches
    }

    fn centre(&self, seat: SeatIndex) -> (f64, f64) {
        let place = usize::try_from(seat.0).ok().and_then(|place| self.layout.seats.get(place));
        place.copied().unwrap_or_default()
    }
}

/// The side of a bench that a seat is, and where the two sides meet, in map units.
#[derive(Clone, Copy, PartialEq)]
enum Bench {
    None,
    Left(f64),
    Right(f64),
}

impl Bench {
    fn attribute(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Left(_) => " data-bench=left",
            Self::Right(_) => " data-bench=right",
        }
    }
}

fn kind_attribute(kind: SeatKind) -> &'static str {
    match kind {
        SeatKind::Standard => "",
        SeatKind::Wheelchair => " data-kind=wheelchair",
        SeatKind::Companion => " data-kind=companion",
        SeatKind::Couple => " data-kind=couple",
    }
}

fn place(seat: &PlanSeat, has_sections: bool, lang: Lang) -> String {
    let section = if has_sections { seat.section.clone() } else { String::new() };
    let label = SeatLabel { section, row: seat.row.clone(), number: seat.number.clone() };
    show::place_with_kind(lang, seats::seat(lang, &label), seat.kind)
}

/// Text as a part of HTML, in an element or in a quoted attribute.
pub(super) fn escape(html: &mut String, text: &str) {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        html.push_str(&text[written..at]);
        html.push_str(entity);
        written = at + 1;
    }
    html.push_str(&text[written..]);
}

/// A number with at most two decimals and no zeros at its end.
pub(super) fn number(html: &mut String, value: f64) {
    let start = html.len();
    // Writing to a string does not fail.
    let _ = write!(html, "{value:.2}");
    let kept = html[start..].trim_end_matches('0').trim_end_matches('.').len();
    html.truncate(start + kept);
}

/// A skeleton and what it was made from.
struct Kept {
    plan: Arc<Plan>,
    zone_of_category: Arc<[Option<u16>]>,
    zones: Vec<Zone>,
    skeleton: Arc<Skeleton>,
}

impl Kept {
    /// Whether the skeleton is of this map, in this language, with these names and prices.
    fn is_of(&self, map: &ShowMap, show: &ShowPage, lang: Lang) -> bool {
        let same_zone = |(a, b): (&Zone, &Zone)| a.name == b.name && a.price == b.price;
        self.skeleton.lang == lang
            && Arc::ptr_eq(&self.plan, &map.plan)
            && self.zone_of_category == map.zone_of_category
            && self.zones.len() == show.zones.len()
            && self.zones.iter().zip(&show.zones).all(same_zone)
    }
}

/// The newest skeletons, the last used one at the end.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn skeleton(map: &ShowMap, show: &ShowPage, lang: Lang) -> Arc<Skeleton> {
    let find = |kept: &mut Vec<Kept>| {
        let place = kept.iter().position(|kept| kept.is_of(map, show, lang))?;
        let found = kept.remove(place);
        let skeleton = Arc::clone(&found.skeleton);
        kept.push(found);
        Some(skeleton)
    };
    if let Some(skeleton) = find(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner)) {
        return skeleton;
    }
    // Not under the lock: a large hall takes milliseconds.
    let skeleton = Arc::new(Skeleton::new(map, show, lang));
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(Kept {
        plan: Arc::clone(&map.plan),
        zone_of_category: Arc::clone(&map.zone_of_category),
        zones: show.zones.clone(),
        skeleton: Arc::clone(&skeleton),
    });
    let mut bytes: usize = kept.iter().map(|kept| kept.skeleton.text.len()).sum();
    while bytes > KEPT_BYTES_MAX && kept.len() > 1 {
        bytes -= kept.remove(0).skeleton.text.len();
    }
    skeleton
}
