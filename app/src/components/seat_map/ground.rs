//! What lies under the seats: the hall's areas, the tinted ground of each zone, and the names of rows and zones.

mod areas;
mod names;
mod room;

use super::render::{escape, number};
use crate::{
    domain::{
        catalogue::Zone,
        plan::geometry::{MAP_PITCH, MapLayout},
    },
    i18n::Lang,
    ports::ShowMap,
};
use std::fmt::Write;

/// How far a zone's ground reaches around its seats, in map units across.
const GROUND_WIDTH: f64 = MAP_PITCH * 1.5;
/// Seats of a row that are farther apart have an aisle between them, which is not ground, in map units.
const AISLE: f64 = MAP_PITCH * 1.8;
/// Points of a row that lie on one line up to this are left out, in map units.
const STRAIGHT: f64 = 1.0;
/// How many tints the style sheet knows.
const TINTS: usize = 8;

/// Draws everything under the seats as one picture that voices pass over.
pub fn draw(html: &mut String, map: &ShowMap, layout: &MapLayout, zones: &[Zone], lang: Lang) {
    html.push_str("<svg class=ground aria-hidden=true focusable=false viewBox=\"0 0 ");
    pair(html, (layout.width, layout.height));
    html.push_str("\">");
    for area in &map.plan.areas {
        areas::draw(html, area, layout);
    }
    draw_grounds(html, map, layout, zones.len());
    names::draw(html, map, layout, zones, lang);
    html.push_str("</svg>");
}

fn draw_text(html: &mut String, class: &str, at: (f64, f64), size: f64, text: &str) {
    html.push_str("<text class=\"");
    html.push_str(class);
    html.push_str("\" x=\"");
    number(html, at.0);
    html.push_str("\" y=\"");
    number(html, at.1);
    html.push_str("\" font-size=\"");
    number(html, size);
    html.push_str("\">");
    escape(html, text);
    html.push_str("</text>");
}

fn pair(html: &mut String, (x, y): (f64, f64)) {
    number(html, x);
    html.push(' ');
    number(html, y);
}

/// One broad line along each row of a zone: neighbouring rows flow together into the zone's ground.
fn draw_grounds(html: &mut String, map: &ShowMap, layout: &MapLayout, zones: usize) {
    let mut lines = vec![String::new(); zones];
    for row in &map.plan.rows {
        let first = usize::try_from(row.first_seat).unwrap_or(usize::MAX);
        let mut run: Vec<(f64, f64)> = Vec::new();
        let mut run_zone = None;
        for (seat, &centre) in map.plan.seats_of(row).iter().zip(layout.seats.iter().skip(first)) {
            let zone = map.zone_of_category.get(usize::from(seat.category)).copied().flatten();
            let last = run.last().copied();
            let is_next = last.is_none_or(|last| distance(last, centre) <= AISLE);
            if zone != run_zone || !is_next {
                // Grounds of side by side zones leave no gap: the one that is painted first goes on under the other.
                let shared = last.filter(|_| is_next && run_zone.is_some() && zone.is_some());
                if shared.is_some() && run_zone < zone {
                    run.push(centre);
                }
                draw_run(&mut lines, run_zone, &run);
                run.clear();
                run.extend(shared.filter(|_| zone < run_zone));
                run_zone = zone;
            }
            run.push(centre);
        }
        draw_run(&mut lines, run_zone, &run);
    }
    for (zone, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        // Writing to a string does not fail.
        let _ = write!(html, "<g class=\"zone-ground tint-{}\"><path id=z{zone} stroke-width=\"", zone % TINTS);
        number(html, GROUND_WIDTH);
        html.push_str("\" d=\"");
        html.push_str(line);
        html.push_str("\"/></g>");
    }
}

/// A veil over all seats with a hole in the shape of one zone's ground. The browser names the zone to look at it alone: one
/// element changes, however many seats there are.
pub fn draw_veil(html: &mut String, layout: &MapLayout) {
    html.push_str("<svg class=veil aria-hidden=true focusable=false viewBox=\"0 0 ");
    pair(html, (layout.width, layout.height));
    html.push_str(
        "\"><mask id=veil><rect class=veil__all width=\"100%\" height=\"100%\"/><use class=veil__hole /></mask>\
         <rect class=veil__cloth width=\"100%\" height=\"100%\" mask=\"url(#veil)\"/></svg>",
    );
}

fn draw_run(lines: &mut [String], zone: Option<u16>, run: &[(f64, f64)]) {
    let Some(line) = zone.and_then(|zone| lines.get_mut(usize::from(zone))) else { return };
    let Some((&first, rest)) = run.split_first() else { return };
    line.push('M');
    whole_pair(line, first);
    if rest.is_empty() {
        // A line of no length is a dot, as wide as the stroke.
        line.push_str("h0");
        return;
    }
    let mut kept = first;
    for (place, &point) in rest.iter().enumerate() {
        let is_bend = rest.get(place + 1).is_none_or(|&next| off_line(kept, next, point) > STRAIGHT);
        if is_bend {
            line.push('L');
            whole_pair(line, point);
            kept = point;
        }
    }
}

fn whole_pair(line: &mut String, (x, y): (f64, f64)) {
    // Writing to a string does not fail.
    let _ = write!(line, "{x:.0} {y:.0}");
}

/// How far a point lies off the line through two others.
fn off_line(from: (f64, f64), to: (f64, f64), point: (f64, f64)) -> f64 {
    let (along, across) = (to.0 - from.0, to.1 - from.1);
    let length = along.hypot(across);
    if length == 0.0 {
        return distance(from, point);
    }
    ((point.0 - from.0) * across - (point.1 - from.1) * along).abs() / length
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}
