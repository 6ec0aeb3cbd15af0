//! Shows that are over leave Redis, and everything about them still answers.

mod afterwards;
mod still_open;

use crate::{
    standing::floor::Floor,
    support::{Notice, ShowSpec, Stage, eventually, headers_for, reconcile},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    time::Millis,
    user::User,
};
use axum::http::StatusCode;
use server::{
    clock::Clock,
    mysql::money::PaymentRecord,
    redis::{
        Redis,
        keys::{PieceKey, ShowKey},
    },
    ticketing::{Ticketing, unload::OverShow},
};

/// How long after its end a show is over on these stages, ms.
const OVER_AFTER: &str = "3600000";
/// By then [`tonight`] is over.
const OVER: Millis = Millis::minutes(80);

async fn stage() -> Stage {
    Stage::with(&[("SEATFLOW_UNLOAD_AFTER_MS", OVER_AFTER)]).await
}

/// A show that begins in ten minutes, with six places in two pieces beside its seats; its orders wait for a day.
fn tonight() -> ShowSpec {
    ShowSpec {
        sale_ends_in: Millis::minutes(10),
        hold_for: Millis::minutes(24 * 60),
        standing: Some((6, 2)),
        limit: 6,
        ..ShowSpec::default()
    }
}

/// The show of [`tonight`], loaded, however long that takes on a busy machine.
async fn opened(stage: &Stage) -> Floor {
    let show = stage.show(tonight()).await;
    let loaded = stage.ticketing.load_show_patiently(show).await;
    loaded.expect("a show");
    Floor::of(stage.ticketing.db(), show).await
}

/// The names of the keys that Redis has of a show and of its standing zone, without the answers to submissions, which run
/// out by themselves.
fn keys_of(redis: &Redis, floor: Floor) -> Vec<String> {
    let of_show = redis.keys().show(floor.show, ShowKey::Map);
    let of_piece = redis.keys().piece(floor.pieces()[0], PieceKey::Places);
    let (show, _) = of_show.split_once("}:").expect("a tag");
    let (zone, _) = of_piece.split_once(":0}:").expect("a tag");
    let url = std::env::var("REDIS_URL").expect("REDIS_URL");
    let client = redis::Client::open(url).expect("an address");
    let mut connection = client.get_connection().expect("Redis");
    let mut names = Vec::new();
    for pattern in [
        format!("{show}}}:*"),
        format!("{zone}:*"),
        format!("{zone}}}:*"),
    ] {
        let found: Vec<String> = redis::cmd("KEYS")
            .arg(pattern)
            .query(&mut connection)
            .expect("names");
        names.extend(found);
    }
    names.retain(|name| !name.contains(":idem:") && !name.contains(":guard:"));
    names.sort_unstable();
    names
}

/// A round of the mover of the books, then one of reconciliation: what became of the shows that are over.
async fn round(ticketing: &Ticketing) -> Vec<OverShow> {
    ticketing.keep_books().await.expect("stores");
    reconcile(ticketing).await.over
}

fn leaves(show: ShowId) -> OverShow {
    OverShow { show, stays: None }
}

/// Waits until rounds have taken a show away again, which takes two when something had to be put right first.
async fn until_gone(ticketing: &Ticketing, floor: Floor) {
    eventually("the show is gone", || async {
        round(ticketing).await;
        keys_of(ticketing.redis(), floor).is_empty().then_some(())
    })
    .await;
    let loaded = ticketing.redis().loaded_shows().await.expect("Redis");
    assert!(!loaded.contains(&floor.show));
}

async fn pay(stage: &Stage, payment: &PaymentRecord) -> StatusCode {
    let now = stage.clock.now();
    let body = Notice::success(&payment.out_trade_no, payment.amount).body(now);
    let headers = headers_for(&body, now);
    stage
        .ticketing
        .take_callback("simulated", &headers, &body)
        .await
}

/// A paid order of these seats.
async fn paid(stage: &Stage, user: &User, show: ShowId, seats: &[u32]) -> (OrderNo, PaymentRecord) {
    let order_no = stage.pending(user, show, seats).await;
    let payment = stage.payment(user, order_no).await;
    assert_eq!(pay(stage, &payment).await, StatusCode::OK);
    (order_no, payment)
}

/// A paid order of places without seats.
async fn paid_places(stage: &Stage, user: &User, floor: Floor, quantity: u32) -> OrderNo {
    let order_no = crate::standing::floor::pending(stage, user, floor, quantity).await;
    let payment = stage.payment(user, order_no).await;
    assert_eq!(pay(stage, &payment).await, StatusCode::OK);
    order_no
}
