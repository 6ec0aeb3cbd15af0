//! The hall's areas: stage, screen, doors, grounds.

use super::{
    draw_text, pair,
    room::{Frame, text_width},
};
use crate::{
    components::seat_map::render::{escape, number},
    domain::plan::{Area, AreaFrame, AreaText, geometry::MapLayout},
};

/// Area texts stay between these heights, in map units, whatever the plan's own scale.
const LETTERS_MIN: f64 = 11.0;
const LETTERS_MAX: f64 = 96.0;

/// How an area is painted, so that it fits the page in the light and in the dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    /// Not at all.
    Nothing,
    /// As ink: a screen, a stage.
    Ink,
    /// As a neutral ground.
    Paper,
    /// As a hint of its own colour.
    Tint,
    /// In its own colour, which is hardly there.
    Veil,
}

impl Paint {
    /// The paint for a colour of a plan: `#rgb` or `#rrggbb`, either with alpha, or a name, which is taken for paper.
    fn of(color: Option<&str>) -> Self {
        let Some(color) = color else {
            return Self::Nothing;
        };
        if color.eq_ignore_ascii_case("transparent") {
            return Self::Nothing;
        }
        let Some([red, green, blue, alpha]) = color.strip_prefix('#').and_then(channels) else {
            return Self::Paper;
        };
        let (darkest, brightest) = (red.min(green).min(blue), red.max(green).max(blue));
        if alpha < 128 {
            return Self::Veil;
        }
        if brightest - darkest > 40 {
            return Self::Tint;
        }
        if brightest < 110 {
            Self::Ink
        } else {
            Self::Paper
        }
    }
}

fn channels(digits: &str) -> Option<[u8; 4]> {
    let mut channels = [255; 4];
    let width = if digits.len() < 6 { 1 } else { 2 };
    for (channel, place) in channels.iter_mut().zip((0..digits.len()).step_by(width)) {
        let value = u8::from_str_radix(digits.get(place..place + width)?, 16).ok()?;
        *channel = if width == 1 { value * 17 } else { value };
    }
    Some(channels)
}

/// Draws one area with its text.
pub fn draw(html: &mut String, area: &Area, layout: &MapLayout) {
    let frame = area.frame();
    let paint = Paint::of(frame.color.as_deref());
    let is_edged = Paint::of(frame.border.as_deref()) != Paint::Nothing && paint != Paint::Ink;
    let (x, y) = layout.place(frame.x, frame.y);
    html.push_str("<g transform=\"translate(");
    pair(html, (x, y));
    html.push(')');
    if frame.rotation_deg != 0.0 {
        html.push_str(" rotate(");
        number(html, frame.rotation_deg);
        html.push(')');
    }
    html.push_str("\" class=\"area");
    html.push_str(match paint {
        Paint::Nothing => " area--empty",
        // A stage with words on it is large; in the dark, ink would glare.
        Paint::Ink if frame.text.is_some() => " area--stage",
        Paint::Ink => " area--ink",
        Paint::Paper => " area--paper",
        Paint::Tint => " area--tint",
        Paint::Veil => " area--veil",
    });
    if is_edged {
        html.push_str(" area--edged");
    }
    html.push_str("\">");
    if paint != Paint::Nothing || is_edged {
        draw_shape(html, area, frame, paint, layout);
    }
    if let Some(text) = &frame.text {
        draw_area_text(html, text, layout);
    }
    html.push_str("</g>");
}

fn draw_shape(html: &mut String, area: &Area, frame: &AreaFrame, paint: Paint, layout: &MapLayout) {
    let field = |html: &mut String, name: &str, length: f64| {
        html.push_str(name);
        number(html, layout.length(length));
        html.push('"');
    };
    match area {
        Area::Rectangle { width, height, .. } => {
            html.push_str("<rect rx=\"4\"");
            field(html, " width=\"", *width);
            field(html, " height=\"", *height);
        }
        Area::Circle { radius, .. } => {
            html.push_str("<circle");
            field(html, " r=\"", *radius);
        }
        Area::Ellipse {
            radius_x, radius_y, ..
        } => {
            html.push_str("<ellipse");
            field(html, " rx=\"", *radius_x);
            field(html, " ry=\"", *radius_y);
        }
        Area::Polygon { points, .. } => {
            html.push_str("<polygon points=\"");
            for &(x, y) in points {
                pair(html, (layout.length(x), layout.length(y)));
                html.push(' ');
            }
            html.push('"');
        }
        Area::Text { .. } => return,
    }
    if let (Paint::Tint | Paint::Veil, Some(color)) = (paint, &frame.color) {
        html.push_str(" fill=\"");
        escape(html, color);
        html.push('"');
    }
    html.push_str("/>");
}

fn draw_area_text(html: &mut String, text: &AreaText, layout: &MapLayout) {
    draw_text(
        html,
        "area__text",
        (layout.length(text.x), layout.length(text.y)),
        letters(text, layout),
        &text.text,
    );
}

/// Height of an area's letters, in map units.
fn letters(text: &AreaText, layout: &MapLayout) -> f64 {
    layout.length(text.size).clamp(LETTERS_MIN, LETTERS_MAX)
}

/// Roughly where an area's text is, if it has one; its turn is left out of account.
pub fn text_box(area: &Area, layout: &MapLayout) -> Option<Frame> {
    let frame = area.frame();
    let text = frame.text.as_ref()?;
    let size = letters(text, layout);
    let at = layout.place(frame.x + text.x, frame.y + text.y);
    Some(Frame::around(at, text_width(&text.text, size), size))
}

/// Roughly where an area is that is painted in ink, on which no other text can be read; its turn is left out of account.
pub fn ink_box(area: &Area, layout: &MapLayout) -> Option<Frame> {
    let frame = area.frame();
    if Paint::of(frame.color.as_deref()) != Paint::Ink {
        return None;
    }
    let corners = match area {
        Area::Rectangle { width, height, .. } => vec![(0.0, 0.0), (*width, *height)],
        Area::Circle { radius, .. } => vec![(-radius, -radius), (*radius, *radius)],
        Area::Ellipse {
            radius_x, radius_y, ..
        } => vec![(-radius_x, -radius_y), (*radius_x, *radius_y)],
        Area::Polygon { points, .. } => points.clone(),
        Area::Text { .. } => return None,
    };
    Frame::of(
        corners
            .into_iter()
            .map(|(x, y)| layout.place(frame.x + x, frame.y + y)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_plans_become_paints_of_the_page() {
        for (color, paint) in [
            (None, Paint::Nothing),
            (Some("transparent"), Paint::Nothing),
            (Some("#33363c"), Paint::Ink),
            (Some("#000"), Paint::Ink),
            (Some("#cccccc"), Paint::Paper),
            (Some("white"), Paint::Paper),
            (Some("#8d8f9524"), Paint::Veil),
            (Some("#8f6cc9"), Paint::Tint),
        ] {
            assert_eq!(Paint::of(color), paint, "{color:?}");
        }
    }
}
