//! Words of what happened to an order.

use super::Lang;
use crate::domain::{money::Money, order::CancelReason, refund::RefundReason, timeline::Happening};

/// What happened, in a sentence without a full stop.
#[must_use]
pub fn happening(lang: Lang, what: &Happening) -> String {
    match what {
        Happening::Placed => pick(lang, "Ordered: the tickets were held", "下单，票已锁定"),
        Happening::PaymentStarted { attempt } => {
            attempt_words(lang, *attempt, ("was started", "已发起"))
        }
        Happening::PaymentFailed { attempt } => {
            attempt_words(lang, *attempt, ("was declined", "失败"))
        }
        Happening::PaymentClosed { attempt } => attempt_words(
            lang,
            *attempt,
            ("ended without a payment", "已关闭，未付款"),
        ),
        Happening::Paid { amount } => with_money(lang, *amount, ("were paid", "已付款")),
        Happening::UnwantedMoney { amount, reason } => unwanted(lang, *amount, *reason),
        Happening::Cancelled { reason } => cancelled(lang, *reason),
        Happening::Discarded => pick(lang, "The order could not be placed", "下单未成功"),
        Happening::RefundRequested {
            amount,
            fee,
            tickets,
            reason,
        } => requested(lang, (*amount, *fee), *tickets, *reason),
        Happening::RefundSent { amount } => {
            with_money(lang, *amount, ("are on their way back", "退款中"))
        }
        Happening::RefundRefused { amount } => with_money(
            lang,
            *amount,
            (
                "could not be given back yet; it is tried again",
                "暂未退回，正在重试",
            ),
        ),
        Happening::RefundSucceeded { amount } => with_money(lang, *amount, ("are back", "已退回")),
        Happening::Refunded => pick(lang, "All tickets were given back", "所有票已退还"),
    }
}

fn pick(lang: Lang, en: &str, zh_cn: &str) -> String {
    match lang {
        Lang::En => en.to_owned(),
        Lang::ZhCn => zh_cn.to_owned(),
    }
}

fn attempt_words(lang: Lang, attempt: u32, (en, zh_cn): (&str, &str)) -> String {
    match lang {
        Lang::En if attempt == 1 => format!("Payment {en}"),
        Lang::En => format!("Payment {attempt} {en}"),
        Lang::ZhCn if attempt == 1 => format!("付款{zh_cn}"),
        Lang::ZhCn => format!("第 {attempt} 次付款{zh_cn}"),
    }
}

fn with_money(lang: Lang, amount: Money, (en, zh_cn): (&str, &str)) -> String {
    match lang {
        Lang::En => format!("{amount} {en}"),
        Lang::ZhCn => format!("{amount} {zh_cn}"),
    }
}

fn unwanted(lang: Lang, amount: Money, reason: RefundReason) -> String {
    match (lang, reason) {
        (Lang::En, RefundReason::SecondPayment) => {
            format!("{amount} arrived a second time; all of it goes back")
        }
        (Lang::En, RefundReason::OtherAmount) => {
            format!("{amount} arrived, which was not the amount due; all of it goes back")
        }
        (Lang::En, _) => format!("{amount} arrived too late; all of it goes back"),
        (Lang::ZhCn, RefundReason::SecondPayment) => format!("重复到账 {amount}，将全额退回"),
        (Lang::ZhCn, RefundReason::OtherAmount) => {
            format!("到账 {amount}，与应付金额不符，将全额退回")
        }
        (Lang::ZhCn, _) => format!("{amount} 到账过晚，将全额退回"),
    }
}

fn cancelled(lang: Lang, reason: CancelReason) -> String {
    let (en, zh_cn) = match reason {
        CancelReason::User => ("You cancelled the order", "您取消了订单"),
        CancelReason::Timeout => (
            "The time to pay ran out; the tickets went back on sale",
            "付款超时，票已重新开售",
        ),
        CancelReason::ShowWithdrawn => ("The show was withdrawn", "本场次已取消"),
        CancelReason::PaymentClosed => (
            "The payment was closed; the tickets went back on sale",
            "付款已关闭，票已重新开售",
        ),
        CancelReason::Staff => (
            "The box office cancelled the order; the tickets went back on sale",
            "售票方取消了订单，票已重新开售",
        ),
    };
    pick(lang, en, zh_cn)
}

fn requested(
    lang: Lang,
    (amount, fee): (Money, Money),
    tickets: u32,
    reason: RefundReason,
) -> String {
    let kept = match (lang, fee.minor) {
        (_, 0) => String::new(),
        (Lang::En, _) => format!(", {fee} is kept"),
        (Lang::ZhCn, _) => format!("，手续费 {fee}"),
    };
    let what = match (lang, reason) {
        (Lang::En, RefundReason::Customer) => format!("You gave {} back", count_en(tickets)),
        (Lang::En, RefundReason::Staff) => {
            format!("Our staff gave {} back for you", count_en(tickets))
        }
        (Lang::En, RefundReason::ShowWithdrawn) => "The show was withdrawn".to_owned(),
        (Lang::En, _) => "A refund was requested".to_owned(),
        (Lang::ZhCn, RefundReason::Customer) => format!("您退了 {tickets} 张票"),
        (Lang::ZhCn, RefundReason::Staff) => format!("工作人员为您退了 {tickets} 张票"),
        (Lang::ZhCn, RefundReason::ShowWithdrawn) => "本场次已取消".to_owned(),
        (Lang::ZhCn, _) => "已申请退款".to_owned(),
    };
    match lang {
        Lang::En => format!("{what}: {amount} goes back{kept}"),
        Lang::ZhCn => format!("{what}：退还 {amount}{kept}"),
    }
}

fn count_en(tickets: u32) -> String {
    match tickets {
        1 => "a ticket".to_owned(),
        tickets => format!("{tickets} tickets"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Currency;

    #[test]
    fn every_happening_is_told_in_both_languages() {
        let amount = Money::new(6_120, Currency::Cny);
        let fee = Money::new(680, Currency::Cny);
        let requested = Happening::RefundRequested {
            amount,
            fee,
            tickets: 1,
            reason: RefundReason::Customer,
        };
        assert_eq!(
            happening(Lang::En, &requested),
            "You gave a ticket back: ¥61.20 goes back, ¥6.80 is kept"
        );
        assert_eq!(
            happening(Lang::ZhCn, &requested),
            "您退了 1 张票：退还 ¥61.20，手续费 ¥6.80"
        );
        let second = Happening::PaymentFailed { attempt: 2 };
        assert_eq!(happening(Lang::En, &second), "Payment 2 was declined");
        assert_eq!(happening(Lang::ZhCn, &second), "第 2 次付款失败");
    }
}
