//! Redis as a cluster: the sale on three masters, and what callers notice when slots move and masters go.

mod away;
mod masters;
mod moving;
mod rush;
mod sale;

use crate::support::{ShowSpec, TestApp, eventually};
use app::domain::ids::ShowId;
use masters::Masters;
use server::redis::keys::ShowKey;

/// An application whose Redis is the cluster.
async fn application(masters: &Masters) -> TestApp {
    let url = masters.url();
    // However slow the machine is, no order is too old to be written.
    let settings = [
        ("REDIS_URL", url.as_str()),
        ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
    ];
    TestApp::start(&settings).await
}

/// A key of a show, whose slot is that of all the others.
fn key_of(app: &TestApp, show: ShowId) -> String {
    app.ticketing().redis().keys().show(show, ShowKey::Meta)
}

/// A show for each of the masters, whose keys lie there.
async fn a_show_for_each(masters: &Masters, app: &TestApp) -> Vec<ShowId> {
    let mut shows = vec![None; masters.len()];
    while shows.contains(&None) {
        let show = app.show(ShowSpec::default()).await;
        let master = masters.master_of(&key_of(app, show)).await;
        shows[master] = Some(show);
    }
    shows.into_iter().flatten().collect()
}

/// Waits until so many seats of a show are available, locked, sold and blocked; servers keep a map for a moment.
async fn until_counts(app: &TestApp, show: ShowId, counts: [usize; 4]) {
    eventually(&format!("show {show} has {counts:?}"), || async {
        (app.seat_counts(show).await == counts).then_some(())
    })
    .await;
}
