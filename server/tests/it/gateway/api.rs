use super::fixture::{Bank, SECRET, keys};
use app::domain::{
    money::{Currency, Money},
    time::Millis,
};
use server::{
    clock::Clock,
    gateway::{
        signature::{SIGNATURE_HEADER, SigningKeys},
        switches::{Decision, Outcome},
        wire::{ErrorBody, ErrorCode, PaymentState},
    },
    payment_channel::{
        Channel, ChannelError, ChargeState, NewCharge, RefusalCode, simulated::SimulatedChannel,
    },
};
use std::sync::Arc;

async fn error_of(answer: reqwest::Response) -> (u16, ErrorBody) {
    let status = answer.status().as_u16();
    (
        status,
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap(),
    )
}

const CREATE: &str = r#"{"out_trade_no":"P-1","amount_minor":13600,"currency":"CNY","subject":"Two seats","expires_in_ms":900000,"notify_url":"http://127.0.0.1:9/notify","return_url":"http://127.0.0.1:9/orders/1"}"#;

#[tokio::test]
async fn the_same_request_gives_the_same_payment_and_another_content_is_refused() {
    let bank = Bank::open().await;
    let first = bank.charge("P-1").await;
    bank.clock.advance(Millis::minutes(1));
    let repeat = NewCharge {
        expires_in: Millis::minutes(14),
        ..bank.charge_for("P-1")
    };
    assert_eq!(bank.channel.create(repeat).await.unwrap(), first);
    let dearer = NewCharge {
        amount: Money::new(13_601, Currency::Cny),
        ..bank.charge_for("P-1")
    };
    let refused = ChannelError::Refused {
        code: RefusalCode::ContentDiffers,
    };
    assert_eq!(bank.channel.create(dearer).await, Err(refused));
    let report = bank.channel.query("P-1").await.unwrap().unwrap();
    assert_eq!(report.amount, Money::new(13_600, Currency::Cny));
    assert_ne!(
        bank.charge("P-2").await.third_trade_no,
        first.third_trade_no
    );
}

#[tokio::test]
async fn twenty_equal_requests_at_once_open_one_payment() {
    let bank = Bank::open().await;
    let calls = (0..20).map(|_| bank.charge("P-1"));
    let charges = futures::future::join_all(calls).await;
    assert!(charges.iter().all(|charge| *charge == charges[0]));
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM gw_payment")
        .fetch_one(&bank.pool)
        .await
        .unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn numbers_that_differ_in_case_are_two_payments() {
    let bank = Bank::open().await;
    let (upper, lower) = (bank.charge("P-a").await, bank.charge("P-A").await);
    assert_ne!(upper.third_trade_no, lower.third_trade_no);
}

#[tokio::test]
async fn a_request_without_a_right_signature_is_answered_with_401_and_changes_nothing() {
    let bank = Bank::open().await;
    let now = bank.clock.now();
    let other = SigningKeys::new("another secret of at least 32 bytes").unwrap();
    let right = keys().sign(CREATE.as_bytes(), now);
    let signatures = [
        String::new(),
        right.replace("v1=", "v0="),
        other.sign(CREATE.as_bytes(), now),
        keys().sign(&CREATE.as_bytes()[1..], now),
        keys().sign(CREATE.as_bytes(), now - Millis::seconds(302)),
        keys().sign(CREATE.as_bytes(), now + Millis::seconds(302)),
    ];
    for signature in signatures {
        let answer = bank
            .post_signed("/v1/payments", CREATE.into(), &signature)
            .await;
        let (status, body) = error_of(answer).await;
        assert_eq!(
            (status, body.code),
            (401, ErrorCode::BadSignature),
            "{signature}"
        );
    }
    let answer = bank
        .http
        .get(format!("{}/v1/payments/P-1", bank.url))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 401);
    assert_eq!(bank.channel.query("P-1").await, Ok(None));
    assert_eq!(
        bank.post_signed("/v1/payments", CREATE.into(), &right)
            .await
            .status(),
        200
    );
}

#[tokio::test]
async fn a_signature_for_one_address_does_not_read_another() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.charge("P-2").await;
    let signature = keys().sign(b"GET /gateway/v1/payments/P-1", bank.clock.now());
    let read = |number: &str| {
        let request = bank.http.get(format!("{}/v1/payments/{number}", bank.url));
        request.header(SIGNATURE_HEADER, signature.clone()).send()
    };
    assert_eq!(read("P-1").await.unwrap().status(), 200);
    assert_eq!(read("P-2").await.unwrap().status(), 401);
}

#[tokio::test]
async fn malformed_requests_are_answered_with_400_and_change_nothing() {
    let bank = Bank::open().await;
    let bodies = [
        String::new(),
        "not json".to_owned(),
        CREATE.replace("13600", "0"),
        CREATE.replace("13600", "136.5"),
        CREATE.replace("13600", "\"13600\""),
        CREATE.replace("CNY", "ZZZ"),
        CREATE.replace("\"out_trade_no\":\"P-1\",", ""),
        CREATE.replace("P-1", "P/1"),
        CREATE.replace("900000", "0"),
        CREATE.replace("http://127.0.0.1:9/orders/1", "javascript:alert(1)"),
        CREATE.replace('}', ",\"more\":1}"),
    ];
    for body in bodies {
        let (status, error) = error_of(bank.post("/v1/payments", body.clone()).await).await;
        assert_eq!((status, error.code), (400, ErrorCode::Malformed), "{body}");
    }
    assert_eq!(bank.channel.query("P-1").await, Ok(None));
}

#[tokio::test]
async fn a_body_of_more_than_64_kb_is_answered_with_413() {
    let bank = Bank::open().await;
    let body = CREATE.replace("Two seats", &"x".repeat(70_000));
    let (status, error) = error_of(bank.post("/v1/payments", body).await).await;
    assert_eq!((status, error.code), (413, ErrorCode::TooLarge));
}

#[tokio::test]
async fn a_body_signed_for_one_payment_does_not_close_another() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    let answer = bank
        .post("/v1/payments/P-1/close", r#"{"out_trade_no":"P-2"}"#)
        .await;
    assert_eq!(answer.status(), 400);
    assert_eq!(
        bank.channel.query("P-1").await.unwrap().unwrap().state,
        ChargeState::Open
    );
}

#[tokio::test]
async fn an_open_payment_is_closed_once_and_can_not_be_paid_after_that() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    assert_eq!(bank.channel.close("P-1").await, Ok(ChargeState::Closed));
    assert_eq!(bank.channel.close("P-1").await, Ok(ChargeState::Closed));
    let (status, error) =
        error_of(bank.decide("P-1", Decision::plain(Outcome::Succeed)).await).await;
    assert_eq!((status, error.code), (409, ErrorCode::PaymentState));
    assert_eq!(error.status, Some(PaymentState::Closed));
    assert!(bank.deliver().await.is_empty());
}

#[tokio::test]
async fn closing_a_decided_payment_says_how_it_was_decided() {
    let bank = Bank::open().await;
    bank.paid("P-1").await;
    assert_eq!(bank.channel.close("P-1").await, Ok(ChargeState::Succeeded));
    bank.charge("P-2").await;
    bank.decide("P-2", Decision::plain(Outcome::Fail)).await;
    assert_eq!(bank.channel.close("P-2").await, Ok(ChargeState::Failed));
    let answer = bank
        .post("/v1/payments/P-1/close", r#"{"out_trade_no":"P-1"}"#)
        .await;
    let (status, error) = error_of(answer).await;
    assert_eq!((status, error.status), (409, Some(PaymentState::Succeeded)));
}

#[tokio::test]
async fn unknown_payments_are_told_apart_from_faults() {
    let bank = Bank::open().await;
    let unknown = ChannelError::Refused {
        code: RefusalCode::Unknown,
    };
    assert_eq!(bank.channel.query("P-9").await, Ok(None));
    assert_eq!(bank.channel.query_refund("R-9").await, Ok(None));
    assert_eq!(bank.channel.close("P-9").await, Err(unknown));
    assert_eq!(
        bank.channel.refund(bank.refund_of("P-9", "R-1", 1)).await,
        Err(unknown)
    );
}

#[tokio::test]
async fn paying_and_closing_at_the_same_moment_has_one_winner() {
    let bank = Bank::open().await;
    for round in 0..40 {
        let number = format!("P-{round}");
        bank.charge(&number).await;
        let pay = bank.decide(&number, Decision::plain(Outcome::Succeed));
        let (paid, closed) = tokio::join!(pay, bank.channel.close(&number));
        let state = bank.channel.query(&number).await.unwrap().unwrap().state;
        assert_eq!(closed, Ok(state));
        assert_eq!(paid.status() == 200, state == ChargeState::Succeeded);
        let told = bank.notices().await.len();
        assert_eq!(told, usize::from(state == ChargeState::Succeeded));
    }
}

#[tokio::test]
async fn while_keys_are_rotated_both_sides_may_be_ahead() {
    let new = SigningKeys::new("the new secret, of 32 bytes or more").unwrap();
    let both = new.clone().with_previous(SECRET).unwrap();
    for (gateway_keys, channel_keys) in [(both.clone(), keys()), (keys(), both)] {
        let bank = Bank::open_with(gateway_keys, channel_keys).await;
        bank.paid("P-1").await;
        assert_eq!(bank.notices().await.len(), 1);
    }
    let bank = Bank::open_with(keys(), new).await;
    let refused = ChannelError::Refused {
        code: RefusalCode::Signature,
    };
    assert_eq!(
        bank.channel.create(bank.charge_for("P-1")).await,
        Err(refused)
    );
}

#[tokio::test]
async fn a_server_that_does_not_speak_the_protocol_is_malformed_or_unreachable() {
    let bank = Bank::open().await;
    // The merchant's own address answers 404 without the gateway's body.
    let channel = SimulatedChannel::new(&bank.shop_url, keys(), bank.clock.clone()).unwrap();
    assert_eq!(channel.query("P-1").await, Err(ChannelError::Malformed));
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let channel = Arc::new(SimulatedChannel::new(&address, keys(), bank.clock.clone()).unwrap());
    assert_eq!(channel.close("P-1").await, Err(ChannelError::Unreachable));
}
