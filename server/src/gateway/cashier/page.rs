//! The cashier's pages as HTML. Every text from outside goes through [`Text`].

use super::{
    html::Text,
    words::{Told, Words, words},
};
use crate::gateway::{
    payment::Payment,
    switches::{COPIES_MAX, DELAY_S_MAX, FAULTY_ATTEMPTS_MAX, REFUND_TIMES_MAX},
    wire::{CallbackKind, CallbackStatus, DeliveryReport, PaymentState},
};
use app::domain::{
    text::Lang,
    time::{Civil, Timestamp},
};

const CSS: &str = include_str!("cashier.css");

/// The page of a payment as it stands at `now`.
pub(super) fn payment_page(
    payment: &Payment,
    deliveries: &[DeliveryReport],
    lang: Lang,
    now: Timestamp,
) -> String {
    let words = words(lang);
    let body = match standing(payment, words, now) {
        None => format!(
            r#"<p class="label">{to_pay}</p><h1 class="amount">{amount}</h1>{facts}{form}"#,
            to_pay = words.to_pay,
            amount = Text(&payment.amount.to_string()),
            facts = facts(payment, words, lang, Some(now)),
            form = choice(words),
        ),
        Some((class, told)) => format!(
            r#"{stamp}<p>{text}</p><p class="amount">{amount}</p>{facts}{after_close}{deliveries}"#,
            stamp = stamp(class, told),
            text = told.text,
            amount = Text(&payment.amount.to_string()),
            facts = facts(payment, words, lang, None),
            after_close = closed_choice(payment, words),
            deliveries = delivery_list(deliveries, words),
        ),
    };
    let back = format!(
        r#"<a class="back" rel="noreferrer" href="{href}">{text}</a>"#,
        href = Text(&payment.return_url),
        text = words.back,
    );
    frame(lang, &format!("{body}{back}"))
}

/// A page that is about no payment.
pub(super) fn plain_page(
    lang: Lang,
    choose: impl FnOnce(&'static Words) -> &'static Told,
) -> String {
    let told = choose(words(lang));
    frame(
        lang,
        &format!("{}<p>{}</p>", stamp("fault", told), told.text),
    )
}

/// What the page says of a payment that can't be decided about any more.
fn standing(
    payment: &Payment,
    words: &'static Words,
    now: Timestamp,
) -> Option<(&'static str, &'static Told)> {
    if payment.page_fails_until.is_some_and(|until| now < until) {
        return Some(("failed", &words.failed));
    }
    match payment.state {
        PaymentState::Succeeded => Some(("succeeded", &words.succeeded)),
        PaymentState::Failed => Some(("failed", &words.failed)),
        PaymentState::Open | PaymentState::Closed if payment.late.is_some() => {
            Some(("withheld", &words.withheld))
        }
        PaymentState::Closed => Some(("closed", &words.closed)),
        PaymentState::Open => None,
    }
}

fn frame(lang: Lang, slip: &str) -> String {
    let words = words(lang);
    let other = match lang {
        Lang::En => Lang::ZhCn,
        Lang::ZhCn => Lang::En,
    };
    format!(
        r#"<!DOCTYPE html>
<html lang="{lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{bank} · {notice}</title><style>{CSS}</style></head>
<body><header class="banner"><span>{bank}</span><span aria-hidden="true">·</span><span>{notice}</span></header>
<main><div class="slip">{slip}</div></main>
<footer><a href="?lang={other}" hreflang="{other}" lang="{other}">{other_language}</a></footer></body></html>
"#,
        lang = lang.tag(),
        bank = words.bank,
        notice = words.notice,
        other = other.tag(),
        other_language = words.other_language,
    )
}

fn stamp(class: &str, told: &Told) -> String {
    format!(r#"<h1 class="stamp {class}">{}</h1>"#, told.title)
}

/// Subject, number and, while it can be paid, the time that is left.
fn facts(payment: &Payment, words: &Words, lang: Lang, open_at: Option<Timestamp>) -> String {
    let time = open_at.map_or_else(String::new, |now| time_left(payment, words, now));
    format!(
        r#"<dl><dd>{subject}</dd><dt class="label">{number}</dt><dd class="code">{out_trade_no}</dd>{time}</dl>"#,
        subject = Text(payment.subject.get(lang)),
        number = words.number,
        out_trade_no = Text(&payment.out_trade_no),
    )
}

/// The bar runs down without a script; the words say what was left when the page was made, since they can't.
fn time_left(payment: &Payment, words: &Words, now: Timestamp) -> String {
    let left_s = (payment.expires_at - now).0.max(0) / 1000;
    format!(
        r#"<dt class="label">{pay_before}</dt><dd><span class="code">{until} UTC</span><br><span class="label">{left} {left_at_opening}</span>
<div class="time" style="--left:{left_s}s" aria-hidden="true"><i></i></div><p class="over" style="--left:{left_s}s">{over}</p></dd>"#,
        pay_before = words.pay_before,
        until = Civil::at_offset(payment.expires_at, 0),
        left = format_args!(
            "{} {} {} {}",
            left_s / 60,
            words.minutes,
            left_s % 60,
            words.seconds
        ),
        left_at_opening = words.left_at_opening,
        over = words.time_is_over,
    )
}

/// The buttons and the switches. The form has no address: it posts to the page's own, language included.
fn choice(words: &Words) -> String {
    format!(
        r#"<form method="post"><div class="choice"><button class="pay" name="outcome" value="succeed">{pay}</button>
<button class="fail" name="outcome" value="fail">{let_it_fail}</button></div>{switches}</form>"#,
        pay = words.pay,
        let_it_fail = words.let_it_fail,
        switches = switches(words),
    )
}

/// The one thing that can still happen to a closed payment: a bank that takes the money all the same.
fn closed_choice(payment: &Payment, words: &Words) -> String {
    if payment.state != PaymentState::Closed || payment.late.is_some() {
        return String::new();
    }
    format!(
        r#"<details><summary>{switches}</summary><form method="post"><fieldset><legend>{course}</legend>{after_close}</fieldset>
<p></p><button class="fail" name="outcome" value="succeed">{pay}</button></form></details>"#,
        switches = words.switches,
        course = words.course,
        after_close = check("after_close", words.after_close),
        pay = words.pay,
    )
}

fn switches(words: &Words) -> String {
    format!(
        r#"<details><summary>{switches}</summary><p class="label">{hint}</p>
<fieldset><legend>{callback}</legend>{delay}{copies}{reorder}</fieldset>
<fieldset><legend>{faults}</legend>{wrong_signature}{stale_timestamp}{wrong_amount}{faulty_attempts}</fieldset>
<fieldset><legend>{course}</legend>{failed_page}{after_close}</fieldset>
<fieldset><legend>{refunds}</legend>{answer}{times}{refund_delay}</fieldset></details>"#,
        switches = words.switches,
        hint = words.switches_hint,
        callback = words.callback,
        delay = number("delay_s", words.delay, 0, 0, DELAY_S_MAX),
        copies = number("copies", words.copies, 1, 1, COPIES_MAX),
        reorder = check("reorder", words.reorder),
        faults = words.faults,
        wrong_signature = check("wrong_signature", words.wrong_signature),
        stale_timestamp = check("stale_timestamp", words.stale_timestamp),
        wrong_amount = check("wrong_amount", words.wrong_amount),
        faulty_attempts = number(
            "faulty_attempts",
            words.faulty_attempts,
            1,
            1,
            FAULTY_ATTEMPTS_MAX
        ),
        course = words.course,
        failed_page = check("failed_page", words.failed_page),
        after_close = check("after_close", words.after_close),
        refunds = words.refunds,
        answer = refund_answer(words),
        times = number("refund_times", words.refund_times, 1, 0, REFUND_TIMES_MAX),
        refund_delay = number("refund_delay_s", words.refund_delay, 0, 0, DELAY_S_MAX),
    )
}

fn refund_answer(words: &Words) -> String {
    format!(
        r#"<label class="field">{label}<select name="refund_answer"><option value="accept">{accept}</option>
<option value="refuse">{refuse}</option><option value="fail">{fail}</option></select></label>"#,
        label = words.refund_answer,
        accept = words.refund_accept,
        refuse = words.refund_refuse,
        fail = words.refund_fail,
    )
}

fn check(name: &str, label: &str) -> String {
    format!(
        r#"<label class="check"><input type="checkbox" name="{name}"><span>{label}</span></label>"#
    )
}

fn number(name: &str, label: &str, value: u32, least: u32, most: u32) -> String {
    format!(
        r#"<label class="field">{label}<input type="number" name="{name}" value="{value}" min="{least}" max="{most}" required inputmode="numeric"></label>"#
    )
}

/// How the notices fare, for whoever wonders why the shop does not know yet.
fn delivery_list(deliveries: &[DeliveryReport], words: &Words) -> String {
    let mut rows = String::new();
    for delivery in deliveries {
        let state = if delivery.acknowledged_at_ms.is_some() {
            words.acknowledged
        } else if delivery.gave_up_at_ms.is_some() {
            words.gave_up
        } else {
            words.waiting
        };
        rows.push_str(&format!(
            "<tr><td>{says}</td><td>{attempts} ×</td><td>{answer}</td><td>{state}</td></tr>",
            says = says(delivery),
            attempts = delivery.attempts,
            answer = Text(delivery.last_answer.as_deref().unwrap_or("–")),
        ));
    }
    let list = if rows.is_empty() {
        format!("<p>{}</p>", words.no_deliveries)
    } else {
        format!(
            r#"<div class="scroll" tabindex="0" role="region" aria-label="{deliveries}"><table><thead><tr><th>{says}</th><th>{attempts}</th><th>{answer}</th><th>{state}</th></tr></thead><tbody>{rows}</tbody></table></div>"#,
            deliveries = words.deliveries,
            says = words.says,
            attempts = words.attempts,
            answer = words.last_answer,
            state = words.state,
        )
    };
    format!(
        "<details><summary>{}</summary>{list}</details>",
        words.deliveries
    )
}

/// The notice in the words of its body, which are the same in every language.
fn says(delivery: &DeliveryReport) -> &'static str {
    match (delivery.callback.kind, delivery.callback.status) {
        (CallbackKind::Payment, CallbackStatus::Succeeded) => "payment: succeeded",
        (CallbackKind::Payment, CallbackStatus::Failed) => "payment: failed",
        (CallbackKind::Payment, CallbackStatus::Closed) => "payment: closed",
        (CallbackKind::Refund, CallbackStatus::Succeeded) => "refund: succeeded",
        (CallbackKind::Refund, _) => "refund: failed",
    }
}
