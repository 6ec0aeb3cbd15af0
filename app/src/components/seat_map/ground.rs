//! What lies under the seats: the hall's areas, the tinted ground of each zone, and the names of rows and zones.

mod areas;
mod names;
mod room;

use super::{
    TINTS,
    render::{escape, number},
};
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
/// How wide the hole in the veil is along a row: a seat, and not the row behind it, in map units.
const HOLE_WIDTH: f64 = MAP_PITCH * 0.94;

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
    let mut grounds = vec![Ground::default(); zones];
    for row in &map.plan.rows {
        let first = usize::try_from(row.first_seat).unwrap_or(usize::MAX);
        let mut run: Vec<(f64, f64)> = Vec::new();
        let mut run_zone = None;
        for (seat, &centre) in map
            .plan
            .seats_of(row)
            .iter()
            .zip(layout.seats.iter().skip(first))
        {
            let zone = map
                .zone_of_category
                .get(usize::from(seat.category))
                .copied()
                .flatten();
            let last = run.last().copied();
            let beside = last.filter(|&last| distance(last, centre) <= AISLE);
            if zone != run_zone || (last.is_some() && beside.is_none()) {
                draw_run(&mut grounds, run_zone, &run);
                join(&mut grounds, (run_zone, zone), beside, centre);
                run.clear();
                run_zone = zone;
            }
            run.push(centre);
        }
        draw_run(&mut grounds, run_zone, &run);
    }
    for (zone, ground) in grounds
        .iter()
        .enumerate()
        .filter(|(_, ground)| !ground.rows.is_empty())
    {
        // Writing to a string does not fail.
        let _ = write!(
            html,
            "<g class=\"zone-ground tint-{}\" stroke-width=\"",
            zone % TINTS
        );
        number(html, GROUND_WIDTH);
        let _ = write!(html, "\"><path id=z{zone} d=\"{}\"/>", ground.rows);
        if !ground.joints.is_empty() {
            let _ = write!(html, "<path d=\"{}\"/>", ground.joints);
        }
        html.push_str("</g>");
    }
}

/// The lines that make a zone's ground.
#[derive(Clone, Default)]
struct Ground {
    /// Along its rows.
    rows: String,
    /// Towards zones beside it in a row, so that no gap is left between the two grounds.
    joints: String,
}

/// Joins the grounds of zones side by side in a row: the one that is painted first goes on under the other.
fn join(
    grounds: &mut [Ground],
    (zone, next_zone): (Option<u16>, Option<u16>),
    last: Option<(f64, f64)>,
    next: (f64, f64),
) {
    let (Some(zone), Some(next_zone), Some(last)) = (zone, next_zone, last) else {
        return;
    };
    if let Some(ground) = grounds.get_mut(usize::from(zone.min(next_zone)))
        && zone != next_zone
    {
        ground.joints.push('M');
        whole_pair(&mut ground.joints, last);
        ground.joints.push('L');
        whole_pair(&mut ground.joints, next);
    }
}

/// A veil over all seats with a hole in the shape of one zone's ground. The browser names the zone to look at it alone: one
/// element changes, however many seats there are.
pub fn draw_veil(html: &mut String, layout: &MapLayout) {
    html.push_str("<svg class=veil aria-hidden=true focusable=false viewBox=\"0 0 ");
    pair(html, (layout.width, layout.height));
    html.push_str("\"><mask id=veil><rect class=veil__all width=\"100%\" height=\"100%\"/><use class=veil__hole stroke-width=\"");
    number(html, HOLE_WIDTH);
    html.push_str(
        "\"/></mask><rect class=veil__cloth width=\"100%\" height=\"100%\" mask=\"url(#veil)\"/></svg>",
    );
}

fn draw_run(grounds: &mut [Ground], zone: Option<u16>, run: &[(f64, f64)]) {
    let Some(ground) = zone.and_then(|zone| grounds.get_mut(usize::from(zone))) else {
        return;
    };
    let line = &mut ground.rows;
    let Some((&first, rest)) = run.split_first() else {
        return;
    };
    line.push('M');
    whole_pair(line, first);
    if rest.is_empty() {
        // A line of no length is a dot, as wide as the stroke.
        line.push_str("h0");
        return;
    }
    let mut kept = first;
    for (place, &point) in rest.iter().enumerate() {
        let is_bend = rest
            .get(place + 1)
            .is_none_or(|&next| off_line(kept, next, point) > STRAIGHT);
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
