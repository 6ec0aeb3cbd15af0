//! Shows drawn at random, and what happens to them.

use super::super::fixture::{EPOCH, NOW, SHOW};
use super::places::places;
use super::step::{
    Draw, KEYS, ORDERS, Order, SEATS, Standing, Step, Which, Wish, ZONES, held, zone_of,
};
use app::domain::{
    catalogue::ShowStatus,
    ids::{SeatIndex, ZoneId},
    seat::SeatState,
    time::Millis,
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};
use server::redis::scripts::{LoadShow, LoadedSeat, ShowMeta};
use std::collections::BTreeMap;

/// A show and what happens to it.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub load: LoadShow,
    /// Places of each zone that the counter misses from the beginning.
    pub missing: BTreeMap<ZoneId, i64>,
    pub steps: Vec<Draw>,
}

/// Shows with a few seats taken, and 25 to 50 steps; half of them without faults.
pub fn sequences() -> impl Strategy<Value = Sequence> {
    (shows(), any::<bool>(), vec(draw(), 25..=50)).prop_map(
        |((load, missing), with_faults, mut steps)| {
            steps.retain(|draw| with_faults || !draw.step.is_fault());
            Sequence {
                load,
                missing,
                steps,
            }
        },
    )
}

fn shows() -> impl Strategy<Value = (LoadShow, BTreeMap<ZoneId, i64>)> {
    let status = prop_oneof![
        36 => Just(ShowStatus::OnSale),
        2 => Just(ShowStatus::SoldOut),
        1 => Just(ShowStatus::Draft),
        1 => Just(ShowStatus::Withdrawn),
    ];
    let taken = prop_oneof![
        8 => Just(None),
        1 => Just(Some(SeatState::Blocked)),
        1 => Just(Some(SeatState::Sold)),
    ];
    let missing = prop_oneof![9 => Just(0_u32), 1 => Just(1)];
    let (limit, level) = (2..=8_u32, prop_oneof![9 => Just(0_u8), 1 => Just(1)]);
    (
        status,
        limit,
        level,
        vec(taken, usize::try_from(SEATS).unwrap()),
        vec(missing, ZONES.len()),
    )
        .prop_map(|(status, limit, level, taken, missing)| {
            let meta = ShowMeta {
                epoch: EPOCH,
                status,
                sale_start: NOW - Millis::minutes(1),
                sale_end: NOW + Millis::minutes(1),
                limit,
                level,
                seats: SEATS,
            };
            let mut load = load(meta, &taken);
            // A counter can't miss more places than there are.
            let missing = load
                .zones
                .iter_mut()
                .zip(missing)
                .map(|((zone, left), missing)| {
                    let missing = missing.min(*left);
                    *left -= missing;
                    (*zone, i64::from(missing))
                });
            let missing = missing.collect();
            (load, missing)
        })
}

fn load(meta: ShowMeta, taken: &[Option<SeatState>]) -> LoadShow {
    let (mut seats, mut left, mut bought) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for (seat, state) in (0..SEATS).zip(taken) {
        let places = left.entry(zone_of(seat)).or_insert(0);
        let Some(state) = *state else {
            *places += 1;
            continue;
        };
        let order = Order(u16::try_from(seat).unwrap());
        let order_no = (state == SeatState::Sold).then(|| order.number());
        seats.push(LoadedSeat {
            seat: SeatIndex(seat),
            state,
            order_no,
        });
        for field in order
            .limit_fields()
            .into_iter()
            .chain(held(seat).attendee)
            .filter(|_| order_no.is_some())
        {
            *bought.entry(field).or_insert(0) += 1;
        }
    }
    LoadShow {
        show: SHOW,
        meta,
        seats,
        zones: left.into_iter().collect(),
        bought: bought.into_iter().collect(),
        holds: Vec::new(),
        standing: Vec::new(),
        replaces: None,
    }
}

fn draw() -> impl Strategy<Value = Draw> {
    (
        step(),
        proptest::option::weighted(0.7, 0..usize::from(ORDERS)),
    )
        .prop_map(|(step, holder)| Draw { step, holder })
}

fn step() -> impl Strategy<Value = Step> {
    let order = || (0..ORDERS).prop_map(Order);
    let seats = || btree_set(prop_oneof![20 => 0..SEATS, 1 => Just(SEATS)], 1..=3);
    let which = || prop_oneof![2 => Just(Which::Own), 1 => seats().prop_map(Which::These)];
    let at = prop_oneof![
        18 => Just(NOW),
        1 => Just(NOW - Millis(60_001)),
        1 => Just(NOW + Millis::minutes(1)),
    ];
    let standing = prop_oneof![
        6 => Just(Standing::None),
        3 => Just(Standing::AsWell),
        1 => Just(Standing::Only),
    ];
    let wish = (
        order(),
        seats(),
        standing,
        proptest::bool::weighted(0.95),
        0..KEYS,
        0..4_u16,
        0..=1_u8,
        at,
    )
        .prop_map(
            |(order, seats, standing, is_zone_right, key, fingerprint, level, at)| Wish {
                order,
                seats,
                standing,
                is_zone_right,
                key,
                fingerprint,
                level,
                at,
            },
        );
    prop_oneof![
        20 => wish.prop_map(Step::Hold),
        6 => order().prop_map(Step::Release),
        6 => (order(), which()).prop_map(|(order, which)| Step::Confirm(order, which)),
        4 => (order(), which()).prop_map(|(order, which)| Step::FreeSold(order, which)),
        3 => (order(), which()).prop_map(|(order, which)| Step::Restore(order, which)),
        15 => (order(), places()).prop_map(|(order, wish)| Step::Places(order, wish)),
        3 => seats().prop_map(Step::Block),
        3 => seats().prop_map(Step::Unblock),
        2 => proptest::bool::weighted(0.8).prop_map(|is_current| Step::Count { is_current }),
        4 => Just(Step::Load),
        3 => (0..SEATS).prop_map(|seat| Step::LoseLock(SeatIndex(seat))),
        2 => order().prop_map(Step::LoseRecord),
        1 => Just(Step::LoseShow),
    ]
}
