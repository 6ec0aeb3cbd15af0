//! Words of signing in, registering and the account.

use super::{Lang, texts};
use crate::domain::user::{PASSWORD_CHARS_MIN, Phone};

texts! {
    /// Words of the account's forms.
    AccountText {
        sign_in: "Sign in", "登录";
        register: "Create an account", "注册";
        phone: "Phone number", "手机号";
        password: "Password", "密码";
        no_account: "No account yet?", "还没有账户？";
        have_account: "You have an account?", "已有账户？";
        keeps_choice: "Seats you have chosen stay chosen.", "您已选的座位会保留。";
        account: "Account", "账户";
        signed_in_as: "Signed in as", "当前登录";
        sign_out: "Sign out", "退出登录";
        your_orders: "Your orders", "我的订单";
    }
}

/// What a new account needs.
#[must_use]
pub fn password_hint(lang: Lang) -> String {
    match lang {
        Lang::En => format!("At least {PASSWORD_CHARS_MIN} characters."),
        Lang::ZhCn => format!("至少 {PASSWORD_CHARS_MIN} 个字符。"),
    }
}

/// What a phone number looks like.
#[must_use]
pub fn phone_hint(lang: Lang) -> String {
    let (min, max) = (Phone::DIGITS_MIN, Phone::DIGITS_MAX);
    match lang {
        Lang::En => format!("{min} to {max} digits, with or without a country code such as +86."),
        Lang::ZhCn => format!("{min} 到 {max} 位数字，可带国家代码，如 +86。"),
    }
}
