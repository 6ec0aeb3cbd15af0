//! What makes no sense gets a clear answer and changes nothing.

use crate::support::{ShowSpec, TestApp, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{SeatIndex, ShowId},
        order::OrderStatus,
        time::Millis,
    },
    error::{AppError, Field, Thing},
};
use reqwest::{Method, StatusCode, header};

#[test]
fn wishes_that_make_no_sense_are_refused_by_name_and_hold_nothing() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let many: Vec<u32> = (0..21).collect();
        let cases: [(&[u32], Refusal); 4] = [
            (&[], Refusal::NoSeats),
            (&many, Refusal::TooManySeats { limit: 20 }),
            (&[3, 3], Refusal::RepeatedSeat { seat: SeatIndex(3) }),
            (
                &[3, 40],
                Refusal::UnknownSeat {
                    seat: SeatIndex(40),
                },
            ),
        ];
        for (seats, expected) in cases {
            let (status, error) = customer.place(show, seats).await.expect_err("nonsense");
            assert_eq!((status, error), (StatusCode::CONFLICT, expected.into()));
        }
        let (status, error) = customer
            .place_as(show, &[1], "{s:1}:x")
            .await
            .expect_err("a bad key");
        assert_eq!(
            (status, error),
            (
                StatusCode::BAD_REQUEST,
                AppError::Invalid {
                    field: Field::IdempotencyKey
                }
            )
        );
        assert_eq!(app.seat_counts(show).await, [40, 0, 0, 0]);
        assert_eq!(
            app.map(show).await.at.version,
            0,
            "nothing was held, not even for a moment"
        );
    });
}

#[test]
fn unreadable_arguments_are_refused() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        for form in [
            &[
                ("show_id", "x"),
                ("seats[]", "1"),
                ("idempotency_key", "12345678"),
            ][..],
            &[
                ("show_id", "1"),
                ("seats[]", "-1"),
                ("idempotency_key", "12345678"),
            ],
            &[("show_id", "1"), ("seats[]", "1")],
            &[],
        ] {
            let answer: Result<(), _> = customer.post("/api/orders/place", form).await;
            let (_, error) = answer.expect_err("unreadable");
            assert_eq!(
                error,
                AppError::Invalid {
                    field: Field::Request
                }
            );
        }
    });
}

#[test]
fn shows_outside_their_sale_window_cannot_be_bought() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let early = app
            .show(ShowSpec {
                sale_starts_in: Millis::minutes(5),
                ..ShowSpec::default()
            })
            .await;
        let (_, error) = customer.place(early, &[1]).await.expect_err("too early");
        assert!(
            matches!(
                error,
                AppError::Refused {
                    refusal: Refusal::SaleNotStarted { .. }
                }
            ),
            "{error:?}"
        );
        let over = app
            .show(ShowSpec {
                sale_ends_in: Millis::minutes(-5),
                ..ShowSpec::default()
            })
            .await;
        let (_, error) = customer.place(over, &[1]).await.expect_err("too late");
        assert_eq!(error, Refusal::SaleEnded.into());
    });
}

#[test]
fn what_does_not_exist_is_not_found() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let (status, error) = customer
            .place(ShowId(999_999), &[1])
            .await
            .expect_err("no show");
        assert_eq!(
            (status, error),
            (
                StatusCode::NOT_FOUND,
                AppError::NotFound { what: Thing::Show }
            )
        );
        let order: Result<serde_json::Value, _> = customer
            .get("/api/orders/order?order_no=1444462736871129092")
            .await;
        assert_eq!(
            order.expect_err("no order").1,
            AppError::NotFound { what: Thing::Order }
        );
        let show: Result<serde_json::Value, _> =
            customer.get("/api/catalogue/show?id=999999").await;
        assert_eq!(show.expect_err("no show").0, StatusCode::NOT_FOUND);
        for path in [
            "/shows/999999/seats",
            "/shows/x/seats",
            "/shows/999999",
            "/events/999999",
            "/nowhere",
        ] {
            let page = customer
                .request(Method::GET, path)
                .header(header::ACCEPT, "text/html");
            let status = page.send().await.expect("an answer").status();
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        }
    });
}

#[test]
fn somebody_elses_order_looks_like_none() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let (owner, stranger) = (app.customer().await, app.customer().await);
        let accepted = owner.place(show, &[1]).await.expect("an order");
        let unknown = AppError::NotFound { what: Thing::Order };
        assert_eq!(
            stranger
                .order(accepted)
                .await
                .expect_err("not theirs, not even on its way")
                .1,
            unknown
        );
        owner.until(accepted, OrderStatus::Pending).await;
        assert_eq!(
            stranger.order(accepted).await.expect_err("not theirs").1,
            unknown
        );
        assert_eq!(
            stranger.cancel(accepted).await.expect_err("not theirs").1,
            unknown
        );
        assert_eq!(
            stranger
                .start_paying(accepted)
                .await
                .expect_err("not theirs")
                .1,
            unknown
        );
        assert_eq!(owner.status(accepted).await, OrderStatus::Pending);
    });
}

#[test]
fn nobody_buys_without_signing_in() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let form = [
            ("show_id", show.to_string()),
            ("seats[]", "3".into()),
            ("idempotency_key", "12345678".into()),
        ];
        let url = format!("{}/api/orders/place", app.base);
        let program = app
            .http
            .post(&url)
            .header(header::ACCEPT, "application/json")
            .form(&form);
        assert_eq!(
            program.send().await.expect("an answer").status(),
            StatusCode::UNAUTHORIZED
        );
        let page = app
            .http
            .post(&url)
            .header(header::ACCEPT, "text/html")
            .form(&form);
        let page = page.send().await.expect("an answer");
        assert_eq!(page.status(), StatusCode::FOUND);
        let next = page.headers()[header::LOCATION]
            .to_str()
            .expect("text")
            .to_owned();
        assert_eq!(
            next,
            format!("/login?next=/shows/{show}%3Fseats%3D3"),
            "the choice survives"
        );
        assert_eq!(app.seat_counts(show).await, [40, 0, 0, 0]);
    });
}

#[test]
fn posts_from_other_sites_are_refused() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let form = [
            ("show_id", show.to_string()),
            ("seats[]", "3".into()),
            ("idempotency_key", "12345678".into()),
        ];
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://evil.example"),
        ] {
            let post = customer
                .request(Method::POST, "/api/orders/place")
                .header(name, value);
            let status = post.form(&form).send().await.expect("an answer").status();
            assert_eq!(status, StatusCode::FORBIDDEN, "{name}");
        }
        assert_eq!(app.seat_counts(show).await, [40, 0, 0, 0]);
    });
}

#[test]
fn bodies_beyond_the_limit_are_refused() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let big = "x".repeat(65 * 1024);
        for path in ["/api/accounts/login", "/callbacks/payments/simulated"] {
            let post = customer
                .request(Method::POST, path)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            match post.body(format!("phone={big}")).send().await {
                Ok(answer) => assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE, "{path}"),
                // The server answers and hangs up before the whole body is sent; a client may see only that.
                Err(error) => assert!(error.is_request(), "{path}: {error:?}"),
            }
        }
    });
}

#[test]
fn accounts_need_a_phone_and_a_password_worth_the_name() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        let register = |phone: &'static str, password: &'static str| {
            let customer = customer.clone();
            async move {
                let form = [("phone", phone), ("password", password)];
                customer.post::<()>("/api/accounts/register", &form).await
            }
        };
        let phone = AppError::Invalid {
            field: Field::Phone,
        };
        assert_eq!(
            register("12", "long enough")
                .await
                .expect_err("a short phone")
                .1,
            phone
        );
        let password = AppError::Invalid {
            field: Field::Password,
        };
        assert_eq!(
            register("13912345678", "short")
                .await
                .expect_err("a short password")
                .1,
            password
        );
        register("13912345678", "long enough")
            .await
            .expect("an account");
        assert_eq!(
            register("139 1234 5678", "long enough")
                .await
                .expect_err("twice")
                .1,
            AppError::PhoneTaken
        );
        let log_in = |password: &'static str| {
            let customer = customer.clone();
            async move {
                let form = [("phone", "13912345678"), ("password", password)];
                customer.post::<()>("/api/accounts/login", &form).await
            }
        };
        assert_eq!(
            log_in("wrong").await.expect_err("wrong").1,
            AppError::WrongCredentials
        );
        log_in("long enough").await.expect("the right password");
        for _ in 0..9 {
            log_in("wrong").await.expect_err("wrong");
        }
        let (status, error) = log_in("long enough").await.expect_err("throttled");
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(matches!(error, AppError::Busy { .. }), "{error:?}");
    });
}
