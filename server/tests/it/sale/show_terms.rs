//! A show's terms change while it is on sale.

use crate::support::{ShowSpec, Stage, TestApp, all_repaired, run};
use app::{
    domain::{
        catalogue::{SaleState, ShowPage, ShowStatus},
        hold::Refusal,
        ids::ShowId,
        order::OrderStatus,
        show_terms::{TermsChange, TermsFault},
        time::Millis,
    },
    error::AppError,
};
use server::{
    cli::show::ShowAction,
    clock::Clock,
    ticketing::{change_show::ShowChangeError, reconcile::Class},
};

const NOTHING: TermsChange = TermsChange {
    status: None,
    sale_start: None,
    sale_end: None,
    limit: None,
    level: None,
};

async fn refusal(stage: &Stage, show: ShowId, seats: &[u32]) -> Refusal {
    match stage.hold(&stage.user().await, show, seats).await {
        Err(AppError::Refused { refusal }) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn new_terms_refuse_and_let_in_buyers_at_once_and_keep_what_is_held() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage.pending(&stage.user().await, show, &[1, 2]).await;
        let ticketing = &stage.ticketing;
        let change = TermsChange {
            limit: Some(1),
            ..NOTHING
        };
        let terms = ticketing
            .change_show(show, &change)
            .await
            .expect("a change");
        assert_eq!((terms.limit, terms.status), (1, ShowStatus::OnSale));
        let refused = refusal(&stage, show, &[3, 4]).await;
        assert!(
            matches!(refused, Refusal::LimitReached { limit: 1, .. }),
            "{refused:?}"
        );
        let over = TermsChange {
            sale_end: Some(stage.clock.now()),
            ..NOTHING
        };
        ticketing.change_show(show, &over).await.expect("a change");
        assert_eq!(refusal(&stage, show, &[3]).await, Refusal::SaleEnded);
        let longer = TermsChange {
            sale_end: Some(stage.clock.now() + Millis::minutes(60)),
            ..NOTHING
        };
        ticketing
            .change_show(show, &longer)
            .await
            .expect("a change");
        stage
            .hold(&stage.user().await, show, &[3])
            .await
            .expect("on sale again");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        let snapshot = ticketing.redis().snapshot(show).await.expect("Redis");
        assert_eq!(snapshot.expect("a show").map.at.version, 3, "no seat moved");
    });
}

#[test]
fn a_change_that_makes_no_sense_is_named_and_changes_nothing() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let db = stage.ticketing.db();
        let before = db.show_terms(show).await.expect("a database");
        let faults = [
            (NOTHING, TermsFault::Nothing),
            (
                TermsChange {
                    limit: Some(21),
                    ..NOTHING
                },
                TermsFault::Limit,
            ),
            (
                TermsChange {
                    sale_start: Some(app::domain::time::Timestamp(i64::MAX)),
                    ..NOTHING
                },
                TermsFault::Window,
            ),
            (
                TermsChange {
                    status: Some(ShowStatus::Withdrawn),
                    ..NOTHING
                },
                TermsFault::Withdrawing,
            ),
        ];
        for (change, fault) in faults {
            let refused = stage.ticketing.change_show(show, &change).await;
            assert!(
                matches!(refused, Err(ShowChangeError::Terms(found)) if found == fault),
                "{change:?}: {refused:?}"
            );
        }
        let unknown = stage.ticketing.change_show(ShowId(999_999), &NOTHING).await;
        assert!(matches!(unknown, Err(ShowChangeError::NotFound)));
        assert_eq!(db.show_terms(show).await.expect("a database"), before);
    });
}

#[test]
fn of_two_changes_that_saw_the_same_terms_one_is_told_that_it_was_overtaken() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let db = stage.ticketing.db();
        let seen = db.show_terms(show).await.expect("a database");
        let seen = seen.expect("a show");
        let to = |limit| app::domain::show_terms::ShowTerms {
            limit,
            ..seen.terms
        };
        let now = stage.clock.now();
        assert!(
            db.change_terms(show, &seen, &to(2), now)
                .await
                .expect("a database")
        );
        assert!(
            !db.change_terms(show, &seen, &to(3), now)
                .await
                .expect("a database")
        );
        let kept = db.show_terms(show).await.expect("a database");
        assert_eq!(kept.expect("a show").terms.limit, 2);
    });
}

#[test]
fn twenty_changes_at_once_leave_redis_with_the_last_one() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        stage
            .hold(&stage.user().await, show, &[1])
            .await
            .expect("a hold");
        let changes = (1..=20).map(|limit| {
            let ticketing = stage.ticketing.clone();
            let change = TermsChange {
                limit: Some(limit),
                ..NOTHING
            };
            async move {
                loop {
                    match ticketing.change_show(show, &change).await {
                        Err(ShowChangeError::Overtaken) => {}
                        other => return other.map(|_| ()),
                    }
                }
            }
        });
        for outcome in futures::future::join_all(changes).await {
            outcome.expect("a change");
        }
        let decided = stage
            .ticketing
            .db()
            .show_terms(show)
            .await
            .expect("a database");
        let followed = stage.ticketing.redis().snapshot(show).await.expect("Redis");
        assert_eq!(
            followed.expect("a show").terms,
            decided.expect("a show").terms
        );
    });
}

#[test]
fn a_server_that_died_between_the_two_stores_is_made_up_for_within_a_round() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        stage
            .hold(&stage.user().await, show, &[1])
            .await
            .expect("a hold");
        let db = stage.ticketing.db();
        let seen = db.show_terms(show).await.expect("a database");
        let seen = seen.expect("a show");
        let to = app::domain::show_terms::ShowTerms {
            level: 2,
            ..seen.terms
        };
        assert!(
            db.change_terms(show, &seen, &to, stage.clock.now())
                .await
                .expect("a database")
        );
        let classes = || all_repaired(&stage.ticketing);
        assert_eq!(classes().await, [], "whoever changed it has its own time");
        stage.clock.advance(Millis::seconds(11));
        assert_eq!(classes().await, [Class::Terms]);
        assert_eq!(
            refusal(&stage, show, &[3]).await,
            Refusal::LevelRequired { level: 2 }
        );
        assert_eq!(classes().await, []);
    });
}

#[test]
fn a_show_that_is_not_loaded_gets_its_new_terms_when_it_is() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        // The facts are read, and are kept for a moment, before the change.
        stage
            .hold(&stage.user().await, show, &[1])
            .await
            .expect("a hold");
        let redis = stage.ticketing.redis();
        redis.forget_show(show).await.expect("Redis");
        let change = TermsChange {
            level: Some(1),
            ..NOTHING
        };
        stage
            .ticketing
            .change_show(show, &change)
            .await
            .expect("a change");
        stage
            .ticketing
            .load_show_patiently(show)
            .await
            .expect("stores");
        assert_eq!(
            refusal(&stage, show, &[3]).await,
            Refusal::LevelRequired { level: 1 }
        );
    });
}

#[test]
fn buyers_see_a_changed_sale_window_within_three_seconds() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let path = format!("/api/catalogue/show?id={show}");
        let page: ShowPage = customer.get(&path).await.expect("a show");
        assert_eq!(page.sale, SaleState::OnSale);
        let change = TermsChange {
            sale_end: Some(app.clock.now() - Millis::minutes(1)),
            ..NOTHING
        };
        app.ticketing()
            .change_show(show, &change)
            .await
            .expect("a change");
        // Waited for, not measured: how long the page itself takes on a busy machine is another question.
        tokio::time::sleep(std::time::Duration::from_millis(3_100)).await;
        let page: ShowPage = customer.get(&path).await.expect("a show");
        assert_eq!(page.sale, SaleState::Ended);
    });
}

/// What is typed behind `seatflow show`.
#[derive(clap::Parser)]
struct Typed {
    #[command(subcommand)]
    action: ShowAction,
}

#[test]
fn the_commands_change_and_withdraw_a_show_and_say_what_they_did() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await.to_string();
        let command = |typed: &[&str]| {
            let ticketing = stage.ticketing.clone();
            let line = [&["show"], typed].concat();
            let action = <Typed as clap::Parser>::try_parse_from(line)
                .expect("a command")
                .action;
            async move { server::cli::show::run(&ticketing, action).await }
        };
        let end = "2036-12-01T10:00:00+08:00";
        let set = [
            "set",
            &show,
            "--limit",
            "2",
            "--level",
            "1",
            "--sale-end",
            end,
        ];
        let told = command(&set).await.expect("a change");
        assert!(
            told.contains("on-sale") && told.contains("until 2036-12-01T02:00:00Z"),
            "{told}"
        );
        assert!(
            told.contains("at most 2 tickets") && told.contains("level 1"),
            "{told}"
        );
        let refused = command(&["set", &show, "--limit", "0"]).await;
        let why = refused.expect_err("no limit").to_string();
        assert_eq!(why, "the limit must be from 1 to 20");
        let early = command(&["withdrawal", &show]).await;
        assert!(early.is_err(), "it was not withdrawn");
        let told = command(&["withdraw", &show]).await.expect("withdrawn");
        assert!(
            told.contains("0 order(s)") && told.contains("under way"),
            "{told}"
        );
        let again = command(&["set", &show, "--status", "on-sale"]).await;
        let why = again.expect_err("it never comes back").to_string();
        assert_eq!(why, "the show is withdrawn for good");
        assert_eq!(
            command(&["withdrawal", &show]).await.expect("progress"),
            told
        );
    });
}
