//! Evidence about what staff decided: what Redis does not follow is named until reconciliation has put it right.

use crate::{
    standing::floor::{staged, violations},
    support::{ShowSpec, Stage, reconcile, run},
};
use app::domain::{
    ids::{SeatIndex, ZoneId},
    time::Millis,
};
use server::{
    clock::Clock,
    redis::quantities::{LogPlace, QuantityChange},
};

/// Later than every change that Redis dates by its own clock, which goes on while the stage's stands still, ms.
const LATER_MS: i64 = 86_400_000;

/// What is violated, but for what reconciliation says of the same.
async fn own_lines(stage: &Stage) -> Vec<(&'static str, i64)> {
    let mut lines = violations(&stage.ticketing).await;
    lines.retain(|(name, _)| *name != "things that reconciliation would mend");
    lines
}

#[test]
fn seats_that_one_store_alone_withholds_are_named_until_they_are_put_right() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("a show");
        let seats = [SeatIndex(3), SeatIndex(4)];
        let db = stage.ticketing.db();
        let now = stage.clock.now();
        db.withhold_seats(show, &seats, now).await.expect("rows");
        let named = "withheld seats that stores disagree on";
        assert_eq!(
            own_lines(&stage).await,
            [],
            "whoever withholds has a moment to finish"
        );
        stage.clock.advance(Millis::seconds(11));
        assert_eq!(own_lines(&stage).await, [(named, 2)]);
        reconcile(&stage.ticketing).await;
        assert_eq!(own_lines(&stage).await, []);
        db.offer_seats(show, &seats[..1]).await.expect("rows");
        assert_eq!(own_lines(&stage).await, [(named, 1)]);
        reconcile(&stage.ticketing).await;
        assert_eq!(own_lines(&stage).await, []);
    });
}

#[test]
fn a_show_on_other_terms_than_its_row_says_is_named_until_it_is_put_right() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("a show");
        let db = stage.ticketing.db();
        let seen = db.show_terms(show).await.expect("a row").expect("a show");
        let mut terms = seen.terms;
        terms.limit = 1;
        let now = stage.clock.now();
        assert!(
            db.change_terms(show, &seen, &terms, now)
                .await
                .expect("a row")
        );
        assert_eq!(own_lines(&stage).await, []);
        stage.clock.advance(Millis::seconds(11));
        let named = "shows sold on other terms than decided";
        assert_eq!(own_lines(&stage).await, [(named, 1)]);
        reconcile(&stage.ticketing).await;
        assert_eq!(own_lines(&stage).await, []);
    });
}

#[test]
fn pieces_that_are_not_as_large_as_decided_are_named_until_they_are_put_right() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        let db = stage.ticketing.db();
        let set = db.set_capacity(floor.zone, 11, &[4, 4, 3]).await;
        assert!(set.expect("rows"));
        let named = "pieces with other places than decided";
        assert_eq!(own_lines(&stage).await, [(named, 2)]);
        reconcile(&stage.ticketing).await;
        assert_eq!(own_lines(&stage).await, []);
    });
}

#[test]
fn a_change_that_is_missing_in_the_books_is_named_and_a_chain_that_begins_anew_is_not() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("a show");
        stage.ticketing.keep_books().await.expect("stores");
        let db = stage.ticketing.db();
        let zone = db.zones(show).await.expect("zones")[0].id;
        let written = change(zone, stage.clock.now().0 + LATER_MS, None, 7);
        db.book_quantities(show, 0, &[written]).await.expect("rows");
        assert_eq!(own_lines(&stage).await, []);
        let gap = change(zone, stage.clock.now().0 + LATER_MS + 1, Some(5), 4);
        db.book_quantities(show, 0, &[gap]).await.expect("rows");
        let named = "changes of places that the books miss";
        assert_eq!(own_lines(&stage).await, [(named, 1)]);
    });
}

fn change(zone: ZoneId, ms: i64, before: Option<i64>, after: i64) -> QuantityChange {
    QuantityChange {
        at: LogPlace { ms, seq: 0 },
        zone,
        before,
        change: after - before.unwrap_or(0),
        after,
        order_no: None,
        why: "load".to_owned(),
    }
}
