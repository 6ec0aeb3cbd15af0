//! Words of the show page and its seat map.

use super::{Lang, texts, time};
use crate::domain::{
    money::Money,
    plan::SeatKind,
    seat::SeatState,
    time::{Millis, Timestamp, VenueTime},
};

texts! {
    /// Words of the show page.
    ShowText {
        seat_map: "Seat map", "座位图";
        choose_for_me: "Choose for me", "帮我选座";
        best_together: "The best seats together", "挑选最佳连座";
        fewer: "One fewer", "少一张";
        more: "One more", "多一张";
        quantity: "How many", "张数";
        zone: "Price category", "票档";
        zones: "Prices", "票档";
        standing: "Standing", "站席";
        your_seats: "Your seats", "已选座位";
        none_chosen: "Choose your seats on the map.", "请在座位图上选座。";
        without_script: "Tick your seats on the map, then hold them. The order shows their prices and the total before you pay.", "请在座位图上勾选座位，然后锁定。付款前，订单会显示价格和总额。";
        total: "Total", "合计";
        included: "fees and tax included", "已含手续费和税";
        holding: "Holding your seats…", "正在锁定座位…";
        zoom: "Size of the map", "座位图大小";
        zoom_in: "Larger", "放大";
        zoom_out: "Smaller", "缩小";
        zoom_fit: "Show the whole map", "显示全图";
        legend: "What the seats look like", "座位图例";
        free: "Free", "可选";
        yours: "Yours", "我的";
        held_by_others: "Held by others", "他人锁定";
        sold: "Sold", "已售";
        withheld: "Not offered", "不出售";
        wheelchair: "Wheelchair", "轮椅席";
        companion: "Companion", "陪同席";
        couple: "Couple", "情侣座";
        retrying: "The map is not up to date. Trying again…", "座位图不是最新的，正在重试…";
        no_connection: "No connection. The map is brought up to date as soon as there is one.", "网络已断开，恢复后座位图会自动更新。";
        map_failed: "The map could not be loaded.", "座位图无法加载。";
        try_again: "Try again", "再试一次";
        loading_map: "Loading the map…", "正在加载座位图…";
        to_pay: "Continue to pay", "继续付款";
        to_orders: "See your orders", "查看订单";
        other_shows: "See other shows", "查看其他场次";
        ended: "The sale of this show is over.", "本场次已停止售票。";
        sold_out: "Every seat of this show is sold or held. A seat that comes back shows as free.", "本场座位已全部售出或锁定。有座位退回时会显示为可选。";
        withdrawn: "This show is not offered any more.", "本场次已取消。";
        opens_in: "Opens in", "距开售";
    }
}

impl ShowText {
    /// What a place is for; nothing for a standard seat.
    #[must_use]
    pub fn kind(&self, kind: SeatKind) -> Option<&'static str> {
        match kind {
            SeatKind::Standard => None,
            SeatKind::Wheelchair => Some(self.wheelchair),
            SeatKind::Companion => Some(self.companion),
            SeatKind::Couple => Some(self.couple),
        }
    }
}

/// What stands between the parts of a seat's name.
#[must_use]
pub fn separator(lang: Lang) -> &'static str {
    match lang {
        Lang::En => ", ",
        Lang::ZhCn => "，",
    }
}

/// The last part of a seat's name: what can be done with it.
#[must_use]
pub fn state_word(lang: Lang, state: SeatState, is_mine: bool) -> &'static str {
    let (en, zh_cn) = match state {
        _ if is_mine => ("yours", "您的座位"),
        SeatState::Available => ("available", "可选"),
        SeatState::Locked => ("held by others", "他人锁定"),
        SeatState::Sold => ("sold", "已售"),
        SeatState::Blocked => ("not offered", "不出售"),
    };
    match lang {
        Lang::En => en,
        Lang::ZhCn => zh_cn,
    }
}

/// What a seat's name has after its place and before its state: `, Centre, ¥45.00, `.
#[must_use]
pub fn name_middle(lang: Lang, zone: &str, price: Money) -> String {
    let separator = separator(lang);
    format!("{separator}{zone}{separator}{price}{separator}")
}

/// A place with what it is for: `Row M, seat 1 (Wheelchair)`.
#[must_use]
pub fn place_with_kind(lang: Lang, place: String, kind: SeatKind) -> String {
    match (ShowText::of(lang).kind(kind), lang) {
        (None, _) => place,
        (Some(word), Lang::En) => format!("{place} ({word})"),
        (Some(word), Lang::ZhCn) => format!("{place}（{word}）"),
    }
}

/// A row as a voice reads it before its seats.
#[must_use]
pub fn row_name(lang: Lang, section: &str, row: &str) -> String {
    match (lang, section.is_empty(), row.is_empty()) {
        (_, _, true) => section.to_owned(),
        (Lang::En, true, _) => format!("Row {row}"),
        (Lang::En, false, _) => format!("{section}, row {row}"),
        (Lang::ZhCn, true, _) => format!("{row} 排"),
        (Lang::ZhCn, false, _) => format!("{section} {row} 排"),
    }
}

/// A place named from the smallest to the largest part: `Hall 2, Lantern House, Shanghai`, in Chinese the other way round.
#[must_use]
pub fn where_it_is(lang: Lang, places: &[&str]) -> String {
    match lang {
        Lang::En => places.join(", "),
        Lang::ZhCn => places.iter().rev().copied().collect::<Vec<_>>().join(" "),
    }
}

/// When and where, above the title: `Tonight at Lantern Hall, Shanghai`.
#[must_use]
pub fn when_and_where(lang: Lang, starts: &VenueTime, now: Timestamp, places: &[&str]) -> String {
    let (en, zh_cn) = day_word(starts, now);
    let place = where_it_is(lang, places);
    match lang {
        Lang::En if en.is_empty() => place,
        Lang::En => format!("{en} at {place}"),
        Lang::ZhCn if zh_cn.is_empty() => place,
        Lang::ZhCn => format!("{zh_cn} · {place}"),
    }
}

/// How people call the show's day as long as it is near, on the venue's clock.
fn day_word(starts: &VenueTime, now: Timestamp) -> (&'static str, &'static str) {
    const DAY: Millis = Millis::minutes(24 * 60);
    let day = starts.civil();
    if day.iso_date() == starts.with(now).civil().iso_date() {
        return if day.hour >= 17 {
            ("Tonight", "今晚")
        } else {
            ("Today", "今天")
        };
    }
    if day.iso_date() == starts.with(now + DAY).civil().iso_date() {
        return ("Tomorrow", "明天");
    }
    ("", "")
}

/// Seats of a zone that are free.
#[must_use]
pub fn free_count(lang: Lang, free: u32) -> String {
    match lang {
        Lang::En => format!("{free} free"),
        Lang::ZhCn => format!("余 {free} 座"),
    }
}

/// The button: `Hold seats`, `Hold 1 seat`, `Hold 2 seats`.
#[must_use]
pub fn hold_button(lang: Lang, seats: usize) -> String {
    match (lang, seats) {
        (Lang::En, 0) => "Hold seats".to_owned(),
        (Lang::En, 1) => "Hold 1 seat".to_owned(),
        (Lang::En, _) => format!("Hold {seats} seats"),
        (Lang::ZhCn, 0) => "锁定座位".to_owned(),
        (Lang::ZhCn, _) => format!("锁定 {seats} 个座位"),
    }
}

/// The button that leaves the choice to us: `Choose 2 for me`.
#[must_use]
pub fn choose_button(lang: Lang, quantity: u32) -> String {
    match lang {
        Lang::En => format!("Choose {quantity} for me"),
        Lang::ZhCn => format!("帮我选 {quantity} 座"),
    }
}

/// What holding means: `Held for 15 minutes while you pay. Nothing is charged yet.`
#[must_use]
pub fn hold_note(lang: Lang, hold_for: Millis) -> String {
    let seconds = hold_for.0.max(0) / 1000;
    let is_minutes = seconds >= 60 && seconds % 60 == 0;
    let count = if is_minutes { seconds / 60 } else { seconds };
    match lang {
        Lang::En => {
            let unit = if is_minutes { "minute" } else { "second" };
            let plural = if count == 1 { "" } else { "s" };
            format!("Held for {count} {unit}{plural} while you pay. Nothing is charged yet.")
        }
        Lang::ZhCn => {
            let unit = if is_minutes { "分钟" } else { "秒" };
            format!("付款期间保留 {count} {unit}，现在不会扣款。")
        }
    }
}

/// Why one more seat can't be chosen; `owned` are seats the buyer has already.
#[must_use]
pub fn limit_reached(lang: Lang, limit: u32, owned: u32) -> String {
    match (lang, owned) {
        (Lang::En, 0) => format!(
            "One buyer can have {limit} seats of this show at most. Take one off to choose another."
        ),
        (Lang::En, _) => format!(
            "One buyer can have {limit} seats of this show at most, and {owned} are yours already."
        ),
        (Lang::ZhCn, 0) => format!("本场每人限购 {limit} 张。请先取消一个座位，再选其他座位。"),
        (Lang::ZhCn, _) => format!("本场每人限购 {limit} 张，您已有 {owned} 张。"),
    }
}

/// How many seats of the show one buyer can have.
#[must_use]
pub fn limit_note(lang: Lang, limit: u32) -> String {
    match lang {
        Lang::En => format!("At most {limit} for one buyer."),
        Lang::ZhCn => format!("每人限购 {limit} 张。"),
    }
}

/// That chosen seats went to somebody else, by name.
#[must_use]
pub fn lost(lang: Lang, places: &[String]) -> String {
    let names = places.join(match lang {
        Lang::En => "; ",
        Lang::ZhCn => "；",
    });
    match (lang, places.len()) {
        (Lang::En, 1) => format!("Taken by somebody else and no longer chosen: {names}."),
        (Lang::En, _) => format!("Taken by others and no longer chosen: {names}."),
        (Lang::ZhCn, _) => format!("以下座位已被他人选走，已从您的选择中移除：{names}。"),
    }
}

/// Offers a seat in place of a lost one.
#[must_use]
pub fn take_instead(lang: Lang, place: &str) -> String {
    match lang {
        Lang::En => format!("Take {place} instead"),
        Lang::ZhCn => format!("改选 {place}"),
    }
}

/// The button that takes a seat off the choice, as a voice reads it.
#[must_use]
pub fn take_off(lang: Lang, place: &str) -> String {
    match lang {
        Lang::En => format!("Take off {place}"),
        Lang::ZhCn => format!("取消 {place}"),
    }
}

/// That seats of this show are the reader's already, or tickets when some of them have no seat.
#[must_use]
pub fn mine_note(lang: Lang, seats: usize, standing: u32, awaits_payment: bool) -> String {
    let standing = usize::try_from(standing).unwrap_or(usize::MAX);
    let count = seats.saturating_add(standing);
    let (one, many, zh_cn) = match standing {
        0 => ("seat", "seats", "个座位"),
        _ => ("ticket", "tickets", "张票"),
    };
    match (lang, count, awaits_payment) {
        (Lang::En, 1, true) => {
            format!("You hold 1 {one} of this show until you pay or give it up.")
        }
        (Lang::En, _, true) => {
            format!("You hold {count} {many} of this show until you pay or give them up.")
        }
        (Lang::En, 1, false) => format!("1 {one} of this show is yours."),
        (Lang::En, _, false) => format!("{count} {many} of this show are yours."),
        (Lang::ZhCn, _, true) => format!("您已锁定本场 {count} {zh_cn}，请付款或取消。"),
        (Lang::ZhCn, _, false) => format!("您已拥有本场 {count} {zh_cn}。"),
    }
}

/// When the sale opens: `The sale opens Sun 29 Nov, 19:30 (China Standard Time).`
#[must_use]
pub fn opens(lang: Lang, opens: &VenueTime) -> String {
    let when = time::date_time(lang, opens);
    let zone = super::zone::zone_name(lang, opens);
    match lang {
        Lang::En => format!("The sale opens {when} ({zone})."),
        Lang::ZhCn => format!("{when}（{zone}）开售。"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Currency;

    const EVENING_MS: i64 = 1_795_951_800_000;

    fn shanghai(at_ms: i64) -> VenueTime {
        VenueTime {
            at: Timestamp(at_ms),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        }
    }

    #[test]
    fn a_show_of_this_evening_is_tonight_at_the_venue_wherever_the_server_stands() {
        let starts = shanghai(EVENING_MS);
        let morning = Timestamp(EVENING_MS - 12 * 3_600_000);
        let yesterday = Timestamp(EVENING_MS - 24 * 3_600_000);
        let places = ["Lantern Hall", "Shanghai"];
        assert_eq!(
            when_and_where(Lang::En, &starts, morning, &places),
            "Tonight at Lantern Hall, Shanghai"
        );
        assert_eq!(
            when_and_where(Lang::ZhCn, &starts, yesterday, &["灯笼厅", "上海"]),
            "明天 · 上海 灯笼厅"
        );
        let long_before = Timestamp(0);
        assert_eq!(
            when_and_where(Lang::En, &starts, long_before, &places),
            "Lantern Hall, Shanghai"
        );
    }

    #[test]
    fn a_hold_is_told_in_minutes_or_in_seconds() {
        assert!(hold_note(Lang::En, Millis::minutes(15)).starts_with("Held for 15 minutes "));
        assert!(hold_note(Lang::En, Millis::minutes(1)).starts_with("Held for 1 minute "));
        assert!(hold_note(Lang::En, Millis::seconds(5)).starts_with("Held for 5 seconds "));
        assert!(hold_note(Lang::ZhCn, Millis::minutes(15)).contains("15 分钟"));
    }

    #[test]
    fn the_button_counts_the_seats() {
        assert_eq!(hold_button(Lang::En, 0), "Hold seats");
        assert_eq!(hold_button(Lang::En, 1), "Hold 1 seat");
        assert_eq!(hold_button(Lang::ZhCn, 2), "锁定 2 个座位");
    }

    #[test]
    fn a_seats_name_says_zone_and_price() {
        let price = Money::new(4_500, Currency::Cny);
        assert_eq!(name_middle(Lang::En, "Centre", price), ", Centre, ¥45.00, ");
        assert_eq!(name_middle(Lang::ZhCn, "中区", price), "，中区，¥45.00，");
        let place = place_with_kind(Lang::En, "Row M, seat 1".to_owned(), SeatKind::Wheelchair);
        assert_eq!(place, "Row M, seat 1 (Wheelchair)");
    }
}
