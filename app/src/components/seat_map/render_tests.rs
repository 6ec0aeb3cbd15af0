//! What the server writes into the page.

use super::render::{self, Own, seats_html};
use crate::{
    domain::{
        catalogue::{EventKind, EventSummary, SaleState, ShowPage, Zone},
        ids::{EventId, SeatIndex, ShowId, ZoneId},
        money::{Currency, Money},
        plan::Plan,
        seat::{MapVersion, SeatMap, SeatState},
        standing::ZoneKind,
        text::{Lang, LocalText},
        time::{Millis, Timestamp, VenueTime},
    },
    ports::ShowMap,
};
use std::sync::Arc;

fn both(text: &str) -> LocalText {
    LocalText {
        en: text.to_owned(),
        zh_cn: text.to_owned(),
    }
}

fn zone(id: u64, name: &str, minor: i64) -> Zone {
    Zone {
        id: ZoneId(id),
        name: both(name),
        price: Money::new(minor, Currency::Cny),
        seats_free: 0,
        seats_total: 0,
        kind: ZoneKind::Seated,
    }
}

pub(super) fn show(zones: Vec<Zone>) -> ShowPage {
    ShowPage {
        id: ShowId(7),
        event: EventSummary {
            id: EventId(1),
            kind: EventKind::Film,
            title: both("The Long Tide"),
            by: both(""),
            duration_min: 128,
            language: both(""),
            summary: both(""),
            poster: String::new(),
        },
        starts: VenueTime {
            at: Timestamp(0),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        },
        venue: both("Lantern Hall"),
        hall: both("Lantern Hall"),
        city: both("Shanghai"),
        sale: SaleState::OnSale,
        now: Timestamp(0),
        limit: 4,
        attendees_required: false,
        hold_for: Millis::minutes(15),
        zones,
        seats_total: 0,
    }
}

/// A row of four seats named with characters that HTML gives a meaning, and a couple seat row.
fn small_hall() -> (ShowMap, ShowPage) {
    let seat = |guid: &str, number: &str, x: u32, category: &str| {
        serde_json::json!({
            "seat_guid": guid, "seat_number": number, "position": {"x": x, "y": 0}, "category": category
        })
    };
    let plan = serde_json::json!({
        "name": "Hall", "size": {"width": 200, "height": 100},
        "categories": [{"name": "A", "color": "#ff0000"}, {"name": "Couple", "color": "#00ff00"}, {"name": "None"}],
        "zones": [{
            "name": "Z", "zone_id": "z", "position": {"x": 0, "y": 0},
            "rows": [
                {"row_number": "<b>\"C'&", "position": {"x": 0, "y": 0}, "row_number_position": "both", "seats": [
                    seat("1", "1", 0, "A"), seat("2", "2", 25, "A"), seat("3", "3", 50, "A"), seat("4", "4", 75, "None")
                ]},
                {"row_number": "D", "position": {"x": 0, "y": 30}, "seats": [
                    seat("5", "1", 0, "Couple"), seat("6", "2", 25, "Couple"), seat("7", "3", 50, "Couple")
                ]}
            ],
            "areas": [{"shape": "text", "position": {"x": 30, "y": -40}, "rotation": 0,
                       "text": {"text": "<script>alert(1)</script>", "position": {"x": 0, "y": 0}, "size": 12}}]
        }]
    });
    let plan = Plan::parse(&plan.to_string()).unwrap();
    let seats = SeatMap {
        at: MapVersion {
            epoch: 3,
            version: 41,
        },
        seats: 7,
        bits: Vec::new(),
    };
    let map = ShowMap {
        plan: Arc::new(plan),
        zone_of_category: Arc::new([Some(0), Some(1), None]),
        seats,
    };
    (
        map,
        show(vec![
            zone(1, "Front & <centre>", 6_800),
            zone(2, "Sofa", 9_000),
        ]),
    )
}

/// The element of one seat, as far as its attributes go.
fn seat_of(html: &str, number: u32) -> &str {
    let start = html.find(&format!("id=s{number} ")).unwrap();
    let end = html[start..].find("</span>").unwrap();
    &html[start..start + end]
}

#[test]
fn every_text_of_plan_and_show_is_escaped() {
    let (map, show) = small_hall();
    let html = seats_html(&map, &show, Lang::En, &Own::default());
    for raw in ["<script", "<b>", "\"C'", "<centre"] {
        assert!(!html.contains(raw), "{raw}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains(
        "Row &lt;b&gt;&quot;C&#39;&amp;, seat 2, Front &amp; &lt;centre&gt;, ¥68.00, available"
    ));
}

#[test]
fn a_seat_has_a_name_in_the_readers_language_and_posts_its_number() {
    let (map, show) = small_hall();
    let html = seats_html(&map, &show, Lang::ZhCn, &Own::default());
    let seat = seat_of(&html, 4);
    assert!(
        seat.contains("aria-label=\"D 排 1 座（情侣座），Sofa，¥90.00，可选\""),
        "{seat}"
    );
    assert!(html.contains("type=checkbox name=seats[] id=s4 value=4 data-zone=1"));
}

#[test]
fn only_free_seats_of_a_zone_can_be_ticked() {
    let (mut map, show) = small_hall();
    map.seats.set(SeatIndex(0), SeatState::Locked);
    map.seats.set(SeatIndex(1), SeatState::Sold);
    map.seats.set(SeatIndex(2), SeatState::Blocked);
    let html = seats_html(&map, &show, Lang::En, &Own::default());
    for (seat, state, word) in [
        (0, "locked", "held by others"),
        (1, "sold", "sold"),
        (2, "blocked", "not offered"),
        (3, "blocked", "not offered"),
    ] {
        let seat = seat_of(&html, seat);
        assert!(
            seat.contains(&format!("{word}\" data-state={state} disabled")),
            "{seat}"
        );
    }
    let free = seat_of(&html, 4);
    assert!(
        free.contains("available\" data-state=available>") && !free.contains("disabled"),
        "{free}"
    );
}

#[test]
fn chosen_seats_are_ticked_as_far_as_they_are_free_and_the_limit_allows() {
    let (mut map, mut show) = small_hall();
    show.limit = 3;
    map.seats.set(SeatIndex(1), SeatState::Sold);
    map.seats.set(SeatIndex(6), SeatState::Locked);
    let own = Own {
        chosen: [0, 1, 4, 5, 6].map(SeatIndex).to_vec(),
        held: vec![SeatIndex(6)],
    };
    let html = seats_html(&map, &show, Lang::En, &own);
    let ticked: Vec<u32> = (0..7)
        .filter(|&seat| seat_of(&html, seat).contains(" checked"))
        .collect();
    assert_eq!(ticked, [0, 4], "one of three is held already");
    assert!(seat_of(&html, 6).contains("yours\" data-state=locked disabled data-mine"));
    assert_eq!(render::lost(&map, &own), [SeatIndex(1)]);
    assert_eq!(
        render::places(&map, Lang::En, &[SeatIndex(4), SeatIndex(99)]),
        ["Row D, seat 1 (Couple)"]
    );
}

#[test]
fn couple_seats_side_by_side_make_a_bench_and_a_lone_one_does_not() {
    let (map, show) = small_hall();
    let html = seats_html(&map, &show, Lang::En, &Own::default());
    assert!(seat_of(&html, 4).contains("data-bench=left data-kind=couple"));
    assert!(seat_of(&html, 5).contains("data-bench=right data-kind=couple"));
    assert!(!seat_of(&html, 6).contains("data-bench"));
    assert!(html.contains("data-look=couple") && !html.contains("data-look=wheelchair"));
}

#[test]
fn the_map_says_where_polls_start_and_what_is_free() {
    let (mut map, show) = small_hall();
    map.seats.set(SeatIndex(1), SeatState::Sold);
    let html = seats_html(&map, &show, Lang::En, &Own::default());
    assert!(
        html.contains(" data-version=3.41 data-seats=7 data-free=\"2,3\" data-bits=\"20\""),
        "{}",
        &html[..400]
    );
}

#[test]
fn a_kept_skeleton_is_not_shown_with_another_price_or_language() {
    let (map, mut show) = small_hall();
    let first = seats_html(&map, &show, Lang::En, &Own::default());
    assert_eq!(seats_html(&map, &show, Lang::En, &Own::default()), first);
    show.zones[1].price = Money::new(9_500, Currency::Cny);
    assert!(seat_of(&seats_html(&map, &show, Lang::En, &Own::default()), 4).contains("¥95.00"));
    assert!(seat_of(&seats_html(&map, &show, Lang::ZhCn, &Own::default()), 4).contains("可选"));
}
