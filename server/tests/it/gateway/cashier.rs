use super::fixture::Bank;
use app::domain::{text::LocalText, time::Millis};
use server::payment_channel::{Channel, Charge, ChargeState, NewCharge};

async fn page(bank: &Bank, charge: &Charge, language: &str) -> String {
    let request = bank
        .http
        .get(&charge.cashier_url)
        .header("accept-language", language);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

#[tokio::test]
async fn the_page_says_what_is_paid_and_that_no_money_moves() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let english = page(&bank, &charge, "en-GB,en;q=0.9").await;
    for text in [
        "¥136.00",
        "Two seats",
        "simulated gateway, no real money",
        "Let it fail",
        "Back to the shop",
        "UTC",
    ] {
        assert!(english.contains(text), "{text}");
    }
    assert!(english.contains(r#"<html lang="en">"#));
    let chinese = page(&bank, &charge, "zh-CN,zh;q=0.9,en;q=0.5").await;
    for text in [
        "两张票",
        "模拟支付网关，不涉及真实资金",
        "返回商户",
        r#"<html lang="zh-CN">"#,
    ] {
        assert!(chinese.contains(text), "{text}");
    }
    let asked = bank
        .http
        .get(format!("{}?lang=zh-CN", charge.cashier_url))
        .header("accept-language", "en");
    assert!(
        asked
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
            .contains("两张票")
    );
}

#[tokio::test]
async fn texts_of_the_merchant_are_never_markup() {
    let bank = Bank::open().await;
    let evil = r#"<script>alert(1)</script>"&'"#.to_owned();
    let subject = LocalText {
        en: evil.clone(),
        zh_cn: evil,
    };
    let return_url = format!("{}/orders/1?a=\"><script>alert(2)</script>", bank.shop_url);
    let charge = NewCharge {
        subject,
        return_url,
        ..bank.charge_for("P-1")
    };
    let charge = bank.channel.create(charge).await.unwrap();
    let page = page(&bank, &charge, "en").await;
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;&#39;"));
    assert!(page.contains("?a=&quot;&gt;&lt;script&gt;"));
}

#[tokio::test]
async fn the_pages_policy_allows_no_script_and_only_the_merchant_as_a_target() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let answer = bank.http.get(&charge.cashier_url).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    let expected = format!(
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {}; base-uri 'none'; frame-ancestors 'none'",
        bank.shop_url
    );
    assert_eq!(policy, expected);
    assert_eq!(answer.headers()["cache-control"], "no-store");
    assert_eq!(answer.headers()["vary"], "Accept-Language");
}

#[tokio::test]
async fn both_buttons_lead_back_to_the_merchant() {
    let bank = Bank::open().await;
    for (number, outcome, state) in [
        ("P-1", "succeed", ChargeState::Succeeded),
        ("P-2", "fail", ChargeState::Failed),
    ] {
        let charge = bank.charge(number).await;
        for _ in 0..2 {
            let answer = bank.press(&charge, &[("outcome", outcome)]).await;
            assert_eq!(answer.status(), 303);
            assert_eq!(
                answer.headers()["location"],
                format!("{}/orders/1", bank.shop_url)
            );
        }
        assert_eq!(
            bank.channel.query(number).await.unwrap().unwrap().state,
            state
        );
        let page = page(&bank, &charge, "en").await;
        assert!(
            !page.contains("<form"),
            "a decided payment offers no button"
        );
        assert!(page.contains("Back to the shop"));
    }
}

#[tokio::test]
async fn the_untouched_form_is_a_payment_without_trouble() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let fields = [
        ("delay_s", "0"),
        ("copies", "1"),
        ("faulty_attempts", "1"),
        ("refund_answer", "accept"),
        ("refund_times", "1"),
        ("refund_delay_s", "0"),
        ("outcome", "succeed"),
    ];
    assert_eq!(bank.press(&charge, &fields).await.status(), 303);
    assert_eq!(bank.notices().await.len(), 1);
}

#[tokio::test]
async fn forms_with_bad_values_are_answered_with_400_and_change_nothing() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let bad: [&[(&str, &str)]; 6] = [
        &[],
        &[("outcome", "perhaps")],
        &[("outcome", "succeed"), ("delay_s", "601")],
        &[("outcome", "succeed"), ("copies", "")],
        &[("outcome", "succeed"), ("copies", "-1")],
        &[("outcome", "succeed"), ("unknown", "1")],
    ];
    for fields in bad {
        assert_eq!(
            bank.press(&charge, fields).await.status(),
            400,
            "{fields:?}"
        );
    }
    assert_eq!(
        bank.channel.query("P-1").await.unwrap().unwrap().state,
        ChargeState::Open
    );
}

#[tokio::test]
async fn an_unknown_cashier_is_a_404_page() {
    let bank = Bank::open().await;
    let charge = Charge {
        third_trade_no: String::new(),
        cashier_url: format!("{}/cashier/gw_0", bank.url),
    };
    let answer = bank.http.get(&charge.cashier_url).send().await.unwrap();
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.unwrap().contains("No such payment"));
    assert_eq!(
        bank.press(&charge, &[("outcome", "succeed")])
            .await
            .status(),
        404
    );
}

#[tokio::test]
async fn an_expired_payment_says_so_and_offers_no_plain_payment() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    bank.clock.advance(Millis::minutes(15));
    let page = page(&bank, &charge, "en").await;
    assert!(page.contains("This payment is closed") && page.contains("Back to the shop"));
    assert!(!page.contains(r#"value="fail""#));
}

#[tokio::test]
async fn the_page_lists_how_the_notices_fare() {
    let bank = Bank::open().await;
    bank.shop_answers(&[500]);
    let charge = bank.paid("P-1").await;
    bank.deliver().await;
    let page = page(&bank, &charge, "en").await;
    let row = "<tr><td>payment: succeeded</td><td>1 ×</td><td>500</td><td>to be sent</td></tr>";
    assert!(page.contains(row));
}
