//! The ledger refuses what does not add up, and the proof finds what is missing.

use super::{confirmed, paid, wish, wrong_money};
use crate::support::{ShowSpec, Stage, run};
use sqlx::MySqlPool;

async fn post(pool: &MySqlPool, name: &str, accounts: [i64; 5]) -> Result<(), sqlx::Error> {
    let [gateway, sales, fees, owed, other] = accounts;
    sqlx::query(
        "INSERT INTO ledger_posting (posting, order_no, currency, gateway, sales, fees, owed_to_customers, \
         discrepancy, posted_at) VALUES (?, 1, 'CNY', ?, ?, ?, ?, ?, 1)",
    )
    .bind(name)
    .bind(gateway)
    .bind(sales)
    .bind(fees)
    .bind(owed)
    .bind(other)
    .execute(pool)
    .await
    .map(|_| ())
}

#[test]
fn the_database_refuses_a_posting_that_does_not_add_up() {
    run(async {
        let stage = Stage::new().await;
        let pool = stage.ticketing.db().pool();
        for accounts in [
            [100, -99, 0, 0, 0],
            [1, 0, 0, 0, 0],
            [0, 0, 0, 0, 0],
            [5, -5, 0, 0, 1],
        ] {
            let refused = post(pool, "wrong", accounts)
                .await
                .expect_err("it does not add up");
            let refused = refused.to_string();
            assert!(refused.contains("ledger_posting_"), "{refused}");
        }
        post(pool, "right", [100, -50, -20, -31, 1])
            .await
            .expect("it adds up");
        post(pool, "right", [100, -50, -20, -31, 1])
            .await
            .expect_err("a name is used once");
        let change =
            sqlx::query("UPDATE ledger_posting SET sales = sales - 1 WHERE posting = 'right'");
        change
            .execute(pool)
            .await
            .expect_err("nor can a posting be made wrong");
        let entries: Vec<(String, i64)> =
            sqlx::query_as("SELECT account, amount_minor FROM ledger_entry ORDER BY amount_minor")
                .fetch_all(pool)
                .await
                .expect("the postings as entries");
        let entries: Vec<(&str, i64)> = entries
            .iter()
            .map(|(name, minor)| (&**name, *minor))
            .collect();
        let expected = [
            ("sales", -50),
            ("owed_to_customers", -31),
            ("fees", -20),
            ("discrepancy", 1),
            ("gateway", 100),
        ];
        assert_eq!(entries, expected);
    });
}

async fn wrong(stage: &Stage) -> Vec<&'static str> {
    wrong_money(&stage.ticketing.verify().await.expect("stores"))
}

async fn execute(stage: &Stage, sql: &'static str) {
    let done = sqlx::query(sql).execute(stage.ticketing.db().pool()).await;
    done.expect("a database");
}

#[test]
fn missing_money_is_found_in_its_order_its_show_and_in_all() {
    run(async {
        let stage = Stage::new().await;
        let mut spec = ShowSpec::default();
        spec.refund.fee_percent = 10;
        let show = stage.show(spec).await;
        let user = stage.user().await;
        let (order_no, payment) = paid(&stage, &user, show, &[8, 10]).await;
        let evidence = stage.ticketing.verify().await.expect("stores");
        let all = &evidence.money[0];
        assert_eq!((all.captured, all.tickets), (11_300, 11_300));
        stage
            .ticketing
            .refund_own(&user, wish(order_no, &[1]))
            .await
            .expect("a refund");
        let evidence = stage.ticketing.verify().await.expect("stores");
        let all = &evidence.money[0];
        assert_eq!((all.owed, all.kept, all.tickets), (4_050, 450, 6_800));
        confirmed(&stage, &format!("{}-r1", payment.out_trade_no)).await;
        let evidence = stage.ticketing.verify().await.expect("stores");
        let all = &evidence.money[0];
        assert_eq!((all.given_back, all.owed, all.missing()), (4_050, 0, 0));
        let line = "captured ¥113.00 - given back ¥40.50 - on its way back ¥0.00 - kept as fees ¥4.50 = live tickets ¥68.00";
        assert!(evidence.table().contains(line), "{}", evidence.table());
        assert_eq!(wrong(&stage).await, [""; 0]);

        // Somebody gives money back and forgets which ticket it was for.
        execute(&stage, "DELETE FROM refund_item").await;
        let everywhere = [
            "orders without the money of their tickets",
            "shows without the money of their tickets",
            "currencies without the money of all tickets",
            "orders whose ledger disagrees",
        ];
        assert_eq!(wrong(&stage).await, everywhere);
    });
}

#[test]
fn a_ledger_that_disagrees_with_payments_is_found() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        paid(&stage, &user, show, &[8]).await;
        assert_eq!(wrong(&stage).await, [""; 0]);
        execute(
            &stage,
            "UPDATE ledger_posting SET gateway = gateway + 1, sales = sales - 1",
        )
        .await;
        assert_eq!(wrong(&stage).await, ["orders whose ledger disagrees"]);
    });
}
