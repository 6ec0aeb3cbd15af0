//! Writes the seats, row by row.

use super::{
    SeatText, Skeleton, place,
    text::{escape, number},
};
use crate::{
    domain::{
        catalogue::Zone,
        ids::SeatIndex,
        plan::{
            Plan, PlanRow, PlanSeat, SeatKind,
            geometry::{MAP_PITCH, MapLayout},
        },
    },
    i18n::{Lang, show},
};
use std::fmt::Write;

/// Couple seats within this many pitches of each other are drawn as one bench.
const BENCH_PITCHES_MAX: f64 = 1.4;

/// Writes rows of seats.
pub struct SeatWriter<'a> {
    pub plan: &'a Plan,
    pub layout: &'a MapLayout,
    pub zone_of_category: &'a [Option<u16>],
    pub zones: &'a [Zone],
    /// Whether the plan has several sections, so that a place must name its own.
    pub has_sections: bool,
    pub lang: Lang,
}

impl SeatWriter<'_> {
    /// A row with all its seats.
    pub fn row(&self, skeleton: &mut Skeleton, row: &PlanRow) {
        let section = if self.has_sections {
            row.section.as_str()
        } else {
            ""
        };
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
    fn seat(
        &self,
        skeleton: &mut Skeleton,
        number_in_plan: SeatIndex,
        seat: &PlanSeat,
        bench: Bench,
    ) {
        let text = &mut skeleton.text;
        let zone = self
            .zone_of_category
            .get(usize::from(seat.category))
            .copied()
            .flatten();
        text.push_str("<span class=seat role=gridcell");
        self.position(text, number_in_plan, bench);
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "><input type=checkbox name=seats[] id=s{0} value={0}",
            number_in_plan.0
        );
        if let Some(zone) = zone {
            let _ = write!(text, " data-zone={zone}");
        }
        text.push_str(bench.attribute());
        text.push_str(kind_attribute(seat.kind));
        text.push_str(" aria-label=\"");
        escape(text, &place(seat, self.has_sections, self.lang));
        match zone.and_then(|zone| self.zones.get(usize::from(zone))) {
            Some(zone) => escape(
                text,
                &show::name_middle(self.lang, zone.name.get(self.lang), zone.price),
            ),
            None => text.push_str(show::separator(self.lang)),
        }
        let text_end = text.len();
        skeleton.seats.push(SeatText {
            number: number_in_plan,
            zone,
            text_end,
        });
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
            let number =
                u32::try_from(place).map_or(u32::MAX, |place| row.first_seat.saturating_add(place));
            let (one, other) = (
                self.centre(SeatIndex(number)),
                self.centre(SeatIndex(number.saturating_add(1))),
            );
            let is_near = (one.0 - other.0).hypot(one.1 - other.1) <= MAP_PITCH * BENCH_PITCHES_MAX;
            let is_level = (one.1 - other.1).abs() < self.layout.seat_size / 4.0;
            if is_couple(&seats[place]) && is_couple(&seats[place + 1]) && is_near && is_level {
                let halves = (
                    Bench::Left((one.0 + other.0) / 2.0),
                    Bench::Right((one.0 + other.0) / 2.0),
                );
                let (first, second) = if one.0 < other.0 {
                    halves
                } else {
                    (halves.1, halves.0)
                };
                (benches[place], benches[place + 1]) = (first, second);
                place += 1;
            }
            place += 1;
        }
        benches
    }

    fn centre(&self, seat: SeatIndex) -> (f64, f64) {
        let place = usize::try_from(seat.0)
            .ok()
            .and_then(|place| self.layout.seats.get(place));
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
