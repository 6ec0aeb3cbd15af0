use super::*;
use crate::{clock::SystemClock, gateway::signature::SignatureError};
use app::domain::{money::Currency, time::Millis};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const BODY: &str = r#"{"callback_id":"cb_1","kind":"payment","out_trade_no":"P-1","third_trade_no":"gw_1","status":"succeeded","amount_minor":13600,"currency":"CNY","occurred_at_ms":1700000000000,"added_later":1}"#;

fn keys() -> SigningKeys {
    SigningKeys::new("k".repeat(32)).unwrap()
}

fn channel() -> SimulatedChannel {
    SimulatedChannel::new("http://127.0.0.1:1/gateway/", keys(), Arc::new(SystemClock)).unwrap()
}

fn verify(body: &str, signed_at: Timestamp) -> Result<CallbackNotice, CallbackRejected> {
    let mut headers = HeaderMap::new();
    let signature = keys().sign(body.as_bytes(), signed_at);
    headers.insert(SIGNATURE_HEADER, signature.parse().unwrap());
    channel().verify(&headers, body.as_bytes(), NOW)
}

#[test]
fn a_signed_callback_is_read_and_may_have_more_fields() {
    let notice = verify(BODY, NOW).unwrap();
    assert_eq!(notice.callback_id, "cb_1");
    assert_eq!(notice.subject, NoticeSubject::Payment);
    assert_eq!(notice.status, NoticeStatus::Succeeded);
    assert_eq!(notice.amount, Money::new(13_600, Currency::Cny));
    assert_eq!(notice.occurred_at, NOW);
}

#[test]
fn an_unsigned_altered_or_old_callback_is_answered_with_401() {
    let unsigned = channel()
        .verify(&HeaderMap::new(), BODY.as_bytes(), NOW)
        .unwrap_err();
    assert_eq!(
        unsigned,
        CallbackRejected::Signature(SignatureError::Missing)
    );
    let old = verify(BODY, NOW - Millis::seconds(301)).unwrap_err();
    assert_eq!(old, CallbackRejected::Signature(SignatureError::Stale));
    let mut headers = HeaderMap::new();
    headers.insert(
        SIGNATURE_HEADER,
        keys().sign(BODY.as_bytes(), NOW).parse().unwrap(),
    );
    let altered = BODY.replace("13600", "13601");
    let altered = channel()
        .verify(&headers, altered.as_bytes(), NOW)
        .unwrap_err();
    assert_eq!(
        altered,
        CallbackRejected::Signature(SignatureError::Mismatch)
    );
    assert_eq!(
        [unsigned.status(), old.status(), altered.status()],
        [401, 401, 401]
    );
}

#[test]
fn a_signed_callback_without_a_required_field_is_answered_with_400() {
    let faulty = [
        "not json".to_owned(),
        BODY.replace(r#""callback_id":"cb_1","#, ""),
        BODY.replace("cb_1", ""),
        BODY.replace(r#""out_trade_no":"P-1","#, ""),
        BODY.replace(r#","currency":"CNY""#, ""),
        BODY.replace("CNY", "ZZZ"),
        BODY.replace("13600", "136.00"),
        BODY.replace("succeeded", "perhaps"),
        BODY.replace("payment", "refund"),
        BODY.replace("\"added_later\":1", "\"refund_no\":\"R-1\""),
    ];
    for body in faulty {
        let rejected = verify(&body, NOW).unwrap_err();
        assert_eq!(rejected, CallbackRejected::Malformed, "{body}");
        assert_eq!(rejected.status(), 400);
    }
}

#[test]
fn a_refunds_callback_names_the_refund() {
    let body = BODY
        .replace("payment", "refund")
        .replace("\"added_later\":1", "\"refund_no\":\"R-1\"");
    let subject = verify(&body, NOW).unwrap().subject;
    assert_eq!(
        subject,
        NoticeSubject::Refund {
            refund_no: "R-1".to_owned()
        }
    );
}

#[tokio::test]
async fn a_gateway_that_is_not_there_is_unreachable_and_a_bad_number_is_not_sent() {
    assert_eq!(channel().query("P-1").await, Err(ChannelError::Unreachable));
    let refused = ChannelError::Refused {
        code: RefusalCode::Request,
    };
    assert_eq!(channel().query("../refunds").await, Err(refused));
    assert_eq!(channel().close("").await, Err(refused));
}

#[test]
fn a_gateways_address_must_be_absolute() {
    for address in ["", "/gateway", "ftp://127.0.0.1/", "http://127.0.0.1/?a=b"] {
        let channel = SimulatedChannel::new(address, keys(), Arc::new(SystemClock));
        assert!(
            matches!(channel, Err(ChannelSetupError::Address)),
            "{address}"
        );
    }
}
