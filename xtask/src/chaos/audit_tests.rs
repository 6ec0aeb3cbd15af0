use super::*;
use serde_json::json;

fn told(order_no: &str) -> Told {
    Told {
        order_no: order_no.to_owned(),
        ..Told::default()
    }
}

fn paid_for(order_no: &str) -> Told {
    Told {
        captures: 1,
        ..told(order_no)
    }
}

fn order(status: &str, seats: &[u64]) -> Found {
    Found {
        status: status.to_owned(),
        show: 7,
        seats: seats.to_vec(),
        tickets: seats.len(),
        returned: 0,
        refund: None,
        lasts_ms: 6_000,
        ran_out_early: false,
        is_listed: true,
    }
}

fn faults(told: &[Told], found: &[(&str, Found)]) -> Vec<String> {
    let found = found
        .iter()
        .map(|(order_no, order)| ((*order_no).to_owned(), order.clone()))
        .collect();
    audit(told, &found).1
}

#[test]
fn a_sale_in_order_has_no_faults_and_is_counted() {
    let late = Found {
        refund: Some("succeeded".to_owned()),
        ..order("cancelled", &[5])
    };
    let given_up = Told {
        given_up: true,
        ..told("4")
    };
    let found: BTreeMap<String, Found> = [
        ("1", order("paid", &[1, 2])),
        ("2", order("discarded", &[1])),
        ("3", late),
        ("4", order("cancelled", &[2])),
    ]
    .map(|(order_no, order)| (order_no.to_owned(), order))
    .into();
    let (totals, faults) = audit(&[paid_for("1"), told("2"), paid_for("3"), given_up], &found);
    assert_eq!(faults, Vec::<String>::new());
    let expected = Totals {
        orders: 4,
        paid: 1,
        tickets: 2,
        refunded: 1,
        discarded: 1,
        lost: 0,
    };
    assert_eq!(totals, expected);
}

#[test]
fn a_seat_sold_twice_is_found_and_the_same_seat_of_another_show_is_not() {
    let elsewhere = Found {
        show: 8,
        ..order("paid", &[5])
    };
    let found = faults(
        &[paid_for("1"), paid_for("2"), paid_for("3")],
        &[
            ("1", order("paid", &[4, 5])),
            ("2", order("ticketed", &[5])),
            ("3", elsewhere),
        ],
    );
    assert_eq!(found, ["seat 5 of show 7 is sold twice: orders 1 and 2"]);
}

#[test]
fn an_order_that_is_gone_is_found_unless_redis_was_emptied_under_it() {
    assert_eq!(faults(&[told("1")], &[]).len(), 1);
    let lost = Told {
        may_be_lost: true,
        ..told("1")
    };
    assert_eq!(
        faults(std::slice::from_ref(&lost), &[]),
        Vec::<String>::new()
    );
    let page_says_so = Found {
        is_listed: false,
        ..order("discarded", &[1])
    };
    assert_eq!(
        faults(&[told("1")], &[("1", page_says_so.clone())]).len(),
        1
    );
    assert_eq!(
        faults(std::slice::from_ref(&lost), &[("1", page_says_so)]),
        Vec::<String>::new()
    );
    let paid = Told {
        captures: 1,
        ..lost
    };
    assert_eq!(faults(&[paid], &[]), ["order 1 was paid and is gone"]);
}

#[test]
fn money_that_was_taken_and_neither_sold_nor_given_back_is_found() {
    for refund in [None, Some("requested"), Some("sent"), Some("failed")] {
        let order = Found {
            refund: refund.map(str::to_owned),
            ..order("cancelled", &[1])
        };
        let found = faults(&[paid_for("1")], &[("1", order)]);
        assert!(
            found.len() == 1 && found[0].contains("not given back"),
            "{found:?}"
        );
    }
}

#[test]
fn an_order_that_is_paid_by_nobody_or_given_back_as_well_is_found() {
    let found = faults(&[told("1")], &[("1", order("paid", &[1]))]);
    assert_eq!(found, ["order 1 is paid, and nobody paid for it"]);
    let both = Found {
        refund: Some("succeeded".to_owned()),
        ..order("paid", &[1])
    };
    assert_eq!(faults(&[paid_for("1")], &[("1", both.clone())]).len(), 1);
    let twice = Told {
        captures: 2,
        ..told("1")
    };
    assert_eq!(faults(&[twice], &[("1", both)]), Vec::<String>::new());
}

#[test]
fn tickets_that_were_to_go_back_and_did_not_are_found() {
    let returning = Told {
        returning: 1,
        ..paid_for("1")
    };
    let kept = order("paid", &[1, 2]);
    let found = faults(std::slice::from_ref(&returning), &[("1", kept)]);
    assert_eq!(found, ["of order 1 1 tickets were to go back, and 0 did"]);
    let gone = Found {
        returned: 1,
        refund: Some("succeeded".to_owned()),
        ..order("paid", &[1])
    };
    let buyer_of_the_same_seat = order("paid", &[2]);
    let found = faults(
        &[returning, paid_for("2")],
        &[("1", gone), ("2", buyer_of_the_same_seat)],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn money_that_the_bank_forgot_is_found() {
    let seen = Told {
        saw_success: true,
        ..told("1")
    };
    let found = faults(&[seen], &[("1", order("cancelled", &[1]))]);
    assert!(
        found.len() == 1 && found[0].contains("the bank knows nothing"),
        "{found:?}"
    );
}

#[test]
fn an_order_that_never_ends_is_not_listed_or_came_back_to_life_is_found() {
    for status in ["creating", "pending", ""] {
        assert_eq!(faults(&[told("1")], &[("1", order(status, &[]))]).len(), 1);
    }
    let hidden = Found {
        is_listed: false,
        ..order("cancelled", &[1])
    };
    assert_eq!(faults(&[told("1")], &[("1", hidden)]).len(), 1);
    let given_up = Told {
        given_up: true,
        captures: 1,
        ..told("1")
    };
    assert_eq!(faults(&[given_up], &[("1", order("paid", &[1]))]).len(), 1);
    assert_eq!(
        faults(&[told("1"), told("1")], &[("1", order("cancelled", &[1]))]).len(),
        1
    );
}

#[test]
fn an_answer_is_read_as_the_server_writes_it() {
    let answer = json!({
        "order_no": "1000000000000000001", "status": "cancelled", "show_id": 7,
        "items": [{"seat": 3}, {"seat": null, "refund": null}, {"seat": 4, "refund": "succeeded"}],
        "payment": {"status": "success", "refund": "sent"},
        "placed": {"at": 10_000}, "expires": {"at": 16_000},
        "timeline": [
            {"at": {"at": 10_000}, "what": {"what": "placed"}},
            {"at": {"at": 16_000}, "what": {"what": "cancelled", "reason": "timeout"}},
        ],
    });
    let expected = Found {
        refund: Some("sent".to_owned()),
        tickets: 2,
        returned: 1,
        ..order("cancelled", &[3])
    };
    assert_eq!(Found::read(&answer, true), expected);
    assert_eq!(Found::read(&json!({"payment": null}), true).refund, None);
    let mut early = answer;
    early["expires"]["at"] = json!(16_001);
    let early = Found::read(&early, true);
    assert!(early.ran_out_early);
    assert_eq!(faults(&[told("1")], &[("1", early)]).len(), 1);
}

#[test]
fn evidence_is_clean_only_when_it_is_there_and_all_of_it_is_zero() {
    let evidence = json!({
        "invariants": [{"name": "duplicate claims", "violations": 0}, {"name": "overdue orders", "violations": 2}],
        "under_way": [{"name": "pending orders", "count": 0}, {"name": "outbox rows", "count": 3}],
    });
    assert_eq!(violations(&evidence), ["verify: 2 overdue orders"]);
    assert_eq!(under_way(&evidence), ["3 outbox rows"]);
    for nothing in [json!(null), json!({"invariants": []})] {
        assert_eq!(violations(&nothing).len(), 1);
        assert_eq!(under_way(&nothing).len(), 1);
    }
}
