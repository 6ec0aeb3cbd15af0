//! Where there is room for a text.

use crate::domain::plan::geometry::MapLayout;

/// About how wide a text is: letters of the wide scripts count double.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|letter| if u32::from(letter) > 0x2e80 { 1.0 } else { 0.6 })
        .sum::<f64>()
        * size
}

/// A box on the map.
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Frame {
    /// The box of a size about a point.
    pub fn around((x, y): (f64, f64), width: f64, height: f64) -> Self {
        Self {
            left: x - width / 2.0,
            top: y - height / 2.0,
            right: x + width / 2.0,
            bottom: y + height / 2.0,
        }
    }

    /// The box that holds some points; none without points.
    pub fn of(points: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        points.fold(None, |known: Option<Self>, (x, y)| {
            Some(match known {
                None => Self {
                    left: x,
                    top: y,
                    right: x,
                    bottom: y,
                },
                Some(b) => Self {
                    left: b.left.min(x),
                    top: b.top.min(y),
                    right: b.right.max(x),
                    bottom: b.bottom.max(y),
                },
            })
        })
    }

    fn touches(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// What a text may not cover.
pub struct Room {
    /// Other texts, the stage and the screen.
    pub taken: Vec<Frame>,
}

impl Room {
    /// Whether a text of this extent would cover no seat and no other text.
    pub fn is_free(&self, text: &Frame, layout: &MapLayout) -> bool {
        let is_inside = text.left >= 0.0
            && text.top >= 0.0
            && text.right <= layout.width
            && text.bottom <= layout.height;
        let seat = |&centre: &(f64, f64)| Frame::around(centre, layout.seat_size, layout.seat_size);
        is_inside
            && !self.taken.iter().any(|other| other.touches(text))
            && !layout.seats.iter().any(|centre| seat(centre).touches(text))
    }
}
