//! Words of the frame around every page.

use super::{Lang, texts};

texts! {
    /// Words of the header, the footer and the page that does not exist.
    ShellText {
        skip: "Skip to the content", "跳到正文";
        menu: "Menu", "菜单";
        main_nav: "Main", "主导航";
        shows: "Shows", "演出";
        orders: "Orders", "订单";
        account: "Account", "账户";
        sign_in: "Sign in", "登录";
        other_language: "中文", "English";
        footer: "Seats held for you while you pay. Times are the venue's.", "付款期间为您保留座位。时间均为场馆当地时间。";
        not_found: "There is no such page", "没有这个页面";
        not_found_hint: "The address may be mistyped, or what was here is over.", "地址可能有误，或者内容已经下线。";
        to_shows: "See what is on", "看看有什么演出";
        went_wrong: "This did not work", "没有成功";
        try_again: "Try again", "再试一次";
    }
}

/// The language that the switch leads to.
#[must_use]
pub fn other(lang: Lang) -> Lang {
    match lang {
        Lang::En => Lang::ZhCn,
        Lang::ZhCn => Lang::En,
    }
}

/// What a browser calls a page, by the page's own name.
#[must_use]
pub fn page_title(name: &str) -> String {
    match name {
        "" => "SeatFlow".to_owned(),
        name => format!("{name} · SeatFlow"),
    }
}
