//! Reading a plan: every value is looked at, and every fault noted, before the plan is refused.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::fault::{PlanFault, PlanFaultKind};
use super::source::{Object, Path, Source, count, shown};
use super::{
    Category, PLAN_CATEGORIES_MAX, PLAN_CATEGORY_CHARS_MAX, PLAN_NAME_CHARS_MAX, PLAN_SEATS_MAX,
    PLAN_SECTION_CHARS_MAX, Plan, PlanRow, PlanSeat, RowLabel, SEAT_RADIUS_DEFAULT, SeatKind,
    geometry,
};

mod areas;
mod values;

/// Reads a plan; see [`Plan::parse`].
pub(super) fn read(json: &str) -> Result<Plan, Vec<PlanFault>> {
    let (source, root) = Source::open(json).map_err(|fault| vec![fault])?;
    let mut reader = Reader::new(source);
    reader.plan(root);
    if reader.source.is_sound() {
        Ok(reader.plan)
    } else {
        Err(reader.source.into_faults())
    }
}

/// What is known while a file is read: the plan so far, and where the names that must be unique came first.
struct Reader<'a> {
    source: Source<'a>,
    plan: Plan,
    categories: HashMap<String, FirstCategory>,
    /// seat_guid → line.
    guids: HashMap<String, u32>,
    /// section, row, number, label → line.
    places: HashMap<(String, String, String, Option<String>), u32>,
    seat_count: usize,
}

struct FirstCategory {
    index: u16,
    kind: SeatKind,
    line: u32,
}

/// What a seat takes over from its row.
struct RowOf<'r> {
    row: &'r PlanRow,
    index: u32,
    label_pattern: Option<&'r str>,
    x: f64,
    y: f64,
}

impl<'a> Reader<'a> {
    fn new(source: Source<'a>) -> Self {
        Reader {
            source,
            plan: Plan::default(),
            categories: HashMap::new(),
            guids: HashMap::new(),
            places: HashMap::new(),
            seat_count: 0,
        }
    }

    fn plan(&mut self, root: &'a str) {
        let Some(plan) = self.source.object(root, Path::Root) else {
            return;
        };
        self.plan.name = self.name(&plan, "name").unwrap_or_default();
        if let Some(categories) = self.source.required(&plan, "categories") {
            self.categories(categories, Path::Key(&plan.path, "categories"));
        }
        if let Some(zones) = self.source.required(&plan, "zones") {
            self.zones(zones, Path::Key(&plan.path, "zones"));
        }
        self.size(&plan);
    }

    fn zones(&mut self, zones: &'a str, path: Path<'_>) {
        let Some(items) = self.source.items(zones, path) else {
            return;
        };
        for (index, zone) in items.iter().enumerate() {
            self.zone(zone, Path::Item(&path, index));
        }
        if self.seat_count == 0 {
            self.source.fault(zones, path, PlanFaultKind::NoSeats);
        } else if self.seat_count > PLAN_SEATS_MAX {
            let kind = PlanFaultKind::TooManySeats {
                count: count(self.seat_count),
            };
            self.source.fault(zones, path, kind);
        }
    }

    /// Schema and editors disagree on whether a plan has a size; without one the content's own extent counts.
    fn size(&mut self, plan: &Object<'a, '_>) {
        if let Some(size) = plan.get("size") {
            let Some(size) = self.source.object(size, Path::Key(&plan.path, "size")) else {
                return;
            };
            self.plan.width = self.required_extent(&size, "width").unwrap_or_default();
            self.plan.height = self.required_extent(&size, "height").unwrap_or_default();
        } else {
            let bounds = geometry::bounds(&self.plan, 0.0);
            (self.plan.width, self.plan.height) = (bounds.width(), bounds.height());
        }
    }

    fn categories(&mut self, value: &'a str, path: Path<'_>) {
        let items = self.source.items(value, path).unwrap_or_default();
        if items.len() > PLAN_CATEGORIES_MAX {
            let kind = PlanFaultKind::TooManyCategories {
                count: count(items.len()),
            };
            self.source.fault(value, path, kind);
        }
        for (index, item) in items.iter().take(PLAN_CATEGORIES_MAX).enumerate() {
            let Some(category) = self.source.object(item, Path::Item(&path, index)) else {
                continue;
            };
            let color = self.color(&category, "color");
            let Some(name) = self.filled_name(&category, "name", PLAN_CATEGORY_CHARS_MAX) else {
                continue;
            };
            let line = self.source.line(item);
            let kind = SeatKind::of_category(&name);
            let at = u16::try_from(self.plan.categories.len()).unwrap_or(u16::MAX);
            match self.categories.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(FirstCategory {
                        index: at,
                        kind,
                        line,
                    });
                    self.plan.categories.push(Category { name, color });
                }
                Entry::Occupied(entry) => {
                    let first_line = entry.get().line;
                    let kind = PlanFaultKind::DuplicateCategory {
                        name: shown(&name),
                        first_line,
                    };
                    self.source.fault(item, category.path, kind);
                }
            }
        }
    }

    fn zone(&mut self, value: &'a str, path: Path<'_>) {
        let Some(zone) = self.source.object(value, path) else {
            return;
        };
        let section = self
            .bounded_text(&zone, "name", PLAN_SECTION_CHARS_MAX)
            .unwrap_or_default();
        let (x, y) = self.required_point(&zone, "position");
        if let Some(rows) = self.source.required(&zone, "rows") {
            let path = Path::Key(&zone.path, "rows");
            for (index, row) in self
                .source
                .items(rows, path)
                .unwrap_or_default()
                .iter()
                .enumerate()
            {
                self.row(row, Path::Item(&path, index), &section, (x, y));
            }
        }
        if let Some(areas) = zone.get("areas") {
            let path = Path::Key(&zone.path, "areas");
            for (index, area) in self
                .source
                .items(areas, path)
                .unwrap_or_default()
                .iter()
                .enumerate()
            {
                self.area(area, Path::Item(&path, index), (x, y));
            }
        }
    }

    fn row(&mut self, value: &'a str, path: Path<'_>, section: &str, zone: (f64, f64)) {
        let Some(object) = self.source.object(value, path) else {
            return;
        };
        let name = self.place_name(&object, "row_number").unwrap_or_default();
        let label_at = self.row_label(&object);
        let label_pattern = self
            .optional_name(&object, "seat_label")
            .filter(|text| !text.is_empty());
        let (x, y) = self.optional_point(&object, "position");
        let mut row = PlanRow {
            section: section.to_owned(),
            name,
            label_at,
            first_seat: count(self.plan.seats.len()),
            seat_count: 0,
        };
        let index = count(self.plan.rows.len());
        if let Some(seats) = self.source.required(&object, "seats") {
            let path = Path::Key(&object.path, "seats");
            let (x, y) = (zone.0 + x, zone.1 + y);
            let of = RowOf {
                row: &row,
                index,
                label_pattern: label_pattern.as_deref(),
                x,
                y,
            };
            for (index, seat) in self
                .source
                .items(seats, path)
                .unwrap_or_default()
                .iter()
                .enumerate()
            {
                self.seat_count += 1;
                self.seat(seat, Path::Item(&path, index), &of);
            }
        }
        row.seat_count = count(self.plan.seats.len()).saturating_sub(row.first_seat);
        self.plan.rows.push(row);
    }

    fn row_label(&mut self, row: &Object<'a, '_>) -> RowLabel {
        const KEY: &str = "row_number_position";
        match self.optional_name(row, KEY).as_deref() {
            None | Some("" | "none") => RowLabel::None,
            Some("start") => RowLabel::Start,
            Some("end") => RowLabel::End,
            Some("both") => RowLabel::Both,
            Some(other) => {
                self.bad_choice(row, KEY, other, "\"start\", \"end\", \"both\"");
                RowLabel::None
            }
        }
    }

    /// Looks at all of a seat even where part of it is faulty, so that each fault is named in one pass.
    fn seat(&mut self, value: &'a str, path: Path<'_>, of: &RowOf<'_>) {
        let Some(seat) = self.source.object(value, path) else {
            return;
        };
        let guid = self.guid(&seat);
        let number = self.place_name(&seat, "seat_number");
        let label = number
            .as_deref()
            .zip(of.label_pattern)
            .map(|(n, pattern)| pattern.replace("%s", n));
        if let Some(number) = &number {
            self.place(&seat, number, label.clone(), of.row);
        }
        let (x, y) = self.required_point(&seat, "position");
        let radius = self.extent(&seat, "radius").unwrap_or(SEAT_RADIUS_DEFAULT);
        let category = self.category_of(&seat);
        let (Some(guid), Some(number), Some((category, kind))) = (guid, number, category) else {
            return;
        };
        if self.plan.seats.len() < PLAN_SEATS_MAX {
            self.plan.seats.push(PlanSeat {
                guid,
                section: of.row.section.clone(),
                row: of.row.name.clone(),
                number,
                label,
                x: of.x + x,
                y: of.y + y,
                radius,
                category,
                kind,
                row_index: of.index,
            });
        }
    }

    fn guid(&mut self, seat: &Object<'a, '_>) -> Option<String> {
        const KEY: &str = "seat_guid";
        let guid = self.filled_name(seat, KEY, PLAN_NAME_CHARS_MAX)?;
        let value = seat.get(KEY)?;
        let line = self.source.line(value);
        match self.guids.entry(guid.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(line);
            }
            Entry::Occupied(entry) => {
                let kind = PlanFaultKind::DuplicateGuid {
                    guid: shown(&guid),
                    first_line: *entry.get(),
                };
                self.source.fault(value, Path::Key(&seat.path, KEY), kind);
            }
        }
        Some(guid)
    }

    /// Two seats whose section, row, number and label are all equal can't be told apart on a ticket. Less is no
    /// fault: halls repeat rows in a zone and numbers in a row name, and seats may share a position.
    fn place(&mut self, seat: &Object<'a, '_>, number: &str, label: Option<String>, row: &PlanRow) {
        const KEY: &str = "seat_number";
        let Some(value) = seat.get(KEY) else { return };
        let line = self.source.line(value);
        let key = (
            row.section.clone(),
            row.name.clone(),
            number.to_owned(),
            label,
        );
        match self.places.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(line);
            }
            Entry::Occupied(entry) => {
                let kind = PlanFaultKind::DuplicateSeat {
                    section: shown(&row.section),
                    row: shown(&row.name),
                    number: shown(number),
                    first_line: *entry.get(),
                };
                self.source.fault(value, Path::Key(&seat.path, KEY), kind);
            }
        }
    }

    fn category_of(&mut self, seat: &Object<'a, '_>) -> Option<(u16, SeatKind)> {
        const KEY: &str = "category";
        let name = self.name(seat, KEY)?;
        let known = self
            .categories
            .get(&name)
            .map(|known| (known.index, known.kind));
        if known.is_none() {
            let kind = PlanFaultKind::UnknownCategory { name: shown(&name) };
            self.source
                .fault(seat.get(KEY)?, Path::Key(&seat.path, KEY), kind);
        }
        known
    }
}
