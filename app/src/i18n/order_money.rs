//! Words of an order's money when its tickets are not its buyer's: what was charged, and what goes back.

use super::Lang;
use crate::domain::{
    money::Money,
    order::{OrderView, RefundProgress},
    refund::RefundReason,
};

/// What was paid and can't be kept, and why; all of the price where the refund is not known in full.
pub(super) fn unwanted(order: &OrderView) -> (Money, RefundReason) {
    let refunds = order.refunds.iter().rev();
    let mut unwanted = refunds.filter(|refund| !refund.reason.is_for_tickets());
    unwanted
        .next()
        .map_or((order.total, RefundReason::LatePayment), |refund| {
            (refund.amount, refund.reason)
        })
}

/// What was paid for an order; none when tickets of it were given back before, so that less than that is left.
pub(super) fn whole(order: &OrderView) -> Option<Money> {
    let before = |reason| matches!(reason, RefundReason::Customer | RefundReason::Staff);
    let is_whole = !order.refunds.iter().any(|refund| before(refund.reason));
    is_whole.then_some(order.total)
}

/// What becomes of the money of a paid order whose show was withdrawn; `whole` is what was paid, where all of it is left.
pub(super) fn withdrawn_money(lang: Lang, whole: Option<Money>, refund: RefundProgress) -> String {
    let progress = progress_story(lang, refund);
    match (lang, whole) {
        (Lang::En, None) => format!(
            "What you paid for the tickets you still had goes back to you by itself, too; you need to do nothing. {progress}"
        ),
        (Lang::ZhCn, None) => {
            format!("您其余票的票款也将全额自动退回，您无需任何操作。{progress}")
        }
        (Lang::En, Some(total)) => format!(
            "All you paid, {total}, goes back to you by itself; you need to do nothing. {progress}"
        ),
        (Lang::ZhCn, Some(total)) => {
            format!("您支付的 {total} 将全额自动退回，您无需任何操作。{progress}")
        }
    }
}

/// That nothing was charged although the customer had started to pay.
pub(super) fn nothing_yet(lang: Lang) -> String {
    match lang {
        Lang::En => {
            "Nothing was charged. Should a payment still arrive, all of it goes back to you by itself.".to_owned()
        }
        Lang::ZhCn => "没有扣款。如仍有付款到账，将全额自动退回。".to_owned(),
    }
}

/// What becomes of the money of an order that is over.
pub(super) fn refund_story(
    lang: Lang,
    (amount, reason): (Money, RefundReason),
    refund: Option<RefundProgress>,
) -> String {
    let Some(refund) = refund else {
        return match lang {
            Lang::En => "Nothing was charged.".to_owned(),
            Lang::ZhCn => "没有扣款。".to_owned(),
        };
    };
    let progress = progress_story(lang, refund);
    match (lang, reason) {
        (Lang::En, RefundReason::OtherAmount) => format!(
            "{amount} arrived, which was not the amount due, so all of it goes back to you by itself; you need to do nothing. {progress}"
        ),
        (Lang::ZhCn, RefundReason::OtherAmount) => {
            format!("到账 {amount}，与应付金额不符，将全额自动退回，您无需任何操作。{progress}")
        }
        (Lang::En, _) => format!(
            "Your payment arrived after that, so all of it, {amount}, goes back to you by itself; you need to do nothing. {progress}"
        ),
        (Lang::ZhCn, _) => {
            format!("您的付款在此之后到账，{amount} 将全额自动退回，您无需任何操作。{progress}")
        }
    }
}

/// How far a refund has come, in a sentence.
pub(super) fn progress_story(lang: Lang, refund: RefundProgress) -> &'static str {
    let (en, zh_cn) = match refund {
        RefundProgress::Requested => ("The refund is being sent.", "正在提交退款。"),
        RefundProgress::Sent => (
            "The payment service is carrying the refund out.",
            "支付渠道正在处理退款。",
        ),
        RefundProgress::Succeeded => ("The money is back.", "款项已退回。"),
        RefundProgress::Failed => (
            "The payment service has not accepted the refund yet. We keep trying, and our staff see it.",
            "支付渠道暂未受理退款，我们会继续重试，工作人员也会跟进。",
        ),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Currency;

    fn late() -> (Money, RefundReason) {
        (Money::new(13_600, Currency::Cny), RefundReason::LatePayment)
    }

    #[test]
    fn money_that_came_too_late_is_explained_with_its_amount() {
        for lang in [Lang::En, Lang::ZhCn] {
            let story = refund_story(lang, late(), Some(RefundProgress::Sent));
            assert!(story.contains("¥136.00"), "{story}");
        }
    }

    #[test]
    fn money_of_a_withdrawn_show_is_told_with_its_amount_and_progress() {
        for (lang, progress) in [
            (Lang::En, "is carrying the refund out"),
            (Lang::ZhCn, "正在处理退款"),
        ] {
            let total = Money::new(13_600, Currency::Cny);
            let story = withdrawn_money(lang, Some(total), RefundProgress::Sent);
            assert!(
                story.contains("¥136.00") && story.contains(progress),
                "{story}"
            );
            let rest = withdrawn_money(lang, None, RefundProgress::Sent);
            assert!(
                !rest.contains('¥') && rest.contains(progress),
                "less than the price is left: {rest}"
            );
        }
    }

    #[test]
    fn another_amount_than_was_due_is_not_called_late() {
        let other = (Money::new(13_500, Currency::Cny), RefundReason::OtherAmount);
        for (lang, words) in [(Lang::En, "not the amount due"), (Lang::ZhCn, "不符")] {
            let story = refund_story(lang, other, Some(RefundProgress::Sent));
            assert!(
                story.contains("¥135.00") && story.contains(words),
                "{story}"
            );
        }
    }
}
