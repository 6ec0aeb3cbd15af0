use app::{components::seat_map::render::{Own, seats_html}, domain::{catalogue::*, ids::*, money::*, plan::*, seat::*, text::*, time::*}, ports::ShowMap};
use std::sync::Arc;
fn both(t: &str) -> LocalText { LocalText { en: t.into(), zh_cn: t.into() } }
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let plan = Plan::parse(&std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let lang = Lang::from_tag(&args[2]).unwrap();
    let n = plan.seats.len() as u32;
    let mut cats: Vec<u16> = vec![]; 
    for s in &plan.seats { if !cats.contains(&s.category) { cats.push(s.category) } }
    cats.sort();
    let zones: Vec<Zone> = cats.iter().enumerate().map(|(i, &c)| Zone { id: ZoneId(i as u64), name: both(&plan.categories[c as usize].name), price: Money::new(9000 - 1000 * (i as i64), Currency::Cny), seats_free: 0, seats_total: 0 }).collect();
    let zoc: Arc<[Option<u16>]> = (0..plan.categories.len() as u16).map(|c| cats.iter().position(|&x| x == c).map(|i| i as u16)).collect();
    let mut seats = SeatMap { at: MapVersion { epoch: 1, version: 1 }, seats: n, bits: vec![] };
    let mut r = 12345u64;
    for i in 0..n { r = r.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); let v = (r >> 40) % 100;
        seats.set(SeatIndex(i), if v < 60 { SeatState::Available } else if v < 72 { SeatState::Locked } else if v < 96 { SeatState::Sold } else { SeatState::Blocked }); }
    let map = ShowMap { plan: Arc::new(plan), zone_of_category: zoc, seats };
    let show = ShowPage { id: ShowId(1), event: EventSummary { id: EventId(1), kind: EventKind::Film, title: both("T"), by: both(""), duration_min: 1, language: both(""), summary: both(""), poster: String::new() },
        starts: VenueTime { at: Timestamp(0), offset_min: 0, zone: "Asia/Shanghai".into() }, venue: both("V"), hall: both("V"), city: both("C"), sale: SaleState::OnSale, now: Timestamp(0), limit: 6, hold_for: Millis::minutes(15), zones, seats_total: n };
    let free: Vec<_> = (0..n).map(SeatIndex).filter(|&s| map.seats.state(s) == SeatState::Available).collect();
    let mid = free.len() / 2;
    let own = Own { chosen: free[mid..mid + 2].to_vec(), held: free[mid+4..mid+6].to_vec() };
    let t = std::time::Instant::now(); let html = seats_html(&map, &show, lang, &own); let first = t.elapsed();
    let t = std::time::Instant::now(); let _ = seats_html(&map, &show, lang, &own); 
    eprintln!("{} seats {n} bytes {} first {first:?} kept {:?}", args[1], html.len(), t.elapsed());
    let legend = ["available","mine","locked","sold","blocked","wheelchair","companion","couple"].map(|l| format!("<li data-look={l}><i></i>{l}</li>")).join("");
    println!("<!DOCTYPE html><html lang={}><meta charset=utf-8><meta name=viewport content='width=device-width'><link rel=stylesheet href=file:///work/main/style/main.css><body><main><div class=show><div class=show__form><fieldset class=show__map><div class=map><div class=map__window tabindex=0><div class=map__seats>{html}</div></div><div class=map__zoom><button>+</button><button>−</button><button>⤢</button></div><ul class=map__legend>{legend}</ul></div></fieldset><div class='panel card'><h2>Panel</h2></div></div></div></main></html>", lang.tag());
}
