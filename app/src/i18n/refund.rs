//! Words of giving tickets back.

use super::{Lang, order::OrderText, texts, time::full_date_time, zone::zone_name};
use crate::domain::{
    money::Money,
    order::{OrderView, RefundProgress},
    refund::{GivenBack, RefundReason, RefundTerms},
    tax::IncludedTax,
    time::VenueTime,
};

texts! {
    /// Words of the page on which tickets are given back, and of refunds on the order's page.
    RefundText {
        give_back: "Give tickets back", "退票";
        which: "Which tickets?", "要退哪几张票？";
        go_on: "Continue", "继续";
        choose_one: "Choose at least one ticket.", "请至少选择一张票。";
        sure: "Give these tickets back?", "确认退还以下票？";
        paid_for: "Paid for them", "票款";
        kept: "Kept as fee", "手续费";
        comes_back: "Comes back to you", "退还金额";
        where_to: "The money goes back to where you paid from.", "款项将原路退回。";
        seats_go: "The seats go back on sale once the money is back.", "退款完成后座位将重新开售。";
        change: "Choose other tickets", "重新选择";
        keep: "Keep my tickets", "不退了";
        to_order: "To the order", "查看订单";
        refunds: "Refunds", "退款记录";
        kept_short: "kept", "手续费";
        number: "Refund", "退款单号";
        back: "given back", "已退票";
        on_its_way: "being given back", "退票中";
        partly: "Partly refunded", "部分退款";
    }
}

/// The button that gives so many tickets back.
#[must_use]
pub fn yes(lang: Lang, tickets: usize) -> String {
    match (lang, tickets) {
        (Lang::En, 1) => "Yes, give the ticket back".to_owned(),
        (Lang::En, _) => format!("Yes, give {tickets} tickets back"),
        (Lang::ZhCn, _) => format!("确认退 {tickets} 张票"),
    }
}

/// What comes back for one ticket.
#[must_use]
pub fn for_one(lang: Lang, given: &GivenBack) -> String {
    let GivenBack { back, fee, .. } = given;
    match (lang, fee.minor) {
        (Lang::En, 0) => format!("{back} comes back"),
        (Lang::En, _) => format!("{back} comes back, {fee} is kept"),
        (Lang::ZhCn, 0) => format!("退还 {back}"),
        (Lang::ZhCn, _) => format!("退还 {back}，手续费 {fee}"),
    }
}

/// Until when tickets can be given back, and what is kept.
#[must_use]
pub fn terms(lang: Lang, terms: &RefundTerms) -> String {
    let fee = fee_sentence(lang, terms.fee_percent);
    match (&terms.until, lang) {
        (Some(until), Lang::En) => {
            format!(
                "You can give tickets back until {}. {fee}",
                moment(lang, until)
            )
        }
        (Some(until), Lang::ZhCn) => format!("可在 {}前退票。{fee}", moment(lang, until)),
        (None, _) => never(lang),
    }
}

fn fee_sentence(lang: Lang, percent: u8) -> String {
    match (lang, percent) {
        (Lang::En, 0) => "Nothing is kept.".to_owned(),
        (Lang::En, _) => format!("{percent}% of each ticket's price is kept as a fee."),
        (Lang::ZhCn, 0) => "不收手续费。".to_owned(),
        (Lang::ZhCn, _) => format!("每张票收取票价 {percent}% 的手续费。"),
    }
}

fn never(lang: Lang) -> String {
    match lang {
        Lang::En => "Tickets of this show are not taken back.".to_owned(),
        Lang::ZhCn => "本场次不支持退票。".to_owned(),
    }
}

/// A moment with its zone.
fn moment(lang: Lang, at: &VenueTime) -> String {
    let (time, zone) = (full_date_time(lang, at), zone_name(lang, at));
    match lang {
        Lang::En => format!("{time} ({zone})"),
        Lang::ZhCn => format!("{time}（{zone}）"),
    }
}

/// Why a paid order has nothing that its buyer could give back now; none when it has something.
#[must_use]
pub fn why_not(lang: Lang, order: &OrderView) -> Option<String> {
    if !order.returnable().is_empty() {
        return None;
    }
    let is_left = order.items.iter().any(|item| item.refund.is_none());
    if !is_left {
        return Some(pick(
            lang,
            "All tickets of this order were given back.",
            "本订单的票已全部退还。",
        ));
    }
    match (&order.refund_terms.until, lang) {
        (None, _) => Some(never(lang)),
        (Some(until), _) if order.now < until.at => Some(pick(
            lang,
            "This order has no tickets that could be given back.",
            "本订单没有可退的票。",
        )),
        (Some(until), Lang::En) => Some(format!(
            "Tickets could be given back until {}. That has passed.",
            moment(lang, until)
        )),
        (Some(until), Lang::ZhCn) => Some(format!(
            "退票截止时间为 {}，现已截止。",
            moment(lang, until)
        )),
    }
}

fn pick(lang: Lang, en: &str, zh_cn: &str) -> String {
    match lang {
        Lang::En => en.to_owned(),
        Lang::ZhCn => zh_cn.to_owned(),
    }
}

/// How far a refund has come, in a few words.
#[must_use]
pub fn progress_word(lang: Lang, progress: RefundProgress) -> &'static str {
    let (en, zh_cn) = match progress {
        RefundProgress::Requested => ("requested", "已申请"),
        RefundProgress::Sent => ("on its way", "退款中"),
        RefundProgress::Succeeded => ("the money is back", "已退回"),
        RefundProgress::Failed => (
            "taking longer: we keep trying, and our staff see it",
            "处理时间较长：我们正在重试，工作人员会跟进",
        ),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

/// What stands beside a ticket that is given back, or is about to be.
#[must_use]
pub fn ticket_word(lang: Lang, progress: RefundProgress) -> &'static str {
    let text = RefundText::of(lang);
    match progress {
        RefundProgress::Succeeded => text.back,
        _ => text.on_its_way,
    }
}

/// Why money goes back, in a few words; empty for what the buyer asked for.
#[must_use]
pub fn reason_words(lang: Lang, reason: RefundReason) -> &'static str {
    let (en, zh_cn) = match reason {
        RefundReason::Customer => ("", ""),
        RefundReason::Staff => ("by our staff", "由工作人员办理"),
        RefundReason::ShowWithdrawn => ("the show was withdrawn", "本场次已取消"),
        RefundReason::LatePayment => ("paid too late", "付款到账过晚"),
        RefundReason::SecondPayment => ("paid twice", "重复付款"),
        RefundReason::OtherAmount => ("not the amount due", "付款金额不符"),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

/// What went back for an order's tickets, and what was kept.
#[must_use]
pub fn refunded_story(lang: Lang, order: &OrderView) -> String {
    let for_tickets = || {
        let refunds = order.refunds.iter();
        refunds.filter(|refund| refund.reason.is_for_tickets())
    };
    let sum = |amounts: i64| Money::new(amounts, order.total.currency);
    let kept = sum(for_tickets().map(|refund| refund.fee.minor).sum());
    let back = sum(order.total.minor - kept.minor);
    match (lang, kept.minor) {
        (Lang::En, 0) => format!("{back} went back to where you paid from."),
        (Lang::En, _) => {
            format!("{back} went back to where you paid from, and {kept} was kept as a fee.")
        }
        (Lang::ZhCn, 0) => format!("{back} 已原路退回。"),
        (Lang::ZhCn, _) => format!("{back} 已原路退回，手续费 {kept}。"),
    }
}

/// That an order goes on with the tickets that are left.
#[must_use]
pub fn partly_story(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "The tickets that are not struck through are yours. Enjoy the show.",
        Lang::ZhCn => "未划去的票归您所有，祝您观演愉快。",
    }
}

/// The tax within a total: `of it ¥89.26 tax (22%)`.
#[must_use]
pub fn tax(lang: Lang, tax: &IncludedTax) -> String {
    let IncludedTax { amount, rate } = tax;
    match lang {
        Lang::En => format!("of it {amount} tax ({rate}%)"),
        Lang::ZhCn => format!("其中税款 {amount}（税率 {rate}%）"),
    }
}

/// Where an order stands whose tickets were given back in part.
#[must_use]
pub fn partly_word(lang: Lang, order: &OrderView) -> &'static str {
    let is_partly = order
        .items
        .iter()
        .any(|item| item.refund == Some(RefundProgress::Succeeded));
    if is_partly {
        RefundText::of(lang).partly
    } else {
        OrderText::of(lang).paid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{money::Currency, tax::TaxRate, time::Timestamp};

    fn until() -> RefundTerms {
        RefundTerms {
            until: Some(VenueTime {
                at: Timestamp(1_795_951_800_000),
                offset_min: 480,
                zone: "Asia/Shanghai".to_owned(),
            }),
            fee_percent: 10,
        }
    }

    #[test]
    fn terms_say_until_when_on_which_clock_and_for_how_much() {
        assert_eq!(
            terms(Lang::En, &until()),
            "You can give tickets back until Sun 29 Nov 2026, 19:30 (China Standard Time). \
             10% of each ticket's price is kept as a fee."
        );
        let zh = terms(Lang::ZhCn, &until());
        assert!(
            zh.contains("2026年11月29日 周日 19:30") && zh.contains("10%"),
            "{zh}"
        );
        let never = RefundTerms {
            until: None,
            fee_percent: 0,
        };
        assert_eq!(
            terms(Lang::En, &never),
            "Tickets of this show are not taken back."
        );
    }

    #[test]
    fn what_comes_back_for_a_ticket_names_the_fee_only_where_there_is_one() {
        let price = Money::new(6_800, Currency::Cny);
        let free = GivenBack::of(Currency::Cny, [price], 0).unwrap();
        assert_eq!(for_one(Lang::En, &free), "¥68.00 comes back");
        let dear = GivenBack::of(Currency::Cny, [price], 10).unwrap();
        assert_eq!(for_one(Lang::ZhCn, &dear), "退还 ¥61.20，手续费 ¥6.80");
    }

    #[test]
    fn tax_is_told_with_its_rate() {
        let total = Money::new(49_500, Currency::Eur);
        let included = IncludedTax::of(total, TaxRate(2_200)).unwrap();
        assert_eq!(tax(Lang::En, &included), "of it €89.26 tax (22%)");
    }
}
