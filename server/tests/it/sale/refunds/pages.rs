//! What buyers read about giving tickets back, without a script, in both languages.

use super::{bought, give_back, new_key, until_back, with_fee};
use crate::support::{Customer, ShowSpec, TestApp, run};
use app::domain::{tax::TaxRate, time::Millis};
use reqwest::{Method, StatusCode, header};

async fn page(customer: &Customer, path: &str, lang: &str) -> String {
    let request = customer
        .request(Method::GET, path)
        .header(header::ACCEPT_LANGUAGE, lang);
    let answer = request.send().await.expect("a page");
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.text().await.expect("text")
}

/// All of these words, in this order.
fn says(page: &str, words: &[&str]) {
    let mut rest = page;
    for word in words {
        let at = rest.find(word);
        let at = at.unwrap_or_else(|| panic!("{word:?} is missing, or not where it should be"));
        rest = &rest[at + word.len()..];
    }
}

#[test]
fn the_order_says_until_when_tickets_are_taken_back_and_what_is_kept() {
    run(async {
        let app = TestApp::shared().await;
        let mut spec = with_fee(10);
        spec.tax = TaxRate(600);
        let show = app.show(spec).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5, 6]).await;
        let path = format!("/orders/{order_no}");
        let en = page(&customer, &path, "en").await;
        let facts = ["¥136.00", "of it ¥7.70 tax (6%)"];
        says(&en, &facts);
        let terms = [
            "You can give tickets back until ",
            "(China Standard Time). 10% of each ticket",
            "/give-back",
            "What happened",
            "Ordered: the tickets were held",
            "China Standard Time",
            "¥136.00 were paid",
        ];
        says(&en, &terms);
        let zh = page(&customer, &path, "zh-CN").await;
        says(
            &zh,
            &[
                "其中税款 ¥7.70（税率 6%）",
                "前退票。每张票收取票价 10% 的手续费。",
                "退票",
                "订单记录",
            ],
        );
    });
}

#[test]
fn which_tickets_and_then_once_more_what_comes_back() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(with_fee(10)).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[9, 10]).await;
        let path = format!("/orders/{order_no}/give-back");
        let first = page(&customer, &path, "en").await;
        says(
            &first,
            &[
                "Which tickets?",
                "¥61.20 comes back, ¥6.80 is kept",
                "¥40.50 comes back, ¥4.50 is kept",
                "Continue",
            ],
        );
        let none = page(&customer, &format!("{path}?chosen=yes"), "en").await;
        says(&none, &["Which tickets?", "Choose at least one ticket."]);
        let foreign = page(&customer, &format!("{path}?items=7"), "en").await;
        says(&foreign, &["Which tickets?"]);
        let asked = page(
            &customer,
            &format!("{path}?chosen=yes&items=0&items=1"),
            "zh-CN",
        )
        .await;
        says(
            &asked,
            &[
                "确认退还以下票？",
                "¥113.00",
                "¥11.30",
                "¥101.70",
                "确认退 2 张票",
            ],
        );
        assert!(
            asked.contains(r#"name="back_minor" value="10170""#),
            "the form says what was told"
        );
        let order = customer.order(order_no).await.expect("the order");
        assert!(order.refunds.is_empty(), "reading changes nothing");
    });
}

#[test]
fn a_plain_form_leads_to_the_order_or_back_with_the_reason() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5, 6]).await;
        let asked = format!("{}/orders/{order_no}/give-back?items=0", app.base);
        let post = async |back: &str| {
            let form = [
                ("order_no", order_no.to_string()),
                ("items[]", "0".to_owned()),
                ("back_minor", back.to_owned()),
                ("idempotency_key", new_key()),
            ];
            let request = customer
                .request(Method::POST, "/api/orders/refund")
                .header(header::ACCEPT, "text/html")
                .header(header::REFERER, &asked)
                .header(header::ORIGIN, &app.base)
                .form(&form);
            let answer = request.send().await.expect("an answer");
            assert_eq!(answer.status(), StatusCode::FOUND);
            let place = answer.headers()[header::LOCATION]
                .to_str()
                .expect("an address");
            place.trim_start_matches(app.base.as_str()).to_owned()
        };
        let back = post("1").await;
        assert!(
            back.starts_with(&format!("/orders/{order_no}/give-back?")),
            "{back}"
        );
        let told = page(&customer, &back, "en").await;
        says(&told, &["The order has changed in the meantime"]);
        assert_eq!(post("6800").await, format!("/orders/{order_no}"));
        until_back(&customer, order_no, 0).await;
        let order = page(&customer, &format!("/orders/{order_no}"), "en").await;
        says(
            &order,
            &[
                "<s>",
                "given back",
                "Refunds",
                "the money is back",
                "You gave a ticket back",
            ],
        );
        let list = page(&customer, "/orders", "zh-CN").await;
        says(&list, &["部分退款"]);
    });
}

#[test]
fn past_the_deadline_the_pages_say_so() {
    run(async {
        let app = TestApp::shared().await;
        let soon = ShowSpec {
            sale_ends_in: Millis::minutes(60),
            ..ShowSpec::default()
        };
        let show = app.show(soon).await;
        let customer = app.customer().await;
        let order_no = bought(&customer, show, &[5]).await;
        for path in [
            format!("/orders/{order_no}"),
            format!("/orders/{order_no}/give-back?items=0"),
        ] {
            let en = page(&customer, &path, "en").await;
            says(
                &en,
                &[
                    "Tickets could be given back until ",
                    "(China Standard Time). That has passed.",
                ],
            );
            let zh = page(&customer, &path, "zh-CN").await;
            says(&zh, &["退票截止时间为 ", "，现已截止。"]);
        }
        let order = page(&customer, &format!("/orders/{order_no}"), "en").await;
        assert!(!order.contains("/give-back"), "nothing leads there");
        give_back(&customer, order_no, &[0])
            .await
            .expect_err("too late");
    });
}
