//! What went wrong, and what to do about it.

use super::Lang;
use crate::{
    domain::{
        hold::{LimitedBy, Refusal},
        user::PASSWORD_CHARS_MIN,
    },
    error::{AppError, Field, Thing},
};

/// What happened and what to do, in one or two sentences.
#[must_use]
pub fn error_text(lang: Lang, error: &AppError) -> String {
    match error {
        AppError::Refused { refusal } => refusal_text(lang, refusal),
        AppError::Internal { reference } => internal_text(lang, reference),
        AppError::AttendeesFull { most } => match lang {
            Lang::En => {
                format!("Your list can have {most} people at most. Take somebody off first.")
            }
            Lang::ZhCn => format!("最多可添加 {most} 位购票人，请先移除一位。"),
        },
        AppError::Busy { retry_after_ms } => busy_text(lang, retry_after_ms.div_ceil(1000)),
        AppError::Invalid {
            field: Field::Password,
        } => password_text(lang),
        other => fixed_text(lang, other).to_owned(),
    }
}

fn pick(lang: Lang, en: &'static str, zh_cn: &'static str) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

/// Errors whose text holds no value.
fn fixed_text(lang: Lang, error: &AppError) -> &'static str {
    let (en, zh_cn) = match error {
        AppError::Unauthenticated => ("Sign in first, then try again.", "请先登录，再重试。"),
        AppError::Forbidden => ("Your account may not do this.", "您的账户没有这个权限。"),
        AppError::NotFound { what } => missing(*what),
        AppError::Invalid {
            field: Field::Phone,
        } => (
            "This is not a phone number. Use 7 to 15 digits; a + in front is fine.",
            "电话号码不正确。请输入 7 到 15 位数字，开头可以加 +。",
        ),
        AppError::WrongCredentials => (
            "Phone and password don't belong together. Check both and try again.",
            "电话号码或密码不正确，请检查后重试。",
        ),
        AppError::PhoneTaken => (
            "This phone number has an account already. Sign in instead.",
            "这个电话号码已注册，请直接登录。",
        ),
        AppError::Invalid { field: Field::Name } => (
            "This can't be a name on a ticket. Use 2 to 60 characters, as it stands in the document.",
            "姓名不正确。请输入 2 到 60 个字符，与证件上的姓名一致。",
        ),
        AppError::Invalid {
            field: Field::DocumentKind,
        } => ("Choose what kind of document it is.", "请选择证件类型。"),
        AppError::Invalid {
            field: Field::DocumentNumber,
        } => (
            "This can't be the number of such a document. Check its kind and every character.",
            "证件号码与证件类型不符，请检查类型和每一位号码。",
        ),
        AppError::AttendeeListed => (
            "This document is in your list already.",
            "您的列表中已有这个证件。",
        ),
        AppError::RefundClosed => (
            "It is too late to give these tickets back. The order's page says until when it was possible.",
            "已超过退票截止时间，无法退票。截止时间见订单页面。",
        ),
        AppError::Invalid {
            field: Field::Tickets,
        } => (
            "Choose at least one ticket of this order.",
            "请选择该订单中的至少一张票。",
        ),
        AppError::OrderState => (
            "The order has changed in the meantime, so this can't be done any more. The page shows how it stands.",
            "订单状态已改变，无法进行这个操作。页面显示的是最新状态。",
        ),
        AppError::NoPaymentService => (
            "The payment service can't be reached right now. Nothing was charged; try again in a moment.",
            "暂时无法连接支付服务。没有扣款，请稍后重试。",
        ),
        AppError::Offline => (
            "The server can't be reached. Check your connection and try again; nothing was lost.",
            "无法连接服务器。请检查网络后重试，您的内容没有丢失。",
        ),
        _ => (
            "The request could not be read. Reload the page and try again.",
            "请求无法识别。请刷新页面后重试。",
        ),
    };
    pick(lang, en, zh_cn)
}

fn missing(what: Thing) -> (&'static str, &'static str) {
    match what {
        Thing::Event => ("There is no such event", "没有这个演出"),
        Thing::Show => ("There is no such show", "没有这个场次"),
        Thing::Order => ("You have no such order", "您没有这个订单"),
        Thing::Attendee => ("Your list has no such person", "您的列表中没有这位购票人"),
        Thing::Page => ("There is no such page", "没有这个页面"),
    }
}

fn password_text(lang: Lang) -> String {
    match lang {
        Lang::En => format!(
            "The password is too short or too long. Use at least {PASSWORD_CHARS_MIN} characters."
        ),
        Lang::ZhCn => format!("密码过短或过长，请使用至少 {PASSWORD_CHARS_MIN} 个字符。"),
    }
}

fn busy_text(lang: Lang, seconds: u32) -> String {
    match lang {
        Lang::En => format!(
            "Very many people are here right now. Try again in {seconds} s; what has been done already is not done twice."
        ),
        Lang::ZhCn => {
            format!("当前访问人数很多，请在 {seconds} 秒后重试。已经完成的操作不会重复执行。")
        }
    }
}

fn internal_text(lang: Lang, reference: &str) -> String {
    let text = pick(
        lang,
        "Something failed on our side. Try again in a moment.",
        "我们这边出了问题，请稍后重试。",
    );
    if reference.is_empty() {
        return text.to_owned();
    }
    match lang {
        Lang::En => format!("{text} If you ask for help, name the reference {reference}."),
        Lang::ZhCn => format!("{text}如需帮助，请提供编号 {reference}。"),
    }
}

/// Why seats are not held. Seats have no names here; the page that has the plan adds them.
#[must_use]
pub fn refusal_text(lang: Lang, refusal: &Refusal) -> String {
    match refusal {
        Refusal::TooManySeats { limit } => match lang {
            Lang::En => {
                format!("One order can have {limit} seats at most. Take some off and try again.")
            }
            Lang::ZhCn => format!("一个订单最多 {limit} 个座位，请减少后重试。"),
        },
        Refusal::LimitReached {
            by, limit, have, ..
        } => limit_text(lang, *by, *limit, *have),
        Refusal::AttendeesRequired { tickets } => match lang {
            Lang::En => format!(
                "Each ticket of this show is for a person who is named. Tick as many people as you choose seats; for this choice that is {tickets}."
            ),
            Lang::ZhCn => format!(
                "本场实名购票，每张票对应一位购票人。请勾选与座位数相同的购票人：本次需要 {tickets} 位。"
            ),
        },
        Refusal::LevelRequired { level } => match lang {
            Lang::En => format!("This presale is for members of level {level} and above."),
            Lang::ZhCn => format!("本场预售仅限 {level} 级及以上会员。"),
        },
        other => fixed_refusal_text(lang, other).to_owned(),
    }
}

fn fixed_refusal_text(lang: Lang, refusal: &Refusal) -> &'static str {
    let (en, zh_cn) = match refusal {
        Refusal::NoSeats => ("Choose at least one seat.", "请至少选择一个座位。"),
        Refusal::RepeatedSeat { .. } => (
            "A seat was chosen twice. Choose your seats again.",
            "有座位被重复选择，请重新选座。",
        ),
        Refusal::UnknownSeat { .. } => (
            "This hall has no such seat. Choose your seats again.",
            "本厅没有这个座位，请重新选座。",
        ),
        Refusal::NotOnSale => ("This show is not on sale.", "本场次未开售。"),
        Refusal::SaleNotStarted { .. } => (
            "The sale has not begun yet. Nothing was held.",
            "尚未开始售票，没有锁定座位。",
        ),
        Refusal::SaleEnded => ("The sale of this show is over.", "本场次已停止售票。"),
        Refusal::SeatsTaken { .. } => (
            "Somebody was faster: some of these seats are taken. Your other seats are still chosen; nothing is held yet.",
            "有座位刚被他人选走。其余座位仍为您保留选择，尚未锁定。",
        ),
        Refusal::UnknownZone { .. } => (
            "This show has no such price category. Load the page again.",
            "本场次没有这个票档，请刷新页面。",
        ),
        Refusal::ZoneNotPriced { .. } => (
            "This price category has no price yet, so it can't be sold. Nothing was held.",
            "该票档尚未定价，暂不出售，没有锁定座位。",
        ),
        Refusal::ZoneSoldOut { .. } => (
            "This price category has too few tickets left. Choose fewer, or another one.",
            "这个票档余票不足，请减少数量或选择其他票档。",
        ),
        Refusal::UnknownAttendee { .. } => (
            "One of these people is not in your list any more. Load the page again and tick whom the tickets are for.",
            "所选购票人已不在您的列表中，请刷新页面后重新勾选。",
        ),
        Refusal::AttendeeRepeated { .. } => (
            "The same person was named for two tickets. Each ticket of an order is for another person.",
            "同一位购票人被重复选择。一个订单中每张票须对应不同的购票人。",
        ),
        Refusal::AlreadyPlaced { .. } => (
            "You have just ordered these seats. You find the order under Orders.",
            "您刚刚已下单，请在“订单”中查看。",
        ),
        Refusal::KeyUsed { .. } => (
            "What you sent from this page before was accepted: you find that order under Orders. What you have chosen now was not ordered; send it again if you want it, too.",
            "您之前在此页面的提交已成功下单，请在“订单”中查看。本次所选尚未下单，如仍需要请再次提交。",
        ),
        Refusal::Blocked => (
            "This order can't be placed online. Please ask our customer service.",
            "暂时无法在线下单，请联系客服。",
        ),
        _ => (
            "The seats of this show are being checked. Try again in a few seconds.",
            "正在核对本场座位，请几秒后重试。",
        ),
    };
    pick(lang, en, zh_cn)
}

fn limit_text(lang: Lang, by: LimitedBy, limit: u32, have: u32) -> String {
    let (en, zh_cn) = match by {
        LimitedBy::User => ("account", "每个账户"),
        LimitedBy::Phone => ("phone number", "每个电话号码"),
        LimitedBy::Device => ("device", "每台设备"),
        LimitedBy::Attendee => ("person", "每位购票人"),
    };
    match (lang, have) {
        (Lang::En, 0) => {
            format!("This show allows {limit} tickets for each {en}. Choose fewer seats.")
        }
        (Lang::En, _) => {
            let owner = match by {
                LimitedBy::User => "your account",
                LimitedBy::Phone => "your phone number",
                LimitedBy::Device => "this device",
                LimitedBy::Attendee => "one of the people you named",
            };
            format!(
                "This show allows {limit} tickets for each {en}, and {owner} has {have} already. Choose fewer seats."
            )
        }
        (Lang::ZhCn, 0) => format!("本场{zh_cn}限购 {limit} 张。请减少座位。"),
        (Lang::ZhCn, _) => format!("本场{zh_cn}限购 {limit} 张，已有 {have} 张。请减少座位。"),
    }
}
