//! The people a customer buys for, and tickets with their names.

use crate::support::{Answer, Customer, ShowSpec, TestApp, run};
use app::{
    domain::{
        attendee::{ATTENDEES_MAX, Attendee, DocumentKind},
        hold::Refusal,
        ids::{AttendeeId, ShowId},
        order::OrderStatus,
    },
    error::{AppError, Field, Thing},
};
use futures::future::join_all;
use reqwest::{Method, StatusCode, header};

async fn listed(customer: &Customer) -> Vec<Attendee> {
    customer.get("/api/attendees/list").await.expect("the list")
}

async fn remove(customer: &Customer, id: AttendeeId) -> Answer<()> {
    customer
        .post("/api/attendees/remove", &[("id", &id.to_string())])
        .await
}

/// A show whose tickets carry names.
async fn named_show(app: &TestApp) -> ShowId {
    app.show(ShowSpec {
        attendees_required: true,
        ..ShowSpec::default()
    })
    .await
}

fn refused(refusal: Refusal) -> (StatusCode, AppError) {
    (StatusCode::CONFLICT, refusal.into())
}

#[test]
fn a_person_is_kept_without_the_document() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let form = [
            ("name", "  Ann   Example "),
            ("document_kind", "resident_card"),
            ("document_number", "110105 19491231 002x"),
        ];
        let added: Attendee = customer
            .post("/api/attendees/add", &form)
            .await
            .expect("an entry");
        assert_eq!(added.name, "Ann Example");
        assert_eq!(added.document_kind, DocumentKind::ResidentCard);
        assert_eq!(added.document_tail, "002X");
        assert_eq!(listed(&customer).await, std::slice::from_ref(&added));

        let kept: (String, String, String, String) = sqlx::query_as(
            "SELECT name, document_kind, document_tail, identity FROM attendee WHERE id = ?",
        )
        .bind(added.id.0)
        .fetch_one(app.db().pool())
        .await
        .expect("the row");
        let row = format!("{kept:?}");
        assert!(!row.contains("11010519491231"), "{row}");
        assert_eq!(kept.3.len(), 32);

        // The same document in another account is the same person.
        let other = app.customer().await;
        let again: Attendee = other
            .post("/api/attendees/add", &form)
            .await
            .expect("an entry");
        let same = "SELECT COUNT(*) FROM attendee a JOIN attendee b ON a.identity = b.identity AND a.id < b.id \
                    WHERE b.id = ?";
        let id = i64::try_from(again.id.0).expect("a small id");
        let identities = app.count(same, id).await;
        assert_eq!(identities, 1);
    });
}

#[test]
fn what_can_be_no_person_is_refused_by_its_field() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let cases = [
            ("A", "passport", "E1234567", Field::Name),
            ("Ann Example", "library", "E1234567", Field::DocumentKind),
            (
                "Ann Example",
                "resident_card",
                "110105194912310021",
                Field::DocumentNumber,
            ),
            ("Ann Example", "passport", "E-1", Field::DocumentNumber),
        ];
        for (name, kind, number, field) in cases {
            let form = [
                ("name", name),
                ("document_kind", kind),
                ("document_number", number),
            ];
            let answer: Answer<Attendee> = customer.post("/api/attendees/add", &form).await;
            let (status, error) = answer.expect_err("nonsense");
            assert_eq!(
                (status, &error),
                (StatusCode::BAD_REQUEST, &AppError::Invalid { field })
            );
        }
        customer
            .add_person("Ann Example", "E1234567")
            .await
            .expect("an entry");
        let (status, error) = customer
            .add_person("Ann B. Example", "e 123-4567")
            .await
            .expect_err("the same document");
        assert_eq!(
            (status, error),
            (StatusCode::CONFLICT, AppError::AttendeeListed)
        );
        assert_eq!(listed(&customer).await.len(), 1);
    });
}

#[test]
fn a_list_is_its_owners_and_bounded_whoever_hurries() {
    run(async {
        let app = TestApp::shared().await;
        let (owner, stranger) = (app.customer().await, app.customer().await);
        let adding = (0..ATTENDEES_MAX + 5).map(|number| {
            let owner = owner.clone();
            async move {
                owner
                    .add_person("Ann Example", &format!("E99{number:05}"))
                    .await
            }
        });
        let answers = join_all(adding).await;
        let full = AppError::AttendeesFull { most: 20 };
        let is_full = |answer: &Answer<AttendeeId>| matches!(answer, Err((StatusCode::CONFLICT, error)) if *error == full);
        assert_eq!(
            answers.iter().filter(|answer| answer.is_ok()).count(),
            ATTENDEES_MAX
        );
        assert_eq!(answers.iter().filter(|answer| is_full(answer)).count(), 5);

        let first = listed(&owner).await[0].id;
        let missing = (
            StatusCode::NOT_FOUND,
            AppError::NotFound {
                what: Thing::Attendee,
            },
        );
        assert_eq!(remove(&stranger, first).await, Err(missing.clone()));
        assert_eq!(listed(&owner).await.len(), ATTENDEES_MAX);
        assert_eq!(listed(&stranger).await, []);
        assert_eq!(remove(&owner, first).await, Ok(()));
        assert_eq!(remove(&owner, first).await, Err(missing));
        assert_eq!(listed(&owner).await.len(), ATTENDEES_MAX - 1);
    });
}

#[test]
fn the_same_person_added_many_times_at_once_stands_once_in_the_list() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let adding = (0..10).map(|_| customer.add_person("Ann Example", "E7654321"));
        let added = join_all(adding).await;
        assert_eq!(added.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(listed(&customer).await.len(), 1);
    });
}

#[test]
fn nobody_has_a_list_without_signing_in() {
    run(async {
        let app = TestApp::shared().await;
        let url = format!("{}/api/attendees/list", app.base);
        let answer = app
            .http
            .get(url)
            .header("Accept", "application/json")
            .send()
            .await;
        assert_eq!(
            answer.expect("an answer").status(),
            StatusCode::UNAUTHORIZED
        );
    });
}

#[test]
fn tickets_carry_the_names_also_of_people_who_were_taken_off_the_list() {
    run(async {
        let app = TestApp::shared().await;
        let show = named_show(app).await;
        let customer = app.customer().await;
        let ann = customer
            .add_person("Ann Example", "E1000001")
            .await
            .expect("an entry");
        let bob = customer
            .add_person("Bob Example", "E1000002")
            .await
            .expect("an entry");
        let order_no = customer
            .place_for(show, &[9, 3], &[bob, ann])
            .await
            .expect("an order");
        let names = |order: app::domain::order::OrderView| {
            let items = order.items.into_iter();
            items
                .map(|item| (item.seat.map(|seat| seat.0), item.attendee))
                .collect::<Vec<_>>()
        };
        // In plan order of the seats, each the next of those who were named.
        let expected = [
            (Some(3), Some("Bob Example".to_owned())),
            (Some(9), Some("Ann Example".to_owned())),
        ];
        assert_eq!(
            names(customer.order(order_no).await.expect("on its way")),
            expected
        );
        remove(&customer, ann).await.expect("off the list");
        assert_eq!(
            names(customer.until(order_no, OrderStatus::Pending).await),
            expected
        );
        let page = customer.page(&format!("/orders/{order_no}"), "en").await;
        assert!(
            page.contains("for Bob Example"),
            "the order's page names them"
        );
    });
}

#[test]
fn a_named_show_is_not_sold_without_one_known_person_a_ticket() {
    run(async {
        let app = TestApp::shared().await;
        let show = named_show(app).await;
        let (customer, stranger) = (app.customer().await, app.customer().await);
        let ann = customer
            .add_person("Ann Example", "E2000001")
            .await
            .expect("an entry");
        let bob = customer
            .add_person("Bob Example", "E2000002")
            .await
            .expect("an entry");
        let theirs = stranger
            .add_person("Cid Example", "E2000003")
            .await
            .expect("an entry");
        let two = Refusal::AttendeesRequired { tickets: 2 };
        let cases: [(&[AttendeeId], Refusal); 6] = [
            (&[], two.clone()),
            (&[ann], two.clone()),
            (&[ann, bob, theirs], two),
            (&[ann, ann], Refusal::AttendeeRepeated { attendee: ann }),
            (
                &[ann, theirs],
                Refusal::UnknownAttendee { attendee: theirs },
            ),
            (
                &[ann, AttendeeId(u64::MAX)],
                Refusal::UnknownAttendee {
                    attendee: AttendeeId(u64::MAX),
                },
            ),
        ];
        for (people, refusal) in cases {
            let answer = customer.place_for(show, &[1, 2], people).await;
            assert_eq!(answer.expect_err("refused"), refused(refusal));
        }
        assert_eq!(app.map(show).await.at.version, 0, "nothing was held");
        let zones: app::domain::catalogue::ShowPage = customer
            .get(&format!("/api/catalogue/show?id={show}"))
            .await
            .expect("the show");
        assert!(zones.attendees_required);
        let best = customer.place_best(show, zones.zones[0].id, 2).await;
        assert_eq!(
            best.expect_err("refused"),
            refused(Refusal::AttendeesRequired { tickets: 2 })
        );
    });
}

#[test]
fn a_film_needs_no_names() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer
            .place_for(show, &[1], &[AttendeeId(u64::MAX)])
            .await
            .expect("who is named is not looked at");
        let order = customer.until(order_no, OrderStatus::Pending).await;
        assert_eq!(order.items[0].attendee, None);
    });
}

#[test]
fn the_show_page_asks_whom_the_tickets_are_for_without_javascript() {
    run(async {
        let app = TestApp::shared().await;
        let show = named_show(app).await;
        let customer = app.customer().await;
        let path = format!("/shows/{show}?seats=3");
        let empty = customer.page(&path, "en").await;
        let add = format!("/account?next=/shows/{show}%3Fseats%3D3#people");
        assert!(
            empty.contains(&add),
            "the way to add somebody keeps the seat"
        );
        let ann = customer
            .add_person("Ann Example", "E8000001")
            .await
            .expect("an entry");
        let page = customer.page(&format!("{path}&for={ann}"), "zh-CN").await;
        assert!(page.contains("为谁购票？") && page.contains("Ann Example"));
        // The form of the map and the one that leaves the choice to us.
        let ticks = page.matches(r#"name="attendees[]""#).count();
        assert_eq!(ticks, 2);
        let form = [
            ("show_id", show.to_string()),
            ("idempotency_key", uuid::Uuid::new_v4().to_string()),
            ("seats[]", "3".to_owned()),
            ("seats[]", "4".to_owned()),
            ("attendees[]", ann.to_string()),
        ];
        let answer = customer
            .request(Method::POST, "/api/orders/place")
            .header(header::ACCEPT, "text/html")
            .form(&form)
            .send()
            .await
            .expect("an answer");
        let back = answer.headers()[header::LOCATION].to_str().expect("text");
        let kept = format!("/shows/{show}?seats=3.4&for={ann}&");
        assert!(back.starts_with(&kept), "{back}");
    });
}
