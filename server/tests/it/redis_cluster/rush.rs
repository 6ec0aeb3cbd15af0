//! A rush for a standing zone whose pieces lie on several masters.

use super::{application, masters::Masters};
use crate::{
    standing::floor::{Floor, violations},
    support::{ShowSpec, TestApp, eventually, run},
};
use app::{
    domain::{hold::Refusal, ids::OrderNo, order::OrderStatus},
    error::AppError,
};
use futures::future::join_all;
use server::redis::keys::PieceKey;
use std::collections::BTreeSet;

const BUYERS: usize = 200;
const PLACES: u32 = 100;

/// A floor of four pieces that lie on two masters or three.
async fn spread_floor(masters: &Masters, app: &TestApp) -> Floor {
    loop {
        let spec = ShowSpec {
            standing: Some((PLACES, 4)),
            ..ShowSpec::default()
        };
        let floor = Floor::of(app.db(), app.show(spec).await).await;
        let mut at = BTreeSet::new();
        for piece in floor.pieces() {
            let key = app
                .ticketing()
                .redis()
                .keys()
                .piece(piece, PieceKey::Places);
            at.insert(masters.master_of(&key).await);
        }
        if at.len() > 1 {
            return floor;
        }
    }
}

/// Who got a place of the floor, when all want one at the same moment.
async fn rush(app: &TestApp, floor: Floor) -> Vec<(crate::support::Customer, OrderNo)> {
    let buyers = join_all((0..BUYERS).map(|_| app.customer())).await;
    let sold_out = AppError::from(Refusal::ZoneSoldOut { zone: floor.zone });
    let wishes = buyers.into_iter().map(|buyer| {
        let sold_out = &sold_out;
        async move {
            let answer = eventually("the server has time", || async {
                match buyer.place_best(floor.show, floor.zone, 1).await {
                    Err((_, AppError::Busy { .. })) => None,
                    answer => Some(answer),
                }
            });
            match answer.await {
                Ok(order_no) => Some((buyer, order_no)),
                Err((_, error)) => {
                    assert_eq!(&error, sold_out, "neither an order nor sold out");
                    None
                }
            }
        }
    });
    join_all(wishes).await.into_iter().flatten().collect()
}

#[test]
fn two_hundred_buyers_of_a_hundred_places_on_several_masters_buy_exactly_a_hundred() {
    run(async {
        let masters = Masters::start().await;
        let app = application(&masters).await;
        let floor = spread_floor(&masters, &app).await;
        let orders = rush(&app, floor).await;
        assert_eq!(orders.len(), usize::try_from(PLACES).unwrap());
        let redis = app.ticketing().redis();
        for places in floor.places(redis).await {
            assert_eq!((places.total, places.left()), (25, 0), "{places:?}");
        }
        let pay = orders.iter().map(|(buyer, order_no)| async {
            buyer.until(*order_no, OrderStatus::Pending).await;
            buyer.pay(*order_no).await;
            buyer.until(*order_no, OrderStatus::Paid).await;
        });
        join_all(pay).await;
        eventually("every place is sold", || async {
            (floor.counts(redis).await == (0, PLACES, 0)).then_some(())
        })
        .await;
        assert_eq!(floor.stock(app.db()).await.taken, PLACES);
        assert_eq!(violations(app.ticketing()).await, []);
        app.running.stop().await;
    });
}
