//! Words of attendees: the list, and whom tickets are for.

use super::{Lang, texts};
use crate::domain::attendee::{ATTENDEES_MAX, DocumentKind};

texts! {
    /// Words of the list of attendees and of the choice among them.
    AttendeesText {
        people: "People you buy for", "购票人";
        why: "Some shows sell each ticket to a person by name. Keep the people here, and tick them when you buy.", "部分场次实行实名购票。请在此添加购票人，购票时勾选即可。";
        privacy: "We keep no document numbers, only a fingerprint that tells people apart and the last characters.", "我们不保存证件号码，只保存用于区分购票人的指纹和末几位字符。";
        none_yet: "Nobody yet.", "还没有购票人。";
        add: "Add a person", "添加购票人";
        name: "Name, as in the document", "姓名（与证件一致）";
        document: "Document", "证件类型";
        number: "Document number", "证件号码";
        remove: "Remove", "移除";
        for_whom: "Who are the tickets for?", "为谁购票？";
        one_each: "Tick one person for each ticket. They get the seats in plan order.", "每张票勾选一位购票人，按座位顺序对应。";
        sign_in_first: "Each ticket is for a person who is named. You name them after signing in; your seats stay chosen.", "本场实名购票。登录后即可选择购票人，已选的座位会保留。";
        add_first: "Each ticket of this show is for a person who is named, and your list is empty.", "本场实名购票，您还没有添加购票人。";
        add_now: "Add the first person", "添加购票人";
        add_another: "Add another person", "添加其他购票人";
        back: "Back to the show", "返回场次";
    }
}

/// What a kind of document is called.
#[must_use]
pub fn document_kind(lang: Lang, kind: DocumentKind) -> &'static str {
    let (en, zh_cn) = match kind {
        DocumentKind::ResidentCard => ("Resident identity card (China)", "居民身份证"),
        DocumentKind::Passport => ("Passport", "护照"),
        DocumentKind::Other => ("Another official document", "其他证件"),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

/// The button that takes a person off the list, as a voice reads it.
#[must_use]
pub fn remove_person(lang: Lang, name: &str) -> String {
    match lang {
        Lang::En => format!("Remove {name}"),
        Lang::ZhCn => format!("移除 {name}"),
    }
}

/// How many people the list can have.
#[must_use]
pub fn list_note(lang: Lang, listed: usize) -> String {
    match lang {
        Lang::En => format!("{listed} of {ATTENDEES_MAX}"),
        Lang::ZhCn => format!("{listed} / {ATTENDEES_MAX}"),
    }
}

/// How many people are ticked for how many seats: `1 of 2 named`.
#[must_use]
pub fn named_count(lang: Lang, named: usize, seats: usize) -> String {
    match lang {
        Lang::En => format!("{named} of {seats} named"),
        Lang::ZhCn => format!("已选 {named} / {seats} 位"),
    }
}

/// That one person has too many tickets, by name; the tickets may have been bought by others.
#[must_use]
pub fn limit_of(lang: Lang, name: &str, limit: u32, have: u32) -> String {
    match lang {
        Lang::En => format!(
            "This show allows {limit} tickets for each person, and {name} has {have} already, whoever bought them. Name somebody else."
        ),
        Lang::ZhCn => {
            format!(
                "本场每位购票人限购 {limit} 张，{name} 已有 {have} 张（包括他人代购）。请更换购票人。"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_with_too_many_tickets_is_named() {
        for lang in [Lang::En, Lang::ZhCn] {
            let text = limit_of(lang, "Ann Example", 2, 2);
            assert!(text.contains("Ann Example") && text.contains('2'), "{text}");
        }
    }
}
