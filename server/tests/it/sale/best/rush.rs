//! A rush for the best seats of a zone on two servers at once: losing to others is no answer, as long as seats are left.

use crate::support::{ShowSpec, Stage, run, submit_to};
use app::{
    domain::{
        hold::{Choice, HoldRequest, Refusal},
        ids::{OrderNo, SeatIndex, ShowId, ZoneId},
        user::User,
    },
    error::AppError,
};
use server::{redis::Redis, ticketing::Ticketing};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::sync::Barrier;

const CALLERS: u32 = 300;
/// Most tickets that one caller wants; the next caller wants one fewer, down to one.
const TICKETS_MAX: u32 = 4;

/// What one caller was told.
struct Told {
    quantity: u32,
    answer: Result<OrderNo, AppError>,
    /// What the zone had left once the answer was there. Nothing ever comes back here, so when the caller was refused it
    /// had as many at least.
    left: u32,
}

/// A show of sixty seats in three rows, of which only some are on sale, and their zone.
async fn with_free(stage: &Stage, free: &[u32]) -> (ShowId, ZoneId) {
    let spec = ShowSpec {
        seats: 60,
        front_seats: 0,
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let loaded = stage.ticketing.load_show_patiently(show).await;
    loaded.expect("a show");
    let withheld = (0..60).filter(|seat| !free.contains(seat)).map(SeatIndex);
    let withheld: Vec<SeatIndex> = withheld.collect();
    if !withheld.is_empty() {
        let blocked = stage.ticketing.block_seats(show, &withheld).await;
        blocked.expect("free seats");
    }
    let zone: u64 =
        sqlx::query_scalar("SELECT id FROM show_zone WHERE show_id = ? AND category = 'Back'")
            .bind(show.0)
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a zone");
    (show, ZoneId(zone))
}

async fn left(redis: &Redis, show: ShowId, zone: ZoneId) -> u32 {
    let zones = redis.remaining(&[show]).await.expect("Redis").remove(0);
    let zones = zones.expect("a loaded show");
    let found = zones.into_iter().find(|(found, _)| *found == zone);
    found.expect("the zone").1
}

async fn ask(server: Ticketing, user: User, show: ShowId, zone: ZoneId, quantity: u32) -> Told {
    let request = HoldRequest {
        show_id: show,
        choice: Choice::Best { zone, quantity },
        attendees: Vec::new(),
        idempotency_key: uuid::Uuid::new_v4().to_string(),
    };
    let answer = submit_to(&server, &user, request).await;
    Told {
        quantity,
        answer,
        left: left(server.redis(), show, zone).await,
    }
}

/// Three hundred callers at a barrier, half of them on either server.
async fn rush(stage: &Stage, show: ShowId, zone: ZoneId) -> Vec<Told> {
    let servers = [stage.ticketing.clone(), stage.another_server().await];
    let barrier = Arc::new(Barrier::new(CALLERS.try_into().expect("a small number")));
    let mut callers = Vec::new();
    for caller in 0..CALLERS {
        let (server, user) = (
            servers[usize::from(caller % 2 == 1)].clone(),
            stage.user().await,
        );
        let barrier = Arc::clone(&barrier);
        // Both servers are asked for every quantity.
        let quantity = TICKETS_MAX - (caller / 2) % TICKETS_MAX;
        callers.push(tokio::spawn(async move {
            barrier.wait().await;
            ask(server, user, show, zone, quantity).await
        }));
    }
    let mut told = Vec::new();
    for caller in callers {
        told.push(caller.await.expect("a caller"));
    }
    told
}

/// Lets all callers rush for these seats. Whoever is refused wanted more than was left, and in the end all are held, each
/// by one order and each order with as many as it is for.
async fn all_are_held(free: &[u32]) {
    let stage = Stage::new().await;
    let (show, zone) = with_free(&stage, free).await;
    let told = rush(&stage, show, zone).await;
    let mut held: BTreeMap<OrderNo, u32> = BTreeMap::new();
    for told in &told {
        match &told.answer {
            Ok(order_no) => {
                held.insert(*order_no, told.quantity);
            }
            Err(AppError::Refused {
                refusal: Refusal::ZoneSoldOut { zone: of },
            }) => {
                assert_eq!(*of, zone);
                let (wanted, left) = (told.quantity, told.left);
                assert!(left < wanted, "refused {wanted} while {left} were left");
            }
            Err(other) => panic!("neither seats nor sold out: {other:?}"),
        }
    }
    let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
    let seats: BTreeSet<u32> = owners.keys().map(|seat| seat.0).collect();
    assert_eq!(seats, free.iter().copied().collect(), "each seat is held");
    let mut owned: BTreeMap<OrderNo, u32> = BTreeMap::new();
    for order_no in owners.values() {
        *owned.entry(*order_no).or_default() += 1;
    }
    assert_eq!(owned, held, "as many seats as were wanted");
    assert_eq!(left(stage.ticketing.redis(), show, zone).await, 0);
}

#[test]
fn three_hundred_callers_on_two_servers_get_all_sixty_seats_and_no_error_before() {
    run(async {
        let all: Vec<u32> = (0..60).collect();
        all_are_held(&all).await;
    });
}

#[test]
fn three_hundred_callers_on_two_servers_get_the_last_seven_seats_and_no_error_before() {
    run(async {
        // Three together, two together, and two alone, in three rows.
        all_are_held(&[4, 5, 6, 27, 28, 40, 59]).await;
    });
}
