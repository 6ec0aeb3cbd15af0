//! Redis lost one key of a show and kept the others: no script on a single seat can tell what was there, so the show is read
//! from the database again.

use super::{is_clean, unsent_again};
use crate::{
    sale::rebuilding::pay,
    support::{ShowSpec, Stage, reconcile, run},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    refund::{RefundRequest, TicketChoice},
    seat::SeatState,
    user::User,
};
use server::{clock::Clock, redis::keys::ShowKey, ticketing::reconcile::Class};

/// The pending order has seat 1, the paid one seats 2 and 12.
struct Scene {
    stage: Stage,
    show: ShowId,
    payer: User,
    paid: OrderNo,
}

async fn scene() -> Scene {
    let stage = Stage::new().await;
    let show = stage.show(ShowSpec::default()).await;
    let payer = stage.user().await;
    stage.pending(&stage.user().await, show, &[1]).await;
    let paid = stage.pending(&payer, show, &[2, 12]).await;
    let payment = stage.payment(&payer, paid).await;
    pay(&stage, &payment).await;
    Scene {
        stage,
        show,
        payer,
        paid,
    }
}

impl Scene {
    /// The gateway gives all money of the paid order back.
    async fn refund(&self) {
        let ticketing = &self.stage.ticketing;
        let request = RefundRequest {
            order_no: self.paid,
            tickets: TicketChoice::Items(vec![0, 1]),
            key: uuid::Uuid::new_v4().to_string(),
            back_minor: None,
        };
        let asked = ticketing.refund_own(&self.payer, request).await;
        let number = asked.expect("a refund").refund_no;
        let now = self.stage.clock.now();
        let rows = ticketing.db().refund_succeeded(&number, now).await;
        let rows = rows.expect("a database").expect("a refund");
        ticketing.settle_now(rows).await;
    }

    async fn is_whole_after_a_round(&self) {
        let Self { stage, show, .. } = self;
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(!evidence.is_clean(), "it is seen");
        let round = reconcile(&stage.ticketing).await;
        let found: Vec<_> = round.findings.iter().map(|found| found.class).collect();
        assert_eq!((found, round.repaired), (vec![Class::SeatLost], 1));
        assert!(
            round.findings[0]
                .remedy()
                .contains("read it from the database")
        );
        assert_eq!(stage.seat(*show, 1).await, SeatState::Locked);
        assert_eq!(stage.seat(*show, 2).await, SeatState::Sold);
        assert_eq!(stage.seat(*show, 12).await, SeatState::Sold);
        is_clean(stage).await;
        self.refund().await;
        assert_eq!(stage.status(self.paid).await, Some(OrderStatus::Refunded));
        assert_eq!(stage.seat(*show, 2).await, SeatState::Available);
        assert_eq!(stage.seat(*show, 12).await, SeatState::Available);
        is_clean(stage).await;
    }
}

#[test]
fn a_show_that_lost_the_states_of_its_seats_is_read_again() {
    run(async {
        let scene = scene().await;
        scene.stage.meddle(scene.show, ShowKey::Map, &["DEL"]).await;
        scene.is_whole_after_a_round().await;
    });
}

#[test]
fn a_show_that_lost_the_owners_of_its_seats_is_read_again() {
    run(async {
        let scene = scene().await;
        let (stage, show) = (&scene.stage, scene.show);
        stage.meddle(show, ShowKey::Owners, &["DEL"]).await;
        let evidence = stage.ticketing.verify().await.expect("stores");
        let mut lines = evidence.invariants.iter();
        let found = lines.find(|line| line.name == "locks and sold seats without an owner");
        let found = found.expect("a line");
        assert_eq!((found.violations, found.checked), (3, 3));
        scene.is_whole_after_a_round().await;
    });
}

#[test]
fn a_show_that_is_half_lost_is_not_read_again_while_kafka_lacks_an_accepted_order() {
    run(async {
        let scene = scene().await;
        let (stage, show) = (&scene.stage, scene.show);
        let held = stage.hold(&stage.user().await, show, &[20]).await;
        let order_no = held.expect("a hold");
        let message = stage.message(show, order_no).await;
        unsent_again(stage, show, &[order_no]).await;
        stage.meddle(show, ShowKey::Map, &["DEL"]).await;
        let round = reconcile(&stage.ticketing).await;
        assert_eq!((round.findings.len(), round.repaired), (1, 0));
        let kept = stage.ticketing.redis().hold_record(show, order_no).await;
        assert!(kept.expect("Redis").is_some(), "nothing is dropped");
        let written = stage.ticketing.create_orders(&[message]).await;
        written.expect("an order");
        let sent = stage.ticketing.redis().acknowledge_sent(show, order_no);
        sent.await.expect("Redis");
        scene.is_whole_after_a_round().await;
        assert_eq!(stage.seat(show, 20).await, SeatState::Locked);
    });
}
