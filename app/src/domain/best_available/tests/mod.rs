//! Halls drawn as text, and what the samples say.

mod against_oracle;
mod apart;
mod focal;
mod oracle;
mod rules;
mod walks;

use super::{BestAvailable, Quantity, SeatGroups, Wish, ZoneSeats};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::{Category, Plan, PlanRow, PlanSeat, RowLabel, SeatKind};
use crate::domain::seat::{MapVersion, SeatMap, SeatState};

/// The distance of neighbours in drawn halls, in plan units.
const STEP: f64 = 10.0;

/// A hall and what is taken in it.
struct Drawn {
    plan: Plan,
    states: SeatMap,
}

impl Drawn {
    /// A line a row, a letter a seat: `S` standard, `W` wheelchair, `A` accompanying, `C` couple; small where the seat
    /// is sold. Anything else is a step without a seat. Each kind is a category.
    fn of(lines: &[&str]) -> Drawn {
        let mut plan = Plan {
            categories: categories(),
            ..Plan::default()
        };
        let mut states = SeatMap {
            at: MapVersion::default(),
            seats: 0,
            bits: Vec::new(),
        };
        for (line, y) in lines.iter().zip(steps()) {
            let letters = line
                .chars()
                .zip(steps())
                .filter_map(|(letter, x)| Some((letter, x, kind(letter)?)));
            let letters: Vec<(char, f64, SeatKind)> = letters.collect();
            let seats = letters
                .iter()
                .zip(1..)
                .map(|((_, x, kind), number)| spot(number, *x, y, *kind));
            let first = add_row(&mut plan, seats.collect());
            states.seats = len(&plan);
            for ((letter, ..), seat) in letters.iter().zip(first..) {
                if letter.is_lowercase() {
                    states.set(SeatIndex(seat), SeatState::Sold);
                }
            }
        }
        Drawn { plan, states }
    }

    fn search(
        &self,
        zone: &[SeatKind],
        quantity: u32,
        avoid: &[u32],
        spread: u64,
    ) -> BestAvailable {
        let zone = ZoneSeats::of(&self.plan, |seat| zone.contains(&seat.kind));
        let avoid: Vec<SeatIndex> = avoid.iter().copied().map(SeatIndex).collect();
        SeatGroups::of(&self.plan).best_available(&Wish {
            zone: &zone,
            states: &self.states,
            quantity: Quantity::new(quantity).expect("a quantity"),
            avoid: &avoid,
            spread,
        })
    }

    /// The candidates for ordinary seats, all together.
    fn blocks(&self, quantity: u32) -> Vec<Vec<u32>> {
        together(self.search(&ORDINARY, quantity, &[], 0))
    }

    /// The best block.
    fn best(&self, quantity: u32) -> Vec<u32> {
        self.blocks(quantity).swap_remove(0)
    }
}

const ORDINARY: [SeatKind; 2] = [SeatKind::Standard, SeatKind::Couple];

fn together(found: BestAvailable) -> Vec<Vec<u32>> {
    match found {
        BestAvailable::Together(blocks) => blocks.iter().map(|block| numbers(block)).collect(),
        other => panic!("not together: {other:?}"),
    }
}

/// The candidates as groups.
fn apart(found: BestAvailable) -> Vec<Vec<Vec<u32>>> {
    match found {
        BestAvailable::Apart(splits) => splits
            .iter()
            .map(|split| split.groups.iter().map(|group| numbers(group)).collect())
            .collect(),
        other => panic!("not apart: {other:?}"),
    }
}

fn numbers(seats: &[SeatIndex]) -> Vec<u32> {
    seats.iter().map(|seat| seat.0).collect()
}

fn kind(letter: char) -> Option<SeatKind> {
    match letter.to_ascii_uppercase() {
        'S' => Some(SeatKind::Standard),
        'W' => Some(SeatKind::Wheelchair),
        'A' => Some(SeatKind::Companion),
        'C' => Some(SeatKind::Couple),
        _ => None,
    }
}

fn steps() -> impl Iterator<Item = f64> {
    (0..1_000).map(|step| f64::from(step) * STEP)
}

fn categories() -> Vec<Category> {
    ["Standard", "Wheelchair", "Companion", "Couple"]
        .map(|name| Category {
            name: name.to_owned(),
            color: None,
        })
        .to_vec()
}

fn spot(number: u32, x: f64, y: f64, kind: SeatKind) -> PlanSeat {
    PlanSeat {
        guid: format!("{x},{y}"),
        section: String::new(),
        row: String::new(),
        number: number.to_string(),
        label: None,
        x,
        y,
        radius: 4.0,
        category: match kind {
            SeatKind::Standard => 0,
            SeatKind::Wheelchair => 1,
            SeatKind::Companion => 2,
            SeatKind::Couple => 3,
        },
        kind,
        row_index: 0,
    }
}

/// Adds a row and says the number of its first seat.
fn add_row(plan: &mut Plan, seats: Vec<PlanSeat>) -> u32 {
    let first_seat = len(plan);
    let row_index = u32::try_from(plan.rows.len()).expect("few rows");
    plan.seats
        .extend(seats.into_iter().map(|seat| PlanSeat { row_index, ..seat }));
    plan.rows.push(PlanRow {
        section: String::new(),
        name: row_index.to_string(),
        label_at: RowLabel::None,
        first_seat,
        seat_count: len(plan) - first_seat,
    });
    first_seat
}

fn len(plan: &Plan) -> u32 {
    u32::try_from(plan.seats.len()).expect("few seats")
}

/// The plans of the sample catalogue.
fn samples() -> Vec<Plan> {
    [
        include_str!("../../../../../samples/plans/asanagi-hall.json"),
        include_str!("../../../../../samples/plans/grand-screen.json"),
        include_str!("../../../../../samples/plans/harborline-arena.json"),
        include_str!("../../../../../samples/plans/lantern-hall.json"),
        include_str!("../../../../../samples/plans/merrow-theatre.json"),
        include_str!("../../../../../samples/plans/studio-two.json"),
    ]
    .map(|json| Plan::parse(json).expect("a sound plan"))
    .to_vec()
}
