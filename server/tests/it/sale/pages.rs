//! Pages as the server renders them, and the list of server functions.

use crate::support::{ShowSpec, TestApp, run};
use app::domain::time::Millis;
use reqwest::{Method, StatusCode, header};
use std::collections::BTreeSet;

#[test]
fn the_api_document_lists_exactly_the_registered_functions() {
    let document = include_str!("../../../../docs/api.md");
    let listed: BTreeSet<String> = document
        .lines()
        .filter_map(|line| line.strip_prefix("## `"))
        .filter_map(|line| line.split('`').next())
        .map(str::to_owned)
        .collect();
    let registered: BTreeSet<String> = leptos::server_fn::axum::server_fn_paths()
        .map(|(path, method)| format!("{method} {path}"))
        .collect();
    assert_eq!(listed, registered);
}

#[test]
fn a_show_page_is_whole_without_javascript() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let request = customer.request(Method::GET, &format!("/shows/{show}"));
        let page = request
            .header(header::ACCEPT, "text/html")
            .send()
            .await
            .expect("a page");
        assert_eq!(page.status(), StatusCode::OK);
        let policy = page.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .expect("text")
            .to_owned();
        assert!(
            policy.contains("'nonce-") && policy.contains("object-src 'none'"),
            "{policy}"
        );
        let html = page.text().await.expect("a body");
        assert_eq!(
            html.matches("type=checkbox name=seats[]").count(),
            40,
            "a box a seat"
        );
        assert!(html.contains("action=\"/api/orders/place\""));
    });
}

#[test]
fn a_show_whose_sale_is_over_says_so_and_offers_no_seats() {
    run(async {
        let app = TestApp::shared().await;
        let over = ShowSpec {
            sale_ends_in: Millis::minutes(-1),
            ..ShowSpec::default()
        };
        let show = app.show(over).await;
        let customer = app.customer().await;
        for (lang, words) in [
            ("en", "The sale of this show is over."),
            ("zh-CN", "本场次已停止售票。"),
        ] {
            let request = customer
                .request(Method::GET, &format!("/shows/{show}"))
                .header(header::ACCEPT_LANGUAGE, lang);
            let page = request.send().await.expect("a page");
            assert_eq!(page.status(), StatusCode::OK);
            let html = page.text().await.expect("a body");
            assert!(html.contains(words), "{html}");
            assert!(!html.contains("type=checkbox"), "no seat to tick");
            assert!(!html.contains("/api/orders/place"), "nothing to send");
        }
    });
}

#[test]
fn a_page_that_many_ask_for_at_once_is_whole_for_each() {
    const READERS: usize = 30;
    const TIMES: usize = 15;
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let paths = ["/account", "/orders", &format!("/shows/{show}")];
        for path in paths {
            let readers = (0..READERS).map(|_| async {
                for _ in 0..TIMES {
                    let request = customer.request(Method::GET, path);
                    let page = request.send().await.expect("a page");
                    assert_eq!(page.status(), StatusCode::OK, "{path}");
                    let html = page.text().await.expect("a body");
                    assert!(html.contains("</footer>"), "{path}: {html}");
                }
            });
            futures::future::join_all(readers).await;
        }
    });
}

#[test]
fn pages_speak_the_readers_language() {
    run(async {
        let app = TestApp::shared().await;
        let customer = app.customer().await;
        for (accepted, tag) in [("zh-CN,zh;q=0.9", "zh-CN"), ("en", "en"), ("de", "en")] {
            let request = customer
                .request(Method::GET, "/login")
                .header(header::ACCEPT_LANGUAGE, accepted);
            let html = request
                .send()
                .await
                .expect("a page")
                .text()
                .await
                .expect("a body");
            assert!(
                html.contains(&format!("<html lang=\"{tag}\"")),
                "{accepted}"
            );
        }
        let switch = customer.request(Method::GET, "/language?to=zh-CN&next=//evil.example");
        let answer = switch.send().await.expect("an answer");
        assert_eq!(answer.headers()[header::LOCATION], "/");
        assert!(
            answer.headers()[header::SET_COOKIE]
                .to_str()
                .expect("text")
                .starts_with("lang=zh-CN")
        );
    });
}
