//! Standing zones of a catalogue.

use crate::support::{config, run};
use server::{cli::seed::seed, clock::Clock, clock::SystemClock, mysql::Db};
use std::path::Path;

async fn shared_out(db: &Db) -> Vec<(u32, u32, u32)> {
    sqlx::query_as(
        "SELECT s.capacity, CAST(SUM(p.total) AS UNSIGNED), CAST(COUNT(*) AS UNSIGNED) FROM standing_stock s \
         JOIN standing_piece p ON p.zone_id = s.zone_id GROUP BY s.zone_id, s.capacity ORDER BY s.zone_id",
    )
    .fetch_all(db.pool())
    .await
    .expect("zones")
}

#[test]
fn the_sample_catalogue_has_a_floor_and_seeding_it_twice_changes_nothing() {
    run(async {
        let config = config("http://127.0.0.1:9", &[]).await;
        let db = Db::connect(&config.stores).await.expect("a database");
        db.migrate().await.expect("tables");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/catalogue.json");
        let now = SystemClock.now();
        let first = seed(&db, &file, now).await.expect("a catalogue");
        let floors = shared_out(&db).await;
        assert!(!floors.is_empty());
        assert!(
            floors.iter().all(|floor| *floor == (4_000, 4_000, 8)),
            "{floors:?}"
        );
        let second = seed(&db, &file, now).await.expect("the same catalogue");
        assert_eq!((second.new_shows, second.known_shows), (0, first.new_shows));
        assert_eq!(shared_out(&db).await, floors);
    });
}
