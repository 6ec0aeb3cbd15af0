//! Seating plans in the pretix seating plan JSON format: what a hall looks like and where each seat is.
//!
//! [`Plan::parse`] reads a file and names every fault with its place; [`Plan::to_json`] writes the same format, and
//! reading what was written gives an equal plan. Positions are in the plan's own units (usually pixels), x to the
//! right and y down; [`geometry`] turns them into units a map can draw.
//!
//! **Invariant:** a seat's index in [`Plan::seats`] is its number everywhere else (bitmap, claims). It follows from the
//! order of zones, rows and seats in the file alone, so one file always gives the same numbers.

mod color;
mod fault;
pub mod geometry;
mod neighbours;
mod read;
mod seat_kind;
mod source;
mod write;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use fault::{JsonType, PlanFault, PlanFaultKind};

/// The largest file that is read, in bytes.
pub const PLAN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most seats one plan may have.
pub const PLAN_SEATS_MAX: usize = 60_000;
/// The most categories one plan may have; each is priced by hand, so more is a mistake.
pub const PLAN_CATEGORIES_MAX: usize = 1_000;
/// The longest name of a plan, seat_guid or seat_label, in characters: what the database's columns hold.
pub const PLAN_NAME_CHARS_MAX: usize = 190;
/// The longest name of a category, in characters: zones of shows are found by it (`show_zone.category`).
pub const PLAN_CATEGORY_CHARS_MAX: usize = 120;
/// The longest name of a zone, in characters: it is written on tickets (`order_item.section`).
pub const PLAN_SECTION_CHARS_MAX: usize = 120;
/// The longest row_number and seat_number, in characters: both are written on tickets (`order_item.seat_row` and
/// `order_item.seat_number`).
pub const PLAN_PLACE_CHARS_MAX: usize = 40;
/// The longest text written on an area, in characters.
pub const PLAN_AREA_TEXT_CHARS_MAX: usize = 1_000;
/// The farthest a coordinate may lie from the origin, and the largest extent, in plan units.
pub const PLAN_COORDINATE_MAX: f64 = 1_000_000.0;
/// The most faults named for one file; the rest is counted.
pub const PLAN_FAULTS_MAX: usize = 1_000;
/// The radius of a seat that gives none, in plan units: pretix's own.
pub const SEAT_RADIUS_DEFAULT: f64 = 10.0;
/// The size of an area's text that gives none, in plan units.
pub const TEXT_SIZE_DEFAULT: f64 = 16.0;

/// A hall as its seating plan describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    /// Plan units. Taken from the content where the file gives no size; seats may lie outside of it.
    pub width: f64,
    /// Plan units.
    pub height: f64,
    pub categories: Vec<Category>,
    /// In the order of the file: zone, row, seat.
    pub seats: Vec<PlanSeat>,
    pub rows: Vec<PlanRow>,
    /// In painting order: the first lies lowest, all lie below the seats.
    pub areas: Vec<Area>,
}

/// What seats are priced by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    pub name: String,
    /// `#rgb`, `#rrggbb`, either with alpha, or a CSS colour name; never anything else, so it may be put into a style.
    pub color: Option<String>,
}

/// One seat of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSeat {
    /// Unique in the plan.
    pub guid: String,
    /// The zone's name in pretix's words; may be empty.
    pub section: String,
    /// May be empty: some balconies number their seats without rows.
    pub row: String,
    pub number: String,
    /// What the row's `seat_label` pattern makes of the number, e.g. `Balcony 12`.
    pub label: Option<String>,
    /// The centre, in plan units: zone, row and seat position added up.
    pub x: f64,
    /// The centre, in plan units.
    pub y: f64,
    /// Plan units.
    pub radius: f64,
    /// Index into [`Plan::categories`].
    pub category: u16,
    pub kind: SeatKind,
    /// Index into [`Plan::rows`].
    pub row_index: u32,
}

/// What a place is for. Read from the category's name: see [`SeatKind::of_category`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    #[default]
    Standard,
    Wheelchair,
    Companion,
    Couple,
}

/// A row of the file; its seats are `first_seat .. first_seat + seat_count`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRow {
    pub section: String,
    pub name: String,
    pub label_at: RowLabel,
    /// Index into [`Plan::seats`].
    pub first_seat: u32,
    /// May be 0.
    pub seat_count: u32,
}

/// At which end of a row its name is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowLabel {
    #[default]
    None,
    Start,
    End,
    Both,
}

/// Something drawn that is not a seat: a stage, a screen, a door, the ground of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Area {
    /// The frame's position is the top left corner.
    Rectangle {
        frame: AreaFrame,
        width: f64,
        height: f64,
    },
    /// The frame's position is the centre.
    Circle { frame: AreaFrame, radius: f64 },
    /// The frame's position is the centre.
    Ellipse {
        frame: AreaFrame,
        radius_x: f64,
        radius_y: f64,
    },
    /// At least three points, relative to the frame's position.
    Polygon {
        frame: AreaFrame,
        points: Vec<(f64, f64)>,
    },
    /// Nothing but the frame's text.
    Text { frame: AreaFrame },
}

/// What all areas have. Drawn as SVG would draw
/// `<g transform="translate(x y) rotate(rotation_deg)">`, the shape and the text inside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AreaFrame {
    /// Absolute, in plan units.
    pub x: f64,
    /// Absolute, in plan units.
    pub y: f64,
    /// Clockwise about the position, in degrees.
    pub rotation_deg: f64,
    /// As [`Category::color`].
    pub color: Option<String>,
    /// As [`Category::color`].
    pub border: Option<String>,
    pub text: Option<AreaText>,
}

/// What is written on an area, centred on its position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AreaText {
    /// Never empty.
    pub text: String,
    /// Relative to the frame's position, in plan units.
    pub x: f64,
    /// Relative to the frame's position, in plan units.
    pub y: f64,
    /// Height of the letters, in plan units.
    pub size: f64,
    /// As [`Category::color`].
    pub color: Option<String>,
}

impl Plan {
    /// Reads a pretix seating plan.
    ///
    /// # Errors
    /// Every fault of the file in the order of their places, at most [`PLAN_FAULTS_MAX`] and then one that counts the
    /// rest. A file that is too large or not JSON has just that one fault.
    pub fn parse(json: &str) -> Result<Plan, Vec<PlanFault>> {
        read::read(json)
    }

    /// The plan as a pretix seating plan, one seat a line. `Plan::parse` of it gives an equal plan.
    #[must_use]
    pub fn to_json(&self) -> String {
        write::write(self)
    }

    /// The sections in the order in which they first come, each once.
    #[must_use]
    pub fn sections(&self) -> Vec<&str> {
        let mut sections: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !sections.contains(&row.section.as_str()) {
                sections.push(&row.section);
            }
        }
        sections
    }

    /// The seats of a row in the order of the file. A row of another plan gives what this plan has at its place.
    #[must_use]
    pub fn seats_of(&self, row: &PlanRow) -> &[PlanSeat] {
        let range = row.first_seat as usize..row.first_seat.saturating_add(row.seat_count) as usize;
        self.seats.get(range).unwrap_or_default()
    }
}

impl Area {
    /// Position, colours and text, whatever the shape.
    #[must_use]
    pub fn frame(&self) -> &AreaFrame {
        match self {
            Area::Rectangle { frame, .. }
            | Area::Circle { frame, .. }
            | Area::Ellipse { frame, .. }
            | Area::Polygon { frame, .. }
            | Area::Text { frame } => frame,
        }
    }
}
