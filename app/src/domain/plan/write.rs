//! Writing a plan in the pretix format.
//!
//! Zones and rows are written at the origin and everything in them with its absolute position, so that no sum of
//! coordinates is rounded on the way there and back. Zones that follow each other with one name become one.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Area, AreaFrame, Plan, PlanRow, PlanSeat, RowLabel, SEAT_RADIUS_DEFAULT};

/// A label's pattern is sought among this many places of the number at most.
const PATTERN_PLACES_MAX: usize = 6;

pub(super) fn write(plan: &Plan) -> String {
    let mut out = String::new();
    let categories = plan
        .categories
        .iter()
        .map(|category| match &category.color {
            Some(color) => json!({"name": category.name, "color": color}),
            None => json!({"name": category.name}),
        });
    let zones = plan.rows.chunk_by(|a, b| a.section == b.section);
    let zones = zones.enumerate().map(|(index, rows)| {
        let areas = if index == 0 {
            plan.areas.as_slice()
        } else {
            &[]
        };
        zone(plan, rows, areas)
    });
    let size = json!({"width": number(plan.width), "height": number(plan.height)});
    let name = Value::from(plan.name.as_str());
    let categories = lines("  ", categories.map(|category| category.to_string()));
    let zones = lines("  ", zones);
    let written = writeln!(
        out,
        "{{\n \"name\": {name},\n \"categories\": [{categories}\n ],\n \"zones\": [{zones}\n ],\n \"size\": {size}\n}}"
    );
    debug_assert!(written.is_ok(), "a String takes whatever is written");
    out
}

fn zone(plan: &Plan, rows: &[PlanRow], areas: &[Area]) -> String {
    let name = Value::from(rows.first().map_or("", |row| row.section.as_str()));
    let rows = lines("    ", rows.iter().map(|row| row_text(plan, row)));
    let areas = lines(
        "    ",
        areas.iter().map(|area| area_value(area).to_string()),
    );
    let position = point(0.0, 0.0);
    format!(
        "{{\"name\": {name}, \"position\": {position},\n   \"rows\": [{rows}\n   ],\n   \"areas\": [{areas}\n   ]}}"
    )
}

fn row_text(plan: &Plan, row: &PlanRow) -> String {
    let seats = plan.seats_of(row);
    let name = Value::from(row.name.as_str());
    let position = point(0.0, 0.0);
    let label_at = match row.label_at {
        RowLabel::None => "",
        RowLabel::Start => ", \"row_number_position\": \"start\"",
        RowLabel::End => ", \"row_number_position\": \"end\"",
        RowLabel::Both => ", \"row_number_position\": \"both\"",
    };
    let label = label_pattern(seats).map_or(String::new(), |p| {
        format!(", \"seat_label\": {}", Value::from(p))
    });
    let seats = lines(
        "      ",
        seats.iter().map(|seat| seat_value(plan, seat).to_string()),
    );
    format!(
        "{{\"row_number\": {name}{label_at}{label}, \"position\": {position},\n     \"seats\": [{seats}\n     ]}}"
    )
}

fn seat_value(plan: &Plan, seat: &PlanSeat) -> Value {
    let category = plan.categories.get(usize::from(seat.category));
    let mut value = json!({
        "seat_guid": seat.guid,
        "seat_number": seat.number,
        "position": point(seat.x, seat.y),
        "category": category.map_or("", |category| category.name.as_str()),
    });
    if seat.radius.to_bits() != SEAT_RADIUS_DEFAULT.to_bits() {
        value["radius"] = number(seat.radius);
    }
    value
}

fn area_value(area: &Area) -> Value {
    match area {
        Area::Rectangle {
            frame,
            width,
            height,
        } => {
            let size = json!({"width": number(*width), "height": number(*height)});
            framed("rectangle", frame, Some(size))
        }
        Area::Circle { frame, radius } => {
            framed("circle", frame, Some(json!({"radius": number(*radius)})))
        }
        Area::Ellipse {
            frame,
            radius_x,
            radius_y,
        } => framed(
            "ellipse",
            frame,
            Some(json!({"radius": point(*radius_x, *radius_y)})),
        ),
        Area::Polygon { frame, points } => {
            let points: Vec<Value> = points.iter().map(|(x, y)| point(*x, *y)).collect();
            framed("polygon", frame, Some(json!({"points": points})))
        }
        Area::Text { frame } => framed("text", frame, None),
    }
}

fn framed(shape: &str, frame: &AreaFrame, content: Option<Value>) -> Value {
    let mut value = json!({
        "shape": shape,
        "position": point(frame.x, frame.y),
        "rotation": number(frame.rotation_deg),
    });
    if let Some(color) = &frame.color {
        value["color"] = Value::from(color.as_str());
    }
    if let Some(border) = &frame.border {
        value["border_color"] = Value::from(border.as_str());
    }
    if let Some(content) = content {
        value[shape] = content;
    }
    if let Some(text) = &frame.text {
        let at = point(text.x, text.y);
        value["text"] = json!({"text": text.text, "position": at, "size": number(text.size)});
        if let Some(color) = &text.color {
            value["text"]["color"] = Value::from(color.as_str());
        }
    }
    value
}

/// The pattern that makes the labels of a row of its numbers, `%s` standing for the number. A row that was read has
/// one; where a number stands in the label more than once, each choice of places is tried on all seats.
fn label_pattern(seats: &[PlanSeat]) -> Option<String> {
    let longest = seats.iter().max_by_key(|seat| seat.number.len())?;
    let label = longest.label.as_deref()?;
    let parts: Vec<&str> = match longest.number.as_str() {
        "" => vec![label],
        number => label.split(number).collect(),
    };
    let places = (parts.len() - 1).min(PATTERN_PLACES_MAX);
    let mut patterns = (0..1_usize << places).rev().map(|chosen| {
        let mut pattern = String::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                let is_chosen = index > places || chosen >> (index - 1) & 1 == 1;
                pattern.push_str(if is_chosen { "%s" } else { &longest.number });
            }
            pattern.push_str(part);
        }
        pattern
    });
    patterns.find(|pattern| {
        seats
            .iter()
            .all(|seat| seat.label.as_deref() == Some(pattern.replace("%s", &seat.number).as_str()))
    })
}

fn point(x: f64, y: f64) -> Value {
    json!({"x": number(x), "y": number(y)})
}

/// Whole numbers without a decimal point, as the format's schema wants them.
fn number(value: f64) -> Value {
    value
        .to_string()
        .parse::<i64>()
        .map_or_else(|_| Value::from(value), Value::from)
}

/// Items of a list, each on a line of its own.
fn lines(indent: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n{indent}{item}")).collect();
    items.join(",")
}
