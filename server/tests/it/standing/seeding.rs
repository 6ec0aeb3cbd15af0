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
fn a_price_of_nothing_is_a_fault_of_the_catalogue() {
    run(async {
        let config = config("http://127.0.0.1:9", &[]).await;
        let db = Db::connect(&config.stores).await.expect("a database");
        db.migrate().await.expect("tables");
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
        let text = std::fs::read_to_string(samples.join("catalogue.json")).expect("a catalogue");
        let mut catalogue: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let price = &mut catalogue["shows"][0]["prices"][0];
        price["price_minor"] = 0.into();
        let category = price["category"].as_str().expect("a category").to_owned();
        for hall in catalogue["venues"].as_array_mut().expect("venues") {
            for hall in hall["halls"].as_array_mut().expect("halls") {
                let plan = samples.join(hall["plan"].as_str().expect("a plan"));
                hall["plan"] = plan.to_str().expect("a path").into();
            }
        }
        let file = std::env::temp_dir().join(format!("{}.json", uuid::Uuid::new_v4()));
        std::fs::write(&file, catalogue.to_string()).expect("a file");
        let fault = seed(&db, &file, SystemClock.now()).await;
        std::fs::remove_file(&file).expect("a file");
        let fault = fault.expect_err("a fault").to_string();
        let expected = format!("the price of {category:?} is 0; it must be at least 1");
        assert!(fault.contains(&expected), "{fault}");
        let shows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM shows")
            .fetch_one(db.pool())
            .await
            .expect("a count");
        assert_eq!(shows, 0);
    });
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
