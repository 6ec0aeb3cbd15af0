//! What the tests of a sale look at: a standing zone in both stores.

use crate::support::{ShowSpec, Stage};
use app::domain::{
    ids::{OrderNo, ShowId, ZoneId},
    user::User,
};
use server::{
    mysql::{Db, standing::Stock},
    redis::{Redis, keys::Piece, standing::Places},
    ticketing::Ticketing,
};

/// The standing zone of a test's show.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    pub show: ShowId,
    pub zone: ZoneId,
    pub pieces: u16,
}

impl Floor {
    pub async fn of(db: &Db, show: ShowId) -> Self {
        let (zone, pieces): (u64, u16) = sqlx::query_as(
            "SELECT id, pieces FROM show_zone WHERE show_id = ? AND category = 'Floor'",
        )
        .bind(show.0)
        .fetch_one(db.pool())
        .await
        .expect("a standing zone");
        Self {
            show,
            zone: ZoneId(zone),
            pieces,
        }
    }

    pub fn pieces(self) -> Vec<Piece> {
        let zone = self.zone;
        (0..self.pieces)
            .map(|piece| Piece { zone, piece })
            .collect()
    }

    /// Each piece's counts.
    pub async fn places(self, redis: &Redis) -> Vec<Places> {
        let places = redis.places(&self.pieces()).await.expect("Redis");
        places
            .into_iter()
            .map(|places| places.expect("a loaded piece"))
            .collect()
    }

    /// Locked, sold and left places in Redis.
    pub async fn counts(self, redis: &Redis) -> (u32, u32, u32) {
        let places = self.places(redis).await;
        let sum = |of: fn(&Places) -> u32| places.iter().map(of).sum();
        (
            sum(|places| places.locked),
            sum(|places| places.sold),
            sum(|places| places.left()),
        )
    }

    pub async fn stock(self, db: &Db) -> Stock {
        let stock = db.standing_stock(self.zone).await.expect("a database");
        stock.expect("a stock")
    }
}

/// A show with a standing zone, loaded, on a stage of the test's own.
pub async fn staged(capacity: u32, pieces: u16) -> (Stage, Floor) {
    let stage = Stage::new().await;
    let spec = ShowSpec {
        standing: Some((capacity, pieces)),
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let floor = Floor::of(stage.ticketing.db(), show).await;
    let loaded = stage.ticketing.load_show_patiently(show).await;
    loaded.expect("a show");
    (stage, floor)
}

/// Holds places and writes the order.
pub async fn pending(stage: &Stage, user: &User, floor: Floor, quantity: u32) -> OrderNo {
    let order_no = stage
        .hold_places(user, floor.show, floor.zone, quantity)
        .await
        .expect("a hold");
    let message = stage.message(floor.show, order_no).await;
    stage
        .ticketing
        .create_orders(&[message])
        .await
        .expect("an order");
    order_no
}

/// What both stores, and the orders, say of the zone.
pub async fn violations(ticketing: &Ticketing) -> Vec<(&'static str, i64)> {
    let evidence = ticketing.verify().await.expect("evidence");
    evidence
        .invariants
        .iter()
        .filter(|invariant| invariant.violations != 0)
        .map(|invariant| (invariant.name, invariant.violations))
        .collect()
}
