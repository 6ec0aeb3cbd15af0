//! What pages tell: an order's whole story for as long as its buyer wants to read it, and no time without its zone.

use crate::support::{ShowSpec, TestApp, eventually, run};
use app::domain::{
    order::{OrderStatus, RefundProgress},
    payment::PaymentStatus,
    time::Millis,
};

/// Words of one language that the tests look for.
pub struct Words {
    pub accept: &'static str,
    pub zone: &'static str,
    pub pay: &'static str,
    pub choose_again: &'static str,
    pub processing: &'static str,
    pub failed: &'static str,
    pub refused: &'static str,
    pub paid: &'static str,
    pub timed_out: &'static str,
    pub cancelled: &'static str,
    pub too_late: &'static str,
    /// How the map names a seat of the reader's own.
    pub own_seat: &'static str,
}

pub const LANGUAGES: &[Words] = &[
    Words {
        accept: "en",
        zone: "China Standard Time",
        pay: "Pay ¥",
        choose_again: "Choose again",
        processing: "Your payment is being processed",
        failed: "The payment failed",
        refused: "has not accepted the refund yet",
        paid: "Paid",
        timed_out: "The time ran out",
        cancelled: "Cancelled",
        too_late: "Your payment could not be used",
        own_seat: ", yours",
    },
    Words {
        accept: "zh-CN",
        zone: "中国标准时间",
        pay: "付款 ¥",
        choose_again: "重新选票",
        processing: "正在处理付款",
        failed: "付款失败",
        refused: "暂未受理退款",
        paid: "已付款",
        timed_out: "付款超时",
        cancelled: "已取消",
        too_late: "付款未能用于此订单",
        own_seat: "，您的座位",
    },
];

/// Furthest that a zone's name stands from its time, in characters of text.
const BESIDE: usize = 40;

/// A page's text: no tags, no scripts, no timers, whose minutes and seconds are no time of day.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        let tag = &rest[at..];
        let end = if tag.starts_with("<script") {
            "</script>"
        } else if tag.starts_with("<style") {
            "</style>"
        } else if tag.contains("role=\"timer\"") && tag.find("role=\"timer\"") < tag.find('>') {
            "</span>"
        } else {
            ">"
        };
        rest = tag.split_once(end).map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The times of day in a text, each with what stands after it.
fn times(text: &str) -> Vec<(String, String)> {
    let characters: Vec<char> = text.chars().collect();
    let digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let mut found = Vec::new();
    for at in 0..characters.len() {
        let is_time = digit(at)
            && digit(at + 1)
            && characters.get(at + 2) == Some(&':')
            && digit(at + 3)
            && digit(at + 4)
            && (at == 0 || !(digit(at - 1) || characters[at - 1] == ':'));
        if is_time {
            let after = characters[at..].iter().take(BESIDE).collect();
            found.push((characters[at..at + 5].iter().collect(), after));
        }
    }
    found
}

/// Fails when a page prints a time of day without its zone beside it. How many times it prints.
fn zoned_times(page: &str, words: &Words) -> usize {
    let text = text_of(page);
    let times = times(&text);
    for (time, after) in &times {
        assert!(after.contains(words.zone), "{time} in: {text}");
    }
    times.len()
}

#[test]
fn no_page_prints_a_time_without_its_zone() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let (awaiting, failed) = (
            customer.pending(show, &[1]).await,
            customer.pending(show, &[2]).await,
        );
        let cashier = customer.start_paying(failed).await.expect("a cashier");
        customer.at_cashier(&cashier, "fail").await;
        let (processing, paid) = (
            customer.pending(show, &[3]).await,
            customer.pending(show, &[4]).await,
        );
        customer.start_paying(processing).await.expect("a cashier");
        customer.pay(paid).await;
        customer.until(paid, OrderStatus::Paid).await;
        eventually("the attempt failed", || async {
            let attempt = customer.order(failed).await.ok()?.payment?;
            (attempt.status == PaymentStatus::Failed).then_some(())
        })
        .await;
        let event = "SELECT CAST(event_id AS SIGNED) FROM shows WHERE id = ?";
        let number = i64::try_from(show.0).expect("a small number");
        let event = app.count(event, number).await;
        let orders = [awaiting, failed, processing, paid];
        let mut paths = orders
            .map(|order_no| format!("/orders/{order_no}"))
            .to_vec();
        paths.extend(["/orders".to_owned(), format!("/shows/{show}")]);
        for words in LANGUAGES {
            for path in &paths {
                let page = customer.page(path, words.accept).await;
                assert!(zoned_times(&page, words) > 0, "{path}");
            }
        }
        for words in LANGUAGES {
            // A list of shows names the zone once, over the times of its venue.
            let page = customer
                .page(&format!("/events/{event}"), words.accept)
                .await;
            let text = text_of(&page);
            let (first, _) = times(&text).remove(0);
            assert!(text.find(words.zone) < text.find(&first), "{text}");
            assert!(text.contains(words.zone), "{text}");
        }
        app.clock.advance(Millis::minutes(15));
        for order_no in [awaiting, failed, processing] {
            customer.until(order_no, OrderStatus::Cancelled).await;
        }
        for words in LANGUAGES {
            for path in &paths {
                let page = customer.page(path, words.accept).await;
                assert!(zoned_times(&page, words) > 0, "{path}");
            }
        }
    });
}

#[test]
fn an_order_that_ran_out_of_time_and_was_paid_after_that_keeps_its_whole_story() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        let fields = [
            ("outcome", "succeed"),
            ("after_close", "on"),
            ("delay_s", "600"),
        ];
        customer.at_cashier_with(&cashier, &fields).await;
        app.clock.advance(Millis::minutes(15));
        customer.until(order_no, OrderStatus::Cancelled).await;
        let path = format!("/orders/{order_no}");
        for words in LANGUAGES {
            let page = customer.page(&path, words.accept).await;
            assert!(page.contains(words.timed_out), "{page}");
        }
        app.clock.advance(Millis::seconds(600));
        eventually("the money is back", || async {
            let attempt = customer.order(order_no).await.ok()?.payment?;
            (attempt.refund == Some(RefundProgress::Succeeded)).then_some(())
        })
        .await;
        for words in LANGUAGES {
            let list = customer.page("/orders", words.accept).await;
            assert!(list.contains(&path), "{list}");
            assert!(list.contains(words.cancelled), "{list}");
            let page = customer.page(&path, words.accept).await;
            assert!(page.contains(words.too_late), "{page}");
            assert!(page.contains(&order_no.grouped()), "{page}");
            assert!(page.contains("¥68.00"), "{page}");
        }
    });
}

#[test]
fn the_look_for_times_finds_them_and_knows_what_is_none() {
    let page = "<p>Until <time datetime=\"x 11:11\">19:30:12</time> <b>here</b></p>\
        <span role=\"timer\">14:59</span><script>x = '10:10';</script> 1:05:30 9:59";
    let found: Vec<String> = times(&text_of(page))
        .into_iter()
        .map(|(time, _)| time)
        .collect();
    assert_eq!(found, ["19:30"]);
}
