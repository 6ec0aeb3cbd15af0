//! Words of orders.

use super::{
    Lang,
    order_money::{nothing_yet, progress_story, refund_story, unwanted, whole, withdrawn_money},
    refund::{partly_story, partly_word, refunded_story},
    texts,
    time::clock_with_seconds,
    zone::zone_name,
};
use crate::{
    domain::{
        money::Money,
        order::{CancelReason, OrderStatus, OrderView},
        time::VenueTime,
    },
    pages::order::stage::Stage,
};

texts! {
    /// Words of an order's page and of the list of orders.
    OrderText {
        order: "Order", "订单";
        orders: "Orders", "订单";
        progress: "Progress", "进度";
        step_tickets: "Tickets", "选票";
        step_pay: "Pay", "付款";
        step_confirmed: "Confirmed", "已确认";
        ordering: "Ordering…", "正在下单…";
        pay_in_time: "Pay within the time", "请在时限内付款";
        payment_failed: "The payment failed", "付款失败";
        processing: "Your payment is being processed", "正在处理付款";
        paid: "Paid", "已付款";
        timed_out: "The time ran out", "付款超时";
        given_back: "You cancelled this order", "您已取消订单";
        show_withdrawn: "The show was withdrawn", "本场次已取消";
        payment_closed: "The payment was closed", "付款已关闭";
        ended_by_staff: "The box office cancelled this order", "售票方已取消订单";
        refunded: "Refunded", "已退款";
        discarded: "The order could not be placed", "下单未成功";
        late_money: "Your payment could not be used", "付款未能用于此订单";
        word_creating: "Ordering", "下单中";
        word_pending: "Awaiting payment", "待付款";
        word_processing: "Payment in progress", "付款处理中";
        word_cancelled: "Cancelled", "已取消";
        word_discarded: "Not placed", "未成功";
        show: "Show", "演出";
        when: "When", "时间";
        place: "Where", "地点";
        tickets: "Tickets", "票";
        apart: "Not all of these seats are next to each other.", "这些座位并非全部相邻。";
        total: "Total", "总价";
        all_included: "fees and tax included", "已含手续费和税";
        placed: "Ordered", "下单时间";
        paid_at: "Paid", "付款时间";
        go_back_on_sale: "After that they go back on sale, and nothing is charged.", "届时将重新开售，不会扣款。";
        soon_over: "Less than two minutes left.", "剩余时间不足两分钟。";
        time_over: "The time is over. Asking the server how the order stands…", "时间已到，正在向服务器确认订单状态…";
        back_to_cashier: "Back to the cashier", "返回收银台";
        opening_cashier: "Opening the cashier…", "正在打开收银台…";
        cancel: "Cancel order", "取消订单";
        cancel_question: "Your tickets go back on sale at once, and nothing is charged.", "票将立即重新开售，不会扣款。";
        cancel_yes: "Yes, cancel the order", "确认取消";
        cancelling: "Cancelling…", "正在取消…";
        choose_again: "Choose again", "重新选票";
        all_orders: "All orders", "全部订单";
        to_show: "To the show", "查看场次";
        older: "Older orders", "更早的订单";
        none_yet: "No orders yet", "还没有订单";
        none_yet_hint: "What you order appears here, also when it was cancelled.", "您的订单会显示在这里，包括已取消的订单。";
        what_happened: "What happened", "订单记录";
        see_shows: "See what is on", "看看有什么演出";
    }
}

/// The heading of an order's page.
#[must_use]
pub fn heading(lang: Lang, stage: Stage) -> &'static str {
    let text = OrderText::of(lang);
    match stage {
        Stage::Creating => text.ordering,
        Stage::Awaiting { failed: false } => text.pay_in_time,
        Stage::Awaiting { failed: true } => text.payment_failed,
        Stage::Processing => text.processing,
        Stage::Paid => text.paid,
        Stage::Withdrawn { .. }
        | Stage::Cancelled {
            reason: CancelReason::ShowWithdrawn,
            ..
        } => text.show_withdrawn,
        Stage::Cancelled {
            refund: Some(_), ..
        }
        | Stage::Discarded { refund: Some(_) } => text.late_money,
        Stage::Cancelled { reason, .. } => match reason {
            CancelReason::User => text.given_back,
            CancelReason::Timeout => text.timed_out,
            CancelReason::ShowWithdrawn => text.show_withdrawn,
            CancelReason::PaymentClosed => text.payment_closed,
            CancelReason::Staff => text.ended_by_staff,
        },
        Stage::Refunded => text.refunded,
        Stage::Discarded { .. } => text.discarded,
    }
}

/// What happened and what comes next, in one to three sentences; empty when the heading says it all.
#[must_use]
pub fn story(lang: Lang, stage: Stage, order: &OrderView) -> String {
    match stage {
        Stage::Awaiting { failed: false } => String::new(),
        Stage::Awaiting { failed: true } => failed_story(lang, order),
        Stage::Cancelled {
            reason,
            refund,
            attempted,
        } => {
            let money = match refund {
                None if attempted => nothing_yet(lang),
                refund => refund_story(lang, unwanted(order), refund),
            };
            [cancelled_story(lang, reason, &order.expires), money].concat()
        }
        Stage::Withdrawn { refund } => [
            withdrawn_story(lang),
            withdrawn_money(lang, whole(order), refund),
        ]
        .concat(),
        Stage::Discarded { refund } => {
            let what = match lang {
                _ if order.withdrawn => withdrawn_story(lang),
                Lang::En => "The tickets went back on sale. ".to_owned(),
                Lang::ZhCn => "票已重新开售。".to_owned(),
            };
            [what, refund_story(lang, unwanted(order), refund)].concat()
        }
        Stage::Refunded => {
            let why = if order.withdrawn {
                withdrawn_story(lang)
            } else {
                String::new()
            };
            [why, refunded_story(lang, order)].concat()
        }
        Stage::Paid if order.items.iter().any(|item| item.refund.is_some()) => {
            partly_story(lang).to_owned()
        }
        other => fixed_story(lang, other).to_owned(),
    }
}

fn fixed_story(lang: Lang, stage: Stage) -> &'static str {
    let (en, zh_cn) = match stage {
        Stage::Creating => (
            "Your tickets are held. The order is being written down; this page goes on by itself.",
            "票已为您锁定，正在生成订单，页面会自动更新。",
        ),
        Stage::Processing => (
            "You started to pay, and the result is on its way. This page shows it as soon as it is known. Don't pay a second time elsewhere.",
            "您已发起付款，正在等待结果，页面会自动更新。请勿在别处重复付款。",
        ),
        _ => (
            "The tickets are yours. Enjoy the show.",
            "票已归您所有，祝您观演愉快。",
        ),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

fn failed_story(lang: Lang, order: &OrderView) -> String {
    let clock = clock_with_seconds(&order.expires);
    let zone = zone_name(lang, &order.expires);
    let refund = order.payment.as_ref().and_then(|payment| payment.refund);
    if let Some(refund) = refund {
        let progress = progress_story(lang, refund);
        return match lang {
            Lang::En => format!(
                "What arrived was not the amount due, so all of it goes back to you by itself. {progress} Your tickets are still held. You can try again until {clock} ({zone})."
            ),
            Lang::ZhCn => format!(
                "到账金额与应付金额不符，将全额自动退回。{progress}票仍为您保留。您可以在 {clock}（{zone}）前再次付款。"
            ),
        };
    }
    match lang {
        Lang::En => format!(
            "Nothing was charged, and your tickets are still held. You can try again until {clock} ({zone})."
        ),
        Lang::ZhCn => {
            format!("没有扣款，票仍为您保留。您可以在 {clock}（{zone}）前再次付款。")
        }
    }
}

fn cancelled_story(lang: Lang, reason: CancelReason, expires: &VenueTime) -> String {
    match reason {
        CancelReason::Timeout => {
            let clock = clock_with_seconds(expires);
            let zone = zone_name(lang, expires);
            match lang {
                Lang::En => format!(
                    "Your tickets were held until {clock} ({zone}). Then they went back on sale. "
                ),
                Lang::ZhCn => format!("票保留至 {clock}（{zone}），之后已重新开售。"),
            }
        }
        CancelReason::User | CancelReason::PaymentClosed | CancelReason::Staff => match lang {
            Lang::En => "The tickets went back on sale. ".to_owned(),
            Lang::ZhCn => "票已重新开售。".to_owned(),
        },
        CancelReason::ShowWithdrawn => withdrawn_story(lang),
    }
}

/// That the show was withdrawn, in a sentence.
fn withdrawn_story(lang: Lang) -> String {
    match lang {
        Lang::En => "The show does not take place as planned. ".to_owned(),
        Lang::ZhCn => "本场次不再按计划举行。".to_owned(),
    }
}

/// Until when tickets are held, to stand beside the zone: `Your tickets are held until 19:05:12`.
#[must_use]
pub fn held_until(lang: Lang, expires: &VenueTime) -> String {
    let clock = clock_with_seconds(expires);
    match lang {
        Lang::En => format!("Your tickets are held until {clock}"),
        Lang::ZhCn => format!("票为您保留至 {clock}"),
    }
}

/// Whom a ticket is for: `for Ann Example`.
#[must_use]
pub fn for_whom(lang: Lang, name: &str) -> String {
    match lang {
        Lang::En => format!("for {name}"),
        Lang::ZhCn => format!("购票人：{name}"),
    }
}

/// The button that leads to the cashier.
#[must_use]
pub fn pay(lang: Lang, total: Money) -> String {
    match lang {
        Lang::En => format!("Pay {total}"),
        Lang::ZhCn => format!("付款 {total}"),
    }
}

/// Where an order stands, in a word or two.
#[must_use]
pub fn status_word(lang: Lang, order: &OrderView) -> &'static str {
    let text = OrderText::of(lang);
    match order.status {
        OrderStatus::Creating => text.word_creating,
        OrderStatus::Pending if Stage::of(order) == Stage::Processing => text.word_processing,
        OrderStatus::Pending => text.word_pending,
        OrderStatus::Paid | OrderStatus::Ticketed if order.withdrawn => text.show_withdrawn,
        OrderStatus::Paid | OrderStatus::Ticketed => partly_word(lang, order),
        OrderStatus::Cancelled => text.word_cancelled,
        OrderStatus::Refunded => text.refunded,
        OrderStatus::Discarded => text.word_discarded,
    }
}

/// The deadline of an order in a list: `Pay until 19:05:12 China Standard Time`.
#[must_use]
pub fn pay_until(lang: Lang, expires: &VenueTime) -> String {
    let clock = clock_with_seconds(expires);
    let zone = zone_name(lang, expires);
    match lang {
        Lang::En => format!("Pay until {clock} ({zone})"),
        Lang::ZhCn => format!("请在 {clock} 前付款（{zone}）"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        money::Currency, order::RefundProgress, refund::RefundReason, time::Timestamp,
    };

    fn expires() -> VenueTime {
        VenueTime {
            at: Timestamp(1_795_951_812_000),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        }
    }

    #[test]
    fn an_order_that_ran_out_of_time_tells_until_when_and_that_nothing_was_charged() {
        let story = [
            cancelled_story(Lang::En, CancelReason::Timeout, &expires()),
            refund_story(
                Lang::En,
                (Money::new(13_600, Currency::Cny), RefundReason::LatePayment),
                None,
            ),
        ]
        .concat();
        assert_eq!(
            story,
            "Your tickets were held until 19:30:12 (China Standard Time). Then they went back on sale. Nothing was charged."
        );
    }

    #[test]
    fn a_withdrawn_show_is_in_the_heading() {
        for lang in [Lang::En, Lang::ZhCn] {
            let stage = Stage::Withdrawn {
                refund: RefundProgress::Sent,
            };
            assert_eq!(heading(lang, stage), OrderText::of(lang).show_withdrawn);
        }
    }

    #[test]
    fn no_stage_that_has_ended_invites_to_pay() {
        let late = Stage::Cancelled {
            reason: CancelReason::Timeout,
            refund: Some(RefundProgress::Failed),
            attempted: true,
        };
        assert_eq!(heading(Lang::En, late), "Your payment could not be used");
        assert_eq!(
            heading(Lang::ZhCn, Stage::Discarded { refund: None }),
            "下单未成功"
        );
    }
}
