//! Vectors made with `openssl dgst -sha256 -hmac` after Stripe's description: the signed text is the header's time, a full
//! stop, and the body as it came.

use super::*;

const CURRENT: &str = "whsec_current_0123456789abcdefghijklmn";
const PREVIOUS: &str = "whsec_previous_0123456789abcdefghijklm";
const BODY: &[u8] = br#"{"id":"evt_1","amount":13600}"#;
const BY_CURRENT: &str = "7aea1e90efa3161e04ae7164aa3aea3c2bc3cd1140d15dc2fcec24f44e639ec0";
const BY_PREVIOUS: &str = "c7e5d27cb8ebdfb4b10a6606b6c2985db36e2daf6ade8629715c1d729dc380dd";
const EMPTY_BY_CURRENT: &str = "428388dbe833cf3ff145f60c098fe467ab1d395f2e8dd3f7b4cec54da3d958e9";
const SIGNED_AT: Timestamp = Timestamp(1_700_000_000_000);

fn keys() -> SigningKeys {
    SigningKeys::new(CURRENT).unwrap()
}

fn check(keys: &SigningKeys, header: &str, body: &[u8]) -> Result<(), SignatureError> {
    keys.verify(Some(header), body, SIGNED_AT)
}

#[test]
fn the_header_is_the_published_form_of_the_vector() {
    assert_eq!(
        keys().sign(BODY, SIGNED_AT),
        format!("t=1700000000,v1={BY_CURRENT}")
    );
    assert_eq!(
        keys().sign(b"", SIGNED_AT),
        format!("t=1700000000,v1={EMPTY_BY_CURRENT}")
    );
    assert_eq!(
        check(&keys(), &format!("t=1700000000,v1={BY_CURRENT}"), BODY),
        Ok(())
    );
    assert_eq!(
        check(&keys(), &format!("t=1700000000,v1={EMPTY_BY_CURRENT}"), b""),
        Ok(())
    );
}

#[test]
fn no_altered_byte_of_the_body_passes() {
    let header = keys().sign(BODY, SIGNED_AT);
    for index in 0..BODY.len() {
        let mut altered = BODY.to_vec();
        altered[index] ^= 1;
        assert_eq!(
            check(&keys(), &header, &altered),
            Err(SignatureError::Mismatch)
        );
    }
    assert_eq!(
        check(&keys(), &header, &BODY[1..]),
        Err(SignatureError::Mismatch)
    );
    assert_eq!(
        check(&keys(), &header, &[BODY, b" "].concat()),
        Err(SignatureError::Mismatch)
    );
}

#[test]
fn no_altered_digit_of_the_signature_passes() {
    for index in 0..BY_CURRENT.len() {
        let mut digits = BY_CURRENT.as_bytes().to_vec();
        digits[index] = if digits[index] == b'0' { b'1' } else { b'0' };
        let header = format!("t=1700000000,v1={}", String::from_utf8(digits).unwrap());
        assert_eq!(check(&keys(), &header, BODY), Err(SignatureError::Mismatch));
    }
}

#[test]
fn another_time_than_the_signed_one_does_not_pass() {
    let header = format!("t=1700000001,v1={BY_CURRENT}");
    assert_eq!(check(&keys(), &header, BODY), Err(SignatureError::Mismatch));
}

#[test]
fn a_signature_lives_three_hundred_seconds_either_way() {
    let header = keys().sign(BODY, SIGNED_AT);
    let at =
        |seconds: i64| keys().verify(Some(&header), BODY, SIGNED_AT + Millis::seconds(seconds));
    assert_eq!(at(300), Ok(()));
    assert_eq!(at(301), Err(SignatureError::Stale));
    assert_eq!(at(-300), Ok(()));
    assert_eq!(at(-301), Err(SignatureError::Future));
}

#[test]
fn a_forged_message_is_never_told_that_it_is_merely_late() {
    let header = format!("t=1,v1={BY_CURRENT}");
    assert_eq!(check(&keys(), &header, BODY), Err(SignatureError::Mismatch));
}

#[test]
fn an_unknown_scheme_is_skipped_and_never_counts() {
    let unknown = format!("t=1700000000,v0={BY_CURRENT}");
    assert_eq!(
        check(&keys(), &unknown, BODY),
        Err(SignatureError::Unreadable)
    );
    let beside = format!("t=1700000000,v2=later,v1={BY_CURRENT},v0=00");
    assert_eq!(check(&keys(), &beside, BODY), Ok(()));
}

#[test]
fn a_rotated_key_is_accepted_while_it_is_kept_and_no_longer() {
    let both = keys().with_previous(PREVIOUS).unwrap();
    let old_header = format!("t=1700000000,v1={BY_PREVIOUS}");
    assert_eq!(check(&both, &old_header, BODY), Ok(()));
    assert_eq!(
        check(&both, &format!("t=1700000000,v1={BY_CURRENT}"), BODY),
        Ok(())
    );
    assert_eq!(
        check(&keys(), &old_header, BODY),
        Err(SignatureError::Mismatch)
    );
}

#[test]
fn during_a_rotation_both_sides_of_the_change_accept_what_is_signed() {
    let both = keys().with_previous(PREVIOUS).unwrap();
    let header = both.sign(BODY, SIGNED_AT);
    assert_eq!(
        header,
        format!("t=1700000000,v1={BY_CURRENT},v1={BY_PREVIOUS}")
    );
    assert_eq!(check(&keys(), &header, BODY), Ok(()));
    assert_eq!(
        check(&SigningKeys::new(PREVIOUS).unwrap(), &header, BODY),
        Ok(())
    );
}

#[test]
fn one_right_signature_among_several_is_enough() {
    let wrong = "0".repeat(64);
    let header = format!("t=1700000000,v1={wrong},v1={BY_CURRENT}");
    assert_eq!(check(&keys(), &header, BODY), Ok(()));
    let header = format!("t=1700000000,v1={wrong},v1={BY_PREVIOUS}");
    assert_eq!(check(&keys(), &header, BODY), Err(SignatureError::Mismatch));
}

#[test]
fn the_body_counts_byte_by_byte_and_is_never_read_or_written_anew() {
    let body = r#"{"标题":"夜场","note":"a.b\n1700000000.x"}"#.as_bytes();
    let by_current = "3143bd3a185e900c30b537fe48a88616b4c9183ad1d8258f4008b0a74fdea1f2";
    let by_previous = "74e0bff2e1fa09aad9095d80b60bfb7a930ffbc4a0e162e6582a3cd05f3a0398";
    let header = format!("t=1700000000,v1={by_current}");
    assert_eq!(keys().sign(body, SIGNED_AT), header);
    assert_eq!(check(&keys(), &header, body), Ok(()));
    // The same JSON, as somebody would write it who had read it.
    let anew = r#"{"note":"a.b\n1700000000.x","标题":"夜场"}"#.as_bytes();
    let spaced = r#"{"标题": "夜场", "note": "a.b\n1700000000.x"}"#.as_bytes();
    for altered in [anew, spaced] {
        let checked = check(&keys(), &header, altered);
        assert_eq!(checked, Err(SignatureError::Mismatch));
    }
    let rotated = format!("t=1700000000,v1={by_previous},v1={by_current}");
    assert_eq!(check(&keys(), &rotated, body), Ok(()));
    // Bytes that are no text at all.
    let bytes = [0xff, 0x00, b'.', 0xfe];
    let header = keys().sign(&bytes, SIGNED_AT);
    assert_eq!(check(&keys(), &header, &bytes), Ok(()));
    let cut = check(&keys(), &header, &bytes[..3]);
    assert_eq!(cut, Err(SignatureError::Mismatch));
}

#[test]
fn the_elements_of_the_header_stand_in_any_order_and_the_time_is_in_seconds() {
    for header in [
        format!("v1={BY_CURRENT},t=1700000000"),
        format!("v0=00,v1={BY_CURRENT},v2=x,t=1700000000"),
        format!("t=1700000000, v1={BY_CURRENT}"),
    ] {
        assert_eq!(check(&keys(), &header, BODY), Ok(()), "{header}");
    }
    let header = keys().sign(BODY, SIGNED_AT + Millis(999));
    assert_eq!(header, format!("t=1700000000,v1={BY_CURRENT}"));
    let in_ms = format!("t=1700000000000,v1={BY_CURRENT}");
    assert_eq!(check(&keys(), &in_ms, BODY), Err(SignatureError::Mismatch));
}

#[test]
fn headers_of_the_wrong_form_are_refused_as_unreadable() {
    let many = format!("t=1700000000{}", format!(",v1={BY_CURRENT}").repeat(9));
    let long = format!(
        "t=1700000000,v1={BY_CURRENT},v0={}",
        "0".repeat(HEADER_BYTES_MAX)
    );
    for header in [
        "",
        "t=1700000000",
        &format!("v1={BY_CURRENT}"),
        &format!("t=,v1={BY_CURRENT}"),
        &format!("t=+1700000000,v1={BY_CURRENT}"),
        &format!("t=01700000000,v1={BY_CURRENT}"),
        &format!("t=17e8,v1={BY_CURRENT}"),
        &format!("t=99999999999999999999,v1={BY_CURRENT}"),
        &format!("t=1700000000,t=1700000000,v1={BY_CURRENT}"),
        &format!("t=1700000000,v1={}", &BY_CURRENT[1..]),
        &format!("t=1700000000,v1=g{}", &BY_CURRENT[1..]),
        &format!("t=1700000000,v1=é{}", &BY_CURRENT[2..]),
        &format!("t=1700000000 v1={BY_CURRENT}"),
        &many,
        &long,
    ] {
        assert_eq!(
            check(&keys(), header, BODY),
            Err(SignatureError::Unreadable),
            "{header}"
        );
    }
    assert_eq!(
        keys().verify(None, BODY, SIGNED_AT),
        Err(SignatureError::Missing)
    );
}

#[test]
fn extreme_times_neither_pass_nor_overflow() {
    for seconds in [i64::MIN, i64::MIN / 1000, -1, 0, i64::MAX / 1000, i64::MAX] {
        let signed = mac(CURRENT.as_bytes(), seconds, BODY)
            .finalize()
            .into_bytes();
        let header = format!("t={seconds},v1={}", to_hex(&signed));
        assert!(check(&keys(), &header, BODY).is_err(), "{seconds}");
    }
}

#[test]
fn short_secrets_are_refused_and_secrets_are_never_printed() {
    assert_eq!(SigningKeys::new("x".repeat(31)).err(), Some(ShortSecret));
    assert_eq!(
        keys().with_previous("x".repeat(31)).err(),
        Some(ShortSecret)
    );
    assert_eq!(format!("{:?}", keys()), "SigningKeys(1 secrets)");
}
